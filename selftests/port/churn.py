# SPDX-License-Identifier: GPL-2.0
"""Runs on the debug kernel: adds and removes ports, switches, links and namespaces at random
under traffic and PFC frames, many of them malformed. The kernel must report nothing, and
nothing may be left in the end.

usage: churn.py MODULE BINARIES STEPS SEED [SENDERS]

SENDERS processes send as well, meanwhile: for kernels with several CPUs.
"""

import contextlib
import errno
import multiprocessing
import os
import random
import sys
import time

from wire import Socket, mac, packet, pfc, sh

MODULE, BINARIES = sys.argv[1:3]
STEPS, SEED, SENDERS = map(int, (sys.argv[3:] + ["0"])[:3])
HOSTS = (1, 2, 3)
PATIENCE = 60   # s

KMEMLEAK = "/sys/kernel/debug/kmemleak"

# Commands that must succeed at times; how often each did
EACH = ("qdisc", "set", "switch", "dcb")
done = {}


class Patient(Socket):
    """Goes on when its device is down or gone."""

    passed = (errno.ENOBUFS, errno.ENETDOWN, errno.ENXIO)


class Senders:
    """The hosts' packets."""

    def __init__(self, rng, sockets):
        self.rng, self.sockets = rng, sockets

    def traffic(self):
        r = self.rng
        for _ in range(r.randint(1, 200)):
            a, b = r.sample(HOSTS, 2)
            self.sockets[a].send(packet(mac(b), mac(a), r.choice((0, 3, 6)), r.randint(0, 3),
                                        r.randint(60, 4200), 0, r.random() < .3))

    def pauses(self):
        r = self.rng
        for _ in range(r.randint(1, 20)):
            frame = bytearray(pfc({p: r.choice((0, 1, 0xffff)) for p in range(8)},
                                  enable=r.getrandbits(16), length=r.choice((60, 60, r.randint(15, 60)))))
            if r.random() < .2:
                frame[r.randrange(12, len(frame))] ^= 1 << r.randrange(8)
            self.sockets[r.choice(HOSTS)].send(bytes(frame))


def others(seed):
    """Send without end, whatever becomes of the hosts. Runs in a process of its own."""
    rng = random.Random(seed)
    while True:
        sockets = {}
        with contextlib.suppress(OSError):      # a host, or its device, is gone
            for n in HOSTS:
                sockets[n] = Patient("h%d" % n, "eth0")
            senders = Senders(rng, sockets)
            for _ in range(20):
                rng.choice((senders.traffic, senders.pauses))()
        for s in sockets.values():
            s.s.close()     # it holds its namespace


class Net(Senders):
    def __init__(self, rng):
        super().__init__(rng, {})
        sh("ip netns add s")
        self.bridge()
        for n in HOSTS:
            self.host(n)

    def bridge(self):
        sh("ip -n s link add br0 type bridge stp_state 0 mcast_snooping 0 && "
           "ip -n s link set br0 up")

    def host(self, n):
        sh("ip netns add h{n} && ip link add eth0 netns h{n} address {mac} mtu 4200 type veth "
           "peer name h{n} netns s && ip -n s link set h{n} mtu 4200 master br0 up && "
           "ip -n h{n} link set eth0 up".format(n=n, mac=mac(n).hex(":")))
        self.sockets[n] = Patient("h%d" % n, "eth0")
        self.port("s", "h%d" % n)
        self.port("h%d" % n, "eth0")

    def tried(self, what, command):
        """Run a command that may fail, because its object may be gone; count it if it does not."""
        if not sh(command, check=False).returncode:
            done[what] = done.get(what, 0) + 1

    def tool(self, netns, words):
        self.tried(words.split()[0], "ip netns exec %s %s/dcqcn port %s" % (netns, BINARIES, words))

    def port(self, netns, device):
        self.tried("qdisc", "tc -n %s qdisc replace dev %s root dcbport" % (netns, device))
        self.set(netns, device)

    def set(self, netns, device):
        r = self.rng
        xoff = r.choice((0, 5, 20, 100))
        self.tool(netns, "set dev %s mark %s rate %dmbit delay %dus pfc %s xoff %dKB xon %dKB headroom %dKB "
                  "switch %s action %s detect %dms restore %dms trust %s prio %d weight %d "
                  "limit %dKB kmin 0 kmax %dKB flows_min %d flows_max %d%s" % (
                      device, r.choice(("enqueue", "dequeue")), r.choice((0, 10, 1000)), r.choice((0, 1, 1000)),
                      r.choice(("none", "0", "3", "0,3")), xoff, r.randint(0, xoff),
                      r.choice((1, 20, 100)), r.choice(("s", "s", "t", "none")),
                      r.choice(("off", "alert", "forward", "drop")), r.randint(1, 50),
                      r.randint(1, 50), r.choice(("dscp", "dscp", "none")),
                      r.randint(0, 7), r.randint(1, 100), r.choice((10, 1000)),
                      r.choice((0, 10)), r.choice((0, 0, 1, 3)), r.choice((0, 0, 3, 1000)), self.more(xoff)))

    def more(self, xoff):
        """Keys that most settings leave alone."""
        r = self.rng
        if r.random() < .5:
            return ""
        xon = r.randint(0, xoff)
        return " wred %s share %s alpha %s xoff %dKB xon %dKB headroom %dKB maxrate %dmbit tc %d" % (
            r.choice(("on", "off")), r.choice(("none", "1/2", "1/64")),
            r.choice(("switch", "1/2", "1/64")), xoff + r.randint(0, 9), xon, r.choice((1, 20, 100)),
            r.choice((0, 0, 100)), r.randint(0, 7))

    def dcb(self, netns, device):
        """Run a random dcb command, which may be refused."""
        r = self.rng
        words = r.choice((
            "app add dev DEV dscp-prio %d:%d" % (r.randint(0, 63), r.randint(0, 7)),
            "app add dev DEV default-prio %d" % r.randint(0, 7),
            "app flush dev DEV", "app show dev DEV", "ets show dev DEV", "pfc show dev DEV",
            "pfc set dev DEV prio-pfc %d:%s" % (r.randint(0, 7), r.choice(("on", "off"))),
            "ets set dev DEV prio-tc %d:%d" % (r.randint(0, 7), r.randint(0, 7)),
            "ets set dev DEV tc-tsa all:ets %d:strict tc-bw all:%d" % (r.randint(0, 7), 14),
            "maxrate set dev DEV tc-maxrate %d:%dMbit" % (r.randint(0, 7), r.choice((0, 1, 100))),
            "buffer set dev DEV buffer-size 3:%d" % r.choice((0, 1000, 30000)),
            "dcbx set dev DEV host ieee"))
        self.tried("dcb", "ip netns exec %s dcb %s" % (netns, words.replace("DEV", device)))

    def device(self):
        n = self.rng.choice(HOSTS)
        return self.rng.choice((("s", "h%d" % n), ("h%d" % n, "eth0")))

    def step(self):
        r = self.rng
        what = r.choices(("traffic", "pauses", "set", "replace", "delete", "down", "switch",
                          "remove", "look", "host", "namespace", "module", "dcb"),
                         (12, 8, 5, 2, 2, 2, 2, 1, 2, 1, .3, .3, 6))[0]
        netns, device = self.device()
        if what in ("traffic", "pauses"):
            getattr(self, what)()
        elif what == "set":
            self.set(netns, device)
        elif what == "dcb":
            self.dcb(netns, device)
        elif what == "replace":
            sh("tc -n %s qdisc replace dev %s root %s" % (
                netns, device, r.choice(("pfifo", "handle %d: dcbport" % r.randint(1, 9999),
                                         "tbf rate 1gbit burst 10k limit 1m"))),
               check=False)
            self.port(netns, device)
        elif what == "delete":
            sh("tc -n %s qdisc del dev %s root" % (netns, device), check=False)
            if r.random() < .8:
                self.port(netns, device)
        elif what == "down":
            sh("ip -n {0} link set {1} down; ip -n {0} link set {1} up".format(netns, device),
               check=False)
        elif what == "switch":
            self.tool("s", "switch new %s size %dKB alpha %s" % (
                r.choice("st"), r.choice((100, 2000)), r.choice(("1/8", "1", "0"))))
        elif what == "remove":
            self.tool("s", "switch del %s" % r.choice("st"))
        elif what == "look":
            self.tool(netns, r.choice(("show", "stat", "switch", "save", "clear dev " + device)))
        elif what == "host":
            n = r.choice(HOSTS)
            self.sockets.pop(n).s.close()
            sh("ip netns del h%d" % n)
            sh("ip -n s link del h%d" % n, check=False)
            self.host(n)
        elif what in ("namespace", "module"):
            for s in self.sockets.values():
                s.s.close()
            sh("; ".join("ip netns del h%d" % n for n in HOSTS) + "; ip netns del s")
            if what == "module":
                unload()
                sh("insmod " + MODULE)
            self.__init__(r)
        for s in self.sockets.values():
            s.take()
        return what


def unload():
    """Wait until namespaces, and with them the last port, are gone."""
    end = time.monotonic() + PATIENCE
    while sh("rmmod dcbport", check=False).returncode and time.monotonic() < end:
        time.sleep(0.1)
    return "dcbport" not in open("/proc/modules").read()


def kmemleak():
    """Leaks of the module. Stack traces have only addresses for one that is not loaded."""
    for _ in range(2):
        time.sleep(6)       # kmemleak reports only older objects
        with open(KMEMLEAK, "w") as f:
            f.write("scan")     # fails if kmemleak has given up
    with open(KMEMLEAK) as f:
        return "".join(entry for entry in f.read().split("unreferenced object")[1:]
                       if "dcbport" in entry or "    0x" in entry)


def main():
    sh("insmod " + MODULE)
    print("1..2\n# seed %d" % SEED, flush=True)
    rng, steps = random.Random(SEED), {}
    net = Net(rng)
    senders = [multiprocessing.Process(target=others, args=(SEED + 1 + n,), daemon=True)
               for n in range(SENDERS)]
    for p in senders:
        p.start()
    for n in range(STEPS):
        if n % 50 == 0:
            print("# step %d: %s" % (n, time.strftime("%H:%M:%S")), flush=True)   # silence is a hang
        what = net.step()
        steps[what] = steps.get(what, 0) + 1
        # let timers run and packets arrive, which in simulated time happens only now
        time.sleep(rng.choice((0, 1e-5, 1e-3, 2e-2)))
    print("# %s" % ", ".join("%s %d" % s for s in sorted(steps.items())))
    print("# succeeded: %s" % ", ".join("%s %d" % d for d in sorted(done.items())))
    print("%sok 1 - ports, switches and namespaces come and go under traffic" %
          ("" if all(done.get(what) for what in EACH) else "not "), flush=True)
    for p in senders:
        if not p.is_alive():
            raise SystemExit("a sender has ended by itself")
        p.kill()
        p.join()
    for s in net.sockets.values():
        s.s.close()
    sh("; ".join("ip netns del h%d" % n for n in HOSTS) + "; ip netns del s")
    gone = unload()
    leaks = kmemleak() if os.path.exists(KMEMLEAK) else ""
    if leaks:
        print("# " + leaks.replace("\n", "\n# "))
    print("%sok 2 - the module unloads, and leaves nothing" % ("" if gone and not leaks else "not "))


main()
