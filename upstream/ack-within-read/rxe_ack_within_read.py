#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test an old ACK within a READ's response

The ACK of a WRITE comes a second time, after the first packet of the
response to the READ that follows the WRITE: the network duplicated it, or
the WRITE was retried. The READ must complete, with all of its data.
"""

from rxe_peer import (MTU, PSN, READ_REQUEST, WRITE_ONLY, Connection, enums, fault, read_data)

WRITE, READ = enums.IBV_WR_RDMA_WRITE, enums.IBV_WR_RDMA_READ
SUCCESS = enums.IBV_WC_SUCCESS
PACKETS = 4

c = Connection()
c.post(WRITE, 8)
c.post(READ, PACKETS * MTU)
c.peer.expect(WRITE_ONLY, PSN)
c.peer.expect(READ_REQUEST, PSN + 1)

first, last = PSN + 1, PSN + PACKETS
c.peer.ack(PSN)
for psn in range(first, last + 1):
    c.peer.read_response(psn, first, last)
    if psn == first:
        c.peer.ack(PSN)
done = c.completions()
assert done[:1] == [(WRITE, SUCCESS)], done
data = b"".join(read_data(psn) for psn in range(first, last + 1))
if done[1:] != [(READ, SUCCESS)]:
    fault("a READ fails because of a second ACK: %s" % done[1:])
elif c.memory(len(data)) != data:
    fault("a READ completes with success, without all of its data")
elif not c.works():
    fault("a second ACK ends the QP")
