# SPDX-License-Identifier: GPL-2.0
"""A check for tests that are silent on success."""

wrong = []      # what was not as wanted


def expect(what, got, want):
    """Check a value, and report it unless it is as wanted."""
    if got != want:
        wrong.append(what)
        print("# %s: %r instead of %r" % (what, got, want))


def status():
    """Return the exit status."""
    return 1 if wrong else 0
