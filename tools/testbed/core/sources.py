# SPDX-License-Identifier: GPL-2.0
"""Parts of a source tree, copied to be built for some kernel."""

import os
import shutil

from .errors import LabError

BUILT = shutil.ignore_patterns("*.o", "*.ko", "*.mod*", "*.order", ".*")


def copy(source, parts, out):
    """Copy files and directories, without files that were built for another kernel."""
    for part in parts:
        here, there = os.path.join(source, part), os.path.join(out, part)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(here):
            shutil.copytree(here, there, dirs_exist_ok=True, ignore=BUILT)
        else:
            shutil.copy2(here, there)


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
