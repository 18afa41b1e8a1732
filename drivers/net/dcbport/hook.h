/* SPDX-License-Identifier: GPL-2.0 */
/* How a port handles incoming packets. See hook.c. */
#ifndef DCBPORT_HOOK_H
#define DCBPORT_HOOK_H

struct dcbport;

int dcbport_hook_begin(struct dcbport *port);
void dcbport_hook_end(struct dcbport *port);

#endif /* DCBPORT_HOOK_H */
