/* SPDX-License-Identifier: GPL-2.0 */
/* Pictures by gnuplot. See plot.c. */
#ifndef PLOT_H
#define PLOT_H

#include <stdio.h>

void plot_check(const char *output);
FILE *plot_begin(const char *output);
void plot_number(FILE *gnuplot, const char *name, double value);
void plot_text(FILE *gnuplot, const char *name, const char *value);
void plot_end(FILE *gnuplot, const char *script);

#endif /* PLOT_H */
