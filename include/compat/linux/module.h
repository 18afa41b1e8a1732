/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.4, a module had one piece of memory for everything except its init sections. */
#ifndef DCQCN_COMPAT_MODULE_H
#define DCQCN_COMPAT_MODULE_H

#include_next <linux/module.h>

#ifndef DCQCN_HAVE_MOD_MEM_TYPE
#define MOD_TEXT 0

static inline bool within_module_mem_type(unsigned long addr,
					  const struct module *mod, int type)
{
	return within_module_core(addr, mod);
}
#endif

#endif /* DCQCN_COMPAT_MODULE_H */
