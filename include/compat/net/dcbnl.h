/* SPDX-License-Identifier: GPL-2.0 */
/* Initialisers of the operations that 6.2 (apptrust) and 6.3 (rewr) added. */
#ifndef DCQCN_COMPAT_DCBNL_H
#define DCQCN_COMPAT_DCBNL_H

#include_next <net/dcbnl.h>
#include <linux/dcbnl.h>

/* From 6.2 on */
#ifndef DCB_APP_SEL_PCP
#define DCB_APP_SEL_PCP	255
#endif

#ifdef DCQCN_HAVE_APPTRUST
#define DCBNL_APPTRUST_OPS(set, get) \
	.dcbnl_setapptrust = (set), .dcbnl_getapptrust = (get),
#else
#define DCBNL_APPTRUST_OPS(set, get)
#endif

#ifdef DCQCN_HAVE_REWR
#define DCBNL_REWR_OPS(set, del) \
	.dcbnl_setrewr = (set), .dcbnl_delrewr = (del),
#else
#define DCBNL_REWR_OPS(set, del)
#endif

#endif /* DCQCN_COMPAT_DCBNL_H */
