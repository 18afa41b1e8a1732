# SPDX-License-Identifier: GPL-2.0
"""Ports that agree with their neighbours through Debian's lldpad. Captures what
they say in OUT/lldp.pcap. tests.py runs it in the simulator; on other kernels

usage: dcbx.py MODULE BINARIES OUT [TEST ...]
"""

import json
import os
import re
import struct
import sys

import lldp
from cases import run, same, test, test_by_name
from lldp import Agent, wait
from wire import MS, S, Port, Socket, dcb, is_data, mac, now, packet, prio, sh, sleep

MODULE, BINARIES, OUT = sys.argv[1:4]
PCAP, LOG = os.path.join(OUT, "lldp.pcap"), os.path.join(OUT, "lldpad")
PAGE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../Documentation/dcbx.rst")
# How late a neighbour may be: lldpad's timer ticks once a second
INTERVAL, TTL, LATE = 30 * S, 120 * S, 2 * S

# As captured from a switch, except that its priorities 0 and 4 are in class 15, which no agent
# can be set to: ETS, PFC for 2, 4 and 5, DSCP 26 is priority 3, 48 is 6
ETS = ("up2tc=0:0,1:4,2:1,3:1,4:0,5:4,6:1,7:4 tcbw=0,50,0,0,50,0,0,0 "
       "tsa=0:strict,1:ets,2:strict,3:strict,4:ets,5:strict,6:strict,7:strict")
VECTORS = {
    lldp.ETS_CONFIGURED: "fe190080c20900" "04110414" "0032000032000000" "0002000002000000",
    lldp.ETS_RECOMMENDED: "fe190080c20a00" "04110414" "0032000032000000" "0002000002000000",
    lldp.PFC: "fe060080c20b0834",
    lldp.APP: "fe0b0080c20c0065001ac50030",
}
SWITCH = ("ETS-CFG willing=no " + ETS, "ETS-REC enableTx=yes " + ETS,
          "PFC willing=no enabled=2,4,5", "APP enableTx=yes app=3,5,26", "APP app=6,5,48")
# Each priority in a class of its own; lldpad's default is one class for all
APART = "ETS-CFG willing=no up2tc=0:0,1:1,2:2,3:3,4:4,5:5,6:6,7:7"
TAKEN = {"pfc": [2, 4, 5], "app": [[26, 3], [48, 6]]}


class Side:
    """A namespace with a port; its agent is started later."""

    def __init__(self, name):
        self.name, self.device = name, name + "0"
        self.port = Port(BINARIES, name, self.device)
        self.port.set("rate 40gbit delay 1us")
        self.socket = Socket(name, self.device)
        self.agent = None

    def start(self, *words, speak=False):
        self.agent = Agent(self.name, self.device, LOG)
        self.agent.set(*words)
        if speak:
            self.agent.speak()

    def dcb(self, what):
        return dcb(self.name, self.device, what)

    def agreed(self):
        """The priorities with PFC, and the priorities of DSCPs."""
        enabled = self.dcb("pfc")["prio_pfc"]
        return {"pfc": [p for p in range(8) if enabled[p]],
                "app": sorted(self.dcb("app").get("dscp_prio", []))}

    def ets(self):
        shown = self.dcb("ets")
        return shown["prio_tc"], shown["tc_bw"], [t == "ets" for t in shown["tc_tsa"]]

    def becomes(self, wanted, limit):
        """Wait until agreed() is that, within a time limit; return how many ns it took."""
        try:
            return wait("becomes", lambda: self.agreed() == wanted, limit, S)
        except AssertionError:
            raise AssertionError("%s: %s, not %s within %d s" % (
                self.name, self.agreed(), wanted, limit // S))

    def heard(self):
        """LLDP frames that were received."""
        return [f for f in self.socket.take() if f.data[12:14] == lldp.ETHERTYPE]

    def end(self):
        self.socket.s.close()
        if self.agent:
            self.agent.die()


class Cable:
    """x0 in x and y0 in y, both ports; frames that y0 receives are recorded."""

    def __init__(self):
        sh("ip netns add x && ip netns add y && "
           "ip link add x0 netns x address 02:00:00:00:00:01 mtu 4200 type veth "
           "peer name y0 address 02:00:00:00:00:02 netns y && "
           "for n in x y; do ip -n $n link set lo up; ip netns exec $n sh -c "
           "\"echo 1 >/proc/sys/net/ipv6/conf/${n}0/disable_ipv6\"; "
           "ip -n $n link set ${n}0 mtu 4200 up; done")
        self.x, self.y = Side("x"), Side("y")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for side in (self.x, self.y):
            side.end()
        sh("ip netns del x; ip netns del y")

    def start(self, x=SWITCH, y=("PFC willing=yes", "ETS-CFG willing=yes")):
        self.x.start(*x, speak=True)
        self.y.start(*y)

    def say(self, *tlvs, ttl=120):
        """Send an LLDP frame in the place of x."""
        self.x.socket.send(lldp.frame(mac(1), *tlvs, ttl=ttl))


def doctor(side, *wanted):
    """Check that doctor finds exactly this at the port; return how to fix each."""
    r = sh("ip netns exec %s %s/dcqcn -j doctor -i 1ms dev %s" % (side.name, BINARIES, side.device),
           check=False)
    found = json.loads(r.stdout)
    same("findings", [f["finding"] for f in found], list(wanted))
    for f in found:
        assert f["seen"] and f["why"] and f["fix"], f
    return [f["fix"] for f in found]


def record(frames):
    with open(PCAP, "ab") as f:
        if not f.tell():
            f.write(struct.pack("=IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for t, data in frames:
            f.write(struct.pack("=IIII", t // S, t % S, len(data), len(data)) + data)


@test
def willing():
    """The willing side adopts PFC, ETS and APP under traffic, and follows changes"""
    with Cable() as cable:
        cable.start()
        sent = 0
        began = now()

        def send(count):
            nonlocal sent
            cable.x.socket.send(*(packet(mac(2), mac(1), dscp=26, n=sent + n)
                                  for n in range(count)))
            cable.y.socket.send(*(packet(mac(1), mac(2), dscp=48, n=sent + n)
                                  for n in range(count)))
            sent += count

        while cable.y.agreed() != TAKEN:
            assert now() - began < INTERVAL + LATE, cable.y.agreed()
            send(100)
            sleep(500 * MS)
        print("# agreed after %.1f s" % ((now() - began) / S))
        same("ETS", cable.y.ets(), ([0, 4, 1, 1, 0, 4, 1, 4], [0, 50, 0, 0, 50, 0, 0, 0],
                                    [False, True, False, False, True, False, False, False]))
        same("the other's", cable.x.agreed(), TAKEN)
        same("its ETS", cable.x.ets(), cable.y.ets())
        before = cable.y.port.stat()
        cable.y.socket.send(packet(mac(1), mac(2), dscp=26))
        stat = cable.y.port.stat()
        # LLDP has class 0
        same("class of DSCP 26", [p for p in range(1, 8) if stat["tx_prio%d_in_packets" % p] !=
                                  before["tx_prio%d_in_packets" % p]], [1])
        sleep(100 * MS)
        received = cable.y.socket.take()
        frames = [f for f in received if f.data[12:14] == lldp.ETHERTYPE]
        same("TLVs", lldp.dcbx(frames[-1].data), VECTORS)
        same("lost", len([f for f in received if is_data(f)]), sent)
        same("lost back", len([f for f in cable.x.socket.take() if is_data(f)]), sent + 1)
        record(frames)

        for words, wanted in (("PFC enabled=3", {**TAKEN, "pfc": [3]}),
                              ("APP app=4,5,26", {"pfc": [3], "app": [[26, 4], [48, 6]]}),
                              ("APP -d app=3,5,26", {"pfc": [3], "app": [[26, 4], [48, 6]]})):
            cable.x.agent.set("-T -i x0 -V " + words)
            took = cable.y.becomes(wanted, INTERVAL + LATE)
            print("# %s: followed after %.1f s" % (words, took / S))
        record(cable.y.heard())


@test
def gone():
    """When a neighbour's TTL expires, or the link was down, the local configuration returns"""
    local = {"pfc": [1], "app": [[10, 2]]}
    mine = ("PFC willing=yes enabled=1", "ETS-CFG willing=yes", "APP app=2,5,10")
    taken = {"pfc": TAKEN["pfc"], "app": [[10, 2], *TAKEN["app"]]}
    with Cable() as cable:
        cable.start(y=mine)
        cable.y.becomes(taken, INTERVAL + LATE)
        cable.x.agent.die()
        began = now()
        sleep(TTL - INTERVAL - LATE)
        same("while the last word counts", cable.y.agreed(), taken)
        cable.y.becomes(local, 2 * (INTERVAL + LATE))
        took = now() - began
        print("# local again %.1f s after the last word" % (took / S))
        same("classes", cable.y.ets()[0], [0] * 8)
        cable.x.start(*SWITCH, speak=True)
        cable.y.becomes(taken, INTERVAL + LATE)
        cable.x.agent.die()
        sh("ip -n x link set x0 down")
        sleep(5 * S)
        print("# 5 s after the link went down: %s" % cable.y.agreed())
        sh("ip -n x link set x0 up")
        took = cable.y.becomes(local, INTERVAL + LATE)
        print("# local again %.1f s after the link came up" % (took / S))


@test
def unwilling():
    """If both are unwilling, each keeps its own settings"""
    with Cable() as cable:
        sh("ip -n x link add br0 type bridge && ip -n x link set x0 master br0 && "
           "ip -n x link set br0 up")
        cable.start(x=("PFC willing=no enabled=3", APART), y=("PFC willing=no enabled=4", APART))
        cable.y.agent.speak()
        sleep(INTERVAL + LATE)
        assert cable.y.heard(), "y heard no frame"
        same("x", cable.x.agreed(), {"pfc": [3], "app": []})
        same("y", cable.y.agreed(), {"pfc": [4], "app": []})
        fix, = doctor(cable.y, "pfc-mismatch")
        doctor(cable.x, "pfc-mismatch")
        # do what doctor proposes
        sh("ip netns exec y %s" % fix)
        cable.y.becomes({"pfc": [3], "app": []}, INTERVAL + LATE)
        cable.x.becomes({"pfc": [3], "app": []}, INTERVAL + LATE)
        sleep(INTERVAL)
        doctor(cable.y)
        doctor(cable.x)


@test
def differences():
    """doctor finds what two ports do not agree on"""
    with Cable() as cable:
        cable.y.start("PFC willing=no enabled=3", APART, speak=True)
        doctor(cable.y)
        cable.say(bytes.fromhex("fe060080c20b0800"))
        sleep(LATE)
        doctor(cable.y, "pfc-mismatch")
        app = lldp.own(lldp.IEEE, lldp.APP, bytes.fromhex("00" "65001a" "c50030"))
        pfc = bytes.fromhex("fe060080c20b0808")
        cable.say(pfc, app)
        sleep(LATE)
        same("entries", cable.y.agreed(), {"pfc": [3], "app": [[26, 3], [48, 6]]})
        doctor(cable.y)
        cable.y.port.set("trust none")
        doctor(cable.y, "dscp-untrusted", "dscp-one-side")
        cable.y.port.set("trust dscp")
        sh("ip netns exec y dcb app replace dev y0 dscp-prio 26:4")
        doctor(cable.y, "dscp-mismatch")
        # an entry that is not for a DSCP: then the neighbour has none for DSCPs
        cable.say(pfc, lldp.own(lldp.IEEE, lldp.APP, bytes.fromhex("00" "618906")))
        sleep(LATE)
        sh("ip netns exec y dcb app replace dev y0 dscp-prio 26:4")
        doctor(cable.y, "dscp-one-side")
        sh("ip netns exec y dcb app flush dev y0")
        cable.y.socket.send(packet(mac(1), mac(2), 6, length=74))
        doctor(cable.y)
        sh("ip netns exec y dcb app add dev y0 dscp-prio 48:3")
        cable.y.socket.send(packet(mac(1), mac(2), 6, length=74))
        found = doctor(cable.y, "dscp-one-side", "cnp-lossless")
        assert "48:6" in found[1], found


@test
def cee():
    """From a neighbour that speaks only CEE nothing is adopted, and doctor says so"""
    with Cable() as cable:
        cable.y.start("PFC willing=yes enabled=1", APART.replace("no", "yes"), speak=True)
        cable.y.becomes({"pfc": [1], "app": []}, INTERVAL + LATE)
        before = cable.y.agreed(), cable.y.ets(), cable.y.port.show()
        for _ in range(3):
            cable.x.socket.send(lldp.cee(mac(1), 8))
            sleep(INTERVAL)
        same("afterwards", (cable.y.agreed(), cable.y.ets(), cable.y.port.show()), before)
        doctor(cable.y, "cee-neighbour")
        said = lldp.tlvs(cable.x.heard()[-1].data)
        print("# lldpad speaks then: %s" % " ".join(t.hex() for t in said[3:]))


@test_by_name
def lldpd():
    """lldpd shows what a port says, and disturbs lldpad beside it only if it speaks, too"""
    with Cable() as cable:
        cable.x.start(*SWITCH, speak=True)
        said = {mac(1).hex(":"): {kind: tlv[12:] for kind, tlv in VECTORS.items()}}
        with lldp.Informer("y", "y0", LOG, speak=True) as opposite:
            wait("TLVs", lambda: opposite.heard() == said, 2 * INTERVAL + LATE, S)
            same("opposite", cable.y.agreed(), {"pfc": [], "app": []})
        cable.y.start("PFC willing=yes", "ETS-CFG willing=yes", speak=True)
        with lldp.Informer("x", "x0", LOG), lldp.Informer("y", "y0", LOG) as beside:
            cable.y.becomes(TAKEN, INTERVAL + LATE)
            wait("TLVs", lambda: beside.heard() == said, INTERVAL + LATE, S)
            for _ in range(INTERVAL // S):
                sleep(S)
                same("beside", cable.y.agreed(), TAKEN)
        # y takes both for one neighbour, and what lldpd says has no DCBX
        with lldp.Informer("x", "x0", LOG, speak=True):
            cable.y.becomes({"pfc": [], "app": []}, INTERVAL + LATE)
            cable.y.becomes(TAKEN, INTERVAL + LATE)


# TLVs that no port can obey, and who refuses them
ETS_OF = "fe190080c20a00%s"
BAD = {
    "weights of 101 % together": ETS_OF % "01234567" "3332000000000000" "0202000000000000",
    "weights of 0": ETS_OF % "01010101" "0000000000000000" "0202000000000000",
    "class 8": ETS_OF % "80000000" "6400000000000000" "0200000000000000",
    "priority 0 in class 15": ETS_OF % "f411f414" "0032000032000000" "0002000002000000",
    "a vendor's algorithm": ETS_OF % "00000000" "6400000000000000" "ff00000000000000",
    "a credit-based shaper": ETS_OF % "00000000" "6400000000000000" "0100000000000000",
}


@test
def hostile():
    """Hostile TLVs are refused or bounded, and no packet is lost"""
    with Cable() as cable:
        cable.y.start("PFC willing=yes", "ETS-CFG willing=yes", speak=True)
        sleep(5 * S)
        sent = 0

        def said(*tlvs):
            nonlocal sent
            cable.y.socket.send(*(packet(mac(1), mac(2), n % 8, n=n) for n in range(80)))
            sent += 80
            cable.say(*tlvs)
            sleep(LATE)

        before = cable.y.port.show()
        for what, ets in BAD.items():
            said(bytes.fromhex(ets))
            same("after %s" % what, cable.y.port.show(), before)
        said(bytes.fromhex("fe060080c20b48ff"))
        same("PFC of all, MACsec bypassed", cable.y.agreed()["pfc"], list(range(8)))
        for count in (1, 10, 168):
            said(lldp.own(lldp.IEEE, lldp.APP, b"\0" + b"".join(
                struct.pack(">BH", (n // 64 << 5) | 5, n % 64) for n in range(count))))
            # one of each DSCP
            same("entries", len(cable.y.agreed()["app"]), min(count, 64))
        # Others, while the first ones are still there
        said(lldp.own(lldp.IEEE, lldp.APP, b"\0" + b"".join(
            struct.pack(">BH", ((7 - n // 64) << 5) | 5, n % 64) for n in range(168))))
        same("entries", len(cable.y.agreed()["app"]), 64)
        # Selectors that would have no effect
        said(lldp.own(lldp.IEEE, lldp.APP, bytes.fromhex("00" "618906" "420cbc" "8312b7" "e50040")))
        same("entries", cable.y.agreed()["app"], [])
        for junk in (b"", b"\0", b"\0" * 30, b"\xff" * 507):
            for subtype in VECTORS:
                said(lldp.own(lldp.IEEE, subtype, junk))
        assert cable.y.agent.process.poll() is None, "lldpad ended"
        sleep(1 * MS)
        same("lost", len([f for f in cable.x.socket.take() if is_data(f)]), sent)


HOSTS = (1, 2, 3)
COUNT = 500


class Star:
    """Hosts at a switch; both ends of each link are ports; no priority has PFC."""

    def __init__(self):
        sh("ip netns add s && ip -n s link add br0 type bridge stp_state 0 mcast_snooping 0 && "
           "ip -n s link set br0 mtu 4200 up && "
           "ip netns exec s %s/dcqcn port switch new s size 1MB lossy 200KB" % BINARIES)
        self.hosts, self.ports, self.agents = {}, {}, []
        for n in HOSTS:
            sh("ip netns add h{n} && ip link add eth0 netns h{n} address {mac} mtu 4200 type veth "
               "peer name h{n} netns s && ip -n s link set h{n} mtu 4200 master br0 up && "
               "ip netns exec h{n} sh -c \"echo 1 >/proc/sys/net/ipv6/conf/eth0/disable_ipv6\" && "
               "ip -n h{n} link set eth0 up && bridge -n s fdb replace {mac} dev h{n} master static"
               .format(n=n, mac=mac(n).hex(":")))
            host = Port(BINARIES, "h%d" % n, "eth0")
            host.set("rate 40gbit delay 1us prio 3 kmin 0 kmax 0 limit 1GB")
            self.ports[n] = Port(BINARIES, "s", "h%d" % n)
            self.ports[n].set("rate 40gbit delay 1us switch s xoff 60KB xon 40KB headroom 20KB "
                              "prio 3 kmin 0 kmax 0")
            self.hosts[n] = host, Socket("h%d" % n, "eth0")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for a in self.agents:
            a.die()
        for _, s in self.hosts.values():
            s.s.close()
        sh("for n in h1 h2 h3 s; do ip netns del $n; done")

    def agree(self):
        """The switch announces PFC for priority 3; hosts are willing."""
        switch = Agent("s", "h1", LOG)
        self.agents.append(switch)
        for n in HOSTS:
            for words in ("PFC willing=no enabled=3", APART):
                switch.set("-T -i h%d -V %s" % (n, words))
            switch.set("-L -i h%d adminStatus=rxtx" % n)
            host = Agent("h%d" % n, "eth0", LOG)
            self.agents.append(host)
            host.set("PFC willing=yes", APART)
        wait("agreement", lambda: all(p.show()["pfc"] == [3] for p in (
            *self.ports.values(), *(h for h, _ in self.hosts.values()))), INTERVAL + LATE, S)

    def incast(self):
        """Two hosts send to one, with priority 3. Return packets lost and pauses sent."""
        self.hosts[3][1].take()
        pauses = sum(p.count("tx_prio%d_pause", 3) for p in self.ports.values())
        for n in (1, 2):
            self.hosts[n][1].send(*(packet(mac(3), mac(n), 3, n=k) for k in range(COUNT)))
        sleep(50 * MS)
        arrived = len([f for f in self.hosts[3][1].take() if is_data(f) and prio(f) == 3])
        return (2 * COUNT - arrived,
                sum(p.count("tx_prio%d_pause", 3) for p in self.ports.values()) - pauses)


@test
def incast():
    """An incast loses packets before the neighbours agree on priority 3, and none afterwards"""
    with Star() as star:
        lost, pauses = star.incast()
        print("# before: %d of %d lost" % (lost, 2 * COUNT))
        assert lost > COUNT / 4 and not pauses, (lost, pauses)
        star.agree()
        lost, pauses = star.incast()
        print("# afterwards: %d lost, %d PFC frames" % (lost, pauses))
        assert not lost and pauses, (lost, pauses)


# What must hold after a command of the page's table
HABITS = {
    "--trust dscp": lambda side: side.port.show()["trust"] == "dscp",
    "--pfc 0,0,0,1,0,0,0,0": lambda side: side.agreed()["pfc"] == [3],
    "--prio_tc 0,0,0,1,0,0,2,0": lambda side: side.ets()[0] == [0, 0, 0, 1, 0, 0, 2, 0],
    "--tsa ets,ets,strict,strict,strict,strict,strict,strict --tcbw 40,60,0,0,0,0,0,0":
        lambda side: side.ets()[1:] == ([40, 60, 0, 0, 0, 0, 0, 0], [True] * 2 + [False] * 6),
    "--dscp2prio set,26,3": lambda side: side.agreed()["app"] == [[26, 3]],
    "--dscp2prio del,26,3": lambda side: side.agreed()["app"] == [],
    "--buffer_size 0,0,0,50000,0,0,0,0":
        lambda side: side.dcb("buffer")["buffer_size"] == [0, 0, 0, 50000, 0, 0, 0, 0],
    "--cable_len 100": lambda side: side.port.show()["delay"] == 500,
}


def page():
    with open(PAGE) as f:
        return f.read()


@test
def example():
    """The example in dcbx.rst does what the page says"""
    text = page()
    commands = re.findall(r"^  (lldptool (?:.*\\\n)*.*)$", text, re.M)
    shown = re.findall(r"^  \$ (dcb .*)\n  (.*)$", text, re.M)
    same("what is shown", len(shown), 2)
    with Cable() as cable:
        for side in (cable.x, cable.y):
            side.agent = Agent(side.name, side.device, LOG)
        for c in commands:
            sh("ip netns exec %s %s" % ("x" if "sw1" in c else "y",
                                        c.replace("sw1", "x0").replace("eth0", "y0")))
        cable.y.becomes({"pfc": [3], "app": TAKEN["app"]}, INTERVAL + LATE)
        for command, wanted in shown:
            same(command, sh("ip netns exec y " + command.replace("eth0", "y0")).stdout.strip(),
                 wanted)
        same("ETS", cable.y.ets(), (list(range(8)), [10, 10, 10, 40, 10, 10, 0, 10],
                                    [True] * 6 + [False, True]))


@test
def habits():
    """For each command of mlnx_qos in dcbx.rst, the port's command has the same effect"""
    rows = re.findall(r"^   \* - ``mlnx_qos -i DEV (.*)``\n     - ``(.*)``$", page(), re.M)
    same("the table", [words for words, _ in rows], list(HABITS))
    with Cable() as cable:
        for words, command in rows:
            sh("PATH=%s:$PATH; ip netns exec y %s" % (BINARIES, command.replace("DEV", "y0")))
            assert HABITS[words](cable.y), "%s: %s" % (words, command)


if __name__ == "__main__":
    run(MODULE, sys.argv[4:])
