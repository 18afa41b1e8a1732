// SPDX-License-Identifier: GPL-2.0
/*
 * A path over several queues that mark: 1 - (1 - p)^n, what undoes it, and what it
 * does to long flows.
 */
#include "number.h"
#include "parts.h"

#define HALVINGS	60

/* Packets/s of a flow that settles at p, by the fluid model */
static double rate_at(struct fluid fluid, const struct senders *senders, double p)
{
	double low = number_log(1), high = number_log(1e10), middle = low;
	int i;

	for (i = 0; i < HALVINGS; i++) {
		middle = (low + high) / 2;
		fluid.flow_packets = number_exp(middle);
		if (fluid_balance(p, &fluid, senders) < 1)
			low = middle;
		else
			high = middle;
	}
	return number_exp(middle);
}

/**
 * hops_solve() - several hops
 * @in: how many
 * @senders: their knobs
 * @out: the operating point is known
 */
void hops_solve(const struct dcqcn_model_input *in, const struct senders *senders,
		struct dcqcn_model_output *out)
{
	double p = number_min(out->marked_share, 0.999), each, hops = in->congested_hops;
	struct fluid fluid = parts_fluid(in, out);

	out->amplification = hops;
	out->long_share = hops == 1;
	out->graduated_pmax_share = out->pmax_share / hops;
	out->graduated_kmax_bytes = out->kmin_bytes +
				    hops * (out->kmax_bytes - out->kmin_bytes);
	if (p < 1e-6)
		return;
	out->any_share = -number_expm1(hops * number_log1p(-p));
	out->amplification = out->any_share / p;
	each = -number_expm1(number_log1p(-p) / hops);
	out->graduated_pmax_share = out->pmax_share * each / p;
	out->graduated_kmax_bytes = out->kmin_bytes +
				    (out->kmax_bytes - out->kmin_bytes) * p / each;
	/* Where T and R_AI follow the path, marks say nothing of the rate */
	if (hops > 1 && senders->rp.rpg_time_reset && senders->rp.rpg_ai_rate)
		out->long_share = rate_at(fluid, senders, out->any_share) /
				  rate_at(fluid, senders, p);
}
