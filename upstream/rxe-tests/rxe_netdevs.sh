#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test rxe on network devices of several kinds
#
# rxe must work on a veth, with and without a VLAN, on a macvlan and on a
# bridge, its port must be down and up with the device, and it must go when
# the device does.

source "$(dirname "$0")/rxe_lib.sh"

state()
{
	[ "$(cut -d: -f1 </sys/class/infiniband/rxe_near/ports/1/state)" = "$1" ]
}

gone()
{
	! rdma link show rxe_near/1 >/dev/null 2>&1
}

need ibv_rc_pingpong
for kind in veth vlan macvlan bridge; do
	setup_veth
	device=top
	case $kind in
	veth) device=near ;;
	vlan)
		# rxe is on the real device, and has the VLAN's addresses
		device=near
		ip link add top link near type vlan id 5 || skip "no VLANs"
		in_far ip link add top link far type vlan id 5
		in_far ip addr flush dev far
		in_far ip addr add $FAR/24 dev top
		in_far ip link set top up
		;;
	macvlan) ip link add top link near type macvlan mode bridge || skip "no macvlan" ;;
	bridge)
		ip link add top type bridge || skip "no bridges"
		ip link set near master top
		;;
	esac
	if [ $kind != veth ]; then
		ip addr flush dev near
		ip addr add $NEAR/24 dev top
		ip link set top up
	fi
	add_links $device
	poll state 4 || fail "$kind: the port is not active"
	pingpong V4 ibv_rc_pingpong -m 512 -n 20 || fail "$kind: nothing arrives"
	ip link set $device down
	poll state 1 || fail "$kind: the port is not down"
	ip link set $device up
	poll state 4 || fail "$kind: the port is not active again"
	ip link del $device
	poll gone || fail "$kind: rxe outlives its network device"
	cleanup
done
