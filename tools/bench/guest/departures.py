#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Prints the packets that pass h2's eth0: a line "ns bytes" for each data frame that arrives
from rxe1, and "ns CNP" for each CNP that leaves, in their order.

usage: departures.py PACKETS      in h2; ends after this number of data frames
"""

import socket
import struct
import sys

SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
ETH_P_ALL = 3                   # only this protocol also receives packets that leave
IPV4 = b"\x08\x00"
BTH_AT = 14 + 20 + 8
ACK, CNP = 0x11, 0x81

s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
s.bind(("eth0", ETH_P_ALL))
s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
lines, left = [], int(sys.argv[1])
while left:
    frame, ancillary, _, address = s.recvmsg(BTH_AT + 1, 64, socket.MSG_TRUNC)
    if frame[12:14] != IPV4:
        continue
    outgoing, opcode = address[2] == socket.PACKET_OUTGOING, frame[BTH_AT]
    seconds, ns = struct.unpack("@qq", ancillary[0][2])
    if outgoing and opcode == CNP:
        lines.append((seconds * 10**9 + ns, "CNP"))
    elif not outgoing and opcode not in (ACK, CNP):
        length, = struct.unpack(">H", frame[16:18])
        lines.append((seconds * 10**9 + ns, length + 14))
        left -= 1
for time, what in lines:
    print(time, what)
