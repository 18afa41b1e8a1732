#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test a READ response that begins in the middle

A peer answers a READ with the second packet of a response as if it were
the first. The READ cannot go on from there, so it must fail.
"""

from rxe_peer import FRESH, MTU, PSN, READ_REQUEST, Connection, enums, fault

READ = enums.IBV_WR_RDMA_READ

c = Connection()
c.post(READ, 4 * MTU)
c.peer.expect(READ_REQUEST, PSN)
c.peer.read_response(PSN, PSN - 1, PSN + 3)
done = c.completions()
assert c.memory(len(FRESH)) == FRESH
assert not c.works()
if done == [(READ, enums.IBV_WC_SUCCESS)]:
    fault("a READ that gets a bad response completes with success, and without data")
else:
    assert done == [(READ, enums.IBV_WC_BAD_RESP_ERR)], done
