# SPDX-License-Identifier: GPL-2.0
# An rxe device is moved to the network namespace of its network device. Then the communication
# manager must be able to connect to it.
rdma system set netns exclusive
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
ip netns exec pod timeout 10 rping -s -a 10.0.0.2 -C 1 &
sleep 1
timeout 5 rping -c -a 10.0.0.2 -C 1 || echo "FAULT: nothing connects to a device that was moved"
wait || true
rdma link del rxe0
ip netns exec pod rdma link del rxe1
