#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests the lab's reading of captures, on one made here. Silent on success."""

import struct
import sys
import tempfile

from testbed.vm.capture import Capture

SRC, DST = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 3))
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, RESPONSE, ACK, CNP, UD_SEND = 6, 7, 8, 0x0e, 0x11, 0x81, 0x64
UC = 0x20
HEADERS = {WRITE_FIRST: 16, UC | WRITE_FIRST: 16, ACK: 4, UD_SEND: 8, CNP: 16}


def frame(opcode, qpn, psn, payload=1000, ecn=2, v6=False, pad=0):
    bth = struct.pack(">BBH", opcode, pad << 4, 0xffff) + struct.pack(">II", qpn, psn)
    udp_length = 8 + 12 + HEADERS.get(opcode, 0) + payload + pad + 4
    udp = struct.pack(">HHHH", 0xc000, 4791, udp_length, 0)
    if v6:
        ip = struct.pack(">IHBB", 6 << 28 | ecn << 20, udp_length, 17, 64) + SRC * 4 + DST * 4
        kind = 0x86dd
    else:
        ip = struct.pack(">BBHHHBBH", 0x45, ecn, 20 + udp_length, 0, 0, 64, 17, 0) + SRC + DST
        kind = 0x0800
    return (bytes(12) + struct.pack(">H", kind) + ip + udp + bth + bytes(40))[:96]


def read(*frames):
    with tempfile.NamedTemporaryFile() as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 96, 1))
        for i, data in enumerate(frames):
            f.write(struct.pack("<IIII", 100 + i, 500000, len(data), 1100) + data)
        f.write(b"torn")
        f.flush()
        return Capture(f.name, 100)


def taken(capture):
    qp, = capture.qps.values()
    return [int(t) for t, _ in qp.taken]


def expect(what, got, want):
    if got != want:
        sys.exit("%s: %r instead of %r" % (what, got, want))


def rc(*psns):
    return taken(read(*(frame(WRITE_MIDDLE, 17, p) for p in psns)))


expect("in order", rc(5, 6, 7), [0, 1, 2])
expect("go-back-N", rc(5, 6, 8, 9, 7, 8, 9, 10), [0, 1, 4, 5, 6, 7])
expect("duplicates", rc(5, 6, 5, 6, 7), [0, 1, 4])
expect("PSNs wrap", rc(0xfffffe, 0xffffff, 0, 0xffffff, 1), [0, 1, 2, 4])
expect("a gap of the capture's own", rc(5, 20000, 20001), [0, 1, 2])
expect("READ responses", taken(read(*(frame(RESPONSE, 17, p) for p in (1, 2, 4, 3, 4)))),
       [0, 1, 3, 4])
c = read(frame(UC | WRITE_FIRST, 17, 1), frame(UC | WRITE_MIDDLE, 17, 2),
         frame(UC | WRITE_LAST, 17, 4), frame(UC | WRITE_FIRST, 17, 5),
         frame(UC | WRITE_LAST, 17, 6), frame(UC | WRITE_LAST, 17, 7))
expect("UC takes whole messages", list(c.qps.values())[0].taken, [(4.5, 2000)])
expect("UD", taken(read(frame(UD_SEND, 17, 1), frame(UD_SEND, 17, 9))), [0, 1])

c = read(frame(WRITE_FIRST, 17, 1, 1000, pad=2), frame(WRITE_MIDDLE, 18, 1, 500, ecn=3),
         frame(WRITE_MIDDLE, 19, 1, 20, ecn=3, v6=True), frame(ACK, 20, 1, 0), frame(CNP, 21, 0, 0))
expect("QPs", [(q.src, q.dst, q.qpn, q.taken) for q in c.qps.values()],
       [("10.0.0.1", "10.0.0.3", 17, [(0.5, 1000)]), ("10.0.0.1", "10.0.0.3", 18, [(1.5, 500)]),
        ("a00:1:a00:1:a00:1:a00:1", "a00:3:a00:3:a00:3:a00:3", 19, [(2.5, 20)])])
expect("CE", c.ce, [1.5, 2.5])
expect("CNPs", c.cnps, [4.5])
