# SPDX-License-Identifier: GPL-2.0
"""Errors that the user sees as one line instead of a Python traceback."""


class LabError(Exception):
    """Something went wrong; the text says what, and how to fix it."""


class InputError(LabError):
    """Invalid input, found before anything is started: one line with the file or option, the key
    and the rule."""
