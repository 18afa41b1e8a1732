/* SPDX-License-Identifier: GPL-2.0 */
/* Texts of bounded length. See text.c. */
#ifndef MODEL_TEXT_H
#define MODEL_TEXT_H

#include "model.h"

/**
 * struct text - a text that is being written
 * @at: where; always ends in a zero
 * @size: of it
 * @length: so far
 */
struct text {
	char *at;
	size_t size;
	size_t length;
};

struct text text_begin(char *at, size_t size);
void text_add(struct text *text, const char *more);
void text_number(struct text *text, double value, int digits);
void text_whole(struct text *text, double value);
void text_value(struct text *text, enum dcqcn_model_unit unit, double value);

#endif /* MODEL_TEXT_H */
