// SPDX-License-Identifier: GPL-2.0
/* The model's pictures, drawn by gnuplot from data and a script. */
#include <stdio.h>

#include "model_plot.h"
#include "plot.h"

#define CURVE_POINTS	400

void model_plot(const char *output, const struct dcqcn_model_input *in,
		const struct dcqcn_model_output *out)
{
	const struct dcqcn_model_sample *samples;
	size_t n = dcqcn_model_samples(&samples);
	FILE *gnuplot = plot_begin(output);
	double most = 1.25 * out->kmax_bytes;

	plot_number(gnuplot, "kmin", out->kmin_bytes);
	plot_number(gnuplot, "kmax", out->kmax_bytes);
	plot_number(gnuplot, "mean", out->queue_mean_bytes);
	plot_number(gnuplot, "p5", out->queue_p5_bytes);
	plot_number(gnuplot, "p95", out->queue_p95_bytes);
	plot_number(gnuplot, "marked", out->marked_share);
	plot_number(gnuplot, "flows", in->flows);
	plot_number(gnuplot, "frames", out->headroom_frames_bytes);
	plot_number(gnuplot, "pause", out->headroom_pause_bytes);
	plot_number(gnuplot, "cable", out->headroom_cable_bytes);
	plot_number(gnuplot, "response", out->headroom_response_bytes);
	plot_number(gnuplot, "room", out->headroom_bytes);
	fprintf(gnuplot, "$curve << END\n");
	for (int i = 0; i <= CURVE_POINTS; i++) {
		double queue = most * i / CURVE_POINTS;

		fprintf(gnuplot, "%.9g %.9g\n", queue, dcqcn_model_chance(out, queue));
	}
	fprintf(gnuplot, "END\n$samples << END\n");
	for (size_t i = 0; i < n; i++)
		fprintf(gnuplot, "%.9g %.9g %.9g\n", samples[i].time_us, samples[i].queue_bytes,
			samples[i].rate_bps);
	fprintf(gnuplot, "END\n");
	plot_end(gnuplot, "model.gp");
}

void model_plot_sweep(const char *output, const struct dcqcn_model_field *field,
		      const struct model_point *points, size_t n)
{
	FILE *gnuplot = plot_begin(output);

	plot_text(gnuplot, "key", field->name);
	fprintf(gnuplot, "$points << END\n");
	for (size_t i = 0; i < n; i++)
		fprintf(gnuplot, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", points[i].value,
			points[i].out.utilisation_share, points[i].out.queue_mean_bytes,
			points[i].out.queue_p5_bytes, points[i].out.queue_p95_bytes,
			points[i].out.pfc_per_s, points[i].out.lost_bytes);
	fprintf(gnuplot, "END\n");
	plot_end(gnuplot, "sweep.gp");
}
