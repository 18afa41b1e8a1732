# SPDX-License-Identifier: GPL-2.0
"""Runs the user's own clients and servers between the hosts of a Network, in place of perftest."""

import os
import shlex
import shutil
import time

from ..core.errors import InputError, LabError
from ..core.progress import say
from .guest import Failed, gather, stop, wait_for_end
from .traffic import FIRST_TCP_PORT, Pair, Traffic

READY = 120         # s that a server may take until it listens
ENDING = 20         # s that a program may take to end after SIGTERM
SHARE = "/lab/share/program"

# A server is ready when a TCP or rdma_cm port listens
LISTENS = ("/lab/await %(seconds)d \"ss -Hltn sport = %(port)d | grep -q . || "
           "rdma resource show cm_id | grep -q 'state LISTEN .*:%(port)d '\"")


class Program:
    """A command line in words. A single word is a line for the guest's shell. A relative path names
    a file of this machine, which is copied for the guests."""

    def __init__(self, words):
        self.words = list(words)
        self.name = self.words[0] if len(words) > 1 else self.words[0].strip().partition(" ")[0]
        self.file = None
        if not self.name:
            raise InputError("-- COMMAND: it is empty")
        if "/" in self.name and not self.name.startswith("/"):
            if not os.path.isfile(self.name):
                raise InputError("%s: no such file (a COMMAND of the guest has no directory, or "
                                 "an absolute one)" % self.name)
            if not os.access(self.name, os.X_OK):
                raise InputError("%s cannot be executed: chmod +x" % self.name)
            self.file = self.name

    def share(self, directory):
        """Copy the file to where guests can read it. Return the line that runs the program."""
        if len(self.words) == 1:
            rest = self.words[0].strip()[len(self.name):]
        else:
            rest = " " + shlex.join(self.words[1:])
        if not self.file:
            return shlex.quote(self.name) + rest if len(self.words) > 1 else self.name + rest
        place = os.path.join(directory, os.path.basename(SHARE))
        os.makedirs(place, exist_ok=True)
        shutil.copy(self.file, place)
        return shlex.quote("%s/%s" % (SHARE, os.path.basename(self.file))) + rest


class Programs(Traffic):
    """A server and a client for each flow. Clients run from go() until they end, or hold()."""

    def __init__(self, network, flows, program):
        self.line = program.share(network.share)
        self.name = program.name
        self.begun, self.ended = {}, {}     # of clients: by our clock; (s, exit status)
        super().__init__(network, flows)

    def adopt(self, flows):
        return False

    def _spawn(self, flow, port, host, server=""):
        t = self.network.topology.hosts
        variables = {"LAB_SERVER": server, "LAB_ADDR": t[host].address, "LAB_PORT": port,
                     "LAB_DEV": "rxe0", "LAB_GID": self.network.gids()[host],
                     "LAB_QPS": flow.qps, "LAB_SECONDS": "%g" % ((flow.stop - flow.start) / 1e9)}
        # programs that poll must leave CPU time to rxe and to other guests
        return self.network.vms[host].spawn(
            "echo $$ >/sys/fs/cgroup/polling/cgroup.procs; export %s; exec nice -n 19 sh -c %s" % (
                " ".join("%s=%s" % v for v in variables.items()), shlex.quote(self.line)))

    def _serve(self, flows):
        waiting = {}
        for port, f in enumerate(flows, FIRST_TCP_PORT):
            pair = Pair(f, self._spawn(f, port, f.server))
            pair.port = port
            self.pairs.append(pair)
            waiting[pair] = self.network.vms[f.server].spawn(
                LISTENS % {"seconds": READY, "port": port})
        try:
            while running := [p for p, w in waiting.items() if w.running()]:
                for p in [p for p in running if not p.server.running()]:
                    self._check_server(p)
                    stop([waiting[p]], "KILL")      # it has ended: the kernel serves
                    running.remove(p)
                wait_for_end([j for p in running for j in (waiting[p], p.server)])
            for p, w in waiting.items():
                if w.wait(check=False).returncode == 1:
                    raise LabError("%s, the server on %s: nothing listens on port $LAB_PORT, %d, "
                                   "of TCP or rdma_cm, after %d s\n%s" % (
                                       self.name, p.flow.server, p.port, READY,
                                       p.server.output()[-2000:]))
        finally:
            stop([w for w in waiting.values() if w.running()], "KILL")

    def _check_server(self, pair):
        """Check a server that has ended. It may, if it has set up the kernel as the server."""
        status = pair.server.wait(check=False).returncode
        if status:
            raise LabError("%s, the server on %s: exit status %d\n%s" % (
                self.name, pair.flow.server, status, pair.server.output()[-2000:]))

    def _connect(self):
        pass        # clients do that when they begin

    def go(self, flows):
        for p in self.pairs:
            if p.flow in flows and p not in self.begun:
                p.client = self._spawn(p.flow, p.port, p.flow.client,
                                       self.network.topology.hosts[p.flow.server].address)
                self.begun[p] = self.clock.monotonic()

    def hold(self, flows):
        mine = [p for p in self.pairs if p.flow in flows and p in self.begun and p not in self.ended]
        for p in mine:
            say("%s: its client on %s still runs at the flow's end: stopping it" % (
                self.name, p.flow.client))
        self._end([p.client for p in mine])
        for p in mine:
            self.ended[p] = self.clock.monotonic() - self.begun[p], 0

    @property
    def what(self):
        return "%d clients for at most" % len(self.pairs)

    @property
    def finished(self):
        """Whether all clients have ended."""
        return len(self.ended) == len(self.pairs)

    @property
    def seconds(self):
        """Of the slowest client."""
        return max((s for s, _ in self.ended.values()), default=0)

    def look_after(self):
        """Raise LabError if a program has failed, because the figures would be meaningless."""
        for p in self.pairs:
            if not p.server.running():
                self._check_server(p)
        for p, begun in self.begun.items():
            if p in self.ended or p.client.running():
                continue
            status = p.client.wait(check=False).returncode
            self.ended[p] = self.clock.monotonic() - begun, status
            if status:
                raise LabError("%s, the client on %s: exit status %d\n%s" % (
                    self.name, p.flow.client, status, p.client.output()[-2000:]))

    def save(self, prefix):
        """Write the programs' output; return the files."""
        files = []
        for n, p in enumerate(self.pairs, 1):
            for host, job in ((p.flow.server, p.server), (p.flow.client, p.client)):
                if job:
                    files.append("%s.%d.%s.log" % (prefix, n, host))
                    with open(files[-1], "w") as f:
                        f.write(job.output())
        return files

    def _end(self, jobs):
        """End programs, with time to clean up."""
        jobs = [j for j in jobs if j and j.running()]
        gather([(j.vm, "kill -TERM -- -$(cat %s) || true" % j.pid_file) for j in jobs])
        deadline = time.monotonic() + self.clock.host(ENDING)
        while (running := [j for j in jobs if j.running()]) and time.monotonic() < deadline:
            wait_for_end(running, deadline - time.monotonic())
        stop([j for j in jobs if j.running()], "KILL")

    def end(self):
        try:
            for side in ("client", "server"):
                self._end([getattr(p, side) for p in self.pairs])
        except Failed:
            pass        # the guest is ending, too
        self.pairs = []
