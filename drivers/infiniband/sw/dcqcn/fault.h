/* SPDX-License-Identifier: GPL-2.0 */
/* Fault injection for tests. See fault.c. */
#ifndef DCQCN_FAULT_H
#define DCQCN_FAULT_H

void dcqcn_fault_init(void);
void dcqcn_fault_exit(void);
void dcqcn_fault_delay_resolve(void);

#endif /* DCQCN_FAULT_H */
