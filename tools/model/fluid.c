// SPDX-License-Identifier: GPL-2.0
/*
 * Where DCQCN settles, by analysis: the probability of a mark at which N equal
 * flows are cut as much as they grow. Means stand in the place of random events.
 *
 *   Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
 *   CoNEXT 2016, section 3.1 and appendix A
 *
 * The fixed point is solved without the paper's approximations. With R packets
 * per second of a flow, tau the CNP interval, tau' alpha's period, T, B, F and
 * R_AI in packets:
 *
 *   a = 1 - (1-p)^(tau R)			alpha = 1 - (1-p)^(tau' R)
 *   b = p / ((1-p)^-B - 1)			c = (1-p)^(F B) b
 *   d = p / ((1-p)^-(T R) - 1)			e = (1-p)^(F T R) d
 *   a^2 alpha / ((b + d) (c + e)) = tau^2 R_AI R
 *
 * where a cut takes alpha / 2 of a rate. If rpg_gd makes it k times that, alpha is k alpha here.
 * Knobs that are measured (profile auto) are those of a round trip with the queue
 * that p needs.
 */
#include "fluid.h"
#include "number.h"

#define P_LEAST		1e-7
#define P_MOST		0.9999
#define HALVINGS	60

/* Of the path, see rate.c */
#define PERIOD_LESS	0.625		/* of the round trip without queues */
#define PERIOD_MANY	3
#define PERIOD_PACKETS	2
#define CUT_PACKETS	8
#define AI_SHARE	128

/* x / (e^y - 1), y > 0 */
static double over_expm1(double x, double y)
{
	return y > 700 ? 0 : x / number_expm1(y);
}

/**
 * fluid_balance() - decrease over increase; 1 at the fixed point
 * @p: probability of a mark, above 0 and below 1
 * @fl: flows and link
 * @s: the senders' knobs
 */
double fluid_balance(double p, const struct fluid *fl, const struct senders *s)
{
	double queue = fl->kmin_bytes + number_min(p / fl->pmax_share, 1) *
					(fl->kmax_bytes - fl->kmin_bytes);
	double rtt = fl->rtt_s + queue / fl->speed_bytes;
	double hazard = -number_log1p(-p), rate = fl->flow_packets;
	double many = number_min(rtt, PERIOD_MANY / rate);
	double period = number_max(number_max(rtt - fl->rtt_s * PERIOD_LESS, many),
				   PERIOD_PACKETS / rate);
	double timer = s->rp.rpg_time_reset ? s->rp.rpg_time_reset * 1e-6 : period;
	double alpha_period = s->rp.dce_tcp_rtt ? s->rp.dce_tcp_rtt * 1e-6 : period;
	double tau = number_max(s->cnp_interval_us, s->rp.rate_reduce_monitor_period) * 1e-6;
	double ai = s->rp.rpg_ai_rate ? s->rp.rpg_ai_rate * 1e6 / 8 / fl->packet_bytes :
					rate / AI_SHARE;
	double steps = s->rp.rpg_threshold, counter, a, alpha, b = 0, c = 0, d, e;

	if (!s->rp.rate_reduce_monitor_period)
		tau = number_max(tau, number_max(rtt, CUT_PACKETS / (1 + p) / rate));
	/* the paper's CNPs cannot be closer than packets */
	tau = number_max(tau, number_max(fl->cnp_s, 1 / rate));
	a = -number_expm1(-hazard * tau * rate);
	alpha = -number_expm1(-hazard * alpha_period * rate);
	if (s->rp.rpg_byte_reset) {
		counter = s->rp.rpg_byte_reset / fl->packet_bytes;
		b = over_expm1(p, hazard * counter);
		c = b * number_exp(-hazard * counter * steps);
	}
	d = over_expm1(p, hazard * timer * rate);
	e = d * number_exp(-hazard * timer * rate * steps);
	if ((b + d) * (c + e) < 1e-290)
		return 1e300;
	alpha *= 2048.0 / (1U << s->rp.rpg_gd);
	return a * a * alpha / ((b + d) * (c + e)) / (tau * tau * ai * rate);
}

/**
 * fluid_fixed_point() - the probability of a mark
 * @fluid: flows and link
 * @senders: their knobs
 */
double fluid_fixed_point(const struct fluid *fluid, const struct senders *senders)
{
	double low = number_log(P_LEAST), high = number_log(P_MOST), middle = low;
	int i;

	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		if (fluid_balance(number_exp(middle), fluid, senders) < 1)
			low = middle;
		else
			high = middle;
	}
	return number_exp(middle);
}
