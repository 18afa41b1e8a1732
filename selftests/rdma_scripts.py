# SPDX-License-Identifier: GPL-2.0
"""The lists of scripts in selftests/rdma/Makefile, and the tests in each."""

import os
import re

RDMA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "rdma")


def scripts(*lists):
    """Scripts in these variables of the Makefile, with the names of tests behind some."""
    with open(os.path.join(RDMA, "Makefile")) as f:
        text = f.read().replace("\\\n", " ")
    return [script.replace(":", " ") for name in lists
            for script in re.search(r"^%s\s*:=\s*(.*)$" % name, text, re.M)[1].split()]


def tests(script, simulated):
    """Functions of a script that run with both hosts in one kernel, or in guests, each with the
    name of its result."""
    with open(os.path.join(RDMA, script)) as f:
        text = f.read()
    guests_only = re.search(r'^GUESTS_ONLY="?([^"#\n]*)', text, re.M)
    left_out = guests_only[1].split() if guests_only and simulated else ()
    listed = re.search(r"^TESTS=\((.*?)^\)", text, re.M | re.S)[1]
    return {name: "%s: %s" % (script[:-len(".sh")], title)
            for name, title in re.findall(r'^\t"(\S+) (.*)"', listed, re.M) if name not in left_out}
