# SPDX-License-Identifier: GPL-2.0
"""Runs inside the simulator: records the PFC frames that arrive.

usage: frames.py NAME:NETNS:DEVICE...

CSV, on SIGTERM: time_ns (CLOCK_MONOTONIC), name, priority, quanta; a row for each priority
that a frame names. Until then, frames wait in sockets, with the time that the kernel received
them.
"""

import ctypes
import errno
import signal
import socket
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL = 3
MAC_CONTROL = 0x8808
SO_TIMESTAMPNS, SO_ATTACH_FILTER, SO_RCVBUFFORCE = 35, 26, 33
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23
BUFFER = 512 << 20      # bytes for each device; a frame takes about one KB

libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    with open(path) as netns:
        if libc.setns(netns.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), path)


def mac_control(s):
    """Accept MAC control frames only, so that other packets do not fill the socket."""
    program = struct.pack("HBBI" * 4,
                          0x28, 0, 0, 12,               # ldh [12]
                          0x15, 0, 1, MAC_CONTROL,      # jeq
                          0x06, 0, 0, 0xffff,           # ret: all of it
                          0x06, 0, 0, 0)                # ret: nothing
    memory = ctypes.create_string_buffer(program)
    s.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                 struct.pack("HP", 4, ctypes.addressof(memory)))


def listen(netns, device):
    enter("/run/netns/" + netns)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    mac_control(s)
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
    s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    s.bind((device, ETH_P_ALL))
    s.setblocking(False)
    return s


def write(name, s, offset):
    while True:
        try:
            frame, control, _, _ = s.recvmsg(64, 128)
        except BlockingIOError:
            break
        except OSError as e:
            # a cut cable, which the socket reports once; earlier frames are still there
            if e.errno != errno.ENETDOWN:
                raise
            continue
        seconds, ns = struct.unpack("qq", control[0][2])
        _, opcode, enable, *quanta = struct.unpack(">HHH8H", frame[12:34])
        if opcode != 0x0101:
            continue
        for prio in range(8):
            if enable & 1 << prio:
                print("%d,%s,%d,%d" % (seconds * 10**9 + ns - offset, name, prio, quanta[prio]))
    lost = struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
    if lost:
        raise SystemExit("SIM-FAILED frames.py: %d PFC frames of %s are not recorded" %
                         (lost, name))


def main(words):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    sockets = [(name, listen(netns, device))
               for name, netns, device in (word.split(":") for word in words)]
    signal.sigwait({signal.SIGTERM})
    offset = time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns()
    print("time_ns,port,prio,quanta")
    for name, s in sockets:
        write(name, s, offset)


main(sys.argv[1:])
