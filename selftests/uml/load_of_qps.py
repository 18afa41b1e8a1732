# SPDX-License-Identifier: GPL-2.0
"""Runs on an emulated PC with two CPUs, whose QEMU has the plugin cpu_lines.c: queue pairs of h1
write to h2's memory, on one CPU and on both; without the module, with it, while one flow is limited
and its packets wait, and while all are.

usage: load_of_qps.py MODULE BINARIES PACKETS RESULTS
"""

import os
import subprocess
import sys
import time

import netlink
from commands import PATIENCE, Wrong, inside, read, run, write
from cpu_marks import Meter

MODULE, BINARIES = sys.argv[1:3]
PACKETS = int(sys.argv[3])      # in a measurement
FLOWS = 4
COUNTERS = "/sys/class/infiniband/rxe1/ports/1/hw_counters/"
FLOW = "id=%d verb=write transport=rc src_netns=h1 src_dev=rxe1 src_addr=10.0.0.1 " \
    "dst_netns=h2 dst_dev=rxe2 dst_addr=10.0.0.2 size=65536 depth=4 mtu=1024 timeout=20 " \
    "stop_us=1000000000\n"
# As in the bench: a rate stays for some seconds what the first CNP has set it to
KNOBS = {"rpg_max_rate": 40000, "rpg_time_reset": 131071, "rpg_threshold": 31,
         "rpg_byte_reset": 0, "rpg_ai_rate": 1, "rpg_hai_rate": 1,
         "rate_to_set_on_first_cnp": 1}


def count(name):
    return int(read(COUNTERS + name))


def until(what, true):
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise Wrong(what + ": it has not come to that")
        time.sleep(0.02)


def packets(number):
    before = count("sent_pkts")
    until("%d packets" % number, lambda: count("sent_pkts") - before >= number)
    return count("sent_pkts") - before


def sent(nl):
    """Packets of limited flows, and of all, up to now."""
    paced = [netlink.number(qp.get(netlink.QP_PACED_PACKETS, b""))
             for qp in nl.dump(netlink.QP_GET)]
    return sum(paced), count("sent_pkts")


def limit(flows):
    """They are paced from now on."""
    done = int(run("ip netns exec h2 python3 %s/cnp.py %d 1" % (BINARIES, flows)))
    if done != flows:
        raise Wrong("%d flows of %d got a CNP" % (done, flows))
    until("%d limited flows" % flows, lambda: count("rp_limited_qps") == flows)


def measure(meter, limited, nl, stage, cpus):
    if not write("/sys/devices/system/cpu/cpu1/online", cpus - 1):
        raise Wrong("the second CPU cannot be switched")
    packets(PACKETS // 10)
    before = sent(nl) if nl else None
    meter.measure(stage.replace(" ", "-"), "qps", cpus, lambda: packets(PACKETS))
    if before:
        paced, every = (after - b for after, b in zip(sent(nl), before))
        limited.write("%d %f\n" % (meter.number, paced / every))
        limited.flush()


def stages(traffic):
    meter, limited, nl = Meter(sys.argv[4]), open(sys.argv[4] + ".paced", "w"), None
    for stage in ("stock", "idle", "one limited", "all limited"):
        if stage == "idle":
            run("insmod %s profile=mlx5" % MODULE)
            meter.symbols()
            with inside("h1"):
                nl = netlink.Netlink()
            for knob, value in KNOBS.items():
                run("ip netns exec h1 sh -c 'for f in /sys/class/net/eth0/ecn/roce_rp/%s; do "
                    "echo %d >$f; done'" % (knob, value))
        elif stage == "one limited":
            limit(1)
        elif stage == "all limited":
            limit(FLOWS)
        for cpus in (1, 2):
            measure(meter, limited, nl, stage, cpus)
            if traffic.poll() is not None:
                raise Wrong("the traffic has ended")


def main():
    print("1..1", flush=True)
    run(". %s/hosts >&2" % BINARIES)
    os.chdir("/tmp")
    with open("flows", "w") as f:
        f.writelines(FLOW % n for n in range(FLOWS))
    os.mkdir("traffic")
    traffic = subprocess.Popen([BINARIES + "/traffic", "-i", "100000000", "flows", "traffic"])
    try:
        until("traffic", lambda: os.path.exists("traffic/t0"))
        stages(traffic)
    finally:
        traffic.kill()      # or the guest's shell would wait for it
    print("ok 1 - queue pairs send, whatever the module does")


try:
    main()
except Wrong as e:
    print("not ok 1 - queue pairs send, whatever the module does\n# %s" % e)
