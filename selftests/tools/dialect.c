// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn set --from: dumps of a card, line by line, as they are on a machine with such a card.
 * Prints what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "dialect.h"
#include "knob.h"

bool option_json;

#define DEVICE	"/sys/devices/pci0000:00/0000:00:02.0/0000:08:00.0"

/* Each has the value of one setting */
static const struct {
	const char *line, *name;
	uint32_t value;
} lines[] = {
	{ "rp_ai_rate:7", "rpg_ai_rate", 7 },
	{ "./rp_ai_rate:7", "rpg_ai_rate", 7 },
	{ "/sys/kernel/debug/mlx5/0000:08:00.0/cc_params/rp_ai_rate:7", "rpg_ai_rate", 7 },
	{ "mlx5/0000:08:00.0/cc_params/np_cnp_dscp:40", "cnp_dscp", 40 },
	{ "/sys/class/net/eth0/ecn/roce_rp/rpg_gd:10", "rpg_gd", 10 },
	{ DEVICE "/net/eth0/ecn/roce_rp/rpg_gd:10", "rpg_gd", 10 },
	{ DEVICE "/net/eth0/ecn/roce_rp/enable/3:1", "rp_enable", 8 },
	{ DEVICE "/net/eth0/ecn/roce_np/cnp_dscp = 40", "cnp_dscp", 40 },
	{ "        RPG_GD_P1                                   10", "rpg_gd", 10 },
	{ "*        CLAMP_TGT_RATE_P1          False(0)       True(1)", "clamp_tgt_rate", 1 },
};

/* The argument is a file to write */
int main(int argc, char **argv)
{
	int wrong = argc != 2;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines) && argc == 2; i++) {
		struct dev dev = {};
		int attr = knob_attr(knob_by_name(lines[i].name));
		FILE *f = fopen(argv[1], "w");

		if (!f || fprintf(f, "%s\n", lines[i].line) < 0 || fclose(f))
			return EXIT_FAILURE;
		/* an error ends the program with its message */
		if (dialect_read(argv[1], &dev) == 1U << attr && dev.settings[attr] == lines[i].value)
			continue;
		printf("\"%s\": %s is %u instead of %u\n", lines[i].line, lines[i].name,
		       dev.settings[attr], lines[i].value);
		wrong = 1;
	}
	return wrong;
}
