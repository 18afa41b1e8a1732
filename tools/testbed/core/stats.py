# SPDX-License-Identifier: GPL-2.0
"""Statistics of figures."""


def percentile(values, share):
    """The value below which this share of the values is."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def jain(rates):
    """Jain's fairness index: 1 if all n rates are equal, 1/n if one has everything."""
    squares = len(rates) * sum(r * r for r in rates)
    return sum(rates) ** 2 / squares if squares else 0.0
