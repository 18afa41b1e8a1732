# SPDX-License-Identifier: GPL-2.0
"""Reading a kernel's console."""

import os
import select
import time

from .errors import LabError


def watch(process, silence, line, ended=lambda said: False):
    """Pass each line of a process's output to line(), until it ends, or until ended() accepts the
    end of its output. Raise LabError if it prints nothing for that many seconds."""
    rest, words, alive = "", "", time.monotonic()
    fd = process.stdout.fileno()
    while True:
        if not select.select([fd], [], [], 1)[0]:
            if time.monotonic() - alive > silence:
                raise LabError("it has printed nothing for %d s" % silence)
            continue
        read = os.read(fd, 65536)
        data = read.decode(errors="replace").replace("\r", "")
        alive = time.monotonic()
        *lines, rest = (rest + data).split("\n")
        for entry in lines:
            line(entry)
        words = (words + data)[-100:]
        if not read or ended(words):    # a read may be a lone \r
            if rest:
                line(rest)
            return


def last(text, lines=20):
    """The last part of a text, for an error message."""
    return "\n".join("    " + line for line in text.splitlines()[-lines:])
