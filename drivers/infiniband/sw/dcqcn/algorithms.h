/* SPDX-License-Identifier: GPL-2.0 */
/* The algorithms of this module that are struct dcqcn_cc_ops, each in a file of its own. */
#ifndef DCQCN_ALGORITHMS_H
#define DCQCN_ALGORITHMS_H

#include <rdma/dcqcn_cc.h>

extern const struct dcqcn_cc_ops dcqcn_swift;
extern const struct dcqcn_cc_ops dcqcn_timely;
extern const struct dcqcn_cc_ops dcqcn_dctcp;
extern const struct dcqcn_cc_ops dcqcn_fast;
extern const struct dcqcn_cc_ops dcqcn_fast_oneway;
extern const struct dcqcn_cc_ops dcqcn_hpcc;
extern const struct dcqcn_cc_ops dcqcn_powertcp;

#endif /* DCQCN_ALGORITHMS_H */
