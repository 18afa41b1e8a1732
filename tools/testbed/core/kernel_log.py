# SPDX-License-Identifier: GPL-2.0
"""What a kernel says when something is wrong with it."""

import re

COMPLAINT = re.compile(r"WARNING:|BUG:|Oops|Call Trace|UBSAN:|KASAN:|KCSAN:|"
                       r"possible .* detected|kmemleak: \d+ new suspected|"
                       r"INFO: task .* blocked|INFO: .*stall|rcu: INFO|general protection|"
                       r"Kernel panic|soft lockup|hard LOCKUP|refcount_t:|"
                       r"unregister_netdevice: waiting|NETDEV WATCHDOG|list_(add|del) corruption")

# TAINT_BAD_PAGE, TAINT_DIE, TAINT_WARN, TAINT_SOFTLOCKUP
BAD_TAINT = 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14


def complaints(text):
    """The lines of a log in which the kernel finds fault with itself."""
    return [line.strip() for line in text.splitlines() if COMPLAINT.search(line)]
