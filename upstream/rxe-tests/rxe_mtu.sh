#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that the MTU follows the network device's
#
# The active MTU must be the largest one of InfiniBand that fits with rxe's
# headers, also after a change, and packets of that size must arrive.

source "$(dirname "$0")/rxe_lib.sh"

# is_mtu MTU
is_mtu()
{
	ibv_devinfo -d rxe_near | grep -q "active_mtu:[[:space:]]*$1 "
}

need ibv_devinfo ibv_rc_pingpong
setup_veth
add_links
while read -r netdev rxe; do
	ip link set near mtu "$netdev" || fail "no MTU of $netdev"
	in_far ip link set far mtu "$netdev"
	poll is_mtu "$rxe" || fail "with an MTU of $netdev, rxe's is not $rxe"
	pingpong V4 ibv_rc_pingpong -m "$rxe" -n 10 -s 10000 ||
		fail "no packets of $rxe bytes arrive"
done <<-END
	1500 1024
	9000 4096
	4000 2048
	1000 512
	1500 1024
END
