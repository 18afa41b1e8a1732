/* SPDX-License-Identifier: GPL-2.0 */
/* The model's inputs. See model_input.c. */
#ifndef MODEL_INPUT_H
#define MODEL_INPUT_H

#include <stdio.h>

#include "model.h"

const struct dcqcn_model_field *model_input_field(const char *key);
void model_input_set(struct dcqcn_model_input *in, const char *where, const char *key,
		     const char *text);
void model_input_preset(struct dcqcn_model_input *in, const char *where, const char *name);
void model_input_read(struct dcqcn_model_input *in, const char *path);
void model_input_write(const struct dcqcn_model_input *in, FILE *file);

#endif /* MODEL_INPUT_H */
