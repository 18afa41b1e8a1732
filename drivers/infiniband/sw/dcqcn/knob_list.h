/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All knobs: DCQCN_KNOB(ROLE, ATTRIBUTE, NAME, FIELD, UNIT, NOTE). Users see a knob as the file
 * ecn/roce_<ROLE>/<NAME> and as RDMA_DCQCN_A_SETTINGS_<ATTRIBUTE>, and it is kept in FIELD of
 * struct dcqcn_settings. The command dcqcn prints it in UNIT_<UNIT>, with NOTE behind it.
 *
 * DCQCN_ENABLE(ROLE, ATTRIBUTE, NAME, FIELD) is a set of priorities: the files
 * ecn/roce_<ROLE>/enable/0 to 7.
 *
 * settings.c, sysfs.c and the command's knob.c include this list for what each of them needs. The
 * ranges are in Documentation/netlink/specs/rdma_dcqcn.yaml, and
 * Documentation/ABI/testing/sysfs-class-net-ecn says what a knob does.
 */
DCQCN_KNOB(np, MIN_TIME_BETWEEN_CNPS, min_time_between_cnps, np.min_time_between_cnps, USEC, NULL)
DCQCN_KNOB(np, CNP_DSCP, cnp_dscp, np.cnp_dscp, NONE, NULL)
DCQCN_KNOB(np, CNP_802P_PRIO, cnp_802p_prio, np.cnp_802p_prio, NONE, NULL)
DCQCN_KNOB(np, CNP_UDP_SPORT, cnp_udp_sport, np.cnp_udp_sport, NONE, NULL)
DCQCN_KNOB(np, HOP_STAMPS, hop_stamps, hop_stamps, NONE, "1: report queues to senders")
DCQCN_ENABLE(np, NP_ENABLE, np_enable, np_enable)
DCQCN_KNOB(rp, RPG_MAX_RATE, rpg_max_rate, rp.rpg_max_rate, MBPS, "0: port speed")
DCQCN_KNOB(rp, RPG_MIN_RATE, rpg_min_rate, rp.rpg_min_rate, MBPS, NULL)
DCQCN_KNOB(rp, RATE_TO_SET_ON_FIRST_CNP, rate_to_set_on_first_cnp,
	   rp.rate_to_set_on_first_cnp, MBPS, "0: cut from line rate")
DCQCN_KNOB(rp, INITIAL_ALPHA_VALUE, initial_alpha_value, rp.initial_alpha_value, NONE, "1/1024")
DCQCN_KNOB(rp, DCE_TCP_G, dce_tcp_g, rp.dce_tcp_g, NONE, "1/1024")
DCQCN_KNOB(rp, DCE_TCP_RTT, dce_tcp_rtt, rp.dce_tcp_rtt, USEC, "0: measured")
DCQCN_KNOB(rp, RATE_REDUCE_MONITOR_PERIOD, rate_reduce_monitor_period,
	   rp.rate_reduce_monitor_period, USEC, "0: measured")
DCQCN_KNOB(rp, RPG_GD, rpg_gd, rp.rpg_gd, NONE, "log2")
DCQCN_KNOB(rp, RPG_MIN_DEC_FAC, rpg_min_dec_fac, rp.rpg_min_dec_fac, PERCENT, NULL)
DCQCN_KNOB(rp, CLAMP_TGT_RATE, clamp_tgt_rate, rp.clamp_tgt_rate, NONE, NULL)
DCQCN_KNOB(rp, CLAMP_TGT_RATE_AFTER_TIME_INC, clamp_tgt_rate_after_time_inc,
	   rp.clamp_tgt_rate_after_time_inc, NONE, NULL)
DCQCN_KNOB(rp, RPG_TIME_RESET, rpg_time_reset, rp.rpg_time_reset, USEC, "0: measured")
DCQCN_KNOB(rp, RPG_BYTE_RESET, rpg_byte_reset, rp.rpg_byte_reset, BYTES, "0: off")
DCQCN_KNOB(rp, RPG_THRESHOLD, rpg_threshold, rp.rpg_threshold, NONE, NULL)
DCQCN_KNOB(rp, RPG_AI_RATE, rpg_ai_rate, rp.rpg_ai_rate, MBPS, "0: measured")
DCQCN_KNOB(rp, RPG_HAI_RATE, rpg_hai_rate, rp.rpg_hai_rate, MBPS, NULL)
DCQCN_ENABLE(rp, RP_ENABLE, rp_enable, rp_enable)
DCQCN_KNOB(rp, ALPHA_ON_CUT, alpha_on_cut, rp.alpha_on_cut, NONE, "0: once per dce_tcp_rtt")
DCQCN_KNOB(rp, START_BURST, start_burst, rp.start_burst, BYTES, "0: off")
DCQCN_KNOB(rp, CCC_ALGORITHMS, ccc_algorithms,
	   ccc.algorithms, NONE, "0: DCQCN, 1: window, 2: credit, 3: both")
DCQCN_KNOB(rp, CCC_BASE_RTT, ccc_base_rtt, ccc.base_rtt, USEC, "0: measured")
DCQCN_KNOB(rp, CCC_TARGET_QDELAY, ccc_target_qdelay, ccc.target_qdelay, USEC, "0: one round trip")
DCQCN_KNOB(rp, CCC_INITIAL_WINDOW, ccc_initial_window, ccc.initial_window, BYTES, "0: one packet")
DCQCN_KNOB(rp, CCC_ENTROPY, ccc_entropy, ccc.entropy, NONE, "1: leave congested paths")
DCQCN_KNOB(rp, CCC_SCALING, ccc_scaling, ccc.scaling, NONE, "0: the path's own")
