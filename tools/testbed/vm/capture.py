# SPDX-License-Identifier: GPL-2.0
"""Finds out from a capture at a switch's port to a host which packets the host's QPs accepted.

The queue is upstream of the capture, so a dropped packet is missing in the capture, as it is at the
receiver: the PSNs show which packets the receiver accepted. A QP receives requests, and answers to
its own requests. Each of these has PSNs of its own.
"""

import struct
import subprocess

from ..core.errors import LabError

ETH_IPV4, ETH_IPV6 = 0x0800, 0x86dd
CNP = 0x81
READ_REQUEST, ACK, ATOMIC_ACK = 0x0c, 0x11, 0x12
# Requests without data: atomic operations, and FLUSH
DATALESS = (0x13, 0x14, 0x1c)
# Opcodes that carry data, by transport, and the bytes of headers after the BTH
RC, UC, UD = 0x00, 0x20, 0x60
TRANSPORTS = {RC: "rc", UC: "uc", UD: "ud"}
SEND_WRITE = {0x00: 0, 0x01: 0, 0x02: 0, 0x03: 4, 0x04: 0, 0x05: 4,
              0x06: 16, 0x07: 0, 0x08: 0, 0x09: 4, 0x0a: 16, 0x0b: 20}
READ_RESPONSE = {0x0d: 4, 0x0e: 0, 0x0f: 4, 0x10: 4}
RC_ONLY = {0x16: 4, 0x17: 4, 0x1d: 16}      # SEND with invalidate, ATOMIC WRITE
DATA = {**SEND_WRITE, **RC_ONLY, **READ_RESPONSE, UD | 0x04: 8, UD | 0x05: 12,
        **{UC | opcode: header for opcode, header in SEND_WRITE.items()}}
UC_FIRST = {UC | opcode for opcode in (0x00, 0x04, 0x05, 0x06, 0x0a, 0x0b)}
UC_LAST = {UC | opcode for opcode in (0x02, 0x03, 0x04, 0x05, 0x08, 0x09, 0x0a, 0x0b)}

READ_BEGINS = (0x0d, 0x10)
# Opcodes to look at: those with data and, of RC, those that take a PSN or answer one
KNOWN = {**DATA, READ_REQUEST: None, ACK: None, ATOMIC_ACK: None,
         **dict.fromkeys(DATALESS)}
RETH_LENGTH = 12            # bytes from the RETH's begin to its length
MTUS = (256, 512, 1024, 2048, 4096)

PFC = 0x0101                # opcode of MAC control

PSN_MASK = 0xffffff
# rxe has at most 128 unanswered requests, and a READ's responses after them. A
# wider gap than that is in the capture, not in what the QP received.
WIDEST_GAP = 8192


def _ahead(psn, expected):
    """How many packets are missing before this one; negative if it is a repeated one, and 0 after a
    gap in the capture."""
    ahead = psn - expected & PSN_MASK
    if ahead > PSN_MASK // 2:
        return ahead - PSN_MASK - 1
    return ahead if ahead < WIDEST_GAP else 0


class Requests:
    """The peer's requests. A READ takes a PSN for each packet of its answer. Their number depends
    on the MTU, which the next request's PSN shows."""

    def __init__(self):
        self.expected, self.read, self.mtus = None, None, MTUS

    def _after_read(self, mtu):
        psn, length = self.read
        return psn + max(1, -(-length // mtu)) & PSN_MASK

    def accepts(self, psn, read_length=None):
        if self.read:
            fit = [m for m in self.mtus if self._after_read(m) == psn]
            if fit:
                self.expected, self.mtus = psn, fit
        if self.expected is not None and _ahead(psn, self.expected):
            return False
        self.read = None if read_length is None else (psn, read_length)
        # with the largest MTU, so that no repeated packet is taken for a new one
        self.expected = self._after_read(self.mtus[-1]) if self.read else psn + 1 & PSN_MASK
        return True


class Answers:
    """Answers to the QP's own requests. Requests other than READs are answered by ACKs, which may
    get lost; then the next answer acknowledges them, too."""

    def __init__(self):
        self.expected = None
        self.torn = False           # something within an answer is missing
        self.waiting = []           # packets that may have been accepted: the next ACK tells

    def _ahead(self, psn):
        return _ahead(psn, self.expected) if self.expected is not None else 0

    def ack(self, psn):
        """Return the waiting packets, if the ACK shows that they were accepted."""
        if self.torn or self._ahead(psn) < 0:
            return []
        accepted, self.waiting = self.waiting, []
        self.expected = psn + 1 & PSN_MASK
        return accepted

    def accepts(self, psn, begins, packet):
        ahead = self._ahead(psn)
        if ahead < 0:
            return False
        if ahead:
            if self.waiting or begins:
                self.waiting.append(packet)
            else:
                self.torn = True
            return False
        self.expected = psn + 1 & PSN_MASK
        self.torn, self.waiting = False, []
        return True


class QP:
    """A receiving QP: times and bytes of packets that it accepted."""

    def __init__(self, src, dst, qpn, transport):
        self.src, self.dst, self.qpn, self.transport = src, dst, qpn, transport
        self.requests, self.answers = Requests(), Answers()
        self.expected = None        # UC
        self.message = None         # UC: bytes of the message so far
        self.taken = []             # (time, payload bytes)

    def rc(self, time, opcode, psn, payload):
        """payload: bytes of payload; for a READ request, the bytes that it asks for; for an ACK,
        its syndrome."""
        if opcode == ACK:
            if not payload >> 5:
                self.taken += self.answers.ack(psn)
        elif opcode == ATOMIC_ACK:
            self.taken += self.answers.ack(psn)
        elif opcode == READ_REQUEST:
            self.requests.accepts(psn, payload)
        elif opcode in DATALESS:
            self.requests.accepts(psn)
        elif opcode in READ_RESPONSE:
            if self.answers.accepts(psn, opcode in READ_BEGINS, (time, payload)):
                self.taken.append((time, payload))
        elif self.requests.accepts(psn):
            self.taken.append((time, payload))

    def packet(self, time, opcode, psn, payload):
        group = opcode & 0xe0
        if group == RC:
            self.rc(time, opcode, psn, payload)
            return
        if group == UC:
            if opcode in UC_FIRST:
                self.message = 0
            elif psn != self.expected:
                self.message = None     # void, whatever part of it follows
            self.expected = psn + 1 & PSN_MASK
            if self.message is None:
                return
            self.message += payload
            if opcode not in UC_LAST:
                return
            payload, self.message = self.message, None
        self.taken.append((time, payload))


class Capture:
    """qps: by (address, QPN); cnps: times; ce: times of CE-marked packets;
    data: how many packets carried data."""

    def __init__(self, path, offset):
        """offset: to be subtracted from the capture's times."""
        self.qps, self.cnps, self.ce, self.data = {}, [], [], 0
        for stamp, frame, length in _frames(path):
            self._frame(stamp - offset, frame, length)

    def _frame(self, time, frame, length):
        kind = frame[12] << 8 | frame[13]
        if kind == ETH_IPV4:
            udp = 14 + (frame[14] & 15) * 4
            ecn, src, dst = frame[15] & 3, frame[26:30], frame[30:34]
        elif kind == ETH_IPV6:
            udp = 54
            ecn, src, dst = frame[15] >> 4 & 3, frame[22:38], frame[38:54]
        else:
            return
        bth = udp + 8
        if len(frame) < bth + 12:
            return
        opcode = frame[bth]
        if opcode == CNP:
            self.cnps.append(time)
            return
        if opcode not in KNOWN:
            return
        key = dst, frame[bth + 5:bth + 8]
        psn = int.from_bytes(frame[bth + 9:bth + 12], "big")
        header = DATA.get(opcode)
        if header is None:
            self._control(time, key, opcode, psn, frame[bth + 12:])
            return
        self.data += 1
        if ecn == 3:
            self.ce.append(time)
        qp = self.qps.get(key)
        if qp is None:
            qp = self.qps[key] = QP(_address(src), _address(dst),
                                    int.from_bytes(key[1], "big"),
                                    TRANSPORTS[opcode & 0xe0])
        udp_length = frame[udp + 4] << 8 | frame[udp + 5]
        pad = frame[bth + 1] >> 4 & 3
        qp.packet(time, opcode, psn, udp_length - 8 - 12 - 4 - header - pad)

    def _control(self, time, key, opcode, psn, rest):
        """A packet without data, which shows the next PSN. It makes no entry for a QP, because one
        that gets nothing else receives no data."""
        qp = self.qps.get(key)
        if qp is None or qp.transport != "rc":
            return
        value = int.from_bytes(rest[RETH_LENGTH:RETH_LENGTH + 4], "big") \
            if opcode == READ_REQUEST else rest[0] if rest else 0
        qp.packet(time, opcode, psn, value)


def _address(raw):
    if len(raw) == 4:
        return ".".join(map(str, raw))
    return ":".join("%x" % (raw[i] << 8 | raw[i + 1]) for i in range(0, 16, 2))


def _frames(path):
    """(time, captured bytes, length on the wire) of each packet of a pcap file."""
    with open(path, "rb") as f:
        data = f.read()
    if len(data) < 24 or data[:4] != b"\xd4\xc3\xb2\xa1":
        raise LabError("%s: not a little-endian pcap file" % path)
    at, record = 24, struct.Struct("<IIII")
    while at + 16 <= len(data):
        sec, usec, captured, length = record.unpack_from(data, at)
        at += 16
        if at + captured > len(data):
            return      # incomplete
        yield sec + usec / 1e6, data[at:at + captured], length
        at += captured


def pfc_times(path, zero):
    """Times of PFC frames, as tshark finds them in a capture of MAC control frames."""
    argv = ["tshark", "-r", path, "-T", "fields"]
    for field in ("frame.time_epoch", "macc.opcode", "macc.cbfc.enbv"):
        argv += ["-e", field]
    try:
        said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        raise LabError("tshark is not installed: run tools/lab/deps")
    except subprocess.CalledProcessError as e:
        raise LabError("tshark cannot read %s: %s" % (path, e.stderr))
    frames = (line.split("\t") for line in said.splitlines())
    return [float(time) - zero for time, opcode, enabled in frames
            if opcode and int(opcode, 0) == PFC and enabled and int(enabled, 0)]
