// SPDX-License-Identifier: GPL-2.0
/*
 * Tables that are redrawn. On a terminal each one replaces the last one, and leaves out columns
 * if not all fit; elsewhere they follow each other, as plain text with an empty line between.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

#define LINES		24
#define COLUMNS		80

/* Of a terminal whose screen can be redrawn */
static struct screen terminal(void)
{
	const char *term = getenv("TERM");
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || !term || !*term || !strcmp(term, "dumb"))
		return (struct screen) {};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		size = (struct winsize) {};
	return (struct screen) {
		.lines = size.ws_row < 4 ? LINES : size.ws_row,
		.columns = size.ws_col ?: COLUMNS,
	};
}

/* A table begins, on a terminal as large as it is now */
struct screen screen_begin(void)
{
	struct screen screen = terminal();

	/* cursor home, and clear the rest of the screen */
	if (screen.lines)
		fputs("\033[H\033[J", stdout);
	return screen;
}

void screen_end(const struct screen *screen)
{
	if (!screen->lines)
		putchar('\n');
	fflush(stdout);
}

static unsigned int width(const struct screen_column *columns, int count, unsigned int shown)
{
	unsigned int sum = 0;

	for (int i = 0; i < count; i++) {
		if (shown & 1U << i)
			sum += abs(columns[i].width) + !!sum;
	}
	return sum;
}

/* Which of the columns are shown, as bits */
unsigned int screen_fit(const struct screen *screen, const struct screen_column *columns,
			int count)
{
	unsigned int shown = (1U << count) - 1;

	for (int leaves = 1; leaves <= count && screen->columns &&
	     width(columns, count, shown) > screen->columns; leaves++) {
		for (int i = 0; i < count; i++) {
			if (columns[i].leaves == leaves)
				shown &= ~(1U << i);
		}
	}
	return shown;
}

/* A line of @cells, or of headings if that is NULL. If a cell is wider than its column, the end
 * of the line may be missing.
 */
void screen_row(const struct screen *screen, const struct screen_column *columns, int count,
		unsigned int shown, const char *const *cells)
{
	char line[512];
	size_t len = 0;

	for (int i = 0; i < count && len < sizeof(line); i++) {
		int pad = columns[i].width;

		if (!(shown & 1U << i))
			continue;
		/* no padding after the last column */
		if (pad < 0 && !(shown >> i >> 1))
			pad = 0;
		len += snprintf(line + len, sizeof(line) - len, "%s%*s", len ? " " : "", pad,
				cells ? cells[i] : columns[i].head);
	}
	printf("%.*s\n", screen->columns ? (int)screen->columns : -1, line);
}
