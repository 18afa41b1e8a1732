# SPDX-License-Identifier: GPL-2.0
"""A peer answers a READ with the second packet of a response as if it were the first. There is
no way to go on from there, and the READ has to fail."""

from pyverbs import enums

from connection import FRESH, MTU, PSN, READ_REQUEST, Connection, fault

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
