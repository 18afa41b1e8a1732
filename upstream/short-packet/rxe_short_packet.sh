#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test packets that are shorter than a BTH
#
# Another host sends UDP packets of fewer than 12 bytes to rxe's port. On
# IPv6 what the IP layer leaves in skb->cb is never all zero where rxe looks
# for a QP. rxe must drop them, and hold no reference afterwards.

PORT=4791

cleanup()
{
	set +e
	rdma link del rxe0 2>/dev/null
	ip link del near 2>/dev/null
	ip netns del h2 2>/dev/null
}

fail()
{
	echo "FAULT: $*"
	exit 1
}

[ "$(id -u)" -eq 0 ] || { echo "SKIP: must be run as root"; exit 4; }
trap cleanup EXIT
set -e
modprobe veth
modprobe rdma_rxe
ip netns add h2
ip link add near type veth peer name far netns h2
ip addr add fd00::1/64 dev near nodad
ip link set near up
ip -n h2 addr add fd00::2/64 dev far nodad
ip -n h2 link set far up
rdma link add rxe0 type rxe netdev near

received() { cat /sys/class/net/near/statistics/rx_packets; }

before=$(received)
for length in {0..11}; do
	ip netns exec h2 python3 -c "
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.sendto(bytes($length), ('fd00::1', $PORT))"
done
for _ in {1..50}; do
	[ $(($(received) - before)) -lt 12 ] || break
	sleep 0.1
done
[ $(($(received) - before)) -ge 12 ] || fail "the packets do not arrive"
# Waits until rxe has let go of every packet
timeout 30 rdma link del rxe0 || fail "rxe0 cannot be removed"
