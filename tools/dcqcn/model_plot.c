// SPDX-License-Identifier: GPL-2.0
/* The model's pictures, drawn by gnuplot from data and a script. */
#include <signal.h>
#include <stdio.h>

#include "fail.h"
#include "model_plot.h"
#include "plot.h"

#define CURVE_POINTS	400

static FILE *begin(const char *output)
{
	FILE *gnuplot;

	plot_begin(output);
	/* it may end early, or not be installed: the status says so */
	signal(SIGPIPE, SIG_IGN);
	gnuplot = popen("gnuplot -", "w");
	if (!gnuplot)
		fail_errno("gnuplot");
	fprintf(gnuplot, "output = '");
	for (const char *c = output; *c; c++)
		fprintf(gnuplot, *c == '\'' ? "''" : "%c", *c);
	fprintf(gnuplot, "'\n");
	return gnuplot;
}

static void end(FILE *gnuplot, const char *script)
{
	fprintf(gnuplot, "load '%s'\n", plot_script(script));
	plot_end(pclose(gnuplot));
}

static void set(FILE *gnuplot, const char *name, double value)
{
	fprintf(gnuplot, "%s = %.9g\n", name, value);
}

void model_plot(const char *output, const struct dcqcn_model_input *in,
		const struct dcqcn_model_output *out)
{
	const struct dcqcn_model_sample *samples;
	size_t n = dcqcn_model_samples(&samples);
	FILE *gnuplot = begin(output);
	double most = 1.25 * out->kmax_bytes;

	set(gnuplot, "kmin", out->kmin_bytes);
	set(gnuplot, "kmax", out->kmax_bytes);
	set(gnuplot, "mean", out->queue_mean_bytes);
	set(gnuplot, "p5", out->queue_p5_bytes);
	set(gnuplot, "p95", out->queue_p95_bytes);
	set(gnuplot, "marked", out->marked_share);
	set(gnuplot, "flows", in->flows);
	set(gnuplot, "frames", out->headroom_frames_bytes);
	set(gnuplot, "pause", out->headroom_pause_bytes);
	set(gnuplot, "cable", out->headroom_cable_bytes);
	set(gnuplot, "response", out->headroom_response_bytes);
	set(gnuplot, "room", out->headroom_bytes);
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
	end(gnuplot, "model.gp");
}

void model_plot_sweep(const char *output, const struct dcqcn_model_field *field,
		      const struct model_point *points, size_t n)
{
	FILE *gnuplot = begin(output);

	fprintf(gnuplot, "key = '%s'\n$points << END\n", field->name);
	for (size_t i = 0; i < n; i++)
		fprintf(gnuplot, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g\n", points[i].value,
			points[i].out.utilisation_share, points[i].out.queue_mean_bytes,
			points[i].out.queue_p5_bytes, points[i].out.queue_p95_bytes,
			points[i].out.pfc_per_s, points[i].out.lost_bytes);
	fprintf(gnuplot, "END\n");
	end(gnuplot, "sweep.gp");
}
