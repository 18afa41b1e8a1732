# SPDX-License-Identifier: GPL-2.0
"""Common code of all commands: arguments, error messages and exit statuses.

    0    success
    1    an error, or figures that are not as expected
    2    invalid arguments or input; nothing has been started
    130  interrupted
    141  the reader of standard output has closed it
"""

import argparse
import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys

from .errors import InputError, LabError
from .files import replacing
from .paths import TOP, version


def complain(text):
    """Print one line on stderr and, if JSON is wanted, an object on stdout."""
    print(clean(text), file=sys.stderr)
    if Parser.json_wanted:
        with contextlib.suppress(OSError):
            print_json({"error": text})


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    json_wanted = False
    # The parser ignores words after --: they go into the attribute "command"
    before_command = False

    def parse_known_args(self, args=None, namespace=None):
        if self.before_command:
            at = args.index("--") if "--" in args else len(args)
            if args[at:] == ["--"]:
                self.error("after --, a COMMAND is missing")
            args, command = args[:at], args[at + 1:]
            self.set_defaults(command=command)
        # before parsing, so that errors of parsing are JSON as well
        if "--json" in self._option_string_actions and "--json" in (args or ()):
            Parser.json_wanted = True
        return super().parse_known_args(args, namespace)

    def error(self, message):
        complain("%s: %s (see %s --help)" % (self.prog, message, self.prog))
        self.exit(2)


def add_version(parser):
    parser.add_argument("-V", "--version", action="version",
                        version="%s %s" % (parser.prog, version()))


def add_json(parser, help="print JSON"):
    parser.add_argument("--json", action="store_true", help=help)


def number(least, most=float("inf"), kind=int):
    """An argument's type: a number within bounds."""
    bounds = "%g to %g" % (least, most) if most < float("inf") else "%g or more" % least

    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        # NaN is in no range
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


def plain_directory(text):
    """As directory(), for programs that take its name into scripts and makefiles."""
    path = directory(text)
    if re.search(r"[^\w./+,=@-]", path):
        raise argparse.ArgumentTypeError("%s: may have letters, digits and . _ / + , = @ - in its "
                                         "name only" % path)
    return path


def clean(text):
    """A text, possibly from a file or another host, without control characters, which a terminal
    would obey."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "?", text)


class Output:
    """Standard output. Its errors name it, so that messages can."""

    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def _do(self, function, *args):
        try:
            return function(*args)
        except OSError as e:
            raise OSError(e.errno, e.strerror, "standard output") from None

    def write(self, text):
        return self._do(self.file.write, text)

    def flush(self):
        self._do(self.file.flush)

    def discard(self):
        """If the buffer cannot be written, throw it away, so that nothing tries again at exit."""
        try:
            self.file.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def _status(function, *args):
    """Run a command and flush its output; return its exit status."""
    try:
        status = function(*args)
    except SystemExit as e:     # of argparse
        if e.code:
            return e.code
        status = 0
    sys.stdout.flush()
    return status


def _where(e):
    """The file that an OSError is about; errors of writing to an open file do not name it."""
    if e.filename is None and e.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise e
    return e.filename or "writing a file failed"


def main(name, function, *args):
    """Run a command; return its exit status. SIGTERM and SIGHUP are like Ctrl-C, so that everything
    that it has started ends with it."""
    for s in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(s) != signal.SIG_IGN:       # of nohup
            signal.signal(s, signal.default_int_handler)
    # it may be closed
    sys.stdout = output = Output(sys.stdout or open(os.devnull, "w"))
    try:
        if TOP.split() != [TOP]:
            raise InputError("%s: Kbuild needs a source tree whose path has no blanks" % TOP)
        return _status(function, *args)
    except BrokenPipeError:     # head has seen enough
        return 128 + signal.SIGPIPE
    except InputError as e:
        complain("%s: %s" % (name, e))
        return 2
    except OSError as e:
        complain("%s: %s: %s" % (name, _where(e), e.strerror))
        return 1
    except (LabError, subprocess.CalledProcessError) as e:
        complain("%s: %s" % (name, e))
        return 1
    except KeyboardInterrupt:
        complain("%s: interrupted" % name)
        return 130
    finally:
        output.discard()


def print_json(value):
    print(json.dumps(value, indent=1))


def write_json(path, value):
    with replacing(path) as f:
        json.dump(value, f, indent=1)
        f.write("\n")
