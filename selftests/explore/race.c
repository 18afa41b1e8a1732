// SPDX-License-Identifier: GPL-2.0
/*
 * Races between CPUs whose windows are a few instructions long, in a fixed order: a function runs
 * on a stack of its own, and pauses before it takes a lock.
 *
 *   A, softirq: a CNP came            B, rxe sends; C, the worker
 *   --------------------------------  -------------------------------------------------
 *   puts an entry into the table
 *                                     B: a packet of the QP describes it; the QP is destroyed
 *                                     C: asks the core, and takes the entry out again
 *   takes the entry's lock
 *                                     C: call_rcu(), which needs the list node's memory
 *
 * And rare states of ports and entries, which a sequence of random events hardly reaches.
 */
#include <ucontext.h>

#include "checks.h"
#include "rxe.h"
#include "world.h"

#include "cc.h"
#include "qp.h"
#include "resolve.h"

static ucontext_t cpu_a, other_cpus;
static char stack[1 << 18];
static enum { INSERTS, INSERTED, FREED, DONE } progress;
static const struct dcqcn_qp *entry;

/* events.c is not here */
void print_events(void)
{
}

static u32 qpn(void)
{
	return qps[0].ib.qp_num;
}

static void pause_at(const void *at)
{
	if (progress == INSERTS)
		entry = dcqcn_qp_find(ports[0].dev, qpn());
	if (progress == INSERTS && entry && at == &entry->lock) {
		progress = INSERTED;
		swapcontext(&cpu_a, &other_cpus);
	} else if (progress == INSERTED && at == &entry->flow.timer) {
		progress = FREED;
		swapcontext(&other_cpus, &cpu_a);
	}
}

static void receive_cnp(void)
{
	dcqcn_qp_find_or_add(ports[0].dev, qpn());
	demand(progress == FREED, "the entry was not freed meanwhile");
	progress = DONE;
	swapcontext(&cpu_a, &other_cpus);
}

/* Let CPU A work until pause_at() stops it */
static void on_cpu_a(void (*work)(void))
{
	getcontext(&cpu_a);
	cpu_a.uc_stack.ss_sp = stack;
	cpu_a.uc_stack.ss_size = sizeof(stack);
	makecontext(&cpu_a, work, 0);
	world_pauses = pause_at;
	swapcontext(&other_cpus, &cpu_a);
}

static void freed_at_once(void)
{
	world_begin(1);
	rxe_begin();
	packets_limit = 1000;
	checks_begin();
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	on_cpu_a(receive_cnp);
	rxe_post(&qps[0], WRITE, 64);
	rxe_run(&qps[0]);
	qps[0].live = false;
	pass(10 * MS);
	world_pauses = NULL;
	demand(progress == DONE, "CPU A was at %d", progress);
	demand(list_empty(&ports[0].dev->resolver.list),
	       "an entry that was freed waits for the worker");
	demand(!dcqcn_qp_find(ports[0].dev, qpn()), "the entry is still there");
	printf("ok 1 - an entry that is freed at once is not given to the worker again\n");
	world_end();
}

/* The link comes up, at another speed, when a port has looked at the speed and no event finds it yet */
static void comes_up(void)
{
	ports[0].ndev.speed = 100000;
	port_changed(&ports[0]);
}

static void link_comes_up(void)
{
	world_registers = comes_up;
	world_begin(2);
	world_registers = NULL;
	pass(MS);
	demand(ports[0].dev->speed == 100000, "a port of 100 Gb/s believes in %u Mb/s",
	       ports[0].dev->speed);
	printf("ok 2 - a link that comes up while its port is added\n");
	world_end();
}

static void add_unknown(u32 number)
{
	bh_disabled++;
	dcqcn_qp_find_or_add(ports[0].dev, number);
	bh_disabled--;
}

/* The last sweep was half of what jiffies can count ago: 25 days on 32 bits with 1000 HZ */
static void sweeps_after_weeks(void)
{
	world_begin(3);
	ports[0].dev->resolver.next_sweep = jiffies + LONG_MAX - 1000;
	add_unknown(77);
	pass(3 * SECOND);
	demand(!dcqcn_qp_find(ports[0].dev, 77), "the entry of an absent QP stays");
	printf("ok 3 - the janitor works after weeks without anything to do\n");
	world_end();
}

/* Somebody sends to a QP before it is connected. Then a user chooses its algorithm. */
static void chosen_while_absent(void)
{
	struct dcqcn_qp *qp;

	world_begin(4);
	rxe_begin();
	checks_begin();
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	qps[0].live = false;
	add_unknown(qpn());
	pass(10 * MS);
	qps[0].live = true;
	demand(!dcqcn_cc_choose_for_qp(ports[0].dev, qpn(), "dctcp"), "it cannot be chosen");
	pass(3 * SECOND);
	qp = dcqcn_qp_find(ports[0].dev, qpn());
	demand(qp && dcqcn_qp_has_choice(qp), "the choice is forgotten");
	demand(ports[0].dev->num_choices.counter == 1, "%d choices",
	       ports[0].dev->num_choices.counter);
	qps[0].live = false;
	pass(3 * SECOND);
	demand(!dcqcn_qp_find(ports[0].dev, qpn()), "the entry of a QP that is gone stays");
	printf("ok 4 - an algorithm is chosen for a QP that was absent a moment ago\n");
	world_end();
}

/* A port on a bond: its links come up one after the other, and one leaves the bond again. The bond
 * itself has no event when the second one does.
 */
static void bond(void)
{
	struct net_device link = { .speed = 25000 };

	world_begin(5);
	ports[0].ndev.lower = &link;
	ports[0].ndev.speed = 25000;
	port_changed(&ports[0]);
	pass(MS);
	ports[0].ndev.speed = 50000;
	port_changed_below(&ports[0], &link, false);
	pass(MS);
	demand(ports[0].dev->speed == 50000, "%u Mb/s with two links", ports[0].dev->speed);
	demand(ports[1].dev->speed == 10000, "%u Mb/s elsewhere", ports[1].dev->speed);
	ports[0].ndev.speed = 25000;
	ports[0].ndev.lower = NULL;
	port_changed_below(&ports[0], &link, true);
	pass(MS);
	demand(ports[0].dev->speed == 25000, "%u Mb/s with one link", ports[0].dev->speed);
	printf("ok 5 - a port on a bond has the speed of the links that are up\n");
	world_end();
}

/* Six messages of 32 KB; the last @lose ACKs are lost. Return how long it took until rxe knew that
 * all of them had arrived, in ns.
 */
static u64 transfer(struct rxe_qp *qp, u32 lose)
{
	u64 begun = fuzz_now, took;
	int i;

	for (i = 0; i < 6; i++)
		rxe_post(qp, WRITE, 32768);
	rxe_run(qp);
	while (qp->una != qp->top && fuzz_now < begun + SECOND) {
		if (lose && qp->sq_now == qp->sq_next && qp->top - qp->peer->epsn <= lose) {
			paths[1].lose_acks = lose;
			lose = 0;
		}
		pass(US / 2);
	}
	took = fuzz_now - begun;
	pass(MS);
	return took;
}

/* A flow that obeys Swift loses the ACKs of its last packets, which are sent again, and is as fast as
 * before afterwards: it has not learnt a round trip from the ACKs of what was sent again.
 */
static void last_acks_lost(void)
{
	u64 before, after;
	u32 rtt_min, i;

	world_begin(6);
	rxe_begin();
	packets_limit = 100000;
	checks_begin();
	paths[0].delay = 20 * US;
	paths[1].delay = 20 * US;
	rxe_connect(0, IB_QPT_RC, 14, 4096, 1, 0, 0);
	demand(!dcqcn_cc_choose_for_qp(ports[0].dev, qpn(), "swift"), "it cannot be chosen");
	for (i = 0; i < 20; i++)
		before = transfer(&qps[0], 0);
	rtt_min = dcqcn_qp_find(ports[0].dev, qpn())->cc->cc.rtt_min;
	demand(transfer(&qps[0], 8) > 50 * MS, "rxe's timer has not fired");
	for (i = 0; i < 10; i++)
		after = transfer(&qps[0], 0);
	demand(dcqcn_qp_find(ports[0].dev, qpn())->cc->cc.rtt_min == rtt_min,
	       "the shortest round trip was %u ns, and is %u now", rtt_min,
	       dcqcn_qp_find(ports[0].dev, qpn())->cc->cc.rtt_min);
	demand(after < before * 5 / 4, "%llu us before, and %llu us now", before / US, after / US);
	printf("ok 6 - a flow that loses its last ACKs is as fast as before\n");
	rxe_destroy(&qps[0]);
	world_end();
}

/* The program connects its QP to the same peer again, which the module cannot tell from a QP that
 * goes on
 */
static void resume(void)
{
	world_answered = NULL;
	qps[0].live = true;
	rxe_post(&qps[0], WRITE, 65536);
	rxe_run(&qps[0]);
}

/* The program makes it another connection, and sends at once */
static void reconnect(void)
{
	world_answered = NULL;
	demand(rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 5000, 0), "it has packets on their way");
	rxe_post(&qps[0], WRITE, 65536);
	rxe_run(&qps[0]);
	demand(qps[0].held[0], "nothing is held");
}

/* The worker asks the core about a QP that is being connected again. When the worker takes the
 * entry's lock, the QP has begun to send.
 */
static void asked_too_early(void (*answered)(void))
{
	const struct dcqcn_dev *dev;

	world_begin(7);
	rxe_begin();
	packets_limit = 1000;
	checks_begin();
	dev = ports[0].dev;
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	rxe_post(&qps[0], WRITE, 64);
	rxe_run(&qps[0]);
	pass(10 * MS);
	entry = dcqcn_qp_find(ports[0].dev, qpn());
	demand(entry, "the QP has no entry");
	qps[0].live = false;
	world_answered = answered;
	pass(SECOND);
	demand(!world_answered, "the worker has not asked");
	demand(!dcqcn_counter_sum(dev, DCQCN_RP_DROP_DEAD), "%lu packets dropped",
	       dcqcn_counter_sum(dev, DCQCN_RP_DROP_DEAD));
	demand(dcqcn_qp_find(ports[0].dev, qpn()) == entry, "the entry is another one");
	demand(entry->state == DCQCN_QP_LIVE, "the entry's state is %u", entry->state);
	demand(qps[0].una == qps[0].top && qps[0].done, "rxe waits for an ACK");
	rxe_destroy(&qps[0]);
	world_end();
}

static int choice_error;

static void choose(void)
{
	choice_error = dcqcn_cc_choose_for_qp(ports[0].dev, qpn(), "dctcp");
	demand(progress == FREED, "the entry was not freed meanwhile");
	progress = DONE;
	swapcontext(&cpu_a, &other_cpus);
}

/* A user chooses the algorithm of a QP whose entry the janitor frees meanwhile */
static void chosen_too_late(void)
{
	struct dcqcn_qp *qp;

	world_begin(8);
	rxe_begin();
	checks_begin();
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	add_unknown(qpn());
	pass(10 * MS);
	progress = INSERTS;
	on_cpu_a(choose);
	pass(3 * SECOND);
	world_pauses = NULL;
	demand(progress == DONE, "the choice was at %d", progress);
	demand(choice_error == -EAGAIN, "error %d for a choice that is lost", choice_error);
	demand(!ports[0].dev->num_choices.counter, "%d choices",
	       ports[0].dev->num_choices.counter);
	demand(!dcqcn_cc_choose_for_qp(ports[0].dev, qpn(), "dctcp"), "it cannot be chosen again");
	qp = dcqcn_qp_find(ports[0].dev, qpn());
	demand(qp && dcqcn_qp_has_choice(qp), "the choice is forgotten");
	printf("ok 8 - an algorithm is chosen for a QP whose entry is being freed\n");
	rxe_destroy(&qps[0]);
	world_end();
}

/* A stranger floods a port with CNPs for QPs that do not exist. Meanwhile a QP sends an ACK to
 * another peer than before, so that it is resolved again: there is one entry more than the bound.
 */
static void flooded(void)
{
	u8 packet[64] = { [0] = 0x45, [28] = DCQCN_OPCODE_ACK };
	struct sk_buff skb = { .data = packet };
	struct dcqcn_tx *tx = dcqcn_tx_of(&skb);
	struct dcqcn_dev *dev;
	struct dcqcn_qp *qp;
	u32 i, unresolved;

	world_begin(9);
	rxe_begin();
	checks_begin();
	dev = ports[0].dev;
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	rxe_post(&qps[0], WRITE, 64);
	rxe_run(&qps[0]);
	pass(10 * MS);
	qp = dcqcn_qp_find(dev, qpn());
	demand(qp && qp->owner, "the QP has not described itself");
	for (i = 0; i < 2 * DCQCN_UNRESOLVED_MAX; i++)
		add_unknown(0x100000 + i);
	demand(dev->resolver.num_unresolved.counter == DCQCN_UNRESOLVED_MAX, "%d entries",
	       dev->resolver.num_unresolved.counter);
	tx->bth = (void *)&packet[28];
	tx->packet.kind = DCQCN_PKT_ACK;
	bh_disabled++;
	dcqcn_qp_confirm(qp, tx);
	bh_disabled--;
	demand(qp->state == DCQCN_QP_RESOLVING, "the entry's state is %u", qp->state);
	for (i = 0; i < 2 * DCQCN_UNRESOLVED_MAX; i++)
		add_unknown(0x200000 + i);
	unresolved = dev->resolver.num_unresolved.counter;
	demand(unresolved == DCQCN_UNRESOLVED_MAX + 1, "%u entries of unknown QPs", unresolved);
	pass(3 * SECOND);
	demand(!dev->resolver.num_unresolved.counter, "%d entries stay",
	       dev->resolver.num_unresolved.counter);
	printf("ok 9 - a flood stays bounded when a QP is resolved again\n");
	rxe_destroy(&qps[0]);
	world_end();
}

/* Two ends WRITE to each other and READ from each other, over one QP each, so that the ACKs of both
 * stand behind READ responses. Neither end may wait for the other's start, or for the window of the
 * other's algorithm.
 */
static void both_ways(const char *cc, u32 bytes, u64 most)
{
	struct rxe_qp *ends[2] = { &qps[0], &qps[PAIRS] };
	u64 begun;
	int i;

	world_begin(10);
	rxe_begin();
	packets_limit = 100000;
	checks_begin();
	paths[0].delay = 20 * US;
	paths[1].delay = 20 * US;
	rxe_connect(0, IB_QPT_RC, 14, 1024, 1, 0, 0);
	for (i = 0; i < 2; i++) {
		if (*cc)
			demand(!dcqcn_cc_choose_for_qp(ports[i].dev, ends[i]->ib.qp_num, cc),
			       "it cannot be chosen");
	}
	begun = fuzz_now;
	for (i = 0; i < 8; i++) {
		rxe_post(ends[i % 2], WRITE, bytes);
		rxe_post(ends[i % 2], READ, bytes);
	}
	for (i = 0; i < 2; i++)
		ends[i]->again = 40;
	for (i = 0; i < 2; i++)
		rxe_run(ends[i]);
	while (!(rxe_is_idle(ends[0]) && rxe_is_idle(ends[1])) && fuzz_now < begun + 10 * SECOND)
		pass(100 * US);
	printf("# %s, %u bytes: %llu us, %llu + %llu\n", *cc ? cc : "dcqcn", bytes,
	       (fuzz_now - begun) / US, ends[0]->done, ends[1]->done);
	demand(fuzz_now - begun < most, "%u bytes, %s: %llu us", bytes, *cc ? cc : "dcqcn",
	       (fuzz_now - begun) / US);
	for (i = 0; i < 2; i++)
		rxe_destroy(ends[i]);
	world_end();
}

/* A peer READs all the time, so that many responses are held. The QP sends its own requests
 * meanwhile.
 */
static void read_all_the_time(void)
{
	struct rxe_qp *reader = &qps[PAIRS];
	struct dcqcn_settings *settings;
	u64 done = 0;
	int i;

	world_begin(11);
	rxe_begin();
	packets_limit = 1000000;
	paths[0].bps = 1000000000;
	checks_begin();
	settings = dcqcn_dev_settings_begin(ports[0].dev);
	settings->rp.rpg_min_rate = 100;
	dcqcn_dev_settings_commit(ports[0].dev, settings);
	rxe_connect(0, IB_QPT_RC, 14, 1024, 2, 0, 0);
	for (i = 0; i < 4; i++)
		rxe_post(reader, READ, 65536);
	rxe_post(&qps[0], SEND, 64);
	reader->again = qps[0].again = 100000;
	rxe_run(reader);
	rxe_run(&qps[0]);
	for (i = 0; i < 40; i++) {
		paths[0].mark = 2;
		pass(MS / 2);
		if (i == 19)
			done = qps[0].done;
	}
	demand(!world_is_tired(), "it takes too many steps");
	demand(qps[0].done - done >= 20, "%llu SENDs and %llu READs in 10 ms", qps[0].done - done,
	       reader->done);
	printf("ok 11 - a QP whose READ responses are held sends its own requests\n");
	rxe_destroy(reader);
	rxe_destroy(&qps[0]);
	world_end();
}

int main(void)
{
	world_init();
	printf("TAP version 13\n1..11\n");
	freed_at_once();
	link_comes_up();
	sweeps_after_weeks();
	chosen_while_absent();
	bond();
	last_acks_lost();
	asked_too_early(reconnect);
	asked_too_early(resume);
	printf("ok 7 - the core is asked about a QP just before it is connected again\n");
	chosen_too_late();
	flooded();
	both_ways("", 8192, 100 * MS);
	both_ways("", 16384, 100 * MS);
	both_ways("swift", 16384, 100 * MS);
	both_ways("swift", 65536, 100 * MS);
	both_ways("fast", 65536, 100 * MS);
	printf("ok 10 - two ends that write and read over one QP do not wait for each other\n");
	read_all_the_time();
	return 0;
}
