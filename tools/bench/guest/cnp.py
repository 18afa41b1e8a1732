#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Sends CNPs to QPs of rxe1, as if from their peers.

usage: cnp.py QPS TIMES      in h2; to at most QPS QPs, TIMES times; prints their number
"""

import json
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import roce_packet

# The module resolves a limited number of QPs at a time: let its worker run in between
BATCH = 500

qps = json.loads(subprocess.check_output(["rdma", "-j", "res", "show", "qp", "link", "rxe1"]))
frames = [bytes.fromhex("020000000001" "020000000002" "0800") +
          roce_packet.patched_vector("10.0.0.2", "10.0.0.1", qp["lqpn"])
          for qp in qps if qp["type"] in ("RC", "UC")][:int(sys.argv[1])]
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind(("eth0", 0))
for _ in range(int(sys.argv[2])):
    for i, frame in enumerate(frames):
        s.send(frame)
        if i % BATCH == BATCH - 1:
            time.sleep(0.01)
    time.sleep(0.01)
print(len(frames))
