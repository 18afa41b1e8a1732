# SPDX-License-Identifier: GPL-2.0
"""The Test Anything Protocol: print results, and pass on those of a program."""

import re

LINE = re.compile(r"^(?:ok|not ok|1\.\.|# |Bail out!).*", re.M)


def comment(text):
    """Print lines with details of a test."""
    print("".join("# %s\n" % line for line in str(text).splitlines()), end="", flush=True)


class Tap:
    """Numbers tests as they come, and prints the plan at the end."""

    def __init__(self, *comments):
        self.n = self.failed = 0
        print("TAP version 13", flush=True)
        for c in comments:
            comment(c)

    def result(self, ok, name, why=""):
        """Print one result; return whether it is a pass."""
        self.n += 1
        self.failed += not ok
        if why and not ok:
            comment(why)
        print("%sok %d - %s" % ("" if ok else "not ", self.n, name), flush=True)
        return ok

    def relay(self, text, prefix=""):
        """Pass on all results in a program's output, which must match its plan."""
        plan, ran = None, 0
        for line in LINE.findall(text):
            m = re.match(r"(ok|not ok)\b(?: \d+)?(?: -)? ?(.*)", line)
            if m:
                ran += 1
                self.result(m[1] == "ok", m[2])
            elif line.startswith("1.."):
                plan = int(line[3:].split()[0])
            elif line.startswith("Bail out!"):
                self.result(False, line)
            else:
                print(line, flush=True)
        if plan is None or ran != plan or not ran:
            self.result(False, prefix + "the tests ran to their end",
                        "%d of %s tests" % (ran, "?" if plan is None else plan))

    def done(self):
        """Print the plan; return the exit status."""
        print("1..%d" % self.n, flush=True)
        return 1 if self.failed or not self.n else 0
