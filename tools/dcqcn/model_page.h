/* SPDX-License-Identifier: GPL-2.0 */
/* The model's answers as text and JSON. See model_page.c. */
#ifndef MODEL_PAGE_H
#define MODEL_PAGE_H

#include "model.h"

/* Room for a value with its unit */
#define MODEL_VALUE	24

const char *model_value(char buf[MODEL_VALUE], const struct dcqcn_model_field *field,
			double value);
void model_page_text(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out);
void model_page_json(const struct dcqcn_model_input *in, const struct dcqcn_model_output *out);
void model_page_help(void);

#endif /* MODEL_PAGE_H */
