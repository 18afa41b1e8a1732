// SPDX-License-Identifier: GPL-2.0
/* Reads lines of a kind and a text, separated by a tab, and prints what unit.c makes of each. */
#include <stdio.h>
#include <string.h>

#include "unit.h"

static const struct {
	const char *name;
	enum unit_kind kind;
	double plain, worth;
} kinds[] = {
	{ "rate", UNIT_KIND_RATE, 0, 1 },
	{ "time", UNIT_KIND_TIME, 0, 1e3 },
	{ "size", UNIT_KIND_SIZE, 1, 1 },
	{ "share", UNIT_KIND_SHARE, 1, 1 },
	{ "length", UNIT_KIND_LENGTH, 1, 1 },
};

int main(void)
{
	char line[256], *text;
	double value;
	size_t i;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		text = strchr(line, '\t');
		if (!text)
			return 1;
		*text++ = '\0';
		for (i = 0; strcmp(kinds[i].name, line); i++) {
			if (i == sizeof(kinds) / sizeof(kinds[0]) - 1)
				return 1;
		}
		if (unit_read(kinds[i].kind, text, kinds[i].plain, &value))
			printf("%.12g\n", value * kinds[i].worth);
		else
			puts("refused");
	}
	return 0;
}
