# SPDX-License-Identifier: GPL-2.0
"""The clock of emulated guests, which may be slower than the machine's.

A guest that must wait for a CPU of the machine falls behind its own clock, and its figures then
describe the machine. With a time dilation factor (TDF) of N, a second of the guests takes N
seconds of the machine, so guests, and the links between them, can do N times as much in it. See
Gupta et al., "To Infinity and Beyond: Time-Warped Network Emulation", NSDI 2006.
"""

import glob
import os
import time

from ..core.errors import LabError

TDF_MAX = 50
LIBRARY = ("/usr/lib/*/faketime/libfaketimeMT.so.1", "/usr/lib*/faketime/libfaketimeMT.so.1")


class Clock:
    """All seconds are those of the guests, except for host()."""

    def __init__(self, tdf=1):
        if not 1 <= tdf <= TDF_MAX:
            raise LabError("a time dilation factor is 1 to %d, not %d" % (TDF_MAX, tdf))
        self.tdf = tdf

    def monotonic(self):
        return time.monotonic() / self.tdf

    def sleep(self, seconds):
        time.sleep(self.host(seconds))

    def host(self, seconds):
        """Convert to the machine's seconds; None stays None."""
        return None if seconds is None else seconds * self.tdf

    def environment(self):
        """The environment for QEMU, whose guest gets QEMU's time, except for the TSC: see
        VM.start()."""
        if self.tdf == 1:
            return dict(os.environ)
        found = [f for pattern in LIBRARY for f in glob.glob(pattern)]
        if not found:
            raise LabError("libfaketime is not installed: run tools/lab/deps, or use --tdf 1")
        # do not change the times of the machine's files, which QEMU shows to its guest
        return dict(os.environ, LD_PRELOAD=found[0], FAKETIME="+0 x%.9f" % (1 / self.tdf),
                    NO_FAKE_STAT="1")

    @staticmethod
    def forget(pid):
        """Remove the shared memory that libfaketime made for children of QEMU, which has none."""
        for name in ("faketime_shm_%d", "sem.faketime_sem_%d"):
            try:
                os.unlink(os.path.join("/dev/shm", name % pid))
            except FileNotFoundError:
                pass
