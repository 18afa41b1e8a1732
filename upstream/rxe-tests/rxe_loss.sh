#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that RC recovers from losses
#
# Both directions lose 2 % of all packets, so requests, responses and ACKs
# are among them. Each message must arrive, without an error.

source "$(dirname "$0")/rxe_lib.sh"

dropped()
{
	$1 tc -s qdisc show dev "$2" | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | head -n 1
}

need tc ibv_rc_pingpong
setup_veth
add_links
tc qdisc add dev near root netem loss 2% || skip "no netem"
in_far tc qdisc add dev far root netem loss 2%
pingpong V4 ibv_rc_pingpong -m 1024 -n 100 -s 16384 || fail "RC does not recover from losses"
[ "$(dropped "" near)" -gt 0 ] && [ "$(dropped in_far far)" -gt 0 ] || fail "nothing was lost"
