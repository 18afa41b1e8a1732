/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs of a port. See knob.c. */
#ifndef KNOB_H
#define KNOB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rdma/rdma_dcqcn.h>

#include "unit.h"

/**
 * struct knob - a knob
 * @name: of its file in sysfs; enables have names of their own
 * @role: "np" or "rp"
 * @unit: of its value
 * @prios: it is a set of priorities, one bit each
 * @note: what its value means, if @unit does not say
 */
struct knob {
	const char *name;
	const char *role;
	enum unit unit;
	bool prios;
	const char *note;
};

/* A knob that is a name, and no setting of netlink */
#define KNOB_ALGORITHM	"cc_algorithm"

/* By RDMA_DCQCN_A_SETTINGS_* */
extern const struct knob knobs[RDMA_DCQCN_A_SETTINGS_MAX + 1];

const struct knob *knob_by_attr(int attr);
const struct knob *knob_by_name(const char *name);
int knob_attr(const struct knob *knob);
bool knob_parse(const struct knob *knob, const char *s, uint32_t *value,
		const char **problem);
void knob_print(FILE *out, const struct knob *knob, uint64_t value);
void knob_json(const struct knob *knob, uint64_t value);

#endif /* KNOB_H */
