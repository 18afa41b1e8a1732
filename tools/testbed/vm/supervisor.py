# SPDX-License-Identifier: GPL-2.0
"""A lab that stays up: the process that owns its guests, and how to reach it.

Its scratch directory has a fixed name for each user. The lock in it is held
as long as the supervisor lives; guests die with the supervisor, however it ends.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from ..core.errors import LabError
from ..core.files import replacing
from ..core.scenario import Table
from .clock import Clock
from .fabric import PREFIX, Fabric
from .guest import VM, die_with_parent
from .network import Network
from .topology import Topology

STATE = "state.json"


def directory():
    return os.path.join(tempfile.gettempdir(), "%sup-%d" % (PREFIX, os.getuid()))


def _state():
    """The state of the running supervisor; None if no supervisor runs, {} while it boots."""
    d = directory()
    try:
        if os.stat(d).st_uid != os.getuid():
            raise LabError("%s belongs to another user" % d)
        with open(os.path.join(d, "lock")) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
            except BlockingIOError:
                pass
        with open(os.path.join(d, STATE)) as f:
            return json.load(f)
    except FileNotFoundError:
        return {} if os.path.exists(os.path.join(d, "lock")) else None


def up(image, tables, module, clock):
    """Boot a fabric and leave it running behind us."""
    if _state() is not None:
        raise LabError("a lab is up already; \"lab status\" shows it, \"lab down\" ends it")
    topology = Topology(Table("fabric", tables))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        status = 1
        try:
            os.setsid()     # Ctrl-C is for our parent, which tells us
            # do not keep inherited files open: pipes, or a lock
            os.closerange(3, writer)
            os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
            die_with_parent(signal.SIGTERM)
            _supervise(image, tables, topology, module, clock, writer)
            status = 0
        except (LabError, OSError, subprocess.CalledProcessError) as e:
            print("lab: %s" % e, file=sys.stderr)
        except KeyboardInterrupt:
            pass
        except Exception:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writer)
    try:
        with os.fdopen(reader) as r:
            answer = r.read()
    except BaseException:
        os.kill(child, signal.SIGTERM)
        os.waitpid(child, 0)
        raise
    if answer != "up":
        os.waitpid(child, 0)
        raise LabError("the lab did not come up")


def _supervise(image, tables, topology, module, clock, tell):
    with Fabric(image, directory(), clock) as fabric:
        Network.boot(topology, fabric, module).configure(topology)
        state = {"pid": os.getpid(), "since": time.time(), "tables": tables,
                 "release": image.release, "tdf": fabric.clock.tdf,
                 "vms": {v.name: {"port": v.port, "pid": v.pid} for v in fabric.vms}}
        path = os.path.join(fabric.dir, STATE)
        with replacing(path) as f:
            json.dump(state, f)
        die_with_parent(0)
        # if the parent no longer reads, this raises an error, and everything is undone
        os.write(tell, b"up")
        os.close(tell)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(null, fd)
        while True:
            signal.pause()


def down():
    """End the lab; returns whether there was one."""
    state = _state()
    if state is None:
        shutil.rmtree(directory(), ignore_errors=True)
        return False
    if not state:
        raise LabError("the lab is still booting: end its \"lab up\" with Ctrl-C")
    os.kill(state["pid"], signal.SIGTERM)
    deadline = time.monotonic() + 30
    while _state() is not None or os.path.exists(directory()):
        if time.monotonic() > deadline:
            raise LabError("the lab does not end; its process is %d" % state["pid"])
        time.sleep(0.05)
    return True


class Lab:
    """The running lab, seen from another process."""

    def __init__(self):
        state = _state()
        if state is None:
            raise LabError("no lab is up: \"lab up\" starts one")
        if not state:
            raise LabError("the lab is still booting")
        self.state = state
        d = directory()
        self.clock = Clock(state["tdf"])
        self.vms = {name: VM(name, 0, d, None, v["port"], self.clock)
                    for name, v in state["vms"].items()}
        for name, v in state["vms"].items():
            self.vms[name].pid = v["pid"]
        self.network = Network(Topology(Table("fabric", state["tables"])), self.vms,
                               os.path.join(d, "share"), self.clock)

    def vm(self, name):
        if name not in self.vms:
            raise LabError("%s: no such guest; there are %s" % (name, " ".join(self.vms)))
        if not self.runs(name):
            raise LabError("%s has ended; run \"lab down\" and \"lab up\"" % name)
        return self.vms[name]

    def runs(self, name):
        """Return true if QEMU still runs. A dead child of the supervisor is a zombie."""
        try:
            with open("/proc/%d/stat" % self.state["vms"][name]["pid"]) as f:
                return f.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False
