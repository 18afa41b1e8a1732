#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""The tables of dcqcn watch and dcqcn port watch, on terminals of different sizes and in a file.

Prints only what is wrong. watch.c stands in for the kernel.
"""

import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios

TREE = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
SOURCES = ("cmd_watch.c port_watch.c screen.c unit.c json.c fail.c clean.c").split()
CLEAR = "\x1b[H\x1b[J"
LONG = "2001:db8:1111:2222:3333:4444:5555:6666"
failed = False


def check(what, ok, *shown):
    global failed
    if not ok:
        print("#", what, *shown, sep="\n")
        failed = True


def build(to):
    subprocess.run([os.environ.get("CC", "cc"), "-g", "-std=gnu11", "-Wall", "-D_GNU_SOURCE",
                    "-I../../include", "-I../../include/uapi", "-iquote", ".", "-o", to + "/watch",
                    "../../selftests/tools/watch.c", *SOURCES, "-lm"], cwd=TREE + "/tools/dcqcn", check=True)


def on_terminal(lines, columns, *command):
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    job = subprocess.Popen(command, stdout=slave, env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    out = b""
    try:
        while part := os.read(master, 65536):
            out += part
    except OSError:         # the other end is closed
        pass
    os.close(master)
    check(" ".join(command), job.wait() == 0)
    return out.decode().replace("\r\n", "\n")


def tables(what, lines, columns, *command):
    """Each table of two, as lines; both fit the screen."""
    out = on_terminal(lines, columns, *command)
    first, *found = out.split(CLEAR)
    check("%s: two tables, each in place of the one before" % what,
          len(found) == 2 and not first and "\x1b" not in "".join(found), out)
    for table in found:
        rows = table.splitlines()
        check("%s: %d lines of %d" % (what, len(rows), lines), len(rows) < lines, table)
        widest = max(map(len, rows), default=0)
        check("%s: %d columns of %d" % (what, widest, columns), widest <= columns, table)
    return found[-1] if found else ""


def heads(table, word):
    """The headings of a table."""
    return next((line.split() for line in table.splitlines() if re.match(word + r"\b", line)), [])


def main():
    everything = "DEV QPN STATE RATE TARGET ALPHA QUEUE CNPS/S PEER".split()
    with tempfile.TemporaryDirectory() as tmp:
        build(tmp)
        qp, port = [tmp + "/watch", "qp"], [tmp + "/watch", "port"]
        wide = tables("wide", 24, 120, *qp, "10.0.0.2")
        check("wide: all columns, and bars", heads(wide, "DEV") == everything and
              "#" * 20 in wide, wide)
        usual = tables("80 columns", 24, 80, *qp, "10.0.0.2")
        check("80 columns: neither bars nor alpha, and no state with a long QPN",
              heads(usual, "DEV") == [c for c in everything if c not in ("ALPHA", "STATE")] and
              "10.0.0.2" in usual, usual)
        check("80 columns: what a port holds", "ignored/s  0 limited, 12.345kB held" in usual, usual)
        check("80 columns: the largest QPN is in its column", re.search(
            r"^rxe0 +16000000 +1\.234gbit +2\.345gbit ", tables(
                "high", 60, 80, *qp, "10.0.0.2"), re.M))
        narrow = tables("long address", 24, 80, *qp, LONG)
        check("a long address stays as long as it fits", LONG in narrow, narrow)
        tiny = tables("tiny", 10, 40, *qp, LONG)
        check("tiny: which QP has which rate", heads(tiny, "DEV")[:3] == ["DEV", "QPN", "RATE"] and
              "more" in tiny, tiny)
        ports = tables("ports", 24, 80, *port)
        check("ports: all columns", len(heads(ports, "DEV")) == 9, ports)
        small = tables("ports, tiny", 10, 40, *port)
        check("ports, tiny", heads(small, "DEV")[:3] == ["DEV", "PRIO", "RATE"], small)
        for command in (qp + [LONG], port):
            out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            check("in a file: plain, all rows, and an empty line between", "\x1b" not in out and
                  out.count("\n\n") == 2 and len(out.splitlines()) >= 82 and
                  len(heads(out, "DEV")) == 9, out)
    sys.exit(failed)


main()
