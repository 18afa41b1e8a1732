// SPDX-License-Identifier: GPL-2.0
/*
 * The reaction point of DCQCN, after the pseudo-code of the paper (Zhu et al.,
 * SIGCOMM 2015, section 5) and the descriptions of mlx5's knobs.
 *
 * It is slow and simple on purpose. Three alarm clocks are set when the rate is
 * cut (alpha's period, the increase timer, the end of the monitor period), and
 * each ring is one event: no closed form, no fixed point, nothing put off. So
 * it shares none of the ways in which rate.c could go wrong. Without alpha_on_cut
 * alpha's clock is that of a NIC: the first CNP starts it, and nothing sets it again.
 */
#include <math.h>

#include "knobs.h"
#include "model.h"

/* Events of one kind stop counting here. The paper knows no such limit; the
 * module's keeps hyper increase within 64 bits.
 */
#define MOST_EVENTS 63

static void bound(struct model *m)
{
	double floor = fmin(m->knobs->rpg_min_rate * 1e6, m->line);

	m->rate = fmax(fmin(m->rate, m->line), floor);
	m->target = fmax(fmin(m->target, m->line), floor);
}

/* A period that ends at the very moment of a CNP saw it: alpha must not
 * decay in it. So the clock rings one nanosecond after the period.
 */
static void set_alpha_clock(struct model *m, u64 start)
{
	m->alpha_due = start + m->knobs->dce_tcp_rtt * US + 1;
}

static void restart(struct model *m)
{
	m->timer_due = m->now + m->knobs->rpg_time_reset * US;
	m->window_end = m->now + m->knobs->rate_reduce_monitor_period * US;
	m->bytes_to_go = m->knobs->rpg_byte_reset;
	m->timer_events = 0;
	m->byte_events = 0;
	m->last_increase = MODEL_NO_INCREASE;
	m->cut_waits = false;
}

static bool cut_moves_target(const struct model *m)
{
	if (m->knobs->clamp_tgt_rate)
		return true;
	if (m->last_increase == MODEL_TIMER_INCREASE)
		return m->knobs->clamp_tgt_rate_after_time_inc;
	return m->last_increase == MODEL_BYTES_INCREASE;
}

static void cut(struct model *m)
{
	double keep = m->knobs->dce_tcp_g / 1024.0;
	double most = 1 - m->knobs->rpg_min_dec_fac / 100.0;
	double share = m->alpha * 1024 / pow(2, m->knobs->rpg_gd);

	if (cut_moves_target(m))
		m->target = m->rate;
	m->rate *= 1 - fmin(share, most);
	if (m->knobs->alpha_on_cut) {
		m->alpha = keep * m->alpha + (1 - keep);
		set_alpha_clock(m, m->now);
	}
	m->cuts++;
	bound(m);
	restart(m);
}

static void increase(struct model *m, enum model_increase kind)
{
	unsigned int *events = kind == MODEL_TIMER_INCREASE ?
			       &m->timer_events : &m->byte_events;
	unsigned int threshold = m->knobs->rpg_threshold;
	unsigned int most, least;

	if (*events < MOST_EVENTS)
		++*events;
	m->last_increase = kind;

	most = fmax(m->timer_events, m->byte_events);
	least = fmin(m->timer_events, m->byte_events);
	if (most < threshold)
		;			/* fast recovery: the target stays */
	else if (least > threshold)	/* hyper increase */
		m->target += (least - threshold) * 1e6 * m->knobs->rpg_hai_rate;
	else				/* additive increase */
		m->target += 1e6 * m->knobs->rpg_ai_rate;
	m->target = fmin(m->target, m->line);
	m->rate = (m->target + m->rate) / 2;
}

static void alpha_period_ends(struct model *m)
{
	double keep = m->knobs->dce_tcp_g / 1024.0;

	m->alpha *= keep;
	if (m->cnp_came)
		m->alpha += 1 - keep;
	m->cnp_came = false;
	if (m->alpha < 1e-30)		/* denormal numbers are slow */
		m->alpha = 0;
	set_alpha_clock(m, m->alpha_due - 1);
}

void model_init(struct model *m, const struct dcqcn_rp_params *knobs,
		double line, u64 now)
{
	*m = (struct model) {
		.knobs = knobs,
		.line = line,
		.rate = line,
		.target = line,
		.now = now,
	};
}

void model_advance(struct model *m, u64 until, u64 bytes)
{
	while (m->throttled) {
		void (*event)(struct model *m) = NULL;
		u64 next = m->timer_due;

		/* of two at the same time the timer comes first */
		if (m->cut_waits && m->window_end < next) {
			next = m->window_end;
			event = cut;
		}
		if (m->alpha_due <= next) {
			next = m->alpha_due;
			event = alpha_period_ends;
		}
		if (next > until)
			break;
		m->now = next;
		if (event) {
			event(m);
		} else {
			increase(m, MODEL_TIMER_INCREASE);
			m->timer_due += m->knobs->rpg_time_reset * US;
		}
	}
	m->now = until;

	if (!m->throttled || !m->knobs->rpg_byte_reset)
		return;
	while (bytes >= m->bytes_to_go) {
		bytes -= m->bytes_to_go;
		m->bytes_to_go = m->knobs->rpg_byte_reset;
		increase(m, MODEL_BYTES_INCREASE);
	}
	m->bytes_to_go -= bytes;
}

void model_cnp(struct model *m)
{
	if (m->throttled) {
		m->cnp_came = !m->knobs->alpha_on_cut;
		if (m->now < m->window_end)
			m->cut_waits = true;
		else
			cut(m);
		return;
	}

	m->throttled = true;
	m->alpha = m->knobs->initial_alpha_value / 1024.0;
	set_alpha_clock(m, m->now);
	if (m->knobs->rate_to_set_on_first_cnp) {
		m->rate = m->knobs->rate_to_set_on_first_cnp * 1e6;
		m->target = m->rate;
		bound(m);
		restart(m);
	} else {
		cut(m);
	}
}

void model_set_line(struct model *m, double line)
{
	m->line = line;
	if (!m->throttled) {
		m->rate = line;
		m->target = line;
	}
	bound(m);
}
