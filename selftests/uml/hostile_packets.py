# SPDX-License-Identifier: GPL-2.0
"""Runs inside the simulator: h3 is a stranger that forges addresses of h1 and h2, between which
a program sends data and checks each byte (integrity.c). TAP.

usage: hostile_packets.py BIN SEED
"""

import ctypes
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time

from testbed.core import roce_packet as roce
from testbed.core.tap import Tap, comment

BIN, SEED = sys.argv[1], int(sys.argv[2])
H1, H2 = "10.0.0.1", "10.0.0.2"
ETHER = {h: bytes.fromhex("02000000000" + h[1]) for h in ("h1", "h2", "h3")}
CNP_BURST, CNPS_PER_SECOND = 10_000, 1_000_000  # of a port, Documentation/infiniband/rdma_dcqcn.rst
QUEUED = 64                                     # packets that NAPI may still have
UNKNOWN_MAX = 1024                              # QPs that a port does not know yet
READ_REQUEST, READ_RESPONSE = 0x0c, 0x10
HELD_QP, HELD_PORT = 8 << 20, 64 << 20  # bytes of memory
SLACK = 4 << 20                                 # bytes, of the kernel's caches
CE = 0x03


def in_net(host, *command):
    return subprocess.run(["ip", "netns", "exec", host, *command], check=True,
                          capture_output=True, text=True).stdout


def set_knob(host, **knobs):
    for name, value in knobs.items():
        directory = "roce_np" if name == "min_time_between_cnps" else "roce_rp"
        in_net(host, "sh", "-c", "echo %d >/sys/class/net/eth0/ecn/%s/%s" %
               (value, directory, name))


def counter(host, name):
    with open("/sys/class/infiniband/rxe_%s/ports/1/hw_counters/%s" % (host, name)) as f:
        return int(f.read())


def qpns(host):
    return [qp["lqpn"] for qp in json.loads(in_net(host, "rdma", "-j", "resource", "show", "qp",
                                                   "link", "rxe_%s/1" % host))
            if qp["type"] == "RC" and qp["state"] == "RTS"]


def flows(host):
    return {qp["lqpn"]: qp for qp in json.loads(in_net(host, BIN + "/dcqcn", "-j", "qp"))}


def wait(condition, seconds=10):
    """Whether it comes true."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def stranger():
    """A raw socket in h3's namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open("/run/netns/h3", os.O_RDONLY)
    if libc.setns(there, 0):
        raise OSError(ctypes.get_errno(), "setns")
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind(("eth0", 0))
    if libc.setns(home, 0):
        raise OSError(ctypes.get_errno(), "setns")
    return s


def frame(to, packet):
    return ETHER[to] + ETHER["h3"] + b"\x08\x00" + packet


def cnp(to, qpn):
    src, dst = (H2, H1) if to == "h1" else (H1, H2)
    return frame(to, roce.roce(src, dst, roce.bth(roce.CNP, qpn, becn=1) + bytes(16), tos=0xc2))


class Traffic:
    """Messages from h1 to h2, with each byte checked. Fails unless all of them arrive."""

    def __init__(self, qps=1):
        old = qpns("h1")
        self.process = subprocess.Popen(
            [BIN + "/integrity", "-s", str(SEED), "-n", "0", "-m", "16384", "-q", str(qps),
             "rxe_h1", H1, "rxe_h2", H2], stdout=subprocess.PIPE, text=True)
        wait(lambda: len(qpns("h1")) == len(old) + qps)
        self.qpns = [n for n in qpns("h1") if n not in old]

    def stop(self):
        """The number of messages; 0 if one of them failed."""
        self.process.send_signal(signal.SIGTERM)
        out, _ = self.process.communicate()
        if self.process.returncode:
            return 0
        figures = json.loads(out)
        return sum(figures[k] for k in ("write", "send", "read", "fetch_add"))


def ce_flood(s):
    """To one QP, which may answer each mark, so that the port's bound is tested."""
    set_knob("h2", min_time_between_cnps=0)
    traffic = Traffic()
    to = qpns("h2")[0]
    # rxe ignores responses without a request
    packet = frame("h2", roce.roce(H1, H2, roce.bth(READ_RESPONSE, to) + bytes(20), tos=CE))
    s.send(packet)
    wait(lambda: counter("h2", "np_cnp_sent"))
    time.sleep(0.2)
    sent, refused = counter("h2", "np_cnp_sent"), counter("h2", "np_cnp_errors")
    marked = counter("h2", "np_ecn_marked_roce_packets")
    count, began = 20000, time.monotonic()
    for _ in range(count):
        s.send(packet)
    took = time.monotonic() - began     # by then, all but those that wait in a queue are answered
    wait(lambda: counter("h2", "np_ecn_marked_roce_packets") >= marked + count)
    time.sleep(0.1)
    sent, refused = counter("h2", "np_cnp_sent") - sent, counter("h2", "np_cnp_errors") - refused
    comment("%d marks in %.1f ms: %d CNPs, %d refused" % (count, took * 1e3, sent, refused))
    set_knob("h2", min_time_between_cnps=4000)
    good = traffic.stop()
    return (CNP_BURST <= sent <= CNP_BURST + took * CNPS_PER_SECOND + QUEUED and
            sent + refused == count and good)


def cnp_flood(s):
    """Valid CNPs, for half a second: the flow stays at its floor, and recovers soon."""
    set_knob("h1", rpg_min_rate=5, rate_reduce_monitor_period=1)
    traffic = Traffic()
    qpn, = traffic.qpns
    packet, rates, handled = cnp("h1", qpn), [], counter("h1", "rp_cnp_handled")
    for _ in range(50):
        for _ in range(100):
            s.send(packet)
        time.sleep(0.01)
        rates.append(flows("h1")[qpn]["rate"])
    handled = counter("h1", "rp_cnp_handled") - handled
    set_knob("h1", rpg_time_reset=300, rpg_ai_rate=100)
    recovered = wait(lambda: qpn not in flows("h1") or flows("h1")[qpn]["rate"] >= 100_000_000)
    comment("%d CNPs handled, slowest %d bit/s" % (handled, min(rates)))
    set_knob("h1", rpg_min_rate=1, rpg_time_reset=60000, rpg_ai_rate=1,
             rate_reduce_monitor_period=4000)
    return traffic.stop() and handled >= 4000 and min(rates) == 5_000_000 and recovered


def unknown_flood(s):
    """CNPs to QPs that do not exist, a hundred thousand per second. A QP that meets congestion
    meanwhile must be found soon."""
    set_knob("h1", rpg_min_rate=1)
    errors, r = counter("h1", "qp_errors"), random.Random(SEED)
    traffic = Traffic()
    qpn, = traffic.qpns
    good, known = cnp("h1", qpn), None

    def flood(*others):
        for _ in range(20):
            for _ in range(100):
                s.send(cnp("h1", r.randrange(1 << 20, 1 << 24)))
            for packet in others:
                s.send(packet)
            time.sleep(0.001)

    while counter("h1", "qp_errors") == errors:
        flood()
    began = time.monotonic()
    while time.monotonic() - began < 0.5 and known is None:
        flood(good)
        if qpn in flows("h1"):
            known = time.monotonic() - began
    refused = counter("h1", "qp_errors") - errors
    comment("%d refused, the good one known after %s s" % (refused, known))
    return traffic.stop() and known is not None and refused > 0


def storm(s):
    """Packets of all sorts, good and bad, IPv4 and IPv6, to both hosts. They come from the
    stranger's address: with the peer's they could break rxe's QPs without us."""
    r, traffic = random.Random(SEED), Traffic(2)
    count, ignored = 20000, counter("h1", "rp_cnp_ignored")
    for i in range(count):
        to = ("h1", "h2")[i & 1]
        if r.randrange(4):
            p, kind = roce.any_packet(r, "10.0.0.3", "10.0.0." + to[1], 64), b"\x08\x00"
        else:
            p, kind = roce.any_packet(r, "fd00::3", "fd00::" + to[1], 64), b"\x86\xdd"
        s.send(ETHER[to] + ETHER["h3"] + kind + p)
        if i % 100 == 99:
            time.sleep(0.001)
    comment("%d packets; ignored %d and %d" %
            (count, counter("h1", "rp_cnp_ignored"), counter("h2", "rp_cnp_ignored")))
    return traffic.stop() and counter("h1", "rp_cnp_ignored") - ignored > count / 20


def memory_free():
    """Free memory in bytes. In simulated time, nothing else allocates memory."""
    with open("/proc/meminfo") as f:
        return int(re.search(r"MemFree: +(\d+)", f.read())[1]) << 10


class Idle:
    """Idle QPs that connect h1 and h2; .qpns are those of h2."""

    def __init__(self, qps):
        self.process = subprocess.Popen([BIN + "/idle", str(qps), "rxe_h1", H1, "rxe_h2", H2],
                                        stdout=subprocess.PIPE, text=True)
        self.qpns = [int(line) for line in iter(self.process.stdout.readline, "ready\n")]

    def stop(self):
        self.process.kill()
        self.process.wait()


def read_request(qpn, psn):
    """A READ of 0 bytes needs no memory key; its response is a frame of 62 bytes."""
    return frame("h2", roce.roce(H1, H2, roce.bth(READ_REQUEST, qpn, psn=psn) + bytes(16)))


def held_by_reads(s, qps, requests, bound):
    """A peer slows QPs of h2 down, then requests many tiny READ responses from each. The memory
    that the port holds must not exceed the documented bound."""
    set_knob("h2", rate_to_set_on_first_cnp=1, rpg_min_rate=1, rpg_time_reset=131071)
    idle, dropped = Idle(qps), counter("h2", "rp_drop_bound_packets")

    def limited():
        """Send CNPs until all are limited: after the storm, h2 may have recorded some of the
        QPs as unknown."""
        for qpn in idle.qpns:
            s.send(cnp("h2", qpn))
        return counter("h2", "rp_limited_qps") == qps

    if not (wait(lambda: not counter("h2", "rp_limited_qps")) and wait(limited)):
        comment("%d QPs are not limited" % qps)
        return False
    before, sent = memory_free(), 0
    for psn in range(requests):
        for qpn in idle.qpns:
            s.send(read_request(qpn, psn))
            sent += 1
            if sent % 1000 == 0:
                time.sleep(0.0002)
    time.sleep(0.001)
    counted, used = counter("h2", "rp_held_bytes"), before - memory_free()
    dropped = counter("h2", "rp_drop_bound_packets") - dropped
    idle.stop()
    emptied = wait(lambda: not counter("h2", "rp_held_bytes"))
    set_knob("h2", rate_to_set_on_first_cnp=0, rpg_time_reset=60000)
    comment("%d QPs, %d requests: %d bytes of memory, rp_held_bytes %d, %d responses dropped" %
            (qps, sent, used, counted, dropped))
    return (bound / 2 <= counted <= bound and abs(used - counted) <= SLACK + counted // 10 and
            dropped > 0 and emptied)


def datagram_of_another_priority(s):
    """A UD QP sends one datagram of a priority without congestion control. The datagrams before
    and after it have to stay limited."""
    set_knob("h1", rate_to_set_on_first_cnp=10, rpg_min_rate=10, rpg_time_reset=131071)
    in_net("h1", "sh", "-c", "echo 0 >/sys/class/net/eth0/ecn/roce_rp/enable/7")
    process = subprocess.Popen([BIN + "/datagrams", "rxe_h1", H1, "rxe_h2", H2],
                               stdout=subprocess.PIPE, text=True)
    qpn = int(process.stdout.readline())
    alone = wait(lambda: not counter("h1", "rp_limited_qps"))
    s.send(cnp("h1", qpn))
    limited = wait(lambda: counter("h1", "rp_limited_qps") == 1)
    time.sleep(0.05)
    held = counter("h1", "rp_held_packets")
    process.send_signal(signal.SIGUSR1)
    time.sleep(0.05)
    still, rate = counter("h1", "rp_limited_qps") == 1, flows("h1").get(qpn, {}).get("rate", 0)
    held = counter("h1", "rp_held_packets") - held
    alive = process.poll() is None
    process.kill()
    process.wait()
    in_net("h1", "sh", "-c", "echo 1 >/sys/class/net/eth0/ecn/roce_rp/enable/7")
    set_knob("h1", rate_to_set_on_first_cnp=0, rpg_min_rate=1, rpg_time_reset=60000)
    comment("limited %s, then %s at %d bit/s; %d packets held meanwhile" %
            (limited, still, rate, held))
    return alive and alone and limited and still and 0 < rate < 100_000_000 and held > 0


def reads_of_a_qp(s):
    return held_by_reads(s, 1, 20000, HELD_QP)


def reads_of_a_port(s):
    return held_by_reads(s, 24, 6000, HELD_PORT)


def slow_core(ms):
    """Delay the RDMA core's description of each QP; return whether the delay was accepted."""
    try:
        with open("/sys/kernel/debug/rdma_dcqcn/delay_resolve_ms", "w") as f:
            f.write(str(ms))
    except OSError:
        return False
    return True


def late_answer(s):
    traffic = Traffic()
    qpn, = traffic.qpns
    possible = slow_core(500) and not slow_core(1001)
    handled = counter("h1", "rp_cnp_handled")
    s.send(cnp("h1", qpn))
    time.sleep(0.2)
    delayed = (counter("h1", "rp_cnp_handled") == handled and
               wait(lambda: counter("h1", "rp_cnp_handled") == handled + 1) and
               qpn in flows("h1"))
    slow_core(0)
    comment("possible %s, delayed %s" % (possible, delayed))
    return traffic.stop() and possible and delayed


def context(host):
    """The host's congestion control context, if it is ready."""
    return [c for c in json.loads(in_net(host, BIN + "/dcqcn", "-j", "ccc"))
            if c["state"] == "ready"]


def forged_feedback():
    """In the peer's name; all but what can be known is a guess."""
    return frame("h1", roce.roce(H2, H1, roce.bth(roce.FEEDBACK, 0) +
                                 struct.pack(">4B", 1, 3, 0, 1) + random.randbytes(36), tos=0xc2))


def contexts(s):
    """Feedback that says anything, and then data that nobody sent, which the peer counts and
    tells: the context ends, DCQCN takes over, and a new one begins."""
    for host in ("h1", "h2"):
        set_knob(host, ccc_algorithms=3, rpg_max_rate=10000)
    traffic = Traffic()
    began = wait(lambda: context("h1"))
    ignored, count = counter("h1", "rp_feedback_ignored"), 20000
    for _ in range(count):
        s.send(forged_feedback())
    unmoved = (wait(lambda: counter("h1", "rp_feedback_ignored") >= ignored + count) and
               context("h1") and not counter("h1", "rp_window_timeouts"))
    # the bits beside the QP number: it understands feedback, and wants some
    data = frame("h2", roce.roce(H1, H2, roce.bth(READ_RESPONSE, qpns("h2")[0] | 0x30 << 24) +
                                 bytes(1000)))
    told = counter("h2", "np_feedback_sent")
    for _ in range(count):
        s.send(data)
    told = counter("h2", "np_feedback_sent") - told
    timeouts = counter("h1", "rp_window_timeouts")
    again = wait(lambda: context("h1"))
    heard = counter("h1", "rp_feedback_handled")
    again = again and wait(lambda: counter("h1", "rp_feedback_handled") > heard + 100)
    good = traffic.stop()
    comment("ready %s, unmoved %s, %d feedback for %d forged packets, %d timeouts, ready again %s, "
            "%d messages" % (bool(began), bool(unmoved), told, count, timeouts, again, good))
    for host in ("h1", "h2"):
        set_knob(host, ccc_algorithms=0, rpg_max_rate=0)
    return began and unmoved and told and again and good


TESTS = (
    (late_answer, "a CNP waits for a slow RDMA core, and takes effect"),
    (ce_flood, "a flood of CE marks causes no more CNPs than a port may send"),
    (cnp_flood, "a flood of valid CNPs slows a flow to its floor and no further"),
    (unknown_flood, "CNPs to unknown QPs do not keep the port from learning about others"),
    (storm, "packets of all sorts do no harm"),
    (datagram_of_another_priority,
     "a datagram of a priority without congestion control does not end the limit"),
    (reads_of_a_qp, "responses to tiny READs take no more memory than a QP may hold"),
    (reads_of_a_port, "responses to tiny READs take no more memory than a port may hold"),
    (contexts, "forged feedback, and forged data, neither end a flow nor its context for ever"),
)


# Slow enough for the tests to see changes between two looks
KNOBS = dict(dce_tcp_g=960, dce_tcp_rtt=40000, rate_reduce_monitor_period=4000,
             rpg_min_dec_fac=50, rpg_time_reset=60000, rpg_byte_reset=300000, rpg_threshold=1,
             rpg_ai_rate=1, rpg_hai_rate=1, min_time_between_cnps=4000)


def main():
    s = stranger()
    for host in ("h1", "h2"):
        set_knob(host, **KNOBS)
    tap = Tap()
    for test, what in TESTS:
        tap.result(test(s), "hostile: " + what)
    return tap.done()


sys.exit(main())
