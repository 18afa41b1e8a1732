#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test a UC WRITE after one that lost a packet

The last packet of an RDMA WRITE over UC is lost. The responder notices
when the next WRITE begins, and may drop that as well. It must accept the
one after it.
"""

from rxe_peer import (FRESH, MTU, PSN, UC_WRITE_FIRST, UC_WRITE_ONLY, Connection, enums, fault,
                      write_data)

c = Connection(enums.IBV_QPT_UC)
c.peer.send(UC_WRITE_FIRST, PSN, c.reth(2 * MTU) + write_data(1))
c.peer.send(UC_WRITE_ONLY, PSN + 2, c.reth(MTU) + write_data(2))
c.completions()
c.peer.send(UC_WRITE_ONLY, PSN + 3, c.reth(MTU) + write_data(3))
c.completions()
if c.memory(MTU) != write_data(3):
    fault("a WRITE after a loss does not arrive")
assert c.memory(2 * MTU)[MTU:] == FRESH[:MTU]
