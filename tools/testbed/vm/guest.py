# SPDX-License-Identifier: GPL-2.0
"""One guest: a QEMU process, its console, and commands run in it over ssh."""

import ctypes
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from ..core import kernel_log
from ..core.errors import LabError
from ..core.paths import LAB
from ..core.progress import say, tail

# The management network is the same in every guest: QEMU is .2, the guest .15.
# It is from a block reserved for documentation, so it does not clash with scenarios.
MGMT = "198.51.100"

# Works around a text-patching hang in QEMU before 8.1. Adding the first netfilter hook or
# clsact, or removing the last one, patches the IP stack's code. If packets arrive meanwhile,
# QEMU 7.2 hangs a guest with two CPUs in one of 20 to 40 such changes, and QEMU 10.0 in none of
# 700: a CPU stays at the patched instruction for ever, in QEMU's translation of the temporary
# breakpoint. So keep one hook and one clsact all the time.
STAYING = """
modprobe iptable_filter forward=0 && modprobe ip6table_filter forward=0 &&
grep -q filter /proc/net/ip_tables_names && grep -q filter /proc/net/ip6_tables_names &&
tc qdisc add dev lo clsact
"""

# Perftest polls all the time, so hosts take all the CPU they can get. Switches need little CPU,
# but at once.
HOST_NICE, SWITCH_NICE = -5, -10

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_parent(sig=signal.SIGKILL):
    """Runs in a child before exec, so that no process outlives the lab, however it ends.

    The signal comes when the *thread* that forked ends, so start processes
    from the main thread only.
    """
    _libc.prctl(PR_SET_PDEATHSIG, sig)


def set_priority(task, nice):
    """Set a nice value. Ignores errors: a value below 0 needs root, and is not essential."""
    try:
        os.setpriority(os.PRIO_PROCESS, task, nice)
    except OSError:
        pass


_accel = None


def accel(image):
    """QEMU's -accel argument: KVM if it really works, otherwise TCG.

    /dev/kvm may exist and still hang a guest, so a guest has to answer.
    """
    global _accel
    if _accel is None:
        _accel = "kvm" if _kvm_works(image) else "tcg,thread=multi"
        say("guests run under " + ("KVM, by the CPU's clock" if _accel == "kvm" else
                                   "TCG (no working KVM here)"))
    return _accel


def _kvm_works(image):
    with open("/proc/cpuinfo") as f:
        if not re.search(r"^flags\s*:.*\b(vmx|svm)\b", f.read(), re.M):
            return False
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    hello = b"#!/bin/busybox sh\n/bin/busybox echo KVM-ANSWERS >/dev/console\n" \
            b"/bin/busybox poweroff -f\n"
    with tempfile.TemporaryDirectory() as d:
        initrd = os.path.join(d, "initrd")
        image.initramfs(initrd, {"init": (0o755, hello)})
        try:
            r = subprocess.run(
                ["qemu-system-x86_64", "-M", "q35", "-accel", "kvm", "-cpu", "host", "-m", "256M",
                 "-nodefaults", "-no-user-config", "-nographic", "-no-reboot", "-serial", "stdio",
                 "-kernel", image.kernel, "-initrd", initrd,
                 "-append", "console=ttyS0 quiet panic=-1"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                timeout=30, preexec_fn=die_with_parent)
        except subprocess.TimeoutExpired:
            return False
    return b"KVM-ANSWERS" in r.stdout


_tsc_khz = None


def tsc_khz():
    """The frequency of the TSC, for emulated guests; 0 without a TSC. See tools/lab/tsc.c."""
    global _tsc_khz
    if _tsc_khz is None:
        source = os.path.join(LAB, "tsc.c")
        with tempfile.TemporaryDirectory() as d:
            tool = os.path.join(d, "tsc")
            try:
                subprocess.run(["gcc", "-O2", "-o", tool, source], check=True)
                khz = subprocess.run([tool], check=True, capture_output=True, text=True).stdout
            except (OSError, subprocess.CalledProcessError) as e:
                raise LabError("tsc.c does not build (run tools/lab/deps?): %s" % e)
        _tsc_khz = int(khz.strip() or 0)
    return _tsc_khz


class Failed(LabError):
    """A command in a guest failed."""


class Nic:
    """A guest's network interface. wire() in fabric.py connects two of them."""

    def __init__(self, vm, name, mac, addrs, rdma):
        self.vm, self.name, self.mac, self.addrs, self.rdma = vm, name, mac, addrs, rdma
        self.link = None        # our end of a socket pair, handed to QEMU


class Job:
    """A command running in a guest in the background."""

    def __init__(self, vm, cmd, number):
        self.vm, self.cmd = vm, cmd
        # A guest of "lab up" may have jobs of several processes.
        self.pid_file = "/run/lab-job.%d.%d" % (os.getpid(), number)
        # files rather than pipes, which would block when full
        self._out = tempfile.TemporaryFile("w+", dir=vm.dir)
        self._err = tempfile.TemporaryFile("w+", dir=vm.dir)
        self._proc = subprocess.Popen(
            vm.ssh_argv("echo $$ >%s; %s" % (self.pid_file, cmd)),
            stdin=subprocess.DEVNULL, stdout=self._out, stderr=self._err,
            preexec_fn=die_with_parent)

    @property
    def pid(self):
        """The process id of its ssh, on this machine."""
        return self._proc.pid

    def running(self):
        return self._proc.poll() is None

    def stop(self, sig="TERM", timeout=60):
        """Signal the command and everything that it started, and wait for its end."""
        return stop([self], sig, timeout)[0]

    def wait(self, timeout=180, check=True):
        """Wait for the end; returns a CompletedProcess like VM.run()."""
        try:
            code = self._proc.wait(self.vm.clock.host(timeout))
        except subprocess.TimeoutExpired:
            raise Failed("%s: still running after %g s: %s\n%s" %
                         (self.vm.name, timeout, self.cmd, self.output()[-2000:]))
        r = subprocess.CompletedProcess(self.cmd, code, self._read(self._out),
                                        self._read(self._err))
        if check:
            _check(self.vm, r)
        return r

    def output(self):
        """The output so far."""
        return self._read(self._out) + self._read(self._err)

    @staticmethod
    def _read(f):
        # pread does not move the offset at which the child writes
        return os.pread(f.fileno(), os.fstat(f.fileno()).st_size, 0).decode(errors="replace")


def _check(vm, r):
    if r.returncode:
        raise Failed("%s: exit status %d: %s\n%s%s" %
                     (vm.name, r.returncode, r.args, r.stdout[-4000:], r.stderr[-4000:]))


def ask(commands):
    """Start [(guest, command)]; return a function that waits for their outputs, stripped."""
    jobs = [vm.spawn(cmd) for vm, cmd in commands]
    return lambda: [j.wait().stdout.strip() for j in jobs]


def gather(commands):
    """Run [(guest, command)] at the same time; return their outputs, stripped."""
    return ask(commands)()


def stop(jobs, sig="TERM", timeout=60):
    """Stop jobs in all guests at the same time; return their CompletedProcesses."""
    # sshd makes each command the leader of a session of its own. A command that has just been
    # started may not have written its file yet.
    for killing in [vm.spawn("for f in %s; do n=0; until [ -s $f ] || [ $((n += 1)) = 100 ]; do "
                             "sleep 0.1; done; kill -%s -- -$(cat $f); done" %
                             (" ".join(j.pid_file for j in jobs if j.vm is vm), sig))
                    for vm in {j.vm for j in jobs}]:
        killing.wait(check=False)
    return [j.wait(timeout, check=False) for j in jobs]


def wait_for_end(jobs, seconds=None):
    """Wait until one of these jobs ends, at most for so many seconds of the machine. All of them
    ran when the caller looked."""
    fds, poll = [], select.poll()
    if not jobs:
        return
    try:
        for j in jobs:
            fds.append(os.pidfd_open(j.pid))
            poll.register(fds[-1], select.POLLIN)
        poll.poll(None if seconds is None else max(0, seconds) * 1000)
    except ProcessLookupError:
        pass            # it has ended
    finally:
        for fd in fds:
            os.close(fd)


class VM:
    """A guest. Made by Fabric.vm(), started by Fabric.boot(). Timeouts are by its clock."""

    def __init__(self, name, number, dir, image, port, clock, smp=1, mem="512M", append="",
                 nice=0, qemu=()):
        """append: to the kernel's command line; qemu: more arguments of QEMU"""
        self.name, self.dir, self.image, self.port = name, dir, image, port
        self.clock = clock
        self.smp, self.mem, self.append, self.nice, self.qemu = smp, mem, append, nice, qemu
        self.nics = []
        self.console = os.path.join(dir, name + ".console")
        self._number = number
        self._jobs = 0
        self._qemu = self._master = self.pid = None
        self.boot_seconds = None

    def nic(self, addrs=(), rdma=True, name=None):
        """Add a data NIC: eth0, eth1, … by default; with rdma it carries rxe0, rxe1, …"""
        i = len(self.nics)
        mac = "52:54:00:00:%02x:%02x" % (self._number, i + 1)
        self.nics.append(Nic(self, name or "eth%d" % i, mac, list(addrs),
                             "rxe%d" % i if rdma else None))
        return self.nics[-1]

    def start(self):
        mgmt = "52:54:00:00:%02x:00" % self._number
        with open(os.path.join(self.dir, "share", "nics." + self.name), "w") as f:
            f.write("mgmt %s %s.15/24 -\n" % (mgmt, MGMT))
            for n in self.nics:
                f.write("%s %s %s %s\n" % (n.name, n.mac, ",".join(n.addrs) or "-", n.rdma or "-"))
        how = accel(self.image)
        # ticks of the machine's TSC in a second of the guest, which is longer with a slower clock
        tsc = how != "kvm" and tsc_khz() * self.clock.tdf
        cmd = ["qemu-system-x86_64", "-M", "q35", "-accel", how,
               # Without CMPXCHG16B: with it, QEMU before 8.0 may take any number for the
               # flags, which an interrupt then saves and restores. Kernels 6.12 and
               # 6.18 crashed from that, in slab's fast path and after it.
               "-cpu", "host" if how == "kvm" else "max,-cx16", "-m", self.mem,
               # With one CPU, TCG leaves out the guest's memory barriers. The
               # devices' threads then lack them: virtio loses a notification, and a
               # NIC stops for good. Room for a second CPU is enough to avoid it.
               "-smp", "%d,maxcpus=%d" % (self.smp, max(2, self.smp)),
               "-name", self.name, "-nodefaults", "-no-user-config", "-display", "none",
               "-no-reboot", "-serial", "file:" + self.console,
               "-kernel", self.image.kernel, "-initrd", os.path.join(self.dir, "initramfs"),
               # loglevel=5: a WARN must reach the console; other messages need not.
               # A stall is reported after 60 s: a busy host may delay a healthy
               # guest for longer than the usual 21 s.
               "-append", "console=ttyS0 loglevel=5 panic=-1 mitigations=off tsc=reliable "
                          # this check fails on a busy host, and then hangs
                          "no_timer_check "
                          "random.trust_cpu=on net.ifnames=0 "
                          "rcupdate.rcu_cpu_stall_timeout=60 lab.name=%s %s %s"
                          % (self.name, "tsc_early_khz=%d" % tsc if tsc else "", self.append),
               "-device", "virtio-rng-pci",
               "-virtfs", "local,path=%s,mount_tag=root,security_model=none,readonly=on,"
                          "multidevs=remap" % self.image.root,
               "-virtfs", "local,path=%s,mount_tag=share,security_model=none,"
                          "multidevs=remap" % os.path.join(self.dir, "share"),
               "-netdev", "user,id=mgmt,net=%s.0/24,ipv6=off,hostfwd=tcp:127.0.0.1:%d-:22"
               % (MGMT, self.port),
               "-device", "virtio-net-pci,netdev=mgmt,romfile=,mac=" + mgmt]
        for i, n in enumerate(self.nics):
            if n.link is None:
                raise LabError("%s: %s is not connected to anything" % (self.name, n.name))
            cmd += ["-netdev", "socket,id=net%d,fd=%d" % (i, n.link.fileno()),
                    "-device", "virtio-net-pci,netdev=net%d,romfile=,mac=%s" % (i, n.mac)]
        cmd += self.qemu
        if not shutil.which(cmd[0]):
            raise LabError("%s is not installed: run tools/lab/deps" % cmd[0])
        self._kept = kernel_log.place(self.name)
        if self._kept:
            os.symlink(self._kept, self.console)
        self._log = os.path.join(self.dir, self.name + ".qemu")
        self._started = time.monotonic()
        with open(self._log, "w") as log:
            self._qemu = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env=self.clock.environment(),
                                          pass_fds=[n.link.fileno() for n in self.nics],
                                          preexec_fn=die_with_parent)
        self.pid = self._qemu.pid
        for n in self.nics:
            n.link.close()

    def _set_priority(self):
        """Give QEMU's threads their nice value, once the guest has booted."""
        for task in os.listdir("/proc/%d/task" % self._qemu.pid):
            set_priority(int(task), self.nice)

    def ready(self):
        """Return true if the guest has booted. Raises if it never will."""
        text = self._console_text()
        if "LAB-READY " + self.name in text:
            self.boot_seconds = time.monotonic() - self._started
            self.clock.forget(self.pid)
            return True
        if "LAB-FAILED" in text or self._qemu.poll() is not None:
            raise LabError("%s did not come up:\n%s%s" % (self.name, tail(self._log),
                                                          tail(self.console)))
        return False

    def connect(self):
        """Open the one ssh connection that all commands share."""
        self._master = subprocess.Popen(
            ["ssh", "-M", "-N", "-o", "ConnectTimeout=60"] + self._ssh_options() + [self.name],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(self.dir, self.name + ".ssh"), "w"),
            preexec_fn=die_with_parent)

    def connected(self):
        if self._master.poll() is not None:
            raise LabError("ssh to %s failed:\n%s%s" %
                           (self.name, tail(os.path.join(self.dir, self.name + ".ssh")),
                            tail(self.console)))
        return os.path.exists(os.path.join(self.dir, self.name + ".ctl"))

    def prepare(self):
        """Make a guest safe to use, once it is connected."""
        self._set_priority()
        if self.smp > 1:
            self.run(STAYING)

    def _ssh_options(self):
        return ["-F", os.path.join(self.dir, "ssh_config"),
                "-S", os.path.join(self.dir, self.name + ".ctl")]

    def ssh_argv(self, cmd=None, tty=False):
        argv = ["ssh"] + (["-t"] if tty else []) + self._ssh_options() + [self.name]
        return argv + ([cmd] if cmd is not None else [])

    def run(self, cmd, check=True, timeout=180, input=None):
        """Run a shell command line in the guest as root and wait for it.

        Returns a CompletedProcess with text stdout and stderr. With check, an
        exit status other than 0 raises; so does a timeout, always.
        """
        if not isinstance(cmd, str):
            cmd = shlex.join(cmd)
        try:
            r = subprocess.run(self.ssh_argv(cmd), capture_output=True, text=True, errors="replace",
                               timeout=self.clock.host(timeout), preexec_fn=die_with_parent,
                               **({"input": input} if input is not None else
                                  {"stdin": subprocess.DEVNULL}))
        except subprocess.TimeoutExpired:
            raise Failed("%s: no answer within %g s: %s\n%s" %
                         (self.name, timeout, cmd, tail(self.console)))
        r.args = cmd
        if check:
            _check(self, r)
        return r

    def out(self, cmd, **kw):
        """The standard output of a command, without the white space around it."""
        return self.run(cmd, **kw).stdout.strip()

    def spawn(self, cmd):
        """Start a shell command line in the guest; returns a Job."""
        self._jobs += 1
        return Job(self, cmd, self._jobs)

    def wait_for(self, cmd, timeout=120, what=None):
        """Run a command until it succeeds."""
        self.run("/lab/await %d %s || { echo %s >&2; exit 1; }" % (
            timeout, shlex.quote(cmd), shlex.quote("timed out waiting for " + (what or cmd))),
            timeout=timeout + 10)

    def put(self, source, target):
        """Copy a file or directory from the host into the guest."""
        subprocess.run(["scp", "-qr"] + self._scp_options() +
                       [source, "%s:%s" % (self.name, target)],
                       check=True, preexec_fn=die_with_parent)

    def get(self, source, target):
        """Copy a file or directory from the guest to the host."""
        subprocess.run(["scp", "-qr"] + self._scp_options() +
                       ["%s:%s" % (self.name, source), target],
                       check=True, preexec_fn=die_with_parent)

    def _scp_options(self):
        return ["-F", os.path.join(self.dir, "ssh_config"),
                "-o", "ControlPath=" + os.path.join(self.dir, self.name + ".ctl")]

    def _console_text(self):
        try:
            with open(self.console, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def complaints(self):
        """Lines with faults on its console."""
        return ["%s: %s" % (self.name, line.strip())
                for line in kernel_log.complaints(self._console_text())]

    def splats(self):
        """Lines with faults that this guest's kernel reported; [] if there are none.

        Reads the console, so it works after a crash; asks a living guest for
        its taint flags too. A guest that does not answer counts as a fault.
        """
        found = []
        if self._qemu is not None:
            if self._qemu.poll() is not None:
                found.append("QEMU ended with status %d" % self._qemu.returncode)
            else:
                try:
                    taint = int(self.out("cat /proc/sys/kernel/tainted", timeout=60))
                    if taint & kernel_log.BAD_TAINT:
                        found.append("the kernel is tainted: %d" % taint)
                except (Failed, ValueError) as e:
                    found.append(str(e))
        return self.complaints() + ["%s: %s" % (self.name, line) for line in found]

    def kill(self):
        for p in (self._master, self._qemu):
            if p is not None:
                p.kill()
                p.wait()
        if self._qemu is not None:
            self.clock.forget(self.pid)
            # it ended before its kernel printed anything
            if self._kept and not os.path.getsize(self._kept):
                os.unlink(self._kept)
        self._master = self._qemu = None
