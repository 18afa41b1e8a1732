// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs of a port: names and units, from the module's own list. Only the kernel knows their
 * ranges, and reports them.
 */
#include <string.h>

#include "json.h"
#include "knob.h"

const struct knob knobs[] = {
#define DCQCN_KNOB(_role, _attr, _name, _field, _unit, _note) \
	[RDMA_DCQCN_A_SETTINGS_##_attr] = { #_name, #_role, UNIT_##_unit, .note = _note },
#define DCQCN_ENABLE(_role, _attr, _name, _field) \
	[RDMA_DCQCN_A_SETTINGS_##_attr] = { #_name, #_role, .prios = true, \
					    .note = "priorities" },
#include "../../drivers/infiniband/sw/dcqcn/knob_list.h"
};

/* NULL if it is not a knob, or one that this version does not know */
const struct knob *knob_by_attr(int attr)
{
	if (attr < 1 || attr > RDMA_DCQCN_A_SETTINGS_MAX)
		return NULL;
	return &knobs[attr];
}

const struct knob *knob_by_name(const char *name)
{
	for (int i = 1; i <= RDMA_DCQCN_A_SETTINGS_MAX; i++) {
		if (!strcmp(knobs[i].name, name))
			return &knobs[i];
	}
	return NULL;
}

int knob_attr(const struct knob *knob)
{
	return knob - knobs;
}

bool knob_parse(const struct knob *knob, const char *s, uint32_t *value,
		const char **problem)
{
	uint64_t v;

	if (knob->prios) {
		*problem = "a list of priorities from 0 to 7, such as 0,3, or all, or none";
		if (!unit_parse_prios(s, &v))
			return false;
	} else if (!unit_parse(knob->unit, s, &v, problem)) {
		return false;
	}
	if (v > UINT32_MAX) {
		*problem = "a number below 2^32";
		return false;
	}
	*value = v;
	return true;
}

/* In the form that knob_parse() reads */
void knob_print(FILE *out, const struct knob *knob, uint64_t value)
{
	char buf[UNIT_LEN];

	fputs(knob->prios ? unit_prios(buf, value) :
			    unit_value(buf, knob->unit, value), out);
}

/* Numbers in the knob's own unit, as in sysfs */
void knob_json(const struct knob *knob, uint64_t value)
{
	if (knob->prios)
		json_bits(knob->name, value);
	else
		json_number(knob->name, value);
}
