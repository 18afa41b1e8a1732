# SPDX-License-Identifier: GPL-2.0
"""Pictures, drawn by gnuplot, which gets variables and the script to load on its standard input,
and writes the picture to its standard output."""

import os
import re
import subprocess

from .errors import LabError
from .files import replacing
from .paths import PLOT


def quoted(value):
    """A value in gnuplot's syntax. It executes nothing in single quotes, but ends a string at a
    new line, and misreads one that begins with a quote."""
    if isinstance(value, (int, float)):
        return str(value)
    return "'%s'" % re.sub(r"[\x00-\x1f']", lambda c: "'.\"\\%03o\".'" % ord(c[0]), value)


def draw(script, settings, picture):
    """Run a gnuplot script of tools/plot with variables set: lists become arrays, and those
    whose name begins with $ are the lines of a data block."""
    settings = {**settings, "style": os.path.join(PLOT, "style.gp"),
                "svg": int(picture.endswith(".svg"))}
    lines = []
    for key, value in settings.items():
        if key.startswith("$"):
            lines += [key + " << end", *value, "end"]
        elif isinstance(value, list):
            lines.append("array %s[%d]" % (key, len(value)))
            lines += ["%s[%d] = %s" % (key, i, quoted(v)) for i, v in enumerate(value, 1)]
        else:
            lines.append("%s = %s" % (key, quoted(value)))
    lines.append("load " + quoted(os.path.join(PLOT, script)))
    try:
        r = subprocess.run(["gnuplot", "-d", "-"], input=os.fsencode("\n".join(lines)),
                           capture_output=True)
    except FileNotFoundError:
        raise LabError("gnuplot is not installed: run tools/lab/deps") from None
    if r.returncode or not r.stdout:
        raise LabError("%s: gnuplot failed to draw it: %s" %
                       (picture, r.stderr.decode(errors="replace").strip()))
    with replacing(picture, "wb") as f:
        f.write(r.stdout)
    return picture
