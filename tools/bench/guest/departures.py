#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""When data of rxe1 comes to h2's eth0: a line "ns bytes" per frame.

usage: departures.py PACKETS      in h2; the first ones
"""

import socket
import struct
import sys

SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
ETH_P_IP = 0x0800
FRAME_AT = 14 + 20 + 8          # of the BTH
ACK, CNP = 0x11, 0x81

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_IP))
s.bind(("eth0", ETH_P_IP))
s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
packets = []
while len(packets) < int(sys.argv[1]):
    frame, ancillary, _, address = s.recvmsg(FRAME_AT + 1, 64, socket.MSG_TRUNC)
    if address[2] == socket.PACKET_OUTGOING or frame[FRAME_AT] in (ACK, CNP):
        continue
    seconds, ns = struct.unpack("@qq", ancillary[0][2])
    length, = struct.unpack(">H", frame[16:18])
    packets.append((seconds * 10**9 + ns, length + 14))
for time, length in packets:
    print(time, length)
