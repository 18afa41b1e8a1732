# SPDX-License-Identifier: GPL-2.0
"""What the user should read instead of a Python traceback."""


class LabError(Exception):
    """Something went wrong; the text says what, and what to do."""


class InputError(LabError):
    """What was asked for makes no sense: one line with the file or the option, the key and
    the rule. Nothing has been started."""
