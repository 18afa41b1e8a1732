# SPDX-License-Identifier: GPL-2.0
"""The guest's side of cpu_lines.c: what is counted, and for how long."""

import ctypes
import mmap
import shutil
import time

MARK = 0x64636200       # of cpu_lines.c
MEASUREMENTS = 255      # at most


class Marks:
    """Marks()[n]() executes the instruction for which cpu_lines.c waits."""

    def __init__(self):
        size = 16
        self.page = mmap.mmap(-1, size * (MEASUREMENTS + 1),
                              prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        for n in range(MEASUREMENTS + 1):
            code = b"\x0f\x1f\x84\x00" + (MARK + n).to_bytes(4, "little") + b"\xc3"
            self.page[size * n:size * n + len(code)] = code
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.page))
        self.size = size

    def __getitem__(self, n):
        return ctypes.CFUNCTYPE(None)(self.start + self.size * n)


class Meter:
    """Writes a line for each measurement: its number, stage, load, CPUs, packets and us."""

    def __init__(self, path):
        self.path, self.results, self.number, self.marks = path, open(path, "w"), 0, Marks()

    def symbols(self):
        """Keep the addresses of functions, when all modules are loaded."""
        with open("/proc/kallsyms") as f, open(self.path + ".symbols", "w") as copy:
            shutil.copyfileobj(f, copy)

    def measure(self, stage, load, cpus, work):
        """work() returns the number of packets that it has seen, which is returned."""
        self.number += 1
        begin = time.monotonic()
        self.marks[self.number]()
        packets = work()
        self.marks[0]()
        us = (time.monotonic() - begin) * 1e6
        self.results.write("%d %s %s %d %d %d\n" % (self.number, stage, load, cpus, packets, us))
        self.results.flush()
        print("# %s, %s, %d CPU(s): %d packets" % (stage, load, cpus, packets), flush=True)
        return packets
