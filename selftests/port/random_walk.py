# SPDX-License-Identifier: GPL-2.0
"""A port has a short way for the usual case, and a general one: where packets are sent, classified,
and charged to the port where they came in. Random sequences of packets, PFC frames and settings
must have the same effect both ways. Reading the clock takes a nanosecond of simulated time, and
the ways read it differently often. (test_port.c compares the two ways of an account.)"""

import json
import random

from cases import near, same, test
from ports import FOREVER, BINARIES, Link, Star, dcb
from wire import MS, US, is_ce, mac, now, number, packet, pfc, sh, sleep

STEPS, WALKS = 120, 4
PRIOS = (0, 1, 3, 6)        # 6 is strict


def steps(rng):
    """What happens, as (name, arguments)."""
    number = 0
    for _ in range(STEPS):
        kind = rng.choices(("send", "pfc", "sleep", "weights", "pfc_of", "flap"),
                           (50, 25, 15, 4, 4, 2))[0]
        if kind == "send":
            burst = [(rng.choice(PRIOS), rng.choice((0, 2)), rng.randint(60, 4000), number + n)
                     for n in range(rng.choice((1, 1, 1, 2, 20)))]
            number += len(burst)
            yield kind, burst
        elif kind == "pfc":
            yield kind, {p: rng.choice((0, 1, 100, FOREVER)) for p in PRIOS if rng.random() < .5}
        elif kind == "sleep":
            yield kind, rng.choice((1 * US, 30 * US, 1 * MS))
        elif kind == "weights":
            yield kind, [(p, rng.randint(1, 100)) for p in PRIOS]
        elif kind == "pfc_of":
            yield kind, rng.choice(("none", "3", "0,1,3,6"))
        else:
            yield kind, None


def walk(seed, general):
    """Everything that can be seen of the port, after each step."""
    seen = []
    with Link("rate 0 delay 0 pfc 0,1,3,6 action off " + " ".join(
            "prio %d kmin 3000 kmax 3001 pmax 100%% limit 30KB" % p for p in PRIOS)) as link:
        if general:
            # of a class that has no packets
            dcb("maxrate set DEV tc-maxrate 7:100gbit")
        began = now()
        for kind, what in steps(random.Random(seed)):
            if kind == "send":
                link.a.send(*(packet(mac(2), mac(1), p, ecn, length, n)
                              for p, ecn, length, n in what))
            elif kind == "pfc":
                link.b.send(pfc(what))
            elif kind == "sleep":
                sleep(what)
            elif kind == "weights":
                link.port.set(" ".join("prio %d weight %d" % w for w in what))
            elif kind == "pfc_of":
                link.port.set("pfc " + what)
            else:
                sh("ip -n a link set a0 down; ip -n a link set a0 up")
                link.a.take()
            stat = link.port.stat()
            got = link.got()
            seen.append((kind, [(number(f), len(f.data), is_ce(f)) for f in got], {
                k: v for k, v in stat.items() if not k.endswith("_duration")},
                [f.time - began for f in got], [stat["rx_prio%d_pause_duration" % p] for p in PRIOS]))
        link.port.set("pfc none")
        sleep(1 * MS)
        seen.append(("end", [number(f) for f in link.got()], {}, [], []))
    return seen


@test
def short_way():
    """Random sequences have the same effect by the short way and by the general one"""
    packets = 0
    for seed in range(WALKS):
        short, general = walk(seed, False), walk(seed, True)
        for n, (a, b) in enumerate(zip(short, general)):
            where = "step %d of walk %d, %s" % (n, seed, a[0])
            same(where, a[:3], b[:3])
            for times in 3, 4:      # ns, us
                for x, y in zip(a[times], b[times]):
                    near(where + ": time", x, y, 1000 if times == 3 else 2)
        packets += sum(len(s[1]) for s in short)
    print("# %d packets" % packets)
    assert packets > 500, packets


SWITCH_STEPS, SWITCH_WALKS = 80, 2
HOSTS = (1, 2, 3)
TOOL = "ip netns exec s %s/dcqcn port " % BINARIES


def switch_steps(rng):
    """What happens in a switch, as (name, arguments)."""
    n = 0
    for _ in range(SWITCH_STEPS):
        kind = rng.choices(("send", "pfc", "sleep", "pfc_of", "profile", "pool", "flap"),
                           (50, 20, 15, 4, 6, 3, 1))[0]
        if kind == "send":
            here, there = rng.sample(HOSTS, 2)
            burst = [(there, rng.choice(PRIOS), rng.choice((0, 2)), rng.randint(60, 4000), n + i,
                      rng.random() < .2) for i in range(rng.choice((1, 2, 20, 20)))]
            n += len(burst)
            yield kind, (here, burst)
        elif kind == "pfc":
            yield kind, (rng.choice(HOSTS), {p: rng.choice((0, FOREVER, FOREVER)) for p in PRIOS})
        elif kind == "sleep":
            yield kind, rng.choice((1 * US, 1 * US, 1 * MS))
        elif kind == "pfc_of":
            yield kind, (rng.choice(HOSTS), rng.choice(("none", "3", "0,1,3,6")))
        elif kind == "profile":
            xoff = rng.choice((3, 8, 20))
            yield kind, (rng.choice(HOSTS), rng.choice(PRIOS), xoff, rng.randint(0, xoff),
                         rng.choice(("switch", "1/16", "1")))
        elif kind == "pool":
            yield kind, (rng.choice((300, 4000)), rng.choice((20, 1000)), rng.choice(("1/8", "1", "0")))
        else:
            yield kind, rng.choice(HOSTS)


def switch_walk(seed, general):
    """Everything that can be seen of a switch, after each step. Its ports take no time, so nothing
    depends on the clock but the ends of pauses, which are far away or at once."""
    seen = []
    with Star("pfc 0,1,3,6 xoff 8KB xon 4KB headroom 20KB") as star:
        for n in HOSTS:
            star.ports[n].set("rate 0 delay 0 action off " + " ".join(
                "prio %d kmin 3000 kmax 3001 pmax 100%% limit 60KB" % p for p in PRIOS))
            # sends at once whatever the switch says: more than a headroom comes
            star.hosts[n][0].set("rate 0 delay 0 pfc none")
            if general:
                # of a class without packets; of packets that have no tag; and a filter overwrites
                # where a packet came in, except the device
                sh("ip netns exec s dcb maxrate set dev h%d tc-maxrate 7:100gbit" % n)
                star.ports[n].set("trust pcp,dscp")
                sh("tc -n s qdisc add dev h{0} clsact && tc -n s filter add dev h{0} egress "
                   "matchall action pass".format(n))
        for kind, what in switch_steps(random.Random(seed)):
            if kind == "send":
                star.hosts[what[0]][1].send(*(
                    packet(mac(there), mac(what[0]), p, ecn, length, i, ipv6)
                    for there, p, ecn, length, i, ipv6 in what[1]))
            elif kind == "pfc":
                star.say(what[0], pfc(what[1]))
            elif kind == "sleep":
                sleep(what)
            elif kind == "pfc_of":
                star.ports[what[0]].set("pfc " + what[1])
            elif kind == "profile":
                star.ports[what[0]].set("prio %d xoff %dKB xon %dKB alpha %s" % what[1:])
            elif kind == "pool":
                sh(TOOL + "switch set s size %dKB lossy %dKB alpha %s" % what)
            else:
                sh("ip -n s link set h{0} down; ip -n s link set h{0} up; "
                   "bridge -n s fdb replace {1} dev h{0} master static".format(
                       what, mac(what).hex(":")))
            seen.append((kind, what, [
                [(f.data[:6] + f.data[12:34], len(f.data)) for f in star.hosts[n][1].take()]
                for n in HOSTS], [
                {k: v for k, v in port.items() if not k.endswith("_duration")}
                for port in json.loads(sh(TOOL.replace("dcqcn ", "dcqcn -j ") + "stat").stdout)],
                         sh(TOOL + "switch").stdout))
        for n in HOSTS:
            star.ports[n].set("pfc none")
        sleep(1 * MS)
    return seen


@test
def short_way_of_a_switch():
    """So they have in a switch: classified at the ingress, charged there, marked, pausing"""
    pauses = lost = 0
    for seed in range(SWITCH_WALKS):
        short, general = switch_walk(seed, False), switch_walk(seed, True)
        for n, (a, b) in enumerate(zip(short, general)):
            for what, x, y in zip(("frames", "counters", "switch"), a[2:], b[2:]):
                same("step %d of walk %d, %s%s: %s" % (n, seed, *a[:2], what), x, y)
        for port in short[-1][3]:
            pauses += sum(port["tx_prio%d_pause" % p] for p in PRIOS)
            lost += sum(v for k, v in port.items() if "_drop_buffer" in k)
    print("# %d pauses, %d packets lost for lack of memory" % (pauses, lost))
    assert pauses > 20 and lost > 20, (pauses, lost)
