# SPDX-License-Identifier: GPL-2.0
"""Runs in the simulator, where computing takes no time: all tests of ports.

usage: tests.py MODULE BINARIES OUT [TEST ...]
"""

import sys

import ports    # noqa: F401
import ingress  # noqa: F401
import profiles  # noqa: F401
import random_walk  # noqa: F401
import dcbx     # noqa: F401
from cases import run

run(sys.argv[1], sys.argv[4:])
