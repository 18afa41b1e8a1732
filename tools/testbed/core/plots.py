# SPDX-License-Identifier: GPL-2.0
"""Pictures, by gnuplot."""

import os
import subprocess

from .errors import LabError
from .paths import PLOT


def quoted(value):
    """A value in gnuplot's syntax."""
    return str(value) if isinstance(value, (int, float)) else "'%s'" % value.replace("'", "''")


def draw(script, settings, picture):
    """Run a gnuplot script of tools/plot with variables set: lists become arrays."""
    lines = []
    for key, value in settings.items():
        if isinstance(value, list):
            lines.append("array %s[%d]" % (key, len(value)))
            lines += ["%s[%d] = %s" % (key, i, quoted(v)) for i, v in enumerate(value, 1)]
        else:
            lines.append("%s = %s" % (key, quoted(value)))
    lines.append("load " + quoted(os.path.join(PLOT, script)))
    try:
        r = subprocess.run(["gnuplot", "-"], input="\n".join(lines), capture_output=True, text=True)
    except FileNotFoundError:
        raise LabError("gnuplot is not installed: run tools/lab/deps") from None
    if r.returncode or not os.path.exists(picture):
        raise LabError("gnuplot: " + r.stderr)
    return picture
