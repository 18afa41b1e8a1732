// SPDX-License-Identifier: GPL-2.0
/* Sentences with numbers, without a C library. What does not fit is left out. */
#include <linux/types.h>

#include "number.h"
#include "text.h"

/**
 * text_begin() - an empty text
 * @at: where it is to be
 * @size: bytes there, at least 1
 */
struct text text_begin(char *at, size_t size)
{
	*at = '\0';
	return (struct text) { .at = at, .size = size };
}

/**
 * text_add() - add a string
 * @text: to this
 * @more: the string
 */
void text_add(struct text *text, const char *more)
{
	for (; *more && text->length + 1 < text->size; more++)
		text->at[text->length++] = *more;
	text->at[text->length] = '\0';
}

/**
 * text_whole() - add a whole number
 * @text: to this
 * @value: rounded, from -10^15 to 10^15
 */
void text_whole(struct text *text, double value)
{
	char digits[24];
	size_t at = sizeof(digits);
	u64 rest = (u64)(number_min(number_abs(value), 1e15) + 0.5);

	digits[--at] = '\0';
	do {
		digits[--at] = '0' + rest % 10;
		rest /= 10;
	} while (rest);
	if (value <= -0.5)
		digits[--at] = '-';
	text_add(text, digits + at);
}

static double power10(int n)
{
	double power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/**
 * text_number() - add a number, without zeros at its end
 * @text: to this
 * @value: from -10^9 to 10^9
 * @digits: how many of them count, at least; whole digits all do
 */
void text_number(struct text *text, double value, int digits)
{
	double size = number_abs(value), scale = 1;
	char fraction[16];
	int places = 0, i;
	u64 whole;

	while (size * scale < power10(digits - 1) && places < 12) {
		scale *= 10;
		places++;
	}
	whole = (u64)(number_min(size, 1e9) * scale + 0.5);
	if (value < 0 && whole)
		text_add(text, "-");
	text_whole(text, (double)(whole / (u64)scale));
	whole %= (u64)scale;
	if (!whole)
		return;
	fraction[places] = '\0';
	for (i = places; i; i--) {
		fraction[i - 1] = '0' + whole % 10;
		whole /= 10;
	}
	for (i = places; fraction[i - 1] == '0'; i--)
		fraction[i - 1] = '\0';
	text_add(text, ".");
	text_add(text, fraction);
}

struct name {
	double worth;
	const char *name;
};

static const struct name rates[] = {
	{ 1e12, "tbit" }, { 1e9, "gbit" }, { 1e6, "mbit" }, { 1e3, "kbit" }, { 1, "bit" }
};

static const struct name sizes[] = {
	{ 1e9, "GB" }, { 1e6, "MB" }, { 1e3, "KB" }, { 1, "B" }
};

static const struct name times[] = {
	{ 1e6, "s" }, { 1e3, "ms" }, { 1, "us" }, { 1e-3, "ns" }
};

static void add_named(struct text *text, double value, const struct name *names, size_t n)
{
	size_t i;

	for (i = 0; i + 1 < n && number_abs(value) < names[i].worth; i++)
		;
	text_number(text, value / names[i].worth, 3);
	text_add(text, names[i].name);
}

#define ADD_NAMED(text, value, names) \
	add_named(text, value, names, sizeof(names) / sizeof((names)[0]))

/**
 * text_value() - add a value with its unit, to three digits
 * @text: to this
 * @unit: what it is counted in; a word is not a value
 * @value: it
 */
void text_value(struct text *text, enum dcqcn_model_unit unit, double value)
{
	switch (unit) {
	case DCQCN_MODEL_BPS:
		ADD_NAMED(text, value, rates);
		break;
	case DCQCN_MODEL_BYTES:
		ADD_NAMED(text, value, sizes);
		break;
	case DCQCN_MODEL_US:
		ADD_NAMED(text, value, times);
		break;
	case DCQCN_MODEL_SHARE:
		text_number(text, 100 * value, 3);
		text_add(text, "%");
		break;
	case DCQCN_MODEL_M:
		text_number(text, value, 3);
		text_add(text, "m");
		break;
	default:
		text_number(text, value, 3);
	}
}
