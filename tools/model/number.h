/* SPDX-License-Identifier: GPL-2.0 */
/* Arithmetic of floating point. See number.c. */
#ifndef MODEL_NUMBER_H
#define MODEL_NUMBER_H

static inline double number_min(double a, double b)
{
	return a < b ? a : b;
}

static inline double number_max(double a, double b)
{
	return a > b ? a : b;
}

static inline double number_clamp(double x, double least, double most)
{
	return number_min(number_max(x, least), most);
}

static inline double number_abs(double x)
{
	return __builtin_fabs(x);
}

static inline double number_floor(double x)
{
	return __builtin_floor(x);
}

static inline double number_ceil(double x)
{
	return __builtin_ceil(x);
}

double number_exp(double x);
double number_log(double x);
double number_log1p(double x);
double number_expm1(double x);
double number_nice(double x);

#endif /* MODEL_NUMBER_H */
