# SPDX-License-Identifier: GPL-2.0
"""Debian's kernel source: one version at a time, from which all kernels here are built.

The archive keeps only the newest version, so the package stays in the cache: other configurations
are built from the same source. Machines with the same package get the same figures; "sim kernel
--update" fetches a newer one.
"""

import fcntl
import functools
import glob
import os
import re
import subprocess
import tempfile

from .debian import Apt
from .errors import LabError
from .paths import cache_dir
from .progress import say

# From this version on, rxe supports network namespaces, which are our hosts
OLDEST = (7, 2)
SUITES = ("trixie-backports", "sid")

FILE = re.compile(r"(linux-source-\d+\.\d+)_([^_/]+)_all\.deb")


class Package:
    """A file in the cache. name: linux-source-7.3; version: Debian's, 7.3.4-1."""

    def __init__(self, path):
        self.path = path
        self.name, self.version = FILE.fullmatch(os.path.basename(path)).groups()

    def unpack(self, directory, left_out):
        """Unpack the source, except files that match a pattern."""
        os.mkdir(directory)
        exclude = " ".join("--exclude='*/%s'" % p for p in left_out)
        subprocess.run(["bash", "-c", "set -o pipefail; dpkg-deb --fsys-tarfile \"$1\" | "
                        "tar -xO ./usr/src/%s.tar.xz | tar -xJ -C \"$2\" --strip-components=1 %s"
                        % (self.name, exclude), "bash", self.path, directory], check=True)


def _directory():
    return os.path.join(cache_dir(), "linux-source")


def _order(a, b):
    """Compare two packages by their versions."""
    def is_(relation):
        return subprocess.run(["dpkg", "--compare-versions", a.version, relation,
                               b.version]).returncode == 0
    return is_("gt") - is_("lt")


def cached():
    """The newest package in the cache, or None."""
    found = [Package(p) for p in glob.glob(os.path.join(glob.escape(_directory()), "*.deb"))
             if FILE.fullmatch(os.path.basename(p))]
    return max(found, key=functools.cmp_to_key(_order), default=None)


def ensure(update=False):
    """The package to build kernels from. Asks the archive only if the cache has none, or to
    update it."""
    os.makedirs(_directory(), exist_ok=True)
    with open(os.path.join(_directory(), "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if update or not cached():
            with tempfile.TemporaryDirectory(dir=cache_dir()) as d:
                _fetch(d)
        return cached()


def _fetch(directory):
    """Fetch the newest package, unless the cache has it."""
    say("sim: looking for the newest kernel source")
    found = []
    for suite in SUITES:
        apt = Apt(os.path.join(directory, suite), suite)
        try:
            apt.update()
        except LabError as e:
            say("sim: Debian %s may have a newer one, but does not answer: %s" %
                (suite, str(e).strip().splitlines()[-1]))
            continue
        for package in apt.depends("linux-source"):
            m = re.match(r"linux-source-(\d+)\.(\d+)$", package)
            if m and (int(m[1]), int(m[2])) >= OLDEST:
                found.append(((int(m[1]), int(m[2])), package, apt))
    if not found:
        raise LabError("Debian has no linux-source >= %d.%d in %s" %
                       (OLDEST + (" or ".join(SUITES),)))
    # if equal, the first one: its suite changes less often
    _, package, apt = max(found, key=lambda f: f[0])
    name = apt.file(package)
    if not os.path.exists(os.path.join(_directory(), name)):
        say("sim: fetching %s of Debian %s (about a minute)" % (name, apt.suite))
        os.rename(apt.download(package, directory), os.path.join(_directory(), name))
