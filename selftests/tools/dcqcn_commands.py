#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Each command and option of dcqcn, with good and bad input, as far as no kernel module is
needed: arguments, help, errors in text and JSON. selftests/rdma/tool.sh has the rest.

Silent if all is well. What help says is the list to go by: a command or option there that
no line below tries with good and with bad input is reported, too.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from testbed.core.paths import DCQCN, TOP

TOOL = os.path.join(DCQCN, "dcqcn")
# what good input leads to if nothing has that name, with the module loaded or not
NOWHERE = ("rdma_dcqcn: not loaded", "dcbport: not loaded", "nonesuch: no such", "cc use: no rxe device",
           "PORTS:1: lo: tc qdisc replace dev lo root dcbport fails")
DEV = "dev nonesuch"

GOOD = """
show dev nonesuch
show --as ecn dev nonesuch
show --as cc_params dev nonesuch
show --as mlxconfig dev nonesuch
qp dev nonesuch
qp qpn 17 dev nonesuch
qp qpn 0xffffff dev nonesuch
ccc dev nonesuch
cc use swift dev nonesuch qpn 17
cc use dev qpn 0x11 dev nonesuch
cc load EMPTY
cc unload nonesuch
stat dev nonesuch
stat -i 0 dev nonesuch
stat -i 10ms dev nonesuch
watch -i 1ms -n 1 dev nonesuch qpn 1
watch -n 1 dev nonesuch
set dev nonesuch rpg_ai_rate 20mbit rpg_time_reset 4.5ms rpg_byte_reset 64KiB
set --from FILE dev nonesuch
set --from FILE dev nonesuch rpg_gd 11
set dev nonesuch cc_algorithm swift rpg_gd 11
set dev nonesuch np_enable all rp_enable 0,3 rpg_min_dec_fac 50%
profile apply mlx5 dev nonesuch
save -o FILE dev nonesuch
save dev nonesuch
restore dev nonesuch SAVED
record -i 1ms -d 1ms -o FILE dev nonesuch qpn 17
doctor -i 1ms dev nonesuch
doctor --peer h2 dev nonesuch
doctor --serve dev nonesuch
doctor -i 1ms h2 dev nonesuch
try -d 2s --rate 50mbit --loss 1% --delay 1ms --load --stock -- nonesuch
port show dev nonesuch
port stat dev nonesuch
port watch -i 1ms -n 1 dev nonesuch
port record -i 1ms -d 1ms -o FILE dev nonesuch
port set dev nonesuch rate 40gbit delay 1us overhead 24 pfc 3,4 trust dscp strict 6 stamp on switch none
port stat --as ethtool dev nonesuch
port clear dev nonesuch
port save dev nonesuch
port save -o FILE.conf dev nonesuch
port restore dev lo PORTS
port set dev nonesuch mark dequeue dscp 26:3,48:6 pcp none default 2
port set dev nonesuch prio 3 wred on share 1/4 maxrate 1500kbit tc 3 reserve 1KB xoff 60KB xon 40KB xon_offset 3KB headroom 20KB alpha switch
port set dev nonesuch reserve 1KB xoff 60KB xon 40KB xon_offset 3KB headroom 20KB action drop detect auto restore 1s
port set dev nonesuch prio 3 weight 5 limit 1MB kmin 5KB kmax 200KB pmax 1% flows_min 1 flows_max 9 prio 6
port switch set nonesuch size 1MB lossy 1MB alpha 1/8
port switch del nonesuch
"""

# good, too, but with dcbport loaded this would make a switch
NEW = "port switch new nonesuch size 1MB"

# commands that change nothing, and show everything
LOOKS = """
show
qp
ccc
stat -i 0
cc list
cc use swift
cc use swift dev nonesuch
profile list
profile
profile show mlx5
port
port show
port stat
port switch show
port switch
model
model speed 400gbit flows 32
model --preset 400g-ai kmin 200KB kmax 800KB pmax 5%
model --config sonic FABRIC.toml
model --sweep kmax=50KB,100KB
model -o SAVED.svg
"""

# text only; selftests/tools/model.sh tests it further
SIMULATED = "model --simulate"
CHECKED = "try --check -- nonesuch"

BAD = """
-> a command is missing
-x -> "-x": no such option
-- -> "--": no such option
--jsonn show -> "--jsonn": no such option
nonesuch -> "nonesuch": no such command
s -> "s" is ambiguous: show, stat, set, save
re -> "re" is ambiguous: restore, record
p -> "p" is ambiguous: profile, plot, port
show nonesuch -> show: "nonesuch" is not expected here
show dev -> show: the device is missing
show --as -> show: the value of --as is missing
show --as x -> show: "x" is not ecn, cc_params or mlxconfig
show dev a b -> show: "b" is not expected here
qp dev -> qp: the device is missing
qp dev a dev b -> qp: "dev" is not expected here
qp qpn -> qp: the QP number is missing
qp qpn 16777216 -> qp: "16777216" is not a QP number, 0 to 16777215
qp qpn -1 -> qp: "-1" is not a QP number
qp qpn 1x -> qp: "1x" is not a QP number
qp nonesuch -> qp: "nonesuch" is not expected here
ccc dev -> ccc: the device is missing
ccc dev a b -> ccc: "b" is not expected here
ccc nonesuch -> ccc: "nonesuch" is not expected here
stat -i -> stat: the value of -i is missing
stat -i 5parsec -> stat: "5parsec" is not a time
stat -i -1s -> stat: "-1s" is not a time
stat -x -> stat: "-x" is not expected here
stat nonesuch -> stat: "nonesuch" is not expected here
stat dev -> stat: the device is missing
watch -i 0 -> watch: the interval must be longer than 0
watch -n nan -> watch: "nan" is not a count, 1 to 1000000000
watch -n 0 -> watch: "0" is not a count, 1 to 1000000000
watch -n -1 -> watch: "-1" is not a count
watch -n -> watch: the value of -n is missing
watch dev -> watch: the device is missing
watch qpn x -> watch: "x" is not a QP number
set -> set: the device is missing
set --from -> set: the value of --from is missing
set --from FILE --from - dev nonesuch -> set: --from is given twice
set --from FILE -> set: the device is missing
set --from FILE rxe0 -> set: "rxe0" is not expected here
set rxe0 -> set: "rxe0" is not expected here
set dev -> set: the device is missing
set dev nonesuch -> set: a knob is missing
set dev nonesuch rpg_gd -> set: the value of rpg_gd is missing
set dev nonesuch rpg 1 -> set: "rpg": no such knob
set dev nonesuch rpg_gd 1 rpg_gd 2 -> set: rpg_gd is given twice
set dev nonesuch cc_algorithm -> set: the value of cc_algorithm is missing
set dev nonesuch cc_algorithm a cc_algorithm b -> set: cc_algorithm is given twice
set dev nonesuch rpg_gd nan -> rpg_gd: "nan" is not a whole number
set dev nonesuch rpg_gd 1.5 -> rpg_gd: "1.5" is not a whole number
set dev nonesuch rpg_time_reset 1500ns -> rpg_time_reset: "1500ns" is not a time in whole us
set dev nonesuch rpg_ai_rate 20us -> rpg_ai_rate: "20us" is not a rate
set dev nonesuch rpg_time_reset 1mbit -> rpg_time_reset: "1mbit" is not a time
set dev nonesuch np_enable 8 -> np_enable: "8" is not a list of priorities
set dev nonesuch rp_enable 0, -> rp_enable: "0," is not a list of priorities
set dev nonesuch rpg_gd 4294967296 -> rpg_gd: "4294967296" is not a number below 2^32
cc nonesuch -> cc: "nonesuch": no such command
cc list x -> cc list: "x" is not expected here
cc use -> cc use: the algorithm is missing
cc use a b -> cc use: "b" is not expected here
cc use a dev -> cc use: the device is missing
cc use a qpn 17 -> cc use: the device is missing
cc load -> cc load: the file is missing
cc load a b -> cc load: "b" is not expected here
cc load nonesuch -> nonesuch: No such file
cc unload -> cc unload: the algorithm is missing
cc unload a b -> cc unload: "b" is not expected here
profile nonesuch -> profile: "nonesuch": no such command
profile list x -> profile list: "x" is not expected here
profile show -> profile show: the profile is missing
profile show a b -> profile show: "b" is not expected here
profile apply -> profile apply: the profile is missing
profile apply a b -> profile apply: "b" is not expected here
profile apply a dev -> profile apply: the device is missing
save -o -> save: the value of -o is missing
save dev -> save: the device is missing
save nonesuch -> save: "nonesuch" is not expected here
restore FILE -> FILE: No such file
restore / -> /: Is a directory
restore BROKEN -> BROKEN:2: must be a device, a knob and a value
restore WRONG -> WRONG:1: rpg_gd: "red" is not a whole number
restore dev -> restore: the device is missing
restore SAVED x -> restore: "x" is not expected here
record -i 0 -> record: the interval must be longer than 0
record -d red -> record: "red" is not a time
record -d 0 -> -d: the duration must be longer than 0
record -o -> record: the value of -o is missing
record dev -> record: the device is missing
record qpn -> record: the QP number is missing
plot -> plot: the record is missing
plot FILE -> FILE: No such file
plot / -> /: Is a directory
plot /etc/passwd -> /etc/passwd: not a record
plot EMPTY -> EMPTY: the record is empty
plot IDLE -> IDLE: the record is empty, no port
plot RECORD x -> plot: "x" is not expected here
plot -o picture.gif RECORD -> picture.gif: must end in .png or .svg
plot -o /nonesuch/picture.png RECORD -> /nonesuch/picture.png: No such file
plot PARTIAL -> PARTIAL: not a record: it has no column alpha
plot TORN -> TORN:2: must have 9 columns
doctor --peer -> doctor: the value of --peer is missing
doctor -i 0 -> doctor: the interval must be longer than 0
doctor dev -> doctor: the device is missing
doctor h2 nonesuch -> doctor: "nonesuch" is not expected here
doctor --serve h2 -> doctor: "h2" is not expected here
doctor --peer h2 h3 -> doctor: "h3" is not expected here
doctor --serves -> doctor: "--serves" is not expected here
doctor dev nonesuch -> nonesuch: no such rxe device or port
try -x -> try: "-x" is not expected here
try --checks -> try: "--checks" is not expected here
try --check -d -> try: the value of -d is missing
try -d 0s -> -d: 0s is out of range: 1s to 1h
try -d red -> try: "red" is not a time
try --rate 5 -> --rate: "5" is not a rate
try --rate 5kbit -> --rate: 5kbit is out of range: 1mbit to 100gbit
try --rate fast -> --rate: "fast" is not a rate
try --loss 101% -> --loss: "101%" is not a share
try --delay 1mbit -> try: "1mbit" is not a time
try --load -> try: --load and --stock need a COMMAND
doctor --serve -i 5s -> doctor: --serve takes no --peer and no -i
doctor --serve --peer h2 -> doctor: --serve takes no --peer and no -i
try --stock -> try: --load and --stock need a COMMAND
port nonesuch -> port: "nonesuch": no such command
port s -> "s" is ambiguous: show, stat, set, save, switch
port re -> "re" is ambiguous: record, restore
port stat --as red -> --as: "red" is not ethtool
port save -o -> port save: the value of -o is missing
port save nonesuch -> port save: "nonesuch" is not expected here
port save dev -> port save: the device is missing
port restore dev -> port restore: the device is missing
port restore FILE -> FILE: No such file
port restore / -> /: Is a directory
port restore PORTS x -> port restore: "x" is not expected here
port restore WRONG -> WRONG:1: must begin with switch or port, and its name
port set dev nonesuch mark never -> mark: "never" is not enqueue or dequeue
port set dev nonesuch dscp 64:3 -> dscp: "64:3" is not a list of values and priorities
port set dev nonesuch dscp 26:8 -> dscp: "26:8" is not a list of values and priorities
port set dev nonesuch pcp 5:1, -> pcp: "5:1," is not a list of values and priorities
port set dev nonesuch prio 3 wred maybe -> wred: "maybe" is not off or on
port set dev nonesuch prio 3 share all -> share: "all" is not none, or a share such as 1/8 or 2
port set dev nonesuch prio 3 alpha none -> alpha: "none" is not switch, or a share such as 1/8 or 2
port show dev -> port show: the device is missing
port show nonesuch -> port show: "nonesuch" is not expected here
port stat dev -> port stat: the device is missing
port stat nonesuch -> port stat: "nonesuch" is not expected here
port watch -i -> port watch: the value of -i is missing
port watch -i 0 -> port watch: the interval must be longer than 0
port watch -n -> port watch: the value of -n is missing
port watch -n nan -> port watch: "nan" is not a count
port watch -n 0 -> port watch: "0" is not a count, 1 to 1000000000
port watch dev -> port watch: the device is missing
port watch nonesuch -> port watch: "nonesuch" is not expected here
port record -i 0 -> port record: the interval must be longer than 0
port record -d red -> port record: "red" is not a time
port record -d 0s -> -d: the duration must be longer than 0
port record -o -> port record: the value of -o is missing
port record dev -> port record: the device is missing
port record nonesuch -> port record: "nonesuch" is not expected here
port clear -> port clear: the device is missing
port clear nonesuch -> port clear: "nonesuch" is not expected here
port clear dev nonesuch rate -> port clear: "rate" is not expected here
port set -> port set: the device is missing
port set nonesuch -> port set: "nonesuch" is not expected here
port set dev nonesuch -> port set: a key is missing
port set dev nonesuch rate -> port set: the value of rate is missing
port set dev nonesuch colour red -> port: "colour": no such key
port set dev nonesuch weight 1 -> port: "weight": no such key
port set dev nonesuch rate 1 rate 2 -> port: rate is given twice
port set dev nonesuch prio -> port set: the value of prio is missing
port set dev nonesuch prio 8 weight 1 -> port set: "8" is not a priority, 0 to 7
port set dev nonesuch prio 3 rate 1 -> port: "rate": no such key
port set dev nonesuch rate fast -> rate: "fast" is not a rate
port set dev nonesuch delay 1mbit -> delay: "1mbit" is not a time
port set dev nonesuch pfc 9 -> pfc: "9" is not a list of priorities
port set dev nonesuch trust me -> trust: "me" is not none, dscp, pcp, "dscp,pcp" or "pcp,dscp"
port set dev nonesuch action bark -> action: "bark" is not off, alert
port set dev nonesuch detect 0 -> detect: "0" is not auto, or whole milliseconds
port set dev nonesuch detect 1.9ms -> detect: "1.9ms" is not auto, or whole milliseconds
port set dev nonesuch rate 18446744073710mbit -> rate: "18446744073710mbit" is too large
port set dev nonesuch prio 0 kmin 1 prio 0 kmin 2 -> port: prio 0 is given twice
port set dev NAME64 rate 1 -> nnnnnnnnnnnnnnnnnnnn...: names have at most 15 characters
port set dev abcdefghijklmnop rate 1 -> abcdefghijklmnop: names have at most 15 characters
port set dev nonesuch switch abcdefghijklmnop -> switch: names have at most 15 characters
port show dev abcdefghijklmnop -> abcdefghijklmnop: names have at most 15 characters
show dev NAME64 -> nnnnnnnnnnnnnnnnnnnn...: names have at most 63 characters
set dev nonesuch cc_algorithm NAME64 -> nnnnnnnnnnnnnnnnnnnn...: names have at most 15 characters
cc use NAME64 dev nonesuch qpn 17 -> nnnnnnnnnnnnnnnnnnnn...: names have at most 15 characters
port set dev nonesuch xoff 5GB -> xoff: "5GB" is too large
port set dev nonesuch prio 0 pmax 1x -> pmax: "1x" is not a probability
port set dev nonesuch prio 0 pmax 1e-10 -> pmax: "1e-10" is too small: the least is 1e-09
port set dev nonesuch prio 3 share 0.1% -> share: "0.1%" is too small: the least is 0.0078125
port set dev nonesuch rate 0.5bit -> rate: "0.5bit" is not a rate in whole bit/s
port switch show x -> port switch show: "x" is not expected here
port switch new -> port switch new: the switch is missing
port switch new s colour red -> port: "colour": no such key
port switch new s alpha x -> alpha: "x" is not a share
port switch new s alpha 1/300 -> alpha: "1/300" is too small: the least is 0.0078125
port switch new s alpha 1e9 -> alpha: "1e9" is too large
port switch new abcdefghijklmnop -> abcdefghijklmnop: names have at most 15 characters
port switch new none -> port: "none" cannot be the name of a switch
port switch new #s -> port: "#s" cannot be the name of a switch
port switch set -> port switch set: the switch is missing
port switch set s -> port switch set: a key is missing
port switch set s prio 3 -> port switch set: "prio" is not expected here
port switch del -> port switch del: the switch is missing
port switch del a b -> port switch del: "b" is not expected here
model nonesuch -> nonesuch: no such input (dcqcn model help lists them)
model -x -> model: "-x" is not expected here
model -o -> model: the value of -o is missing
model -o picture.gif -> picture.gif: must end in .png or .svg
model -o /nonesuch/picture.png -> /nonesuch/picture.png: No such file
model -o unfinished.svg --config cisco -> --config: "cisco" is not one of dcbport, tc
model --preset -> model: the value of --preset is missing
model --preset lan -> preset: "lan" is not one of 100g-leaf
model --config -> model: the value of --config is missing
model --config dcbport speed 1.6tbit -> --config dcbport: speed: 1.6tbit is above
model --sweep -> model: the value of --sweep is missing
model --sweep kmax -> --sweep: "kmax" is not KEY=VALUE
model --sweep kmax= -> --sweep: kmax: no values
model --sweep colour=1 -> --sweep: colour: no such input
model --simulate colour red -> colour: no such input
model OTHER.toml -> OTHER.toml: has no table [model]
model none.toml -> none.toml: No such file
model flows -> model: the value of flows is missing
model flows many -> flows: "many" is not a value, such as 16
model flows 1025 -> flows: must be within 1 to 1024
model flows 8 -o picture.svg -> model: -o: options must come before inputs
model FABRIC.toml FABRIC.toml -> model: FABRIC.toml: give at most one file, before all inputs
model /dev/stdin -> /dev/stdin: has no table [model]
model --sweep kmax=1KB --simulate -> model: --sweep cannot be combined with
model --sweep kmax=1KB --config tc -> model: --sweep cannot be combined with
model --simulate --config tc -> model: --simulate cannot be combined with
model --simulate -o FILE.svg -> model: --simulate cannot be combined with
""".replace("NAME64", 64 * "n")

TEXT_ONLY = ("watch", "save", "record", "port record", "port save")

wrong = 0


def text_only(line):
    """The command's name if it prints no JSON."""
    return next((t for t in TEXT_ONLY if (line + " ").startswith(t + " ")), None)


def complain(line, what):
    global wrong
    wrong += 1
    print("# dcqcn %s: %s" % (line, what))


class Files:
    """The files that names in capitals stand for in the lines above."""

    QPS = "time,dev,qpn,state,rate,target_rate,alpha,queue_bytes,cnp_handled\n"
    CONTENT = {
        "SAVED": "# a comment\nnonesuch rpg_gd 11\n",
        "BROKEN": "nonesuch rpg_gd 11\nnonesuch rpg_gd\n",
        "WRONG": "nonesuch rpg_gd red\n",
        "PORTS": "port lo rate 1gbit\n",
        "SWITCHED": "switch nonesuch size 1MB\nswitch nowhere size 1MB\nport nonesuch switch nonesuch\n"
                    "port lo rate 1gbit\n",
        "FABRIC.toml": "[model]\nflows = 8\n", "OTHER.toml": "[link]\n",
        "SAVED.svg": "", "EMPTY": QPS,
        "IDLE": "time,dev,prio,out_bytes,queue_bytes,marked,lost,paused_us,rx_pause,tx_pause\n",
        "PARTIAL": "time,dev,qpn,state,rate,target_rate\n", "TORN": QPS + "1.0,rxe0,17,1\n2.0\n",
        "RECORD": QPS + "1.0,rxe0,17,1,1000000,1000000,0.5,1,1\n2.0,rxe0,17,1,1000000,1000000,0.5,1,2\n",
    }

    def __init__(self, directory):
        self.directory = directory
        for name, text in self.CONTENT.items():
            with open(os.path.join(directory, name), "w") as f:
                f.write(text)
        self.before = self.listed()

    def listed(self):
        return sorted(os.listdir(self.directory)) + [f for f in os.listdir("/etc") if "passwd" in f]

    def run(self, line, *options):
        """Run a line; nothing that fails may leave a file behind."""
        p = subprocess.run([TOOL, *options, *line.split()], cwd=self.directory, timeout=60,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if self.listed() != self.before:
            complain(line, "leaves a file: %s" % self.listed())
            self.before = self.listed()
        return p


def lines(text):
    return [line for line in text.splitlines() if line]


def one_error(line, p, words):
    """It must print one line that begins with the command, and nothing else."""
    if (p.returncode, p.stdout) != (1, "") or len(p.stderr.splitlines()) != 1 or not any(
            p.stderr.startswith("dcqcn: " + w) for w in words):
        complain(line, "status %d, %r instead of %s" % (p.returncode, p.stderr, words[0]))


def json_error(line, p, words):
    if p.returncode != 1 or p.stdout.count("\n") != 1:
        complain(line, "-j: status %d, %r" % (p.returncode, p.stdout))
        return
    error = json.loads(p.stdout)
    if list(error) != ["error"] or not p.stderr.startswith("dcqcn: " + error["error"]) or \
            not any(error["error"].startswith(w) for w in words):
        complain(line, "-j: %r, and on standard error %r" % (p.stdout, p.stderr))


def check_bad(files):
    for entry in lines(BAD):
        line, _, words = entry.partition("->")
        p, q = files.run(line), files.run(line, "-j")
        one_error(line, p, [words.strip()])
        name = text_only(line)
        json_error(line, q, [name + ": prints text only" if name else words.strip()])


def check_bytes():
    """JSON is valid whatever is in a name."""
    for name, shown in ((b"\xff", "\ufffd"), (b"\xc3\xa4", "\u00e4"), (b"\xed\xa0\x80", "\ufffd" * 3),
                        (b"a\xe2\x82", "a\ufffd\ufffd")):
        p = subprocess.run([TOOL, "-j", "model", name, "1"], capture_output=True)
        said = json.loads(p.stdout.decode())["error"]
        if not said.startswith(shown + ": no such input"):
            complain("model %r 1" % name, repr(said))


def check_good(files):
    for line in lines(GOOD):
        one_error(line, files.run(line), NOWHERE)
        if not text_only(line):
            json_error(line, files.run(line, "-j"), NOWHERE)
    if not os.path.exists("/sys/module/dcbport"):
        one_error(NEW, files.run(NEW), NOWHERE)
    for line in lines(LOOKS):
        p = files.run(line, "-j")
        if p.returncode:
            json_error(line, p, NOWHERE)
        elif not isinstance(json.loads(p.stdout), (list, dict)) or p.stdout.count("\n") != 1:
            complain(line, "-j: %r" % p.stdout)
    json_error("port watch", files.run("port watch", "-j"), ["port watch: -j needs -n COUNT"])
    json_error(SIMULATED, files.run(SIMULATED, "-j"), ["--simulate: prints text only"])
    one_error(CHECKED, files.run(CHECKED), NOWHERE)
    json_error(CHECKED, files.run(CHECKED, "-j"), ["try: --check prints TAP, no JSON"])
    p = files.run("show " + DEV, "-j", "-p")
    if p.stdout.count("\n") != 3 or "error" not in json.loads(p.stdout):
        complain("-j -p show " + DEV, "%r" % p.stdout)
    p = files.run("plot -o SAVED.svg RECORD", "--json")
    if (p.returncode, p.stdout) != (0, "{}\n"):
        complain("--json plot", "status %d, %r %r" % (p.returncode, p.stdout, p.stderr))


def check_port_restore(directory):
    """A device without a line changes nothing; switches need the module, which ports load by tc. What
    fails does not keep the rest from being restored."""
    for name in ("modprobe", "tc"):
        with open(os.path.join(directory, name), "w") as f:
            f.write("#!/bin/sh\necho %s $* >>said\nexit 1\n" % name)
        os.chmod(os.path.join(directory, name), 0o755)
    for device, status, wanted in (("eth99", 0, ""), ("nonesuch", 0, ""),
                                   ("lo", 1, "modprobe -q dcbport\n"
                                             "tc qdisc replace dev lo root dcbport\n")):
        said = os.path.join(directory, "said")
        open(said, "w").close()
        p = subprocess.run([TOOL, "-j", "port", "restore", "dev", device, "SWITCHED"], cwd=directory,
                           capture_output=True, text=True,
                           env=dict(os.environ, PATH=directory + ":" + os.environ["PATH"]))
        with open(said) as f:
            ran = f.read()
        errors = p.stderr.splitlines()
        if (p.returncode, ran, len(errors), list(json.loads(p.stdout))) != (
                status, wanted, 3 * status, status * ["error"]) and not os.path.exists("/sys/module/dcbport"):
            complain("port restore dev %s SWITCHED" % device, "status %d, %s, runs %r, prints %r" %
                     (p.returncode, errors, ran, p.stdout))


def usages():
    """{command: its arguments} of help."""
    text = subprocess.run([TOOL, "help"], capture_output=True, text=True, check=True).stdout
    out = {}
    for line in re.findall(r"^  dcqcn (.*)$", text, re.M):
        words = line.split()
        n = 0
        while n < len(words) and words[n].isalpha() and words[n].islower() and words[n] != "dev":
            n += 1
        out[" ".join(words[:n])] = " ".join(words[n:])
    return out


def check_help(files, commands):
    """Help must be on standard output with status 0, at every level."""
    levels = {" ".join(c.split()[:n]) for c in commands for n in range(len(c.split()) + 1)}
    for level in sorted(levels):
        below = [c for c in commands if (c + " ").startswith(level + " " if level else "")]
        for word in ("help", "-h", "-help", "--help"):
            p = files.run("%s %s" % (level, word))
            shown = re.findall(r"^  (dcqcn .*)$", p.stdout, re.M)
            wanted = [("dcqcn %s %s" % (c, commands[c])).strip() for c in below]
            if (p.returncode, p.stderr, shown) != (0, "", wanted):
                complain("%s %s" % (level, word), "status %d, %s %r" % (p.returncode, shown, p.stderr))
    for c in commands:
        if files.run(c + " nonesuch --help").returncode:
            complain(c + " nonesuch --help", "is not help")


def check_shortened(files, commands):
    """Each word can be shortened, unless another one begins like that."""
    for command in commands:
        words = command.split()
        for i, word in enumerate(words):
            others = {c.split()[i] for c in commands
                      if c.split()[:i] == words[:i] and len(c.split()) > i} - {word}
            for short in {word[:n] for n in range(1, len(word))} - others:
                line = " ".join(words[:i] + [short] + words[i + 1:]) + " help"
                p = files.run(line)
                understood = p.returncode == 0 and re.search(
                    "^  dcqcn %s( |$)" % command, p.stdout, re.M)
                if bool(understood) == any(o.startswith(short) for o in others):
                    complain(line, "status %d, %s" % (p.returncode, p.stderr.strip()))


def check_versions(files):
    for option in ("-V", "-Version", "--version", "--Vers"):
        p = files.run(option)
        if p.returncode or not re.fullmatch(r"dcqcn \d+\.\d+\.\d+\n", p.stdout):
            complain(option, "status %d, %r" % (p.returncode, p.stdout))


def check_all_tried(commands):
    """Check that the lines above have each option and keyword of each command."""
    good = lines(GOOD + LOOKS) + ["plot -o SAVED.svg RECORD", NEW, SIMULATED, CHECKED]
    bad = [b.partition("->")[0] for b in lines(BAD)]
    for command, arguments in commands.items():
        for word in [""] + re.findall(r"(?<![\w.])(--?[a-z]+|dev|qpn|prio)\b", arguments):
            for name, tried in (("good", good), ("bad", bad)):
                # a command without arguments can only be wrong by having some
                if not any((t.strip() + " ").startswith(command + " ") and word in t.split() + [""]
                           for t in tried):
                    complain(command, "%s is never tried with %s input" % (word or "it", name))


def words_of(path, pattern):
    """What a pattern finds in a source file."""
    with open(os.path.join(TOP, path)) as f:
        found = re.findall(pattern, f.read(), re.M)
    assert len(found) > 2, path
    return found


def check_keys(files):
    """Each knob, each key of a port, class or switch, and each input of the model refuses what is
    not a value, by name. The lines above have good values of each key; a knob takes 1."""
    for knob in words_of("Documentation/ABI/testing/sysfs-class-net-ecn",
                         r"^What:.*/ecn/(roce_\w+/\w+)"):
        side, name = knob.split("/")
        if name in ("cc_algorithm", "cc_available"):    # names
            continue
        name = side[len("roce_"):] + "_enable" if name == "enable" else name
        line = "set dev nonesuch %s " % name
        one_error(line + "1", files.run(line + "1"), NOWHERE)
        one_error(line + "~", files.run(line + "~"), ['%s: "~" is not ' % name])
    good = lines(GOOD)
    for kind, line in (("PORT", "port set dev nonesuch"), ("CLASS", "port set dev nonesuch prio 3"),
                       ("SWITCH", "port switch set nonesuch")):
        for key in words_of("tools/dcqcn/portkey.c", r'^\t%s\("(\w+)"' % kind):
            if not any(" %s " % key in g for g in good if g.startswith(line.partition(" dev")[0])):
                complain(line, "%s is never tried with good input" % key)
            if key != "switch":     # any name
                one_error(line, files.run("%s %s ~" % (line, key)), ['%s: "~" is not ' % key])
    for name in words_of("tools/model/fields.c", r'^\tINPUT\((?:GROUP|"[^"]*"), (\w+)'):
        one_error("model " + name, files.run("model %s ~" % name), ["%s: " % name])


def check_man_page(commands):
    with open(os.path.join(DCQCN, "dcqcn.8")) as f:
        text = f.read()
    text = re.sub(r"\\f[BRI]|\\(?=-)", "", text.partition(".SH SYNOPSIS")[2].partition(".SH")[0])
    shown = [re.sub(r"^dcqcn (\[OPTIONS\] )?", "", line) for line in text.splitlines()
             if line.startswith("dcqcn ")]
    wanted = [("%s %s" % (c, a)).strip() for c, a in commands.items()]
    for line in sorted(set(wanted) ^ set(shown)):
        complain(line, "is not the same in help and in the man page's synopsis")


def main():
    commands = usages()
    assert len(commands) >= 20, commands
    with tempfile.TemporaryDirectory() as directory:
        files = Files(directory)
        check_bytes()
        check_bad(files)
        check_good(files)
        check_keys(files)
        check_help(files, commands)
        check_shortened(files, commands)
        check_versions(files)
        check_port_restore(directory)
    check_all_tried(commands)
    check_man_page(commands)
    return 1 if wrong else 0


sys.exit(main())
