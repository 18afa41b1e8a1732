/* SPDX-License-Identifier: GPL-2.0 */
/* Packets, and places where they wait in order. See packet.c. */
#ifndef MODEL_PACKET_H
#define MODEL_PACKET_H

#include <linux/types.h>

#define PACKET_NONE	0xffffffffU
#define PACKET_NEVER	1e300		/* ns */

enum packet_kind {
	PACKET_DATA,
	PACKET_ACK,
	PACKET_NAK,
	PACKET_CNP,
	PACKET_PAUSE,
	PACKET_RESUME,
};

/**
 * struct packet - one that is somewhere
 * @time: ns; when it arrives
 * @next: behind it
 * @psn: its number, or that which is acknowledged or asked for
 * @flow: whose it is, or the port that is told
 * @kind: enum packet_kind
 * @asks: for an ACK
 * @marked: by a switch
 */
struct packet {
	double time;
	u32 next;
	u32 psn;
	u16 flow;
	u8 kind;
	bool asks;
	bool marked;
};

/**
 * struct packets - some of them, in order
 * @due: ns; when the first arrives
 * @head: the first, or PACKET_NONE
 * @tail: the last one if there is a first
 * @count: how many
 */
struct packets {
	double due;
	u32 head;
	u32 tail;
	u32 count;
};

#define PACKETS		65536

/* All that there are, a list of those that were used before, and from where on none was */
extern struct packet packet_pool[PACKETS];
extern u32 packet_unused;
extern u32 packet_fresh;

void packet_setup(void);

/**
 * packet_new() - make one
 * @kind: what it is
 * @flow: whose it is, or the port that is told
 * @psn: its number, or that which is acknowledged or asked for
 *
 * Return: it, or PACKET_NONE if all are in use.
 */
static inline u32 packet_new(enum packet_kind kind, size_t flow, u32 psn)
{
	u32 at = packet_unused;

	if (at != PACKET_NONE)
		packet_unused = packet_pool[at].next;
	else if (packet_fresh < PACKETS)
		at = packet_fresh++;
	else
		return at;
	packet_pool[at].psn = psn;
	packet_pool[at].flow = (u16)flow;
	packet_pool[at].kind = kind;
	packet_pool[at].asks = false;
	packet_pool[at].marked = false;
	return at;
}

/* It has come where it was to go, or was lost */
static inline void packet_free(u32 at)
{
	packet_pool[at].next = packet_unused;
	packet_unused = at;
}

static inline struct packets packets_empty(void)
{
	return (struct packets) { .due = PACKET_NEVER, .head = PACKET_NONE };
}

static inline void packets_add(struct packets *list, u32 at)
{
	packet_pool[at].next = PACKET_NONE;
	if (list->head == PACKET_NONE) {
		list->head = at;
		list->due = packet_pool[at].time;
	} else {
		packet_pool[list->tail].next = at;
	}
	list->tail = at;
	list->count++;
}

static inline u32 packets_take(struct packets *list)
{
	u32 at = list->head, next = packet_pool[at].next;

	list->head = next;
	list->due = next == PACKET_NONE ? PACKET_NEVER : packet_pool[next].time;
	list->count--;
	return at;
}

#endif /* MODEL_PACKET_H */
