/* SPDX-License-Identifier: GPL-2.0 */
/* A device's APP entries (802.1Qaz). See dcb.c. */
#ifndef DCB_H
#define DCB_H

#include <stdbool.h>
#include <stdint.h>

#define DCB_DSCPS	64

/* Priorities, one bit each */
struct dcb_app_table {
	bool known;
	uint8_t dscp[DCB_DSCPS];
	uint8_t other;			/* of packets without an entry */
};

void dcb_apps(const char *dev, struct dcb_app_table *table);
bool dcb_has_dscps(const struct dcb_app_table *table);
int dcb_prio(const struct dcb_app_table *table, int dscp);
void dcb_add(struct dcb_app_table *table, int selector, int id, int prio);

#endif /* DCB_H */
