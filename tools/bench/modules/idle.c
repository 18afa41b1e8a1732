// SPDX-License-Identifier: GPL-2.0
/*
 * An idle loop that is counted. For a guest with one CPU under QEMU's -icount shift=0,
 * where the TSC counts executed instructions but jumps while the CPU is halted:
 * with this driver it never is. The idle loop runs in place, between moments in which
 * interrupts may come, and the parameter "insns" tells how many instructions it
 * took. All others were spent on something, interrupts included.
 */
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <asm/tsc.h>

/* Instructions until interrupts are enabled, and so how late they may come */
#define IDLE_TURN	64

/* Enabling interrupts takes less than this if none is pending */
#define IDLE_MOMENT	32

static unsigned long insns;
module_param(insns, ulong, 0444);
MODULE_PARM_DESC(insns, "Instructions that the CPU idled");

static __always_inline void idle_turn(void)
{
	unsigned int n = IDLE_TURN / 2;

	asm volatile("1: decl %0\n\tjnz 1b" : "+r"(n));
}

/* Called with interrupts off, and left so */
static __cpuidle int idle_enter(struct cpuidle_device *dev,
				struct cpuidle_driver *drv, int index)
{
	u64 from = rdtsc(), now;

	while (!need_resched()) {
		idle_turn();
		now = rdtsc();
		raw_local_irq_enable();
		asm volatile("nop");	/* sti lets them in one later */
		raw_local_irq_disable();
		if (rdtsc() - now > IDLE_MOMENT) {
			insns += now - from;
			return index;
		}
	}
	insns += rdtsc() - from;
	return index;
}

static struct cpuidle_driver idle_driver = {
	.name = "bench",
	.owner = THIS_MODULE,
	.states = {
		{
			.name = "COUNT",
			.desc = "counted",
			.enter = idle_enter,
		},
	},
	.state_count = 1,
};

static int __init idle_init(void)
{
	idle_driver.cpumask = (struct cpumask *)cpu_present_mask;
	return cpuidle_register(&idle_driver, NULL);
}

/* Without module_exit: nothing says when the last CPU has left the idle loop */
module_init(idle_init);
MODULE_DESCRIPTION("Counts the instructions of the idle loop");
MODULE_LICENSE("GPL");
