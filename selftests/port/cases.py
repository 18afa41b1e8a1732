# SPDX-License-Identifier: GPL-2.0
"""Runs test cases one after the other in the simulator. Prints TAP."""

import traceback

from testbed.core.tap import Tap
from wire import MS, exact_sleep, sh, sleep

tests = []
by_name = []    # need what the others do not, so they run only if named


def test(f):
    tests.append(f)
    return f


def test_by_name(f):
    by_name.append(f)
    return f


def same(what, got, wanted):
    assert got == wanted, "%s: %s, not %s" % (what, got, wanted)


def near(what, got, wanted, off):
    assert abs(got - wanted) <= off, "%s: %s, not %s +- %s" % (what, got, wanted, off)


# A failed test may leave these behind
NAMESPACES = "a b x y h1 h2 h3 s"


def run(module, names):
    """Load the module, and run the tests with these names, or all."""
    exact_sleep()
    sh("insmod " + module)
    wanted = [t for t in tests + by_name if t.__name__ in names] if names else tests
    tap = Tap()
    for t in wanted:
        try:
            t()
            tap.result(True, t.__doc__)
        except Exception:
            tap.result(False, t.__doc__, traceback.format_exc())
            sh("for n in %s; do ip netns del $n 2>/dev/null; done; true" % NAMESPACES)
        # Namespaces are removed in the background; their lock would delay the next test
        sleep(300 * MS)
    tap.done()
