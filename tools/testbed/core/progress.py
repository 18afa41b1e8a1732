# SPDX-License-Identifier: GPL-2.0
"""Progress messages."""

import sys
import time

_start = time.monotonic()


def say(text):
    """One line of progress on stderr, with the time since the start."""
    print("[%6.1f s] %s" % (time.monotonic() - _start, text), file=sys.stderr, flush=True)


def tail(path, lines=20):
    """The last lines of a text file, for an error message."""
    try:
        with open(path, errors="replace") as f:
            return "".join("    " + line for line in f.readlines()[-lines:])
    except OSError:
        return "    (%s cannot be read)\n" % path
