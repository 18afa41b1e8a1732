# SPDX-License-Identifier: GPL-2.0
"""All runs of a scenario in one picture, and as a table that other programs read.

[picture] has x and y, variables whose combinations are the columns and rows of a panel;
rows, one whose values have panels of their own, below each other; and each [[picture.panel]]
a title, what is coloured, as an expression, and of it the best and the worst.
"""

import csv
import itertools
import os
import subprocess

import figures
from expression import evaluate
from progress import LabError
from tables import ScenarioError, Table

HERE = os.path.dirname(os.path.abspath(__file__))
CELL, CHARACTER, LEAST = 17, 7, 190      # pixels: a cell, of a label, a panel's width
TOP, HEAD, GAP = 40, 46, 16             # above all panels, above each, around it


class Picture:
    def __init__(self, table):
        t = Table("picture", table)
        self.x, self.y = t.take("x", list), t.take("y", list)
        self.rows = t.take("rows", list, [])
        self.panels = [self._panel(p) for p in t.take("panel", list)]
        t.done()

    @staticmethod
    def _panel(table):
        t = Table("picture panel", table)
        out = (t.take("title", str), t.take("value", str), t.take("best", float),
               t.take("worst", float))
        t.done()
        if out[2] == out[3]:
            raise ScenarioError("picture panel %s: best: is the worst too" % out[0])
        return out


def _places(runs, names):
    """label -> number, in the order of the runs"""
    labels = dict.fromkeys(" ".join(str(run.variables[n]) for n in names) for run in runs)
    return {label: i for i, label in enumerate(labels)}


def _label(run, names):
    return " ".join(str(run.variables[n]) for n in names)


def _cells(picture, results, failing, out):
    """Writes grid.csv. Labels of columns, of rows, of rows of panels; and of each panel the
    cells: x, y, colour (0 worst, 1 best), mark."""
    runs = [run for run, _ in results]
    xs, ys = _places(runs, picture.x), _places(runs, picture.y)
    rows = list(_places(runs, picture.rows))
    panels = {(row, i): [] for row in rows for i in range(len(picture.panels))}
    with open(os.path.join(out, "grid.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow([*runs[0].variables, *(p[0] for p in picture.panels), "failed", "notes"])
        for run, r in results:
            told = figures.notes(run)
            values = []
            for i, (_, text, best, worst) in enumerate(picture.panels):
                value = evaluate(text, {**r, **run.values})
                values.append("%.4f" % value)
                shade = min(max((value - worst) / (best - worst), 0), 1)
                mark = "x" if run in failing else "." if told else "-"
                panels[_label(run, picture.rows), i].append(
                    (xs[_label(run, picture.x)], ys[_label(run, picture.y)], shade, mark))
            w.writerow([*run.variables.values(), *values, int(run in failing),
                        "; ".join(told)])
    return xs, ys, rows, panels


def draw(scenario, results, failing, out):
    """Write grid.csv and grid.png into a scenario's directory; failing: runs."""
    picture = scenario.picture
    if not results:
        return
    xs, ys, rows, panels = _cells(picture, results, failing, out)
    columns = len(picture.panels)
    left, bottom = (2 * GAP + max(map(len, labels)) * CHARACTER for labels in (ys, xs))
    across, down = max(len(xs) * CELL, LEAST), len(ys) * CELL
    width, height = left + across + GAP, HEAD + down + bottom
    text = ["set terminal pngcairo size %d,%d font 'sans,9'" %
            (columns * width, TOP + len(rows) * height),
            "set output '%s/grid.png'" % out,
            "title_text = '%s'" % scenario.title.replace("'", ""),
            "xs = %d; ys = %d; panels = %d" % (len(xs), len(ys), len(panels)),
            "set xtics (%s)" % ", ".join("'%s' %d" % (label, i) for label, i in xs.items()),
            "set ytics (%s)" % ", ".join("'%s' %d" % (label, i) for label, i in ys.items())]
    text += ["array %s[%d]" % (a, len(panels)) for a in ("data", "head", "left", "top")]
    for n, ((r, row), (c, panel)) in enumerate(itertools.product(
            enumerate(rows), enumerate(picture.panels)), 1):
        title, _, best, worst = panel
        path = os.path.join(out, "panel.%d" % n)
        with open(path, "w") as f:
            f.writelines("%d %d %.4f %s\n" % cell for cell in panels[row, c])
        text += ["data[%d] = '%s'" % (n, path),
                 'head[%d] = "%s\\n%g red, %g green"' %
                 (n, ": ".join(filter(None, (row, title))), worst, best),
                 "left[%d] = %d" % (n, c * width + left),
                 "top[%d] = %d" % (n, TOP + r * height + HEAD)]
    text += ["across = %d; down = %d; width = %d; height = %d" %
             (across, down, columns * width, TOP + len(rows) * height)]
    r = subprocess.run(["gnuplot", "-", os.path.join(HERE, "grid.gp")],
                       input="\n".join(text) + "\n", capture_output=True, text=True)
    for n in range(len(panels)):
        os.unlink(os.path.join(out, "panel.%d" % (n + 1)))
    if r.returncode:
        raise LabError("gnuplot: " + r.stderr)
