# SPDX-License-Identifier: GPL-2.0
"""A copy of the module whose pacer only wakes on ticks, as without high-resolution timers. The
kernel parameter highres=off would make the links and switches of the simulation late, too."""

import fcntl
import os
import threading

from ..core import sources
from ..core.paths import MODULE, MODULE_PARTS, TOP

PACER = "drivers/infiniband/sw/dcqcn/queue.c"
TIMER = ("ns_to_ktime(", "dcqcn_flow_tick(qp, ")
# Each host has its own phase, as machines have
TICK = ("/* When the timer must fire */", """static ktime_t dcqcn_flow_tick(const struct dcqcn_qp *qp, u64 wake)
{
	u32 phase = (dev_net(qp->dev->ndev)->net_cookie * 2654435761U) %% %(tick)dU;

	return ns_to_ktime(roundup_u64(wake + phase, %(tick)dU) - phase);
}

/* When the timer must fire */""")

_lock, _built = threading.Lock(), {}


def module(kernel, out, tick):
    """The module for a tick in ns, built when it is first asked for."""
    where = os.path.join(out, "tick-%d" % tick)
    with _lock:
        if where not in _built:
            os.makedirs(out, exist_ok=True)
            with open(where + ".lock", "w") as lock:    # other commands want it, too
                fcntl.flock(lock, fcntl.LOCK_EX)
                _build(kernel, where, tick)
            _built[where] = os.path.join(where, MODULE)
    return _built[where]


def _build(kernel, where, tick):
    """Change a copy of the source, and build in a second copy. make compiles nothing there that is
    unchanged, so the module stays while other commands load it."""
    changed = where + ".source"
    sources.copy(TOP, MODULE_PARTS, changed)
    pacer = os.path.join(changed, PACER)
    sources.replace(pacer, *TIMER)
    sources.replace(pacer, TICK[0], TICK[1] % {"tick": tick})
    kernel.module(changed, MODULE_PARTS, where)
