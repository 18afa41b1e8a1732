# SPDX-License-Identifier: GPL-2.0
"""A RoCEv2 fabric of virtual machines: stock kernels, real perftest, switches that mark."""

import argparse
import os
import re
import shlex
import shutil
import sys

from ..core import command, output
from ..core.command import number
from ..core.errors import InputError, LabError
from ..core.paths import DCQCN, MODULE, MODULE_PARTS, OUT, TOP
from ..core.progress import say
from ..core.scenario import PROFILES, Table, check_knobs
from . import bridge_port, engine, live, neighbours, report, supervisor
from .clock import TDF_MAX, Clock
from .experiment import SCENARIOS, Experiment
from .image import DEFAULT, EXAMPLES as KERNELS, Image
from .lateness import TDF, TooBusy
from .network import check_module, check_ports, default_port
from .programs import Program
from .topology import HOSTS_MAX, PORTS, Topology

COMMAND = os.path.join(DCQCN, "dcqcn")

EXAMPLES = """
a lab that stays up:
  lab up                                 3 hosts, 1 switch; takes half a minute
  lab status
  lab shell h1                           as root; changes are lost with the lab
  lab exec h3 -- ib_write_bw -d rxe0 -u 18 -D 10
  lab exec h1 -- ib_write_bw -d rxe0 -u 18 -D 10 10.0.0.3     in another terminal
  lab capture s1.h3 -w run.pcap          what leaves s1 for h3
  lab set kmin=20KB kmax=80KB            the switch's thresholds
  lab set h1 rpg_ai_rate=5               a knob of rdma_dcqcn on h1
  lab set profile=stock                  all hosts without rdma_dcqcn
  lab down

a measurement with table, picture, CSV and pcap, in guests of its own:
  lab list
  lab run incast
  lab run incast --install ucx-utils -- tools/lab/examples/ucx    your own programs

Hosts are h1, h2, ..., switches s1, s2, ...; s1.h3 is the port of s1 that leads to
h3. Build the module first: make KDIR=$(lab image --kdir) or, for another kernel,
lab build --kernel 6.12.
See Documentation/lab.rst.
"""


def image_of(args):
    return Image(args.kernel, vars(args).get("install", ())).ensure()


def package(text):
    """An argument's type: the name of a Debian package."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", text):
        raise argparse.ArgumentTypeError("must be a Debian package: " + text)
    return text


def cmd_build(args):
    out = os.path.join(OUT, "kernels", args.kernel)
    sys.stderr.write(image_of(args).module(TOP, MODULE_PARTS, out))
    print(os.path.join(out, MODULE))
    return 0


def cmd_image(args):
    image = image_of(args)
    print(image.kdir if args.kdir else image.root)
    return 0


# The lab that stays up

def cmd_up(args):
    module = args.module if os.path.exists(args.module) else None
    profile = args.profile or (None if module else "stock")
    tables = live.changed_tables(args.fabric, args.hosts, default_port(Image(args.kernel)),
                                 {**vars(args), "profile": profile})
    if module is None and profile != "stock":
        raise InputError("%s is not built" % args.module)
    image = image_of(args)
    check_ports([Topology(Table(args.fabric, tables))], image)
    if module:
        try:
            check_module(module, image)
        except LabError:
            if tables.get("profile") != "stock":
                raise
            module = None
    supervisor.up(image, tables, module, Clock(args.tdf))
    if os.path.exists(COMMAND):
        shutil.copy(COMMAND, supervisor.Lab().network.share)
    say("the lab is up: \"lab status\" shows it, \"lab down\" ends it" +
        ("" if module else "; without rdma_dcqcn, which is not built"))
    return 0


def cmd_down(args):
    print("the lab is down" if supervisor.down() else "no lab was up")
    return 0


def cmd_status(args):
    now = live.status(supervisor.Lab())
    if not args.json:
        live.print_status(now)
        return 0
    for s in now["switches"]:
        for port in s["ports"]:
            del port["text"]
    command.print_json(now)
    return 0


def cmd_lldp(args):
    found = neighbours.links(supervisor.Lab())
    if args.json:
        command.print_json(found)
    else:
        neighbours.print_links(found)
    return 0


def cmd_exec(args):
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    vm = supervisor.Lab().vm(args.guest)
    # a single argument is a line for the guest's shell, several are a command
    line = words[0] if len(words) == 1 else shlex.join(words)
    argv = vm.ssh_argv(line or None, tty=sys.stdin.isatty() and sys.stdout.isatty())
    os.execvp(argv[0], argv)


def cmd_shell(args):
    argv = supervisor.Lab().vm(args.guest).ssh_argv(tty=True)
    os.execvp(argv[0], argv)


def cmd_capture(args):
    lab = supervisor.Lab()
    if args.write == "-" and sys.stdout.isatty():
        raise InputError("a capture cannot go to a terminal: use -w FILE, or | wireshark -k -i -")
    port = live.port_of(lab, args.port)
    live.check_filter(lab, port, args.filter)   # before the file is overwritten
    out = sys.stdout.buffer if args.write == "-" else open(args.write, "wb")
    return live.capture(lab, port, out, args.snaplen, args.filter, args.duration)


def cmd_set(args):
    live.change(supervisor.Lab(), args.what)
    return 0


# Measurements

def experiments(args):
    """The requested experiments: [(experiment, where to write)]."""
    out = args.out or os.path.join(OUT, "lab")
    found, port = [], default_port(Image(args.kernel))
    for name in args.scenario or ["incast"]:
        e = Experiment(name, args.only, args.short, port)
        if args.check:
            e.must_expect()
        if args.stock_only:
            e.runs = [r for r in e.runs
                      if all(h.profile == "stock" for h in r.topology.hosts.values())]
        if not e.runs:
            raise InputError("%s has no run without the module" % e.file)
        if args.live:
            e.runs = e.runs[:1]
            e.runs[0].name = "lab"
        to = out if args.out and len(args.scenario) < 2 else os.path.join(out, e.name)
        if to in [other for _, other in found]:
            raise InputError("%s: two scenarios have this name, and would write to %s: run each by "
                             "itself, with an --out of its own" % (e.name, to))
        found.append((e, to))
    return found


def cmd_run(args):
    if args.live and args.tdf is not None:
        raise InputError("the running lab keeps its clock: use lab up --tdf %d" % args.tdf)
    if args.live and args.install:
        raise InputError("the running lab keeps its programs: use lab up --install " + args.install[0])
    if args.live and args.set:
        raise InputError("the running lab keeps its knobs: use lab set " + args.set[0])
    settings = dict(w.partition("=")[::2] for w in args.set)
    check_knobs("--set", settings)
    program = Program(args.command) if args.command else None
    found = experiments(args)
    runs = [(r, out) for e, out in found for r in e.runs]
    if program:
        for r, _ in runs:
            r.window = [0, r.duration]      # how long it takes to connect is its own business
    module = None if args.live else engine.module_for(runs, args.module, settings)
    for _, out in found:
        output.hold(out, "--out")
    reports = engine.Reports(found, args.check, args.json)
    bad, busy = reports.bad, None
    with engine.alone():
        try:
            if args.live:
                engine.measure_live(runs, args.check, reports.done, bad, program)
            else:
                image = image_of(args)
                if module:
                    check_module(module, image)
                check_ports([r.topology for r, _ in runs], image)
                if default_port(image) == "tc":
                    say("dcbport.ko is not built for this kernel: switches use tc's qdiscs")
                engine.measure_apart(runs, image, module, args.tdf, reports.done, bad, program,
                                     args.check)
        except TooBusy as e:
            busy = str(e)
    reports.end()
    if args.json:
        command.print_json({"results": reports.documents, "failed": bad,
                            **({"error": busy} if busy else {})})
    else:
        for b in bad:
            print("FAILED: " + b)
    if busy:
        print("lab: " + busy, file=sys.stderr)
    return 1 if bad else TooBusy.STATUS if busy else 0


def cmd_list(args):
    found = [Experiment(name) for name in SCENARIOS.listed()]
    if args.json:
        command.print_json([{"name": e.name, "title": e.title,
                             "seconds": sum(r.duration for r in e.runs) / 1e9,
                             "runs": [r.name for r in e.runs]} for e in found])
        return 0
    for e in found:
        print("%-12s %s (runs: %d, %g s)" % (e.name, e.title, len(e.runs),
                                            sum(r.duration for r in e.runs) / 1e9))
    return 0


# A port of this machine, for VMs and hosts outside the lab

def cmd_record(args):
    directory, name = os.path.split(os.path.abspath(args.out))
    bridge_port.record(args.port, args.duration, directory, name)
    return cmd_draw(argparse.Namespace(recording=[args.out], out=args.out + ".png", title=name))


def cmd_draw(args):
    results = [report.Result(bridge_port.recording(*os.path.split(os.path.abspath(name))))
               for name in args.recording]
    names = [r.run.name for r in results]
    for r, given in zip(results, args.recording):
        if names.count(r.run.name) > 1:     # each has a title and a CSV file of its own
            r.run.name = given.lstrip("./").replace("/", "-")
    png = report.draw(args.title or "", results, os.path.abspath(args.out))
    print("\n" + report.table(args.title or "", results, report.PORT_ROWS) + "\n")
    say("picture in %s, CSV beside it" % png)
    return 0


def parser():
    p = command.Parser(prog="lab", description=__doc__, epilog=EXAMPLES,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    command.add_version(p)
    sub = p.add_subparsers(dest="command_name", required=True, metavar="COMMAND")

    def add(name, function, text, more="", **kw):
        s = sub.add_parser(name, help=text, description=(text[0].upper() + text[1:] + ". " +
                                                         more).strip(), **kw)
        s.set_defaults(run=function)
        return s

    def kernel(s):
        s.add_argument("--kernel", metavar="K",
                       help="the guests' kernel: %s and so on (default: %s)" % (KERNELS, DEFAULT))

    def install(s):
        s.add_argument("--install", action="append", default=[], type=package, metavar="PACKAGE",
                       help="a Debian package that guests have in addition; may be repeated")

    def module(s):
        s.add_argument("--module", metavar="FILE",
                       help="the module to load (default: the one built in this tree)")

    def tdf(s, default, usual):
        s.add_argument("--tdf", type=number(1, TDF_MAX), default=default, metavar="N", help=
                       "time dilation: a second in an emulated guest takes N seconds of real "
                       "time, which helps a slow or busy machine (default: %s)" % usual)

    s = add("up", cmd_up, "start a lab and leave it running",
            "Boots the fabric of a scenario, or of a file with the same tables; options "
            "override the file. There is one lab per user.")
    s.add_argument("fabric", nargs="?", default="incast",
                   help="a scenario that \"lab list\" shows, or a .toml file (default: incast)")
    s.add_argument("--hosts", type=number(1, HOSTS_MAX), metavar="N",
                   help="instead of FABRIC, h1 to hN at one switch")
    kernel(s)
    for key, text in (("rate", "speed of the switches' ports, such as 48mbit"),
                      ("delay", "delay of each host's link, one way, such as 2ms"),
                      ("kmin", "queue below which no packet is marked, such as 10KB"),
                      ("kmax", "queue above which every packet is marked, such as 100KB"),
                      ("pmax", "share marked at Kmax, such as 0.1"),
                      ("buffer", "buffer of a port, such as 300KB")):
        s.add_argument("--" + key, metavar=key.upper(), help=text)
    s.add_argument("--cnp", choices=("strict", "data"),
                   help="whether CNPs go first (strict) or queue with the data")
    s.add_argument("--port", choices=PORTS, help="build the switches' ports from the module "
                   "dcbport (the default, if it is built) or from tc's qdiscs")
    s.add_argument("--pfc", metavar="PRIOS", help="priorities with PFC, on switches and hosts: "
                   "traffic without a DSCP has priority 0, DSCP 26 has 3")
    for key, text in (("xoff", "pause a sender when the switch holds this many bytes from it "
                       "(default: 60KB)"),
                      ("xon", "end the pause when it holds no more than this (default: 30KB)"),
                      ("headroom", "buffer for bytes that arrive after the pause frame was sent "
                       "(default: 400KB)")):
        s.add_argument("--" + key, metavar=key.upper(), help=text)
    s.add_argument("--dcbx", action="store_true", help="run lldpad on switches and hosts, which "
                   "agree on PFC (default: for priority 3) and DSCPs")
    s.add_argument("--profile", choices=PROFILES,
                   help="profile of rdma_dcqcn on the hosts; stock: do not load it "
                   "(default: auto)")
    install(s)
    module(s)
    tdf(s, 1, "1")

    command.add_json(add("status", cmd_status, "show guests, what they run, and the switches' queues"))

    command.add_json(add("lldp", cmd_lldp, "show what neighbours agreed on by DCBX",
                         "For a lab with \"up --dcbx\"."))

    s = add("exec", cmd_exec, "run a command in a guest",
            "Exits with its status. A command that is a single argument is run by the guest's "
            "shell.")
    s.add_argument("guest")
    s.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND ...")

    s = add("shell", cmd_shell, "get a root shell in a guest")
    s.add_argument("guest")

    s = add("capture", cmd_capture, "capture packets that leave through a switch's port",
            "Runs until Ctrl-C. Shows packets after marking. To watch them: "
            "lab capture s1.h3 | wireshark -k -i -")
    s.add_argument("port", help="s1.h3: the port of s1 that leads to h3")
    s.add_argument("-w", "--write", default="-", metavar="FILE",
                   help="write to a file instead of standard output")
    s.add_argument("-d", "--duration", type=number(0.001, kind=float), metavar="SECONDS",
                   help="stop after this time")
    s.add_argument("-f", "--filter", default="", metavar="EXPRESSION",
                   help="tcpdump's expression, for instance \"udp port 4791\"")
    s.add_argument("-s", "--snaplen", type=number(1, 262144), default=96, metavar="BYTES",
                   help="bytes to capture of each packet (default: 96, the headers)")

    s = add("set", cmd_set, "change switches and hosts while they run",
            "For switches: %s, delay. For hosts: profile (%s), or any file below "
            "/sys/class/net/eth0/ecn/. Without a name, changes all that have the key." %
            (", ".join(k for k in live.MARKS if k != "delay"), ", ".join(PROFILES)))
    s.add_argument("what", nargs="+", metavar="NAME|KEY=VALUE",
                   help="s1 kmin=20KB; s1.h3 rate=20mbit; h1 rpg_ai_rate=5; profile=mlx5")

    add("down", cmd_down, "end the lab")

    s = add("run", cmd_run, "measure a scenario: table, picture, CSV, pcap",
            "Starts guests of its own and stops them at the end. Fails when a guest's kernel "
            "warns, crashes or hangs. On a busy machine it slows the guests' clocks down; exits "
            "with status %d, and judges no figure, if the guests' timers are still late. "
            "With a COMMAND after --, each flow is your server and your client instead of "
            "perftest's: both run COMMAND, and LAB_SERVER is empty in the server." %
            TooBusy.STATUS, usage="%(prog)s [options] [scenario ...] [-- COMMAND ...]")
    s.before_command = True
    s.add_argument("scenario", nargs="*",
                   help="scenarios that \"lab list\" shows, or .toml files (default: incast)")
    s.add_argument("--short", action="store_true",
                   help="take less time, with fewer and shorter runs that show the same effect")
    s.add_argument("--only", action="append", default=[], metavar="RUN",
                   help="only this run of a sweep; may be repeated")
    s.add_argument("--live", action="store_true",
                   help="run the scenario's flows on the lab that is up, as it is")
    s.add_argument("--check", action="store_true",
                   help="fail, and say why, unless the figures are as the scenario expects")
    install(s)
    s.add_argument("--stock-only", action="store_true",
                   help="do only the runs without the module")
    kernel(s)
    module(s)
    tdf(s, None, "%d, or more if other programs use the CPUs" % TDF)
    s.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                   help="set a file below /sys/class/net/eth0/ecn/, for instance rpg_ai_rate=5; "
                        "may be repeated")
    s.add_argument("--out", metavar="DIR", type=command.directory,
                   help="where to write (default: out/lab/SCENARIO)")
    command.add_json(s, "print JSON instead of tables: result.json, and what failed")

    s = add("record", cmd_record, "record a port of this machine's bridge, for your own VMs",
            "For a port that tools/lab/congestion-point has set up. Writes table, picture, CSV "
            "and pcap like \"run\". Needs the right to capture packets.")
    s.add_argument("port", help="network device, for instance vnet2")
    s.add_argument("-d", "--duration", type=number(0.001, kind=float), default=30, metavar="SECONDS",
                   help="how long (default: 30); Ctrl-C ends it earlier")
    s.add_argument("-o", "--out", required=True, metavar="DIR/NAME",
                   help="where to write; the files begin with NAME")

    s = add("draw", cmd_draw, "draw recordings below each other, on the same axes")
    s.add_argument("recording", nargs="+", metavar="DIR/NAME", help="what \"record\" wrote")
    s.add_argument("-o", "--out", required=True, metavar="FILE.png")
    s.add_argument("-t", "--title")

    command.add_json(add("list", cmd_list, "list the scenarios"))

    s = add("image", cmd_image, "print where the guests' root file system is",
            "Builds it with mmdebstrap if the cache lacks it.")
    kernel(s)
    s.add_argument("--kdir", action="store_true",
                   help="print its kernel build directory instead: make KDIR=$(lab image --kdir)")

    s = add("build", cmd_build, "build the module for a kernel, with its release's compiler",
            "Builds in out/kernels/K, and prints the module's name. On Debian 12, make "
            "KDIR=$(lab image --kdir) is enough for the default kernel.")
    kernel(s)
    return p


def run(argv):
    args = parser().parse_args(argv)
    if vars(args).get("live"):
        for key in ("kernel", "module"):
            if vars(args)[key]:
                raise InputError("the running lab keeps its %s: use lab up --%s %s" %
                                 (key, key, vars(args)[key]))
    args.kernel = vars(args).get("kernel") or DEFAULT
    if "module" in args and not args.module:
        args.module = Image(args.kernel).built(TOP)
    return args.run(args)


def main():
    return command.main("lab", run, sys.argv[1:])
