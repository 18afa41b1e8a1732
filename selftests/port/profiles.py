# SPDX-License-Identifier: GPL-2.0
"""Tests of what differs between the priorities and classes of a port, of what the watchdog does
in both directions, and of settings that stay. tests.py runs them."""

import json

from cases import near, same, test
from ports import BINARIES, FOREVER, FRAME, LENGTH, Link, Star, dcb
from wire import MS, US, Port, is_ce, is_data, mac, number, packet, pfc, prio, sh, sleep

TOOL = "ip netns exec s %s/dcqcn" % BINARIES


@test
def profiles():
    """Each priority has its own xOFF, xON, headroom and alpha"""
    with Star("pfc 3,4 xoff 100KB xon 90KB headroom 50KB") as star:
        for host, _ in star.hosts.values():
            host.set("pfc 3,4")
        one = star.ports[1]
        room = 3 * 2 * 50000

        def switch():
            return json.loads(sh(TOOL + " -j port switch").stdout)[0]

        same("room", switch()["room"], room)
        star.ports[3].set("prio 4 kmin 0 kmax 0")
        one.set("prio 4 xoff 20KB xon 10KB headroom 30KB")
        shown = one.show()
        assert "xoff" not in shown and "set per priority" in sh("%s port show dev h1" % TOOL).stdout
        same("shown", [(c["xoff"], c["xon"], c["headroom"]) for c in shown["classes"][3:5]],
             [(100000, 90000, 50000), (20000, 10000, 30000)])
        same("room of less headroom", switch()["room"], room - 20000)
        same("buffers by dcb", json.loads(sh("ip netns exec s dcb -j buffer show dev h1").stdout)[
            "buffer_size"][3:5], [50000, 30000])
        star.say(3, pfc({3: FOREVER, 4: FOREVER}))

        def pauses(p, most):
            """Send until the port pauses the priority; return the bytes that it holds then."""
            for n in range(most):
                star.say(3, pfc({3: FOREVER, 4: FOREVER}))
                star.hosts[1][1].send(packet(mac(3), mac(1), p, n=n))
                sleep(1 * US)
                if one.count("tx_prio%d_pause", p):
                    return one.count("rx_prio%d_buffer_bytes", p)
            return None

        near("priority 4 pauses at its xOFF", pauses(4, 30), 20000, 3 * LENGTH)
        near("priority 3 at its own", pauses(3, 120), 100000, 3 * LENGTH)
        star.say(3, pfc({3: 0, 4: 0}))
        sleep(2 * MS)
        # the pool is 12 MB and what no headroom takes; 1/8 for one and 1/64 for the other
        one.set("xoff 0 xon 0 prio 4 alpha 1/64")
        same("alphas", [c["alpha"] for c in one.show()["classes"][3:5]], [0, 1 / 64])
        sh(TOOL + " port switch set s size 3300KB alpha 1/8")
        free = 3300000 - switch()["room"]
        for p, share in ((4, 64), (3, 8)):
            star.say(3, pfc({3: FOREVER, 4: FOREVER}))
            before = one.count("tx_prio%d_pause", p)
            star.hosts[1][1].send(*(packet(mac(3), mac(1), p, n=n) for n in range(600)))
            sleep(300 * US)
            assert one.count("tx_prio%d_pause", p) > before, "priority %d is not paused" % p
            near("priority %d holds" % p, one.count("rx_prio%d_buffer_bytes_max", p),
                 max(free / (share + 1), 0 if p == 4 else 100000), 12 * LENGTH)
            star.say(3, pfc({3: 0, 4: 0}))
            sleep(3 * MS)
            one.set("prio 0 weight 1")
        # the switch's alpha still counts for the priority that has none
        sh(TOOL + " port switch set s alpha 1/128")
        same("lost", star.drops(), 0)
        one.set("xoff 60KB xon 40KB headroom 20KB")
        same("all again", [one.show()["xoff"]] + [c["xoff"] for c in one.show()["classes"]],
             [60000] * 9)
        r = one.set("prio 3 headroom 0", check=False)
        assert r.returncode and "without headroom" in r.stderr, r.stderr
        r = one.set("prio 4 xon 70KB", check=False)
        assert r.returncode and "xON is above xOFF" in r.stderr, r.stderr
        one.set("pfc 3 prio 4 headroom 0")


@test
def share():
    """A class with a share holds no more than that of the free buffer"""
    with Star("pfc 3 xoff 1MB xon 900KB headroom 50KB") as star:
        sh(TOOL + " port switch set s size 10MB lossy 1MB alpha 8")
        star.ports[3].set("rate 100mbit prio 0 share 1/4 kmin 0 kmax 0 prio 1 kmin 0 kmax 0")
        same("shown", [c["share"] for c in star.ports[3].show()["classes"][:2]], [.25, 0])
        # what others hold of the pool leaves less for it: q = (1 MB - others - q) / 4
        for others in (0, 300):
            star.hosts[2][1].send(*(packet(mac(3), mac(2), 1, length=1000) for _ in range(others)))
            sleep(others * US)
            star.hosts[1][1].send(*(packet(mac(3), mac(1), 0, length=1000) for _ in range(400)))
            sleep(150 * US)
            stat = star.ports[3].stat()
            held = stat["tx_prio0_queue_bytes"]
            near("held beside %d" % others, held,
                 (1e6 - stat["tx_prio1_queue_bytes"]) / 5, 3000)
            assert stat["tx_prio0_drop_limit"] > 100, stat
            sleep(100 * MS)
        same("of the other", star.ports[3].count("tx_prio%d_drop_limit", 1), 0)
        star.ports[3].set("prio 0 share none")
        before = star.ports[3].count("tx_prio%d_drop_limit", 0)
        star.hosts[1][1].send(*(packet(mac(3), mac(1), 0, length=1000) for _ in range(400)))
        sleep(150 * US)
        same("without", star.ports[3].count("tx_prio%d_drop_limit", 0), before)
        star.ports[3].set("rate 40gbit")
        sleep(50 * MS)


@test
def wred():
    """With WRED, packets that cannot be marked are dropped as often as others are marked"""
    with Link() as link:
        link.port.set("pfc 3 prio 3 kmin 0 kmax 1 pmax 100%")
        for words, lost in (("off", 0), ("on", 40)):
            link.port.set("prio 3 wred " + words)
            same("shown", link.port.show()["classes"][3]["wred"], words)
            for ipv6 in (False, True):
                before = link.port.count("tx_prio%d_drop_wred", 3)
                link.b.send(pfc({3: FOREVER}))
                # one is queued without a mark; then ECT, Not-ECT and CE in turn
                link.a.send(*(packet(mac(2), mac(1), 3, (2, 0, 3)[n % 3], n=n, ipv6=ipv6)
                              for n in range(120)))
                link.b.send(pfc({3: 0}))
                sleep(1 * MS)
                got = link.got()
                same("lost", link.port.count("tx_prio%d_drop_wred", 3) - before, lost)
                same("arrived", [number(f) for f in got],
                     [n for n in range(120) if n % 3 != 1 or not lost])
                same("marked", len([f for f in got if is_ce(f)]), 40 + 39)
        # half of them
        link.port.set("prio 3 kmax 4MB pmax 50% kmin 0")
        link.b.send(pfc({3: FOREVER}))
        link.a.send(*[packet(mac(2), mac(1), 3, 2)] * 2000)
        before = link.port.count("tx_prio%d_drop_wred", 3)
        link.a.send(*[packet(mac(2), mac(1), 3, 0)] * 1000)
        lost = link.port.count("tx_prio%d_drop_wred", 3) - before
        # at 2 to 3 of 4 MB, 27 to 38 % at most
        assert 220 < lost < 420, lost
        link.b.send(pfc({3: 0}))
        sleep(2 * MS)


@test
def marked_when_leaving():
    """Packets are marked by what waits when they enter, or by what still waits when they leave"""
    for words in ("rate 40gbit delay 1us", "rate 0"):
        with Link(words + " pfc 3 prio 3 kmin 10820 kmax 10821 pmax 100%") as link:
            for when, wanted in (("enqueue", range(11, 31)), ("dequeue", range(19)),
                                 ("enqueue", range(11, 31))):
                link.port.set("mark " + when)
                same("shown", link.port.show()["mark"], when)
                before = link.port.count("tx_prio%d_marked", 3)
                link.b.send(pfc({3: FOREVER}))
                link.send(30, 3, ecn=2)
                link.b.send(pfc({3: 0}))
                sleep(1 * MS)
                marked = [number(f) for f in link.got() if is_ce(f)]
                # a packet that finds ten others, or leaves as many behind, is at Kmin
                same(when, marked, [n for n in wanted if n < 30])
                same("counted", link.port.count("tx_prio%d_marked", 3) - before, len(marked))
            # what never leaves is not marked
            link.port.set("mark dequeue")
            before = link.port.count("tx_prio%d_marked", 3)
            link.b.send(pfc({3: FOREVER}))
            link.send(30, 3, ecn=2)
            sh("ip -n a link set a0 down; ip -n a link set a0 up")
            link.a.take()
            same("marked of what was dropped", link.port.count("tx_prio%d_marked", 3), before)


def storming(star, milliseconds):
    for _ in range(milliseconds * 5 // 2):
        star.say(3, pfc({3: FOREVER}))
        sleep(400 * US)


@test
def both_directions():
    """In a storm, the watchdog drops what leaves and what comes in; it counts both for each storm"""
    for action, drops in (("drop", True), ("alert", False), ("forward", False)):
        with Star("xoff 60KB xon 40KB headroom 20KB") as star:
            port = star.ports[3]
            port.set("action %s detect 5ms restore 5ms" % action)
            for n in (1, 2):
                star.hosts[n][1].take()
            for sent in (10, 20):
                star.say(3, pfc({3: FOREVER}))
                star.send(1, 3, 5)
                storming(star, 12)
                same("storm", port.count("tx_prio%d_storm", 3), 1)
                # from the stormy link, past its own port: this priority, and another one
                star.hosts[3][1].send(*(packet(mac(1), mac(3), 3, n=n, ipv6=bool(n % 2))
                                        for n in range(sent)))
                star.hosts[3][1].send(*(packet(mac(1), mac(3), 5, n=n) for n in range(7)))
                sleep(100 * US)
                got = [prio(f) for f in star.hosts[1][1].take() if is_data(f)]
                same("came through", [got.count(3), got.count(5)], [0 if drops else sent, 7])
                stat = port.stat()
                same("of this storm, " + action,
                     [stat["rx_prio3_last_storm_" + n] for n in ("packets", "drop")],
                     [0, sent] if drops else [sent, 0])
                same("of this storm, sent and lost",
                     [stat["tx_prio3_last_storm_" + n] for n in ("packets", "drop")],
                     {"drop": [0, 5], "alert": [0, 0], "forward": [5, 0]}[action])
                star.say(3, pfc({3: 0}))
                sleep(12 * MS)
                same("over", port.count("tx_prio%d_storm", 3), 0)
            stat = port.stat()
            same("of all storms", [stat["rx_prio3_storm_packets"], stat["rx_prio3_drop_storm"]],
                 [0, 30] if drops else [30, 0])
            same("storms", [stat["tx_prio3_storms"], stat["tx_prio3_restores"]], [2, 2])
            star.hosts[1][1].take()
            star.hosts[3][1].send(packet(mac(1), mac(3), 3))
            sleep(10 * US)
            same("afterwards", len([f for f in star.hosts[1][1].take() if is_data(f)]), 1)


@test
def cleared_when_read():
    """dcqcn port clear shows the watermarks that it clears; stat --as ethtool is like ethtool -S"""
    with Link() as link:
        link.port.set("pfc 3")
        link.b.send(pfc({3: FOREVER}))
        link.send(10, 3)
        link.b.send(pfc({3: 0}))
        sleep(1 * MS)

        def clear():
            shown, = json.loads(sh("%s -j port clear dev a0" % link.port.tool).stdout)
            return shown

        before, shown = link.port.stat(), clear()
        same("shown", shown, before)
        same("then", [clear()["tx_prio3_queue_bytes_max"], shown["tx_prio3_queue_bytes_max"]],
             [0, 10 * LENGTH])
        lines = sh("%s port stat --as ethtool dev a0" % link.port.tool).stdout.splitlines()
        same("title", lines[0], "NIC statistics:")
        text = dict(line.strip().split(": ") for line in lines[1:])
        same("figures", {k: int(v) for k, v in text.items()},
             {k: v for k, v in link.port.stat().items() if k != "dev"})
        link.got()


EVERYTHING = ("rate 25gbit delay 1501ns overhead 20B pfc 3,4 trust dscp,pcp strict 5,6 xoff 61000B "
              "xon 41001B xon_offset 3073B headroom 20001B reserve 11B action alert detect 7ms "
              "restore 9ms mark dequeue dscp 26:3,48:6 pcp 5:4 default 2 "
              "prio 3 weight 7 limit 999999B kmin 5001B kmax 200001B pmax 1.5% flows_min 2 "
              "flows_max 9 wred on share 1/2 maxrate 9gbit xoff 70001B headroom 30001B alpha 1/16 "
              "prio 4 tc 1 weight 0")


def goes_on_pausing(star):
    """Check that port 1 repeats its pause while port 3 is paused, and ends it afterwards."""
    star.say(3, pfc({3: FOREVER}))
    sleep(700 * US)
    said = [f[1:] for f in star.heard(1)]
    assert said and set(said) == {(8, FOREVER)}, said
    star.say(3, pfc({3: 0}))
    sleep(2 * MS)
    same("the end", star.heard(1)[-1][1:], (8, 0))


@test
def replaced_port():
    """A port that replaces another one has its settings and its place in the switch, and goes on pausing"""
    with Star("xoff 60KB xon 40KB headroom 20KB") as star:
        star.ports[1].set(EVERYTHING.replace("25gbit", "40gbit"))
        star.ports[1].set("dscp none prio 3 kmax 0 kmin 0 maxrate 0mbit xoff 60KB xon 40KB")
        before = star.ports[1].show()
        star.say(3, pfc({3: FOREVER}))
        star.send(1, 3, 200)
        sleep(100 * US)
        same("paused", [f[1:] for f in star.heard(1)], [(8, FOREVER)])
        charged = star.ports[1].count("rx_prio%d_buffer_bytes", 3)
        sh("tc -n s qdisc replace dev h1 root handle 77: dcbport")
        same("settings", star.ports[1].show(), before)
        same("charged", star.ports[1].count("rx_prio%d_buffer_bytes", 3), charged)
        goes_on_pausing(star)
        same("lost", star.drops(), 0)
        switch = json.loads(sh(TOOL + " -j port switch").stdout)[0]
        same("switch", (switch["ports"], switch["used"]), (3, 0))
        # one that cannot be made leaves the other alone
        sh("tc -n s qdisc replace dev h1 root handle 78: dcbport limit 5", check=False)
        same("after an error", star.ports[1].show(), before)
        # and one that comes later begins anew
        sh("tc -n s qdisc del dev h1 root && tc -n s qdisc add dev h1 root dcbport")
        assert star.ports[1].show()["switch"] == "" and star.ports[1].show()["pfc"] == []


@test
def halted_port():
    """A port goes on pausing after the core has halted its device for a moment"""
    for words in ("tc -n s qdisc add dev h1 clsact", "ip -n s link set dev h1 txqueuelen 500"):
        with Star("xoff 60KB xon 40KB headroom 20KB") as star:
            star.say(3, pfc({3: FOREVER}))
            star.send(1, 3, 200)
            sleep(100 * US)
            same("paused", [f[1:] for f in star.heard(1)], [(8, FOREVER)])
            sh(words)
            star.heard(1)
            goes_on_pausing(star)


@test
def saved():
    """dcqcn port save and restore keep everything that port set and dcb can set"""
    with Link() as link:
        tool = link.port.tool
        sh("%s port switch new s size 5000001B lossy 70001B alpha 1/4" % tool)
        link.port.set("switch s " + EVERYTHING)
        dcb("maxrate set DEV tc-maxrate 5:2gbit", check=False)
        shown, switches = link.port.show(), sh(tool + " -j port switch").stdout
        same("APP entries", json.loads(dcb("app show DEV").stdout)["default_prio"], [2])
        text = sh(tool + " port save").stdout
        sh(tool + " port save -o /run/ports.conf")
        with open("/run/ports.conf") as f:
            same("file", f.read(), text)
        sh("tc -n a qdisc del dev a0 root && %s port switch del s" % tool)
        sh(tool + " port restore /run/ports.conf")
        same("restored", link.port.show(), shown)
        same("switch", sh(tool + " -j port switch").stdout, switches)
        same("saved again", sh(tool + " port save").stdout, text)
        # again, over other settings, for a device that is there, and one that is not
        link.port.set("rate 1gbit prio 3 weight 3")
        sh("%s port restore dev nothing /run/ports.conf" % tool)
        same("not restored", link.port.show()["rate"], 10**9)
        sh("%s port restore dev a0 /run/ports.conf" % tool)
        same("restored again", link.port.show(), shown)
        for line, wanted in (("nonsense x", "must begin with switch or port"),
                             ("port a0 speed 3", "no such key")):
            r = sh("echo '%s' | %s port restore -" % (line, tool), check=False)
            assert r.returncode and wanted in r.stderr, r.stderr
        link.port.set("rate 40gbit pfc none prio 3 share none wred off")
        link.send(1)
        sleep(1 * MS)
        same("frames", len(link.got()), 1)
        assert FRAME
