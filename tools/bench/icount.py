# SPDX-License-Identifier: GPL-2.0
"""A stock kernel in one VM whose clock is the number of executed instructions."""

import os
import re
import select
import shutil
import subprocess
import tempfile
import time

from debian import as_root
from image import Image
from progress import LabError, say, tail
from kernel_log import complaints
from vm import die_with_parent

HERE = os.path.dirname(os.path.abspath(__file__))
LAB = os.path.join(os.path.dirname(HERE), "lab")

KERNEL = "7.2"      # rxe has network namespaces from 7.2 on
SILENCE = 900                   # s of wall time without a sign of life

# Modules are built with the image's own compiler: its kernel's helper programs
# need its C library.
BUILD = r"""
set -e
mount --bind "$1" "$2/mnt"
mount --bind /proc "$2/proc"
exec chroot "$2" make -C "/usr/src/linux-headers-$3" M=/mnt -j2 modules
"""


def build_modules(image, source, parts, more, out, edits={}):
    """Build parts of a source tree, and the Kbuild directory more, in a copy.

    edits: file -> (old, new) text in it
    """
    shutil.rmtree(out, ignore_errors=True)
    for name in parts:
        here, there = os.path.join(source, name), os.path.join(out, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(here):
            shutil.copytree(here, there,
                            ignore=shutil.ignore_patterns("*.o", "*.ko", "*.mod*", "*.order", ".*"))
        else:
            shutil.copy2(here, there)
    if more:
        with open(os.path.join(out, "Kbuild"), "a") as f:
            f.write("obj-m += %s/\n" % more)
    for name, (old, new) in edits.items():
        with open(os.path.join(out, name)) as f:
            text = f.read()
        if old not in text:
            raise LabError("%s has no %r" % (name, old))
        with open(os.path.join(out, name), "w") as f:
            f.write(text.replace(old, new))
    r = subprocess.run(as_root(["unshare", "-m", "sh", "-c", BUILD, "sh", out, image.root,
                                image.release]), capture_output=True, text=True)
    if r.returncode:
        raise LabError("building %s for %s failed:\n%s" %
                       (out, image.release, (r.stdout + r.stderr)[-4000:]))


class Guest:
    """Boots, runs a shell script, and is gone; share is /lab/share in it."""

    def __init__(self):
        self.image = Image(KERNEL).ensure()

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
        """Returns the script's output, which is left in a file, too; a line
        "progress TEXT" is shown."""
        with open(os.path.join(self.share, "script"), "w") as f:
            f.write(script)
        extra = {}
        for source, name in ((os.path.join(LAB, "guest", "initramfs-init"), "init"),
                             (os.path.join(LAB, "guest", "inittab"), "lab/inittab"),
                             (os.path.join(HERE, "guest", "start"), "lab/start")):
            with open(source, "rb") as f:
                extra[name] = (0o755, f.read())
        initrd = os.path.join(self.dir, "initramfs")
        self.image.initramfs(initrd, extra)
        cmd = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=single", "-cpu", "max",
               # 1 ns per instruction. With room for one CPU only, TCG leaves out
               # the guest's memory barriers and virtio hangs.
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
        console = self._watch()
        text = self._file("output")
        with open(out, "w") as f:
            f.write(text)
        bad = complaints(console + self._file("dmesg"))
        if bad or "BENCH-DONE" not in text:
            raise LabError("the guest failed: %s\n%s" % ("; ".join(bad[:3]) or "it ended early",
                                                         _tail(console + text)))
        return text

    def _file(self, name):
        try:
            with open(os.path.join(self.share, name), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def _watch(self):
        text, line, alive = "", "", time.monotonic()
        fd = self._qemu.stdout.fileno()
        while True:
            if not select.select([fd], [], [], 1)[0]:
                if time.monotonic() - alive > SILENCE:
                    raise LabError("the guest is silent for %d s\n%s" % (SILENCE, _tail(text)))
                continue
            data = os.read(fd, 65536)
            if not data:
                return text + line
            alive = time.monotonic()
            line += data.decode(errors="replace").replace("\r", "")
            *lines, line = line.split("\n")
            for entry in lines:
                m = re.fullmatch(r"progress (.*)", entry)
                if m:
                    say("bench: " + m[1])
                else:
                    text += entry + "\n"


def _tail(text):
    return "\n".join("    " + line for line in text.splitlines()[-30:])
