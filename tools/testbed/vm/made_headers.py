# SPDX-License-Identifier: GPL-2.0
"""Headers for a kernel of which Debian ships only the image.

A backports suite keeps an image, and usually its source, after its headers and their dependencies
are gone. The headers are made from that source, the image's configuration, the release's compiler,
and the image's exported symbols. They lack Debian's patches of the kernel. With those for 6.18.15,
all 907 structures that a module shared with the image had the same size (pahole --sizes of debug
information, compared with BTF).

Like Debian's headers, they include vmlinux with the image's BTF, to which the BTF of modules
refers. Without it, modules have no BTF, and the kernel refuses algorithms in eBPF.
"""

import os
import re
import subprocess
import tempfile

from ..core.debian import Apt, as_root
from ..core.errors import LabError
from ..core.paths import cache_dir
from ..core.progress import say, tail

# Packages that "make modules_prepare" needs, and dependencies of the image. Without pahole the
# configuration loses BTF, which changes struct module.
PACKAGES = "bc bison dwarves flex gcc kmod libc6-dev libelf-dev libssl-dev make zstd".split()

# Building modules does not need these
LEFT_OUT = ("drivers/*.[ch]", "sound/*.[ch]", "fs/*.c", "net/*.c", "arch/[!xK]*/*.[chS]",
            "tools/perf", "tools/testing", "*.dts*")

UNPACK = 'dpkg-deb -x "$1" "$2" && chroot "$2" /sbin/depmod "$3"'

# In the tree, with its compiler
PREPARE = r"""
mount --bind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/tmp"
cp -r --no-preserve=ownership "$2" "$1/$3"
chroot "$1" env PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C sh -ec '
	cd "/$0"
	cp "/boot/config-$1" .config
	make "LOCALVERSION=$2" "$3" olddefconfig modules_prepare
	[ "$(cat include/config/kernel.release)" = "$1" ]
	scripts/extract-vmlinux "/boot/vmlinuz-$1" >/tmp/vmlinux
	objcopy -O binary -j "__ksymtab*" /tmp/vmlinux exported
	objcopy -j .BTF /tmp/vmlinux vmlinux
	ln -sfn "../../../src/${0##*/}" "/usr/lib/modules/$1/build"
	chmod -R a+rX .
' "$3" "$4" "$5" "$6"
"""


def install(tree, suite, release, log):
    """Put a kernel and its headers, as its packages would have them, into a Debian that has
    PACKAGES.

    release: 6.18.15+deb13-amd64; log: the path of a file to which messages are added.
    """
    headers = "usr/src/linux-headers-" + release
    version, local = re.fullmatch(r"([\d.]+)(.*)", release).groups()
    with tempfile.TemporaryDirectory(dir=cache_dir()) as d, open(log, "a") as out:
        apt = Apt(os.path.join(d, "apt"), suite)
        apt.update()
        _run(["sh", "-c", UNPACK, "sh", apt.download("linux-image-" + release, d), tree,
              release], out)
        apt = Apt(os.path.join(d, "apt-src"), suite, "deb-src")
        apt.update()
        tar = apt.source("linux", version, d)
        say("image: making headers of %s (some minutes)" % os.path.basename(tar))
        source = os.path.join(d, "source")
        os.mkdir(source)
        subprocess.run(["tar", "-xf", tar, "-C", source, "--strip-components=1",
                        *("--exclude=*/" + p for p in LEFT_OUT)], check=True)
        _run(["unshare", "-m", "sh", "-ec", PREPARE, "sh", tree, source,
              headers, release, local, "-j%d" % len(os.sched_getaffinity(0))], out)
        symvers = os.path.join(d, "Module.symvers")
        with open(symvers, "w") as f:
            f.writelines("0x00000000\t%s\t%s\tEXPORT_SYMBOL_GPL\t%s\n" % e for e in
                         _exports(os.path.join(tree, headers, "exported"),
                                  os.path.join(tree, "usr/lib/modules", release)))
        _run(["cp", symvers, os.path.join(tree, headers)], out)


def _run(command, out):
    if subprocess.run(as_root(command), stdin=subprocess.DEVNULL, stdout=out,
                      stderr=out).returncode:
        raise LabError("installing the kernel failed; the end of %s:\n%s" %
                       (out.name, tail(out.name)))


def _exports(path, modules):
    """(symbol, module, namespace) of all symbols that a kernel exports, to all modules or to those
    with the GPL. Namespaces of modules' symbols are not here; the kernel checks them itself."""
    with open(path, "rb") as f:
        data = f.read()

    def string(at):
        at += int.from_bytes(data[at:at + 4], "little", signed=True)
        return at, data[at:data.index(b"\0", at)].decode()

    # struct kernel_symbol (kernel/module/internal.h): relative offsets of the symbol, its name
    # and its namespace. The strings are behind all of these.
    entry, strings = 0, len(data)
    while entry < strings:
        at, name = string(entry + 4)
        strings = min(strings, at)
        yield name, "vmlinux", string(entry + 8)[1]
        entry += 12
    with open(os.path.join(modules, "modules.symbols")) as f:
        for name, module in re.findall(r"^alias symbol:(\w+) (\w+)$", f.read(), re.M):
            yield name, module, ""
