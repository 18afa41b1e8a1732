/* SPDX-License-Identifier: GPL-2.0 */
/* What is measured of a queue over time. See measure.c. */
#ifndef MODEL_MEASURE_H
#define MODEL_MEASURE_H

#include "model.h"
#include "trace.h"

void measure_setup(double duration, double packet);
void measure_begin(double now);
void measure_until(double now, size_t queue);
void measure_came(void);
void measure_end(struct trace_result *r, double kmin, double kmax);
size_t measure_samples(const struct dcqcn_model_sample **samples);

#endif /* MODEL_MEASURE_H */
