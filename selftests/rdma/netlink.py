#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The rdma-dcqcn generic netlink family, spoken byte by byte for the tests.

Written from Documentation/netlink/specs/rdma_dcqcn.yaml, without a netlink
library. Needs nothing but python3-minimal. Prints what is wrong and exits 1.

    netlink.py range DEV            least and greatest value of each setting
    netlink.py fuzz DEV [N [SEED]]  wrong types, lengths, values; N random requests
    netlink.py atomic DEV           a request with one error changes nothing
    netlink.py errors DEV           what the kernel says is wrong
    netlink.py unprivileged DEV     look, but not touch
    netlink.py dump [BUFFER]        local QPNs, with that receive buffer
    netlink.py dumps                dump all the time; how many QPs there were so far
    netlink.py events SECONDS       rate events: one line each
    netlink.py flood SECONDS        rate events until a limiter ends: how many came and were
                                    suppressed
"""

import os
import random
import socket
import struct
import sys
import time

GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 3, 1, 2
CTRL_ATTR_MCAST_GROUPS, GRP_NAME, GRP_ID = 7, 1, 2
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
NLMSG_ERROR, NLMSG_DONE = 2, 3
SOL_NETLINK, ADD_MEMBERSHIP, CAP_ACK, EXT_ACK = 270, 1, 10, 11
EXT_MSG, EXT_OFFS = 1, 2
NESTED = 0x8000

DEV_GET, DEV_SET, QP_GET, PROFILE_GET, RATE_NTF, CCC_GET, QP_SET = 1, 2, 3, 4, 5, 6, 7
NAME, PROFILE, SETTINGS, IFNAME, COUNTERS = 1, 2, 3, 6, 8
QP_DEV, QP_LQPN, CCC_DEV = 1, 2, 1
ALGORITHM = 9       # of a port, a name
QP_PACED_PACKETS, QP_ALGORITHM = 17, 37     # of a QP
RELEASED = 1        # RATE_NTF's event
EPERM, EINVAL, ENODEV, ENOENT, ERANGE = 1, 22, 19, 2, 34

U32 = 2**32 - 1


def ranges():
    """The least and greatest value of each setting."""
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "knobs")) as f:
        lines = [line.split() for line in f if not line.startswith("#")]
    return {int(number): (int(least), int(most)) for number, _, least, most in lines}


RANGES = ranges()


class Refused(Exception):
    def __init__(self, errno, message, offset):
        super().__init__("%s (%s)" % (os.strerror(errno), message))
        self.errno, self.message, self.offset = errno, message, offset


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def string(kind, text):
    return attr(kind, text.encode() + b"\0")


def u32(kind, value):
    return attr(kind, struct.pack("=I", value))


def attrs(data):
    """Attributes by type; a later one of the same type wins."""
    out = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        out[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return out


def attr_of(data, kind):
    """The first attribute of that type, or None: faster than attrs()."""
    while len(data) >= 4:
        length, found = struct.unpack_from("=HH", data)
        if found & 0x3fff == kind:
            return data[4:length]
        data = data[(length + 3) & ~3:]
    return None


def number(data):
    return int.from_bytes(data, sys.byteorder)


class Netlink:
    def __init__(self, buffer=65536):
        self.buffer = buffer
        self.seq = 0
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.bind((0, 0))
        for option in (CAP_ACK, EXT_ACK):
            self.sock.setsockopt(SOL_NETLINK, option, 1)
        reply = self.talk(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
                          string(CTRL_ATTR_FAMILY_NAME, "rdma-dcqcn"), NLM_F_ACK, version=1)[0]
        self.family = number(reply[CTRL_ATTR_FAMILY_ID])
        self.groups = {}
        for group in attrs(reply[CTRL_ATTR_MCAST_GROUPS]).values():
            group = attrs(group)
            self.groups[group[GRP_NAME].rstrip(b"\0").decode()] = number(group[GRP_ID])

    def send(self, kind, cmd, body, flags, version):
        self.seq += 1
        payload = struct.pack("=BBH", cmd, version, 0) + body
        self.sock.send(struct.pack("=IHHII", 16 + len(payload), kind, NLM_F_REQUEST | flags,
                                   self.seq, 0) + payload)

    def talk(self, kind, cmd, body, flags, version):
        self.send(kind, cmd, body, flags, version)
        return [attrs(m) for m in self.answers()]

    def answers(self):
        """What comes to the last request, each without its headers."""
        while True:
            data = self.sock.recv(self.buffer)
            while data:
                length, what, mflags, seq, _ = struct.unpack_from("=IHHII", data)
                message, data = data[16:length], data[(length + 3) & ~3:]
                if seq != self.seq:
                    continue
                if what in (NLMSG_ERROR, NLMSG_DONE):
                    error = struct.unpack_from("=i", message)[0] if len(message) >= 4 else 0
                    if error < 0:
                        at = 20 if what == NLMSG_ERROR else 4
                        ext = attrs(message[at:]) if mflags & NLM_F_ACK_TLVS else {}
                        raise Refused(-error, ext.get(EXT_MSG, b"").rstrip(b"\0").decode(),
                                      number(ext[EXT_OFFS]) if EXT_OFFS in ext else None)
                    return
                yield message[4:]

    def do(self, cmd, body):
        return self.talk(self.family, cmd, body, NLM_F_ACK, 1)

    def dump(self, cmd, body=b""):
        return self.talk(self.family, cmd, body, NLM_F_DUMP, 1)

    def settings(self, dev):
        return {k: number(v) for k, v in
                attrs(self.dump(DEV_GET, string(NAME, dev))[0][SETTINGS]).items()}

    def set(self, dev, nest):
        self.do(DEV_SET, string(NAME, dev) + attr(SETTINGS | NESTED, nest))


failures = 0


def wrong(text):
    global failures
    failures += 1
    print(text)


def refused(what, errnos, function, *args):
    """The request must fail with one of errnos; what the kernel said."""
    try:
        function(*args)
    except Refused as e:
        if e.errno not in errnos:
            wrong("%s: %s" % (what, e))
        return e
    wrong("%s was accepted" % what)
    return None


def cmd_range(dev):
    nl = Netlink()
    begin = nl.settings(dev)
    if sorted(begin) != sorted(RANGES):
        wrong("settings are %s" % sorted(begin))
    for knob, (least, most) in RANGES.items():
        for value in (least, most):
            try:
                nl.set(dev, u32(knob, value))
            except Refused as e:
                wrong("%d: %d: %s" % (knob, value, e))
            if nl.settings(dev)[knob] != value:
                wrong("%d: %d is not read back" % (knob, value))
        for value in {least - 1, most + 1, U32} - {-1, U32 + 1}:
            if least <= value <= most:
                continue
            e = refused("%d: %d" % (knob, value), [ERANGE], nl.set, dev, u32(knob, value))
            # it is the first in a nest that comes behind the name
            place = 16 + 4 + len(string(NAME, dev)) + 4
            if e and (e.offset != place or "range" not in e.message):
                wrong("%d: %d: says \"%s\" at %s" % (knob, value, e.message, e.offset))
            if nl.settings(dev)[knob] != most:
                wrong("%d: %d changed it" % (knob, value))
        nl.set(dev, u32(knob, begin[knob]))
    if nl.settings(dev) != begin:
        wrong("the settings are not as they were")


def cmd_fuzz(dev, n="2000", seed="1"):
    nl = Netlink()
    begin = nl.settings(dev)
    bad = [EINVAL, ERANGE]
    # each setting in each wrong length, and as if it were a nest
    for knob in RANGES:
        for length in (0, 1, 2, 3, 5, 6, 7, 8, 64):
            refused("%d of %d bytes" % (knob, length), bad, nl.set, dev,
                    attr(knob, b"\1" * length))
        refused("%d nested" % knob, bad, nl.set, dev,
                attr(knob | NESTED, struct.pack("=I", RANGES[knob][1])))
    for knob in (0, max(RANGES) + 1, max(RANGES) + 2, 255, 0x3fff):
        refused("setting %d" % knob, bad, nl.set, dev, u32(knob, 1))
    # Each request with attributes that it does not know, or not so. PROFILE_GET takes none
    # at all: then kernels such as 6.12 do not look at any.
    name = string(NAME, dev)
    good = attr(SETTINGS | NESTED, u32(13, begin[13]))
    for cmd, call in ((DEV_SET, nl.do), (DEV_GET, nl.dump), (QP_GET, nl.dump), (CCC_GET, nl.dump),
                      (QP_SET, nl.do)):
        body = name + good if cmd == DEV_SET else b""
        for kind in (4, 5, 6, 7, 8, 9, 30, 31, 255, 0x3fff):
            unknown = [ENOENT] if (cmd, kind) == (DEV_SET, ALGORITHM) else []
            refused("command %d, attribute %d" % (cmd, kind), bad + unknown, call, cmd,
                    body + u32(kind, 1))
        for text in (b"", b"x" * 63, b"x" * 64, b"x" * 4000):
            refused("command %d, a name of %d bytes without end" % (cmd, len(text)),
                    bad + [ENODEV], call, cmd, attr(NAME, text) + (good if cmd == DEV_SET else b""))
    for text in (b"", b"\0", b"x" * 31, b"x" * 32, b"mlx5", b"x" * 4000):
        refused("a profile of %d bytes" % len(text), bad + [ENOENT], nl.do, DEV_SET,
                name + attr(PROFILE, text))
    refused("a profile as a nest", bad, nl.do, DEV_SET, name + attr(PROFILE | NESTED, b"mlx5\0"))
    for cmd, kind, call in ((DEV_SET, NAME, nl.do), (DEV_GET, NAME, nl.dump),
                            (QP_GET, QP_DEV, nl.dump), (QP_GET, QP_LQPN, nl.dump),
                            (CCC_GET, CCC_DEV, nl.dump), (QP_SET, QP_DEV, nl.do),
                            (QP_SET, QP_LQPN, nl.do), (QP_SET, QP_ALGORITHM, nl.do)):
        refused("command %d, attribute %d as a nest" % (cmd, kind), bad, call, cmd,
                attr(kind | NESTED, dev.encode() + b"\0") + (good if cmd == DEV_SET else b""))
    for length in (0, 1, 3, 5, 8):
        refused("QP number of %d bytes" % length, bad, nl.dump, QP_GET,
                attr(QP_LQPN, bytes(length)))
    refused("QP number of 25 bits", bad, nl.dump, QP_GET, u32(QP_LQPN, 1 << 24))
    refused("settings that are no nest", bad, nl.do, DEV_SET, name + attr(SETTINGS, u32(13, 1)))
    refused("settings cut short", bad, nl.do, DEV_SET, name + attr(SETTINGS | NESTED, b"\1"))
    own = string(QP_DEV, dev) + u32(QP_LQPN, 17)
    for text in (b"", b"x" * 15, b"x" * 16, b"x" * 4000, b"\0" * 16):
        refused("a QP's algorithm of %d bytes" % len(text), bad + [ENOENT], nl.do, QP_SET,
                own + attr(QP_ALGORITHM, text))
    for cmd in (0, RATE_NTF, 8, 255):
        refused("command %d" % cmd, [95, EPERM], nl.do, cmd, name)
        refused("dump of command %d" % cmd, [95, EPERM], nl.dump, cmd, b"")
    if nl.settings(dev) != begin:
        wrong("something of this was done")

    # noise; whatever is accepted must read back in range
    rnd = random.Random(int(seed))
    for _ in range(int(n)):
        body = b"".join(attr(rnd.randrange(0, 12) | rnd.choice((0, 0, NESTED)),
                             bytes(rnd.randrange(256) for _ in range(rnd.randrange(12))))
                        for _ in range(rnd.randrange(4)))
        if rnd.random() < 0.5:
            nest = b"".join(attr(rnd.randrange(0, max(RANGES) + 2),
                                 struct.pack("=I", rnd.choice((0, 1, 50, 1024, U32))) +
                                 bytes(rnd.choice((0, 0, 0, 3)))) for _ in range(rnd.randrange(5)))
            body = name + attr(SETTINGS | NESTED, nest) + (body if rnd.random() < 0.2 else b"")
        if rnd.random() < 0.1:
            body = body[:rnd.randrange(len(body) + 1)]
        try:
            if rnd.random() < 0.6:
                nl.do(rnd.randrange(0, 9), body)
            else:
                nl.dump(rnd.randrange(0, 9), body)
        except Refused:
            pass
    for knob, value in nl.settings(dev).items():
        if not RANGES[knob][0] <= value <= RANGES[knob][1]:
            wrong("%d is %d" % (knob, value))
    nl.set(dev, b"".join(u32(k, v) for k, v in begin.items()))


def cmd_atomic(dev):
    nl = Netlink()
    begin = nl.settings(dev)
    changed = u32(14, 1) + u32(19, 31)
    refused("one value of three out of range", [ERANGE], nl.set, dev, changed + u32(21, 0))
    refused("a profile, and a value out of range", [ERANGE], nl.do, DEV_SET,
            string(NAME, dev) + string(PROFILE, "mlx5") + attr(SETTINGS | NESTED, u32(21, 0)))
    refused("a profile that there is not, with good values", [ENOENT], nl.do, DEV_SET,
            string(NAME, dev) + string(PROFILE, "nonesuch") + attr(SETTINGS | NESTED, changed))
    if nl.settings(dev) != begin:
        wrong("something of this was done")
    # a profile leaves alone what is the network's, and settings come after it
    nl.set(dev, u32(6, 777) + u32(5, 8) + u32(22, 128))
    nl.do(DEV_SET, string(NAME, dev) + string(PROFILE, "mlx5") +
          attr(SETTINGS | NESTED, u32(19, 7)))
    got = nl.settings(dev)
    sets = {k: number(v) for p in nl.dump(PROFILE_GET) if p[NAME] == b"mlx5\0"
            for k, v in attrs(p[2]).items()}
    if set(sets) & {5, 6, 22, 28} or 19 not in sets:
        wrong("a profile sets %s" % sorted(sets))
    want = begin | sets | {6: 777, 5: 8, 22: 128, 19: 7}
    if got != want:
        wrong("settings are %s, not %s" % (got, want))
    nl.set(dev, b"".join(u32(k, v) for k, v in begin.items()))


def cmd_errors(dev):
    nl = Netlink()
    name, good = string(NAME, dev), attr(SETTINGS | NESTED, u32(13, 11))
    for what, errno, words, call in (
            ("no name", EINVAL, "name is missing", lambda: nl.do(DEV_SET, good)),
            ("nothing to set", EINVAL, "nothing to set", lambda: nl.do(DEV_SET, name)),
            ("no such device", ENODEV, "no such rxe device",
             lambda: nl.do(DEV_SET, string(NAME, "nonesuch") + good)),
            ("no such profile", ENOENT, "no such profile",
             lambda: nl.do(DEV_SET, name + string(PROFILE, "nonesuch"))),
            ("dump of no such device", ENODEV, "no such rxe device",
             lambda: nl.dump(DEV_GET, string(NAME, "nonesuch"))),
            ("QPs of no such device", ENODEV, "no such rxe device",
             lambda: nl.dump(QP_GET, string(QP_DEV, "nonesuch"))),
            ("contexts of no such device", ENODEV, "no such rxe device",
             lambda: nl.dump(CCC_GET, string(CCC_DEV, "nonesuch")))):
        e = refused(what, [errno], call)
        if e and words not in e.message:
            wrong("%s: says \"%s\"" % (what, e.message))


def cmd_unprivileged(dev):
    nl = Netlink()
    begin = nl.settings(dev)
    ifname = nl.dump(DEV_GET, string(NAME, dev))[0][IFNAME].rstrip(b"\0").decode()
    # a file that root has opened
    knob = os.open("/sys/class/net/%s/ecn/roce_rp/rpg_gd" % ifname, os.O_WRONLY)
    os.setgid(65534)
    os.setuid(65534)
    other = Netlink()
    if other.settings(dev) != begin or not other.dump(PROFILE_GET):
        wrong("it sees something else")
    other.dump(QP_GET)
    other.dump(CCC_GET)
    refused("setting", [EPERM], other.set, dev, u32(13, 5))
    try:
        os.write(knob, b"5")
        wrong("a file of sysfs was written")
    except PermissionError:
        pass
    if other.settings(dev) != begin:
        wrong("it was done")


def cmd_dump(buffer="65536"):
    nl = Netlink(int(buffer))
    nl.send(nl.family, QP_GET, b"", NLM_F_DUMP, 1)
    for message in nl.answers():
        print(number(attr_of(message, QP_LQPN)))


def cmd_dumps():
    nl, n = Netlink(), 0
    print("dumping", flush=True)
    while True:
        nl.send(nl.family, QP_GET, b"", NLM_F_DUMP, 1)
        for message in nl.answers():
            n += 1
            if n % 10000 == 0:
                print(n, flush=True)


def events(seconds):
    nl = Netlink()
    nl.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    nl.sock.setsockopt(SOL_NETLINK, ADD_MEMBERSHIP, nl.groups["rate"])
    print("listening", flush=True)
    end = time.monotonic() + float(seconds)
    while True:
        nl.sock.settimeout(max(0.001, end - time.monotonic()))
        try:
            data = nl.sock.recv(65536)
        except TimeoutError:
            return
        yield attrs(data[20:])
        if time.monotonic() > end:
            return


def cmd_events(seconds):
    for e in events(seconds):
        print("dev=%s qpn=%d event=%d old=%d rate=%d target=%d alpha=%d suppressed=%d" % (
            (e[1].rstrip(b"\0").decode(),) + tuple(number(e[k]) for k in range(3, 10))), flush=True)


def cmd_flood(seconds):
    """Count events until a limiter ends."""
    told = suppressed = 0
    for e in events(seconds):
        told += 1
        suppressed += number(e[9])
        if number(e[4]) == RELEASED:
            break
    print("told=%d suppressed=%d" % (told, suppressed))


if __name__ == "__main__":
    command = globals().get("cmd_" + sys.argv[1]) if len(sys.argv) > 1 else None
    if not command:
        sys.exit(__doc__)
    try:
        command(*sys.argv[2:])
    except Refused as e:
        wrong("refused: %s" % e)
    sys.exit(1 if failures else 0)
