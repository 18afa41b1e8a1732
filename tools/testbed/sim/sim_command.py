# SPDX-License-Identifier: GPL-2.0
"""DCQCN in simulated time: real rxe, the real module, exact clocks, any rate."""

import glob
import hashlib
import os
import shutil
import subprocess
import sys

from ..core import command, linux_source, output, sources
from ..core.command import number
from ..core.errors import InputError, LabError
from ..core.kernel import Kernel
from ..core.paths import DCBPORT, MODULE, OUT, SIM
from ..core.progress import say
from . import (dcbport, figures, graph, grid, late_pacer, modelled, network_script, pictures,
               soft_iwarp, uml, workload)
from .batch import Batch
from .builtin_rxe import BuiltIn
from .model import SCENARIOS, Simulation

BUILT = "built" # below --out: modules and programs
KEY = "key"     # a file beside the recordings of a finished run: what they depend on
COLUMNS = (     # columns of the table: title, figure, format
    ("goodput Mb/s", "goodput_mbps", "%.0f"),
    ("payload", "payload_share", "%.4f"),
    ("Jain", "jain", "%.4f"),
    ("drops", "drops_total", "%d"),
    ("in window", "drops", "%d"),
    ("seq.err", "seq_errors", "%d"),
    ("queue mean", "queue_mean", "%.0f"),
    ("p90", "queue_p90", "%d"),
    ("p99", "queue_p99", "%d"),
    ("marked", "marked_share", "%.5f"),
    ("CNPs", "cnp_handled", "%d"),
    ("converged ms", "converged_ms", "%.1f"),
)
MESSAGES = (    # more columns, if a run has messages in time order
    ("unfinished", "messages.unfinished", "%d"),
    ("slowdown p50", "messages.slowdown.p50", "%.2f"),
    ("p99", "messages.slowdown.p99", "%.2f"),
    ("max", "messages.slowdown.max", "%.2f"),
    ("round p50 us", "rounds.p50_us", "%.0f"),
    ("p99", "rounds.p99_us", "%.0f"),
    ("drops later", "rounds.drops_later", "%d"),
)


class Simulator:
    """The kernel, and modules and programs built for it."""

    def __init__(self, out, builtin=False, seed=1, built=False, load=()):
        """built: modules and programs exist already, and others may be using them; load: more
        modules, which plug in to rdma_dcqcn"""
        self.kernel, self.out = (BuiltIn() if builtin else Kernel()).ensure(), out
        self.seed, self.load = seed, [os.path.abspath(m) for m in load]
        self.bin, module = os.path.join(out, "bin"), os.path.join(out, "module")
        self.dcqcn, self.dcbport = (os.path.join(module, os.path.basename(m))
                                      for m in (MODULE, DCBPORT))
        if built:
            return
        subprocess.run(["make", "-s", "-C", SIM, "OUT=" + self.bin], check=True)
        # "make clean" in the source must not disturb a simulation
        shutil.copy2(sources.dcqcn(), self.bin)
        self.kernel.ours(module)

    def modules(self, run):
        """insmod's arguments, in order."""
        ports = dcbport.used(run)
        out = [] if ports else self.kernel.modules("net/sched/sch_red")
        if run.device == "siw":
            out += soft_iwarp.modules(self.kernel, self.out)
        else:
            out += self.kernel.modules("net/ipv4/udp_tunnel", "net/ipv6/ip6_udp_tunnel",
                                       "drivers/infiniband/sw/rxe/rdma_rxe")
        if any(t.cables > 1 for t in run.trunks):
            out += self.kernel.modules("drivers/net/bonding/bonding")
        if ports:
            out.append(self.dcbport)
        if run.profile != "stock":
            dcqcn = late_pacer.module(self.kernel, self.out, run.tick) if run.tick else self.dcqcn
            out.append("%s profile=%s" % (dcqcn, run.profile))
            out += self.load
        return out

    def run(self, run, out, show):
        """Simulate one run; write its recordings to a directory. Returns the figures."""
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        key = self.key(run)
        with open(os.path.join(out, "flows"), "w") as f:
            f.write(network_script.flows(run))
        if run.workload.tables:
            with open(os.path.join(out, "schedule"), "w") as f:
                f.write(workload.schedule(run.workload.plan().messages))
        uml.boot(self.kernel, os.path.join(self.bin, "seed.so"), self.modules(run),
                 network_script.script(run, self.bin), out, show, number=self.seed)
        found = figures.figures(run, out)
        with open(os.path.join(out, KEY), "w") as f:
            f.write(key)
        return found

    def kept(self, run, out):
        """Figures of the recordings in a directory; None unless the same code simulated the same
        run there, to its end."""
        try:
            with open(os.path.join(out, KEY)) as f:
                same = f.read() == self.key(run)
        except FileNotFoundError:
            return None
        return figures.figures(run, out) if same else None

    def key(self, run):
        """A hash of everything that a run's recordings depend on."""
        modules = self.modules(run)
        key = hashlib.sha256(repr((
            os.path.basename(self.kernel.dir), self.kernel.release, self.seed,
            uml.FIRST_PROCESS, uml.SIMULATED,
            [os.path.basename(m) for m in modules], network_script.flows(run),
            workload.schedule(run.workload.plan().messages), network_script.script(run, ""))).encode())
        for path in [*(m.split()[0] for m in modules), *sorted(glob.glob(self.bin + "/*")),
                     *sorted(glob.glob(SIM + "/*.py"))]:
            with open(path, "rb") as f:
                key.update(hashlib.file_digest(f, "sha256").digest())
        return key.hexdigest()


def _figure(figures, path):
    """A figure, named by its path through tables of figures; None if there is none."""
    for name in path.split("."):
        figures = (figures or {}).get(name)
    return figures


def table(results):
    reached = dict.fromkeys(name for _, r in results for name in r["reach_ms"])
    columns = list(COLUMNS)
    if any("messages" in r for _, r in results):
        columns += MESSAGES
    rows = [["run"] + [c[0] for c in columns] + ["%s ms" % name for name in reached]]
    for run, r in results:
        values = [(_figure(r, key), form) for _, key, form in columns]
        values += [(r["reach_ms"].get(name), "%.1f") for name in reached]
        rows.append([run.name] + ["-" if v is None else form % v for v, form in values])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0])] +
                               [c.rjust(w) for c, w in zip(row[1:], widths[1:])])
                     for row in rows)


def wanted(args):
    """The requested simulations, with the requested runs."""
    found = [Simulation(name) for name in args.scenario or SCENARIOS.listed()]
    nowhere = [only for only in args.only if not any(s.chosen([only]) for s in found)]
    if nowhere and len(found) > 1:
        raise InputError("--only: no scenario has a run %s" % ", ".join(nowhere))
    names = [s.name for s in found]
    for s in found:
        if s.name == BUILT:
            raise InputError("%s: a scenario cannot have this name, as sim keeps modules and "
                             "programs in %s: rename the file" %
                             (s.file, os.path.join(args.out, BUILT)))
        if names.count(s.name) > 1:
            raise InputError("%s: two scenarios have this name, and would write to %s: run each by "
                             "itself, with an --out of its own" %
                             (s.name, os.path.join(args.out, s.name)))
        # each of several scenarios may have only some of these runs
        mine = [only for only in args.only if s.chosen([only])]
        s.choose(mine if mine and len(found) > 1 else args.only)
    return found


def cmd_part(args):
    """Simulate some runs and print nothing, while other processes simulate others; a later sim run
    --resume prints the figures."""
    simulations = wanted(args)
    output.hold(args.out, "--out", shared=True)
    sim = Simulator(os.path.join(args.out, BUILT), args.builtin, args.seed, built=True,
                    load=args.load)
    for s in simulations:
        harvest = Batch(sim, args.jobs, resume=True).simulate(s, os.path.join(args.out, s.name))
        if harvest.bad:
            raise LabError("; ".join(harvest.bad))
    return 0


def cpu_seconds():
    """CPU time of this process, and of simulations that have ended."""
    return sum(os.times()[:4])


def cmd_run(args):
    if args.part:
        return cmd_part(args)
    simulations = wanted(args)
    output.hold(args.out, "--out")
    sim = Simulator(os.path.join(args.out, BUILT), args.builtin, args.seed, load=args.load)
    batch = Batch(sim, args.jobs, args.twice, args.resume, args.seconds)
    held = 0
    documents, failures, still = [], [], []
    for s in simulations:
        out, before = os.path.join(args.out, s.name), cpu_seconds()
        harvest = batch.simulate(s, out)
        cost = cpu_seconds() - before
        results, bad = harvest.results, harvest.bad
        document = {"scenario": s.name, "title": s.title, "kernel": sim.kernel.release,
                    "kernel_source": sim.kernel.origin,
                    "runs": [{"name": run.name, **run.variables, **r} for run, r in results]}
        if results:     # otherwise there may be no directory, or an earlier result
            command.write_json(os.path.join(out, "result.json"), document)
        verdict = s.check(results)
        for run, r in results:
            # a scenario with a picture has many runs: draw only those with violations
            if "same_as" not in r and (not s.picture or args.only or
                                       run.name in verdict.failing):
                pictures.draw(run, os.path.join(out, run.name), r["bottleneck"])
        if s.picture:
            grid.draw(s, results, verdict.failing, out)
        if s.graph:
            graph.draw(s, results, out)
        held += verdict.held
        bad += verdict.bad
        documents.append(document)
        failures += ["%s: %s" % (s.name, b) for b in bad]
        still += ["%s: %s" % (s.name, line) for line in verdict.open]
        if args.json:
            continue
        print("\n%s: %s\n\n%s\n" % (s.name, s.title, table(results)))
        if results:
            say("figures in %s, after %.0f s of CPU time" % (os.path.join(out, "result.json"), cost))
        for run, _ in results:
            for note in run.notes():
                print("NOTE: %s: %s: %s" % (s.name, run.name, note))
        for note in harvest.notes():
            print("NOTE: %s: %s" % (s.name, note))
        if verdict.left_out:
            print("NOTE: %s: %d comparisons left out, the other run was not simulated" %
                  (s.name, verdict.left_out))
        for line in verdict.open:
            print("OPEN: %s: %s" % (s.name, line))
        for b in bad:
            print("FAILED: %s: %s" % (s.name, b))
    if args.json:
        command.print_json({"results": documents, "failed": failures, "open": still})
    else:
        print("%d figures are as expected, %d are not%s" %
              (held, len(failures), ", %d are open" % len(still) if still else ""))
    return 1 if failures else 0


def add_load(parser):
    parser.add_argument("--load", action="append", default=[], metavar="FILE.ko",
                        help="load this module after rdma_dcqcn, such as an algorithm of "
                             "congestion control; may be repeated")


def cmd_model(args):
    try:
        s = Simulation(args.file, must_expect=False)
        if len(s.runs) > 1:
            raise InputError("%s: sweep: the model is compared with one run; try sim run" % s.file)
        answer = modelled.predict(args.file)
        output.hold(args.out, "--out")
    finally:
        if args.remove:
            os.unlink(args.file)
    sim = Simulator(os.path.join(args.out, BUILT), load=args.load)
    harvest = Batch(sim, 1).simulate(s, os.path.join(args.out, "model"))
    results, bad = harvest.results, harvest.bad
    found = modelled.measured(answer, results[0][1]) if results else None
    if args.json:
        command.print_json({"predicted": answer["output"], "measured": found, "failed": bad})
        return 1 if bad else 0
    for b in bad:
        print("FAILED: %s" % b)
    for run, r in results:
        pictures.draw(run, os.path.join(args.out, "model", run.name), r["bottleneck"])
        print(modelled.table(answer, found))
    return 1 if bad else 0


def cmd_list(args):
    found = [Simulation(name) for name in SCENARIOS.listed()]
    if args.json:
        command.print_json([{"name": s.name, "title": s.title, "runs": [r.name for r in s.runs]}
                            for s in found])
        return 0
    for s in found:
        print("%-14s %s (runs: %d)" % (s.name, s.title, len(s.runs)))
    return 0


def cmd_build(args):
    output.hold(args.out, "--out")
    Simulator(os.path.join(args.out, BUILT), args.builtin)
    return 0


def cmd_kernel(args):
    if args.update:
        linux_source.ensure(update=True)
    kernel = Kernel(args.debug).ensure()
    say("kernel %s, built from %s" % (kernel.release, kernel.origin))
    print(kernel.kdir if args.kdir else kernel.linux)
    return 0


def parser():
    p = command.Parser(prog="sim", description=__doc__)
    command.add_version(p)
    sub = p.add_subparsers(dest="command", required=True, metavar="COMMAND")

    s = sub.add_parser("run", help="simulate scenarios and print their figures",
                       description="Simulate scenarios. Prints tables; writes result.json, CSV "
                       "files and pictures below out/sim. Fails if a figure is not as the "
                       "scenario expects, or if the simulated kernel reports anything.")
    s.add_argument("scenario", nargs="*",
                   help="scenarios that sim list shows, or .toml files (default: all)")
    s.add_argument("--only", action="append", default=[], metavar="RUN",
                   help="only this run of a sweep, or those with these variables: "
                        "rate=10gbit,n=8; may be repeated")
    s.add_argument("--out", default=os.path.join(OUT, "sim"), metavar="DIR",
                   type=command.plain_directory,
                   help="where to write (default: out/sim)")
    s.add_argument("--jobs", type=number(1), default=len(os.sched_getaffinity(0)), metavar="N",
                   help="simulations to run at once (default: one per CPU); figures do not "
                        "depend on it")
    s.add_argument("--twice", action="store_true",
                   help="simulate everything twice and fail unless all figures are the same")
    s.add_argument("--resume", action="store_true",
                   help="do not simulate again what the same code has simulated there before; "
                        "use it to continue an interrupted command")
    s.add_argument("--seconds", type=number(0), metavar="N",
                   help="start no more simulations after this time (default: start all)")
    s.add_argument("--seed", type=number(1), default=1, metavar="N",
                   help="seed of the kernel's random numbers (default: 1): with another one, "
                        "other packets are marked")
    s.add_argument("--builtin", action="store_true",
                   help="use a kernel with rxe built in, instead of as a module")
    add_load(s)
    s.add_argument("--part", action="store_true",
                   help="only simulate, with what sim build has built there; other commands may "
                        "simulate other runs there at the same time. Prints no figures: use "
                        "--resume --seconds 0 for these")
    command.add_json(s, "print JSON instead of tables: result.json, and what failed")
    s.set_defaults(run=cmd_run)

    s = sub.add_parser("model", help="simulate what dcqcn model describes, and compare",
                       description="Simulate the fabric in the table [model] of a file, which "
                       "dcqcn model reads too, and print the model's predictions beside the "
                       "measurement.")
    s.add_argument("file", help="a .toml file")
    s.add_argument("--remove", action="store_true", help="remove the file after reading it")
    add_load(s)
    command.add_json(s)
    s.add_argument("--out", default=os.path.join(OUT, "sim"), metavar="DIR",
                   type=command.plain_directory,
                   help="where to write (default: out/sim)")
    s.set_defaults(run=cmd_model)

    s = sub.add_parser("list", help="list the scenarios")
    command.add_json(s)
    s.set_defaults(run=cmd_list)

    s = sub.add_parser("build", help="build what sim run --part needs")
    s.add_argument("--out", default=os.path.join(OUT, "sim"), metavar="DIR",
                   type=command.plain_directory, help="where to write (default: out/sim)")
    s.add_argument("--builtin", action="store_true", help="for a kernel with rxe built in")
    s.set_defaults(run=cmd_build)

    s = sub.add_parser("kernel", help="build the simulator's kernel if the cache lacks it, and "
                                      "print its path")
    s.add_argument("--kdir", action="store_true", help="print its build directory instead")
    s.add_argument("--debug", action="store_true",
                   help="build the debug kernel, which torture uses, instead")
    s.add_argument("--update", action="store_true",
                   help="first fetch a newer kernel source, if Debian has one; all simulations use it "
                        "from then on")
    s.set_defaults(run=cmd_kernel)

    return p


def run(argv):
    args = parser().parse_args(argv)
    return args.run(args)


def main():
    return command.main("sim", run, sys.argv[1:])
