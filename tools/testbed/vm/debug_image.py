# SPDX-License-Identifier: GPL-2.0
"""The lab's Debian with a debug kernel instead of its own.

That kernel is built from the simulator's source, for a PC, with tools/lab/debug.config.
"""

import fcntl
import os
import shutil
import subprocess

from ..core.errors import LabError
from ..core.kernel import Kernel, key, override
from ..core.paths import LAB, MODULE, MODULE_PARTS
from .image import Image

NAME = "debug"


class DebugKernel(Kernel):
    """root: a directory with the modules, as in a Debian."""

    kind, arch, program = "guest-debug", "x86", "vmlinux"

    def __init__(self):
        super().__init__()
        self.plain = Kernel()
        with open(os.path.join(LAB, "debug.config")) as f:
            self.config = override(self.config, f.read())
        self.key = key(self.config, self.plain.key)

    @property
    def source(self):
        return self.plain.source

    @property
    def root(self):
        return os.path.join(self.dir, "root")

    def _prepare(self):
        if not os.path.exists("/usr/include/gelf.h"):
            raise LabError("a debug kernel needs libelf-dev: run tools/lab/deps libelf-dev")

    def _make(self):
        super()._make()
        subprocess.run(["make", "-s", "-C", self.kdir, "INSTALL_MOD_PATH=" + self.root,
                        "modules_install"], check=True, stdin=subprocess.DEVNULL)


class DebugImage(Image):
    """A guest finds the modules of DebugKernel in /lab/share/modules: see tools/lab/guest/start."""

    def __init__(self):
        super().__init__()
        self.debug = DebugKernel()

    def ensure(self):
        self.debug.ensure()
        return super().ensure()

    @property
    def kernel(self):
        return self.debug.linux

    @property
    def release(self):
        return self.debug.release

    @property
    def kdir(self):
        return self.debug.kdir

    def build(self, top):
        """Build a source tree's module; built() has its path."""
        out = os.path.join(top, "out", "kernels", NAME)
        os.makedirs(out, exist_ok=True)
        with open(out + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.debug.module(top, MODULE_PARTS, out)

    def module(self, source, parts, out):
        """As Image.module(), but with this machine's compiler."""
        return self.debug.module(source, parts, out)

    def prepare(self, share):
        """Give guests the modules of the kernel."""
        shutil.copytree(os.path.join(self.debug.root, "lib", "modules"),
                        os.path.join(share, "modules"),
                        ignore=shutil.ignore_patterns("build", "source"))

    def modules(self, wanted):
        return []       # modules that an initramfs needs are built in

    def built(self, top, module=MODULE):
        return os.path.join(top, "out", "kernels", NAME, module)
