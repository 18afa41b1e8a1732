#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests the lab's reading of captures, on one made here. Silent on success."""

import struct
import sys
import tempfile

from testbed.vm.capture import Capture

SRC, DST = bytes((10, 0, 0, 1)), bytes((10, 0, 0, 3))
SEND, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, READ, ACK, CNP, UD_SEND = 4, 6, 7, 8, 0x0c, 0x11, 0x81, 0x64
RESPONSE_FIRST, RESPONSE, RESPONSE_LAST, RESPONSE_ONLY = 0x0d, 0x0e, 0x0f, 0x10
SEND_LAST_INV, SEND_ONLY_INV, FLUSH, ATOMIC_WRITE = 0x16, 0x17, 0x1c, 0x1d
UC = 0x20
HEADERS = {WRITE_FIRST: 16, UC | WRITE_FIRST: 16, READ: 16, ACK: 4, UD_SEND: 8, CNP: 16,
           RESPONSE_FIRST: 4, RESPONSE_LAST: 4, RESPONSE_ONLY: 4,
           SEND_LAST_INV: 4, SEND_ONLY_INV: 4, FLUSH: 20, ATOMIC_WRITE: 16}


def frame(opcode, qpn, psn, payload=1000, ecn=2, v6=False, pad=0, after_bth=b""):
    bth = struct.pack(">BBH", opcode, pad << 4, 0xffff) + struct.pack(">II", qpn, psn)
    udp_length = 8 + 12 + HEADERS.get(opcode, 0) + payload + pad + 4
    udp = struct.pack(">HHHH", 0xc000, 4791, udp_length, 0)
    if v6:
        ip = struct.pack(">IHBB", 6 << 28 | ecn << 20, udp_length, 17, 64) + SRC * 4 + DST * 4
        kind = 0x86dd
    else:
        ip = struct.pack(">BBHHHBBH", 0x45, ecn, 20 + udp_length, 0, 0, 64, 17, 0) + SRC + DST
        kind = 0x0800
    return (bytes(12) + struct.pack(">H", kind) + ip + udp + bth + after_bth + bytes(40))[:96]


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


def both(*packets):
    """Of a QP that asks and answers: (opcode, PSN), and the length of a READ, or an ACK's syndrome."""
    return taken(read(*(frame(op, 17, psn, after_bth=struct.pack(">QII", 0, 0, more[0]) if op == READ
                              else bytes(more)) for op, psn, *more in packets)))


# two sequences of PSNs
expect("requests between READ responses",
       both((SEND, 100), (RESPONSE_FIRST, 5), (SEND, 101), (RESPONSE, 6), (RESPONSE_LAST, 7), (SEND, 102)),
       [0, 1, 2, 3, 4, 5])
expect("a gap in one of them",
       both((SEND, 100), (RESPONSE_FIRST, 5), (SEND, 102), (RESPONSE, 6), (RESPONSE, 8), (SEND, 101),
            (SEND, 102), (RESPONSE, 7), (RESPONSE, 8)), [0, 1, 3, 5, 6, 7, 8])
# a READ of 8000 bytes takes two PSNs, or eight
for mtu, psns in ((4096, 2), (1024, 8)):
    expect("the peer's READs, MTU %d" % mtu,
           both((SEND, 100), (READ, 101, 8000), (SEND, 101 + psns), (READ, 102 + psns, 8000),
                (SEND, 102 + 2 * psns), (SEND, 104 + 2 * psns), (SEND, 103 + 2 * psns)), [0, 2, 4, 6])
expect("a gap that another MTU would explain",
       both((SEND, 100), (READ, 101, 8000), (SEND, 109), (READ, 110, 8000), (SEND, 112)), [0, 2])
expect("the peer's atomics", both((SEND, 100), (0x13, 101), (SEND, 102), (SEND, 104)), [0, 2])
# as NFS and NVMe answer; each takes a PSN
c = read(frame(SEND_ONLY_INV, 17, 5, 100), frame(WRITE_MIDDLE, 17, 6), frame(SEND_LAST_INV, 17, 7, 20),
         frame(FLUSH, 17, 8, 0), frame(ATOMIC_WRITE, 17, 9, 8), frame(SEND, 17, 10))
expect("SEND with invalidate, FLUSH and ATOMIC WRITE", c.qps.popitem()[1].taken,
       [(0.5, 100), (1.5, 1000), (2.5, 20), (4.5, 8), (5.5, 1000)])
# its own requests, which are answered by ACKs, and once by none
expect("ACKs between READ responses",
       both((RESPONSE_ONLY, 5), (ACK, 6, 0), (RESPONSE_ONLY, 7), (RESPONSE_ONLY, 9), (ACK, 10, 0),
            (RESPONSE_ONLY, 11)), [0, 2, 3, 5])
expect("a lost READ response, which is not an ACK",
       both((RESPONSE_ONLY, 5), (RESPONSE_ONLY, 7), (ACK, 7, 0x60), (RESPONSE_ONLY, 6), (RESPONSE_ONLY, 7)),
       [0, 3, 4])
expect("a READ response that is sent again, and an ACK",
       both((RESPONSE_ONLY, 5), (RESPONSE_ONLY, 7), (RESPONSE_ONLY, 6), (RESPONSE_ONLY, 7), (ACK, 8, 0)),
       [0, 2, 3])
expect("an ACK beyond a torn READ response",
       both((RESPONSE_FIRST, 5), (RESPONSE, 7), (ACK, 9, 0), (RESPONSE, 6), (RESPONSE, 7),
            (RESPONSE_LAST, 8)), [0, 3, 4, 5])
expect("a repeated READ response", both((RESPONSE_ONLY, 5), (RESPONSE_ONLY, 6), (RESPONSE_ONLY, 5), (ACK, 7, 0)),
       [0, 1])
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
