# SPDX-License-Identifier: GPL-2.0
"""Output directories: one command at a time writes to a directory, or several that share it."""

import fcntl
import os
import shlex
import sys

from .errors import InputError

_held = {}      # path -> the lock, until this process ends, however it ends


def hold(directory, option=None, shared=False):
    """Make a directory, and keep other commands from writing to it until this one ends. Raise
    InputError if another command uses it. option: the option that names another directory; shared:
    allow others that share it.

    Two runs in one directory would remove each other's files and build from each other's objects."""
    path = os.path.realpath(directory)
    if path in _held:
        return
    os.makedirs(path, exist_ok=True)
    lock = open(os.path.join(path, ".lock"), "a+")
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise InputError("%s: is in use by %s; wait until that has ended%s" % (
            directory, lock.read().strip() or "another command",
            ", or choose another directory with %s" % option if option else "")) from None
    lock.truncate(0)
    lock.write("process %d: %s\n" % (os.getpid(), shlex.join(sys.argv)))
    lock.flush()
    _held[path] = lock
