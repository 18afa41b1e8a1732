#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Each command with an output directory refuses one that another command writes to, and says who
that is, before it starts anything. Silent on success.

A script with an output directory that no line below tries is reported, too.
"""

import contextlib
import glob
import os
import re
import subprocess
import sys
import tempfile

from expect import expect, status
from testbed.core import output
from testbed.core.errors import InputError
from testbed.core.paths import OUT, TOP

# Arguments that lead to the output directory
COMMANDS = {
    "tools/sim/sim": ["run incast --out", "run --json incast --out", "run --part incast --out",
                      "model MODEL --out"],
    "tools/lab/lab": ["run incast --stock-only --out"],
    "tools/bench/bench": ["--out"],
    "selftests/fuzz/run": ["--out"],
    "selftests/model/simulated": ["--out"],
    "selftests/mutants/run": ["--out"],
    "selftests/port/run": ["--out"],
    "selftests/simulated": ["--out"],
    "selftests/uml/coverage": ["--out"],
    "selftests/uml/cpus": ["ports --out"],
    "selftests/uml/devices": ["--out"],
    "selftests/uml/foreign": ["--out"],
    "selftests/uml/hostile": ["--out"],
    "selftests/uml/integrity": ["--out"],
    "selftests/uml/kernel_selftests": ["--out"],
    "selftests/uml/order": ["--out"],
    "selftests/uml/stamps": ["--out"],
    "selftests/uml/torture": ["--out"],
}


def run(words):
    # a kernel, or a compiler for one, would come from there
    return subprocess.run(words, cwd=TOP, capture_output=True, text=True, timeout=60,
                          env={**os.environ, "XDG_CACHE_HOME": "/dev/null/none"})


def refused():
    with tempfile.TemporaryDirectory() as d, tempfile.NamedTemporaryFile("w", suffix=".toml") as f:
        f.write("[model]\nduration = \"1ms\"\n")
        f.flush()
        output.hold(d)
        for name, lines in COMMANDS.items():
            for line in lines:
                r = run([name, *line.replace("MODEL", f.name).split(), d])
                said = re.sub(r"^\w+: ", "", r.stderr)
                expect("%s %s" % (name, line), (r.returncode, said, os.listdir(d)),
                       (2, "%s: is in use by process %d: %s; wait until that has ended, or choose "
                           "another directory with --out\n" % (d, os.getpid(), sys.argv[0]),
                        [".lock"]))


def refused_by_default():
    """Those that always write to the same directory. The suite holds its own if it runs this."""
    for name, words in (("check", ["selftests/run", "docs"]),
                        ("upstream", ["upstream/try"]), ("series", ["upstream/series"])):
        with contextlib.suppress(InputError):
            output.hold(os.path.join(OUT, name))
        r = run(words)
        expect(words[0], (r.returncode, r.stdout, "/%s: is in use by process " % name in r.stderr),
               (2, "", True))


def killed():
    """A lock ends with its process, however that ends: no child keeps it."""
    with tempfile.TemporaryDirectory() as d:
        code = ("from testbed.core import output; import subprocess, sys; output.hold(sys.argv[1]); "
                "child = subprocess.Popen(['sleep', '1000']); print(child.pid, flush=True); "
                "child.wait()")
        with subprocess.Popen([sys.executable, "-Bc", code, d], cwd=os.path.dirname(__file__),
                              stdout=subprocess.PIPE, text=True) as p:
            child = int(p.stdout.readline())
            try:
                output.hold(d)
                expect("while it runs", "held twice", "an error")
            except InputError as e:
                expect("while it runs", str(e), "%s: is in use by process %d: -c %s; wait until "
                       "that has ended" % (d, p.pid, d))
            p.kill()
        output.hold(d)
        output.hold(os.path.join(d, ".", ""))   # the same, by the same process
        os.kill(child, 9)


def shared():
    """Several commands may share a directory, and no other one writes to it then."""
    code = ("from testbed.core import output; import sys; "
            "output.hold(sys.argv[1], shared=len(sys.argv) > 2)")

    def held(*words):
        r = subprocess.run([sys.executable, "-Bc", code, d, *words], timeout=60,
                           cwd=os.path.dirname(__file__), capture_output=True, text=True)
        return r.returncode or "is in use by" in r.stderr

    with tempfile.TemporaryDirectory() as d:
        output.hold(d, shared=True)
        expect("another one that shares it", held("shared"), False)
        expect("one that does not", bool(held()), True)


def scripts():
    """Our scripts with an output directory."""
    for path in sorted(glob.glob(os.path.join(TOP, "tools/*/*")) +
                       glob.glob(os.path.join(TOP, "selftests/*")) +
                       glob.glob(os.path.join(TOP, "selftests/*/*"))):
        if os.path.isfile(path) and os.access(path, os.X_OK) and not path.endswith(".py"):
            with open(path, "rb") as f:
                if re.search(rb"command\.directory|import .*\barguments\b|"
                             rb"(sim|lab|bench)_command import", f.read()):
                    yield os.path.relpath(path, TOP)


refused()
refused_by_default()
killed()
shared()
expect("scripts with an output directory", list(scripts()), sorted(COMMANDS))
sys.exit(status())
