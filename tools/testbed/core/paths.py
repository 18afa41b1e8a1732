# SPDX-License-Identifier: GPL-2.0
"""Where things are: in this source tree, and in the user's cache."""

import os
import re

# The package is also found through links beside the commands, hence realpath
TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", ".."))
LAB, SIM, BENCH, PLOT, DCQCN = (os.path.join(TOP, "tools", d)
                                for d in ("lab", "sim", "bench", "plot", "dcqcn"))
OUT = os.path.join(TOP, "out")
ROCE_PACKET = os.path.join(os.path.dirname(os.path.realpath(__file__)), "roce_packet.py")

# Relative to the top: the sources of the modules, and the built files
MODULE_PARTS = ("Kbuild", "include", "drivers")
MODULE = "drivers/infiniband/sw/dcqcn/rdma_dcqcn.ko"
DCBPORT = "drivers/net/dcbport/dcbport.ko"


def version():
    with open(os.path.join(TOP, "include", "rdma_dcqcn_version.h")) as f:
        return re.search(r'^#define RDMA_DCQCN_VERSION\s+"(.*)"', f.read(), re.M)[1]


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "rdma_dcqcn")
