# SPDX-License-Identifier: GPL-2.0
"""Runs on an emulated PC with two CPUs, whose QEMU has the plugin cpu_lines.c: packets that come in
at 64 devices on a bridge, and leave by them, without ports and with. pktgen gives them to the
bridge, on each CPU.

usage: load_of_ports.py MODULE BINARIES PACKETS RESULTS
"""

import collections
import glob
import json
import re
import sys
import time

from commands import read, run
from cpu_marks import Meter

MODULE, BINARIES = sys.argv[1:3]
PACKETS = int(sys.argv[3])      # of a CPU, in a measurement
DEVICES = 64
FRAME, TOS = 1082, 0x62         # MTU 1024; priority 3, ECT(0)
HEADROOM = 3 * PACKETS * FRAME  # bytes, of p0: pktgen obeys no pause, and a CPU may stand still
PATIENCE = 300                  # s

# Devices where packets come in on each CPU, and how they find the one where they leave
Load = collections.namedtuple("Load", "name devices way")
LOADS = (Load("own", (range(0, 32), range(32, 64)), lambda n: n ^ 1),
         Load("to-one", (range(1, 32), range(32, 64)), lambda n: 0),
         Load("from-one", ((0,), (0,)), lambda n: 1))


def mac(n):
    return "02:00:00:00:01:%02x" % n


def pg(name, *lines):
    for line in lines:
        with open("/proc/net/pktgen/" + name, "w") as f:
            f.write(line + "\n")


def state(name):
    with open("/proc/net/pktgen/" + name) as f:
        return f.read()


def prepare(load, cpus, packets):
    """Give pktgen's threads their devices; returns their names."""
    names = []
    for cpu in range(2):
        pg("kpktgend_%d" % cpu, "rem_device_all")
    while any("@" in state("kpktgend_%d" % cpu) for cpu in range(2)):
        time.sleep(0.05)        # a thread removes its devices some time later
    for cpu in cpus:
        for n in load.devices[cpu]:
            names.append("p%d@%d" % (n, cpu))
            pg("kpktgend_%d" % cpu, "add_device " + names[-1])
            # a delay that never is one lets pktgen take the devices in turn
            pg(names[-1], "pkt_size %d" % FRAME, "clone_skb 0", "xmit_mode netif_receive", "delay 1",
               "count %d" % (packets // len(load.devices[cpu])), "src_mac 02:00:00:00:00:01",
               "dst_mac " + mac(load.way(n)), "dst 10.0.0.2", "src_min 10.0.0.1",
               "src_max 10.0.0.1", "udp_dst_min 4791", "udp_dst_max 4791", "tos %02x" % TOS)
    return names


def left():
    """Packets that have left, by all devices."""
    return sum(int(read(path)) for path in glob.glob("/sys/class/net/p*/statistics/tx_packets"))


def queues():
    """Packets that wait in all devices, and those that were dropped there."""
    qdiscs = [q for q in json.loads(run("tc -j -s qdisc show")) if q["dev"].startswith("p")]
    return [sum(q[what] for q in qdiscs) for what in ("qlen", "drops")]


def start(names):
    """Let pktgen send. It may return before its threads have begun, if they get no CPU."""
    pg("pgctrl", "start")
    for _ in range(PATIENCE):
        if all("Result: OK" in state(n) for n in names):
            return
        time.sleep(1)
    raise RuntimeError("pktgen has not ended: " + state(names[0]))


def measure(meter, stage, load, cpus):
    start(prepare(load, cpus, PACKETS // 20))       # warm up
    names = prepare(load, cpus, PACKETS)
    before = left()

    def work():
        start(names)
        return sum(int(re.search(r"Result: OK: .*? usec, (\d+) ", state(n))[1]) for n in names)

    sent = meter.measure(stage, load.name, len(cpus), work)
    # the CPU that sends for both may still be at work; pauses may have left as well
    for _ in range(PATIENCE):
        out, (wait, lost) = left() - before, queues()
        if out >= sent and not wait:
            break
        time.sleep(1)
    if out < sent or wait or lost or not sent:
        raise RuntimeError("%d of %d packets left, %d wait, %d were dropped" % (out, sent, wait, lost))


def devices():
    """Devices that take each packet at once, on a bridge."""
    lines = ["link add br0 type bridge stp_state 0 mcast_snooping 0", "link set br0 up"]
    for n in range(DEVICES):
        lines += ["link add p%d mtu 4200 type dummy" % n, "link set p%d master br0 up" % n]
    run("modprobe -a pktgen dummy bridge && echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 && "
       "ip -batch - <<'END'\n%s\nEND" % "\n".join(lines))
    run("bridge -batch - <<'END'\n%s\nEND" % "\n".join(
        "fdb replace %s dev p%d master static" % (mac(n), n) for n in range(DEVICES)))


def ports():
    run("insmod %s && %s/dcqcn port switch new s size %d && tc -batch - <<'END'\n%s\nEND" % (
        MODULE, BINARIES, 2 * HEADROOM,
        "\n".join("qdisc add dev p%d root dcbport" % n for n in range(DEVICES))))
    for n in range(DEVICES):
        run("%s/dcqcn port set dev p%d switch s pfc 3 xoff 60KB xon 40KB headroom %d" % (
            BINARIES, n, 20000 if n else HEADROOM))


def main():
    print("1..1", flush=True)
    devices()
    meter = Meter(sys.argv[4])
    for stage in ("bare", "ports"):
        if stage == "ports":
            ports()
            meter.symbols()
        for load in LOADS:
            for cpus in ((0,), (0, 1)):
                measure(meter, stage, load, cpus)
    print("ok 1 - every packet leaves")


main()
