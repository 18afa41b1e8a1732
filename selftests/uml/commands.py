# SPDX-License-Identifier: GPL-2.0
"""Commands, files and network namespaces, for programs that run inside a test's kernel."""

import contextlib
import ctypes
import glob
import json
import os
import signal
import subprocess

PATIENCE = 300      # s, for anything: a debug kernel on a busy machine is slow
HANG = 30           # s, for one change to a network device


class Wrong(Exception):
    """A test has failed; the text says why."""


def write(path, value):
    """Return whether the file accepts the value. It may not exist."""
    try:
        with open(path, "w") as f:
            f.write(str(value))
        return True
    except OSError:
        return False


def read(path, default=None):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return default


def blocked_tasks():
    """Return the name and kernel stack of each task in uninterruptible sleep."""
    out = []
    for status in glob.glob("/proc/[0-9]*/task/[0-9]*/status"):
        text = read(status, "")
        if "State:\tD" in text:
            out.append(text.splitlines()[0] + "\n" +
                       read(os.path.dirname(status) + "/stack", ""))
    return "\n".join(out)


libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    """Move this thread and the programs it starts into a network namespace."""
    with open(path) as f:
        if libc.setns(f.fileno(), 0):
            raise OSError(ctypes.get_errno(), path)


@contextlib.contextmanager
def inside(namespace):
    enter("/run/netns/" + namespace)
    try:
        yield
    finally:
        enter("/proc/1/ns/net")


def run(command, may_fail=False, seconds=PATIENCE):
    """Run a command and return its output; use the shell if it has redirections. Raise Wrong
    if it fails, unless it may, and always if it does not end: a task that hangs in the kernel
    cannot be killed, so it is left running."""
    plain = ["sh", "-c", command] if set("<>&|") & set(command) else command.split()
    p = subprocess.Popen(plain, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    try:
        out, err = p.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Wrong("hangs for %d s: %s\n%s" % (seconds, command, blocked_tasks()))
    if p.returncode and not may_fail:
        raise Wrong("%s: exit status %d: %s" % (command, p.returncode, err.strip()))
    return out


def start(*command):
    """Start a program that prints figures, in JSON, when stop() ends it."""
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stop(program):
    """End a program and return its figures. Raise Wrong if it failed."""
    program.send_signal(signal.SIGTERM)
    out, err = program.communicate(timeout=PATIENCE)
    if program.returncode:
        raise Wrong("%s: exit status %d: %s" % (program.args[0], program.returncode, err))
    return json.loads(out)
