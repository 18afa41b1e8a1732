// SPDX-License-Identifier: GPL-2.0
/*
 * Credit that a receiver grants, after the receiver's half of Ultra Ethernet's
 * congestion control, RCCC.
 *
 * When many send to one, the receiver's link is the bottleneck, and only the receiver
 * knows how many share it. It hands out credit at 0.99 of its link's rate, in turn to
 * the senders that ask for it. So what arrives at the last switch port is less than
 * what leaves it, whatever the number of senders, from the first round trip on.
 *
 * What arrives without a grant uses the link, too: packets of senders that obey no credit, TCP
 * packets, and the initial credit of senders. The port owes these bytes: it then grants one byte
 * less for each byte that it grants, so that it always grants at least half of the link. Time
 * without grants pays off the debt as well.
 *
 * A sender begins with a bounded credit that nobody granted. All counts are cumulative: a report
 * says how much was received, and how much more may come, so that the next report makes up for a
 * lost one. A sender that asks for nothing always has at least its initial credit, and has exactly
 * that after a pause.
 *
 * Senders ask cumulatively, too: each quantum once, when they can see that they need it. So a
 * source's unused grants are less than a quantum, however many messages it has sent, and however
 * long its grants take. Credit that piles up comes all at once, from all senders of an incast, and
 * fills a switch.
 *
 * A source that has more than its share of four round trips of the line gets no more until it has
 * used some: then grants follow what arrives, where the path is slower than the port assumes, or
 * the sender's host has other things to send.
 *
 * Everything here is a pure function, as in rate.c: no clock, no lock, no kernel object.
 *
 * Overflow: a rate is at least 10^6 and less than 2^52 bit/s.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "rccc.h"

/* 0.99 of the rate: bytes cost their bits * 100 / 99, in units of 10^-9 bit. It
 * leaves room for feedback and for credit that comes late. At most
 * DCQCN_RCCC_OWED_MAX bytes: less than 2^60 before the division.
 */
static u64 dcqcn_rccc_cost(u32 bytes)
{
	return div_u64(100ULL * 8 * NSEC_PER_SEC * bytes, 99);
}

/* Grants that a late timer may make up for. More of them at once would be the burst
 * that credit is there to prevent.
 */
#define DCQCN_RCCC_LATE		8

/* Bound on credit that is on its way, or that sources do not use, in round trips at the line rate.
 * More credit would bring too many bytes at once when a link has to be shared, or is slower than
 * the port assumes.
 */
#define DCQCN_RCCC_AHEAD_RTTS	4
#define DCQCN_RCCC_AHEAD_MAX	0x40000000	/* bytes */

/**
 * dcqcn_rccc_due() - when a port may grant
 * @port: its state
 * @line: bit/s; its line rate
 * @now: ns
 *
 * Context: any. The caller serialises access to @port.
 * Return: ns; not after @now if a grant may go now.
 */
u64 dcqcn_rccc_due(struct dcqcn_rccc_port *port, u64 line, u64 now)
{
	u64 late = DCQCN_RCCC_LATE *
		   div64_u64(dcqcn_rccc_cost(DCQCN_RCCC_QUANTUM), line);
	u64 idle, takes;

	if (port->next + late >= now)
		return port->next;
	/* owed < 2^21 bytes, which take < 2^40 ns at the lowest rate */
	idle = now - late - port->next;
	takes = div64_u64(dcqcn_rccc_cost(port->owed), line);
	if (idle < takes)
		port->owed -= div64_u64(port->owed * idle, takes);
	else
		port->owed = 0;
	port->next = now - late;
	return port->next;
}

/**
 * dcqcn_rccc_owe() - count bytes that came without a grant
 * @port: its state
 * @bytes: how many
 *
 * Context: any. The caller serialises access to @port.
 */
void dcqcn_rccc_owe(struct dcqcn_rccc_port *port, u32 bytes)
{
	port->owed += min(bytes, DCQCN_RCCC_OWED_MAX - port->owed);
}

/**
 * dcqcn_rccc_charge() - charge a port for a grant
 * @port: its state
 * @line: bit/s; its line rate
 *
 * Context: any. The caller serialises access to @port.
 */
void dcqcn_rccc_charge(struct dcqcn_rccc_port *port, u64 line)
{
	u32 pays = min(port->owed, DCQCN_RCCC_QUANTUM);

	port->owed -= pays;
	/* A remainder is worth less than 1 ns at the rate that left it, and more at a lower rate:
	 * bound it. 2^15 bytes * 8 * 10^9 * 100 / 99 are less than 2^49.
	 */
	port->next += div64_u64_rem(dcqcn_rccc_cost(DCQCN_RCCC_QUANTUM + pays) +
				    min(port->remainder, line), line, &port->remainder);
}

/**
 * dcqcn_rccc_ask() - how many quanta a packet can ask for
 * @quanta: how many the sender needs
 *
 * Two bits encode the number: none, one, two or four. A message of eight packets of 4 KB needs two
 * for all but its first packet, and one of 16 packets needs four.
 *
 * Context: any. Return: at most @quanta.
 */
u32 dcqcn_rccc_ask(u32 quanta)
{
	return quanta >= 4 ? 4 : min(quanta, 2U);
}

/**
 * dcqcn_rccc_received() - a sender's packet arrived
 * @source: its state
 * @bytes: length of the packet
 * @asked: bytes of credit that the packet asks for
 * @unsolicited: bytes; the least credit of a sender that asks for none
 *
 * Context: any. The caller serialises access to @source.
 * Return: bytes that come, or have come, without having been granted. A sender that asks
 * will use all that it has.
 */
u32 dcqcn_rccc_received(struct dcqcn_rccc_source *source, u32 bytes, u32 asked,
			u32 unsolicited)
{
	u32 most = min_t(u32, unsolicited, DCQCN_RCCC_AHEAD_MAX), more, comes;

	source->backlog = min(source->backlog + asked, DCQCN_RCCC_BACKLOG_MAX);
	comes = source->backlog ? source->unsolicited :
				  min(source->unsolicited, bytes);
	source->unsolicited -= comes;
	/* a packet has less than 2^17 bytes */
	source->ahead = max(source->ahead, -(s32)DCQCN_RCCC_OWED_MAX) - (s32)bytes;
	if (!source->backlog && source->ahead < (s32)most) {
		/* it has already sent beyond its credit */
		more = most - max(source->ahead, 0);
		comes += most - source->ahead - more;
		source->unsolicited += more;
		source->ahead = most;
	}
	return comes;
}

/**
 * dcqcn_rccc_restart() - a sender begins, or begins again after a pause
 * @source: its state
 * @unsolicited: bytes; its credit
 *
 * Drops unused grants, because these bytes would come at once, and from many senders. Drops earlier
 * requests, because the sender does not need this credit any more.
 *
 * Context: any. The caller serialises access to @source.
 */
void dcqcn_rccc_restart(struct dcqcn_rccc_source *source, u32 unsolicited)
{
	source->unsolicited = min_t(u32, unsolicited, DCQCN_RCCC_AHEAD_MAX);
	source->ahead = source->unsolicited;
	source->backlog = 0;
}

/**
 * dcqcn_rccc_most() - credit above which a source gets no more
 * @line: bit/s; the line rate
 * @rtt: ns; round trip without queues, 0 for unknown; at most 2^30
 * @sources: how many want credit, or have that much; at least 1
 *
 * A source that has more than its share of what fills the path does not use it: its host has
 * other things to send, or the path is slower than the line. It gets more as its packets arrive.
 *
 * Context: any. Return: bytes.
 */
u32 dcqcn_rccc_most(u64 line, u32 rtt, u32 sources)
{
	/* Mb/s * ns are 10^-3 bit; 2^32 * 2^30 */
	u64 path = div_u64(div_u64(line, 1000000) * rtt, 8000);
	u64 most = DCQCN_RCCC_AHEAD_RTTS * (path + DCQCN_RCCC_QUANTUM);

	most = div_u64(min_t(u64, most, DCQCN_RCCC_AHEAD_MAX), sources);
	return max_t(u32, most, DCQCN_RCCC_QUANTUM / 2);
}

/**
 * dcqcn_rccc_grant() - it is a source's turn
 * @source: its state
 * @most: bytes; credit above which it gets no more
 *
 * Context: any. The caller serialises access to @source.
 * Return: whether it was granted DCQCN_RCCC_QUANTUM bytes.
 */
bool dcqcn_rccc_grant(struct dcqcn_rccc_source *source, u32 most)
{
	if (!dcqcn_rccc_may_grant(source, most))
		return false;
	source->ahead += DCQCN_RCCC_QUANTUM;
	source->backlog -= DCQCN_RCCC_QUANTUM;
	return true;
}
