# SPDX-License-Identifier: GPL-2.0
"""Raw LLDP frames (802.1AB), and lldpad and lldpd in a namespace."""

import json
import struct
import subprocess

from wire import MS, S, now, sh, sleep

ETHERTYPE = b"\x88\xcc"
NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
IEEE, CEE = bytes.fromhex("0080c2"), bytes.fromhex("001b21")
ETS_CONFIGURED, ETS_RECOMMENDED, PFC, APP = 9, 10, 11, 12     # subtypes of IEEE's


def tlv(kind, data):
    return struct.pack(">H", kind << 9 | len(data)) + data


def own(oui, subtype, data):
    return tlv(127, oui + bytes((subtype,)) + data)


def frame(src, *tlvs, ttl=120):
    """A frame from a neighbour with this address."""
    return b"".join((NEAREST_BRIDGE, src, ETHERTYPE, tlv(1, b"\4" + src), tlv(2, b"\3" + src),
                     tlv(3, struct.pack(">H", ttl)), *tlvs, tlv(0, b"")))


def tlvs(data):
    """The TLVs of a frame, each as bytes with its header."""
    out, at = [], 14
    while at < len(data):
        head, = struct.unpack_from(">H", data, at)
        if not head:
            break
        out.append(data[at:at + 2 + (head & 511)])
        at += 2 + (head & 511)
    return out


def dcbx(data):
    """The IEEE TLVs of a frame, in hex, by subtype."""
    return {t[5]: t.hex() for t in tlvs(data) if t[:1] == b"\xfe" and t[2:5] == IEEE}


def cee(src, pfc):
    """A TLV of a neighbour that speaks only CEE, with PFC for these priorities."""
    return frame(src, own(CEE, 2, b"".join((
        struct.pack(">HBBII", 1 << 9 | 10, 0, 0, 1, 0),
        struct.pack(">HBBBB4s8sB", 2 << 9 | 17, 0, 0, 0x80, 0, bytes.fromhex("00010000"),
                    bytes((50, 50, 0, 0, 0, 0, 0, 0)), 8),
        struct.pack(">HBBBBBB", 3 << 9 | 6, 0, 0, 0x80, 0, pfc, 8)))))


def wait(what, happens, limit, every=100 * MS):
    """Wait until it does; return how many ns it took."""
    began = now()
    while not happens():
        assert now() - began <= limit, "%s: not within %d s" % (what, limit // S)
        sleep(every)
    return now() - began


class Agent:
    """lldpad in a namespace, with directories of its own."""

    def __init__(self, netns, device, log):
        self.netns, self.device = netns, device
        with open(log, "a") as out:
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", netns, "sh", "-c",
                 "mkdir -p /dev/shm; for d in /var/lib /dev/shm; do "
                 "mount -t tmpfs tmpfs $d || exit; done; mkdir /var/lib/lldpad; exec lldpad -p -t -V 4"],
                stdout=out, stderr=subprocess.STDOUT)
        wait("lldpad", lambda: not self._tool("-l -i %s adminStatus" % device).returncode, 9 * S)

    def _tool(self, words):
        return sh("ip netns exec %s lldptool %s" % (self.netns, words), check=False)

    def set(self, *words):
        for w in words:
            r = self._tool(w if w.startswith("-") else "-T -i %s -V %s" % (self.device, w))
            assert not r.returncode, "%s: %s" % (w, r.stdout + r.stderr)

    def speak(self):
        self.set("-L -i %s adminStatus=rxtx" % self.device)

    def die(self):
        """Kill it, so that it does not tell its neighbour."""
        self.process.kill()
        self.process.wait()


class Informer:
    """lldpd in a namespace, which has no DCBX but tells what it hears of neighbours. It sends
    frames only if it should speak."""

    def __init__(self, netns, device, log, speak=False):
        self.netns, self.socket = netns, "/run/lldpd-%s.socket" % netns
        with open(log, "a") as out:
            # where it is confined to; /run is a tmpfs
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", netns, "sh", "-c", "mkdir -p /run/lldpd && exec lldpd -d -I %s "
                 "-u %s -O /dev/null%s" % (device, self.socket, "" if speak else " -r")], stdout=out, stderr=subprocess.STDOUT)
        wait("lldpd", lambda: not self._ask("show configuration").returncode, 9 * S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def _ask(self, words):
        return sh("ip netns exec %s lldpcli -u %s -f json0 %s" % (self.netns, self.socket, words),
                  check=False)

    def heard(self):
        """What neighbours say that it does not understand: by their MAC, hex by subtype."""
        shown = json.loads(self._ask("show neighbors details").stdout)
        return {n["chassis"][0]["id"][0]["value"]:
                {int(t["subtype"]): t["value"].replace(",", "").lower()
                 for t in n["unknown-tlvs"][0]["unknown-tlv"]}
                for entry in shown["lldp"] for n in entry.get("interface", [])}
