/* SPDX-License-Identifier: GPL-2.0 */
/* Pictures by gnuplot. See plot.c. */
#ifndef PLOT_H
#define PLOT_H

const char *plot_script(const char *name);
void plot_begin(const char *output);
void plot_end(int status);

#endif /* PLOT_H */
