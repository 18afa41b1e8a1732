# SPDX-License-Identifier: GPL-2.0
"""Boots the simulator's kernel with a script as its first process, and waits until it ends."""

import contextlib
import fcntl
import os
import re
import signal
import subprocess
import threading

from ..core import console, kernel_log
from ..core.errors import LabError
from ..core.kernel_log import complaints
from ..core.paths import SIM, cache_dir

LAST_WORDS = "reboot: Power down"
SILENCE = 900       # s of wall time without output

# Simulated time stands still while the CPU works. The debug kernel has real time, so other programs
# on the host may delay it. KASAN keeps each different call stack. Here stacks of interrupts include
# the interrupted code, so ten minutes of torture fill more than the usual 128 MB.
SIMULATED = ("time-travel=inf-cpu", "time-travel-start=0", "mem=6G")
REAL = ("mem=1536M", "stack_depot_max_pools=32768", "rcupdate.rcu_cpu_stall_suppress=1")

# How to run a program of tools/sim in the simulator. Each system call costs simulated time, so
# Python must search no other directories: results would depend on the tree's path and on other
# packages.
PYTHON = "python3 -IS /srv/"

FIRST_PROCESS = """#!/bin/sh
# What the kernel runs as its first process. Made by uml.py.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mount -t devtmpfs dev /dev
mount -t hostfs -o %(out)s hostfs /mnt
mount -t hostfs -o %(sim)s hostfs /srv
ln -sf /proc/self/fd /dev/fd
run() {
set -e
# Timers are exact from the second tick on
sleep 0.03
ip link set lo up
%(insmod)s
%(commands)s
echo SIM-DONE
}
(run) 2>&1
status=$?
[ $status = 0 ] || echo "SIM-FAILED exit status $status"
dmesg >/mnt/dmesg
busybox poweroff -f
"""

_running, _stopped = set(), False
_lock = threading.Lock()        # of both


def stop_all():
    """End all simulations that other threads wait for, and those that they are about to start."""
    global _stopped
    with _lock:
        _stopped = True
        for p in _running:
            _stop(p)


def _stop(p):
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@contextlib.contextmanager
def _own_cpu():
    """The first words of a command line that runs on a CPU that no other simulation uses, if there
    is one.

    The kernel and its processes never run at the same time. Switching between them on one CPU takes
    some 15 % less CPU time than on two, which have to wake each other."""
    with contextlib.ExitStack() as held:
        for cpu in sorted(os.sched_getaffinity(0)):
            lock = held.enter_context(open(os.path.join(cache_dir(), "cpu-%d" % cpu), "w"))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield ["taskset", "--cpu-list", str(cpu)]
            return
        yield []


def boot(kernel, seed, modules, commands, out, show=None, mode=SIMULATED, silence=SILENCE,
         number=1):
    """Load modules (insmod's arguments, in order) and run shell commands, which see out as
    /mnt and tools/sim as /srv; their output goes to out/console.

    show(ns): called from time to time with the simulated time.
    silence: s without output after which the simulation is ended.
    seed: the library that makes random numbers; number: the seed of these.
    Raises LabError if a command fails, or if the kernel reports a fault.
    """
    init = os.path.join(out, "init")
    with open(init, "w") as f:
        f.write(FIRST_PROCESS % {"out": out, "sim": SIM, "commands": commands,
                                 "insmod": "\n".join("insmod " + m for m in modules)})
    os.chmod(init, 0o755)
    env = dict(os.environ, LD_PRELOAD=seed, SIM_SEED=str(number))
    # it must not outlive us, however we end
    cmd = ["setpriv", "--pdeathsig", "KILL",
           kernel.linux, "root=/dev/root", "rootfstype=hostfs", "hostfs=/", "ro",
           "init=" + init, "con=null", "con0=fd:0,fd:1", "uml_dir=" + out, "seccomp=on",
           # all kernel messages go to the console; no test can prevent that
           "ignore_loglevel", "panic=-1", *mode]
    text = ""
    kept = kernel_log.place(os.path.basename(out)) or os.devnull
    with (open(os.path.join(out, "console"), "w", buffering=1) as log,
          open(kept, "w", buffering=1) as copy, _own_cpu() as cpu):
        # In a session of its own: a terminal's Ctrl-C must reach only us, and we end its many
        # processes.
        p = subprocess.Popen(cpu + cmd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
        with _lock:
            _running.add(p)
            if _stopped:
                _stop(p)
        try:
            text = _watch(p, (log, copy), show, silence)
        finally:
            with _lock:
                _running.discard(p)
            _stop(p)
            p.wait()
    judge(text, out)


def judge(text, out):
    """Raise LabError unless the script printed SIM-DONE, without errors, and without kernel reports
    in out/dmesg. Programs in the background print an error, too, if they end early."""
    problems = complaints(text) + re.findall(r"^(?:SIM-FAILED|Traceback).*", text, re.M)
    dmesg = os.path.join(out, "dmesg")
    if os.path.exists(dmesg):       # not if the kernel panicked
        with open(dmesg, errors="replace") as f:
            problems += complaints(f.read())
    if problems or "SIM-DONE" not in text:
        raise LabError("it failed: %s\n%s" %
                       ("; ".join(problems) or "it ended early", console.last(text)))


def _watch(p, logs, show, silence):
    """The simulator's output, without the progress of simulated time."""
    said = []

    def line(entry):
        for log in logs:        # shows that it is alive
            os.utime(log.fileno())
        m = re.fullmatch(r"SIM-TIME (\d+)", entry)
        if not m:
            said.append(entry)
            for log in logs:
                log.write(entry + "\n")
        elif show:
            show(int(m[1]))

    try:
        # under load it may never end otherwise
        console.watch(p, silence, line, lambda text: text.rstrip().endswith(LAST_WORDS))
    except LabError as e:
        raise LabError("the simulation failed: %s\n%s" % (e, console.last("\n".join(said))))
    return "\n".join(said)
