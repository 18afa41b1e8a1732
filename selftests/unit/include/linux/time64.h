/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_TIME64_H
#define SHIM_LINUX_TIME64_H

#define NSEC_PER_USEC 1000L

#endif
