/* SPDX-License-Identifier: GPL-2.0 */
/* Frames of Priority-based Flow Control (PFC). See pfc.c. */
#ifndef DCBPORT_PFC_H
#define DCBPORT_PFC_H

#include <linux/types.h>

#include "drr.h"

#define DCBPORT_PFC_LEN		60	/* bytes, without FCS */
#define DCBPORT_PFC_MAX		0xffff	/* quanta; the longest pause */
#define DCBPORT_PFC_ETHERTYPE	0x8808	/* MAC control */

/**
 * struct dcbport_pfc - the content of a frame
 * @enable: priorities that it names, one bit each
 * @quanta: how long each of them pauses, in 512 bit times; 0 resumes
 */
struct dcbport_pfc {
	u8 enable;
	u16 quanta[DCBPORT_PRIOS];
};

extern const u8 dcbport_pfc_address[6];

void dcbport_pfc_build(u8 frame[DCBPORT_PFC_LEN], const u8 source[6],
		       const struct dcbport_pfc *pfc);
bool dcbport_pfc_parse(const u8 *data, size_t len, struct dcbport_pfc *pfc);
bool dcbport_pfc_is_pfc(const u8 *data, size_t len);
bool dcbport_pfc_is_global(const u8 *data, size_t len);
u64 dcbport_pfc_nsec(u32 quanta, u64 rate);

#endif /* DCBPORT_PFC_H */
