# SPDX-License-Identifier: GPL-2.0
"""A stock kernel in one VM whose clock is the number of executed instructions."""

import os
import shutil
import subprocess
import tempfile

from ..core import console
from ..core.errors import LabError
from ..core.kernel_log import complaints
from ..core.paths import BENCH, LAB
from ..core.progress import say
from ..vm.guest import die_with_parent
from ..vm.image import Image

KERNEL = "7.2"      # from 7.2 on, rxe supports network namespaces
SILENCE = 900                   # s of wall time without output


class Guest:
    """Boots, runs a shell script, and ends; share is its /lab/share."""

    def __init__(self, kernel=KERNEL):
        self.image = Image(kernel).ensure()

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="rdma_dcqcn-bench-")
        self.share = os.path.join(self.dir, "share")
        os.makedirs(os.path.join(self.share, "bin"))
        self._qemu = None
        return self

    def __exit__(self, *exc):
        if self._qemu:
            self._qemu.kill()
            self._qemu.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, script, out, mem="2G"):
        """Return the script's output, which is also kept in a file; a line
        "progress TEXT" is shown."""
        with open(os.path.join(self.share, "script"), "w") as f:
            f.write(script)
        extra = {}
        for source, name in ((os.path.join(LAB, "guest", "initramfs-init"), "init"),
                             (os.path.join(LAB, "guest", "inittab"), "lab/inittab"),
                             (os.path.join(BENCH, "guest", "start"), "lab/start")):
            with open(source, "rb") as f:
                extra[name] = (0o755, f.read())
        initrd = os.path.join(self.dir, "initramfs")
        self.image.initramfs(initrd, extra)
        cmd = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=single", "-cpu", "max",
               # 1 ns per instruction. With a maximum of one CPU, TCG leaves out the
               # guest's memory barriers, and virtio hangs.
               "-icount", "shift=0,sleep=off", "-smp", "1,maxcpus=2", "-m", mem,
               "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-serial", "stdio", "-kernel", self.image.kernel, "-initrd", initrd,
               "-append", "console=ttyS0 loglevel=5 panic=-1 mitigations=off tsc=reliable "
                          "tsc_early_khz=1000000 no_timer_check random.trust_cpu=on "
                          "net.ifnames=0",
               "-virtfs", "local,path=%s,mount_tag=root,security_model=none,readonly=on,"
                          "multidevs=remap" % self.image.root,
               "-virtfs", "local,path=%s,mount_tag=share,security_model=none,multidevs=remap"
               % self.share]
        if not shutil.which(cmd[0]):
            raise LabError("%s is not installed: run tools/lab/deps" % cmd[0])
        self._qemu = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        messages = self._watch()
        text = self._file("output")
        with open(out, "w") as f:
            f.write(text)
        bad = complaints(messages + self._file("dmesg"))
        if bad or "BENCH-DONE" not in text:
            raise LabError("the guest failed: %s\n%s" % ("; ".join(bad[:3]) or "it ended early",
                                                         console.last(messages + text, 30)))
        return text

    def _file(self, name):
        try:
            with open(os.path.join(self.share, name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def _watch(self):
        """The output without progress messages."""
        said = []

        def line(entry):
            if entry.startswith("progress "):
                say("bench: " + entry[len("progress "):])
            else:
                said.append(entry)

        try:
            console.watch(self._qemu, SILENCE, line)
        except LabError as e:
            raise LabError("the guest failed: %s\n%s" % (e, console.last("\n".join(said), 30)))
        return "\n".join(said)
