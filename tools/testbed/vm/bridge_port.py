# SPDX-License-Identifier: GPL-2.0
"""Records a port of this machine's own bridge that congestion-point has set up, and draws the same
picture as for the lab's switches."""

import json
import os
import signal
import subprocess
import tempfile
import time
from types import SimpleNamespace

from ..core.errors import InputError, LabError
from ..core.paths import LAB
from ..core.progress import say, tail
from .guest import die_with_parent
from .measure import SAMPLE_US, SNAPLEN, Recording, uncaptured
from .network import QSAMPLE_PARENT
from .topology import PAUSING, Port

SWITCH = "here"


def record(device, seconds, directory, name):
    """Record a port for some time; write files for draw()."""
    shown = subprocess.run([os.path.join(LAB, "congestion-point"), "show", device],
                           capture_output=True, text=True)
    if shown.returncode or not shown.stdout:
        raise LabError(shown.stderr.strip() or "%s is not a congestion point" % device)
    os.makedirs(directory, exist_ok=True)
    base = "%s.%s.%s" % (name, SWITCH, device)
    # an error must not cost an earlier recording
    with tempfile.TemporaryDirectory(dir=directory) as d, open(os.path.join(d, "log"), "w") as log:
        tool = os.path.join(d, "qsample")
        try:
            subprocess.run(["gcc", "-O2", "-o", tool, os.path.join(LAB, "guest", "qsample.c")],
                           check=True)
            jobs = [subprocess.Popen(["tcpdump", "-p", "-n", "-Z", "root", "-i", device, "-s",
                                      str(SNAPLEN), "-B", "65536", "-w",
                                      os.path.join(d, base + ".pcap"),
                                      "udp port 4791"], stderr=log, preexec_fn=die_with_parent)]
        except (OSError, subprocess.CalledProcessError) as e:
            raise LabError("%s (tcpdump, gcc and libc6-dev are needed)" % e)
        with open(os.path.join(d, base + ".queue"), "w") as queue:
            jobs.append(subprocess.Popen([tool, device, QSAMPLE_PARENT["tc"], str(SAMPLE_US)],
                                         stdout=queue, stderr=log, preexec_fn=die_with_parent))
        start = time.monotonic()
        about = {"device": device, "marking": shown.stdout.splitlines()[0].partition(" ")[2],
                 "real": time.time() - start, "start": start}
        say("watching %s for %g s" % (device, seconds))
        try:
            while time.monotonic() < start + seconds:
                for j in jobs:
                    if j.poll() is not None:
                        raise LabError("%s ended:\n%s" % (j.args[0], tail(log.name)))
                time.sleep(0.2)
        except KeyboardInterrupt:
            say("interrupted: using what was recorded so far")
        finally:
            about["seconds"] = time.monotonic() - start
            for j in jobs:
                j.send_signal(signal.SIGTERM)
                j.wait()
        with open(log.name) as f:
            about["capture_lost"] = uncaptured(f.read()) or 0
        for kind in (".pcap", ".queue"):
            os.replace(os.path.join(d, base + kind), os.path.join(directory, base + kind))
    with open(os.path.join(directory, name + ".json"), "w") as f:
        json.dump(about, f, indent=1)


def recording(directory, name):
    """Read what record() wrote, for the report."""
    try:
        with open(os.path.join(directory, name + ".json")) as f:
            about = json.load(f)
    except (OSError, ValueError) as e:
        raise InputError("there is no recording %s in %s: %s" % (name, directory, e))
    switch = SimpleNamespace(name=SWITCH, kmin=0, kmax=0, pmax=0.0, buffer=0, cnp="", ecn="",
                             port="tc", **dict.fromkeys(PAUSING, 0))
    try:
        start, seconds, real = (float(about[key]) for key in ("start", "seconds", "real"))
        lost = int(about.get("capture_lost", 0))
        port = Port(switch, about["device"], SimpleNamespace(rate=0), 0)
        port.take_marking(about["marking"])
        if not (port.rate > 0 and seconds > 0):
            raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError("%s.json in %s is not of a recording" % (name, directory)) from None
    run = SimpleNamespace(name=name, flows=(), queues=[port], targets=[port], pausing=[],
                          topology=SimpleNamespace(hosts={}))
    r = Recording(run, directory)
    r.zero, r.seconds, r.epoch[SWITCH] = start, seconds, (0, real)
    r.window = [r.zero, r.zero + r.seconds]
    r.start = r.before = r.after = r.end = []
    r.other_drops = r.pfc_frames = 0
    r.capture_lost = lost
    return r
