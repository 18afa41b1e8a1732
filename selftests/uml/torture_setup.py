# SPDX-License-Identifier: GPL-2.0
"""The network for torture_operations.py, and its settings."""

import json
import os
import re
import subprocess

from test_kernel import HERE, TestNetwork, batches

# Slow ports: a debug kernel on a busy machine must have time for more than packets. On an emulated
# PC, 12 Mb/s of them take both CPUs, and removing a device took three times as long as at 2 Mb/s.
RATE, PC_RATE = "12mbit", "2mbit"
PORT = "rate %s prio 0 limit 300KB kmin 8000 kmax 50KB pmax 30%%"

# Collect the module's gcov counts, whatever path it was loaded from
SAVE_COUNTS = ["mkdir /mnt/gcov", """find /sys/kernel/debug/gcov -name '*.gcda' | while read f; do
case $f in */module/drivers/infiniband/*) cp $f /mnt/gcov/ ;; esac
done"""]


class Network(TestNetwork):
    """The switch has ports of dcbport, which can stamp."""

    def __init__(self, binaries, rate):
        super().__init__(5, "200mbit", rate, plain=("h4", "h5"))
        self.binaries, self.rate = binaries, rate

    def port(self, name):
        return ["tc -n s1 qdisc add dev %s root dcbport" % name,
                "ip netns exec s1 %s/dcqcn port set dev %s %s" %
                (self.binaries, name, PORT % self.rate)]


def text_size(module):
    sections = subprocess.run(["size", "-A", module], check=True, capture_output=True, text=True)
    return int(re.search(r"^\.text +(\d+)", sections.stdout, re.M)[1])


def torture(kernel, out, seed, seconds, rate=RATE):
    """Raises LabError unless all went well; returns the figures."""
    net = Network(kernel.bin, rate)
    settings = os.path.join(kernel.built, "settings.json")
    with open(settings, "w") as f:
        json.dump({"seed": seed, "seconds": seconds,
                   "module": kernel.dcqcn, "text": text_size(kernel.dcqcn),
                   "bin": kernel.bin, "large": kernel.large,
                   "link": {h: batches(net.link(h)) for h in net.hosts},
                   "restore": {h: batches(net.neighbours(h)) for h in net.hosts}}, f)
    lines = ["insmod " + kernel.dcbport] + net.commands() + [
        kernel.make_large,
        "python3 %s/torture_operations.py %s /mnt/result.json" % (HERE, settings)]
    if kernel.coverage:
        lines += SAVE_COUNTS
    kernel.run(lines, out)
    with open(os.path.join(out, "result.json")) as f:
        return {"seed": seed, "kernel": kernel.kernel.release, **json.load(f)}


def describe(result):
    return "\n".join((
        "%(rounds)d rounds, %(operations)d operations, %(cnps_handled)d CNPs handled, "
        "%(packets_held)d packets held, %(feedback_handled)d feedback handled, "
        "%(pages_scanned)d pages looked at for memory" % result,
        "%(device_changes)d changes of other devices, %(connections)d TCP connections" % result,
        "churn: %s" % result["churn"],
        "the unrelated QP: %s" % result["witness"]))
