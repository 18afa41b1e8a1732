# SPDX-License-Identifier: GPL-2.0
"""Tests of packets that change on their way through a switch: tags that are removed, routes,
bonds, copies. Whatever happens, the port where a packet came in gives it its priority and is
charged for it. tests.py runs them."""

import array
import contextlib
import fcntl
import json
import termios

from cases import near, same, test
from ports import BINARIES, FOREVER, FRAME, LENGTH, XOFF, XON, Link, Star, dcb
from wire import (MS, US, Port, Socket, is_ce, is_data, mac, now, number, packet, pfc, prio, routed, sh,
                  sleep)

THRESHOLDS = "xoff %dB xon %dB headroom 20KB" % (XOFF, XON)
COUNT = 400     # packets: more than xOFF
VID = 5


def tagged(frame, pcp):
    return frame[:12] + b"\x81\0" + (pcp << 13 | VID).to_bytes(2, "big") + frame[12:]


def blocked(star, send, at=1, queue=3):
    """Block host 3's priority, send, and check that port `at` is charged and pauses its host,
    while the packets wait in this class of port 3. Then let them go."""
    for n in (1, 2, 3):
        star.heard(n)
    before = star.ports[3].stat()
    star.say(3, pfc({queue: FOREVER}))
    send()
    sleep(100 * US)
    stat, there = star.ports[at].stat(), star.ports[3].stat()
    held = there["tx_prio%d_queue_bytes" % queue]
    assert held > XOFF, "held: %d bytes of priority %d" % (held, queue)
    same("charged", stat["rx_prio3_buffer_bytes"], held)
    same("told", [f[1:] for f in star.heard(at)], [(8, FOREVER)])
    for n in {1, 2} - {at}:
        same("charged to port %d" % n, star.ports[n].count("rx_prio%d_buffer_bytes", 3), 0)
        same("told to host %d" % n, star.heard(n), [])
    star.say(3, pfc({queue: 0}))
    sleep(5 * MS)
    same("lost", star.drops(), 0)
    same("charged in the end", star.ports[at].count("rx_prio%d_buffer_bytes", 3), 0)
    after = star.ports[3].stat()
    same("sent", after["tx_prio%d_packets" % queue] - before["tx_prio%d_packets" % queue], COUNT)


def access(star):
    """Make host 1's link a trunk: its tagged packets come into the bridge without a tag."""
    sh("ip -n s link set h1 nomaster && ip -n s link add h1.{0} link h1 type vlan id {0} && "
       "ip -n s link set h1.{0} mtu 4200 master br0 up".format(VID))


@test
def trunk():
    """A tag's PCP counts where a packet comes in, even if it leaves without the tag"""
    with Star(THRESHOLDS) as star:
        access(star)
        for port in star.ports[1], star.hosts[1][0]:
            port.set("trust pcp")
        # the DSCP says 0
        blocked(star, lambda: star.hosts[1][1].send(*(
            tagged(packet(mac(3), mac(1), 3, n=n, dscp=0), 3) for n in range(COUNT))))


@test
def maps():
    """If two ports map a DSCP differently, the port where the packet comes in decides"""
    with Star(THRESHOLDS) as star:
        sh("ip netns exec s dcb app add dev h1 dscp-prio 26:3 && "
           "ip netns exec s dcb app add dev h3 dscp-prio 26:5")
        blocked(star, lambda: star.hosts[1][1].send(*(
            packet(mac(3), mac(1), n=n, dscp=26) for n in range(COUNT))))
        # and where two ports are in no switch
        for n in (1, 3):
            star.ports[n].set("switch none")
        before = star.ports[3].stat()
        star.hosts[1][1].send(packet(mac(3), mac(1), dscp=26))
        sleep(10 * US)
        after = star.ports[3].stat()
        same("class", [p for p in range(8) if after["tx_prio%d_packets" % p] !=
                       before["tx_prio%d_packets" % p]], [3])


def route(star):
    """Make s a router: 10.0.1.0/24 at h1, 10.0.3.0/24 at h3, and h2 in the bridge."""
    sh("ip netns exec s sysctl -q net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 && "
       "for n in 1 3; do ip -n s link set h$n nomaster && ip -n s addr add 10.0.$n.254/24 dev h$n; "
       "done && ip -n s neigh replace 10.0.3.2 lladdr %s dev h3 nud permanent" % mac(3).hex(":"))
    return bytes(int(x, 16) for x in sh(
        "ip netns exec s cat /sys/class/net/h1/address").stdout.strip().split(":"))


@test
def router():
    """A routed packet is charged where it came in, with the priority of that port"""
    with Star(THRESHOLDS) as star:
        to = route(star)
        star.ports[1].set("trust pcp,dscp")
        # priorities of the router are not those of the switch
        blocked(star, lambda: star.hosts[1][1].send(*(routed(to, n) for n in range(COUNT))))
        sh("ip netns exec s dcb app add dev h1 dscp-prio 10:3 && "
           "ip netns exec h1 dcb app add dev eth0 dscp-prio 10:3")
        blocked(star, lambda: star.hosts[1][1].send(*(
            routed(to, n, dscp=10) for n in range(COUNT))))


@test
def waits_for_neighbour():
    """A packet that waits until its neighbour answers is charged where it came in"""
    with Star(THRESHOLDS) as star:
        to = route(star)
        sh("ip -n s neigh del 10.0.3.2 dev h3; ip netns exec s dcb app add dev h1 dscp-prio 10:3")
        star.say(3, pfc({3: FOREVER}))
        star.hosts[1][1].send(routed(to, 0, dscp=10))
        sleep(20 * US)
        same("waiting for an answer", star.ports[3].count("tx_prio%d_queue_packets", 3), 0)
        # as if host 3 had answered
        sh("ip -n s neigh replace 10.0.3.2 lladdr %s dev h3 nud permanent" % mac(3).hex(":"))
        star.say(3, pfc({3: FOREVER}))
        sleep(20 * US)
        stat = star.ports[1].stat()
        same("charged", [stat["rx_prio3_buffer_bytes"],
                         star.ports[3].count("tx_prio%d_queue_packets", 3)], [LENGTH, 1])
        star.say(3, pfc({3: 0}))
        sleep(1 * MS)


@test
def bond():
    """A bond's members are ports: each is charged and pauses for itself; its master is refused"""
    with Star(THRESHOLDS) as star, bonding():
        sh("ip -n s link add bond0 type bond mode balance-xor && for n in 1 2; do "
           "ip -n s link set h$n nomaster && tc -n s qdisc del dev h$n root && "
           "ip -n s link set h$n down && ip -n s link set h$n master bond0; done && "
           "ip -n s link set bond0 mtu 4200 up && ip -n s link set bond0 master br0 && "
           "for n in 1 2; do ip -n s link set h$n up; done")
        for n in (1, 2):
            star.ports[n] = Port(BINARIES, "s", "h%d" % n)
            star.ports[n].set("rate 40gbit delay 1us switch s pfc 3 %s prio 3 kmin 0 kmax 0" %
                              THRESHOLDS)
        r = sh("tc -n s qdisc add dev bond0 root dcbport", check=False)
        assert r.returncode and "a bond has several links" in r.stderr, r.stderr
        for n in (1, 2):
            blocked(star, lambda n=n: star.send(n, 3, COUNT), at=n)


@contextlib.contextmanager
def bonding():
    """The module is loaded; the simulator's kernel does not have it built in."""
    sh("grep -q '^bonding ' /proc/modules || insmod $BONDING max_bonds=0")
    yield


@test
def filtered():
    """Filters that redirect before the hook, or match on the way out, cost the record, not the account"""
    for device, words in (("h1", "ingress matchall action mirred egress redirect dev h3"),
                          ("h3", "egress matchall action pass")):
        with Star(THRESHOLDS) as star:
            sh("tc -n s qdisc add dev {0} clsact && tc -n s filter add dev {0} {1}".format(
                device, words))
            blocked(star, lambda: star.send(1, 3, COUNT))


@test
def other_origins():
    """What is local, or came through another namespace, is charged to no port"""
    with Star(THRESHOLDS) as star:
        star.say(3, pfc({3: FOREVER}))
        local = Socket("s", "h3")
        local.send(packet(mac(3), mac(9), 3))
        sleep(10 * US)
        same("queued", star.ports[3].count("tx_prio%d_queue_packets", 3), 1)
        same("charged", [p.count("rx_prio%d_buffer_bytes", 3) for p in star.ports.values()], [0] * 3)
        star.say(3, pfc({3: 0}))
        sleep(1 * MS)
        local.s.close()
        # host 2 forwards what it gets to a second link, whose ports are another switch's
        sh("ip netns exec h2 {0}/dcqcn port switch new t && ip -n h2 link add x type veth peer name y "
           "&& ip -n h2 link add br1 type bridge stp_state 0 mcast_snooping 0 && "
           "for d in eth0 x; do ip -n h2 link set $d master br1; done && "
           "for d in x y br1; do ip -n h2 link set $d up; done && "
           "tc -n h2 qdisc del dev eth0 root && tc -n h2 qdisc add dev x root dcbport && "
           "bridge -n s fdb replace {1} dev h2 master static && "
           "ip netns exec h2 {0}/dcqcn port set dev x switch t pfc 3 headroom 20KB".format(
               BINARIES, mac(7).hex(":")))
        sleep(100 * MS)
        sh("ip netns exec s dcb app add dev h1 dscp-prio 10:5")
        star.hosts[1][1].send(packet(mac(7), mac(1), dscp=10))
        sleep(1 * MS)
        stat = Port.__new__(Port)
        stat.tool, stat.device = "ip netns exec h2 %s/dcqcn" % BINARIES, "x"
        got = stat.stat()
        same("by the other port's map", [p for p in range(8) if got["tx_prio%d_packets" % p]], [1])
        star.hosts[2][0].stat = lambda: {"tx_prio%d_%s" % (p, n): 0 for p in range(8) for n in (
            "in_packets", "packets", "queue_packets", "wire_packets", "drop_limit", "drop_buffer",
            "drop_storm", "drop_memory", "drop_reset", "drop_wred")}


@test
def orphans():
    """A sender on the same machine does not notice that a switch holds its packets"""
    with Star(THRESHOLDS) as star:
        star.say(3, pfc({3: FOREVER}))
        star.send(1, 3, 20)
        sleep(20 * US)
        same("held", star.ports[3].count("tx_prio%d_queue_packets", 3), 20)
        unsent = array.array("i", [0])
        fcntl.ioctl(star.hosts[1][1].s, termios.TIOCOUTQ, unsent)
        same("bytes that the socket waits for", unsent[0], 0)
        star.say(3, pfc({3: 0}))
        sleep(1 * MS)


@test
def copies():
    """A mark is only in the copy that met congestion, not in those behind other ports, nor in
    what somebody captures"""
    with Star(THRESHOLDS) as star:
        star.ports[3].set("prio 3 kmin 0 kmax 1 pmax 100%")
        capture = Socket("s", "h1")
        for ipv6 in (False, True):
            star.say(3, pfc({3: FOREVER}))
            # nobody has this address, so the bridge floods
            star.hosts[1][1].send(*(packet(mac(8), mac(1), 3, 2, n=n, ipv6=ipv6)
                                    for n in range(20)))
            sleep(100 * US)
            star.say(3, pfc({3: 0}))
            sleep(1 * MS)
            for who, got, wanted in (("congested", star.hosts[3][1].take(), 19),
                                     ("idle", star.hosts[2][1].take(), 0),
                                     ("captured", capture.take(), 0)):
                got = [f for f in got if is_data(f)]
                same(who, (len(got), sum(map(is_ce, got))), (20, wanted))
        capture.s.close()


@test
def marked_before():
    """A packet that is marked already is not counted as marked again"""
    with Link("rate 40gbit delay 1us pfc 3 prio 3 kmin 0 kmax 1 pmax 100%") as link:
        link.b.send(pfc({3: FOREVER}))
        link.a.send(*(packet(mac(2), mac(1), 3, ecn, n=n) for n, ecn in enumerate((2, 3, 2, 3, 1, 0))))
        link.b.send(pfc({3: 0}))
        sleep(1 * MS)
        same("CE", [number(f) for f in link.got() if is_ce(f)], [1, 2, 3, 4])
        same("marked here", link.port.count("tx_prio%d_marked", 3), 2)


REFUSED = (
    ("dummy0", "type dummy", None, None),
    ("br9", "type bridge", "a bridge is not a link", None),
    ("a0.7", "link a0 type vlan id 7", None, "no VLAN tag"),
    ("mac0", "link a0 type macvlan", None, "whole link"),
    ("ifb9", "type ifb", None, "an IFB has no link"),
)


@test
def not_a_link():
    """Devices that are no link of their own are refused, with PFC or at all, with the reason"""
    with Link() as link:
        for device, words, always, with_pfc in REFUSED:
            sh("ip -n a link add %s %s" % (device, words))
            r = sh("tc -n a qdisc add dev %s root dcbport" % device, check=False)
            same("%s refused" % device, bool(r.returncode), bool(always))
            assert (always or "") in r.stderr, r.stderr
            if always:
                continue
            r = sh("%s port set dev %s pfc 3" % (link.port.tool, device), check=False)
            same("%s with PFC refused" % device, bool(r.returncode), bool(with_pfc))
            assert (with_pfc or "") in r.stderr, r.stderr
            r = sh("ip netns exec a dcb pfc set dev %s prio-pfc 4:on" % device, check=False)
            shown = sh("ip netns exec a dcb -j pfc show dev %s prio-pfc" % device).stdout
            same("by dcb", "true" in shown, not with_pfc)


@test
def moved():
    """Packets of a priority that moves to another class during a pause still wait"""
    with Link() as link:
        for back in (False, True):
            link.port.set("pfc 3")
            link.b.send(pfc({3: FOREVER}))
            link.send(5, 3)
            dcb("ets set DEV prio-tc 3:1")
            link.send(2, 3)
            link.send(2, 1)
            if back:
                dcb("ets set DEV prio-tc 3:3")
            sleep(100 * US)
            # class 1 is paused with priority 3 while that belongs to it
            same("arrivals", [prio(f) for f in link.got()], [])
            began = now()
            link.b.send(pfc({3: 0}))
            sleep(100 * US)
            got = link.got()
            same("after the pause", sorted(prio(f) for f in got), [1, 1] + [3] * 7)
            near("at once", got[0].time - began, FRAME + 1000, 2)
            # its old class is free once it is empty
            dcb("ets set DEV prio-tc 3:1")
            link.b.send(pfc({3: FOREVER}))
            dcb("ets set DEV prio-tc 4:3")
            link.send(1, 4)
            sleep(10 * US)
            same("of another priority", [prio(f) for f in link.got()], [4])
            link.b.send(pfc({3: 0}))
            dcb("ets set DEV prio-tc 3:3 4:4")
            # or once what came before has left, although other packets always wait
            link.b.send(pfc({3: FOREVER}))
            link.send(5, 3)
            dcb("ets set DEV prio-tc 3:1 4:3")
            link.send(200, 4)
            link.b.send(pfc({3: 0}))
            sleep(20 * US)
            link.b.send(pfc({3: FOREVER}))
            sleep(500 * US)
            same("always some", len([f for f in link.got() if prio(f) == 4]), 200)
            link.b.send(pfc({3: 0}))
            dcb("ets set DEV prio-tc 3:3 4:4")


@test
def remembered():
    """A received pause outlasts a halt of the device, and the port, if another one replaces it"""
    with Link("rate 100mbit delay 1us pfc 3") as link:
        for words in ("clsact", "root handle 77: dcbport"):
            link.b.send(pfc({3: FOREVER}))
            sleep(10 * US)
            sh("tc -n a qdisc replace dev a0 " + words)
            link.send(1, 3)
            sleep(1 * MS)
            same(words, [len(link.got()), link.port.count("rx_prio%d_paused", 3)], [0, 1])
            link.b.send(pfc({3: 0}))
            sleep(1 * MS)
            same("after the pause", len(link.got()), 1)


@test
def forgotten():
    """A received pause ends when the link goes down; a new one counts"""
    with Link("rate 1gbit delay 1us pfc 3") as link:
        link.b.send(pfc({3: FOREVER}))
        link.send(1, 3)
        sleep(100 * US)
        same("paused", [link.got(), link.port.count("rx_prio%d_paused", 3)], [[], 1])
        sh("ip -n a link set a0 down; ip -n a link set a0 up")
        link.a.take()
        same("forgotten", link.port.count("rx_prio%d_paused", 3), 0)
        link.send(1, 3)
        sleep(100 * US)
        same("arrivals", len(link.got()), 1)
        link.b.send(pfc({3: FOREVER}))
        link.send(1, 3)
        sleep(100 * US)
        same("paused again", link.got(), [])


@test
def raised():
    """A sender that is paused may go on when xOFF, or the buffer, becomes larger; and the reverse"""
    with Star(THRESHOLDS) as star:
        def told():
            sleep(10 * US)
            return [f[1:] for f in star.heard(1)]

        tool = "ip netns exec s %s/dcqcn port " % BINARIES
        star.say(3, pfc({3: FOREVER}))
        star.send(1, 3, COUNT)
        sleep(50 * US)
        same("paused", told(), [(8, FOREVER)])
        for words, wanted in (("set dev h1 xoff 4MB xon 3MB", 0), ("set dev h1 xoff 61KB xon 1KB", FOREVER),
                              ("set dev h1 xoff 0 xon 0", 0), ("switch set s alpha 1/128", FOREVER),
                              ("switch set s alpha 1", 0)):
            sh(tool + words)
            same(words, told(), [(8, wanted)])
        star.say(3, pfc({3: 0}))
        sleep(2 * MS)


@test
def offset():
    """If the pool's bound is below xON, a pause ends only xon_offset below the bound"""
    with Star("xoff 4MB xon 3MB headroom 100KB") as star:
        sh("ip netns exec s %s/dcqcn port switch set s size 1MB alpha 1/8" % BINARIES)
        frames = {}
        same("default", star.ports[1].show()["xon_offset"], 3072)
        for words in ("xon_offset 0", "xon_offset 3072", "xon_offset 30KB"):
            star.ports[1].set(words)
            assert star.ports[1].show()["xon_offset"] == {"0": 0, "3072": 3072, "30KB": 30000}[
                words.split()[1]]
            star.ports[3].set("rate 10gbit")
            star.heard(1)
            star.send(1, 3, 2000)
            sleep(3 * MS)
            frames[words] = len(star.heard(1))
        print("# PFC frames by offset: %s" % frames)
        few, some, many = (frames["xon_offset " + w] for w in ("30KB", "3072", "0"))
        # 2000 frames at a quarter of the rate: each pause lasts until the offset has drained
        assert 0 < few < some < many, frames
        same("lost", star.drops(), 0)


@test
def memory():
    """Small frames count with a quarter of their memory: 12 MB of limit hold 48 MB at most"""
    with Link("rate 1gbit delay 1us pfc 3 prio 3 kmin 0 kmax 0 limit 12MB") as link:
        def slabs():
            with open("/proc/meminfo") as f:
                return next(int(line.split()[1]) * 1024 for line in f if line.startswith("Slab:"))

        link.b.send(pfc({3: FOREVER}))
        before = slabs()
        for _ in range(42):
            link.send(5000, 3, length=60)
            link.b.send(pfc({3: FOREVER}))
            link.got()      # what has left because a pause was over
        took, stat = slabs() - before, link.port.stat()
        print("# %d frames of 60 bytes take %d bytes of slabs" % (
            stat["tx_prio3_queue_packets"], took))
        assert stat["tx_prio3_drop_limit"], stat
        assert 12e6 < took < 1.25 * 4 * 12e6, took
        # frames of usual size count for their bytes
        link.port.set("prio 3 limit 1MB")
        link.b.send(pfc({3: 0}))
        sleep(1000 * MS)
        link.got()
        link.b.send(pfc({3: FOREVER}))
        link.send(2000, 3, length=1000)
        same("of 1000 bytes", link.port.count("tx_prio%d_queue_bytes", 3), 1000000)


@test
def both_ends():
    """Both ends of a link count the same PFC frames; 802.3x is counted, watermarks can be cleared"""
    with Star(THRESHOLDS) as star:
        star.say(3, pfc({3: FOREVER}))
        star.send(1, 3, COUNT)
        sleep(1 * MS)
        star.say(3, pfc({3: 0}))
        sleep(5 * MS)
        port, host = star.ports[1], star.hosts[1][0]
        stat, there = port.stat(), host.stat()
        assert stat["tx_prio3_pause"] > 1 and stat["tx_prio3_resume"], stat
        same("at the other end", [there["rx_prio3_pause"], there["rx_prio3_resume"]],
             [stat["tx_prio3_pause"], stat["tx_prio3_resume"]])
        star.hosts[1][1].send(pfc({}, opcode=1), pfc({}, opcode=1))
        same("802.3x", [port.stat()["rx_global_pause"], port.stat()["rx_pfc_errors"]], [2, 0])
        text = sh("%s port stat dev h1" % port.tool).stdout
        for name in ("rx_pfc_errors", "tx_pfc_errors", "rx_global_pause"):
            assert name in text, text
        marks = "rx_prio3_buffer_bytes_max", "rx_prio3_headroom_bytes_max"
        assert all(stat[m] for m in marks), stat
        assert star.ports[3].count("tx_prio%d_queue_bytes_max", 3)
        for p in star.ports.values():
            sh("%s port clear dev %s" % (p.tool, p.device))
        same("cleared", [port.stat()[m] for m in marks] +
             [star.ports[3].count("tx_prio%d_queue_bytes_max", 3)], [0, 0, 0])
        same("counters stay", port.count("tx_prio%d_pause", 3), stat["tx_prio3_pause"])
        r = sh("%s port clear dev nothing" % port.tool, check=False)
        assert r.returncode and "no such port" in r.stderr, r.stderr


@test
def replaced():
    """A second entry of a DSCP replaces the first, as network cards do"""
    with Link() as link:
        def entries():
            return json.loads(dcb("app show DEV").stdout).get("dscp_prio", [])

        dcb("app add DEV dscp-prio 26:3")
        dcb("app add DEV dscp-prio 26:2")
        same("entries", [e[:2] for e in entries()], [[26, 2]])
        before = link.port.count("tx_prio%d_in_packets", 2)
        link.a.send(packet(mac(2), mac(1), dscp=26))
        same("counts", link.port.count("tx_prio%d_in_packets", 2), before + 1)
        dcb("app replace DEV dscp-prio 26:4")
        same("replaced", [e[:2] for e in entries()], [[26, 4]])
        dcb("app del DEV dscp-prio 26:4")
        same("deleted", entries(), [])
