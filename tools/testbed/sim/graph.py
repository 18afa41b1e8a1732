# SPDX-License-Identifier: GPL-2.0
"""Draws figures of all runs of a scenario as lines, with a point for each run."""

import csv
import os

from ..core import plots
from ..core.errors import InputError, LabError
from ..core.files import replacing


def _value(where, expression, run, figures):
    try:
        return expression.number({**run.values, **figures})
    except InputError as e:
        raise LabError("graph: %s: %s" % (where, e)) from None


def draw(scenario, results, out):
    """Write graph.csv and graph.png into a scenario's directory."""
    graph = scenario.graph
    rows = [[_value("x", graph.x, run, r)] + [_value(line.title, line.value, run, r)
                                              for line in graph.lines] for run, r in results]
    if len(rows) < 2:       # no line
        return
    with replacing(os.path.join(out, "graph.csv"), newline="") as f:
        w = csv.writer(f)
        w.writerow([graph.title, *(line.title for line in graph.lines)])
        # rows without a value come last
        w.writerows(["" if v is None else "%.9g" % v for v in row] for row in sorted(
            rows, key=lambda row: [(v is None, v) for v in row]))
    picture = os.path.join(out, "graph.png")
    plots.draw("graph.gp", {
        "input_file": os.path.join(out, "graph.csv"),
        "title_text": scenario.title, "x_title": graph.title, "lines": len(graph.lines),
        "line_titles": [line.title for line in graph.lines]}, picture)
