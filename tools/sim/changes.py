# SPDX-License-Identifier: GPL-2.0
"""Runs inside the simulator: carries out commands at their times.

usage: changes.py <CHANGES

A line is: ns after t0, command. traffic writes t0 to the file of this name.
"""

import ctypes
import os
import subprocess
import sys
import time

PR_SET_TIMERSLACK = 29


def main():
    # By default a sleep may last 50 us longer
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    wanted = [line.split() for line in sys.stdin]
    while not os.path.exists("t0"):
        time.sleep(0.001)
    with open("t0") as f:
        t0 = round(float(f.read()) * 1e9)
    for at, *command in wanted:
        time.sleep(max(t0 + int(at) - time.monotonic_ns(), 0) / 1e9)
        if subprocess.run(command).returncode:
            print("SIM-FAILED " + " ".join(command))


main()
