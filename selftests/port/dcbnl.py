# SPDX-License-Identifier: GPL-2.0
"""DCB netlink itself, for what dcb(8) hides: that of iproute2 6.1 says nothing when the
kernel refuses ETS, PFC, rates and buffers, takes kbit/s for byte/s, and knows no trust.
"""

import collections
import socket
import struct

from wire import in_netns

RTM_GETDCB, RTM_SETDCB = 78, 79
CEE_SET_APP, IEEE_SET, IEEE_GET = 19, 20, 21
IFNAME, CEE_APP, IEEE = 1, 12, 13
ETS, PFC, APPS, MAXRATE, BUFFER, TRUST, REWRITE = 1, 2, 3, 7, 10, 11, 12
APP, DCB_APP = 1, 2     # attributes of IEEE's table: for IEEE's selectors, and for others
DSCP, PCP = 5, 255      # selectors
GROUP = 23      # multicast group for changes
NESTED = 0x8000

# struct ieee_ets, ieee_pfc, ieee_maxrate, dcbnl_buffer
FIELDS = {
    ETS: ("=BBB8s8s8s8s8s8s8s", "willing cap cbs tx_bw rx_bw tsa prio_tc reco_bw reco_tsa reco_tc"),
    PFC: ("=BBBxHxx8Q8Q", "cap enabled mbc delay counters"),
    MAXRATE: ("=8Q", "rates"),
    BUFFER: ("=8s8II", "prio2buffer sizes total"),
}


def attribute(kind, data):
    head = struct.pack("=HH", len(data) + 4, kind)
    return head + data + bytes(-len(data) % 4)


def attributes(data):
    out = []
    while data:
        length, kind = struct.unpack_from("=HH", data)
        out.append((kind & ~NESTED, data[4:length]))
        data = data[(length + 3) & ~3:]
    return out


Event = collections.namedtuple("Event", "pfc app")


class Listener:
    """Listens to changes in a namespace: the priorities with PFC, and the DSCPs' entries."""

    def __init__(self, netns):
        with in_netns(netns):
            self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
        self.s.bind((0, 1 << GROUP - 1))
        self.s.setblocking(False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()

    def take(self):
        out = []
        while True:
            try:
                message = self.s.recv(65536)
            except BlockingIOError:
                return out
            ieee = dict(attributes(dict(attributes(message[20:]))[IEEE]))
            entries = [struct.unpack("=BBH", e) for _, e in attributes(ieee[APPS])]
            out.append(Event(ieee[PFC][1], [(dscp, prio) for selector, prio, dscp in entries
                                            if selector == DSCP]))


class Dcbnl:
    """DCB netlink for a device in a namespace."""

    def __init__(self, netns, device):
        self.device = attribute(IFNAME, device.encode() + b"\0")
        with in_netns(netns):
            self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()

    def _ask(self, kind, cmd, data=b""):
        body = struct.pack("=BBH", 0, cmd, 0) + self.device + data
        self.s.send(struct.pack("=IHHII", 16 + len(body), kind, 1, 1, 0) + body)
        answer = self.s.recv(65536)
        length, got, _, _, _ = struct.unpack_from("=IHHII", answer)
        if got == 2:
            raise OSError(-struct.unpack_from("=i", answer, 16)[0], "refused as a whole")
        return dict(attributes(answer[20:length]))

    def get(self, kind):
        """Return the bytes of the structure."""
        return dict(attributes(self._ask(RTM_GETDCB, IEEE_GET)[IEEE]))[kind]

    def set(self, kind, data):
        """Return the error's number, or 0."""
        answer = self._ask(RTM_SETDCB, IEEE_SET, attribute(IEEE | NESTED, attribute(kind, data)))
        code, = struct.unpack("b", answer[IEEE])
        return -code

    def change(self, kind, **fields):
        """Like set(), but change only these fields."""
        form, names = FIELDS[kind]
        values = list(struct.unpack(form, self.get(kind)))
        names = names.split()
        for name, value in fields.items():
            at = names.index(name)
            if isinstance(value, (list, tuple)):
                values[at:at + len(value)] = value
            else:
                values[at] = value
        return self.set(kind, struct.pack(form, *values))

    def trust(self, *selectors):
        return self.set(TRUST | NESTED, b"".join(
            attribute(DCB_APP if s == PCP else APP, bytes((s,))) for s in selectors))

    def trusted(self):
        return [v[0] for _, v in attributes(self.get(TRUST))]

    def app(self, dscp, prio):
        """Add an entry. Return the error's number, or 0."""
        return self.set(APPS | NESTED, attribute(APP, struct.pack("=BBH", DSCP, prio, dscp)))

    def pcp_app(self, pcp, prio):
        return self.set(APPS | NESTED, attribute(DCB_APP, struct.pack("=BBH", PCP, prio, pcp)))

    def rewrite(self, dscp, prio):
        """Ask for this DSCP in packets of the priority."""
        return self.set(REWRITE | NESTED, attribute(APP, struct.pack("=BBH", DSCP, prio, dscp)))

    def pcp_apps(self):
        """Entries for PCPs that are shown, as pairs with the priority."""
        entries = [struct.unpack("=BBH", e) for kind, e in attributes(self.get(APPS))
                   if kind == DCB_APP]
        return sorted((pcp, prio) for selector, prio, pcp in entries if selector == PCP)

    def cee_app(self, ethertype, prios):
        """The same by CEE."""
        try:
            self._ask(RTM_SETDCB, CEE_SET_APP, attribute(CEE_APP | NESTED, b"".join((
                attribute(1, b"\0"), attribute(2, struct.pack("=H", ethertype)),
                attribute(3, bytes((prios,)))))))
        except OSError as e:
            return e.errno
        return 0
