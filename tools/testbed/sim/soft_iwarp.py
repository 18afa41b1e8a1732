# SPDX-License-Identifier: GPL-2.0
"""soft-iWARP and DCTCP, as modules of the simulator's kernel.

They are not built with the kernel, because few scenarios need them: the first scenario that does
waits half a minute."""

import fcntl
import functools
import os

from ..core import sources

PARTS = ("drivers/infiniband/sw/siw", "net/ipv4/tcp_dctcp.c", "net/ipv4/tcp_dctcp.h")

MODULES = ("net/ipv4/tcp_dctcp.ko", "drivers/infiniband/sw/siw/siw.ko")


@functools.cache
def modules(kernel, out):
    """The modules' files, in the order in which they are loaded."""
    where = os.path.join(out, "iwarp")
    os.makedirs(where, exist_ok=True)
    with open(where + ".lock", "w") as lock:    # other threads and commands want them, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        sources.copy(kernel.source, PARTS, where)
        for name, text in (("net/ipv4/Makefile", "obj-m := tcp_dctcp.o\n"),
                           ("Kbuild", "obj-m := net/ipv4/ drivers/infiniband/sw/siw/\n")):
            with open(os.path.join(where, name), "w") as f:
                f.write(text)
        kernel.module(where, (), where, ["CONFIG_RDMA_SIW=m"])
    return [os.path.join(where, m) for m in MODULES]
