# SPDX-License-Identifier: GPL-2.0
"""Runs in the simulator: a switch of 512 ports with PFC on all eight priorities holds a
million packets, and gives them back. Small packets count with a quarter of their memory, which
this kernel decides: what one of them is charged, all are charged.

usage: scale.py MODULE BINARIES
"""

import json
import socket
import sys

from wire import in_netns, mac, packet, pfc, sh, sleep, unaccounted

MODULE, BINARIES = sys.argv[1:3]
PORTS, EACH = 512, 256          # EACH: packets of each port and priority
LENGTH = 60
HEADROOM = 1000
TOTAL = (PORTS - 1) * 8 * EACH  # all but the one through which they leave
TOOL = "ip netns exec s %s/dcqcn" % BINARIES


def batch(tool, netns, lines):
    sh("%s -n %s -batch - <<'END'\n%s\nEND" % (tool, netns, "\n".join(lines)))


def build():
    sh("ip netns add s && ip netns add h && for n in s h; do ip netns exec $n sh -c 'echo 1 "
       ">/proc/sys/net/ipv6/conf/default/disable_ipv6'; done && "
       "ip -n s link add br0 type bridge stp_state 0 mcast_snooping 0 && "
       "ip -n s link set br0 up && "
       "%s port switch new s size 1GB alpha 0" % TOOL)
    batch("ip", "s", ["link add p%d type veth peer name e%d netns h" % (n, n)
                      for n in range(PORTS)])
    batch("ip", "h", ["link set e%d up" % n for n in range(PORTS)])
    batch("ip", "s", ["link set p%d master br0 up" % n for n in range(PORTS)])
    batch("bridge", "s", ["fdb replace %s dev p0 master static" % mac(1).hex(":")])
    batch("tc", "s", ["qdisc add dev p%d root dcbport" % n for n in range(PORTS)])
    classes = " ".join("prio %d kmin 0 kmax 0 limit 100MB" % p for p in range(8))
    for n in range(PORTS):
        sh("%s port set dev p%d switch s strict none pfc 0,1,2,3,4,5,6,7 xoff 200KB xon 100KB "
           "headroom %d action off rate 400gbit %s" % (TOOL, n, HEADROOM, classes))


def stats():
    return json.loads(sh("%s -j port stat" % TOOL).stdout)


def total(ports, form):
    return sum(p[form % prio] for p in ports for prio in range(8))


def main():
    sh("insmod " + MODULE)
    print("1..1", flush=True)
    sh("echo 1000000 >/proc/sys/net/core/netdev_max_backlog")
    build()
    sleep(10**10)       # the kernel processes at most 100 link events per second
    with in_netns("h"):
        s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    frames = [packet(mac(1), mac(2), p, length=LENGTH) for p in range(8)]

    def say(quanta):
        s.sendto(pfc(dict.fromkeys(range(8), quanta)), ("e0", 0))

    say(0xffff)
    s.sendto(frames[0], ("e1", 0))
    one = total(stats(), "rx_prio%d_buffer_bytes")
    say(0)
    sleep(10**6)
    for n in range(1, PORTS):
        for frame in frames:
            say(0xffff)         # at 400 Gb/s it lasts for 84 us
            for _ in range(EACH):
                s.sendto(frame, ("e%d" % n, 0))
    ports = stats()
    held = total(ports, "tx_prio%d_queue_packets")
    charged = total(ports, "rx_prio%d_buffer_bytes")
    print("# %d packets held, %d bytes charged to %d accounts" % (
        held, charged, sum(p["rx_prio%d_buffer_bytes" % q] > 0 for p in ports for q in range(8))))
    say(0)
    sleep(10**9)
    ports = stats()
    out, left = total(ports, "tx_prio%d_packets"), total(ports, "rx_prio%d_buffer_bytes")
    lost = [p["dev"] for p in ports if any(unaccounted(p))]
    # one more packet has left before
    ok = (held == TOTAL and one > LENGTH and charged == TOTAL * one and out == TOTAL + 1 and
          not left and not lost)
    if not ok:
        print("# out %d of %d, left %d bytes, %d charged for one; do not add up: %s" % (
            out, TOTAL + 1, left, one, lost))
    print("%sok 1 - %d ports hold %d packets and give them back" % (
        "" if ok else "not ", PORTS, TOTAL))


main()
