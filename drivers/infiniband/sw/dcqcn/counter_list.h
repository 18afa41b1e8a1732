/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All counters: DCQCN_COUNTER(ID, NAME, ATTRIBUTE). DCQCN_<ID> is counted, and users see it as
 * hw_counters/<NAME> and as RDMA_DCQCN_A_COUNTERS_<ATTRIBUTE>. counters.h, counters.c, netlink.c
 * and the command's dev.c include this list for what each of them needs.
 *
 * Documentation/ABI/testing/sysfs-class-infiniband-dcqcn says what is counted.
 */
DCQCN_COUNTER(NP_ECN_MARKED, np_ecn_marked_roce_packets, NP_ECN_MARKED_ROCE_PACKETS)
DCQCN_COUNTER(NP_CNP_SENT, np_cnp_sent, NP_CNP_SENT)
DCQCN_COUNTER(NP_ICRC_ERRORS, np_icrc_errors, NP_ICRC_ERRORS)
DCQCN_COUNTER(NP_CNP_ERRORS, np_cnp_errors, NP_CNP_ERRORS)
DCQCN_COUNTER(RP_CNP_HANDLED, rp_cnp_handled, RP_CNP_HANDLED)
DCQCN_COUNTER(RP_CNP_IGNORED, rp_cnp_ignored, RP_CNP_IGNORED)
DCQCN_COUNTER(RP_PASSED, rp_passed_packets, RP_PASSED_PACKETS)
DCQCN_COUNTER(RP_HELD, rp_held_packets, RP_HELD_PACKETS)
DCQCN_COUNTER(RP_RELEASED, rp_released_packets, RP_RELEASED_PACKETS)
DCQCN_COUNTER(RP_EXPIRED, rp_expired_packets, RP_EXPIRED_PACKETS)
DCQCN_COUNTER(RP_DROP_BOUND, rp_drop_bound_packets, RP_DROP_BOUND_PACKETS)
DCQCN_COUNTER(RP_DROP_STALE, rp_drop_stale_packets, RP_DROP_STALE_PACKETS)
DCQCN_COUNTER(RP_DROP_DEAD, rp_drop_dead_packets, RP_DROP_DEAD_PACKETS)
DCQCN_COUNTER(RP_ECT_ERRORS, rp_ect_errors, RP_ECT_ERRORS)
DCQCN_COUNTER(QP_ERRORS, qp_errors, QP_ERRORS)
DCQCN_COUNTER(NP_FEEDBACK_SENT, np_feedback_sent, NP_FEEDBACK_SENT)
DCQCN_COUNTER(NP_FEEDBACK_ERRORS, np_feedback_errors, NP_FEEDBACK_ERRORS)
DCQCN_COUNTER(RP_FEEDBACK_HANDLED, rp_feedback_handled, RP_FEEDBACK_HANDLED)
DCQCN_COUNTER(RP_FEEDBACK_IGNORED, rp_feedback_ignored, RP_FEEDBACK_IGNORED)
DCQCN_COUNTER(RP_WINDOW_TIMEOUTS, rp_window_timeouts, RP_WINDOW_TIMEOUTS)
DCQCN_COUNTER(RP_ENTROPY_CHANGES, rp_entropy_changes, RP_ENTROPY_CHANGES)
DCQCN_COUNTER(CCC_ERRORS, ccc_errors, CCC_ERRORS)
