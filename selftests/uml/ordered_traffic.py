# SPDX-License-Identifier: GPL-2.0
"""Runs inside the PC: h1 and h2 send, read and do atomics in each other's memory on QPs that
are limited, recover and are limited again all the time. TAP.

usage: ordered_traffic.py MODULE BIN SECONDS
"""

import ctypes
import fcntl
import socket
import struct
import sys
import time

from commands import Wrong, inside, read, run, start, stop, write

SIOCETHTOOL, ETHTOOL_STSO, ETHTOOL_SGRO = 0x8946, 0x1f, 0x2c
DEVICES = (("h1", ("eth0",)), ("h2", ("eth0",)), ("s1", ("h1", "h2")))
FILTERS = 300       # for each packet to pass on its way out: a batch takes milliseconds
QPS = 2             # more would keep both CPUs busy with batches
RETRIES = ("out_of_seq_request", "rcvd_seq_err", "duplicate_request", "completer_retry_err",
           "retry_exceeded_err")
OURS = ("rp_cnp_handled", "rp_held_packets", "rp_drop_stale_packets", "rp_drop_bound_packets")
# Limited to a tenth of the line, and back at it 20 ms later
KNOBS = (("rpg_max_rate", 40), ("rate_to_set_on_first_cnp", 4), ("rpg_min_rate", 4),
         ("rpg_time_reset", 5000), ("rpg_threshold", 1), ("rpg_ai_rate", 10),
         ("rpg_hai_rate", 20))


def counters(host, names):
    base = "/sys/class/infiniband/rxe_%s/ports/1/hw_counters/" % host
    found = {name: read(base + name) for name in names}
    if None in found.values():
        raise Wrong("%s lacks a counter: %s" % (host, found))
    return {name: int(value) for name, value in found.items()}


def settings(namespace, files):
    """Write files below a network namespace's /sys."""
    with inside(namespace):
        run("mount -t sysfs sysfs /srv")
        for path, value in files:
            if not write("/srv/class/net/" + path, value):
                raise Wrong("%s: %s refuses %s" % (namespace, path, value))
        run("umount /srv")


def one_queue():
    """Each CPU has a backlog of its own, so two of them reorder packets by themselves. A veth
    with GRO has a queue instead, if the sender's veth does not segment."""
    for namespace, devices in DEVICES:
        with inside(namespace), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            for device in devices:
                for command, value in ((ETHTOOL_STSO, 0), (ETHTOOL_SGRO, 1)):
                    data = ctypes.create_string_buffer(struct.pack("=II", command, value))
                    fcntl.ioctl(s, SIOCETHTOOL, struct.pack("=16sQ16x", device.encode(),
                                                            ctypes.addressof(data)))


def receive_in_threads():
    """Otherwise the CPU that sends a batch also receives it, after the last packet, and few
    requests arrive meanwhile."""
    for namespace, devices in DEVICES:
        settings(namespace, [(device + "/threaded", 1) for device in devices])


def slow_way_out(host):
    """None of the filters matches anything."""
    run("tc -n %s qdisc add dev eth0 clsact" % host)
    with open("/tmp/filters", "w") as f:
        f.write("filter add dev eth0 egress protocol ip prio 1 u32 "
                "match ip protocol 1 0xff action ok\n" * FILTERS)
    run("tc -n %s -batch /tmp/filters" % host)


def work(module, programs, seconds):
    """Run the traffic; return its figures and both hosts' counters."""
    if module != "none":
        run("insmod " + module)
        for host in ("h1", "h2"):
            settings(host, [("eth0/ecn/roce_rp/" + name, value) for name, value in KNOBS])
    one_queue()
    receive_in_threads()
    for host in ("h1", "h2"):
        slow_way_out(host)
    job = start(programs + "/mixed", "-q", str(QPS), "rxe_h1", "10.0.0.1", "rxe_h2", "10.0.0.2")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and job.poll() is None:
        time.sleep(0.2)
    names = RETRIES + (() if module == "none" else OURS)
    return stop(job), {host: counters(host, names) for host in ("h1", "h2")}


def main():
    module, programs, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    try:
        figures, hosts = work(module, programs, seconds)
    except Wrong as e:
        print("SIM-FAILED %s" % e, flush=True)
        sys.exit(1)
    print("1..3")
    print("\n".join("# %s" % (f,) for f in [figures] + sorted(hosts.items())))
    mixed = all(figures[op] > 0 for op in ("send", "read", "fetch_add"))
    limited = module == "none" or all(c["rp_cnp_handled"] and c["rp_held_packets"]
                                      for c in hosts.values())
    bad = ["%s: %s %d" % (h, name, c[name]) for h, c in sorted(hosts.items())
           for name in RETRIES if c[name]]
    for n, (ok, what) in enumerate((
            (mixed, "the hosts sent, read and did atomics"),
            (limited, "both hosts were limited and held packets"),
            (not bad, "no packet arrived out of order, and none was sent again")), 1):
        print("%sok %d - order: %s" % ("" if ok else "not ", n, what))
    print("\n".join("# " + line for line in bad), flush=True)


main()
