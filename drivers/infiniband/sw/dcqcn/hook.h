/* SPDX-License-Identifier: GPL-2.0 */
/* The netfilter hooks. See hook.c. */
#ifndef DCQCN_HOOK_H
#define DCQCN_HOOK_H

struct dcqcn_net_hooks;
struct module;
struct net_device;

int dcqcn_hook_init(void);
void dcqcn_hook_exit(void);
struct dcqcn_net_hooks *dcqcn_hook_get(const struct net_device *ndev,
				       const struct module *owner);
void dcqcn_hook_put(struct dcqcn_net_hooks *hooks);

#endif /* DCQCN_HOOK_H */
