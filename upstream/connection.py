# SPDX-License-Identifier: GPL-2.0
"""A QP of rxe and its peer, for reproducers that run inside the simulator's kernel.

The peer is not an RDMA device but the far end of a veth pair. It sees what rxe sends, and sends
what the reproducer tells it to, so that each packet comes exactly when it is needed.
"""

import ipaddress
import socket
import struct
import subprocess
import time

from pyverbs import enums
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

from testbed.core import roce_packet as roce

NEAR, FAR = "10.0.0.1", "10.0.0.2"
PEER_QPN = 0x111111
PSN = 1000          # of the first packet
MTU = 256
VALUE = 0x1122334455667788      # what the peer's memory holds
FRESH = bytes([0x5a]) * 8 * MTU     # what ours holds before a response changes it
# Opcodes of RC
WRITE_ONLY, READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST = 0x0a, 0x0c, 0x0d, 0x0e, 0x0f
ACK, ATOMIC_ACK, FETCH_ADD = 0x11, 0x12, 0x14
ACK_SYNDROME = 0x1f     # an ACK, and no limit to what may be sent
PATIENCE = 1        # s, in which rxe answers, or not at all

SETUP = """
ip link add near type veth peer name far
ip link set dev far address 02:00:00:00:00:02 up
ip addr add %s/24 dev near
ip link set dev near address 02:00:00:00:00:01 up
ip neigh replace %s lladdr 02:00:00:00:00:02 dev near
rdma link add rxe0 type rxe netdev near
""" % (NEAR, FAR)


def fault(text):
    """Say that the kernel has the fault; upstream/try looks for this."""
    print("FAULT: " + text, flush=True)


class Unexpected(Exception):
    """rxe sent something else."""


class Peer:
    """Sees what rxe sends, and sends."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.socket.bind(("far", 0))
        self.socket.settimeout(PATIENCE)
        self.qpn = None     # of rxe's QP

    def expect(self, opcode, psn):
        """Wait for a packet of rxe's, and take no other in its place."""
        while True:
            frame = self.socket.recv(65536)
            packet = roce.Packet(time.monotonic(), frame, len(frame))
            if not packet.roce or packet.dst != FAR:
                continue
            if (packet.opcode, packet.psn) != (opcode, psn):
                raise Unexpected("rxe sent opcode %#x with PSN %d instead of %#x with %d" %
                                 (packet.opcode, packet.psn, opcode, psn))
            return

    def send(self, opcode, psn, payload=b""):
        packet = roce.roce(FAR, NEAR, roce.bth(opcode, self.qpn, psn=psn) + payload)
        self.socket.send(bytes.fromhex("020000000001" "020000000002" "0800") +
                         packet.ljust(46, b"\0"))

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


def read_data(psn):
    """What the peer's memory holds at the place of this packet."""
    return bytes([psn & 0xff]) * MTU


class Connection:
    """rxe's QP, connected to the peer, and its memory."""

    def __init__(self):
        subprocess.run(["sh", "-ec", SETUP], check=True)
        index = subprocess.run(["python3", "-B", roce.__file__, "gid-index", "rxe0", NEAR],
                               check=True, capture_output=True, text=True).stdout
        access = enums.IBV_ACCESS_LOCAL_WRITE
        context = Context(name="rxe0")
        pd = PD(context)
        self.mr = MR(pd, len(FRESH), access)
        self.mr.write(FRESH, len(FRESH))
        self.cq = CQ(context, 16)
        self.qp = QP(pd, QPInitAttr(qp_type=enums.IBV_QPT_RC, scq=self.cq, rcq=self.cq,
                                    cap=QPCap(max_send_wr=8), sq_sig_all=1))
        self.attr = QPAttr(port_num=1)
        self.attr.path_mtu = enums.IBV_MTU_256
        self.attr.dest_qp_num = PEER_QPN
        self.attr.rq_psn = self.attr.sq_psn = PSN
        self.attr.max_rd_atomic = self.attr.max_dest_rd_atomic = 4
        self.attr.min_rnr_timer = 1
        self.attr.timeout = 14      # 67 ms
        self.attr.retry_cnt = self.attr.rnr_retry = 7
        self.attr.ah_attr = AHAttr(is_global=1, port_num=1, gr=GlobalRoute(
            dgid=GID(ipaddress.ip_address("::ffff:" + FAR).exploded), sgid_index=int(index)))
        self.connect()
        self.peer = Peer()
        self.peer.qpn = self.qp.qp_num

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

    def memory(self, length):
        return self.mr.read(length, 0)

    def works(self):
        """Whether the QP is still one that can send."""
        return self.qp.query(enums.IBV_QP_STATE)[0].qp_state == enums.IBV_QPS_RTS
