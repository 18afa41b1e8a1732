# SPDX-License-Identifier: GPL-2.0
"""Shows what the lab's LLDP agents heard from their neighbours, and whether both ends agree."""

import json

from ..core.command import clean
from ..core.errors import LabError
from .guest import gather

# lldptool's answer in hexadecimal: its start, and digits before and after the device's name
ANSWER, COMMAND, TLV = "R00C3", 10, 8
PORT_DESCRIPTION, SYSTEM_NAME, SPECIFIC = 4, 5, 127
IEEE = bytes.fromhex("0080c2")
PFC, APP = 11, 12           # subtypes of IEEE's
DSCP = 5                    # selector of an APP entry
ASK = """for d in %s; do
	lldptool -t -n -i $d -R 2>/dev/null | grep ^%s || echo -
	dcqcn -j port show dev $d | tr -d '\\n'; echo
	dcb -j app show dev $d | tr -d '\\n'; echo
done"""


def _tlvs(answer):
    """(type, data) of each TLV in lldptool's answer."""
    if not answer.startswith(ANSWER):
        return
    at = len(ANSWER) + COMMAND
    data = bytes.fromhex(answer[at + 2 + int(answer[at:at + 2], 16) + TLV:])
    at = 0
    while at + 2 <= len(data):
        head = int.from_bytes(data[at:at + 2], "big")
        size = head & 511
        yield head >> 9, data[at + 2:at + 2 + size]
        at += 2 + size


def _priorities(bits):
    return [prio for prio in range(8) if bits & 1 << prio]


def neighbour(answer):
    """The neighbour's name, port and settings; None if there was no frame."""
    out = {"system": None, "port": None, "willing": None, "pfc": None, "dscp": {}}
    heard = False
    for kind, data in _tlvs(answer):
        heard = True
        if kind == SYSTEM_NAME:
            out["system"] = data.decode(errors="replace")
        elif kind == PORT_DESCRIPTION:
            # "Interface   3 as eth0"
            out["port"] = data.decode(errors="replace").rpartition(" ")[2]
        elif kind == SPECIFIC and data[:3] == IEEE and data[3:4] == bytes((PFC,)) and len(data) > 5:
            out["willing"], out["pfc"] = bool(data[4] & 0x80), _priorities(data[5])
        elif kind == SPECIFIC and data[:3] == IEEE and data[3:4] == bytes((APP,)):
            for n in range(5, len(data) - 2, 3):
                if data[n] & 7 == DSCP:
                    out["dscp"][int.from_bytes(data[n + 1:n + 3], "big")] = data[n] >> 5
    return out if heard else None


def _end(name, answer, port, app):
    """One end of a link: its settings, those of its neighbour, and whether both agree."""
    out = {"name": name, "pfc": json.loads(port)[0]["pfc"],
           # iproute2 6.15 has the text's separator as a third member
           "dscp": {e[0]: e[1] for e in json.loads(app).get("dscp_prio", [])},
           "neighbour": neighbour(answer)}
    n = out["neighbour"]
    out["agreed"] = bool(n) and n["pfc"] == out["pfc"] and \
        n["dscp"].items() <= out["dscp"].items()
    return out


def links(lab):
    """Both ends of each link of the running lab."""
    t = lab.network.topology
    if not t.dcbx:
        raise LabError("this lab has no LLDP agents: \"lab up --dcbx\" starts one with them")
    ends = {}           # by guest: [(name, device)]
    for p in t.ports.values():
        ends.setdefault(p.switch, []).append((p.name, p.peer))
    for h in t.hosts:
        ends[h] = [(h, "eth0")]
    answers = gather([(lab.vm(guest), ASK % (" ".join(dev for _, dev in mine), ANSWER))
                      for guest, mine in ends.items()])
    out = []
    for mine, text in zip(ends.values(), answers):
        lines = (text + "\n").split("\n")
        out += [_end(name, *lines[3 * n:3 * n + 3]) for n, (name, _) in enumerate(mine)]
    return out


def _list(priorities):
    return ",".join(map(str, priorities)) or "none"


def _map(dscp):
    return " ".join("%s:%d" % d for d in sorted(dscp.items())) or "-"


def print_links(ends):
    print("%-8s %-6s %-12s %-10s %-6s %-8s %s" %
          ("port", "PFC", "DSCPs", "neighbour", "PFC", "willing", "agreed"))
    for end in ends:
        n = end["neighbour"]
        heard = ("%s %s" % (n["system"] or "?", n["port"] or "?"), "-" if n["pfc"] is None
                 else _list(n["pfc"]), {True: "yes", False: "no"}.get(n["willing"], "-")) \
            if n else ("none", "-", "-")
        print(clean("%-8s %-6s %-12s %-10s %-6s %-8s %s" %
                    (end["name"], _list(end["pfc"]), _map(end["dscp"]), *heard,
                     "yes" if end["agreed"] else "no")))
