#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Text in records, file names and device names is text: no shell, gnuplot or completion executes
it, and it cannot steer a terminal. Silent if so.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from testbed.core import plots
from testbed.core.paths import DCQCN, LAB, SIM
from testbed.vm import neighbours

TOOL = os.path.join(DCQCN, "dcqcn")

# as the name of a device, where each would leave a file if something executed it
NAMES = [
    "rxe0",
    "rxe0';touch${IFS}PWNED;'",
    "rxe0\";touch PWNED;\"",
    "rxe0\" } BEGIN { system(\"touch PWNED\") } { \"",
    "rxe0\\\";system(\"touch PWNED\");\"",
    "rxe0'.system('touch PWNED').'",
    "`touch PWNED`",
    "$(touch PWNED)",
    "';system('touch PWNED') #",
    "<touch PWNED",
    "< touch PWNED;'",
    "|touch PWNED",
    "!touch PWNED",
    "@PWNED",
    "rxe0\\",
    "rxe0\\'",
    "rxe0\\n\\001\\x41",
    "{/=99 x}_a^b@c&{d}~~",
    "<b>&amp;</text>",
    "%s%s%n %d",
    "a b c",
    "ü€",
]
# a terminal would obey these, or they are no text
CONTROLS = ["\x1b]0;title\x07", "\x1b[2J", "\x9b2J", "a\rb", "a\bb", "\x7f", "a\tb",
            b"\xff\xfe", b"a\xc2", b"\xed\xa0\x80"]

RATES = "time,dev,qpn,state,rate,target_rate,alpha,queue_bytes,cnp_handled"
PORTS = "time,dev,prio,out_bytes,queue_bytes,marked,lost,paused_us,rx_pause,tx_pause"
RECORDS = {RATES: "%s,%s,%s,1,1000000,1000000,0.5,0,%s",
           PORTS: "%s,%s,%s,1000,1000,0,0,0,0,%s"}

wrong = 0


def complain(what, *details):
    global wrong
    wrong += 1
    print("# %r: %s" % (what, " ".join(map(str, details))))


def encoded(text):
    return text if isinstance(text, bytes) else text.encode()


def record(header, dev, key="17", time="1.0", last="1"):
    """Two samples of a device, whose words may be any bytes."""
    row = encoded(RECORDS[header]).replace(b"%s", b"\0")
    words = [[encoded(w) for w in (t, dev, key, last)] for t in (time, "2.0", "3.0")]
    rows = [b"".join(x for pair in zip(row.split(b"\0"), w + [b""]) for x in pair) for w in words]
    return b"\n".join([header.encode(), *rows]) + b"\n"


def controls(said):
    """What a terminal would obey in an output."""
    return re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\udc80-\udcff]",
                      said.decode(errors="surrogateescape"))


def run(what, directory, args, new=(), **kw):
    """Run the tool in a directory, where it may leave only these files."""
    before = set(os.listdir(directory))
    p = subprocess.run([TOOL, *args], cwd=directory, capture_output=True, timeout=60,
                       stdin=subprocess.DEVNULL, **kw)
    left = set(os.listdir(directory)) - before - set(new)
    for name in left:
        complain(what, args[:1], "leaves", repr(name))
        os.unlink(os.path.join(directory, name))
    if p.returncode not in (0, 1):
        complain(what, args[:1], "status", p.returncode)
    if p.returncode and len(p.stderr.splitlines()) != 1:
        complain(what, args[:1], "says", p.stderr)
    if controls(p.stderr + p.stdout):
        complain(what, args[:1], "prints", controls(p.stderr + p.stdout))
    return p


def texts(path):
    """The words of a picture, or nothing if it is not XML."""
    try:
        return ["".join(e.itertext()).strip() for e in xml.parse(path).iter()
                if e.tag.endswith("}text")]
    except (OSError, xml.ParseError) as e:
        return [str(e)]


def drawn(directory, name, header):
    """A device of that name is drawn, and has its name in the picture."""
    with open(os.path.join(directory, "run.csv"), "wb") as f:
        f.write(record(header, name))
    p = run(name, directory, ["plot", "-o", "run.svg", "run.csv"], new=["run.svg"])
    found = texts(os.path.join(directory, "run.svg"))
    shown = encoded(name).decode(errors="replace")
    if p.returncode or not (name in CONTROLS or shown + ":17" in found):
        complain(name, "is not drawn:", p.stderr, found)


def check_records(directory):
    for header in RECORDS:
        for name in NAMES + CONTROLS:
            drawn(directory, name, header)
        for key in "key", "time", "last":
            with open(os.path.join(directory, "run.csv"), "wb") as f:
                f.write(record(header, "rxe0", **{key: "1;'`touch PWNED`'"}))
            run(key, directory, ["plot", "-o", "run.svg", "run.csv"], new=["run.svg"])
        for column in header.split(","):
            with open(os.path.join(directory, "run.csv"), "wb") as f:
                f.write(record(header, "rxe0").replace(b"," + column.encode(), b",';touch PWNED;'"))
            run(column, directory, ["plot", "-o", "run.svg", "run.csv"], new=["run.svg"])


def check_numbers(directory):
    """What is not a number is refused with its line."""
    for text in ("", "x", "1x", "nan", "inf", "-inf", "1e999", "0x", "1 1"):
        for header in RECORDS:
            with open(os.path.join(directory, "run.csv"), "wb") as f:
                f.write(record(header, "rxe0", last=text))
            p = run(text, directory, ["plot", "-o", "run.svg", "run.csv"], new=["run.svg"])
            if not p.stderr.startswith(b"dcqcn: run.csv:2: "):
                complain(text, "status", p.returncode, p.stderr)


def check_files(directory):
    """The name of a record becomes that of its picture."""
    for name in NAMES + CONTROLS + ["a\nsystem('touch PWNED')\n", "a\n!touch PWNED\n"]:
        name = encoded(name).replace(b"/", b"")
        with open(os.path.join(os.fsencode(directory), name + b".csv"), "wb") as f:
            f.write(record(RATES, "rxe0"))
        picture = os.fsdecode(name + b".png")
        for args in (["plot", "--", name + b".csv"], ["plot", "-o", picture, name + b".csv"],
                     ["model", "-o", picture]):
            if args[1] == "--":
                del args[1]
            p = run(name, directory, args, new=[picture])
            if p.returncode or not os.path.getsize(os.path.join(directory, picture)):
                complain(name, args[:1], "draws nothing:", p.stderr)
            os.unlink(os.path.join(directory, picture))


def check_scenarios(directory):
    """Titles, and names of directories, as a scenario from elsewhere has them."""
    before = os.getcwd()
    os.chdir(directory)
    for name in NAMES + CONTROLS + ["a\nsystem('touch PWNED')\n"]:
        if isinstance(name, bytes):
            continue
        inside = os.path.join(directory, name.replace("/", ""))
        os.mkdir(inside)
        with open(os.path.join(inside, "graph.csv"), "w") as f:
            f.write("x,y\n1,2\n3,4\n")
        picture = os.path.join(inside, "graph.png")
        plots.draw("graph.gp", {"input_file": os.path.join(inside, "graph.csv"), "title_text": name,
                                "x_title": name, "lines": 1, "line_titles": [name]}, picture)
        with open(picture, "rb") as f:
            if not f.read().startswith(b"\x89PNG"):
                complain(name, "is not drawn")
        shutil.rmtree(inside)
        if os.listdir():
            complain(name, "leaves", os.listdir())
    os.chdir(before)


def check_messages(directory):
    """Errors quote arguments and files."""
    for text in CONTROLS:
        text = encoded(text)
        for args in ([text], ["show", text], ["set", "dev", text, text, "1"], ["model", text, "1"],
                     ["plot", text], ["restore", "-"], ["show", "dev", text]):
            run(text, directory, args)
        for name, content in (("saved", b"rxe0 %s 1\n" % text), ("wrong.toml", b"[model]\n%s = 1\n" % text),
                              ("worse.toml", b"[model]\nflows = %s\n" % text)):
            with open(os.path.join(directory, name), "wb") as f:
                f.write(content)
            run(content, directory, ["model" if "." in name else "restore", name])


def check_testbed(directory):
    """Errors of lab and sim quote arguments and scenarios, whose strings may be printed later."""
    with open(os.path.join(SIM, "scenarios", "incast.toml")) as f:
        ours = f.read()
    titled = re.sub("^title = .*", r'title = "a\\u001b[2J"', ours, flags=re.M)
    for words in (["run", "\x1b[2J.toml"], ["run", "\x9b2J"], ["run", "titled.toml"], ["run", "key.toml"]):
        for name, content in (("titled.toml", titled), ("key.toml", '"\\u001b[2J" = 1\n' + ours)):
            with open(os.path.join(directory, name), "w") as f:
                f.write(content)
        p = subprocess.run([os.path.join(SIM, "sim"), *words], cwd=directory, capture_output=True)
        if p.returncode != 2 or len(p.stderr.splitlines()) != 1 or controls(p.stderr):
            complain(words, "status", p.returncode, p.stderr)
    heard = [{"name": "s1.h1", "pfc": [], "dscp": {}, "agreed": False, "neighbour": {
        "system": "\x1b[2J", "port": "\x9b2J", "pfc": None, "willing": None}}]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        neighbours.print_links(heard)
    if controls(said.getvalue().encode()):
        complain(said.getvalue(), "is printed of a neighbour")


def check_congestion_point(directory):
    """Its shell must neither expand the name of a device nor interpret what is in it."""
    open(os.path.join(directory, "lo"), "w").close()
    for name in "*", "l[o]", "a\\033[2J", "$(touch PWNED)", "`touch PWNED`":
        p = subprocess.run([os.path.join(LAB, "congestion-point"), "set", name.replace(" ", "${IFS}"),
                            "rate", "1gbit"], cwd=directory, capture_output=True, text=True)
        if p.stderr != "congestion-point: %s: no such device (ip link lists them)\n" % \
                name.replace(" ", "${IFS}") or os.listdir(directory) != ["lo"]:
            complain(name, "as a port:", repr(p.stderr), os.listdir(directory))


def check_completion(directory):
    """A device's name is completed to what a shell takes for that name."""
    script = """. "$1"
        _dcqcn_devs() { _dcqcn_names "$PWD"; }
        _dcqcn_netdevs() { _dcqcn_names "$PWD"; }
        for words in "show dev" "port show dev" "doctor dev"; do
            COMP_WORDS=(dcqcn $words "") COMP_CWORD=$(($(wc -w <<<"$words") + 1))
            _dcqcn
            for word in "${COMPREPLY[@]}"; do
                eval "set -- $word"
                [ $# = 1 ] && [ -e "$1" ] || echo "$words: $word"
            done
            [ ${#COMPREPLY[@]} -ge 1 ] || echo "$words: none"
        done"""
    names = [n.replace("/", "").replace(" ", "\t") for n in NAMES]
    for name in names:
        open(os.path.join(directory, name), "w").close()
    p = subprocess.run(["bash", "-c", script, "-", os.path.join(DCQCN, "dcqcn.bash")],
                       cwd=directory, capture_output=True)
    if p.stdout or p.stderr or set(os.listdir(directory)) != set(names):
        complain("completion", p.stdout.decode(), p.stderr.decode(), os.listdir(directory))


def main():
    for check in (check_records, check_numbers, check_files, check_scenarios, check_messages,
                  check_testbed, check_congestion_point, check_completion):
        with tempfile.TemporaryDirectory() as directory:
            check(directory)
    return 1 if wrong else 0


sys.exit(main())
