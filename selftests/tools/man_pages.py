#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Lists commands and options of lab and sim that their man page or completion lacks. Silent on
success."""

import argparse
import os
import re

from testbed.core.paths import LAB, SIM
from testbed.sim import sim_command
from testbed.vm import lab_command


def words(parser):
    """Commands, and the longest name of each option."""
    out = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                out += [name] + words(inner)
        elif action.option_strings and action.dest != "help":
            out.append(max(action.option_strings, key=len))
    return out


def main():
    for name, directory, module in (("lab", LAB, lab_command), ("sim", SIM, sim_command)):
        known = words(module.parser())
        assert len(known) > 5, known
        for paper in (name + ".8", name + ".bash"):
            with open(os.path.join(directory, paper)) as f:
                text = f.read().replace("\\-", "-").replace("\\fB", " ").replace("\\fR", " ")
            for word in known:
                if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), text):
                    print("# %s does not know %s" % (paper, word))


if __name__ == "__main__":
    main()
