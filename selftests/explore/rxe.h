/* SPDX-License-Identifier: GPL-2.0 */
/* A model of rdma_rxe's QPs: requester, completer and responder. See rxe.c. */
#ifndef EXPLORE_RXE_H
#define EXPLORE_RXE_H

#include "world.h"

#define RXE_RETRIES	7	/* before rxe gives a QP up */

#define PAIRS		4		/* of QPs; those of both ports */
#define QPS		(2 * PAIRS)
#define MESSAGES	16		/* of a QP, at a time */
#define FIFOS		2		/* as the module's: requests, and what answers them */

enum message_kind { WRITE, SEND, READ, ATOMIC, FLUSH, ATOMIC_WRITE, SEND_INVALIDATE, MESSAGE_KINDS };

/* How a responder acknowledges requests that ask for it: each, one in four, none. One in four and
 * none still answer READs.
 */
enum ack_mode { ACK_EACH, ACK_SOME, ACK_NONE, ACK_MODES };

/**
 * struct message - what a program has posted
 * @kind: of it
 * @packets: PSNs that it takes
 * @first: its first PSN
 * @last_bytes: of payload in its last packet
 */
struct message {
	u8 kind;
	u32 packets;
	u32 first;
	u32 last_bytes;
};

/**
 * struct rxe_qp - a QP
 * @ib: as the RDMA core sees it; first
 * @socks: its socket, @sk of them, and that of the QP before it
 * @sk: see @socks
 * @port: its port
 * @peer: the QP at the other end
 * @type: IB_QPT_*
 * @ack_timeout: exponent, 0 for none
 * @tos: of its packets, without ECN
 * @mtu: bytes of payload
 * @memory: truesize of a packet is its length times this
 * @live: it exists, in state RTS
 * @sq: messages, in order, from @sq_first to @sq_next
 * @sq_now: the message that is sent now
 * @again: so often is a message posted again that is done
 * @psn: next one to send; counts without end, the wire has 24 bits
 * @una: first one that is not acknowledged
 * @top: the highest one ever sent, plus 1
 * @in_message: packets of the message @sq_now that were sent
 * @unfreed: packets that the NIC does not have yet
 * @throttled: too many of them
 * @unasked: packets since one asked for an ACK
 * @timeout_at: ns; when the retransmission timer fires, 0 for never
 * @rnr_until: ns; it waits until then
 * @retries: timeouts in a row
 * @retrying: it has gone back, and no ACK has come since
 * @epsn: PSN that the responder expects
 * @nak_sent: and has asked for
 * @rnr: so many of the next SENDs find no receive request
 * @acks: how it acknowledges
 * @asked: ACKs that were asked for
 * @done: messages that are done
 * @oldest: of what the module holds, per FIFO
 * @newest: likewise
 * @held: how much that is
 * @held_memory: and its truesize
 */
struct rxe_qp {
	struct ib_qp ib;
	struct sock socks[2];
	unsigned int sk;
	struct port *port;
	struct rxe_qp *peer;
	u8 type;
	u8 ack_timeout;
	u8 tos;
	u32 mtu;
	u32 memory;
	bool live;
	struct message sq[MESSAGES];
	u32 sq_first;
	u32 sq_next;
	u32 sq_now;
	u32 again;
	u32 psn;
	u32 una;
	u32 top;
	u32 in_message;
	u32 unfreed;
	bool throttled;
	u32 unasked;
	u64 timeout_at;
	u64 rnr_until;
	u32 retries;
	bool retrying;
	u32 epsn;
	bool nak_sent;
	u32 rnr;
	u8 acks;
	u32 asked;
	u64 done;
	struct tx *oldest[FIFOS];
	struct tx *newest[FIFOS];
	u32 held[FIFOS];
	u64 held_memory[FIFOS];
};

extern struct rxe_qp qps[QPS];
extern u64 packets_made;
extern u64 packets_limit;	/* messages end then, and nothing more is posted */

void rxe_begin(void);
bool rxe_connect(unsigned int pair, u8 type, u8 ack_timeout, u32 mtu, u32 memory, u32 psn, u8 tos);
void rxe_destroy(struct rxe_qp *qp);
bool rxe_post(struct rxe_qp *qp, enum message_kind kind, u32 bytes);
void rxe_run(struct rxe_qp *qp);
void rxe_freed(struct rxe_qp *qp);
void rxe_receive(struct port *port, const u8 *packet, u32 len);
void rxe_forge(struct rxe_qp *to, u8 opcode, u8 syndrome, u32 psn);
u64 rxe_due(void);
void rxe_timers(void);
bool rxe_is_idle(const struct rxe_qp *qp);
struct sock *rxe_sock(struct rxe_qp *qp);
struct rxe_qp *rxe_find(const struct port *port, u32 qpn);

#endif /* EXPLORE_RXE_H */
