#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test an ACK in place of an atomic's response

A peer executes a WRITE and an atomic operation, and both answers are
lost. When the WRITE comes again, rxe's responder answers it with an ACK
of all that it has executed, the atomic operation included. That ACK is
not a response to the atomic operation, because the data is missing. The
requester must ask again.
"""

import struct

from rxe_peer import (FETCH_ADD, FRESH, PSN, VALUE, WRITE_ONLY, Connection, enums, fault)

WRITE, ADD = enums.IBV_WR_RDMA_WRITE, enums.IBV_WR_ATOMIC_FETCH_AND_ADD
SUCCESS = enums.IBV_WC_SUCCESS

c = Connection()
c.post(WRITE, 8)
c.post(ADD, 8)
for _ in range(2):      # at once, and after the timeout
    c.peer.expect(WRITE_ONLY, PSN)
    c.peer.expect(FETCH_ADD, PSN + 1)

c.peer.ack(PSN + 1)
done = c.completions()
assert done[:1] == [(WRITE, SUCCESS)], done
if done[1:] == [(ADD, SUCCESS)] and c.memory(8) == FRESH[:8]:
    fault("an atomic operation completes with success, and without data")
else:
    assert done[1:] == [], done
    c.peer.expect(FETCH_ADD, PSN + 1)       # the ACK says that its answer is lost
    c.peer.atomic_ack(PSN + 1)
    done = c.completions()
    assert done == [(ADD, SUCCESS)], done
    value = struct.unpack("=Q", c.memory(8))[0]
    assert value == VALUE, hex(value)
