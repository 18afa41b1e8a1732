# SPDX-License-Identifier: GPL-2.0
"""Runs inside the simulator, on a host: keeps a priority paused, like a broken NIC.

usage: storm.py DEVICE PRIO FROM_NS TO_NS RATE_BIT

Times are after t0, which traffic writes to the file of this name. The frames bypass the
device's queue. Each asks for the longest pause, and the next one comes after half of that time.
"""

import ctypes
import os
import socket
import struct
import sys
import time

MAC_CONTROL, PFC = 0x8808, 0x0101
ADDRESS = bytes.fromhex("0180c2000001")
LONGEST = 0xffff                # quanta
QUANTUM = 512                   # bit times
SOL_PACKET, PACKET_QDISC_BYPASS = 263, 20
PR_SET_TIMERSLACK = 29


def frame(source, prio):
    quanta = [LONGEST if p == prio else 0 for p in range(8)]
    return (ADDRESS + source + struct.pack(">HHH8H", MAC_CONTROL, PFC, 1 << prio, *quanta)
            ).ljust(60, b"\0")


def main(device, *numbers):
    prio, begin, end, rate = map(int, numbers)
    # By default a sleep may last 50 us longer
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    s.bind((device, 0))
    s.setsockopt(SOL_PACKET, PACKET_QDISC_BYPASS, 1)
    data = frame(s.getsockname()[4], prio)
    while not os.path.exists("t0"):
        time.sleep(0.001)
    with open("t0") as f:
        t0 = round(float(f.read()) * 1e9)
    at = begin
    while at < end:
        time.sleep(max(t0 + at - time.monotonic_ns(), 0) / 1e9)
        s.send(data)
        at += LONGEST * QUANTUM * 10**9 // rate // 2


main(*sys.argv[1:])
