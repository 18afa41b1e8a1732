# SPDX-License-Identifier: GPL-2.0
"""Runs inside the debug kernel: network devices of every kind, each with an rxe device, and
everything an administrator can do to them. TAP.

usage: device_changes.py MODULE SEED SECONDS
If MODULE is "none", the tests run with stock rxe.

Each kind has its own network namespace, where the device is called x0, its VLAN x0.5 and its
rxe device rxe_KIND. The tests fail if a change takes longer than HANG seconds or if the
kernel reports anything.
"""

import ctypes
import fcntl
import json
import os
import random
import socket
import struct
import sys
import time

from commands import HANG, Wrong, blocked_tasks, inside, run, write

ELSEWHERE = "elsewhere"     # devices move there and back
PEER = "peer"               # has the other end of each veth
NETDEVSIM_ID = 7
SIOCETHTOOL, ETHTOOL_GLINKSETTINGS, ETHTOOL_SLINKSETTINGS = 0x8946, 0x4c, 0x4d
SETTINGS, NWORDS = 48, 15   # struct ethtool_link_settings: size, offset of its mask's length
TUNSETIFF, TAP = 0x400454ca, 0x1002     # IFF_TAP | IFF_NO_PI


def loaded():
    return os.path.exists("/sys/module/rdma_dcqcn")


def wait(condition, what, seconds=HANG):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise Wrong("still not true after %d s: %s\n%s" % (seconds, what, blocked_tasks()))
        time.sleep(0.02)


def set_speed(device, mbps):
    """As "ethtool -s DEVICE speed MBPS". False if the driver has no speed to set."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        settings = bytearray(SETTINGS + 3 * 4 * 127)

        def request(command):
            struct.pack_into("=I", settings, 0, command)
            fcntl.ioctl(s, SIOCETHTOOL, ifreq(device, settings))

        try:
            # the first reply gives the number of words in a link mode mask
            request(ETHTOOL_GLINKSETTINGS)
            words, = struct.unpack_from("=b", settings, NWORDS)
            struct.pack_into("=b", settings, NWORDS, abs(words))
            request(ETHTOOL_GLINKSETTINGS)
            struct.pack_into("=I", settings, 4, mbps)
            request(ETHTOOL_SLINKSETTINGS)
            return True
        except OSError:
            return False


def ifreq(device, data):
    address = ctypes.addressof(ctypes.c_char.from_buffer(data))
    return struct.pack("=16sQ16x", device.encode(), address)


class Device:
    """One kind of network device. make: ip commands in its namespace, in order."""

    make = ()
    movable = True      # to another network namespace
    limit = HANG        # s, for any change

    def __init__(self, kind):
        self.kind, self.ns, self.rxe = kind, "d_" + kind, "rxe_" + kind
        self.random = random.Random(0)
        self.exists = self.ported = False

    def ip(self, command, may_fail=False, ns=None):
        return run("ip -n %s %s" % (ns or self.ns, command), may_fail, self.limit)

    def prepare(self):
        run("ip netns add " + self.ns)
        run("ip -n %s link set lo up" % self.ns)

    def finish(self):
        """Delete the device and its namespace."""
        if self.exists:
            self.remove()
            self.lost_port()
            self.exists = False
        run("ip netns del " + self.ns)

    def create(self):
        for command in self.make:
            self.ip(command)
        self.exists = True

    def remove(self):
        self.ip("link del x0")

    # --- changes; False: not possible with this kind, or not now --------------

    def add_port(self):
        """rdma link add"""
        if self.ported:
            return False
        with inside(self.ns):
            run("rdma link add %s type rxe netdev x0" % self.rxe, seconds=self.limit)
        self.ported = True
        if loaded():
            wait(self.published, "%s has the module's counters" % self.rxe, self.limit)

    def published(self):
        return os.path.exists("/sys/class/infiniband/%s/ports/1/hw_counters/rp_cnp_handled" %
                              self.rxe)

    def del_port(self):
        """rdma link delete"""
        if not self.ported:
            return False
        with inside(self.ns):
            run("rdma link del " + self.rxe, seconds=self.limit)
        self.ported = False

    def lost_port(self):
        """Wait until rxe has removed its device."""
        if self.ported:
            wait(lambda: not os.path.exists("/sys/class/infiniband/" + self.rxe),
                 "%s is removed with its network device" % self.rxe, self.limit)
            self.ported = False

    def up(self):
        """link set up"""
        self.ip("link set x0 up")

    def down(self):
        """link set down"""
        self.ip("link set x0 down")

    def mtu(self):
        """MTU"""
        self.ip("link set x0 mtu %d" % self.random.choice((1400, 1500)))

    def rename(self):
        """rename, there and back"""
        for old, new in (("x0", "y0"), ("y0", "x0")):
            self.ip("link set %s name %s" % (old, new))

    def carrier(self):
        """carrier off and on"""
        for state in ("off", "on"):
            if self.set_carrier(state) is False:
                return False

    def set_carrier(self, state):
        self.ip("link set x0 carrier " + state)

    def speed(self):
        """speed"""
        with inside(self.ns):
            return set_speed("x0", self.random.choice((100, 1000, 2500, 10000)))

    def address(self):
        """addresses"""
        self.ip("addr replace 10.5.0.1/24 dev x0")
        self.ip("addr replace fd05::1/64 dev x0 nodad")
        self.ip("addr flush dev x0 scope global")

    def vlan(self):
        """a VLAN on it, and a packet through the VLAN"""
        self.ip("link add link x0 name x0.5 type vlan id 5")
        self.ip("addr add 10.6.0.1/24 dev x0.5")
        self.ip("link set x0.5 up", may_fail=True)      # x0 may be down
        self.ip("neigh replace 10.6.0.2 lladdr 02:00:00:00:00:99 dev x0.5 nud permanent",
                may_fail=True)
        with inside(self.ns), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            try:
                s.sendto(bytes(64), ("10.6.0.2", 4791))
            except OSError:
                pass
        self.ip("link set x0.5 mtu 1300")
        self.ip("link del x0.5")

    def move(self):
        """to another network namespace and back"""
        if not self.movable:
            return False
        self.ip("link set x0 netns " + ELSEWHERE)
        self.lost_port()
        self.ip("link set x0 netns " + self.ns, ns=ELSEWHERE)

    def delete(self):
        """delete and create again"""
        self.remove()
        self.lost_port()
        self.exists = False
        self.create()

    # each at least once, in an order that works
    CHANGES = ("up", "add_port", "down", "up", "mtu", "rename", "carrier", "speed", "address",
               "vlan", "move", "add_port", "del_port", "add_port", "down", "vlan", "delete",
               "add_port", "up")


class Dummy(Device):
    make = ("link add x0 type dummy",)


class Veth(Device):
    make = ("link add x0 type veth peer name veth0 netns " + PEER,
            "link set veth0 up")

    def create(self):
        self.ip(self.make[0])
        run("ip -n %s %s" % (PEER, self.make[1]))
        self.exists = True

    def set_carrier(self, state):
        self.ip("link set veth0 " + {"off": "down", "on": "up"}[state], ns=PEER)


class Tap(Device):
    """A tap whose program never reads. It has a carrier while the program keeps it open."""

    def create(self):
        with inside(self.ns):
            self.program = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(self.program, TUNSETIFF, struct.pack("=16sH22x", b"x0", TAP))
        self.exists = True

    def remove(self):
        super().remove()
        os.close(self.program)

    def speed(self):
        """speed"""
        if not super().speed():
            raise Wrong("cannot set the speed of a tap")


class Macvlan(Device):
    make = ("link add low type dummy", "link set low up",
            "link add link low name x0 type macvlan mode bridge")

    def create(self):
        if not self.exists:
            low = self.ip("link show low", may_fail=True)
            for command in self.make[2 if low else 0:]:
                self.ip(command)
        self.exists = True

    def set_carrier(self, state):
        self.ip("link set low carrier " + state)


class Ipvlan(Macvlan):
    make = Macvlan.make[:2] + ("link add link low name x0 type ipvlan mode l2",)

    def vlan(self):
        """a VLAN on it"""
        return False    # the kernel refuses


class Stacked(Device):
    """A device with two lower devices, which leave and return."""

    movable = False
    type = None

    def create(self):
        self.ip("link add x0 type " + self.type)
        for n in range(2):
            if not self.ip("link show low%d" % n, may_fail=True):
                self.ip("link add low%d type dummy" % n)
            self.ip("link set low%d down" % n)
            self.ip("link set low%d master x0" % n)
            self.ip("link set low%d up" % n)
        self.exists = True

    def set_carrier(self, state):
        for n in range(2):
            self.ip("link set low%d carrier %s" % (n, state))

    def speed(self):
        """a lower device leaves and returns"""
        self.ip("link set low1 nomaster")
        self.ip("link set low1 down")
        self.ip("link set low1 master x0")
        self.ip("link set low1 up")


class Bond(Stacked):
    type = "bond mode active-backup miimon 10"


class Team(Stacked):
    type = "team"


class Bridge(Stacked):
    type = "bridge"


class Netdevsim(Device):
    def set_carrier(self, state):
        return False    # its carrier depends on a linked netdevsim

    def create(self):
        before = self.names()
        with inside(self.ns):
            if not write("/sys/bus/netdevsim/new_device", "%d 1" % NETDEVSIM_ID):
                raise Wrong("cannot create a netdevsim device")
        name, = self.names() - before
        self.ip("link set %s name x0" % name)
        self.exists = True

    def names(self):
        return {link["ifname"] for link in json.loads(self.ip("-j link show"))}

    def remove(self):
        if not write("/sys/bus/netdevsim/del_device", str(NETDEVSIM_ID)):
            raise Wrong("cannot delete the netdevsim device")


KINDS = (Dummy, Netdevsim, Bond, Team, Bridge, Macvlan, Ipvlan, Veth, Tap)


class Changes:
    """Changes devices of every kind at random; loads and unloads the module if given its path."""

    def __init__(self, r, module=None, limit=HANG):
        self.random, self.module = r, module
        self.devices = [kind(kind.__name__.lower()) for kind in KINDS]
        for device in self.devices:
            device.random, device.limit = r, limit
        self.done = {}

    def prepare_peers(self):
        for name in (ELSEWHERE, PEER):
            run("ip netns add " + name)

    def prepare(self):
        self.prepare_peers()
        for device in self.devices:
            device.prepare()

    def change(self, device, how):
        """Make a change; return how many seconds it took."""
        began = time.monotonic()
        if getattr(device, how)() is not False:
            self.done[how] = self.done.get(how, 0) + 1
        return time.monotonic() - began

    def one(self, device=None):
        """Make a random change, to this device or to any; return what it was and its seconds."""
        if self.module and self.random.randrange(12) == 0:
            return "module", self.toggle()
        device = device or self.random.choice(self.devices)
        if not device.exists:
            device.create()
        how = self.random.choice(device.CHANGES)
        return "%s %s" % (device.kind, how), self.change(device, how)

    def load(self):
        if self.module and not loaded():
            run("insmod " + self.module, seconds=HANG)

    def unload(self):
        if self.module and loaded():
            run("rmmod rdma_dcqcn", seconds=HANG)

    def toggle(self):
        began = time.monotonic()
        self.unload() if loaded() else self.load()
        return time.monotonic() - began

    def check(self):
        """Fail if a change was made to no device."""
        missing = set(Device.CHANGES) - set(self.done)
        if missing:
            raise Wrong("changes made to no device: %s" % ", ".join(sorted(missing)))


def dummy_up(changes):
    changes.load()
    device = Dummy("dummy")
    device.prepare()
    device.create()
    device.add_port()
    device.up()
    if not os.path.exists("/sys/class/infiniband/rxe_dummy"):
        raise Wrong("the port is gone")
    device.finish()


def each_change(device):
    def test(changes):
        changes.load()
        device.create()
        for how in device.CHANGES:
            print("# %s: %s" % (device.kind, getattr(device, how).__doc__), flush=True)
            changes.change(device, how)
        changes.unload()
        changes.load()
        if loaded():
            wait(device.published, "%s becomes a port when the module is loaded later" % device.rxe)
        device.down()
        device.up()
    return test


def random_changes(seconds):
    def test(changes):
        deadline, n, slowest = time.monotonic() + seconds, 0, (0, "")
        while time.monotonic() < deadline:
            what, took = changes.one()
            slowest = max(slowest, (took, what))
            n += 1
        print("# %d changes, the slowest %s: %.1f s" % (n, slowest[1], slowest[0]))
        changes.check()
        changes.unload()
    return test


def main():
    module, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    write("/proc/sys/kernel/hung_task_timeout_secs", HANG)
    changes = Changes(random.Random(seed), module if module != "none" else None)
    tests = [(dummy_up, "a dummy with rxe comes up while the module is loaded")]
    tests += [(each_change(device), "%s: every change completes" % device.kind)
              for device in changes.devices]
    tests.append((random_changes(seconds), "random changes to all devices and the module "
                  "complete"))
    print("1..%d" % len(tests))
    try:
        for n, (test, what) in enumerate(tests, 1):
            if n == 2:
                changes.prepare()
            test(changes)
            print("ok %d - devices: %s" % (n, what), flush=True)
    except Wrong as e:
        print("not ok %d - devices: %s" % (n, what))
        print("\n".join("# " + line for line in str(e).splitlines()), flush=True)
        # the remaining tests would hang too
        print("Bail out!", flush=True)
        os._exit(1)


if __name__ == "__main__":
    main()
