// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU. Of two emulated CPUs, it counts the instructions of the guest's kernel, and the
 * cache lines that move between the CPUs: a line moves when a CPU reads what the other one has
 * written since, or writes what the other one has a copy of. Caches have no end, so a line moves
 * for no other reason. How fast the CPUs run, and how often each gets a turn, is not in these counts.
 *
 * The guest begins to count with the instruction nopl MARK + n(%rax,%rax,1), where n is not 0, and
 * ends with n = 0. What was counted since is then added to the file out=FILE:
 *
 *	phase N
 *	code ADDRESS INSTRUCTIONS-ON-CPU-0 INSTRUCTIONS-ON-CPU-1
 *	line ADDRESS MOVED-TO-CPU-0 MOVED-TO-CPU-1
 *
 * with the addresses of the instructions. QEMU's interface is declared here, because Debian has no
 * package with its header.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUS	2
#define MARK	0x64636200u		/* and n, in the lowest 8 bits */
#define KERNEL	(1ull << 63)		/* the kernel's half, with page tables of 4 or 5 levels */
#define LINE	64			/* bytes */
#define LINES	(1 << 24)		/* 1 GB of them */

#define EXPORT	__attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0 };
enum { QEMU_PLUGIN_MEM_RW = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t n);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int, void *), int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int, void *), int flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*cb)(unsigned int, qemu_plugin_meminfo_t, uint64_t,
						 void *), int flags, int rw, void *data);

EXPORT int qemu_plugin_version = 1;

/* What a piece of code did: a block of instructions, or one that reads or writes memory. */
struct piece {
	struct piece *next;
	uint64_t address, each;		/* each: instructions, 0 for one that uses memory */
	uint64_t count[CPUS];
};

static _Atomic(struct piece *) pieces;
static atomic_uint phase;
static FILE *out;

/*
 * Who has a line: bit n is CPU n. MODIFIED: the only one that has it has written it. Both CPUs may
 * change a byte at the same time, which is wrong once and then forgotten.
 */
#define MODIFIED	(1 << CPUS)
static _Atomic uint8_t owners[LINES];

static struct piece *new_piece(uint64_t address, uint64_t each)
{
	struct piece *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->address = address;
	p->each = each;
	p->next = atomic_load(&pieces);
	while (!atomic_compare_exchange_weak(&pieces, &p->next, p))
		;
	return p;
}

static void executed(unsigned int cpu, void *data)
{
	struct piece *p = data;

	if (atomic_load_explicit(&phase, memory_order_relaxed) && cpu < CPUS)
		p->count[cpu] += p->each;
}

static void used(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	struct piece *p = data;
	uint8_t mine = 1 << cpu, now;
	_Atomic uint8_t *owner;
	bool moves;

	if (!atomic_load_explicit(&phase, memory_order_relaxed) || cpu >= CPUS || address < KERNEL)
		return;
	/* spread over the table, so that what is used meets nothing else that is */
	owner = &owners[(address / LINE * 0x9e3779b97f4a7c15ull) >> 40];
	now = atomic_load_explicit(owner, memory_order_relaxed);
	if (qemu_plugin_mem_is_store(info)) {
		moves = now & ~(mine | MODIFIED);
		now = mine | MODIFIED;
	} else {
		moves = now & MODIFIED && !(now & mine);
		now = moves ? now & ~MODIFIED : now;
		now |= mine;
	}
	atomic_store_explicit(owner, now, memory_order_relaxed);
	p->count[cpu] += moves;
}

static void marked(unsigned int cpu, void *data)
{
	unsigned int n = (uintptr_t)data, old = atomic_exchange(&phase, n);
	struct piece *p;

	(void)cpu;
	if (old) {
		fprintf(out, "phase %u\n", old);
		for (p = atomic_load(&pieces); p; p = p->next) {
			if (!p->count[0] && !p->count[1])
				continue;
			fprintf(out, "%s %jx %ju %ju\n", p->each ? "code" : "line",
				(uintmax_t)p->address, (uintmax_t)p->count[0],
				(uintmax_t)p->count[1]);
			memset(p->count, 0, sizeof(p->count));
		}
		fflush(out);
	}
}

static void mark(struct qemu_plugin_insn *insn)
{
	static const uint8_t nopl[] = { 0x0f, 0x1f, 0x84, 0x00 };
	const uint8_t *data = qemu_plugin_insn_data(insn);
	uint32_t n;

	if (qemu_plugin_insn_size(insn) != sizeof(nopl) + sizeof(n) || memcmp(data, nopl, sizeof(nopl)))
		return;
	memcpy(&n, data + sizeof(nopl), sizeof(n));
	if ((n & ~0xffu) == MARK)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)(n & 0xff));
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0));
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	struct qemu_plugin_insn *insn;

	(void)id;
	if (start >= KERNEL)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, QEMU_PLUGIN_CB_NO_REGS,
						     new_piece(start, n));
	for (i = 0; i < n; i++) {
		insn = qemu_plugin_tb_get_insn(tb, i);
		if (start >= KERNEL)
			qemu_plugin_register_vcpu_mem_cb(
				insn, used, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
				new_piece(qemu_plugin_insn_vaddr(insn), 0));
		else
			mark(insn);
	}
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (; argc; argc--, argv++)
		if (!strncmp(*argv, "out=", 4))
			out = fopen(*argv + 4, "w");
	if (!out)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
