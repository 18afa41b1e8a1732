#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Each command and option of lab and sim, as their parsers have them: help at every level,
and what is missing, unknown or out of range. bad_input.sh has what depends on meaning.

Silent if all is well.
"""

import argparse
import contextlib
import io
import json
import re
import sys

from testbed.core import command
from testbed.sim import sim_command
from testbed.vm import lab_command

wrong = tried = 0


def complain(words, what):
    global wrong
    wrong += 1
    print("# %s: %s" % (" ".join(words), what))


def run(main, words):
    """Status, standard output, standard error. Nothing here may get as far as to start."""
    global tried
    tried += 1
    command.Parser.json_wanted = False
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.parser().parse_args(words)
            status = None
        except SystemExit as e:
            status = e.code
    return status, out.getvalue(), err.getvalue()


def refused(main, name, words, text):
    """With status 2 and one line that begins with the command."""
    status, out, err = run(main, words)
    if (status, out) != (2, "") or err.count("\n") != 1 or not err.startswith(name + ": ") or \
            text not in err:
        complain([name] + words, "status %s, %r %r" % (status, out, err))


def shown(main, words, text):
    status, out, err = run(main, words)
    if (status, err) != (0, "") or not re.match(text, out):
        complain(words, "status %s, %r %r" % (status, out, err))


def check_option(main, name, before, action):
    """What this option must not be given."""
    option = max(action.option_strings, key=len)
    if action.nargs == 0:
        refused(main, name, before + [option + "=yes"], "ignored explicit argument")
        return
    refused(main, name, before + [option], "expected one argument")
    if action.choices:
        refused(main, name, before + [option, "nonesuch"], "invalid choice: 'nonesuch'")
    elif action.type is command.directory:
        refused(main, name, before + [option, "/dev/null/x"], "must be a directory")
    elif action.type:
        refused(main, name, before + [option, "nonesuch"], "must be a")
        refused(main, name, before + [option, "-1"], "")
        refused(main, name, before + [option, "nan"], "must be a")


def check(main, name):
    parser = main.parser()
    commands, = (a.choices for a in parser._actions
                 if isinstance(a, argparse._SubParsersAction))
    refused(main, name, [], "COMMAND")
    refused(main, name, ["nonesuch"], "invalid choice: 'nonesuch'")
    for option in ("-h", "--help"):
        shown(main, [option], "usage: %s " % name)
    for option in ("-V", "--version"):
        shown(main, [option], r"%s \d+\.\d+\.\d+\n$" % name)
    for word, inner in commands.items():
        for option in ("-h", "--help"):
            shown(main, [word, option], "usage: %s %s " % (name, word))
        # exec takes whatever follows as the guest's command
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
        for action in inner._actions:
            if action.option_strings and action.dest != "help":
                check_option(main, "%s %s" % (name, word), [word], action)
        if "--json" in inner._option_string_actions:
            status, out, err = run(main, [word, "--json=x", "--json"])
            if status != 2 or json.loads(out)["error"] + "\n" != err:
                complain([name, word, "--json"], "status %s, %r %r" % (status, out, err))


check(lab_command, "lab")
check(sim_command, "sim")
assert tried > 100, tried
sys.exit(1 if wrong else 0)
