#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test the removal of a device that is in use
#
# The device goes while messages go back and forth. Programs at both ends
# must end, and a new device must work. A message takes a while, so that the
# traffic leaves time to others.

source "$(dirname "$0")/rxe_lib.sh"

# sent_more_than PACKETS
sent_more_than()
{
	[ "$(cat /sys/class/infiniband/rxe_near/ports/1/hw_counters/sent_pkts)" -gt "$1" ]
}

need tc ibv_rc_pingpong
setup_veth
tc qdisc add dev near root netem delay 200us || skip "no netem"
for round in 1 2 3; do
	add_links
	pingpong V4 ibv_rc_pingpong -m 1024 -n 100000000 &
	traffic=$!
	poll sent_more_than 100 || fail "no traffic"
	timeout 30 rdma link del rxe_near || fail "round $round: the device cannot be removed"
	# the far end's requests fail after their retries
	wait $traffic && fail "round $round: traffic survives its device"
	in_far timeout 30 rdma link del rxe_far || fail "round $round: nor can the other end's"
done
add_links
pingpong V4 ibv_rc_pingpong -m 1024 -n 100 || fail "a new device does not work"
