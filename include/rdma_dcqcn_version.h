/* SPDX-License-Identifier: GPL-2.0 */
/* The version of modules and tools. selftests/tools/version.sh compares files that cannot include
 * it (dkms.conf, debian/changelog) with it.
 */
#ifndef RDMA_DCQCN_VERSION
#define RDMA_DCQCN_VERSION	"1.0.0"
#endif
