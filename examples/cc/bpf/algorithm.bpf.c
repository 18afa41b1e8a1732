// SPDX-License-Identifier: GPL-2.0
/*
 * The programs of an algorithm in eBPF, from the same source as its module: SOURCE, with a
 * struct dcqcn_cc_ops of the name OPS. Users know it as TITLE. The Makefile sets these, and FLAGS.
 *
 * A program gets the arguments of its function in an array. OPS is a constant, so that the compiler
 * puts each function into its program, and leaves the others out.
 */
#include <linux/types.h>

/* The offsets of these structs' members are found out when the programs are loaded */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
#include <rdma/dcqcn_cc.h>
#pragma clang attribute pop

/* only the module registers the algorithm */
#define dcqcn_register_cc(ops)		((void)(ops), 0)
#define dcqcn_unregister_cc(ops)	((void)(ops))

#include SOURCE

/* A function of OPS. Not OPS.member: the compiler would look that up when the programs are loaded. */
#define FUNCTION(member) \
	(*(__typeof__(OPS.member) const *)((const char *)&OPS + \
					   offsetof(struct dcqcn_cc_ops, member)))

#define SEC(name)	__attribute__((section(name), used))

char _license[] SEC("license") = "GPL";

/* A function whose only argument is the flow */
#define PROGRAM(function) \
	SEC("struct_ops/" #function) int cc_##function(unsigned long long *args) \
	{ \
		if (FUNCTION(function)) \
			FUNCTION(function)((struct dcqcn_cc *)args[0]); \
		return 0; \
	}

PROGRAM(init)
PROGRAM(release)
PROGRAM(cnp)
PROGRAM(loss)
PROGRAM(timer)

SEC("struct_ops/ack") int cc_ack(unsigned long long *args)
{
	if (FUNCTION(ack))
		FUNCTION(ack)((struct dcqcn_cc *)args[0], (const struct dcqcn_cc_sample *)args[1]);
	return 0;
}

SEC("struct_ops/idle") int cc_idle(unsigned long long *args)
{
	if (FUNCTION(idle))
		FUNCTION(idle)((struct dcqcn_cc *)args[0], args[1]);
	return 0;
}

SEC("struct_ops/sent") int cc_sent(unsigned long long *args)
{
	if (FUNCTION(sent))
		FUNCTION(sent)((struct dcqcn_cc *)args[0], args[1]);
	return 0;
}

/* The algorithm's functions as BPF knows them: the loader puts the programs there */
SEC(".struct_ops.link") struct dcqcn_cc_ops algorithm = {
	.name = TITLE,
	.flags = FLAGS,
	.init = (void *)cc_init,
	.release = (void *)cc_release,
	.cnp = (void *)cc_cnp,
	.ack = (void *)cc_ack,
	.loss = (void *)cc_loss,
	.idle = (void *)cc_idle,
	.timer = (void *)cc_timer,
	.sent = (void *)cc_sent,
};
