# SPDX-License-Identifier: GPL-2.0
"""Common code of all commands: arguments, error messages and exit statuses.

    0    success
    1    an error, or figures that are not as expected
    2    invalid arguments or input; nothing has been started
    130  interrupted
"""

import argparse
import json
import os
import signal
import subprocess
import sys

from .errors import InputError, LabError


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        self.exit(2, "%s: %s (see %s --help)\n" % (self.prog, message, self.prog))


def number(least, most=float("inf"), kind=int):
    """An argument's type: a number within bounds."""
    bounds = "%g to %g" % (least, most) if most < float("inf") else "%g or more" % least

    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        # not a number is in no range
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError("%s: must be %s, %s" % (
                text, "a whole number" if kind is int else "a number", bounds))
        return value
    return parse


def directory(text):
    """An argument's type: a directory for output, which need not exist."""
    path = above = os.path.abspath(text)
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    if not os.path.isdir(above) or not os.access(above, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError("%s: must be a directory to write to" % text)
    return path


def main(name, function, *args):
    """Run a command; return its exit status."""
    try:
        status = function(*args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:     # head has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except InputError as e:
        print("%s: %s" % (name, e), file=sys.stderr)
        return 2
    except OSError as e:
        if e.filename is None:
            raise
        print("%s: %s: %s" % (name, e.filename, e.strerror), file=sys.stderr)
        return 1
    except (LabError, subprocess.CalledProcessError) as e:
        print("%s: %s" % (name, e), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("%s: interrupted" % name, file=sys.stderr)
        return 130


def print_json(value):
    print(json.dumps(value, indent=1))


def write_json(path, value):
    """Write a file as a whole, or not at all."""
    with open(path + ".tmp", "w") as f:
        json.dump(value, f, indent=1)
        f.write("\n")
    os.rename(path + ".tmp", path)
