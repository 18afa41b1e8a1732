# SPDX-License-Identifier: GPL-2.0
"""The table of the test suite: its parts, and what can run alone in each.

Behaviour is judged in simulated time, which does not depend on the machine. Emulated
guests show that it works on stock kernels, and run tests that need a kernel for each host.
"""

import ast
import glob
import os
import re
import shlex
import tomllib
from fnmatch import fnmatch

from testbed.core.paths import TOP
from testbed.vm.image import DEFAULT

import rdma_scripts
from runner import Part

KERNELS = DEFAULT + " 6.12 6.18 trixie-backports"       # check-full's

# A minute and a half for what breaks most often
QUICK = ("smoke.sh loop4 unloading", "rp.sh vector release uc stale", "cnp.sh bytes interval",
         "knobs.sh", "netlink.sh fuzz events")

# Corners of anypath, a path of anypath-rtts, and a run of anypath-change; check-full runs all
# of them
ANYPATH = ("profile=auto,cell=1gbit-5ms-n1", "profile=stock,cell=1gbit-5ms-n1",
           "profile=auto,cell=10gbit-100us-n8-apart", "profile=stock,cell=10gbit-100us-n8-apart",
           "profile=auto,cell=10gbit-100us-n8", "profile=auto,cell=40gbit-10us-n32",
           "profile=auto,cell=40gbit-100us-n2", "profile=auto,cell=100gbit-10us-n8",
           "profile=auto,cell=50mbit-5ms-n8", "profile=auto,cell=1gbit-10us-n32",
           "profile=auto,path=1gbit-5ms", "profile=auto,n=1", "profile=auto,size=2MB",
           "profile=stock,size=2MB")

# Runs of the switch port's scenarios: the cascade, the watchdog, the headroom at one speed
SWITCHES = ("hysteresis=fine", "hysteresis=coarse", "watchdog=drop",
            "rate=40gbit,room=exact", "rate=40gbit,room=byte-less")

# Cells of the arena that hold: its ruler, and one of each kind of load
ARENA = ("control=stock,work=lone", "control=pfc,work=alltoall-16",
         "control=both,work=incast-16x128KiB-9ms", "control=nscc,work=incast-8x240KiB-3ms",
         "control=auto,work=incast-32x64KiB-4ms", "control=both,work=rpc")

# That rxe is built in does not depend on how many flows there are
BUILTIN = ("kind=read", "kind=send", "kind=uc", "kind=ud", "start=synchronised,n=8")

# It takes eight hours of CPU time, so check-full leaves it to the sweep engine
GRID = "anypath-grid"

# What a change of a scenario reaches, besides the parts that run it
SCENARIOS = {"tools/sim/scenarios/": {"tools", "figures"},
             "tools/lab/scenarios/": {"tools", "figures", "labcommand"}}

# Files of tools/ that reach no more of check-full than is said here; switch-port runs in guests
NARROW = (*SCENARIOS, "tools/lab/guest/switch-port")

# What a change of any other file reaches: the first line with a path that the file's begins with
# names the parts to run; @ is all parts on a ground. A file that is in no line reaches all parts.
REACHES = """
Documentation/figures     tools:figures figures
Documentation/netlink/    netlink tools docs
Documentation/            docs tools:figures tools:kernels tools:spec tools:readme tools:interfaces tools:installed_scripts
CONTRIBUTING.md           docs tools:readme
README.md                 docs tools:readme tools:kernels
NEWS.md                   docs tools:version tools:kernels
SECURITY.md               docs
drivers/infiniband/       build unit tools netlink fuzz races docs mutants* powerpc @uml @debug @pc @guest-*
examples/cc/              build unit examples @guest-6.12 mutants*
drivers/net/dcbport/      build netlink port-unit model docs port* lldpd predicted switches lossless
drivers/net/dcbport/      cascade storm headroom deadlock collision fabric-* mutants* powerpc @uml loop*
tools/dcqcn/              tools rdma* port observers guests-* try-* page docs
tools/model/              model predicted tools page
tools/page/               tools page
tools/plot/               tools docs
tools/wireshark/          tools
tools/container/          tools
tools/netlink/            netlink
tools/try/                tools try-*
tools/bench/              pacing cpus-*
tools/testbed/bench/      pacing tools
tools/lab/                tools @guest-*
tools/testbed/vm/         tools @guest-* @pc
tools/sim/                tools simkernel debugkernel @uml @debug
tools/testbed/sim/        tools @uml @debug @pc
tools/testbed/core/       tools runner @uml @debug @pc @guest-*
selftests/unit/test_      unit powerpc mutants* coverage
selftests/unit/           unit port-unit model fuzz races explore* powerpc mutants* coverage
selftests/fuzz/run        fuzz explore*
selftests/fuzz/           fuzz explore* mutants*
selftests/explore/        build fuzz races explore* mutants*
selftests/port/unit/      port-unit powerpc mutants*
selftests/port/           port port-* lldpd
selftests/model/          model predicted
selftests/mutants/        mutants*
selftests/page/           page
selftests/rdma/           runner rdma* observers guests-* index upstream
selftests/simulated       rdma* index
selftests/guest           observers guests-*
selftests/rdma_scripts.py runner rdma* observers guests-*
selftests/run             runner
selftests/parts.py        runner
selftests/verbs/          @uml @debug @pc
selftests/uml/            @uml @debug @pc
selftests/lab/            labcommand programs-*
selftests/sim/            cluster
selftests/try             try-*
selftests/package/        packages srpm
selftests/tools/          tools
selftests/kernels_table   runner
selftests/figures         tools:figures figures
selftests/build_checks    build
selftests/tap.sh          build tools labcommand cluster dissector
selftests/cache_lines     build
selftests/circles         build
selftests/rooms           build
selftests/linkcheck       tools
selftests/rxe-            index
upstream/wireshark        dissector
upstream/                 build upstream series tools:kernels
debian/                   tools packages
rpm/                      tools:version srpm
META                      tools:kernels
.github/                  runner
"""


def running(table, folder, file):
    """The parts that run a scenario, or one that takes tables from it."""
    tool = folder.split("/")[1]
    names, like = {os.path.basename(file).removesuffix(".toml")}, {
        name: tomllib.loads(read(folder, name + ".toml")).get("like") for name in listed(tool)}
    while more := {name for name in like if like[name] in names} - names:
        names |= more
    return {p.name for p in table if names & set(p.command.split()) and
            ("tools/lab/lab" in p.command) == (tool == "lab")}


def reached(table, files):
    """The parts that changes of these files reach, and the tests of other parts, as names."""
    rules, names = [line.split() for line in REACHES.splitlines() if line], set()
    for file in files:
        folder = next((path for path in SCENARIOS if file.startswith(path)), None)
        if folder:
            names |= running(table, folder, file) | SCENARIOS[folder]
            continue
        first = next((path for path, *_ in rules if file.startswith(path)), None)
        for pattern in [p for path, *ps in rules if path == first for p in ps] if first else "*":
            names |= {pattern} if ":" in pattern else {
                p.name for p in table if fnmatch("@" + p.on if pattern[0] == "@" else p.name, pattern)}
    return sorted(n for n in names if n.partition(":")[0] in {p.name for p in table})


# --- tests that can run alone: names, and those of their results ---

def read(*path):
    with open(os.path.join(TOP, *path)) as f:
        return f.read()


def found(pattern, *path):
    """Names in a file."""
    return {name: name for name in re.findall(pattern, read(*path), re.M)}


def words(names):
    return " ".join(map(shlex.quote, names))


def unit_tests():
    makefile = read("selftests", "unit", "Makefile").replace("\\\n", " ")
    return dict.fromkeys(re.search(r"^TESTS \?= (.*)", makefile, re.M)[1].split())


def tools_tests():
    """Checks that selftests/tools/run names, and scripts that it finds."""
    names = dict(re.findall(r'^check (\S+) "(.*?)"', read("selftests", "tools", "run"), re.M))
    for path in sorted(glob.glob(os.path.join(TOP, "selftests", "tools", "*.sh"))):
        name = os.path.basename(path)[:-len(".sh")]
        names[name] = name
    return {name: "tools: " + title for name, title in names.items()}


def fuzz_targets():
    targets = re.search(r"^TARGETS = (\(.*\))", read("selftests", "fuzz", "run"), re.M)[1]
    return {name: "fuzzing: " + name for name in ast.literal_eval(targets)}


def port_tests():
    """Functions with the decorator @test. The first line of their docstring is their title."""
    return {f.name: ast.get_docstring(f).splitlines()[0] for path in sorted(
        glob.glob(os.path.join(TOP, "selftests", "port", "*.py")))
        for f in ast.parse(read(path)).body if isinstance(f, ast.FunctionDef) and
        any(isinstance(d, ast.Name) and d.id.startswith("test") for d in f.decorator_list)}


def mutants():
    return {name: name for name in re.findall(
        r"^(\S+) \w+: \w+", read("selftests", "mutants", "mutants.txt"), re.M)}


def rdma_tests(scripts, simulated):
    """SCRIPT and SCRIPT:FUNCTION."""
    out = {}
    for script in scripts:
        name, *only = script.split()
        functions = rdma_scripts.tests(name, simulated)
        out[name] = name[:-len(".sh")] + ": "
        out.update({"%s:%s" % (name, f): title for f, title in functions.items()
                    if f in only or not only})
    return out


def rdma_words(names):
    """Functions of a script run one after the other, in one kernel."""
    scripts = {}
    for name in names:
        script, _, function = name.partition(":")
        scripts.setdefault(script, []).append(function)
    return words(s if "" in f else " ".join([s] + f) for s, f in scripts.items())


def listed(tool):
    """The scenarios of sim or lab."""
    return [name.removesuffix(".toml")
            for name in sorted(os.listdir(os.path.join(TOP, "tools", tool, "scenarios")))]


# --- the parts ---

IMAGE = Part("image", "the guests' Debian, and its kernel's headers", "tools/lab/lab image --kdir",
             tap=False)
SIM_KERNEL = Part("simkernel", "the simulator's kernel", "tools/sim/sim kernel", tap=False)
DEBUG_KERNEL = Part("debugkernel", "the debug kernel", "tools/sim/sim kernel --debug", tap=False,
                    needs=["simkernel"])
COMMANDS = Part("commands", "the tools build", "make --no-print-directory WERROR=-Werror tools",
                tap=False)


UNIT = "make --no-print-directory -C selftests/unit run"


def first(fuzzed):
    """The first parts, which need our kernels only to build against."""
    return [
        IMAGE, SIM_KERNEL, COMMANDS,
        Part("runner", "the runner of these tests", "selftests/runner_test"),
        Part("build", "sparse, W=1, checkpatch",
             "selftests/build_checks $(tools/lab/lab image --kdir)", needs=["image"]),
        Part("unit", "unit tests", UNIT, tests=unit_tests,
             some=lambda names: UNIT + " TESTS='%s'" % " ".join(names)),
        Part("tools", "tools without a kernel", "selftests/tools/run", needs=["commands"],
             tests=tools_tests, some=lambda names: "selftests/tools/run " + words(names)),
        Part("docs", "the pages build, and paths in them exist",
             "make --no-print-directory html", tap=False),
        Part("port-unit", "unit tests of the switch port, and any PFC frame",
             "make --no-print-directory -C selftests/port/unit run"),
        Part("model", "unit tests of the threshold model, and any input",
             "make --no-print-directory -C selftests/model run"),
        Part("fuzz", "any packet", "selftests/fuzz/run" + fuzzed, tests=fuzz_targets,
             some=lambda names: "selftests/fuzz/run%s --only %s" % (
                 fuzzed, " --only ".join(names))),
        Part("races", "races between CPUs, in a fixed order",
             "make --no-print-directory -C selftests/explore O=$PWD/out/races races"),
        Part("netlink", "uapi header, policies and operations match the specification",
             "tools/netlink/regen --check $(dirname $(tools/sim/sim kernel --kdir))/source",
             tap=False, needs=["simkernel"]),
    ]


def simulation(name, arguments):
    """Figures that do not depend on the machine."""
    return Part(name, "sim run " + arguments,
                "tools/sim/sim run --jobs 1 --out out/check/%s/sim %s" % (name, arguments),
                tap=False, kernels=True, on="uml", needs=["simkernel", "commands"])


def in_uml(name, title, command, debug=False, **options):
    return Part(name, title, command, kernels=True, on="debug" if debug else "uml",
                needs=["simkernel", "commands"] + ["debugkernel"] * debug, **options)


def on_pc(name, title, command):
    """Takes both CPUs, as does all that has two."""
    return Part(name, title, command, kernels=True, slots=2, on="pc",
                needs=["simkernel", "commands"])


def rdma(scripts=(), full=False):
    return in_uml("rdma", "selftests/rdma in simulated time", "selftests/simulated --jobs 2 " +
                  "--full " * full + words(scripts), slots=2,
                  tests=lambda: rdma_tests(
                      rdma_scripts.scripts("SIMULATED", "SIMULATED_EXTENDED"), True),
                  some=lambda names: "selftests/simulated --jobs 2 " + rdma_words(names))


def quick():
    return first(" --runs 20000") + [
        rdma(QUICK),
        simulation("convergence", "convergence"),
    ]


def common(full):
    """Parts that check and check-full have in common; check runs short versions."""
    def short(text):
        return "" if full else text

    out = first(short(" --runs 300000")) + [DEBUG_KERNEL, rdma(full=full)]
    if full:
        out += [simulation(name, name) for name in listed("sim") if name != GRID]
        out.append(simulation("builtin", "verbs incast --builtin " +
                              " ".join("--only " + run for run in BUILTIN)))
    else:
        out += [simulation("convergence", "convergence"),
                simulation("verbs", "verbs"),
                simulation("speeds", "speeds --only rate=400gbit"),
                simulation("anypath", " ".join("--only " + run for run in ANYPATH) +
                           " anypath anypath-change anypath-rtts anypath-message"),
                simulation("lossless", "lossless --only control=both,n=2"),
                simulation("uet", "uet --only cell=40gbit-8 --twice"),
                simulation("arena", "arena " + " ".join("--only " + run for run in ARENA)),
                simulation("siw", "siw"),
                simulation("hops", "hops --only cc=hpcc"),
                simulation("reverse", "reverse"),
                simulation("switches", "cascade storm headroom deadlock " +
                           " ".join("--only " + run for run in SWITCHES))]
    out += [
        in_uml("torture", "everything is added and removed at random, under KASAN and lockdep",
               "selftests/uml/torture" + short(" --seconds 60"), debug=True),
        in_uml("devices", "network devices of all kinds",
               "selftests/uml/devices" + short(" --seconds 10"), debug=True),
        # with rxe built in as well, for which the kernel is built again, in check-full
        in_uml("foreign", "traffic that is not RoCE",
               "selftests/uml/foreign" + short(" --seconds 10 --rxe module"), debug=True),
        in_uml("port", "the switch port and lldpad, in simulated time", "selftests/port/run",
               tests=port_tests, some=lambda names: "selftests/port/run " + words(names)),
        in_uml("hostile", "hostile packets, in simulated time", "selftests/uml/hostile"),
        in_uml("predicted", "the threshold model against the real code",
               "selftests/model/simulated" + ("" if not full else " --configs 40")),
        in_uml("integrity", "each byte, in simulated time",
               "selftests/uml/integrity" + short(" --messages 60")),
        in_uml("contexts", "each byte, with congestion control contexts",
               "selftests/uml/integrity --contexts 3 --out out/contexts" +
               short(" --messages 60")),
        in_uml("stamps", "stamps of switches break no packet, in simulated time",
               "selftests/uml/stamps" + short(" --messages 24 --bytes 262144")),
        in_uml("pacing", "each rate is paced within 0.5 %",
               "tools/bench/bench --only pacing --check --out out/check/pacing/bench", tap=False),
    ]
    return out


# Tests whose code knows the order of bytes, or computes with 64 bits. The model of floating-point
# numbers takes a quarter of an hour there.
POWERPC = " ".join("test_" + name for name in (
    "packet", "cnp", "pacer", "rate", "fixed_point", "nscc", "rccc", "entropy"))


def in_guests(name, title, command, needs, kernel=DEFAULT, **options):
    """Takes both CPUs: with one, two guests would wait for each other."""
    return Part(name, title, command, kernels=True, slots=2, on="guest-" + kernel,
                needs=needs + ["commands"], **options)


def guests(name, title, options, needs, kernel, scripts=()):
    command = "selftests/guest --kernel %s %s" % (kernel, options)
    return in_guests(name, title, command + words(scripts), needs, kernel,
                     tests=lambda: rdma_tests(
                         scripts or rdma_scripts.scripts("TEST_PROGS", "TEST_PROGS_EXTENDED"), False),
                     some=lambda names: command + rdma_words(names))


def lab(name, scenarios, needs, kernel=DEFAULT, tests=dict):
    command = "tools/lab/lab run --check --out out/check/%s/lab --kernel %s " % (name, kernel)
    return in_guests(name, "lab run " + scenarios, command + scenarios, needs, kernel, tap=False,
                     tests=tests, some=lambda names: command + words(names))


def grid():
    return simulation(GRID, GRID)


def usual():
    return common(False) + [
        Part("mutants-sample", "tests find ten small faults, and all faults still apply",
             "selftests/mutants/run --jobs 1 --sample 10 --out out/mutants-sample"),
        lab("loop", "loop", ["build"])]


# Compiler and Kbuild warnings count, as in build_checks
BUILD = """said=$(tools/lab/lab build --kernel %s 2>&1); status=$?; echo "$said"
[ $status = 0 ] && ! grep -qiE '(warning|error):' <<<"$said" """


def full(kernels):
    out = common(True)
    out += [
        in_uml("coverage", "lines of the module that the torture reaches",
               "selftests/uml/coverage", debug=True),
        guests("observers", "tests of selftests/rdma that need two kernels, and tracers", "",
               ["build"], DEFAULT, rdma_scripts.scripts("OBSERVERS")),
        in_uml("rdma-alone", "each test of selftests/rdma in a kernel of its own",
               "selftests/simulated --alone --out out/alone"),
        in_uml("cluster", "a sweep with snakemake, and on a Slurm cluster of this machine",
               "selftests/sim/cluster", slots=2),
        in_uml("port-churn", "switch ports are added and removed, under KASAN and lockdep",
               "selftests/port/run --churn --out out/port-churn", debug=True),
        Part("page", "the page of the threshold model, in Chromium",
             "tools/lab/deps chromium chromium-driver fonts-dejavu-core python3-selenium && "
             "make --no-print-directory page && selftests/page/run", needs=["commands"]),
        in_uml("port-fuzz", "any PFC frame at a port, under KASAN",
               "selftests/port/run --fuzz 10000000 --out out/port-fuzz", debug=True),
        in_uml("port-dcbfuzz", "any DCB netlink, under KASAN",
               "selftests/port/run --dcbfuzz 300000 --out out/port-dcbfuzz", debug=True),
        in_uml("lldpd", "lldpd opposite and beside lldpad",
               "tools/lab/deps lldpd && selftests/port/run --out out/lldpd lldpd"),
        in_uml("port-scale", "512 ports, and a million packets held",
               "selftests/port/run --scale --out out/port-scale"),
        lab("scenarios", " ".join(scenarios()), ["build"], tests=lambda: dict.fromkeys(scenarios())),
        in_guests("labcommand", "the lab's command", "selftests/lab/run", ["build"]),
    ]
    for k in kernels:
        built = "build"
        if k != DEFAULT:
            built += "-" + k
            out.append(Part(built, "the module for kernel " + k, BUILD % k, tap=False))
        out += [guests("guests-" + k, "selftests/rdma on " + k, "", [built], k),
                lab("loop-" + k, "loop", [built], k),
                in_guests("port-guest-" + k, "the switch port on %s, and its frames in tshark" % k,
                          "selftests/port/guest --kernel " + k, [built], k),
                in_guests("try-" + k, "dcqcn try on " + k, "selftests/try --kernel " + k +
                          " checks" * (k != DEFAULT), [built], k),
                in_guests("programs-" + k, "UCX, NVMe and NFS in the lab on " + k,
                          "selftests/lab/programs --kernel " + k +
                          " nfs nvme ucx" * (k != DEFAULT), [built], k)]
    return out + [
        Part("powerpc", "pure code on a big-endian CPU of 32 bits",
             "tools/lab/deps gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user && "
             "for d in unit port/unit; do make --no-print-directory -C selftests/$d run "
             "O=$PWD/out/powerpc/$d CC=powerpc-linux-gnu-gcc SANITIZE=-static RUN=qemu-ppc "
             "TESTS='%s' || exit 1; done && selftests/unit/divisions $PWD/out/powerpc" % POWERPC),
        Part("mutants", "tests find small faults", "selftests/mutants/run", tests=mutants, slots=2,
             some=lambda names: "selftests/mutants/run --only " + " --only ".join(names)),
        guests("guests-debug", "selftests/rdma on a debug kernel with two CPUs", "--tdf 2 ",
               ["simkernel"], "debug"),
        on_pc("torture-pc", "torture with two CPUs", "selftests/uml/torture --pc"),
        on_pc("port-churn-pc", "switch ports are added and removed, with two CPUs",
              "selftests/port/run --churn --pc --steps 100 --out out/port-churn-pc"),
        on_pc("cpus-ports", "switch ports on two CPUs share nothing that they need not",
              "selftests/uml/cpus ports --out out/cpus-ports"),
        on_pc("cpus-qps", "queue pairs on two CPUs share nothing of the module",
              "selftests/uml/cpus qps --out out/cpus-qps"),
        on_pc("order", "no ACK overtakes a READ response", "selftests/uml/order"),
        in_uml("index", "rxe changed to be like that of kernel 6.12.0",
               "tools/lab/deps patch && selftests/simulated --out out/index "
               "--rxe-patch selftests/rxe-6.12.0.patch rp.sh lifecycle.sh "
               "'smoke.sh present early_end loop4 loop6 intact unloading'"),
        in_uml("kernel-tests", "the kernel's own tests of rxe, with the module and without",
               "tools/lab/deps rdmacm-utils iproute2 && selftests/uml/kernel_selftests"),
        in_uml("examples", "algorithms as modules of their own",
               "rm -rf out/examples && cp -r examples/cc out/examples && "
               "for name in aimd mltcp; do make --no-print-directory -C out/examples NAME=$name "
               "KDIR=$(tools/sim/sim kernel --kdir) ARCH=um DCQCN=$PWD || exit; done; "
               "tools/sim/sim run --jobs 1 --load out/examples/aimd.ko --load out/examples/mltcp.ko "
               "--out out/examples/sim out/examples/mltcp.toml", tap=False),
        in_uml("upstream", "patches for rxe and the RDMA core are needed, and work",
               "upstream/try"),
        Part("figures", "the documentation's figures are of this code", "selftests/figures",
             tap=False),
        Part("dissector", "the patch for Wireshark is needed, and works", "upstream/wireshark-try"),
        Part("series", "each series for the kernel applies, is in form, and has its recipients",
             "upstream/series", needs=["simkernel"]),
        in_guests("packages", "packages build, install, upgrade, boot, purge",
                  "make --no-print-directory deb && selftests/package/run bookworm trixie", []),
        Part("srpm", "the source RPM builds, and its packages install and erase in Debian",
             "selftests/package/rpm"),
        # These take long on one CPU each, and no part of two slots starts beside them: so last.
        # --resume keeps quarters. In steps, whose figures it prints: a part that says nothing for
        # half an hour hangs.
        *[Part("explore-%d" % (n + 1), "ten million sequences of events, quarter %d" % (n + 1),
               "selftests/fuzz/run --only explore-fast --packets 32 --runs 6000000 --seed %d "
               "--seeds 25 --out out/explore-%d" % (25 * n + 1, n + 1)) for n in range(4)],
        Part("explore-each", "ten million events through each algorithm",
             "selftests/fuzz/run --events 10000000 --runs 1200000 --out out/explore-each"),
    ]


def scenarios():
    """capacity only measures this machine; each kernel has a loop"""
    return [name for name in listed("lab") if name not in ("capacity", "loop")]
