/* SPDX-License-Identifier: GPL-2.0 */
/* The version of modules and tools. What cannot read it (dkms.conf, debian/changelog)
 * is compared with it by selftests/tools/version.sh.
 */
#ifndef RDMA_DCQCN_VERSION
#define RDMA_DCQCN_VERSION	"1.0.0"
#endif
