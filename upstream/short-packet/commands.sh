# SPDX-License-Identifier: GPL-2.0
# Packets to rxe's port that are shorter than a BTH, from another host. On IPv6 what the IP
# layer leaves in skb->cb is never all zero where rxe looks for a QP.
ip netns add h2
ip link add near type veth peer name far netns h2
ip addr add fd00::1/64 dev near nodad
ip link set near up
ip -n h2 addr add fd00::2/64 dev far nodad
ip -n h2 link set far up
rdma link add rxe0 type rxe netdev near
before=$(cat /sys/class/net/near/statistics/rx_packets)
ip netns exec h2 python3 -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
for length in range(12):
    s.sendto(bytes(length), ("fd00::1", 4791))
'
sleep 0.1
[ $(($(cat /sys/class/net/near/statistics/rx_packets) - before)) -ge 12 ]
# Waits until rxe has let go of every packet
rdma link del rxe0
