/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODEL_LINUX_TIME64_H
#define MODEL_LINUX_TIME64_H

/* long has 32 bits in WebAssembly, and 64 in the kernels that we know */
#define NSEC_PER_USEC	1000LL
#define NSEC_PER_MSEC	1000000LL
#define NSEC_PER_SEC	1000000000LL
#define USEC_PER_SEC	1000000LL

#endif
