# SPDX-License-Identifier: GPL-2.0
"""The simulator's kernel with rxe built in, as other distributions may configure it. No module
owns rxe's devices then."""

import fcntl
import os
import re
import shutil
import subprocess

from ..core.errors import LabError
from ..core.kernel import Kernel
from ..core.progress import say, tail

SYMBOLS = ("INFINIBAND", "INFINIBAND_USER_ACCESS", "RDMA_RXE")


class BuiltIn(Kernel):
    """Built from a copy of the finished modular kernel, so that little is compiled again."""

    def __init__(self, debug=False):
        super().__init__(debug)
        self.modular = Kernel(debug)
        self.key += "-builtin"

    @property
    def package(self):
        return self.modular.package

    @property
    def source(self):
        return self.modular.source

    def ensure(self):
        self.modular.ensure()
        with open(self.dir + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(self.complete):
                shutil.rmtree(self.dir, ignore_errors=True)
                say("sim: building the kernel again with rxe in it, once (about two minutes)")
                shutil.copytree(self.modular.kdir, self.kdir, symlinks=True)
                self._change(self.modular.source)
                open(self.complete, "w").close()
        return self

    def _change(self, source):
        config, log = os.path.join(self.kdir, ".config"), self.dir + ".log"
        with open(config) as f:
            text = f.read()
        with open(config, "w") as f:
            f.write(re.sub(r"^(CONFIG_(?:%s))=m$" % "|".join(SYMBOLS), r"\1=y", text, flags=re.M))
        # rxe, and what it selects, must not be taken for modules
        for d, _, names in os.walk(self.kdir):
            for n in names:
                if n.endswith(".ko"):
                    os.unlink(os.path.join(d, n))
        make = ["make", "-C", source, "O=" + self.kdir, "ARCH=um", "KBUILD_BUILD_TIMESTAMP=@0",
                "KBUILD_BUILD_USER=sim", "KBUILD_BUILD_HOST=sim"]
        with open(log, "w") as out:
            for args in [["olddefconfig"]] + self._steps():
                if subprocess.run(make + args, stdout=out, stderr=out,
                                  stdin=subprocess.DEVNULL).returncode:
                    raise LabError("building the kernel failed; the end of %s:\n%s" %
                                   (log, tail(log)))
        with open(config) as f:
            missing = {"CONFIG_%s=y" % s for s in SYMBOLS} - {line.strip() for line in f}
        if missing:
            raise LabError("the kernel has no " + ", ".join(sorted(missing)))
