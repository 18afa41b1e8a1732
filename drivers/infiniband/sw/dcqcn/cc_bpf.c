// SPDX-License-Identifier: GPL-2.0
/*
 * Algorithms in eBPF: struct dcqcn_cc_ops as a struct_ops of BPF.
 *
 * A program of such an algorithm is a function of struct dcqcn_cc_ops. It may read everything that
 * its arguments point to. In struct dcqcn_cc it may write rate, next_call, window, path and the
 * private state. As for any other algorithm, cc.c clamps them after each call. The verifier rejects
 * all other writes, and programs that might not terminate. Programs must not sleep.
 *
 * BPF calls dcqcn_register_cc() once all programs of an algorithm are loaded, and
 * dcqcn_unregister_cc() when the algorithm is removed. BPF owns the struct dcqcn_cc_ops, and frees
 * it after dcqcn_unregister_cc(). Flows that obey the algorithm hold no reference to it. The
 * algorithm holds a reference to this module.
 *
 * Types come from the module's BTF. If the module was built without BTF, algorithms in eBPF are
 * unavailable, and a message in the kernel's log says so. Everything else works.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/filter.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/dcqcn_cc.h>

#include "cc_bpf.h"

/* The type of struct dcqcn_cc in this module's BTF */
static const struct btf_type *dcqcn_cc_type;

static int dcqcn_cc_bpf_find_types(struct btf *btf)
{
	return 0;	/* check_member() finds it */
}

/* The type that a pointer points to; NULL if @id is not a pointer's */
static const struct btf_type *dcqcn_cc_bpf_target(const struct btf *btf, u32 id)
{
	const struct btf_type *pointer = btf_type_by_id(btf, id);

	return pointer && btf_type_is_ptr(pointer) ? btf_type_by_id(btf, pointer->type) : NULL;
}

/* A program is about to be verified. The first argument of each function is the flow. */
static int dcqcn_cc_bpf_check_member(const struct btf_type *t, const struct btf_member *member,
				     const struct bpf_prog *prog)
{
	const struct btf *btf = prog->aux->attach_btf;
	const struct btf_type *proto = dcqcn_cc_bpf_target(btf, member->type);

	if (prog->sleepable || !proto || !btf_type_is_func_proto(proto) || !btf_type_vlen(proto))
		return -EINVAL;
	WRITE_ONCE(dcqcn_cc_type, dcqcn_cc_bpf_target(btf, btf_params(proto)[0].type));
	return 0;
}

static bool dcqcn_cc_bpf_is_valid_access(int off, int size, enum bpf_access_type type,
					 const struct bpf_prog *prog,
					 struct bpf_insn_access_aux *info)
{
	return off >= 0 && off < (int)sizeof(u64) * MAX_BPF_FUNC_ARGS && type == BPF_READ &&
	       !(off % size) && btf_ctx_access(off, size, type, prog, info);
}

static int dcqcn_cc_bpf_write(struct bpf_verifier_log *log, const struct bpf_reg_state *reg,
			      int off, int size)
{
	const struct btf_type *t = btf_type_by_id(reg->btf, reg->btf_id);

	if (!t || t != READ_ONCE(dcqcn_cc_type) || off < (int)offsetof(struct dcqcn_cc, rate) ||
	    off + size > (int)sizeof(struct dcqcn_cc)) {
		bpf_log(log, "only rate, next_call, window, path and private can be written\n");
		return -EACCES;
	}
	/* a pointer that a program has kept in a map is not trusted: its flow may be gone */
	if (!(reg->type & PTR_TRUSTED)) {
		bpf_log(log, "only the flow that a program is called with can be written\n");
		return -EACCES;
	}
	return 0;
}

static const struct bpf_verifier_ops dcqcn_cc_bpf_verifier_ops = {
	.get_func_proto = bpf_base_func_proto,
	.is_valid_access = dcqcn_cc_bpf_is_valid_access,
	.btf_struct_access = dcqcn_cc_bpf_write,
};

/* Copy the members that are not functions. Return 1 for those, 0 for functions. */
static int dcqcn_cc_bpf_init_member(const struct btf_type *t, const struct btf_member *member,
				    void *kdata, const void *udata)
{
	const struct dcqcn_cc_ops *from = udata;
	struct dcqcn_cc_ops *to = kdata;

	switch (__btf_member_bit_offset(t, member) / 8) {
	case offsetof(struct dcqcn_cc_ops, name):
		if (strnlen(from->name, sizeof(from->name)) == sizeof(from->name))
			return -EINVAL;
		strscpy(to->name, from->name, sizeof(to->name));
		return 1;
	case offsetof(struct dcqcn_cc_ops, flags):
		if (from->flags & ~(DCQCN_CC_NEEDS_ACKS | DCQCN_CC_WANTS_HOPS |
				    DCQCN_CC_WANTS_DELAY))
			return -EINVAL;
		to->flags = from->flags;
		return 1;
	default:
		return 0;
	}
}

static int dcqcn_cc_bpf_reg(void *kdata, struct bpf_link *link)
{
	return dcqcn_register_cc(kdata);
}

static void dcqcn_cc_bpf_unreg(void *kdata, struct bpf_link *link)
{
	dcqcn_unregister_cc(kdata);
}

/* Stubs for the functions that programs implement. They are never called, but kernels that check
 * the targets of indirect calls (CFI) need their types.
 */
static void dcqcn_cc_bpf_call(struct dcqcn_cc *cc)
{
}

static void dcqcn_cc_bpf_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
}

static void dcqcn_cc_bpf_idle(struct dcqcn_cc *cc, __u64 ns)
{
}

static void dcqcn_cc_bpf_sent(struct dcqcn_cc *cc, __u32 bytes)
{
}

static struct dcqcn_cc_ops dcqcn_cc_bpf_stubs = {
	.init = dcqcn_cc_bpf_call,
	.release = dcqcn_cc_bpf_call,
	.cnp = dcqcn_cc_bpf_call,
	.ack = dcqcn_cc_bpf_ack,
	.loss = dcqcn_cc_bpf_call,
	.idle = dcqcn_cc_bpf_idle,
	.timer = dcqcn_cc_bpf_call,
	.sent = dcqcn_cc_bpf_sent,
};

static struct bpf_struct_ops dcqcn_cc_bpf_ops = {
	.verifier_ops = &dcqcn_cc_bpf_verifier_ops,
	.init = dcqcn_cc_bpf_find_types,
	.check_member = dcqcn_cc_bpf_check_member,
	.init_member = dcqcn_cc_bpf_init_member,
	.reg = dcqcn_cc_bpf_reg,
	.unreg = dcqcn_cc_bpf_unreg,
	.cfi_stubs = &dcqcn_cc_bpf_stubs,
	.name = "dcqcn_cc_ops",
	.owner = THIS_MODULE,
};

/**
 * dcqcn_cc_bpf_init() - let algorithms be written in eBPF
 *
 * This fails if the module has no BTF; the module works without it. There is no function that
 * undoes this: BPF forgets the type when the module is unloaded.
 *
 * Context: process; may sleep.
 */
void dcqcn_cc_bpf_init(void)
{
	int err = register_bpf_struct_ops(&dcqcn_cc_bpf_ops, dcqcn_cc_ops);

	if (err)
		pr_info("algorithms in eBPF are unavailable: error %d\n", err);
}
