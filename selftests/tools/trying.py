#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Tests parts of dcqcn try that need no device: an error or a signal leaves no program behind,
the picture fits the terminal, and it finds the module that make has built. selftests/try runs it in
a guest. Silent on success."""

import contextlib
import io
import os
import subprocess
import sys
import types
from unittest import mock

from expect import expect, status
from testbed.core.paths import MODULE, TOP

started = []


class Program(subprocess.Popen):
    """A program that waits, in place of perftest."""

    def __init__(self, words, **kw):
        super().__init__(["sleep", "1000"], **kw)
        started.append(self)


def script():
    """The script, without its last line, which runs it."""
    with open(os.path.join(TOP, "tools/try/try")) as f:
        text, _, last = f.read().rstrip().rpartition("\n")
    expect("the last line", last, "sys.exit(main(sys.argv[1:]))")
    made = types.ModuleType("try")
    made.__file__ = f.name
    exec(compile(text, f.name, "exec"), made.__dict__)
    made.subprocess = types.SimpleNamespace(Popen=Program, **{
        n: getattr(subprocess, n) for n in ("DEVNULL", "PIPE", "STDOUT", "TimeoutExpired")})
    made.READY = 0
    return made


def raises(what, error, function, *args):
    started.clear()
    try:
        function(*args)
        expect(what, "no error", error)
    except error:
        pass
    expect("%s: programs that still run" % what, [p.args for p in started if p.poll() is None], [])
    expect("%s: started" % what, bool(started), True)
    for p in started:
        p.kill()
        p.wait()
        if p.stdout:
            p.stdout.close()


def nothing_left():
    it = script()
    it.gid_index = lambda i: "1"
    raises("nothing listens", it.Missing, it.Traffic, [0, 1])

    def stopped(*args):
        raise it.Stopped(15)

    it.until = stopped
    raises("a signal while it connects", it.Stopped, it.Traffic, [0, 1])

    it = script()
    it.gid_index, it.Traffic.listens, it.Run = lambda i: "1", lambda self, port: True, stopped
    args = types.SimpleNamespace(stock=True, load=True)
    raises("a signal before the command", it.Stopped, it.execute, None, args)

    it = script()
    it.gid_index, it.Run, it.hangs = lambda i: "1", lambda name: None, stopped
    args = types.SimpleNamespace(stock=True, load=False, command=["x"], seconds=0.01)
    raises("a signal while the command hangs", it.Stopped, it.execute, None, args)


def fits():
    """No line wraps: as many are overwritten by the next picture. The newest values are there."""
    it = script()
    run = types.SimpleNamespace(name=it.STOCK, rates=lambda port: [5e7] * 60 + [1e8],
                                queues=lambda: [60000] * 61, growth=lambda what: 1234567)
    picture = it.Picture(types.SimpleNamespace(json=False, check=False, seconds=30, rate=1e8))
    picture.terminal = True
    for columns, widest in ((30, 29), (50, 49), (80, 69)):
        with mock.patch.dict(os.environ, COLUMNS=str(columns)), \
                contextlib.redirect_stdout(io.StringIO()) as out:
            picture.show(run, 15)
        lines = out.getvalue().replace("\x1b[2K", "").splitlines()[-5:]
        expect("%d columns" % columns, max(map(len, lines)), widest)
        expect("newest of %d columns" % columns, [line[-2:] for line in lines[1:3]], ["▅█"] * 2)


def finds():
    """The module that make has built is loaded, though another one is installed."""
    it, loaded = script(), []

    def sh(command, check=True):
        if command.startswith("insmod "):
            loaded.append(os.path.realpath(command.removeprefix("insmod ")))
        if command.startswith("modprobe "):
            loaded.append("the installed one")
        return ""

    it.sh = sh
    net = it.Network(None)
    net.did = net.marks_count = lambda what: None
    built = os.path.join(TOP, MODULE)
    with mock.patch.object(os.path, "exists", lambda path: os.path.realpath(path) == built), \
            mock.patch.object(os.path, "isdir", lambda path: False), \
            mock.patch.dict(os.environ, DCQCN_MODULE=""):
        try:
            net.switch_on()
        except it.Missing as e:
            expect("the module", str(e), "loaded")
    expect("loaded", loaded, [built])

    it = script()
    it.subprocess.run = lambda words, **kw: subprocess.CompletedProcess(
        words, 1, "", "Key was rejected by service\n")
    net = it.Network(None)
    net.did = lambda what: None
    with mock.patch.object(os.path, "exists", lambda path: True), \
            mock.patch.object(os.path, "isdir", lambda path: False), \
            mock.patch.dict(os.environ, DCQCN_MODULE="x.ko"):
        try:
            net.switch_on()
            expect("a module that the kernel refuses", "no error", "an error")
        except it.Missing as e:
            expect("a module that the kernel refuses", str(e),
                   "try: insmod x.ko: Key was rejected by service")


nothing_left()
fits()
finds()
sys.exit(status())
