#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test the first request after a reset

A QP is reset while a request is outstanding, and connected again. The
first packet that it sends then must be of the first request that is
posted then.
"""

from rxe_peer import (FETCH_ADD, MTU, PSN, READ_REQUEST, Connection, Unexpected, enums, fault)

READ, ADD = enums.IBV_WR_RDMA_READ, enums.IBV_WR_ATOMIC_FETCH_AND_ADD

c = Connection()
c.post(READ, 4 * MTU)
c.peer.expect(READ_REQUEST, PSN)
done = c.completions()
assert done == [], done

c.reset()
c.connect()
c.post(ADD, 8)
try:
    c.peer.expect(FETCH_ADD, PSN)
except Unexpected as e:
    fault(str(e))
else:
    c.peer.atomic_ack(PSN)
    done = c.completions()
    assert done == [(ADD, enums.IBV_WC_SUCCESS)], done
