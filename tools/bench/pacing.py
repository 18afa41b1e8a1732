# SPDX-License-Identifier: GPL-2.0
"""How precisely a limited flow keeps its rate, in the simulator."""

import concurrent.futures
import json
import os
import subprocess

import uml
import world
from kernel import Kernel
from progress import LabError, say

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SIM = os.path.join(TOP, "tools", "sim")
SELFTESTS = os.path.join(TOP, "selftests", "rdma")

LINE = 200000       # Mb/s
PACKETS = 1000      # to look at, at least: at 1 Mb/s in 2.7 s, and after 4 s the rate rises

# Mb/s, then transport, MTU and message size. At 1 Mb/s even rxe's 65 packets
# of 256 bytes just leave within the time that a request may be held; below,
# the module raises the rate.
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

SCRIPT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t devtmpfs dev /dev
mount -t hostfs -o %(out)s hostfs /mnt
ln -sf /proc/self/fd /dev/fd
run() {
set -e
sleep 0.03
%(insmod)s
. %(here)s/guest/hosts
ip netns exec h1 tc qdisc add dev eth0 root %(tbf)s limit 1000000000
for knob in rpg_max_rate=%(line)d rpg_time_reset=131071 rpg_threshold=31 rpg_byte_reset=0 \
		rate_to_set_on_first_cnp=%(rate)d; do
	ip netns exec h1 sh -c "echo ${knob#*=} >/sys/class/net/eth0/ecn/roce_rp/${knob%%=*}"
done
cd /run
%(bin)s/traffic -i 1000000 /mnt/flows out &
until [ -e out/t0 ]; do
	sleep 0.001
done
traffic=$!
export PYTHONPATH=%(selftests)s
# It starts to send 100 ms after t0
ip netns exec h2 python3 %(here)s/guest/cnp.py 1 1
ip netns exec h2 python3 %(here)s/guest/departures.py %(packets)d >departures
kill -INT $traffic
wait
cp departures out/flows.json /mnt/
echo SIM-DONE
}
(run) 2>&1
dmesg >/mnt/dmesg
busybox poweroff -f
"""


def _flow(transport, mtu, size):
    return ("id=0 verb=write transport=%s src_netns=h1 src_dev=rxe1 src_addr=10.0.0.1 "
            "dst_netns=h2 dst_dev=rxe2 dst_addr=10.0.0.2 size=%d depth=4 mtu=%d timeout=18 "
            "start_us=100000 stop_us=60000000\n" % (transport, size, mtu))


def figures(rate, packets):
    """Of (time in ns, bytes): rate error, largest burst and gap.

    The burst is how many bytes a flow was ever ahead of its rate, its longest
    packet apart; the gap is the longest time between two packets.
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
    real = (sent - packets[-1][1]) * 8000 / span      # Mb/s: the last has not passed yet
    longest = max(size for _, size in packets)
    return {
        "error": round(real / rate - 1, 6),
        "burst_packets": round(burst / longest, 2),
        "gap_us": max(b[0] - a[0] for a, b in zip(packets, packets[1:])) / 1000,
        "ideal_gap_us": round(longest * 8 / rate, 3),
        "packets": len(packets),
    }


class Bench:
    def __init__(self, out):
        self.kernel, self.out = Kernel().ensure(), out
        self.bin = os.path.join(out, "bin")
        subprocess.run(["make", "-s", "-C", SIM, "OUT=" + self.bin], check=True)
        self.kernel.module(TOP, ("Kbuild", "include", "drivers"), os.path.join(out, "uml"))

    def pace(self, rate):
        out = os.path.join(self.out, "pacing", str(rate))
        os.makedirs(out, exist_ok=True)
        modules = self.kernel.modules("net/ipv4/udp_tunnel", "net/ipv6/ip6_udp_tunnel",
                                      "drivers/infiniband/sw/rxe/rdma_rxe")
        modules.append(os.path.join(self.out, "uml/drivers/infiniband/sw/dcqcn/rdma_dcqcn.ko"))
        with open(os.path.join(out, "flows"), "w") as f:
            f.write(_flow(*FLOWS[rate]))
        init = os.path.join(out, "init")
        with open(init, "w") as f:
            f.write(SCRIPT % {
                "out": out, "here": HERE, "bin": self.bin, "selftests": SELFTESTS,
                "insmod": "\n".join("insmod %s" % m for m in modules),
                "tbf": world.tbf(LINE * 10**6), "line": LINE, "rate": rate,
                # 10 ms at least
                "packets": max(PACKETS, rate * 10**4 // (8 * FLOWS[rate][1])),
            })
        os.chmod(init, 0o755)
        uml.boot(self.kernel, os.path.join(self.bin, "seed.so"), init, out)
        with open(os.path.join(out, "departures")) as f:
            packets = [tuple(map(int, line.split())) for line in f]
        with open(os.path.join(out, "flows.json")) as f:
            done, = json.load(f)["flows"]
        if done["failed"]:
            raise LabError("the flow of %d Mb/s failed: %s" % (rate, done["errors"]))
        say("bench: pacing at %d Mb/s" % rate)
        return figures(rate, packets)


def measure(out):
    """Returns the keys of result.json about time."""
    bench = Bench(out)
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        try:
            runs = dict(zip(FLOWS, pool.map(bench.pace, FLOWS)))
        except BaseException:
            uml.stop_all()
            pool.shutdown(cancel_futures=True)
            raise
    return {
        "pacing_error": {str(r): f["error"] for r, f in runs.items()},
        "pacing": {str(r): f for r, f in runs.items()},
    }
