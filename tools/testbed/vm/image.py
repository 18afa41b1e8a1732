# SPDX-License-Identifier: GPL-2.0
"""The guests' root file system: a Debian tree with its own kernel, headers and compiler.

Built once with mmdebstrap and kept in the user's cache under a name that
contains a hash of the recipe, so a changed recipe builds a new one. Guests
mount it read-only over 9p, so one tree serves any number of VMs.
"""

import fcntl
import glob
import gzip
import hashlib
import lzma
import os
import re
import shutil
import subprocess

from ..core import sources
from ..core.debian import Apt, as_root, base_of, mmdebstrap
from ..core.errors import InputError, LabError
from ..core.files import replacing
from ..core.paths import MODULE, cache_dir
from ..core.progress import say, tail
from . import made_headers

# iproute2 has rdma(8); gcc and make let a guest build the module as well.
PACKAGES = """
bash busybox-static ethtool fio gcc ibverbs-providers ibverbs-utils iproute2
iputils-ping jq kmod lldpad make mount openssh-client openssh-server perftest procps
python3-minimal rdma-core rdmacm-utils tcpdump
""".split()

# Tracers: large, and the same for any kernel
TRACERS = "bpftrace linux-perf trace-cmd".split()

# The suite whose newest kernel is of a series as long as it is supported
SERIES = {"6.1": "bookworm", "6.12": "trixie"}
# Suites to search for other series; the first one with headers for the series is used
ADD_ONS = ("trixie-backports", "sid", "experimental")
SUITES = (*SERIES.values(), *ADD_ONS)
DEFAULT = "6.1"
EXAMPLES = "6.1, 6.12, 6.18, 7.2, 6.12-rt, trixie-backports, sid"

# Raised by hand when the steps below change the contents of the tree.
RECIPE = 1

# The headers point at themselves with absolute paths. Made relative, they
# work in a guest and, from outside, as KDIR for building the module against
# exactly the kernel that the guests run. Guests share the tree through a QEMU
# that may run without privileges, so everything has to be readable.
FIXUP = r"""
set -e
cd "$1"
for d in $(find usr/src -maxdepth 1 -name 'linux-headers-*-amd64'); do
	v=${d#usr/src/linux-headers-}
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' "$d/Makefile"
	ln -sfn "../../../src/linux-headers-$v" "usr/lib/modules/$v/build"
	rm -f "usr/lib/modules/$v/source"
done
chmod -R a+rX .
"""

# The compiler needs /dev/null and a place for temporary files. W=1 also checks comments, but with a
# perl that the tree lacks: the build for the default kernel, outside of the tree, checks them.
BUILD = r"""
mount --bind "$2" "$1/mnt"
mount -t tmpfs tmpfs "$1/tmp"
mount --bind /dev "$1/dev"
mount -t proc proc "$1/proc"
chroot "$1" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C make -C "$3" M=/mnt "$4" W=1 cmd_checkdoc= modules
chown -R "$5" "$2"
"""


def make_root(suite, tree, packages, options, log):
    """Make a Debian that guests can run; return true on success. log is a path."""
    with open(log, "w") as out:
        return mmdebstrap(suite, tree, packages, *options, log=out) == 0 and subprocess.run(
            as_root(["sh", "-c", FIXUP, "sh", tree]), stdout=out, stderr=out).returncode == 0


class Image:
    """root: the tree; release: its kernel; kernel, kdir: paths on the host.

    name: a series of kernels, such as 7.2, or a suite, such as trixie-backports, which stands
    for its newest kernel. Everything else comes from the kernel's release. With -rt, it is the
    real-time kernel. more: packages for the user's own programs.
    """

    def __init__(self, name=DEFAULT, more=()):
        self.name = name
        what, _, flavour = name.partition("-rt")
        if what not in SUITES and not re.fullmatch(r"\d+\.\d+", what) or flavour:
            raise InputError("%s: no such kernel; there are series such as %s, and the newest of %s" %
                             (name, EXAMPLES, ", ".join(SUITES)))
        self.series = what if re.fullmatch(r"\d+\.\d+", what) and what not in SERIES else None
        self.suite = None if self.series else SERIES.get(what, what)
        self.flavour = "rt-amd64" if name.endswith("-rt") else "amd64"
        self.packages = PACKAGES + (TRACERS if name == DEFAULT else []) + sorted(set(more))
        recipe = repr((name, self.packages, RECIPE, FIXUP,
                       *([made_headers.PREPARE] if self.series else [])))
        key = hashlib.sha256(recipe.encode()).hexdigest()[:12]
        self.root = os.path.join(cache_dir(), "image-%s-%s" % (name, key))

    @property
    def release(self):
        kernels = glob.glob(os.path.join(self.root, "boot", "vmlinuz-*"))
        if len(kernels) != 1:
            raise LabError("expected one kernel in %s/boot, found %d" % (self.root, len(kernels)))
        return os.path.basename(kernels[0])[len("vmlinuz-"):]

    @property
    def kernel(self):
        """The kernel to boot, unpacked if possible.

        An emulated CPU takes 4 s to unpack it itself. QEMU enters an unpacked
        kernel through its PVH note, which Debian's kernels have. The name of the unpacked file
        has a hash of the packed one, because the tree may be rebuilt with a newer kernel.
        """
        packed = os.path.join(self.root, "boot", "vmlinuz-" + self.release)
        data = _read(packed)
        vmlinux = "%s.%s.vmlinux" % (self.root, hashlib.sha256(data).hexdigest()[:12])
        if os.path.exists(vmlinux):
            return vmlinux
        start = data.find(b"\xfd7zXZ\0")
        if start < 0:
            return packed
        with replacing(vmlinux, "wb") as f:
            f.write(lzma.LZMADecompressor().decompress(data[start:]))
        for old in glob.glob(glob.escape(self.root) + "*.vmlinux"):
            if old != vmlinux:
                os.unlink(old)
        return vmlinux

    @property
    def kdir(self):
        return os.path.join(self.root, "usr", "src", "linux-headers-" + self.release)

    def built(self, top, module=MODULE):
        """The path of a source tree's module for this kernel. For the default kernel, both "make"
        and "lab build" can build it: then it is the newer file."""
        built = os.path.join(top, "out", "kernels", self.name, module)
        if self.name != DEFAULT:
            return built
        made = os.path.join(top, module)
        return max(made, built, key=lambda f: os.path.getmtime(f) if os.path.exists(f) else 0)

    def ensure(self):
        """Build the image if the cache does not have it. Returns self."""
        if os.path.isdir(self.root):
            return self
        os.makedirs(cache_dir(), exist_ok=True)
        # two runs at once must not both build the same tree
        with open(self.root + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(self.root):
                self._build()
        return self

    def _find(self):
        """The suite that has the series, its newest kernel there, and whether its headers have to
        be made. Kernels with headers are preferred."""
        there, asked, without_headers = set(), [], None
        pattern = re.compile(r"linux-image-((\d+\.\d+)[^-]*)-%s" % self.flavour)
        for suite in ADD_ONS:
            if there and _major(self.series) > max(map(_major, there)) + 1:
                break   # sid's index is large, and it is not that far ahead
            asked.append(suite)
            names = _kernel_packages(suite)
            # linux-binary means that the image is in several packages, of which
            # only some stay
            found = [m for m in map(pattern.fullmatch, names) if m and (
                _of(m, "headers") in names or _of(m, "binary") not in names)]
            there.update(m[2] for m in found)
            ours = [m for m in found if m[2] == self.series]
            whole = [m[1] for m in ours if _of(m, "headers") in names]
            if whole:
                return suite, max(whole, key=_order), False
            if ours and not without_headers:
                without_headers = suite, max((m[1] for m in ours), key=_order), True
        if not without_headers:
            raise LabError("Debian has no kernel %s in %s; it has %s" %
                           (self.name, ", ".join(asked), ", ".join(sorted(there, key=_order))))
        return without_headers

    def _build(self):
        if not shutil.which("mmdebstrap"):
            raise LabError("mmdebstrap is not installed: run tools/lab/deps")
        more = "".join(" " + p for p in self.packages if p not in PACKAGES + TRACERS)
        say("image: building a Debian with kernel %s%s, once (about a minute)" % (
            self.name, more and ", with" + more))
        version, make_headers = "", False
        if self.series:
            self.suite, version, make_headers = self._find()
            version += "-"
        release = version + self.flavour
        # apt takes nothing from an add-on suite by default
        add_on = "/" + self.suite if self.suite != base_of(self.suite) else ""
        kernel = made_headers.PACKAGES if make_headers else [
            "linux-%s-%s%s" % (p, release, add_on) for p in ("image", "headers")]
        log = self.root + ".log"
        tree = self.root + ".building"
        remove = as_root(["rm", "-rf", "--one-file-system", tree])
        subprocess.run(remove)  # left behind by a killed run
        try:
            if not make_root(self.suite, tree, self.packages + kernel, [
                    "--dpkgopt=path-exclude=/usr/share/man/*",
                    "--dpkgopt=path-exclude=/usr/share/locale/*",
                    "--dpkgopt=path-exclude=/usr/share/doc/*"], log):
                raise LabError("building the image failed; the end of %s:\n%s" % (log, tail(log)))
            if make_headers:
                made_headers.install(tree, self.suite, release, log)
            os.rename(tree, self.root)
        finally:
            subprocess.run(remove)
        say("image: %s, kernel %s" % (self.root, self.release))

    def module(self, source, parts, out, prepare=lambda: None):
        """Build the modules of a source tree, of which these parts belong to the kernel,
        with this tree's own compiler in a copy, out; prepare() changes that before. Waits for
        another build in there. Returns the compiler's messages."""
        os.makedirs(os.path.dirname(out), exist_ok=True)
        with open(out + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(out, ignore_errors=True)
            sources.copy(source, parts, out)
            prepare()
            return self._compile(out)

    def _compile(self, out):
        # in a mount namespace, so that only this process sees what is mounted in the tree
        r = subprocess.run(as_root(["unshare", "-m", "sh", "-ec", BUILD, "sh", self.root,
                                    os.path.abspath(out), "/usr/src/linux-headers-" + self.release,
                                    "-j%d" % len(os.sched_getaffinity(0)), str(os.getuid())]),
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        messages = r.stdout + r.stderr
        if r.returncode:
            raise LabError("building for kernel %s failed:\n%s" % (self.release, messages[-4000:]))
        return messages

    def modules(self, wanted):
        """Paths below the root of these modules and of those they depend on, in load order."""
        base = os.path.join("usr/lib/modules", self.release)
        deps = {}
        with open(os.path.join(self.root, base, "modules.dep")) as f:
            for line in f:
                path, _, needs = line.partition(":")
                name = os.path.basename(path).split(".ko")[0].replace("-", "_")
                deps[name] = (path, needs.split())
        order = []
        for name in wanted:
            if name not in deps:
                continue    # built into this kernel
            path, needs = deps[name]
            # modules.dep lists modules that must be loaded first at the end
            for p in list(reversed(needs)) + [path]:
                p = os.path.join(base, p)
                if p not in order:
                    order.append(p)
        return order

    def initramfs(self, path, extra):
        """Write the archive that mounts the shared root and starts a guest.

        extra: archive path -> (mode, bytes); files the guest finds in /lab.
        """
        modules = self.modules(["virtio_pci", "9pnet_virtio", "9p", "overlay"])
        files = {"bin/busybox": (0o755, _read(os.path.join(self.root, "bin/busybox")))}
        for i, m in enumerate(modules):
            files["modules/%02d.ko" % i] = (0o644, _module(os.path.join(self.root, m)))
        files.update(extra)
        with open(path, "wb") as f:
            f.write(gzip.compress(_cpio(files), 1))


def _kernel_packages(suite):
    """Names of a suite's kernel packages. The index stays in the cache: if it has not changed,
    apt does not fetch it again."""
    directory = os.path.join(cache_dir(), "apt-" + suite)
    os.makedirs(directory, exist_ok=True)
    with open(directory + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        apt = Apt(directory, suite)
        apt.update()
        return apt.names("linux-(?:image|headers|binary)-[0-9]")


def _major(series):
    return int(series.partition(".")[0])


def _order(version):
    """The key to compare versions by."""
    return [int(n) for n in re.findall(r"\d+", version)]


def _of(image, kind):
    """The name of another package of the kernel that a linux-image names."""
    return image[0].replace("linux-image-", "linux-%s-" % kind)


def _read(path):
    with open(path, "rb") as f:
        return f.read()


def _module(path):
    """Unpack modules of newer kernels, because busybox does not."""
    return lzma.decompress(_read(path)) if path.endswith(".xz") else _read(path)


def _cpio(files):
    """A newc archive (Documentation/driver-api/early-userspace/buffer-format.rst)."""
    out = bytearray()

    def entry(name, mode, data):
        name = name.encode() + b"\0"
        fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        out.extend(b"070701" + b"".join(b"%08X" % v for v in fields) + name)
        out.extend(b"\0" * (-len(out) % 4) + data)
        out.extend(b"\0" * (-len(out) % 4))

    dirs = {"dev", "proc", "sys", "new"}
    for name in files:
        while "/" in name:
            name = name.rpartition("/")[0]
            dirs.add(name)
    for name in sorted(dirs):
        entry(name, 0o040755, b"")
    for name, (mode, data) in files.items():
        entry(name, 0o100000 | mode, data)
    entry("TRAILER!!!", 0, b"")
    return bytes(out)
