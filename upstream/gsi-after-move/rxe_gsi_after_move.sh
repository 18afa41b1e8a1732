#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test rdma_cm after a move to another namespace
#
# An rxe device is moved to the network namespace of its network device.
# Then the communication manager must be able to connect to it.

cleanup()
{
	set +e
	rdma link del rxe0 2>/dev/null
	ip netns exec pod rdma link del rxe1 2>/dev/null
	ip link del near 2>/dev/null
	ip netns del pod 2>/dev/null
}

[ "$(id -u)" -eq 0 ] || { echo "SKIP: must be run as root"; exit 4; }
command -v rping >/dev/null || { echo "SKIP: rping not found"; exit 4; }
rdma system set netns exclusive || { echo "SKIP: no RDMA namespaces"; exit 4; }
trap cleanup EXIT
set -e
modprobe veth
modprobe rdma_rxe
ip netns add pod
ip link add near type veth peer name far netns pod
ip addr add 10.0.0.1/24 dev near
ip link set near up
ip -n pod addr add 10.0.0.2/24 dev far
ip -n pod link set far up
ip -n pod link set lo up
rdma link add rxe0 type rxe netdev near
ip netns exec pod rdma link add rxe1 type rxe netdev far
rdma dev set rxe1 netns pod

ip netns exec pod timeout 20 rping -s -a 10.0.0.2 -C 1 &
# A client that comes too early is refused at once
for _ in {1..50}; do
	timeout 5 rping -c -a 10.0.0.2 -C 1 && exit
	[ -d /proc/$! ] || break
	sleep 0.1
done
echo "FAULT: nothing connects to a device that was moved"
exit 1
