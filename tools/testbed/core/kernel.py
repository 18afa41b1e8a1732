# SPDX-License-Identifier: GPL-2.0
"""Kernels built from Debian's kernel source: the simulator's is User-mode Linux.

A kernel is built once and kept in the user's cache, under a name with the version of the source and
a hash of the configuration. Modules are built against it as against any other kernel.

The debug kernel is a second configuration of the same source: debug.config has the
differences. It checks for faults, and runs in real time.
"""

import fcntl
import functools
import hashlib
import os
import re
import shutil
import subprocess

from . import linux_source, sources
from .errors import LabError
from .paths import DCBPORT, MODULE, MODULE_PARTS, OUT, SIM, TOP, cache_dir
from .progress import say, tail

# These are not built, but Kconfig reads their Kconfig files.
LEFT_OUT = ("drivers/gpu/*.[ch]", "drivers/media/*.[ch]", "drivers/net/ethernet/*.[ch]",
            "drivers/net/wireless/*.[ch]", "sound/*.[ch]", "arch/[!ux]*/*.[chS]", "*.dts*")


def _read(name):
    with open(os.path.join(SIM, name)) as f:
        return f.read()


# Edits of User-mode Linux, not of the code under test. Its clock counts in units of 256 ns,
# advances by one when a process reads it, and sets no timer closer than 500 ns, although a packet
# of 1 KB at 40 Gb/s takes 216 ns: let it count nanoseconds. Its jiffy is 10 ms, and rxe's
# retransmission timers count jiffies: take Debian's. Random numbers must not depend on the name of
# the results' directory. Packets' checksums took up to half of the CPU time: compute them faster
# (crc32.h), but not in the debug kernel of guests, which is built from this source for a PC, where
# the SSE registers belong to processes. Only modules are far away in memory, so only they need code
# for 64-bit addresses, in which each function call is indirect.
EDITS = (("arch/um/include/linux/time-internal.h",
          "#define TIMER_MULTIPLIER 256", "#define TIMER_MULTIPLIER 1"),
         ("arch/um/include/linux/time-internal.h",
          "#define TIMER_MIN_DELTA  500", "#define TIMER_MIN_DELTA  1"),
         ("drivers/char/random.c",
          "_mix_pool_bytes(command_line, strlen(command_line));", ""),
         ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100", "config HZ\n\tint\n\tdefault 250"),
         ("lib/crc/crc32-main.c", "#ifdef CONFIG_CRC32_ARCH\n",
          "#ifdef CONFIG_UML\n" + _read("crc32.h") + "#endif\n#ifdef CONFIG_CRC32_ARCH\n"),
         ("lib/crc/crc32-main.c", "#define crc32_le_arch crc32_le_base",
          "#ifdef CONFIG_UML\n#define crc32_le_arch crc32_le_fast\n#else\n"
          "#define crc32_le_arch crc32_le_base\n#endif"),
         ("arch/um/Makefile", "KBUILD_CFLAGS += -mcmodel=large",
          "KBUILD_CFLAGS_MODULE += -mcmodel=large"))

# Edits of the debug kernel, which takes stack traces all the time. Only return addresses of chained
# frames count, so follow the frames. Without this, each word on the stack is looked up among the
# symbols of all modules, which takes a third of the CPU time.
# One edit fixes rxe (upstream/short-packet/): the torture removes addresses while packets to them
# arrive, which would sometimes crash the kernel.
DEBUG_EDITS = (("drivers/infiniband/sw/rxe/rxe_recv.c",
                "\tif (unlikely(skb->len < RXE_BTH_BYTES))\n",
                "\tpkt->qp = NULL;\n\tif (unlikely(skb->len < RXE_BTH_BYTES))\n"),
               ("arch/um/kernel/stacktrace.c", "\t\tif (__kernel_text_address(addr)) {",
                "\t\tif ((unsigned long)sp == bp + sizeof(long)) {"),
               ("arch/um/kernel/stacktrace.c", "\t\tsp++;",
                "\t\tif (bp - (unsigned long)sp <\n"
                "\t\t    THREAD_SIZE - ((unsigned long)sp & (THREAD_SIZE - 1)))\n"
                "\t\t\tsp = (unsigned long *)bp;\n"
                "\t\tsp++;"))

# Raised by hand when the steps below change the contents of the cache.
RECIPE = 3


def jobs():
    return "-j%d" % len(os.sched_getaffinity(0))


def key(*what):
    return hashlib.sha256(repr(what).encode()).hexdigest()[:12]


def override(config, changes):
    """A configuration in which lines of changes replace those with the same symbol."""
    symbol = re.compile(r"(CONFIG_\w+)=.*")
    changed = {m[1] for m in symbol.finditer(changes)}
    kept = [line for line in config.splitlines()
            if not (m := symbol.match(line)) or m[1] not in changed]
    return "\n".join(kept) + "\n" + changes


class Kernel:
    """kdir: directory to build modules against; linux: the program."""

    kind, arch, program = "sim", "um", "linux"

    def __init__(self, debug=False):
        self.config = _read("kernel.config")
        self.plain = None       # the simulator's kernel, which has the source
        self.key = key(self.config, LEFT_OUT, EDITS, RECIPE)
        if debug:
            self.kind, self.plain = "sim-debug", Kernel()
            self.config = override(self.config, _read("debug.config"))
            self.key = key(self.config, DEBUG_EDITS, self.plain.key)

    @functools.cached_property
    def package(self):
        """The package of the source; fetched if the cache has none."""
        return self.plain.package if self.plain else linux_source.ensure()

    @functools.cached_property
    def dir(self):
        # the version in characters that no part of Kbuild takes for something else
        return os.path.join(cache_dir(), "-".join(
            (self.kind, re.sub(r"[^\w.]", "-", self.package.version), self.key)))

    @property
    def source(self):
        return os.path.join(self.dir, "source")

    @property
    def kdir(self):
        return os.path.join(self.dir, "build")

    @property
    def complete(self):
        return os.path.join(self.dir, "complete")

    @property
    def linux(self):
        return os.path.join(self.kdir, self.program)

    def modules(self, *paths):
        """Files of the kernel's own modules, named by their place in its tree.
        Parts that are built in are not included."""
        files = [os.path.join(self.kdir, p + ".ko") for p in paths]
        return [f for f in files if os.path.exists(f)]

    @property
    def origin(self):
        """The package that it was built from, for results."""
        return "%s %s" % (self.package.name, self.package.version)

    @property
    def release(self):
        with open(os.path.join(self.kdir, "include/config/kernel.release")) as f:
            return f.read().strip()

    def ensure(self):
        """Build the kernel if the cache does not have it. Returns self."""
        os.makedirs(cache_dir(), exist_ok=True)
        if self.plain:
            self.plain.ensure()
        with open(self.dir + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(self.complete):
                shutil.rmtree(self.dir, ignore_errors=True)
                os.makedirs(self.kdir)
                self._prepare()
                self._make()
                open(self.complete, "w").close()
                say("sim: %s, kernel %s of %s" % (self.dir, self.release, self.origin))
        return self

    def _prepare(self):
        if self.plain:
            subprocess.run(["cp", "-al", self.plain.source, self.source], check=True)
            self._edit(DEBUG_EDITS)
        else:
            self.package.unpack(self.source, LEFT_OUT)
            self._edit(EDITS)

    def _edit(self, edits):
        for name, old, new in edits:
            sources.replace(os.path.join(self.source, name), old, new)

    def _make(self):
        say("sim: building %s of %s, once (about %s minutes)" %
            (("the debug kernel", self.origin, "six") if self.plain else
             ("the kernel", self.origin, "three")))
        log, config = self.dir + ".log", os.path.join(self.kdir, "wanted")
        with open(config, "w") as f:
            f.write(self.config)
        make = ["make", "-C", self.source, "O=" + self.kdir, "ARCH=" + self.arch,
                # random numbers depend on it, so it must be the same everywhere
                "KBUILD_BUILD_TIMESTAMP=@0", "KBUILD_BUILD_USER=sim", "KBUILD_BUILD_HOST=sim"]
        with open(log, "w") as out:
            for args in [["KCONFIG_ALLCONFIG=" + config, "allnoconfig"]] + self._steps():
                if self._run(make + args, out):
                    raise LabError("building the kernel failed; the end of %s:\n%s" %
                                   (log, tail(log)))
        self._check_config()

    def _steps(self):
        """Arguments of make, one after the other."""
        if not self.plain:
            return [[jobs(), self.program, "modules"]]
        # KASAN and UBSAN check only modules: rxe, the RDMA core, and ours. Checks of the whole
        # kernel would double the time to build it.
        return [["KASAN_SANITIZE=n", "UBSAN_SANITIZE=n", jobs(), self.program],
                [jobs(), "modules"]]

    def _run(self, command, log):
        """Run a command, with a line of progress each minute; return its exit status."""
        with subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL) as p:
            try:
                while True:
                    try:
                        return p.wait(60)
                    except subprocess.TimeoutExpired:
                        say("sim: ... " + tail(log.name, 1).strip())
            except BaseException:
                p.terminate()       # make ends its children
                raise

    def _check_config(self):
        """Check that Kconfig accepted all options; otherwise a missing one would go unnoticed."""
        wanted = set(re.findall(r"^CONFIG_\w+=(?!n$).*", self.config, re.M))
        with open(os.path.join(self.kdir, ".config")) as f:
            missing = wanted - {line.strip() for line in f}
        if missing:
            raise LabError("the kernel has no " + ", ".join(sorted(missing)))

    def module(self, source, parts, out, variables=()):
        """Build the modules of a source directory, of which these parts belong to
        the kernel, in a copy: it may have been built for another kernel."""
        sources.copy(source, parts, out)
        r = subprocess.run(["make", "-C", self.kdir, "ARCH=" + self.arch, "M=" + out, jobs(), "W=1",
                            *variables, "modules"],
                           capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if r.returncode:
            raise LabError("building %s for the simulator failed:\n%s" %
                           (source, (r.stdout + r.stderr)[-4000:]))
        return r.stdout + r.stderr

    def ours(self, out):
        """Put this tree's modules into a directory, where later changes to the tree do not reach
        them; return their paths. All callers share one build, which compiles only what has
        changed since."""
        shared = os.path.join(OUT, "modules", os.path.basename(self.dir))
        os.makedirs(shared, exist_ok=True)
        os.makedirs(out, exist_ok=True)
        with open(shared + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.module(TOP, MODULE_PARTS, shared)
            return [shutil.copy2(os.path.join(shared, m), out) for m in (MODULE, DCBPORT)]
