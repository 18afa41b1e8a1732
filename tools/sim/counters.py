# SPDX-License-Identifier: GPL-2.0
"""Runs inside the simulator: prints all RDMA devices' counters at a steady pace.

usage: counters.py PERIOD_US

CSV: time_ns (CLOCK_MONOTONIC), device, then the counters by name. Also prints
simulated time to the console. On SIGTERM, reads the counters once more, and ends.
"""

import glob
import os
import resource
import signal
import sys
import time

FILES = 1 << 16     # that may be open: one per counter
PORTS = "/sys/class/infiniband/*/ports/1"


def main():
    period = int(sys.argv[1]) * 1000
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    # devices of soft-iWARP have no counters
    dirs = [os.path.join(d, "hw_counters") for d in sorted(glob.glob(PORTS))]
    names = sorted(set.intersection(*(set(os.listdir(d) if os.path.exists(d) else ())
                                      for d in dirs)) - {"lifespan"})
    print(",".join(["time_ns", "dev", *names]))
    files = [(d.split("/")[4], [open(os.path.join(d, n), "rb", buffering=0) for n in names])
             for d in dirs]
    console = open("/dev/console", "w")
    due, stopping = time.monotonic_ns(), None
    while True:
        now = time.monotonic_ns()
        for dev, counters in files:
            values = []
            for f in counters:
                f.seek(0)
                values.append(f.read().strip().decode())
            print(",".join([str(now), dev, *values]))
        print("SIM-TIME %d" % now, file=console, flush=True)
        if stopping:
            return
        due += period
        stopping = signal.sigtimedwait({signal.SIGTERM}, max(due - now, 0) / 1e9)


main()
