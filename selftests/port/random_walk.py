# SPDX-License-Identifier: GPL-2.0
"""A port has a short way for the usual case, and a general one. Random sequences of packets,
PFC frames and settings must have the same effect both ways. Reading the clock takes a nanosecond
of simulated time, and the ways read it differently often."""

import random

from cases import near, same, test
from ports import FOREVER, Link, dcb
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
