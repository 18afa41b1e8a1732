// SPDX-License-Identifier: GPL-2.0
/*
 * An idle loop that counts its instructions. For a guest with one CPU under QEMU's -icount
 * shift=0, where the TSC counts executed instructions but jumps while the CPU is halted: with
 * this driver the CPU never halts. The idle loop spins, and enables interrupts for a moment now
 * and then. The parameter "insns" is the number of its instructions. All other instructions
 * were spent on something, interrupts included.
 */
#include <linux/cpuidle.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <asm/tsc.h>

/* Instructions until interrupts are enabled: an interrupt may be this late */
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

/* Called with interrupts off, and returns with interrupts off */
static __cpuidle int idle_enter(struct cpuidle_device *dev,
				struct cpuidle_driver *drv, int index)
{
	u64 from = rdtsc(), now;

	while (!need_resched()) {
		idle_turn();
		now = rdtsc();
		raw_local_irq_enable();
		asm volatile("nop");	/* sti takes effect an instruction later */
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

/* No module_exit, because nothing shows when the last CPU has left the idle loop */
module_init(idle_init);
MODULE_DESCRIPTION("Counts the instructions of the idle loop");
MODULE_LICENSE("GPL");
