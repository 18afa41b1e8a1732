# SPDX-License-Identifier: GPL-2.0
"""The guests' root file system: a Debian tree with its own kernel and headers.

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
import shutil
import subprocess

from debian import apt_sources, as_root, cache_dir
from progress import LabError, say, tail

# iproute2 has rdma(8); gcc and make let a guest build the module as well; three
# are the tracers that people look at tracepoints with.
PACKAGES = """
bash bpftrace busybox-static ethtool gcc ibverbs-providers ibverbs-utils iproute2
iputils-ping jq kmod linux-headers-amd64 linux-image-amd64 linux-perf make mount
openssh-client openssh-server perftest procps python3-minimal rdma-core rdmacm-utils
tcpdump trace-cmd
""".split()

# Raised by hand when the steps below change what ends up in the tree.
RECIPE = 1

# The headers point at themselves with absolute paths. Made relative, they
# work in a guest and, from outside, as KDIR for building the module against
# exactly the kernel that the guests run. Guests share the tree through a QEMU
# that may run without privileges, so everything has to be readable.
FIXUP = r"""
set -e
cd "$1"
for d in usr/src/linux-headers-*-amd64; do
	v=${d#usr/src/linux-headers-}
	sed -i 's|^include /usr/src/|include $(dir $(lastword $(MAKEFILE_LIST)))../|' "$d/Makefile"
	ln -sfn "../../../src/linux-headers-$v" "usr/lib/modules/$v/build"
	rm -f "usr/lib/modules/$v/source"
done
chmod -R a+rX .
"""


class Image:
    """root: the tree; release: its kernel; kernel, kdir: paths on the host.

    The suite may be any that the mirror has, also one like trixie-backports:
    then all is trixie's but the kernel.
    """

    def __init__(self, suite="bookworm"):
        self.suite = suite
        self.base = suite.partition("-")[0]
        recipe = repr((suite, PACKAGES, RECIPE, FIXUP))
        key = hashlib.sha256(recipe.encode()).hexdigest()[:12]
        self.root = os.path.join(cache_dir(), "image-%s-%s" % (suite, key))

    @property
    def release(self):
        kernels = glob.glob(os.path.join(self.root, "boot", "vmlinuz-*"))
        if len(kernels) != 1:
            raise LabError("expected one kernel in %s/boot, found %d" % (self.root, len(kernels)))
        return os.path.basename(kernels[0])[len("vmlinuz-"):]

    @property
    def kernel(self):
        """The kernel to boot, unpacked where possible.

        An emulated CPU takes 4 s to unpack it itself. QEMU enters an unpacked
        one through its PVH note, which Debian's kernels have.
        """
        packed = os.path.join(self.root, "boot", "vmlinuz-" + self.release)
        vmlinux = self.root + ".vmlinux"
        if os.path.exists(vmlinux):
            return vmlinux
        data = _read(packed)
        start = data.find(b"\xfd7zXZ\0")
        if start < 0:
            return packed
        tmp = "%s.%d" % (vmlinux, os.getpid())
        with open(tmp, "wb") as f:
            f.write(lzma.LZMADecompressor().decompress(data[start:]))
        os.rename(tmp, vmlinux)
        return vmlinux

    @property
    def kdir(self):
        return os.path.join(self.root, "usr", "src", "linux-headers-" + self.release)

    def ensure(self):
        """Build the image if the cache does not have it. Returns self."""
        if os.path.isdir(self.root):
            return self
        os.makedirs(cache_dir(), exist_ok=True)
        # Two runs at once must not both spend a minute on the same tree.
        with open(self.root + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.isdir(self.root):
                self._build()
        return self

    def _packages(self):
        """apt takes nothing from an add-on suite unless it is told to."""
        kernel = "/" + self.suite if self.suite != self.base else ""
        return [p + kernel if p.startswith("linux-") else p for p in PACKAGES]

    def _build(self):
        if not shutil.which("mmdebstrap"):
            raise LabError("mmdebstrap is not installed: run tools/lab/deps")
        say("image: building Debian %s with its kernel, once (about a minute)" % self.suite)
        sources = apt_sources(self.suite)
        log = self.root + ".log"
        tree = self.root + ".building"
        remove = as_root(["rm", "-rf", "--one-file-system", tree])
        subprocess.run(remove)  # what a killed run left behind
        # INITRD=No: guests boot from the lab's own initramfs.
        cmd = as_root(["env", "INITRD=No", "mmdebstrap", "--quiet", "--variant=apt",
                       "--include=" + ",".join(self._packages()),
                       "--dpkgopt=path-exclude=/usr/share/man/*",
                       "--dpkgopt=path-exclude=/usr/share/locale/*",
                       "--dpkgopt=path-exclude=/usr/share/doc/*",
                       self.base, tree, "-"])
        try:
            with open(log, "w") as out:
                r = subprocess.run(cmd, input=sources, text=True, stdout=out, stderr=out)
                if r.returncode == 0:
                    r = subprocess.run(as_root(["sh", "-c", FIXUP, "sh", tree]),
                                       stdout=out, stderr=out)
            if r.returncode:
                raise LabError("building the image failed; the end of %s:\n%s" % (log, tail(log)))
            os.rename(tree, self.root)
        finally:
            subprocess.run(remove)
        say("image: %s, kernel %s" % (self.root, self.release))

    def modules(self, wanted):
        """Paths below the root of these modules and what they need, in load order."""
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
            # modules.dep lists what must be loaded first at the end.
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


def _read(path):
    with open(path, "rb") as f:
        return f.read()


def _module(path):
    """busybox does not unpack modules, as newer kernels have them."""
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
