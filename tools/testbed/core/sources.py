# SPDX-License-Identifier: GPL-2.0
"""Copies parts of a source tree, to build them for some kernel; and builds the command dcqcn."""

import fcntl
import filecmp
import os
import shutil
import subprocess

from .errors import LabError
from .paths import DCQCN, OUT

BUILT = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", "*.order", ".*")


def copy(source, parts, out):
    """Copy files and directories, without files that were built for another kernel. Leaves
    unchanged files as they are, and removes those that the source no longer has, so make rebuilds
    only what has changed."""
    for part in parts:
        here, there = os.path.join(source, part), os.path.join(out, part)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(here):
            shutil.copytree(here, there, dirs_exist_ok=True, ignore=BUILT, copy_function=_update)
            _remove_others(here, there)
        else:
            _update(here, there)


def _update(here, there):
    """Copy a file if it differs. The copy's time is now, so that make sees a change even to an
    older file."""
    if not os.path.exists(there) or not filecmp.cmp(here, there, shallow=False):
        shutil.copyfile(here, there)
        shutil.copymode(here, there)


def _remove_others(here, there):
    for directory, _, names in os.walk(there):
        source = os.path.join(here, os.path.relpath(directory, there))
        for name in set(names) - BUILT(directory, names):
            if not os.path.exists(os.path.join(source, name)):
                os.unlink(os.path.join(directory, name))


def replace(path, old, new):
    """Replace a text that a file must contain. Writes a new file, because the old one may have
    a hard link in another tree."""
    with open(path) as f:
        text = f.read()
    if old not in text:
        raise LabError("%s has no %r" % (path, old))
    os.unlink(path)
    with open(path, "w") as f:
        f.write(text.replace(old, new))


def dcqcn():
    """Build the command in the source tree, where others may do the same; return its path."""
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, "dcqcn.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "-C", DCQCN], check=True)
    return os.path.join(DCQCN, "dcqcn")
