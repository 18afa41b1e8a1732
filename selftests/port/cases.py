# SPDX-License-Identifier: GPL-2.0
"""Test cases that run one after the other in the simulator, and say so in TAP."""

import traceback

from wire import MS, exact_sleep, sh, sleep

tests = []


def test(f):
    tests.append(f)
    return f


def same(what, got, wanted):
    assert got == wanted, "%s: %s, not %s" % (what, got, wanted)


def near(what, got, wanted, off):
    assert abs(got - wanted) <= off, "%s: %s, not %s +- %s" % (what, got, wanted, off)


# What a test that fails may leave
NAMESPACES = "a b x y h1 h2 h3 s"


def run(module, names):
    """With the module loaded, those of these names, or all."""
    exact_sleep()
    sh("insmod " + module)
    wanted = [t for t in tests if not names or t.__name__ in names]
    print("1..%d" % len(wanted), flush=True)
    for n, t in enumerate(wanted, 1):
        try:
            t()
            print("ok %d - %s" % (n, t.__doc__), flush=True)
        except Exception:
            print("not ok %d - %s\n# %s" % (n, t.__doc__, traceback.format_exc().replace(
                "\n", "\n# ")), flush=True)
            sh("for n in %s; do ip netns del $n 2>/dev/null; done; true" % NAMESPACES)
        # The namespaces go, and what waits for their lock would be late in the next test
        sleep(300 * MS)
