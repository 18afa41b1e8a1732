// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands that draw with gnuplot have in common. It gets variables and data, and then
 * a script, on its standard input, and draws to its standard output. It never sees the name of a
 * file that a user or a record has chosen, because it would execute some.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.h"
#include "plot.h"
#include "replace.h"
#include "script.h"

static const char *picture;
static FILE *drawing;
static pid_t child;

static bool is_svg(void)
{
	return !strcmp(strrchr(picture, '.'), ".svg");
}

/* In gnuplot's syntax. It executes nothing in single quotes, but ends a string at a new line, and
 * misreads one that begins with a quote.
 */
static void put_quoted(FILE *gnuplot, const char *text)
{
	putc('\'', gnuplot);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '\'' || c < ' ')
			fprintf(gnuplot, "'.\"\\%03o\".'", c);
		else
			putc(c, gnuplot);
	}
	putc('\'', gnuplot);
}

/* Called before anything is read or written */
void plot_check(const char *output)
{
	const char *ending = strrchr(output, '.');

	if (!ending || (strcmp(ending, ".png") && strcmp(ending, ".svg")))
		fail("%s: must end in .png or .svg", output);
}

static void exec_gnuplot(const int in[2], const int out[2])
{
	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	signal(SIGPIPE, SIG_DFL);
	/* ignore the user's own settings, which could spoil the picture */
	execlp("gnuplot", "gnuplot", "-d", "-", NULL);
	fprintf(stderr, "dcqcn: gnuplot: %s\n", strerror(errno));
	_exit(EXIT_FAILURE);
}

/* Start gnuplot. What it is told must not make it draw before plot_end(). */
FILE *plot_begin(const char *output)
{
	int in[2], out[2];
	FILE *gnuplot;

	picture = output;
	/* gnuplot may end early, or not be installed: its status says so */
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		fail_errno("gnuplot");
	child = fork();
	if (!child)
		exec_gnuplot(in, out);
	close(in[0]);
	close(out[1]);
	gnuplot = fdopen(in[1], "w");
	drawing = fdopen(out[0], "r");
	if (child < 0 || !gnuplot || !drawing)
		fail_errno("gnuplot");
	plot_number(gnuplot, "svg", is_svg());
	plot_text(gnuplot, "style", script_find("../plot", "style.gp"));
	return gnuplot;
}

void plot_number(FILE *gnuplot, const char *name, double value)
{
	fprintf(gnuplot, "%s = %.9g\n", name, value);
}

/* Set a variable, or an element of an array */
void plot_text(FILE *gnuplot, const char *name, const char *value)
{
	fprintf(gnuplot, "%s = ", name);
	put_quoted(gnuplot, value);
	putc('\n', gnuplot);
}

static bool has_succeeded(void)
{
	int status;

	return waitpid(child, &status, 0) == child && !status;
}

/* Draw, and save the picture unless something has failed */
void plot_end(FILE *gnuplot, const char *script)
{
	char *data = NULL, part[16384];
	size_t len = 0, n;
	FILE *copy;

	plot_text(gnuplot, "script", script_find("../plot", script));
	fprintf(gnuplot, "load script\n");
	fclose(gnuplot);
	copy = open_memstream(&data, &len);
	if (!copy)
		fail_errno(picture);
	while ((n = fread(part, 1, sizeof(part), drawing)))
		fwrite(part, 1, n, copy);
	if (ferror(drawing) || fclose(copy))
		fail_errno(picture);
	fclose(drawing);
	if (!has_succeeded() || !len)
		fail("%s: gnuplot failed to draw it", picture);
	replace_file(picture, data, len);
	free(data);
}
