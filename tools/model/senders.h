/* SPDX-License-Identifier: GPL-2.0 */
/* The knobs of senders and receivers. See senders.c. */
#ifndef MODEL_SENDERS_H
#define MODEL_SENDERS_H

#include "model.h"
#include "rate.h"

/**
 * struct senders - knobs
 * @rp: of the reaction point
 * @cnp_interval_us: of the notification point
 */
struct senders {
	struct dcqcn_rp_params rp;
	u32 cnp_interval_us;
};

struct senders senders_of(const struct dcqcn_model_input *in);

#endif /* MODEL_SENDERS_H */
