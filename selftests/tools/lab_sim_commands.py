#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Each command and option of lab and sim, as their parsers have them: help at every level, good
values, and input that is missing, unknown or out of range. Nothing is started. bad_input.sh has
input that is wrong by its meaning.

Silent if all is well. A command or option that no line below tries is reported, too.
"""

import argparse
import contextlib
import io
import json
import re
import shlex
import sys

from testbed.core import command
from testbed.sim import sim_command
from testbed.vm import lab_command

# Options have other values than their defaults
GOOD = {"lab": """
up
up pfc --kernel 6.12 --rate 40mbit --delay 2ms --kmin 9KB --kmax 99KB --pmax 0.2 --buffer 300KB
up --hosts 4 --cnp data --port tc --profile mlx5 --module /x.ko --tdf 50
up --hosts 4 --install nvme-cli --install libfabric-bin
up --hosts 64 --pfc 0,3 --xoff 50KB --xon 20KB --headroom 300KB --dcbx
status
status --json
lldp
lldp --json
exec h1 -- ib_write_bw -d rxe0 --json
exec h1 uname
shell s1
capture s1.h3
capture s1.h3 --write x.pcap --duration 0.5 --filter "udp port 4791" --snaplen 262144
capture s1.h3 -w x.pcap -d 5 -f icmp -s 1
set s1.h3 h1 rate=20mbit
set profile=stock
down
run
run incast pfc --short --check --out out/none --json
run x.toml --only n=2 --only n=4 --live --stock-only --set rpg_ai_rate=5 --set rpg_gd=12
run incast --install ucx-utils -- ucx_perftest -p --json
run -- ./x
run --kernel debug --module /x.ko --tdf 3
record vnet2 --out out/a
record vnet2 --duration 60 -o out/a
record vnet2 -d 0.001 -o out/a
draw out/a out/b --out x.png --title "Two runs"
draw out/a -o x.png -t x
list
list --json
image
image --kdir --kernel sid
build
build --kernel 6.12-rt
""", "sim": """
run
run incast x.toml --only n=2,rate=10gbit --only n=4 --out out/none --jobs 64 --twice --builtin
run --json --seed 7 --load x.ko --load y.ko
run anypath-grid --resume --seconds 3600
run anypath-grid --only rate=10gbit --part --jobs 1 --out out/none
build --out out/none --builtin
model x.toml
model x.toml --json --remove --load x.ko --out out/none
list
list --json
kernel
kernel --kdir --debug --update
"""}

wrong = tried = 0


def complain(words, what):
    global wrong
    wrong += 1
    print("# %s: %s" % (" ".join(words), what))


def run(main, words):
    """Parse these words. Return the result or exit status, standard output and error."""
    global tried
    tried += 1
    command.Parser.json_wanted = False
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main.parser().parse_args(words)
        except SystemExit as e:
            status = e.code
    return status, out.getvalue(), err.getvalue()


def refused(main, name, words, text):
    """It must exit with status 2 and one line that begins with the command."""
    status, out, err = run(main, words)
    if (status, out) != (2, "") or err.count("\n") != 1 or not err.startswith(name + ": ") or \
            text not in err:
        complain([name] + words, "status %s, %r %r" % (status, out, err))


def shown(main, words, text):
    status, out, err = run(main, words)
    if (status, err) != (0, "") or not re.match(text, out):
        complain(words, "status %s, %r %r" % (status, out, err))


def options(parser):
    return [a for a in parser._actions if a.option_strings and a.dest != "help"]


def check_good(main, name, commands):
    """Each line must be accepted, and change the value of each option that it has."""
    seen = set()
    for line in GOOD[name].strip().splitlines():
        words = shlex.split(line)
        args, out, err = run(main, words)
        if not isinstance(args, argparse.Namespace) or out or err:
            complain([name, line], "%s, %r %r" % (args, out, err))
            continue
        seen.add(words[0])
        end = words.index("--") if "--" in words else len(words)
        for action in options(commands[words[0]]):
            if set(action.option_strings) & set(words[:end]):
                seen.add((words[0], action.dest))
                if getattr(args, action.dest) == action.default:
                    complain([name, line], "%s has no effect" % action.dest)
    for word, inner in commands.items():
        for what in [word] + [(word, a.dest) for a in options(inner)]:
            if what not in seen:
                complain([name], "%s is never tried with good input" % (what,))


def check_option(main, name, before, action):
    """Values that this option must refuse."""
    option = max(action.option_strings, key=len)
    if action.nargs == 0:
        refused(main, name, before + [option + "=yes"], "ignored explicit argument")
        return
    refused(main, name, before + [option], "expected one argument")
    if action.choices:
        refused(main, name, before + [option, "nonesuch"], "invalid choice: 'nonesuch'")
    elif action.type in (command.directory, command.plain_directory):
        refused(main, name, before + [option, "/dev/null/x"], "must be a directory")
        if action.type is command.plain_directory:
            refused(main, name, before + [option, "a b"], "may have letters")
    elif action.type is lab_command.package:
        for bad in ("-1", "../x", "A b", ""):
            refused(main, name, before + ["%s=%s" % (option, bad)], "must be a Debian package")
    elif action.type:
        refused(main, name, before + [option, "nonesuch"], "must be a")
        refused(main, name, before + [option, "-1"], "must be")
        refused(main, name, before + [option, "nan"], "must be a")


def check(main, name):
    parser = main.parser()
    commands, = (a.choices for a in parser._actions
                 if isinstance(a, argparse._SubParsersAction))
    check_good(main, name, commands)
    refused(main, name, [], "COMMAND")
    refused(main, name, ["nonesuch"], "invalid choice: 'nonesuch'")
    for option in ("-h", "--help"):
        shown(main, [option], "usage: %s " % name)
    for option in ("-V", "--version"):
        shown(main, [option], r"%s \d+\.\d+\.\d+\n$" % name)
    for word, inner in commands.items():
        for option in ("-h", "--help"):
            shown(main, [word, option], "usage: %s %s " % (name, word))
        # exec passes everything that follows to the guest
        needed = [a.metavar or a.dest for a in inner._actions
                  if not a.option_strings and a.nargs not in ("*", "?", argparse.REMAINDER)]
        if needed:
            refused(main, "%s %s" % (name, word), [word], "required")
        if word != "exec":
            names = ["x"] * len(needed)
            required = [w for a in inner._actions if a.required and a.option_strings
                        for w in (a.option_strings[0], "x")]
            refused(main, name, [word] + names + required + ["--nonesuch"],
                    "unrecognized arguments: --nonesuch")
        for action in options(inner):
            check_option(main, "%s %s" % (name, word), [word], action)
        if "--json" in inner._option_string_actions:
            status, out, err = run(main, [word, "--json=x", "--json"])
            if status != 2 or json.loads(out)["error"] + "\n" != err:
                complain([name, word, "--json"], "status %s, %r %r" % (status, out, err))


check(lab_command, "lab")
check(sim_command, "sim")
assert tried > 100, tried
sys.exit(1 if wrong else 0)
