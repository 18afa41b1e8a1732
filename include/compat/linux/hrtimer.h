/* SPDX-License-Identifier: GPL-2.0 */
/* Before 6.13, a timer's function was set separately from hrtimer_init(). */
#ifndef DCQCN_COMPAT_HRTIMER_H
#define DCQCN_COMPAT_HRTIMER_H

#include_next <linux/hrtimer.h>

#ifndef DCQCN_HAVE_HRTIMER_SETUP
static inline void
hrtimer_setup(struct hrtimer *timer,
	      enum hrtimer_restart (*function)(struct hrtimer *),
	      clockid_t clock_id, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock_id, mode);
	timer->function = function;
}
#endif

#endif /* DCQCN_COMPAT_HRTIMER_H */
