# SPDX-License-Identifier: GPL-2.0
"""A peer of rxe that sends single packets

Faults of rxe's requester and completer show when packets come in a
certain order, which two rxe devices do not produce on demand. Add a QP
whose peer is no RDMA device but the far end of a veth pair: it sees what
rxe sends, and sends what a test tells it to, when it tells it to.

The tests need the Python bindings of rdma-core, pyverbs, and are skipped
without them.
"""

import atexit
import binascii
import ipaddress
import os
import socket
import struct
import subprocess
import sys
import time

KSFT_SKIP = 4


def skip(why):
    print("SKIP: " + why, flush=True)
    sys.exit(KSFT_SKIP)


try:
    from pyverbs import enums
    from pyverbs.addr import GID, AHAttr, GlobalRoute
    from pyverbs.cq import CQ
    from pyverbs.device import Context
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
    from pyverbs.wr import SGE, SendWR
except ImportError:
    skip("python module pyverbs not found")

NEAR, FAR = "10.0.0.1", "10.0.0.2"
NEAR_MAC, FAR_MAC = "02:00:00:00:00:01", "02:00:00:00:00:02"
ROCE_PORT = 4791
PEER_QPN = 0x111111
PSN = 1000          # of the first packet
MTU = 256
VALUE = 0x1122334455667788      # what the peer's memory holds
FRESH = bytes([0x5a]) * 8 * MTU     # what ours holds before a packet changes it
# Opcodes of RC
WRITE_ONLY, READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST = 0x0a, 0x0c, 0x0d, 0x0e, 0x0f
ACK, ATOMIC_ACK, FETCH_ADD = 0x11, 0x12, 0x14
# and of UC
UC_WRITE_FIRST, UC_WRITE_ONLY = 0x26, 0x2a
ACK_SYNDROME = 0x1f     # an ACK, and no limit to what may be sent
PATIENCE = 1        # s, in which rxe answers, or not at all

SETUP = """
modprobe veth
modprobe rdma_rxe
ip link add near type veth peer name far
ip link set dev far address %s up
ip addr add %s/24 dev near
ip link set dev near address %s up
ip neigh replace %s lladdr %s dev near
rdma link add rxe0 type rxe netdev near
""" % (FAR_MAC, NEAR, NEAR_MAC, FAR, FAR_MAC)


def fault(text):
    """The kernel has the fault."""
    print("FAULT: " + text, flush=True)
    sys.exit(1)


class Unexpected(Exception):
    """rxe sent something else."""


def ip_packet(src, dst, payload):
    """The headers of IPv4 and UDP, and a payload."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0x4000, 64,
                       socket.IPPROTO_UDP, 0, ipaddress.ip_address(src).packed,
                       ipaddress.ip_address(dst).packed)
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xffff) + (total >> 16)
    head = head[:10] + struct.pack(">H", ~total & 0xffff) + head[12:]
    return head + struct.pack(">HHHH", 0, ROCE_PORT, 8 + len(payload), 0) + payload


def icrc(packet):
    """Of an IPv4 packet, without what routers may change."""
    p = bytearray(packet)
    for i in (1, 8, 10, 11, 26, 27, 32):    # TOS, TTL, checksums, FECN and BECN
        p[i] = 0xff
    return struct.pack("<I", binascii.crc32(b"\xff" * 8 + bytes(p)))


class Peer:
    """Sees what rxe sends, and sends."""

    def __init__(self, qpn):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.socket.bind(("far", 0))
        self.socket.settimeout(PATIENCE)
        self.qpn = qpn      # of rxe's QP

    def expect(self, opcode, psn):
        """Wait for a packet of rxe's, and take no other in its place."""
        while True:
            packet = self.socket.recv(65536)[14:]
            if len(packet) < 40 or packet[9] != socket.IPPROTO_UDP or \
               packet[16:20] != ipaddress.ip_address(FAR).packed or \
               struct.unpack(">H", packet[22:24]) != (ROCE_PORT,):
                continue
            is_opcode, _, is_psn = struct.unpack(">B7sI", packet[28:40])
            is_psn &= 0xffffff
            if (is_opcode, is_psn) != (opcode, psn):
                raise Unexpected("rxe sent opcode %#x with PSN %d instead of %#x with %d" %
                                 (is_opcode, is_psn, opcode, psn))
            return

    def send(self, opcode, psn, payload=b""):
        bth = struct.pack(">BBHII", opcode, 0, 0xffff, self.qpn, psn)
        packet = ip_packet(FAR, NEAR, bth + payload + bytes(4))[:-4]
        frame = bytes.fromhex((NEAR_MAC + FAR_MAC).replace(":", "")) + b"\x08\x00"
        self.socket.send(frame + (packet + icrc(packet)).ljust(46, b"\0"))

    def ack(self, psn):
        self.send(ACK, psn, aeth())

    def atomic_ack(self, psn):
        self.send(ATOMIC_ACK, psn, aeth() + struct.pack(">Q", VALUE))

    def read_response(self, psn, first, last):
        """The packet with this PSN of the response to a READ of PSNs first to last."""
        opcode = READ_FIRST if psn == first else READ_LAST if psn == last else READ_MIDDLE
        header = b"" if first < psn < last else aeth()
        self.send(opcode, psn, header + read_data(psn))


def aeth():
    return struct.pack(">I", ACK_SYNDROME << 24)


def write_data(number):
    return bytes([number]) * MTU


def read_data(psn):
    """What the peer's memory holds at the place of this packet."""
    return bytes([psn & 0xff]) * MTU


def gid_index(address):
    """Of the GID for RoCEv2."""
    gid = ipaddress.ip_address("::ffff:" + address).exploded
    port = "/sys/class/infiniband/rxe0/ports/1/"
    for index in sorted(os.listdir(port + "gids"), key=int):
        try:
            with open(port + "gids/" + index) as f, open(port + "gid_attrs/types/" + index) as t:
                if f.read().strip() == gid and t.read().strip() == "RoCE v2":
                    return int(index)
        except OSError:     # there is none with this index
            continue
    raise LookupError("rxe0 has no GID for " + address)


def cleanup():
    for words in ("rdma link del rxe0", "ip link del near"):
        subprocess.run(words.split(), stderr=subprocess.DEVNULL)


def setup(lines=SETUP):
    if os.geteuid():
        skip("must be run as root")
    atexit.register(cleanup)
    for line in lines.strip().splitlines():
        subprocess.run(line.split(), check=True)


class Connection:
    """rxe's QP, connected to the peer, and its memory."""

    def __init__(self, qp_type=enums.IBV_QPT_RC):
        setup()
        access = enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE
        context = Context(name="rxe0")
        pd = PD(context)
        self.mr = MR(pd, len(FRESH), access)
        self.mr.write(FRESH, len(FRESH))
        self.cq = CQ(context, 16)
        self.qp = QP(pd, QPInitAttr(qp_type=qp_type, scq=self.cq, rcq=self.cq,
                                    cap=QPCap(max_send_wr=8), sq_sig_all=1))
        self.attr = QPAttr(port_num=1)
        self.attr.qp_access_flags = access
        self.attr.path_mtu = enums.IBV_MTU_256
        self.attr.dest_qp_num = PEER_QPN
        self.attr.rq_psn = self.attr.sq_psn = PSN
        self.attr.max_rd_atomic = self.attr.max_dest_rd_atomic = 4
        self.attr.min_rnr_timer = 1
        self.attr.timeout = 14      # 67 ms
        self.attr.retry_cnt = self.attr.rnr_retry = 7
        self.attr.ah_attr = AHAttr(is_global=1, port_num=1, gr=GlobalRoute(
            dgid=GID(ipaddress.ip_address("::ffff:" + FAR).exploded),
            sgid_index=gid_index(NEAR)))
        self.connect()
        self.peer = Peer(self.qp.qp_num)

    def connect(self):
        self.qp.to_rts(self.attr)

    def error(self):
        self.qp.modify(QPAttr(qp_state=enums.IBV_QPS_ERR), enums.IBV_QP_STATE)

    def reset(self):
        self.qp.modify(QPAttr(qp_state=enums.IBV_QPS_RESET), enums.IBV_QP_STATE)

    def post(self, opcode, length):
        """Post a work request; its id is its opcode."""
        wr = SendWR(wr_id=opcode, opcode=opcode, num_sge=1,
                    sg=[SGE(self.mr.buf, length, self.mr.lkey)])
        if opcode in (enums.IBV_WR_ATOMIC_FETCH_AND_ADD, enums.IBV_WR_ATOMIC_CMP_AND_SWP):
            wr.set_wr_atomic(1, 0, 1, 0)
        else:
            wr.set_wr_rdma(1, 0)
        self.qp.post_send(wr)

    def completions(self):
        """What has completed by now, as pairs of a work request's id and its status."""
        time.sleep(0.01)    # rxe handles packets in a work queue
        return [(wc.wr_id, wc.status) for wc in self.cq.poll(16)[1]]

    def reth(self, length):
        """The header of a WRITE to the beginning of our memory."""
        return struct.pack(">QII", self.mr.buf, self.mr.rkey, length)

    def memory(self, length):
        return self.mr.read(length, 0)

    def works(self):
        """Whether the QP is still one that can send."""
        return self.qp.query(enums.IBV_QP_STATE)[0].qp_state == enums.IBV_QPS_RTS
