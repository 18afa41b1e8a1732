# SPDX-License-Identifier: GPL-2.0
"""Faults that kernels report, in themselves or in our module.

The whole console of each kernel that we boot is kept. If KERNEL_LOGS names a directory, a copy is
written there while the kernel runs. Tests cannot clear it, as they can dmesg, and need not check it
themselves.
"""

import os
import re
import tempfile

DIRECTORY = "KERNEL_LOGS"       # the environment's

REPORT = re.compile(
    r"WARNING: |BUG: |Oops|Call Trace|KASAN: |UBSAN: |KCSAN: |Kernel panic|"
    r"general protection fault|possible .* detected|inconsistent lock state|"
    r"kmemleak: \d+ new suspected|unreferenced object|"
    r"INFO: task .* blocked|INFO: .*stall|soft lockup|hard LOCKUP|"
    r"refcount_t: |unregister_netdevice: waiting|NETDEV WATCHDOG|list_(?:add|del) corruption")

# TAINT_BAD_PAGE, TAINT_DIE, TAINT_WARN, TAINT_SOFTLOCKUP
BAD_TAINT = 1 << 5 | 1 << 7 | 1 << 9 | 1 << 14

# rxe's completer warns when QPs are created and destroyed under traffic (upstream/bad-response/).
# If the stack does not have our module, this warning is rxe's own fault. Other warnings of rxe
# count: for instance, packets of a QP that are held for ever would be our fault. Reports of another
# CPU in the middle of this one count, too. A console that is not verbose leaves out "cut here".
OF_RXE = re.compile(r"(?:-+\[ cut here \]-+\n)?"
                    r"WARNING: drivers/infiniband/sw/rxe/rxe_comp\.c:\d+ at rxe_completer\+.*\n"
                    r"(?:(?! .*\[rdma_dcqcn\]|.*(?:cut here|BUG: |KASAN|UBSAN|Oops)).*\n)*?"
                    r"---\[ end trace .*\n")


def complaints(text):
    """The lines of a log that report a fault."""
    text = re.sub(r"^\[ *\d+\.\d+\] ", "", text.replace("\r", ""), flags=re.M)
    return [line for line in OF_RXE.sub("", text).splitlines() if REPORT.search(line)]


def place(name):
    """A new file for a kernel's console in KERNEL_LOGS; None if that is not set."""
    directory = os.environ.get(DIRECTORY)
    if not directory:
        return None
    fd, path = tempfile.mkstemp(prefix=name + ".", dir=directory)
    os.close(fd)
    return path
