# SPDX-License-Identifier: GPL-2.0
"""What kernels print when they find fault with themselves, or with our module.

Every kernel that we boot has its whole console kept; whoever sets KERNEL_LOGS, a directory,
finds a copy of each there, made while the kernel runs. So tests can neither clear it, as they
can dmesg, nor forget to look.
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

# What rxe's completer has to say about itself, without us in the stack: QPs that come and
# go under traffic make it warn. Not what else rxe says: that packets of a QP are held for
# ever, for instance, is how it would tell on us.
OF_RXE = re.compile(r"-+\[ cut here \]-+\nWARNING: drivers/infiniband/sw/rxe/rxe_comp\.c.*\n"
                    r"(?:(?! .*\[rdma_dcqcn\]|.*cut here).*\n)*?---\[ end trace .*\n")


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
