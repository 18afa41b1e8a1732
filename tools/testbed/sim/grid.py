# SPDX-License-Identifier: GPL-2.0
"""Draws all runs of a scenario in one picture, and writes them as a table for other programs."""

import csv
import itertools
import os

from ..core import plots
from ..core.errors import InputError, LabError
from ..core.files import replacing

CELL, CHARACTER, LEAST = 17, 7, 190     # pixels: a cell, a character, a panel at least
TOP, HEAD, GAP = 40, 46, 16             # above all panels, above each, around it


def _label(run, names):
    return " ".join(str(run.variables[n]) for n in names)


def _places(runs, names):
    """Number the labels, in the order of the runs: {label: number}."""
    return {label: i for i, label in enumerate(dict.fromkeys(_label(r, names) for r in runs))}


def _value(panel, run, figures):
    try:
        return panel.value.number({**run.values, **figures})
    except InputError as e:
        raise LabError("picture: %s: %s" % (panel.title, e)) from None


def _shade(panel, value):
    """0 worst, 1 best; a missing value is worst."""
    if value is None:
        return 0
    return min(max((value - panel.worst) / (panel.best - panel.worst), 0), 1)


def _text(panels, values):
    """A run's cell in a table for people: the first panel's figure, and those of others that are
    not the best value. "-" is a missing figure."""
    shown = values[:1] + [v for p, v in zip(panels[1:], values[1:]) if v != p.best]
    return "; ".join("-" if v is None else "%.3g" % v for v in shown)


def _tables(picture, runs, texts, out):
    """Write a table for each row of panels: its lines are x, its columns y."""
    xs, ys = _places(runs, picture.x), _places(runs, picture.y)
    for row in _places(runs, picture.rows):
        name = "table-%s.csv" % row if row else "table.csv"
        with replacing(os.path.join(out, name), newline="") as f:
            w = csv.writer(f, lineterminator="\n")
            w.writerow([" ".join(picture.x), *ys])
            w.writerows([x, *(texts.get((row, x, y), "") for y in ys)] for x in xs)


def _cells(picture, runs, results, failing, out):
    """Write grid.csv and the tables. Return the labels of columns, of rows and of rows of panels,
    and for each panel its cells: x, y, colour, mark. Runs without results leave theirs empty."""
    xs, ys = _places(runs, picture.x), _places(runs, picture.y)
    rows = list(_places(runs, picture.rows))
    panels, texts = {(row, p): [] for row in rows for p in picture.panels}, {}
    with replacing(os.path.join(out, "grid.csv"), newline="") as f:
        w = csv.writer(f)
        w.writerow([*runs[0].variables, *(p.title for p in picture.panels), "failed", "notes"])
        for run, r in results:
            notes, values = run.notes(), [_value(p, run, r) for p in picture.panels]
            mark = "x" if run.name in failing else "." if notes else "-"
            row, x, y = (_label(run, names) for names in (picture.rows, picture.x, picture.y))
            for p, value in zip(picture.panels, values):
                panels[row, p].append((xs[x], ys[y], _shade(p, value), mark))
            texts[row, x, y] = _text(picture.panels, values)
            w.writerow([*run.variables.values(),
                        *("" if v is None else "%.4f" % v for v in values),
                        int(run.name in failing), "; ".join(notes)])
    _tables(picture, runs, texts, out)
    return xs, ys, rows, panels


def draw(scenario, results, failing, out):
    """Write grid.csv, tables and grid.png into a scenario's directory; failing: names of runs."""
    picture = scenario.picture
    if not results:
        return
    xs, ys, rows, panels = _cells(picture, scenario.runs, results, failing, out)
    title = scenario.title
    if len(results) < len(scenario.runs):
        title += " (white: not simulated)"
    left, bottom = (2 * GAP + max(map(len, labels)) * CHARACTER for labels in (ys, xs))
    across, down = max(len(xs) * CELL, LEAST), len(ys) * CELL
    width, height = left + across + GAP, HEAD + down + bottom
    files, heads, best_worst, lefts, tops = [], [], [], [], []
    for (r, row), (c, panel) in itertools.product(enumerate(rows), enumerate(picture.panels)):
        files.append(os.path.join(out, "panel.%d" % len(files)))
        with open(files[-1], "w") as f:
            f.writelines("%d %d %.4f %s\n" % cell for cell in panels[row, panel])
        heads.append(": ".join(filter(None, (row, panel.title))))
        best_worst.append("%g red, %g green" % (panel.worst, panel.best))
        lefts.append(c * width + left)
        tops.append(TOP + r * height + HEAD)
    plots.draw("grid.gp", {
        "title_text": title,
        "panels": len(files), "data": files, "head": heads, "scale": best_worst,
        "left": lefts, "top": tops, "across": across, "down": down,
        "width": len(picture.panels) * width, "height": TOP + len(rows) * height,
        "xlabels": list(xs), "ylabels": list(ys)}, os.path.join(out, "grid.png"))
    for path in files:
        os.unlink(path)
