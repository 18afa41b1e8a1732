/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection for tests. See fault.c. */
#ifndef DCQCN_FAULT_H
#define DCQCN_FAULT_H

struct dentry;

void dcqcn_fault_add(struct dentry *dir);
void dcqcn_fault_delay_resolve(void);

#endif /* DCQCN_FAULT_H */
