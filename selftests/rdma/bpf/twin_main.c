// SPDX-License-Identifier: GPL-2.0
/*
 * The algorithm "twin" compares an algorithm of the module with the same one in eBPF. For each event
 * of its flows it calls both with the same struct dcqcn_cc, and compares all bytes of the results.
 * Load this module with algorithm=NAME, then NAME-bpf; unload this one first. Until NAME-bpf is
 * there, flows obey NAME, and nothing is compared or counted.
 *
 * The counters may miss events if several flows obey it at a time.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/dcqcn_cc.h>

#include "algorithms.h"

static const struct dcqcn_cc_ops *const natives[] = {
	&dcqcn_swift, &dcqcn_timely, &dcqcn_dctcp, &dcqcn_fast, &dcqcn_fast_oneway,
	&dcqcn_hpcc, &dcqcn_powertcp,
};

static char *algorithm = "";
module_param(algorithm, charp, 0444);
static unsigned long events;
module_param(events, ulong, 0444);
static unsigned long losses;
module_param(losses, ulong, 0444);
static unsigned long changes;		/* of rate or window */
module_param(changes, ulong, 0444);
static unsigned long differences;
module_param(differences, ulong, 0444);

static const struct dcqcn_cc_ops *native, *ebpf;

/* eBPF registers its algorithms with this function, too */
static int twin_registers(struct kprobe *probe, struct pt_regs *regs)
{
	const struct dcqcn_cc_ops *ops = (void *)regs_get_kernel_argument(regs, 0);
	size_t len = strlen(algorithm);

	if (!strncmp(ops->name, algorithm, len) && !strcmp(ops->name + len, "-bpf"))
		WRITE_ONCE(ebpf, ops);
	return 0;
}

static struct kprobe probe = { .symbol_name = "dcqcn_register_cc", .pre_handler = twin_registers };

static void twin_compare(const struct dcqcn_cc *before, const struct dcqcn_cc *cc,
			 const struct dcqcn_cc *other)
{
	events++;
	changes += before->rate != cc->rate || before->window != cc->window;
	if (!memcmp(cc, other, sizeof(*cc)))
		return;
	if (!differences++)
		pr_info("twin: rates %llu, %llu, windows %u, %u\n", cc->rate, other->rate, cc->window,
			other->window);
}

#define TWIN(name)							\
	static void twin_##name(struct dcqcn_cc *cc)			\
	{								\
		const struct dcqcn_cc_ops *second = READ_ONCE(ebpf);	\
		struct dcqcn_cc before = *cc, other = *cc;		\
									\
		native->name(cc);					\
		if (!second)						\
			return;						\
		second->name(&other);					\
		twin_compare(&before, cc, &other);			\
	}

TWIN(init)
TWIN(cnp)

static void twin_loss(struct dcqcn_cc *cc)
{
	const struct dcqcn_cc_ops *second = READ_ONCE(ebpf);
	struct dcqcn_cc before = *cc, other = *cc;

	native->loss(cc);
	if (!second)
		return;
	second->loss(&other);
	twin_compare(&before, cc, &other);
	losses++;
}

static void twin_ack(struct dcqcn_cc *cc, const struct dcqcn_cc_sample *sample)
{
	const struct dcqcn_cc_ops *second = READ_ONCE(ebpf);
	struct dcqcn_cc before = *cc, other = *cc;

	native->ack(cc, sample);
	if (!second)
		return;
	second->ack(&other, sample);
	twin_compare(&before, cc, &other);
}

static struct dcqcn_cc_ops twin = {
	.name = "twin", .init = twin_init, .ack = twin_ack, .loss = twin_loss,
};

static int __init twin_module_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(natives); i++) {
		if (!strcmp(natives[i]->name, algorithm))
			native = natives[i];
	}
	if (!native)
		return -ENOENT;
	twin.flags = native->flags;
	twin.cnp = native->cnp ? twin_cnp : NULL;
	err = register_kprobe(&probe);
	if (err)
		return err;
	err = dcqcn_register_cc(&twin);
	if (err)
		unregister_kprobe(&probe);
	return err;
}

static void __exit twin_module_exit(void)
{
	dcqcn_unregister_cc(&twin);
	unregister_kprobe(&probe);
}

module_init(twin_module_init);
module_exit(twin_module_exit);
MODULE_DESCRIPTION("Compares algorithms with themselves in eBPF");
MODULE_LICENSE("GPL");
