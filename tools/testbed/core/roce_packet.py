#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""RoCEv2 packets for the tests: build, send, and read them back from tcpdump.

Written from the InfiniBand specification (chapter 9, annex A17) and not from
the module, so that the two check each other. Needs nothing but python3-minimal.

    roce_packet.py selftest                     the ICRC of the known vector
    roce_packet.py gid-index DEV ADDRESS        GID index of an address
    roce_packet.py send IF --src A --dst A --mac M --qpn N [options]
    roce_packet.py storm IF --src A --dst A --mac M [options]
                                                packets of all sorts, good and bad
    roce_packet.py v1 IF --mac M                frames of RoCE v1, until stopped
    roce_packet.py list FILE                    one line per RoCEv2 packet
    roce_packet.py expect FILE --qpn N [...]    check that each CNP is the vector, patched
    roce_packet.py gaps FILE                    times between CNPs of a QP
    roce_packet.py rate FILE FROM TO            Mb/s from the first CNP on, and
                                                without the time that the host was late
    roce_packet.py udp send|recv ...            plain UDP, as an application
"""

import binascii
import ipaddress
import os
import random
import socket
import struct
import sys
import time

PORT = 4791
CNP = 0x81
ACK = 0x11
FEEDBACK = 0xc1          # Documentation/uet.rst
WRITE_ONLY = 0x0a
# Opcodes that every rxe knows: RC, UC and UD
KNOWN = [*range(0x15), 0x16, 0x17, *range(0x20, 0x2c), 0x64, 0x65]
HEADERS = 36    # the longest behind a BTH (atomics: 28), padding (3) and ICRC

# s by which a packet may be late, for whatever reason, so that the pacer still makes up for it
# (DCQCN_IDLE_CREDIT_NS); above 35 Mb/s it is the time of 16 packets, which is less
CREDIT = 0.004

# A CNP as another implementation sent it, from the IPv4 header on.
VECTOR = bytes.fromhex("""
    4589003c98c6400020116927 16161608 16161607
    dbae12b700280000
    8100ffff400000d200000000 00000000000000000000000000000000 dafc1bef
""".replace("\n", "").replace(" ", ""))


def icrc(packet):
    """ICRC of a packet from the IP header to the end of its payload."""
    p = bytearray(packet)
    if p[0] >> 4 == 4:
        udp = 20
        p[1] = p[8] = p[10] = p[11] = 0xff          # TOS, TTL, checksum
    else:
        udp = 40
        p[0] |= 0x0f                                # traffic class, flow label
        p[1] = p[2] = p[3] = p[7] = 0xff            # ... and hop limit
    p[udp + 6] = p[udp + 7] = 0xff                  # UDP checksum
    p[udp + 12] = 0xff                              # FECN, BECN, reserved
    return struct.pack("<I", binascii.crc32(b"\xff" * 8 + bytes(p)))


def ip_checksum(header):
    s = sum(struct.unpack(">%dH" % (len(header) // 2), header))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return struct.pack(">H", ~s & 0xffff)


def ip_packet(src, dst, udp_payload, tos=0, sport=0, ttl=64, ident=0):
    """IP and UDP headers around a payload; UDP's checksum stays 0, as in RoCEv2."""
    src, dst = ipaddress.ip_address(src), ipaddress.ip_address(dst)
    udp = struct.pack(">HHHH", sport, PORT, 8 + len(udp_payload), 0) + udp_payload
    if src.version == 4:
        h = struct.pack(">BBHHHBBH", 0x45, tos, 20 + len(udp), ident, 0x4000, ttl, 17, 0)
        h += src.packed + dst.packed
        return h[:10] + ip_checksum(h) + h[12:] + udp
    return struct.pack(">IHBB", 6 << 28 | tos << 20, len(udp), 17, ttl) + \
        src.packed + dst.packed + udp


def bth(opcode, qpn, pkey=0xffff, psn=0, becn=0, ackreq=0):
    return struct.pack(">BBHII", opcode, 0, pkey, becn << 30 | qpn, ackreq << 31 | psn)


def roce(src, dst, transport, **ip):
    """A whole packet with its ICRC; transport: the bytes from the BTH on."""
    p = ip_packet(src, dst, transport + bytes(4), **ip)[:-4]
    return p + icrc(p)


def with_length(p, udp_payload):
    """The same bytes, cut or continued, with lengths that say so."""
    v4 = p[0] >> 4 == 4
    udp = 20 if v4 else 40
    b = bytearray((p + bytes(2048))[:udp + 8 + udp_payload])
    struct.pack_into(">H", b, udp + 4, 8 + udp_payload)
    if v4:
        struct.pack_into(">H", b, 2, len(b))
        b[10:12] = b"\0\0"
        b[10:12] = ip_checksum(bytes(b[:20]))
    else:
        struct.pack_into(">H", b, 4, len(b) - 40)
    return bytes(b)


def patched_vector(src, dst, qpn, tos=None, sport=None, ident=None, ttl=None):
    """VECTOR, with the addresses of other hosts, and the number of another QP."""
    b = bytearray(VECTOR)
    b[12:16] = ipaddress.ip_address(src).packed
    b[16:20] = ipaddress.ip_address(dst).packed
    struct.pack_into(">I", b, 32, 0x40000000 | qpn)
    if tos is not None:
        b[1] = tos
    if ident is not None:
        struct.pack_into(">H", b, 4, ident)
    if ttl is not None:
        b[8] = ttl
    if sport is not None:
        struct.pack_into(">H", b, 20, sport)
    b[10:12] = b"\0\0"
    b[10:12] = ip_checksum(bytes(b[:20]))
    b[-4:] = icrc(bytes(b[:-4]))
    return bytes(b)


class Packet:
    """A captured packet; .raw from the IP header on, .roce if it is RoCEv2."""

    def __init__(self, stamp, frame, length):
        self.time, self.length = stamp, length
        self.raw = frame[14:]
        self.roce = False
        ether = struct.unpack(">H", frame[12:14])[0] if len(frame) >= 14 else 0
        if ether == 0x0800 and len(self.raw) >= 40 and self.raw[9] == 17:
            udp, self.tos = 20, self.raw[1]
            self.src, self.dst = (str(ipaddress.ip_address(self.raw[i:i + 4])) for i in (12, 16))
        elif ether == 0x86dd and len(self.raw) >= 60 and self.raw[6] == 17:
            udp, self.tos = 40, struct.unpack(">I", self.raw[:4])[0] >> 20 & 0xff
            self.src, self.dst = (str(ipaddress.ip_address(self.raw[i:i + 16])) for i in (8, 24))
        else:
            return
        self.sport, self.dport, _, self.udp_check = \
            struct.unpack(">HHHH", self.raw[udp:udp + 8])
        if self.dport != PORT:
            return
        self.roce = True
        self.opcode, self.flags, self.pkey, qpn, psn = \
            struct.unpack(">BBHII", self.raw[udp + 8:udp + 20])
        self.fecn, self.becn, self.qpn = qpn >> 31, qpn >> 30 & 1, qpn & 0xffffff
        self.psn = psn & 0xffffff

    def icrc_ok(self):
        return self.raw[-4:] == icrc(self.raw[:-4])


def capture(path):
    """The RoCEv2 packets of a pcap file, in order."""
    with open(path, "rb") as f:
        data = f.read()
    magic = data[:4]
    order = "<" if magic in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    nano = magic in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")
    at, found = 24, []
    while at + 16 <= len(data):
        sec, frac, stored, length = struct.unpack(order + "IIII", data[at:at + 16])
        frame = data[at + 16:at + 16 + stored]
        at += 16 + stored
        p = Packet(sec + frac / (1e9 if nano else 1e6), frame, length)
        if p.roce:
            found.append(p)
    return found


def options(args, **known):
    """Options --name VALUE ..., and defaults of others, from known; a default has the type."""
    it = iter(args)
    for a in it:
        name = a[2:].replace("-", "_")
        if not a.startswith("--") or name not in known:
            sys.exit("roce_packet: unknown option " + a)
        if known[name] is False:
            known[name] = True
        else:
            value = next(it)
            known[name] = value if isinstance(known[name], str) else int(value, 0)
    return known


def cmd_selftest(args):
    if icrc(VECTOR[:-4]) != VECTOR[-4:]:
        sys.exit("the ICRC of the known vector comes out wrong")
    # The same CNP from its parts: everything but addresses and QPN is known.
    p = roce("22.22.22.8", "22.22.22.7", bth(CNP, 0xd2, becn=1) + bytes(16), tos=0x89,
             sport=0xdbae, ttl=0x20, ident=0x98c6)
    if p != VECTOR:
        sys.exit("a CNP built from its parts is not the known vector")


def cmd_gid_index(args):
    dev, want = args[0], ipaddress.ip_address(args[1])
    base = "/sys/class/infiniband/%s/ports/1/gids" % dev
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:          # it appears a moment after the address
        for name in sorted(os.listdir(base), key=int):
            try:
                with open(os.path.join(base, name)) as f:
                    a = ipaddress.IPv6Address(f.read().strip())
            except (OSError, ValueError):
                continue
            if want in (a, a.ipv4_mapped):
                print(name)
                return
        time.sleep(0.1)
    sys.exit("%s has no GID for %s" % (dev, want))


def cmd_send(args):
    """Send a good CNP, unless options change it."""
    o = options(args[1:], src="", dst="", mac="", qpn=0, pkey=0xffff, psn=0, tos=0xc2, sport=0,
                opcode=CNP, count=1, length=-1, step=0, bad_icrc=False, vector=False,
                no_becn=False, ud_src=0, gap=0)
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((args[0], 0))
    v6 = ":" in o["dst"]
    ether = binascii.unhexlify(o["mac"].replace(":", "")) + s.getsockname()[4] + \
        (b"\x86\xdd" if v6 else b"\x08\x00")
    for i in range(o["count"]):
        qpn = o["qpn"] + i * o["step"]
        if o["vector"]:
            p = patched_vector(o["src"], o["dst"], qpn)
        else:
            t = bth(o["opcode"], qpn, o["pkey"], o["psn"],
                    becn=int(o["opcode"] == CNP and not o["no_becn"]))
            if o["opcode"] == CNP:
                t += bytes(16)
            elif o["opcode"] >> 5 == 3:
                t += struct.pack(">II", 0x11111111, o["ud_src"]) + bytes(16)
            elif o["opcode"] == FEEDBACK:
                # version, algorithms, priority, flags; all else is a guess
                t += struct.pack(">4B", 1, 3, 0, 1) + os.urandom(36)
            elif o["opcode"] == ACK:
                t += struct.pack(">I", 0)                   # AETH
            else:
                t += bytes(16) + bytes(16)                  # RETH, data
            p = roce(o["src"], o["dst"], t, tos=o["tos"], sport=o["sport"])
        if o["bad_icrc"]:
            p = p[:-1] + bytes([p[-1] ^ 0x01])
        if o["length"] >= 0:
            p = with_length(p, o["length"])
        frame = ether + p
        s.send(frame + bytes(max(0, 60 - len(frame))))      # Ethernet's least size
        if o["gap"]:
            time.sleep(o["gap"] / 1e3)


def any_packet(r, src, dst, qpns, gentle=False):
    """A packet that an attacker might send: often almost right, to a QP below qpns.

    Only CNPs are shorter than a BTH, because rxe itself panics on other packets that
    short (Documentation/infiniband/rdma_dcqcn_hardening.rst). gentle: no unknown opcodes
    either, and no packets shorter than their opcode's headers: older rxe panics on those,
    and without the module they reach it.
    """
    qpn = r.choice([r.randrange(16, qpns), r.randrange(1 << 24), 0, 1, 0xffffff])
    opcode = r.choice([CNP, CNP, CNP, WRITE_ONLY, 0x0d, 0x64, ACK,
                       r.choice(KNOWN if gentle else range(256))])
    t = bth(opcode, qpn, r.choice([0xffff, r.randrange(1 << 16)]), r.randrange(1 << 24),
            becn=r.randrange(2))
    if opcode == CNP:
        t, least = t + bytes(16), 1
    elif gentle:
        t, least = t + r.randbytes(r.choice([HEADERS, 1000])), 12 + HEADERS
    else:
        t, least = t + r.randbytes(r.choice([0, 4, 8, 16, 32, 1000])), 12
    p = roce(src, dst, t, tos=r.choice([0xc2, 0x03, r.randrange(256)]),
             sport=r.randrange(1 << 16), ttl=r.choice([64, r.randrange(1, 256)]))
    kind = r.randrange(8)
    v4 = p[0] >> 4 == 4
    if kind == 0:
        p = with_length(p, r.randrange(least, 80))
    elif kind == 1:                                 # any wrong bit
        at = r.randrange(len(p))
        length = (24, 25) if v4 else (44, 45)
        if at in length or at == (28 if v4 else 48):
            at = 0
        p = p[:at] + bytes([p[at] ^ 1 << r.randrange(8)]) + p[at + 1:]
    elif kind == 2:                                 # cut off on the way
        p = p[:r.randrange(1, len(p))]
    elif kind == 3 and v4:                          # options, or a fragment
        h = bytearray(p[:20])
        if r.randrange(2):
            h[0] = 0x46
            h += bytes([1, 1, 1, 1])
            struct.pack_into(">H", h, 2, len(p) + 4)
        else:
            struct.pack_into(">H", h, 6, r.choice([0x2000, 0x2001, 0x0001, 0x1fff]))
        h[10:12] = b"\0\0"
        p = bytes(h[:10]) + ip_checksum(bytes(h)) + bytes(h[12:]) + p[20:]
    elif kind == 3 and not (gentle and opcode == CNP):  # an extension header
        p = struct.pack(">4sHBB", p[:4], len(p) - 32, r.choice([0, 43, 44, 60]), 64) + \
            p[8:40] + bytes([17, 0, 1, 4, 0, 0, 0, 0]) + p[40:]
    return p


def cmd_storm(args):
    """Send packets of all sorts as fast as possible, or with a gap of ms after each hundred."""
    o = options(args[1:], src="", dst="", mac="", seed=1, count=100, qpns=64, gap=0)
    r = random.Random(o["seed"])
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((args[0], 0))
    ether = binascii.unhexlify(o["mac"].replace(":", "")) + s.getsockname()[4] + \
        (b"\x86\xdd" if ":" in o["dst"] else b"\x08\x00")
    for i in range(o["count"]):
        frame = ether + any_packet(r, o["src"], o["dst"], o["qpns"], gentle=True)
        s.send(frame + bytes(max(0, 60 - len(frame))))
        if o["gap"] and i % 100 == 99:
            time.sleep(o["gap"] / 1e3)


def cmd_v1(args):
    """Frames of RoCE v1, until stopped: an Ethernet type of its own, and no IP header."""
    o = options(args[1:], mac="")
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((args[0], 0))
    frame = binascii.unhexlify(o["mac"].replace(":", "")) + s.getsockname()[4] + b"\x89\x15"
    while True:
        s.send(frame + bytes(60))
        time.sleep(0.05)


def cmd_list(args):
    for p in capture(args[0]):
        print("%.6f len=%d src=%s dst=%s tos=%#04x sport=%d opcode=%#04x pkey=%#06x qpn=%#08x "
              "psn=%d becn=%d" % (p.time, p.length, p.src, p.dst, p.tos, p.sport, p.opcode,
                                  p.pkey, p.qpn, p.psn, p.becn))


def cmd_expect(args):
    """Check that each CNP of FILE equals, byte for byte, the vector with the given addresses and
    QP."""
    o = options(args[1:], qpn=0, tos=0xc2, sport=0, pkey=0xffff, count=1, src="", dst="")
    cnps = [p for p in capture(args[0]) if p.opcode == CNP]
    if len(cnps) < o["count"]:
        sys.exit("%d CNPs captured instead of at least %d" % (len(cnps), o["count"]))
    for p in cnps:
        got = p.raw
        if got[0] >> 4 == 4:
            want = bytearray(patched_vector(o["src"], o["dst"], o["qpn"], tos=o["tos"],
                                            sport=o["sport"],
                                            ident=struct.unpack(">H", got[4:6])[0], ttl=64))
            struct.pack_into(">H", want, 30, o["pkey"])
            want[-4:] = icrc(bytes(want[:-4]))
            length = 74
        else:
            # the vector's transport part behind an IPv6 header
            t = bytearray(VECTOR[28:-4])
            struct.pack_into(">H", t, 2, o["pkey"])
            struct.pack_into(">I", t, 4, 0x40000000 | o["qpn"])
            want = roce(o["src"], o["dst"], bytes(t), tos=o["tos"], sport=o["sport"])
            length = 94
        if p.length != length or bytes(want) != got:
            sys.exit("a CNP of %d bytes is\n%s\ninstead of\n%s" %
                     (p.length, got.hex(" ", 4), bytes(want).hex(" ", 4)))
    print(len(cnps))


def cmd_gaps(args):
    """Print the numbers of QPs and CNPs and, in microseconds: the least time from one CNP
    of a QP to the next but one; and of the times from one CNP to the next, the 5th
    percentile and the mean."""
    times = {}
    for p in capture(args[0]):
        if p.opcode == CNP:
            times.setdefault(p.qpn, []).append(p.time)
    gaps = sorted(b - a for t in times.values() for a, b in zip(t, t[1:])) or [-1e-6]
    two = min((b - a for t in times.values() for a, b in zip(t, t[2:])), default=-1e-6)
    print(len(times), sum(map(len, times.values())),
          *(round(1e6 * g) for g in (two, gaps[len(gaps) // 20], sum(gaps) / len(gaps))))


def cmd_rate(args):
    """Mb/s of packets other than CNPs and ACKs, in a window relative to the first CNP; and
    the same without the time in which the host, or rxe, did not run.

    FILE has both directions. Bytes are those that a switch counts: L2 without FCS.
    """
    begin, end = float(args[1]), float(args[2])
    packets = capture(args[0])
    cnp = [p.time for p in packets if p.opcode == CNP]
    if not cnp:
        sys.exit("no CNP in " + args[0])
    data = [p for p in packets if p.opcode not in (CNP, ACK)]
    if not data or data[-1].time < cnp[0] + end:
        sys.exit("traffic ended before the window did")
    inside = [p for p in data if begin <= p.time - cnp[0] < end]
    megabits = 8e-6 * sum(p.length for p in inside)
    gaps = [b.time - a.time for a, b in zip(inside, inside[1:])]
    away = sum(max(0, gap - CREDIT) for gap in gaps)
    print("%.3f %.3f" % (megabits / (end - begin), megabits / (end - begin - away)))


def cmd_udp(args):
    """udp send ADDRESS PORT HEX | udp recv ADDRESS PORT: prints HEX, TOS"""
    address = (args[1], int(args[2]))
    family = socket.AF_INET6 if ":" in args[1] else socket.AF_INET
    s = socket.socket(family, socket.SOCK_DGRAM)
    if args[0] == "send":
        s.sendto(bytes.fromhex(args[3]), address)
        return
    s.setsockopt(socket.IPPROTO_IP, 13, 1)      # IP_RECVTOS
    s.bind(address)
    s.settimeout(20)
    data, extra, _, _ = s.recvmsg(2048, 256)
    print(data.hex(), extra[0][2][0] if extra else "-")


if __name__ == "__main__":
    if len(sys.argv) < 2 or "cmd_" + sys.argv[1].replace("-", "_") not in globals():
        sys.exit(__doc__)
    globals()["cmd_" + sys.argv[1].replace("-", "_")](sys.argv[2:])
