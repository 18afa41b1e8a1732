# SPDX-License-Identifier: GPL-2.0
"""The lists of scripts in selftests/rdma/Makefile."""

import os
import re

RDMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "rdma")


def scripts(*lists):
    """Scripts in these variables of the Makefile, with the names of tests behind some."""
    with open(os.path.join(RDMA, "Makefile")) as f:
        text = f.read().replace("\\\n", " ")
    return [script.replace(":", " ") for name in lists
            for script in re.search(r"^%s\s*:=\s*(.*)$" % name, text, re.M)[1].split()]
