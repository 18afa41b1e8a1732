# SPDX-License-Identifier: GPL-2.0
"""Samples of a queue or of a timer, in the format of qsample and lateness."""

from .errors import LabError

COLUMNS = ("ns", "bytes", "packets", "queued packets", "queued bytes", "drops", "marks")


def read(path, columns=len(COLUMNS)):
    """Rows of numbers; the last line of a file may be torn."""
    try:
        with open(path) as f:
            rows = [line.split() for line in f if line.endswith("\n")]
        return [[int(word) for word in row] for row in rows if len(row) == columns]
    except ValueError:
        raise LabError("%s: has no samples" % path) from None
