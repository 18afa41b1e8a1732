# SPDX-License-Identifier: GPL-2.0
"""rxe of the simulator's kernel with patches, as a module in place of the kernel's own."""

import os
import shutil
import subprocess

from ..core.errors import LabError

RXE = "drivers/infiniband/sw/rxe"


def must(*step):
    done = subprocess.run(step, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise LabError("%s failed:\n%s" % (" ".join(step), (done.stdout + done.stderr)[-4000:]))


def copied(source, out):
    shutil.rmtree(out, ignore_errors=True)
    return shutil.copytree(source, out)


def built(kernel, rxe):
    must("make", "-C", kernel.kdir, "ARCH=" + kernel.arch, "M=" + rxe, "CONFIG_RDMA_RXE=m",
         "W=1", "modules")
    return rxe


def patched(kernel, rxe, patches, out):
    """Build the module from a patched copy of rxe. If rxe is built already, only the patched files
    are compiled again. Return its path."""
    copied(rxe, out)
    for p in patches:
        must("patch", "-d", out, "-p%d" % len(("a/" + RXE).split("/")), "-i", p)
    return os.path.join(built(kernel, out), "rdma_rxe.ko")


def replaced(modules, rxe):
    """A list of modules with this one instead of the kernel's."""
    return [rxe if os.path.basename(m) == "rdma_rxe.ko" else m for m in modules]
