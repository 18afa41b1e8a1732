/* SPDX-License-Identifier: GPL-2.0 */
/* Tables that are redrawn on a terminal, and fit it. See screen.c. */
#ifndef SCREEN_H
#define SCREEN_H

/* 0 where the output is not a terminal that can be redrawn: everything is shown */
struct screen {
	unsigned int lines;
	unsigned int columns;
};

/**
 * struct screen_column - of a table
 * @head: its heading
 * @width: characters; negative: to the left
 * @leaves: the order in which columns leave a narrow terminal; 0: never
 */
struct screen_column {
	const char *head;
	int width;
	int leaves;
};

struct screen screen_begin(void);
void screen_end(const struct screen *screen);
unsigned int screen_fit(const struct screen *screen, const struct screen_column *columns,
			int count);
void screen_row(const struct screen *screen, const struct screen_column *columns, int count,
		unsigned int shown, const char *const *cells);

#endif /* SCREEN_H */
