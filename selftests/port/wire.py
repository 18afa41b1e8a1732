# SPDX-License-Identifier: GPL-2.0
"""Namespaces, and sockets that send and receive raw frames."""

import collections
import contextlib
import ctypes
import errno
import json
import os
import socket
import struct
import subprocess
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL, ETH_P_IP = 3, 0x0800
SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 32, 33, 35
PFC = bytes.fromhex("0180c2000001")
US, MS, S = 10**3, 10**6, 10**9     # ns
libc = ctypes.CDLL(None, use_errno=True)

Frame = collections.namedtuple("Frame", "time data")


def sh(command, check=True):
    r = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    if check and r.returncode:
        raise RuntimeError("%s: %s" % (command, r.stdout + r.stderr))
    return r


def now():
    return time.clock_gettime_ns(time.CLOCK_REALTIME)


def mac(n):
    return bytes((2, 0, 0, 0, 0, n))


def enter(netns):
    if libc.setns(netns.fileno(), CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "entering %s" % netns.name)


@contextlib.contextmanager
def in_netns(name):
    with open("/proc/self/ns/net") as here, open("/run/netns/" + name) as there:
        enter(there)
        try:
            yield
        finally:
            enter(here)


class Socket:
    """Receives everything that comes in at a device of a namespace, with the time. When it
    sends, it ignores these errors, because the qdisc counts lost packets."""

    passed = (errno.ENOBUFS,)

    def __init__(self, netns, device):
        with in_netns(netns):
            self.s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            self.s.bind((device, ETH_P_ALL))
        for option in (SO_SNDBUFFORCE, SO_RCVBUFFORCE):
            self.s.setsockopt(socket.SOL_SOCKET, option, 512 << 20)
        self.s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.s.setblocking(False)

    def send(self, *frames):
        for f in frames:
            try:
                self.s.send(f)
            except OSError as e:
                if e.errno not in self.passed:
                    raise

    def take(self):
        """The frames that came in since the last call, without those that went out."""
        out = []
        while True:
            try:
                data, control, _, address = self.s.recvmsg(65536, 128)
            except BlockingIOError:
                return out
            except OSError as e:
                if e.errno == errno.ENETDOWN:       # it was, meanwhile
                    continue
                raise
            if address[2] != socket.PACKET_OUTGOING:
                s, ns = struct.unpack("qq", control[0][2])
                out.append(Frame(s * 10**9 + ns, data))


def packet(dst, src, prio=0, ecn=0, length=1082, n=0, ipv6=False, dscp=None):
    """An Ethernet frame with an IP packet of this priority, or DSCP; n is at its end."""
    tos = (prio << 3 if dscp is None else dscp) << 2 | ecn
    if ipv6:
        head = struct.pack(">IHBB16s16s", 6 << 28 | tos << 20, length - 54, 17, 64,
                           bytes(15) + b"\1", bytes(15) + b"\2")
    else:
        head = struct.pack(">BBHHHBBH4s4s", 0x45, tos, length - 14, 0, 0, 64, 17, 0,
                           b"\x0a\0\0\1", b"\x0a\0\0\2")
        total = sum(struct.unpack(">10H", head))
        total = (total & 0xffff) + (total >> 16)
        head = head[:10] + struct.pack(">H", ~(total + (total >> 16)) & 0xffff) + head[12:]
    head = dst + src + struct.pack(">H", 0x86dd if ipv6 else ETH_P_IP) + head
    return head + bytes(length - 4 - len(head)) + struct.pack(">I", n)


def routed(to, n, dscp=24):
    """A packet from 10.0.1.1 to 10.0.3.2, for the router with this address."""
    frame = bytearray(packet(to, mac(1), n=n, dscp=dscp))
    frame[26:34] = bytes((10, 0, 1, 1, 10, 0, 3, 2))
    frame[24:26] = b"\0\0"
    total = sum(int.from_bytes(frame[i:i + 2], "big") for i in range(14, 34, 2))
    total = (total & 0xffff) + (total >> 16)
    frame[24:26] = (~(total + (total >> 16)) & 0xffff).to_bytes(2, "big")
    return bytes(frame)


def number(frame):
    return struct.unpack(">I", frame.data[-4:])[0]


def is_data(frame):
    return frame.data[12:14] in (b"\x08\0", b"\x86\xdd")


def prio(frame):
    if frame.data[12:14] == b"\x08\0":
        return frame.data[15] >> 5
    return (frame.data[14] & 15) >> 1


def is_ce(frame):
    return (frame.data[15] if frame.data[12:14] == b"\x08\0" else frame.data[15] >> 4) & 3 == 3


def pfc(timers, enable=None, opcode=0x0101, length=60):
    """A PFC frame. timers: quanta by priority."""
    if enable is None:
        enable = sum(1 << p for p in timers)
    data = PFC + mac(99) + struct.pack(">HHH8H", 0x8808, opcode, enable,
                                       *(timers.get(p, 0) for p in range(8)))
    return (data + bytes(60))[:length]


def dcb(netns, device, words):
    """What the packaged dcb shows of a device. In iproute2 6.15, its JSON has the separator of
    the text as a third member of each APP entry."""
    shown = json.loads(sh("ip netns exec %s dcb -j %s show dev %s" % (netns, words, device)).stdout)
    if words == "app":
        shown = {kind: [e[:2] if isinstance(e, list) else e for e in entries]
                 for kind, entries in shown.items()}
    return shown


class Port:
    """A device with the qdisc."""

    def __init__(self, binaries, netns, device):
        self.tool = "ip netns exec %s %s/dcqcn" % (netns, binaries)
        self.netns, self.device = netns, device
        sh("tc -n %s qdisc replace dev %s root dcbport" % (netns, device))

    def set(self, words, check=True):
        return sh("%s port set dev %s %s" % (self.tool, self.device, words), check)

    def show(self):
        return json.loads(sh("%s -j port show dev %s" % (self.tool, self.device)).stdout)[0]

    def stat(self):
        return json.loads(sh("%s -j port stat dev %s" % (self.tool, self.device)).stdout)[0]

    def count(self, name, prio):
        return self.stat()[name % prio]


def unaccounted(stat):
    """Packets that came in and have neither left, nor are held, nor were lost; by priority."""
    return [stat["tx_prio%d_in_packets" % p] -
            sum(stat["tx_prio%d_%s" % (p, n)]
                for n in ("packets", "queue_packets", "wire_packets", "drop_limit", "drop_buffer",
                          "drop_storm", "drop_memory", "drop_reset", "drop_wred")) for p in range(8)]


def exact_sleep():
    """Sleep exactly, without the timer slack of 50 us."""
    assert not libc.prctl(29, 1, 0, 0, 0)       # PR_SET_TIMERSLACK, ns


def sleep(ns):
    time.sleep(ns / 1e9)
