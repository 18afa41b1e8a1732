#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test UDP packets that are not RoCE
#
# Ten thousand packets with random contents come to rxe's port, some of them
# with the header of a packet that rxe knows. Traffic goes on meanwhile, and
# rxe keeps no reference to any of them.

source "$(dirname "$0")/rxe_lib.sh"

need ibv_rc_pingpong python3
setup_veth
add_links
in_far python3 - <<END &
import random, socket, struct
random.seed(1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(10000):
    data = random.randbytes(random.randrange(12, 1400))
    if i % 2:
        qpn = random.choice((0, 1, 17, 18, 0xffffff))
        opcode = random.choice((*range(24), *range(0x20, 0x2c), 0x64, 0x65, 0x81))
        data = struct.pack(">BBHII", opcode, 0, 0xffff, qpn, random.getrandbits(24)) + data[12:]
    s.sendto(data, ("$NEAR", 4791))
END
sender=$!
pingpong V4 ibv_rc_pingpong -m 1024 -n 1000 -s 4096 || fail "bad packets harm a connection"
wait $sender || fail "bad packets were not sent"
timeout 30 rdma link del rxe_near || fail "the device cannot be removed"
