/* SPDX-License-Identifier: GPL-2.0 */
/* Pictures of the model. See model_plot.c. */
#ifndef MODEL_PLOT_H
#define MODEL_PLOT_H

#include "model.h"

/**
 * struct model_point - a result of a sweep
 * @value: of the input
 * @out: all answers
 */
struct model_point {
	double value;
	struct dcqcn_model_output out;
};

void model_plot(const char *output, const struct dcqcn_model_input *in,
		const struct dcqcn_model_output *out);
void model_plot_sweep(const char *output, const struct dcqcn_model_field *field,
		      const struct model_point *points, size_t n);

#endif /* MODEL_PLOT_H */
