# SPDX-License-Identifier: GPL-2.0
"""Guests, the links between them, and their scratch directory.

    with Fabric(Image().ensure()) as f:
        h1, h2 = f.vm("h1"), f.vm("h2")
        f.wire(h1.nic(["10.0.0.1/24"]), h2.nic(["10.0.0.2/24"]))
        f.boot()
        h1.run("ping -c 1 10.0.0.2")
"""

import fcntl
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from ..core.errors import LabError
from ..core.paths import LAB
from ..core.progress import say, tail
from .clock import Clock
from .guest import MGMT, VM, accel

PREFIX = "rdma_dcqcn-lab-"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupted(signum, frame):
    # like Ctrl-C: unwind through the finally blocks, which clean up
    raise KeyboardInterrupt


def _sweep():
    """Remove the scratch directories that killed runs left behind."""
    for d in glob.glob(os.path.join(tempfile.gettempdir(), PREFIX + "*")):
        try:
            if os.lstat(d).st_uid != os.getuid():
                continue
            # a FIFO would block
            with open(os.path.join(d, "lock"),
                      opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(d, ignore_errors=True)
        except OSError:
            pass    # alive, or already gone


class Fabric:
    """dir/share is /lab/share in every guest, read and write."""

    def __init__(self, image, directory=None, clock=Clock()):
        """directory: name of the scratch directory, if it must have a certain one;
        clock: of emulated guests; under KVM, guests have the CPU's."""
        self.image, self.dir, self.clock = image, directory, clock
        self.vms = []
        self._ports = []
        self._lock = self._cleaner = None

    def __enter__(self):
        self._handlers = {s: signal.signal(s, _interrupted) for s in SIGNALS}
        _sweep()
        if self.dir is None:
            self.dir = tempfile.mkdtemp(prefix=PREFIX)
        else:
            try:
                os.mkdir(self.dir, 0o700)
            except FileExistsError:
                raise LabError("%s exists already: another process was faster" % self.dir)
        try:
            # locked before another process can find it
            name = os.path.join(self.dir, "lock")
            self._lock = open(name + ".new", "w")
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            os.rename(name + ".new", name)
            if accel(self.image) == "kvm":
                self.clock = Clock()
            # this process notices our end, whatever the reason, because its input is closed then
            self._cleaner = subprocess.Popen(
                ["sh", "-c", "cat >/dev/null; rm -rf \"$1\"", "sh", self.dir],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True)
            self.share = os.path.join(self.dir, "share")
            os.mkdir(self.share)
            for key in ("key", "host_key"):
                self._host(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab",
                            "-f", os.path.join(self.dir, key)])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        # a second Ctrl-C must not interrupt the clean-up
        for s in SIGNALS:
            signal.signal(s, signal.SIG_IGN)
        for v in self.vms:
            v.kill()
        for p in self._ports:
            p.close()
        if self._cleaner:
            self._cleaner.stdin.close()
            self._cleaner.wait()
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
        for s, handler in self._handlers.items():
            signal.signal(s, handler)

    @staticmethod
    def _host(cmd):
        try:
            subprocess.run(cmd, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise LabError("%s is not installed: run tools/lab/deps" % cmd[0])
        except subprocess.CalledProcessError as e:
            raise LabError("%s failed: %s" % (cmd[0], e.stderr))

    def vm(self, name, **kw):
        """Describe a guest; keywords as for VM: smp, mem, append, nice, qemu."""
        # The socket stays bound, without listening, until QEMU starts, so that
        # no other guest or program gets the same port.
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", 0))
        self._ports.append(s)
        v = VM(name, len(self.vms) + 1, self.dir, self.image, s.getsockname()[1],
               self.clock, **kw)
        self.vms.append(v)
        return v

    def wire(self, a, b):
        """Connect two NICs. The link loses nothing, because QEMU makes the NIC wait."""
        a.link, b.link = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def boot(self, timeout=300):
        """Start all guests, and wait until each can run commands."""
        say("booting " + " ".join(v.name for v in self.vms))
        self._write_guest_files()
        for p in self._ports:
            p.close()
        self._ports = []
        for v in self.vms:
            v.start()
        deadline = self.clock.monotonic() + timeout
        waiting, connecting = list(self.vms), []
        while waiting or connecting:
            for v in list(waiting):
                if v.ready():
                    v.connect()
                    waiting.remove(v)
                    connecting.append(v)
            for v in list(connecting):
                if v.connected():
                    connecting.remove(v)
                    say("%s is up (%.1f s)" % (v.name, v.boot_seconds))
            if self.clock.monotonic() > deadline:
                v = (waiting + connecting)[0]
                raise LabError("%s did not come up within %d s; the end of its console:\n%s"
                               % (v.name, timeout, tail(v.console)))
            time.sleep(0.1)
        for v in self.vms:
            v.prepare()
        return self

    def _write_guest_files(self):
        extra = {}
        for name in os.listdir(os.path.join(LAB, "guest")):
            path = os.path.join(LAB, "guest", name)
            with open(path, "rb") as f:
                entry = (os.stat(path).st_mode & 0o777, f.read())
            extra["init" if name == "initramfs-init" else "lab/" + name] = entry
        for name in ("congestion-point",):
            with open(os.path.join(LAB, name), "rb") as f:
                extra["lab/" + name] = (0o755, f.read())
        for source, name in (("key", "key"), ("key.pub", "authorized_keys"),
                             ("host_key", "host_key")):
            with open(os.path.join(self.dir, source), "rb") as f:
                extra["lab/ssh/" + name] = (0o600, f.read())
        self.image.initramfs(os.path.join(self.dir, "initramfs"), extra)

        # One on the host, one for the guests, which reach each other through
        # the host's forwarded ports (.2 is the host, as QEMU shows it).
        for path, address, key, options in (
                (os.path.join(self.dir, "ssh_config"), "127.0.0.1",
                 os.path.join(self.dir, "key"), ""),
                (os.path.join(self.share, "ssh_config"), MGMT + ".2", "/root/.ssh/key",
                 "    ControlMaster auto\n    ControlPath /run/ssh-%n\n    ControlPersist yes\n")):
            with open(path, "w") as f:
                for v in self.vms:
                    f.write("Host %s\n    HostName %s\n    Port %d\n" % (v.name, address, v.port))
                f.write("Host *\n    User root\n    IdentityFile %s\n    IdentitiesOnly yes\n"
                        "    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n"
                        "    LogLevel ERROR\n%s" % (key, options))

    def complaints(self):
        """Faults of any guest's kernel that its console shows; asks no guest."""
        return [line for v in self.vms for line in v.complaints()]

    def splats(self):
        """Faults that any guest's kernel reported; [] if there are none."""
        return [line for v in self.vms for line in v.splats()]
