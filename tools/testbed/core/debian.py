# SPDX-License-Identifier: GPL-2.0
"""Debian's archive, for any suite, from the mirror that this machine uses.

Nothing here changes the machine's own apt sources.
"""

import contextlib
import glob
import os
import re
import shlex
import subprocess

from .errors import LabError
from .files import replacing


def as_root(cmd):
    """The command line that runs cmd as root."""
    return cmd if os.geteuid() == 0 else ["sudo"] + cmd


def _known():
    """(URI, release) of this machine's indices of Debian itself, without third-party archives. If
    no index has Debian as its origin, take all: a mirror may call itself something else."""
    for origin in ["Origin: Debian"], []:
        try:
            out = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
                                  "Created-By: Packages", "Component: main", *origin],
                                 check=True, capture_output=True, text=True).stdout
        except (OSError, subprocess.CalledProcessError) as e:
            raise LabError("apt-get cannot name this machine's Debian mirror: %s" % e)
        if out:
            break
    return sorted({tuple(line.split()) for line in out.splitlines()})


def base_of(suite):
    """The suite that this one extends: trixie for trixie-backports."""
    return "sid" if suite == "experimental" else suite.partition("-")[0]


def apt_sources(suite):
    """sources.list lines for a suite; trixie-backports includes trixie, which it extends."""
    base = base_of(suite)
    lines = ["deb %s %s main" % (uri, release) for uri, release in _known()
             if release == base or release.startswith(base + "-")]
    for wanted in dict.fromkeys((base, suite)):
        if not any(line.split()[2] == wanted for line in lines):
            lines.append("deb %s %s main" % (_mirror(), wanted))
    return "\n".join(lines) + "\n"


def mmdebstrap(suite, tree, packages, *options, log):
    """Make a Debian root; return the exit status. The output goes to the file log.

    Accepts an expired index, such as that of a frozen mirror, if this machine's apt does. Runs in
    namespaces of its own, so that no process or mount is left behind, however it ends.
    """
    shown = subprocess.run(["apt-config", "shell", "valid", "Acquire::Check-Valid-Until"],
                           check=True, capture_output=True, text=True).stdout
    if shown:
        value = shlex.split(shown)[0].partition("=")[2]
        options += ("--aptopt=Acquire::Check-Valid-Until \"%s\"" % value,)
    # INITRD=No: guests boot from the lab's own initramfs.
    p = subprocess.Popen(
        as_root(["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                 "env", "INITRD=No", "mmdebstrap", "--variant=apt",
                 "--include=" + ",".join(packages), *options, base_of(suite), tree, "-"]),
        stdin=subprocess.PIPE, stdout=log, stderr=log, text=True)
    try:
        p.communicate(apt_sources(suite))
    except BaseException:
        # we cannot kill sudo, but the terminal's Ctrl-C reaches it
        with contextlib.suppress(PermissionError):
            p.kill()
        p.wait()
        raise
    return p.returncode


def _mirror():
    """The mirror of all suites: the one of a suite that is neither security nor an add-on."""
    for uri, release in _known():
        if "-" not in release:
            return uri
    raise LabError("apt knows no Debian mirror: add one to the apt sources and run apt-get update")


class Apt:
    """A separate apt for another suite, in a directory of its own. kind: deb, or deb-src,
    for the suite's sources."""

    def __init__(self, directory, suite, kind="deb"):
        self.suite, self.lists = suite, os.path.join(directory, "lists")
        for d in ("lists/partial", "archives/partial", "preferences.d"):
            os.makedirs(os.path.join(directory, d), exist_ok=True)
        with replacing(os.path.join(directory, "sources.list")) as f:
            f.write("%s %s %s main\n" % (kind, _mirror(), suite))
        open(os.path.join(directory, "status"), "w").close()
        conf = os.path.join(directory, "apt.conf")
        with replacing(conf) as f:
            for key, value in (("State::Lists", "lists"), ("State::status", "status"),
                               ("Cache", "."), ("Cache::Archives", "archives"),
                               ("Etc::SourceList", "sources.list"),
                               ("Etc::SourceParts", "-"), ("Etc::Preferences", "-"),
                               ("Etc::PreferencesParts", "preferences.d")):
                f.write('Dir::%s "%s";\n' % (key, os.path.join(directory, value)))
            f.write('Acquire::Languages "none";\nAPT::Sandbox::User "root";\n')
        self.env = dict(os.environ, APT_CONFIG=conf, LC_ALL="C")

    def _run(self, *cmd, cwd=None):
        r = subprocess.run(cmd, env=self.env, cwd=cwd, capture_output=True, text=True)
        if r.returncode:
            raise LabError("%s (Debian %s) failed:\n%s" % (" ".join(cmd), self.suite,
                                                          (r.stdout + r.stderr)[-2000:]))
        return r.stdout

    def update(self):
        # By default an index that cannot be fetched only leads to a warning
        self._run("apt-get", "-q", "-o", "APT::Update::Error-Mode=any", "update")

    def names(self, pattern):
        """Names of packages that match. Reads the index itself, because apt-cache would first make
        a cache of the whole index."""
        found = set()
        for index in glob.glob(os.path.join(glob.escape(self.lists), "*_Packages*")):
            found.update(re.findall("^Package: (%s.*)$" % pattern,
                                    self._run("/usr/lib/apt/apt-helper", "cat-file", index), re.M))
        return sorted(found)

    def depends(self, package):
        """Names that the newest version of a package depends on; [] if there is none."""
        try:
            shown = self._run("apt-cache", "show", "--no-all-versions", package)
        except LabError:
            return []
        found = re.search(r"^Depends: (.*)$", shown, re.M)
        return [d.split()[0] for d in found[1].split(",")] if found else []

    def file(self, package):
        """The name of the file that download() fetches."""
        return self._run("apt-get", "-q", "download", "--print-uris", package).split()[1]

    def download(self, package, directory):
        """Fetch a package; returns the file's path."""
        self._run("apt-get", "-q", "download", package, cwd=directory)
        name, = [n for n in os.listdir(directory) if n.startswith(package + "_")]
        return os.path.join(directory, name)

    def source(self, package, upstream, directory):
        """Fetch the upstream tarball of a source package; return its path."""
        shown = self._run("apt-cache", "showsrc", "--only-source", package)
        versions = [v for v in re.findall(r"^Version: (.*)$", shown, re.M)
                    if v.startswith(upstream + "-")]
        if not versions:
            raise LabError("Debian %s has no source of %s %s" % (self.suite, package, upstream))
        self._run("apt-get", "-q", "source", "--only-source", "--download-only", "--tar-only",
                  "%s=%s" % (package, versions[-1]), cwd=directory)
        name, = [n for n in os.listdir(directory) if n.startswith(package + "_")]
        return os.path.join(directory, name)
