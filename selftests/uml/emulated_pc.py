# SPDX-License-Identifier: GPL-2.0
"""A guest of the lab instead of User-mode Linux: an emulated PC with two CPUs, which can contend
for a lock, and the debug kernel (tools/lab/debug.config) or one of Debian's."""

import os
import shutil
import time
from types import SimpleNamespace

from testbed.core.errors import LabError
from testbed.core.paths import DCBPORT, MODULE_PARTS, TOP
from testbed.core.progress import tail
from testbed.sim.uml import judge
from testbed.vm.clock import Clock
from testbed.vm.debug_image import NAME, DebugImage
from testbed.vm.fabric import Fabric
from testbed.vm.image import Image

from test_kernel import HERE, SILENCE, programs

TDF = 2     # of the debug kernel: an emulated CPU with all those checks is slow


class StockImage(Image):
    """The part of a DebugImage that a PC uses."""

    def build(self, top):
        self.module(top, MODULE_PARTS, os.path.join(top, "out", "kernels", self.name))

    def prepare(self, share):
        pass


class EmulatedPC:
    """The part of a TestKernel that tests use."""

    coverage = False
    large, make_large = "/dev/ram0", "modprobe brd rd_nr=1 rd_size=98304"

    def __init__(self, out, kernel=NAME, tests=HERE, qemu=()):
        """tests: directory of the programs that run in there; qemu: more arguments of QEMU"""
        debug = kernel == NAME
        self.tests, self.qemu = tests, qemu
        self.clock = Clock(TDF if debug else 1)
        self.image = (DebugImage() if debug else StockImage(kernel)).ensure()
        self.kernel = SimpleNamespace(release=self.image.release)
        self.built = os.path.join(out, "built")
        self.bin = os.path.join(self.built, "bin")
        programs(self.bin)
        self.image.build(TOP)
        self.dcqcn = shutil.copy(self.image.built(TOP), self.built)
        self.dcbport = shutil.copy(self.image.built(TOP, DCBPORT), self.built)

    def run(self, lines, out):
        """Boot, and run these lines of shell. The directory is /mnt in there; tests and built programs
        have the same paths as here."""
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        places = {self.tests: self.tests, self.built: self.built, out: "/mnt"}
        with Fabric(self.image, clock=self.clock) as fabric:
            # rxe logs a lot about QPs that are destroyed
            pc = fabric.vm("pc", smp=2, mem="1G", append="log_buf_len=8M", qemu=self.qemu)
            self.image.prepare(fabric.share)
            for n, here in enumerate(places):
                shutil.copytree(here, os.path.join(fabric.share, str(n)))
            mnt = os.path.join(fabric.share, str(list(places).index(out)))
            with open(os.path.join(mnt, "script"), "w") as f:
                f.write("\n".join(["set -e", "modprobe -a rdma_rxe ib_uverbs", *lines,
                                   "echo SIM-DONE\n"]))
            fabric.boot()
            for n, there in enumerate(places.values()):
                pc.run("mkdir -p %s && mount --bind /lab/share/%d %s" % (there, n, there))
            try:
                text = self.watch(pc, pc.spawn("sh /mnt/script 2>&1"), mnt)
                if pc.run("dmesg >/mnt/dmesg", check=False).returncode:
                    raise LabError("the guest has died\n" + tail(pc.console, 60))
            finally:
                shutil.copytree(mnt, out, dirs_exist_ok=True)
        judge(text, out)

    def watch(self, pc, job, out):
        """A job's output until it ends; also in out/console."""
        text, heard = "", time.monotonic()
        with open(os.path.join(out, "console"), "w") as f:
            while True:
                running = job.running()
                new = job.output()[len(text):]
                if new:
                    f.write(new)
                    f.flush()
                    text, heard = text + new, time.monotonic()
                if not running:
                    return text
                if time.monotonic() - heard > self.clock.host(SILENCE):
                    raise LabError("the guest has printed nothing for %d s\n%s" %
                                   (SILENCE, tail(pc.console, 60)))
                time.sleep(0.5)
