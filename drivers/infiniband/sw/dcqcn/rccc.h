/* SPDX-License-Identifier: GPL-2.0 */
/* Credit that a receiver grants (RCCC). See rccc.c. */
#ifndef DCQCN_RCCC_H
#define DCQCN_RCCC_H

#include <linux/types.h>

/* bytes; of one grant: four packets of the longest kind, or 16 short ones */
#define DCQCN_RCCC_QUANTUM	16384U

/* bytes; the most that a sender may have asked for and not been granted yet: several times what one
 * QP can ask for
 */
#define DCQCN_RCCC_BACKLOG_MAX	0x100000U

/* bytes; the most that a port may owe, and about the most that a source may have sent beyond its
 * credit: more would keep it waiting for a long time when others pause
 */
#define DCQCN_RCCC_OWED_MAX	0x100000U

/**
 * struct dcqcn_rccc_port - the pace at which a port grants
 * @next: ns; when the next grant may go
 * @remainder: what @next lost in rounding (< a rate in bit/s)
 * @owed: bytes that came, or will come, without a grant, and are not charged to @next yet; at most
 *	DCQCN_RCCC_OWED_MAX
 */
struct dcqcn_rccc_port {
	u64 next;
	u64 remainder;
	u32 owed;
};

/**
 * struct dcqcn_rccc_source - what one sender may still send
 * @ahead: bytes granted and not received yet; negative if the sender sent more, as a packet needs
 *	no credit while nothing is in flight, or for which rxe's timer would expire; at least
 *	-DCQCN_RCCC_OWED_MAX and a packet
 * @unsolicited: bytes of @ahead that were not granted; 0 while there is a @backlog
 * @backlog: bytes that it has asked for, and was not granted yet; multiple of DCQCN_RCCC_QUANTUM,
 *	at most DCQCN_RCCC_BACKLOG_MAX
 */
struct dcqcn_rccc_source {
	s32 ahead;
	u32 unsolicited;
	u32 backlog;
};

u64 dcqcn_rccc_due(struct dcqcn_rccc_port *port, u64 line, u64 now);
void dcqcn_rccc_charge(struct dcqcn_rccc_port *port, u64 line);
void dcqcn_rccc_owe(struct dcqcn_rccc_port *port, u32 bytes);
u32 dcqcn_rccc_ask(u32 quanta);
u32 dcqcn_rccc_received(struct dcqcn_rccc_source *source, u32 bytes, u32 asked,
			u32 unsolicited);
void dcqcn_rccc_restart(struct dcqcn_rccc_source *source, u32 unsolicited);
u32 dcqcn_rccc_most(u64 line, u32 rtt, u32 sources);
bool dcqcn_rccc_grant(struct dcqcn_rccc_source *source, u32 most);

/**
 * dcqcn_rccc_is_even() - whether a packet leaves a sender's state as it is
 * @source: its state; it asks for no credit
 * @bytes: length of the packet
 * @unsolicited: bytes; the least credit of a sender that asks for none
 *
 * Most packets come from a sender that has asked for nothing and been granted nothing. They use
 * unsolicited credit and get it back: dcqcn_rccc_received() would return @bytes and change nothing.
 *
 * Context: any. The caller serialises access to @source.
 */
static inline bool dcqcn_rccc_is_even(const struct dcqcn_rccc_source *source, u32 bytes,
				      u32 unsolicited)
{
	return source->ahead == (s32)unsolicited && bytes <= source->unsolicited;
}

/**
 * dcqcn_rccc_may_grant() - whether a source gets credit when it is its turn
 * @source: its state
 * @most: bytes; credit above which it gets no more
 *
 * Context: any. The caller serialises access to @source.
 */
static inline bool dcqcn_rccc_may_grant(const struct dcqcn_rccc_source *source, u32 most)
{
	return source->backlog && source->ahead < (s32)most;
}

#endif /* DCQCN_RCCC_H */
