# SPDX-License-Identifier: GPL-2.0
"""How precisely a limited flow keeps its rate, and how soon a mark leads to a
slower packet, in the simulator."""

import concurrent.futures
import json
import os
import shutil
import subprocess

from ..core.errors import LabError
from ..core.kernel import Kernel
from ..core.paths import BENCH, ROCE_PACKET, SIM
from ..core.progress import say
from ..sim import network_script, tc, uml

LINE = 200000       # Mb/s
REACTION = 100      # Mb/s that a CNP sets
PACKETS = 1000      # to measure, at least: at 1 Mb/s they take 2.7 s, and after 4 s the rate rises

# Mb/s: transport, MTU and message size. At 1 Mb/s, rxe's 65 packets leave within the time that a
# request may be held only if they have 256 bytes; at lower rates the module raises the rate.
FLOWS = {
    1: ("uc", 256, 256),
    10: ("rc", 1024, 65536),
    100: ("rc", 1024, 65536),
    1000: ("rc", 4096, 65536),
    10000: ("rc", 4096, 65536),
    25000: ("rc", 4096, 65536),
    40000: ("rc", 4096, 65536),
    100000: ("rc", 4096, 65536),
}

SCRIPT = """. %(bench)s/guest/hosts
ip netns exec h1 tc qdisc add dev eth0 root %(tbf)s limit 1000000000
for knob in rpg_max_rate=%(line)d start_burst=0 rpg_time_reset=131071 rpg_threshold=31 rpg_byte_reset=0 \
		rate_to_set_on_first_cnp=%(rate)d; do
	ip netns exec h1 sh -c "echo ${knob#*=} >/sys/class/net/eth0/ecn/roce_rp/${knob%%=*}"
done
%(bin)s/traffic -i 1000000 /mnt/flows . &
until [ -e t0 ]; do
	sleep 0.001
done
traffic=$!
# It starts to send 100 ms after t0
%(first)s
ip netns exec h2 python3 %(bench)s/guest/departures.py %(packets)d >departures
kill -INT $traffic
wait"""

# The flow gets its limiter from a CNP that is injected before it sends (CNP), or from its own
# packets, all of which are marked (MARKED). There the receiver sends only one CNP.
CNP = "ip netns exec h2 python3 %s/cnp.py 1 1"
MARKED = ("ip netns exec h2 sh -c "
          "'echo 131071 >/sys/class/net/eth0/ecn/roce_np/min_time_between_cnps'")
TCLASS_CE = 3


def _flow(transport, mtu, size, tclass):
    return ("id=0 verb=write transport=%s src_netns=h1 src_dev=rxe1 src_addr=10.0.0.1 "
            "dst_netns=h2 dst_dev=rxe2 dst_addr=10.0.0.2 size=%d depth=4 mtu=%d timeout=18 "
            "tclass=%d start_us=100000 stop_us=60000000\n" % (transport, size, mtu, tclass))


def figures(rate, packets):
    """Rate error, largest burst and gap of packets (time in ns, bytes).

    The burst is the most bytes by which a flow was ahead of its rate, besides its longest
    packet; the gap is the longest time between two packets.
    """
    skip = len(packets) // 10
    packets = packets[skip:]
    start = packets[0][0]
    sent, least, burst = 0, 0.0, 0.0
    for t, size in packets:
        lead = sent - (t - start) * rate / 8000
        least = min(least, lead)
        sent += size
        burst = max(burst, lead + size - least)
    span = packets[-1][0] - start
    real = (sent - packets[-1][1]) * 8000 / span      # Mb/s: the last packet has not passed yet
    longest = max(size for _, size in packets)
    return {
        "error": round(real / rate - 1, 6),
        "burst_packets": round(burst / longest, 2),
        "gap_us": max(b[0] - a[0] for a, b in zip(packets, packets[1:])) / 1000,
        "ideal_gap_us": round(longest * 8 / rate, 3),
        "packets": len(packets),
    }


def reaction(rate, lines):
    """The times from the first packet, which is marked, to the CNP, and from there to the last
    packet that left too early for the rate. lines: (time in ns, bytes or "CNP")."""
    cnp = next(t for t, what in lines if what == "CNP")
    packets = [(t, int(what)) for t, what in lines if what != "CNP"]
    late = [a[0] for a, b in zip(packets, packets[1:])
            if a[0] >= cnp and (b[0] - a[0]) * rate < 0.9 * a[1] * 8000]
    return {
        "ce_to_cnp_ns": cnp - packets[0][0],
        "cnp_to_slower_ns": max(late, default=cnp) - cnp,
        "packets_too_early": len(late),
    }


class Bench:
    def __init__(self, out):
        self.kernel, self.out = Kernel().ensure(), out
        self.bin = os.path.join(out, "bin")
        subprocess.run(["make", "-s", "-C", SIM, "OUT=" + self.bin], check=True)
        for path in (os.path.join(BENCH, "guest", "cnp.py"), ROCE_PACKET):
            shutil.copy2(path, self.bin)
        self.dcqcn, _ = self.kernel.ours(os.path.join(out, "uml"))

    def _run(self, name, rate, flow, first, packets):
        """The lines that departures.py prints."""
        out = os.path.join(self.out, "pacing", name)
        os.makedirs(out, exist_ok=True)
        modules = self.kernel.modules("net/ipv4/udp_tunnel", "net/ipv6/ip6_udp_tunnel",
                                      "drivers/infiniband/sw/rxe/rdma_rxe")
        modules.append(self.dcqcn)
        with open(os.path.join(out, "flows"), "w") as f:
            f.write(flow)
        script = network_script.kept(SCRIPT % {
            "bench": BENCH, "bin": self.bin, "tbf": tc.tbf(LINE * 10**6),
            "line": LINE, "rate": rate, "first": first, "packets": packets,
        })
        uml.boot(self.kernel, os.path.join(self.bin, "seed.so"), modules, script, out)
        with open(os.path.join(out, "flows.json")) as f:
            done, = json.load(f)["flows"]
        if done["failed"]:
            raise LabError("the flow of %d Mb/s failed: %s" % (rate, done["errors"]))
        with open(os.path.join(out, "departures")) as f:
            return [line.split() for line in f]

    def pace(self, rate):
        lines = self._run(str(rate), rate, _flow(*FLOWS[rate], 0), CNP % self.bin,
                          # at least 10 ms
                          max(PACKETS, rate * 10**4 // (8 * FLOWS[rate][1])))
        say("bench: pacing at %d Mb/s" % rate)
        return figures(rate, [(int(t), int(size)) for t, size in lines])

    def react(self):
        lines = self._run("reaction", REACTION, _flow("rc", 1024, 65536, TCLASS_CE), MARKED,
                          PACKETS)
        say("bench: reaction")
        return reaction(REACTION, [(int(t), what) for t, what in lines])


def measure(out):
    """Return the keys of result.json about time."""
    bench = Bench(out)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            reacted = pool.submit(bench.react)
            runs = dict(zip(FLOWS, pool.map(bench.pace, FLOWS)))
            reacted = reacted.result()
        except BaseException:
            uml.stop_all()
            pool.shutdown(cancel_futures=True)
            raise
    return {
        "pacing_error": {str(r): f["error"] for r, f in runs.items()},
        "pacing": {str(r): f for r, f in runs.items()},
        **reacted,
    }
