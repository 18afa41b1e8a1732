#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test a QP that is reset within a READ

A connection ends after the first packet of the response to a READ, and
its QP is connected again. An atomic operation must then complete as if
there had been no READ.
"""

import struct

from rxe_peer import (FETCH_ADD, MTU, PSN, READ_REQUEST, VALUE, Connection, enums, fault)

READ, ADD = enums.IBV_WR_RDMA_READ, enums.IBV_WR_ATOMIC_FETCH_AND_ADD

c = Connection()
c.post(READ, 4 * MTU)
c.peer.expect(READ_REQUEST, PSN)
c.peer.read_response(PSN, PSN, PSN + 3)
done = c.completions()
assert done == [], done

c.error()       # as on any failure; the READ is flushed
done = c.completions()
assert done == [(READ, enums.IBV_WC_WR_FLUSH_ERR)], done
c.reset()
c.connect()
c.post(ADD, 8)
c.peer.expect(FETCH_ADD, PSN)
c.peer.atomic_ack(PSN)
done = c.completions()
value = struct.unpack("=Q", c.memory(8))[0]
if done != [(ADD, enums.IBV_WC_SUCCESS)]:
    fault("an atomic operation fails because of an earlier connection: %s" % done)
elif value != VALUE:
    fault("an atomic operation completes with success, without its data")
elif not c.works():
    fault("an earlier connection ends the QP")
