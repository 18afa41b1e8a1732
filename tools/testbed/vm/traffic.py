# SPDX-License-Identifier: GPL-2.0
"""Perftest between hosts: connected once, then continued and stopped as often as needed."""

import shlex

from ..core.errors import LabError
from .guest import gather, stop, wait_for_end

FIRST_TCP_PORT = 18515
PATIENCE = 15               # s, including packets in flight when flows are held
CONNECTED = 300             # s that perftest may take to listen, and to connect all QPs

LISTENS = "/lab/await %d 'ss -Hltn sport = %d | grep -q .'"
# Waits for the QPs of these processes to be ready to send; other programs may have QPs, too
SENDING = ("[ $(rdma resource show qp | "
           "grep -cE \" state RTS .* pid ($(cat %s 2>/dev/null | paste -sd '|')) \") -ge %d ]")


class Pair:
    """Perftest's two processes of one flow, with all of its QPs."""

    def __init__(self, flow, server):
        self.flow, self.server, self.client = flow, server, None
        self.lost = None    # its output, if it ended by itself


class Traffic:
    """Flows between the hosts of a Network.

    Connecting takes perftest seconds in an emulated guest, and runs with the same flows can share
    connections. So a client is stopped (SIGSTOP) as soon as its QPs are connected, and again when a
    run ends: its QPs stay, and the packets that they have sent arrive.
    """

    def __init__(self, network, flows):
        self.network, self.clock = network, network.clock
        self.pairs = []
        try:
            self._serve(flows)
            self._connect()
        except BaseException:
            self.end()
            raise

    def adopt(self, flows):
        """Take over these flows, if they are of the same kind and all QPs are alive."""
        self.look_after()
        if self.lost or [p.flow.kind for p in self.pairs] != [f.kind for f in flows]:
            return False
        for p, f in zip(self.pairs, flows):
            p.flow = f
        return True

    @property
    def what(self):
        return "%d QPs for" % sum(p.flow.qps for p in self.pairs)

    # for programs other than perftest: see programs.py
    finished, seconds = False, 0

    def save(self, prefix):
        return []

    def go(self, flows):
        self._signal("CONT", flows)

    def hold(self, flows):
        self._signal("STOP", flows)

    def drain(self):
        """Wait until everything that held flows have sent has arrived, and no counter of the hosts
        changes any more; return the counters. End flows whose packets do not get through."""
        # longer than a QP waits before it retransmits
        step = 1.1 * 4.096e-6 * 2 ** max(p.flow.timeout for p in self.pairs)
        begin, before, now = self.clock.monotonic(), (), None
        while now != before:
            waited = self.clock.monotonic() - begin
            if waited > 2 * PATIENCE:
                break       # other programs change the counters
            if waited > PATIENCE:
                self.end()
            self.clock.sleep(step)
            before, now = now, self.network.counters()
        return now

    def end(self):
        """Clients first, or they would retransmit to servers that are gone."""
        for side in ("client", "server"):
            stop([j for p in self.pairs if (j := getattr(p, side))], "KILL")
        self.pairs = []

    @property
    def lost(self):
        """The output of perftest processes whose QPs ended by themselves."""
        return [p.lost for p in self.pairs if p.lost]

    def look_after(self):
        for p in self.pairs:
            if not p.lost and not p.client.running():
                p.lost = "%s: %s" % (p.client.vm.name, p.client.output()[-300:])

    def _signal(self, name, flows):
        files = {}
        for p in self.pairs:
            if p.flow in flows and not p.lost:
                files.setdefault(p.client.vm, []).append(p.client.pid_file)
        gather([(vm, "for f in %s; do kill -%s $(cat $f); done; true" % (" ".join(mine), name))
                for vm, mine in files.items()])

    def _perftest(self, flow, port, host, server=""):
        # perftest's writes poll all the time: see _throttle(). The others can wait
        # for events, but then not for a duration.
        return self.network.vms[host].spawn(
            "exec nice -n 19 ib_%s_bw -F -d rxe0 -x %s -c %s -m %d -s %d -t %d -u %d -q %d "
            "--tclass=%d %s -p %d %s" % (
                flow.verb, self.network.gids()[host], flow.transport.upper(), flow.mtu, flow.size,
                flow.depth, flow.timeout, flow.qps, flow.tclass,
                "-D 3600" if flow.verb == "write" else "-e -N -n 10000000", port, server))

    def _serve(self, flows):
        ports = {}
        for port, f in enumerate(flows, FIRST_TCP_PORT):
            self.pairs.append(Pair(f, self._perftest(f, port, f.server)))
            ports.setdefault(f.server, []).append(port)
        self._await("perftest to listen", {
            host: " && ".join(LISTENS % (CONNECTED, p) for p in mine) for host, mine in ports.items()})

    def _connect(self):
        mine = {}
        for port, p in enumerate(self.pairs, FIRST_TCP_PORT):
            address = self.network.topology.hosts[p.flow.server].address
            p.client = self._perftest(p.flow, port, p.flow.client, address)
            mine.setdefault(p.flow.client, []).append(p)
        self._await("all QPs to be connected", {
            host: "/lab/await %d %s && for f in %s; do kill -STOP $(cat $f); done" %
                  (CONNECTED, shlex.quote(SENDING % (files, sum(p.flow.qps for p in pairs))), files)
            for host, pairs in mine.items()
            for files in [" ".join(p.client.pid_file for p in pairs)]})
        self._throttle()
        self.drain()

    def _throttle(self):
        """Limit the CPU time of programs that poll all the time, for rxe and other guests. Not
        before they are connected, because connecting is slow enough."""
        gather([(p.client.vm, "cat %s >/sys/fs/cgroup/polling/cgroup.procs" % p.client.pid_file)
                for p in self.pairs if p.flow.verb == "write"])

    def _await(self, what, commands):
        """Run a command that ends on each host. Raise LabError if a process of perftest ends
        first."""
        waiting = [self.network.vms[host].spawn(c) for host, c in commands.items()]
        try:
            while running := [w for w in waiting if w.running()]:
                for j in (j for p in self.pairs for j in (p.server, p.client) if j):
                    if not j.running():
                        raise LabError("perftest ended early on %s:\n%s" %
                                       (j.vm.name, j.output()))
                wait_for_end(running + [j for p in self.pairs for j in (p.server, p.client) if j])
        except BaseException:
            stop(waiting, "KILL")
            raise
        for w in waiting:
            if w.wait(check=False).returncode:
                raise LabError("%s: timed out waiting for %s" % (w.vm.name, what))
