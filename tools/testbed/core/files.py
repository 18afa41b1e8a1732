# SPDX-License-Identifier: GPL-2.0
"""Files that are written as a whole, or not at all."""

import contextlib
import os


@contextlib.contextmanager
def replacing(path, mode="w", **kw):
    """Open a file that gets its name when it is complete. If it cannot be written, for instance on
    a full disk, the error has that name, and an older file stays as it was."""
    made = "%s.%d.tmp" % (path, os.getpid())
    try:
        with open(made, mode, **kw) as f:
            yield f
        os.rename(made, path)
    except OSError as e:
        raise OSError(e.errno, e.strerror, path) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(made)
