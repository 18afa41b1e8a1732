# SPDX-License-Identifier: GPL-2.0
"""Runs on a real kernel, without exact clocks: a switch with two hosts.

usage: smoke.py MODULE BINARIES PCAP
"""

import struct
import sys
import time

from wire import Port, Socket, dcb, is_data, mac, number, packet, pfc, routed, sh, unaccounted

MODULE, BINARIES, PCAP = sys.argv[1:4]
PATIENCE = 60   # s
COUNT, LENGTH = 500, 1000


def until(what, true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what() if callable(what) else what
        time.sleep(0.01)


def write_pcap(frames):
    with open(PCAP, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for x in frames:
            f.write(struct.pack("<IIII", x.time // 10**9, x.time % 10**9 // 1000, len(x.data),
                                len(x.data)) + x.data)


def vrf(hosts, ports):
    """A VRF's own device is refused as a port. Its members are ports: what waits in one is charged
    to the other, where it came in."""
    sh("ip netns exec s sysctl -q net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 && "
       "ip -n s link add red type vrf table 10 && ip -n s link set red up && "
       "ip -n s link set h1 nomaster && ip -n s link set h2 nomaster && "
       "ip -n s link set h1 master red && ip -n s link set h2 master red && "
       "ip -n s addr add 10.0.1.254/24 dev h1 && ip -n s addr add 10.0.3.254/24 dev h2 && "
       "ip -n s neigh replace 10.0.3.2 lladdr %s dev h2 nud permanent" % mac(2).hex(":"))
    r = sh("tc -n s qdisc add dev red root dcbport", check=False)
    assert r.returncode and "a VRF is not a link" in r.stderr, r.stderr
    # by DSCP at the port where it comes in alone
    sh("ip netns exec s dcb app add dev h1 dscp-prio 10:3; ip netns exec h1 dcb app add dev eth0 dscp-prio 10:3")
    to = bytes.fromhex(sh("ip netns exec s cat /sys/class/net/h1/address").stdout.strip().replace(":", ""))
    before = ports[1].count("tx_prio%d_pause", 3)
    hosts[2].send(pfc({3: 0xffff}))
    hosts[1].send(*(routed(to, n, dscp=10) for n in range(COUNT)))

    def paused():
        hosts[2].send(pfc({3: 0xffff}))
        return ports[1].count("tx_prio%d_pause", 3) > before

    until("a sender in a VRF is not paused", paused)
    got = []

    def arrived():
        got.extend(f for f in hosts[2].take() if is_data(f) and f.data[15] >> 2 == 10)
        return len(got) >= COUNT

    until(lambda: "only %d packets arrive through the VRF" % len(got), arrived)
    for port in ports.values():
        lost = {k: v for k, v in port.stat().items() if "_drop_" in k and v}
        assert not lost, lost


def main():
    sh("insmod " + MODULE)
    sh("ip netns add s && ip -n s link add br0 type bridge stp_state 0 mcast_snooping 0 && "
       "ip -n s link set br0 up && ip netns exec s %s/dcqcn port switch new s" % BINARIES)
    hosts, ports, senders = {}, {}, []
    for n in (1, 2):
        sh("ip netns add h{n} && ip link add eth0 netns h{n} address {mac} type veth "
           "peer name h{n} netns s && ip -n s link set h{n} master br0 up && "
           "ip -n h{n} link set eth0 up && bridge -n s fdb replace {mac} dev h{n} master static"
           .format(n=n, mac=mac(n).hex(":")))
        senders.append(Port(BINARIES, "h%d" % n, "eth0"))
        senders[-1].set("rate 50mbit pfc 3 action off prio 3 limit 1GB kmin 0 kmax 0")
        ports[n] = Port(BINARIES, "s", "h%d" % n)
        ports[n].set("rate 50mbit pfc 3 switch s xoff 20KB xon 10KB headroom 300KB action off "
                     "prio 3 kmin 0 kmax 0")
        hosts[n] = Socket("h%d" % n, "eth0")
    # The packaged dcb shows PFC, and sets the priority of a DSCP
    app = "ip netns exec s dcb app %s dev h2 %s"
    shown = dcb("s", "h2", "pfc")["prio_pfc"]
    assert [p for p in range(8) if shown[p]] == [3], shown
    sh(app % ("add", "dscp-prio 26:3 24:4"))
    sh(app % ("del", "dscp-prio 24:4"))
    shown = dcb("s", "h2", "app")
    assert shown["dscp_prio"] == [[26, 3]], shown
    sh(app % ("flush", ""))
    # Pause for 671 ms at 50 Mb/s, and again until the switch has paused the sender
    hosts[2].send(pfc({3: 0xffff}))
    hosts[1].send(*(packet(mac(2), mac(1), 3, 2, LENGTH, n) for n in range(COUNT)))

    def paused():
        hosts[2].send(pfc({3: 0xffff}))
        return ports[1].count("tx_prio%d_pause", 3)

    until("the sender is not paused", paused)
    got, said = [], []

    def arrived():
        got.extend(number(f) for f in hosts[2].take() if is_data(f) and len(f.data) == LENGTH)
        said.extend(f for f in hosts[1].take() if f.data[12:14] == b"\x88\x08")
        return len(got) >= COUNT

    until(lambda: "only %d packets arrive: %s" % (len(got), [
        {k: v for k, v in p.stat().items() if v} for p in (*senders, *ports.values())]), arrived)
    until("the sender is not let go", lambda: ports[1].count("tx_prio%d_resume", 3))
    arrived()
    assert got == list(range(COUNT)), "out of order"
    for port in ports.values():
        stat = port.stat()
        assert unaccounted(stat) == [0] * 8, stat
        lost = {k: v for k, v in stat.items() if "_drop_" in k and v}
        assert not lost, lost
    print("%d packets, none lost; %d PFC frames" % (len(got), len(said)))
    write_pcap(said)
    vrf(hosts, ports)
    for s in hosts.values():
        s.s.close()
    sh("ip netns del h1; ip netns del h2; ip netns del s")
    until("the module is in use", lambda: " 0 - " in [x for x in open("/proc/modules")
                                                       if x.startswith("dcbport ")][0])


main()
