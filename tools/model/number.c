// SPDX-License-Identifier: GPL-2.0
/*
 * The functions of a mathematical library that the model needs, without one, and
 * the same to the last bit wherever IEEE 754 is. To within 4 units in the last
 * place (test_model.c).
 */
#include <linux/types.h>

#include "number.h"

#define LN2_HIGH	0x1.62e42feep-1	/* 21 bits short: times an exponent, exact */
#define LN2_LOW		0x1.a39ef35793c76p-33
#define EXPONENT_BIAS	1023
#define MANTISSA_BITS	52

/* 2^n, -1022 <= n <= 1023 */
static double power_of_two(int n)
{
	union {
		u64 bits;
		double value;
	} u = { .bits = (u64)(n + EXPONENT_BIAS) << MANTISSA_BITS };

	return u.value;
}

/* e^x - 1 for |x| <= 0.36: Taylor's series, whose 15th term is below 2^-60 of it */
static double expm1_small(double x)
{
	double sum = 0;
	int i;

	for (i = 15; i > 1; i--)
		sum = (sum + 1) * x / i;
	return x + x * sum;
}

/**
 * number_exp() - e^x
 * @x: any; from 709 on it counts as 709, and below -708 the result is 0
 */
double number_exp(double x)
{
	double n;

	if (x < -708)
		return 0;
	x = number_min(x, 709);
	n = number_floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
	return (1 + expm1_small(x - n * LN2_HIGH - n * LN2_LOW)) * power_of_two((int)n);
}

/**
 * number_expm1() - e^x - 1, also of an x near 0
 * @x: see number_exp()
 */
double number_expm1(double x)
{
	return number_abs(x) < 0.3 ? expm1_small(x) : number_exp(x) - 1;
}

/* 2 artanh(s) = log((1 + s) / (1 - s)) for |s| <= 0.172: the 12th term is below 2^-60 of it */
static double log_ratio(double s)
{
	double square = s * s, sum = 0;
	int i;

	for (i = 23; i > 1; i -= 2)
		sum = (sum + 1.0 / i) * square;
	return 2 * s + 2 * s * sum;
}

/**
 * number_log() - natural logarithm
 * @x: above 0, and not denormal
 */
double number_log(double x)
{
	union {
		double value;
		u64 bits;
	} u = { .value = x };
	int n = (int)(u.bits >> MANTISSA_BITS) - EXPONENT_BIAS;

	u.bits -= (u64)n << MANTISSA_BITS;		/* 1 to 2 */
	if (u.value > 1.4142135623730951) {
		u.value /= 2;
		n++;
	}
	return n * LN2_HIGH + (log_ratio((u.value - 1) / (u.value + 1)) + n * LN2_LOW);
}

/**
 * number_log1p() - log(1 + x), also of an x near 0
 * @x: above -1
 */
double number_log1p(double x)
{
	return number_abs(x) < 0.29 ? log_ratio(x / (2 + x)) : number_log(1 + x);
}

/**
 * number_nice() - a round number near another
 * @x: above 0
 *
 * Return: @x to two digits, rounded up.
 */
double number_nice(double x)
{
	double unit = 1;

	while (x / unit >= 100)
		unit *= 10;
	while (x / unit < 10)
		unit /= 10;
	return number_ceil(x / unit - 1e-9) * unit;
}
