# SPDX-License-Identifier: GPL-2.0
"""How long parts of the test suite and their tests took the last time on this machine.

Suites of several work trees may write at once. A part of make check may be a longer command in
make check-full, so the time of a whole part is that of its command."""

import fcntl
import json
import os

from testbed.core.files import replacing


def hours(seconds):
    return "%d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)


class Times:
    """In a file: {part: {"$ COMMAND": s, test: s}}."""

    def __init__(self, directory):
        self.path = os.path.join(directory, "times.json")

    def known(self):
        try:
            with open(self.path) as f:
                return json.load(f)
        except (FileNotFoundError, ValueError):
            return {}

    def took(self, part, seconds, tests):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = self.known()
            known.setdefault(part.name, {}).update(tests, **{"$ " + part.command: seconds})
            with replacing(self.path) as f:
                json.dump(known, f, indent=1)

    def whole(self, part):
        """s of the last run of this command; None: unknown."""
        return self.known().get(part.name, {}).get("$ " + part.command)

    def of(self, part, title):
        """s of a test; title: a result's name, or the beginning of several. None: unknown."""
        known = self.known().get(part.name, {})
        found = [known[title]] if title in known else \
            [s for name, s in known.items() if title and name.startswith(title)]
        return sum(found) if found else None

    def estimate(self, parts, jobs):
        """What a run takes, in words."""
        took = {p.name: self.whole(p) for p in parts}
        s = sum(took[p.name] * min(p.slots, jobs) for p in parts if took[p.name]) / jobs
        missing = [name for name, seconds in took.items() if seconds is None]
        return "about %s by their last times on this machine%s" % (hours(s), "" if not missing else (
            ", and %d without a time: %s" % (len(missing), " ".join(missing))))
