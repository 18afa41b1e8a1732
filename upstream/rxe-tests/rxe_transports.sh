#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test RC, UC, UD and shared receive queues
#
# Messages of one byte, of about a packet, and of many packets go back and
# forth, over IPv4 and IPv6.

source "$(dirname "$0")/rxe_lib.sh"

need ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong
setup_veth
add_links
for family in V4 V6; do
	for size in 1 1023 1024 1025 65536; do
		for kind in rc uc srq; do
			pingpong $family ibv_${kind}_pingpong -m 1024 -n 20 -s $size ||
				fail "$kind with messages of $size bytes fails over $family"
		done
	done
	# a datagram is one packet
	for size in 1 1023 1024; do
		pingpong $family ibv_ud_pingpong -n 20 -s $size ||
			fail "ud with messages of $size bytes fails over $family"
	done
done
