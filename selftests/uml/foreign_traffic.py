# SPDX-License-Identifier: GPL-2.0
"""Runs inside the debug kernel: sends traffic other than RoCE through network namespaces with
rxe while the module is loaded and unloaded and ports are added and deleted. TAP.

usage: foreign_traffic.py MODULE BIN SEED SECONDS

h1, h2 and h3 have rxe, the others do not. h3 forwards between h1 and h4, and between h4 and
h5. Each stream compares the data it receives with the data it sent.
"""

import ctypes
import errno
import mmap
import os
import random
import socket
import struct
import sys
import threading
import time

from commands import HANG, Wrong, blocked_tasks, enter, inside, read, run, start, stop, write
from testbed.core.tap import Tap, comment

HOSTS = ("h1", "h2", "h3", "h4", "h5", "h6")
PORTS = ("h1", "h2", "h3")      # those with rxe
TIMEOUT = 60                    # s without an answer: the stream is broken, even on a debug kernel
ROCE = 4791
SO_ATTACH_FILTER = 26
SYN, ACK = 0x02, 0x10           # flags of TCP
NVMET = "/sys/kernel/config/nvmet"
DISK = 8 << 20                  # bytes


class Stream(threading.Thread):
    """Works in a network namespace until it is stopped. Then .error says what went wrong, and
    .count is the number of successful exchanges."""

    rest = 0.02     # s, the longest pause between exchanges

    def __init__(self, name, host, seed):
        super().__init__(daemon=True)
        self.what, self.host = name, host
        self.random = random.Random(seed)
        self.ended = threading.Event()
        self.error, self.count = None, 0

    def run(self):
        try:
            enter("/run/netns/" + self.host)
            self.open()
            while not self.ended.is_set():
                self.once()
                self.count += 1
                self.ended.wait(self.random.random() * self.rest)
        except Exception as e:      # a thread that dies would look like one that was stopped
            self.error = "%s: %s" % (type(e).__name__, e)

    def open(self):
        pass

    def compare(self, sent, got):
        if sent != got:
            raise Wrong("sent %d bytes, received %d different ones" % (len(sent), len(got)))


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def receive(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            raise Wrong("the connection ended after %d of %d bytes" % (len(data), n))
        data += more
    return data


class Echo(threading.Thread):
    """Echoes TCP connections or datagrams sent to one address. If a request's first byte is
    "c" the server closes the connection afterwards; if it is "r", the server resets it."""

    def __init__(self, host, address, port, kind=socket.SOCK_STREAM):
        super().__init__(daemon=True)
        with inside(host):
            self.socket = socket.socket(family(address), kind)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.settimeout(None)
        self.socket.bind((address, port))
        if kind == socket.SOCK_STREAM:
            self.socket.listen(64)
        else:
            self.run = self.datagrams
        self.start()

    def run(self):
        while True:
            s, _ = self.socket.accept()
            s.settimeout(None)
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        try:
            while True:
                header = s.recv(5, socket.MSG_WAITALL)
                if len(header) < 5:
                    break
                s.sendall(receive(s, struct.unpack("=xI", header)[0]))
                if header[0:1] == b"r":
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                if header[0:1] in b"cr":
                    break
        except (OSError, Wrong):
            pass                    # the client reports it
        s.close()

    def datagrams(self):
        while True:
            data, peer = self.socket.recvfrom(4096)
            self.socket.sendto(data, peer)


def ask(s, data, kind=b"k"):
    s.sendall(kind + struct.pack("=I", len(data)) + data)
    return receive(s, len(data))


def checksum(data):
    total = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return struct.pack(">H", ~total & 0xffff)


def tcp_segment(source, target, flags):
    """A TCP segment without data; source and target are (address, port)."""
    segment = struct.pack(">HHIIBBHHH", source[1], target[1], 1, 1, 5 << 4, flags, 1000, 0, 0)
    pseudo = socket.inet_aton(source[0]) + socket.inet_aton(target[0]) + \
        struct.pack(">BBH", 0, 6, len(segment))
    return segment[:16] + checksum(pseudo + segment) + segment[18:]


class Connection(Stream):
    """One long-lived TCP connection."""

    def __init__(self, name, host, seed, server, address, port):
        super().__init__(name, host, seed)
        self.echo, self.address = Echo(server, address, port), (address, port)

    def open(self):
        self.socket = socket.create_connection(self.address, TIMEOUT)

    def once(self):
        data = self.random.randbytes(self.random.randrange(1, 30000))
        self.compare(data, ask(self.socket, data))


class Connections(Stream):
    """Opens one TCP connection after the other. They end in every way: closed by either side,
    reset by either side, refused. Sends an old segment to connections in TIME-WAIT."""

    rest = 0.002

    def __init__(self, name, host, seed, server, address, port):
        super().__init__(name, host, seed)
        self.echo, self.address = Echo(server, address, port), (address, port)
        self.seen = dict.fromkeys(("closed", "reset", "refused", "time-wait answers"), 0)

    def open(self):
        if ":" not in self.address[0]:
            self.raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)

    def once(self):
        end = self.random.choice(b"kcrKR")
        with socket.create_connection(self.address, TIMEOUT) as s:
            here = s.getsockname()
            data = self.random.randbytes(self.random.randrange(1, 3000))
            self.compare(data, ask(s, data, bytes([end]).lower() if end != ord("R") else b"k"))
            if end == ord("R"):
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if end in b"cr":
                self.expect_end(s, end == ord("r"))
        self.seen["closed" if end in b"kKc" else "reset"] += 1
        if end == ord("c") and ":" not in self.address[0]:
            self.old_segment(here)
        try:
            socket.create_connection((self.address[0], 9), TIMEOUT).close()
            raise Wrong("port 9 answers without a listener")
        except ConnectionRefusedError:
            self.seen["refused"] += 1

    def expect_end(self, s, reset):
        try:
            if s.recv(1):
                raise Wrong("received more than was sent")
        except ConnectionResetError:
            if not reset:
                raise

    def old_segment(self, here):
        """Send a segment that the server answers from its TIME-WAIT socket."""
        segment = tcp_segment(here, self.address, ACK)
        with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP) as raw:
            raw.settimeout(0.2)
            raw.sendto(segment, (self.address[0], 0))
            try:
                while True:
                    p = raw.recv(200)
                    t = p[(p[0] & 15) * 4:]
                    if struct.unpack(">HH", t[:4]) == (self.address[1], here[1]) and t[13] == ACK:
                        self.seen["time-wait answers"] += 1
                        return
            except TimeoutError:
                pass


class Syns(Stream):
    """Sends SYNs from closed ports: the server sends a SYN-ACK, and this host a RST. Lost SYNs,
    such as those that waited for a neighbour entry when it was flushed, are sent again."""

    rest = 0.02

    def __init__(self, name, host, seed, here, servers, port):
        super().__init__(name, host, seed)
        self.here, self.targets = here, [(address, port) for address in servers.values()]
        self.listeners = [Echo(server, address, port) for server, address in servers.items()]

    def open(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
        self.socket.settimeout(1)

    def once(self):
        for _ in range(TIMEOUT):
            self.send()
            if self.answered():
                return
        raise Wrong("no answer to SYNs, sent %d times" % TIMEOUT)

    def send(self):
        for _ in range(5):
            for target in self.targets:
                source = self.here, self.random.randrange(10000, 20000)
                self.socket.sendto(tcp_segment(source, target, SYN), (target[0], 0))

    def answered(self):
        try:
            while True:
                p = self.socket.recv(200)
                if p[(p[0] & 15) * 4 + 13] == SYN | ACK:
                    return True
        except TimeoutError:
            return False


class Datagrams(Stream):
    """UDP to port 4791 of a host without rxe, or to a multicast group. Lost datagrams are sent
    again."""

    def __init__(self, name, host, seed, server, address, group=None):
        super().__init__(name, host, seed)
        self.lost, self.group = 0, group
        self.address = (group or address, 5999 if group else ROCE)
        self.echo = Echo(server, self.address[0], self.address[1], socket.SOCK_DGRAM)
        if group:
            self.join_group(server, self.echo.socket)

    def join_group(self, server, s):
        with inside(server):
            index = socket.if_nametoindex("eth0")
        if ":" in self.group:
            s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                         socket.inet_pton(socket.AF_INET6, self.group) + struct.pack("=I", index))
        else:
            s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                         socket.inet_aton(self.group) + struct.pack("=4xI", index))

    def open(self):
        self.socket = socket.socket(family(self.address[0]), socket.SOCK_DGRAM)
        index = socket.if_nametoindex("eth0")
        if self.group and ":" in self.group:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        elif self.group:
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                                   struct.pack("=4x4xI", index))
        self.socket.settimeout(1)

    def once(self):
        data = self.random.randbytes(self.random.randrange(8, 1200))
        for _ in range(TIMEOUT):
            self.socket.sendto(data, self.address)
            try:
                while True:
                    got = self.socket.recv(4096)
                    if got[:8] == data[:8]:     # not the answer to an earlier datagram
                        self.compare(data, got)
                        return
            except TimeoutError:
                self.lost += 1
        raise Wrong("no answer to %d datagrams" % TIMEOUT)


class Joined(Stream):
    """Bursts of datagrams to port 4791 of a host with rxe, which rx-gro-list joins there: their
    headers pass for requests with CE, and end before the longest header of RoCEv2 does. rxe drops
    them. An exchange is a burst that the host's device received as one packet."""

    BURST = 4
    CE = 3
    HEADERS = 20 + 8            # of IPv4 and UDP
    WRITE_ONLY = 0x0a           # opcode of RC
    UDP_SEGMENT = 103

    def __init__(self, name, host, seed, server, address):
        super().__init__(name, host, seed)
        self.address = (address, ROCE)
        # A burst is one packet until it leaves eth0, so that its datagrams come at once
        run("ip netns exec %s ethtool -K eth0 tx-udp-segmentation off" % host)
        # ns. ip mounts a sysfs that shows the namespace's devices.
        run("ip netns exec %s sh -c 'echo 10000000 >/sys/class/net/eth0/gro_flush_timeout'" % server)
        with inside(server):
            run("ethtool -K eth0 gro on rx-gro-list on")
            self.tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.server = server
        self.tap.settimeout(1)

    def open(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, self.CE)
        self.socket.bind(("", 0))
        with inside(self.server):
            self.tap.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, self.filter())
            self.tap.bind(("eth0", 0x0800))

    def filter(self):
        """Accept only UDP from our port, as the device receives much else."""
        port = self.socket.getsockname()[1]
        code = [(0x30, 0, 0, 9), (0x15, 0, 3, socket.IPPROTO_UDP),      # ldb [9]; jeq
                (0x28, 0, 0, 20), (0x15, 0, 1, port),                   # ldh [20]; jeq
                (0x06, 0, 0, 65535), (0x06, 0, 0, 0)]                   # ret
        self.code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *c) for c in code))
        return struct.pack("@HP", len(code), ctypes.addressof(self.code))

    def once(self):
        size = self.random.randrange(12, 28)
        self.socket.setsockopt(socket.IPPROTO_UDP, self.UDP_SEGMENT, size)
        data = struct.pack(">BBHIxxxx", self.WRITE_ONLY, 0, 0xffff, self.random.randrange(17, 99))
        data += self.random.randbytes(size - len(data))
        for _ in range(TIMEOUT):
            self.socket.sendto(data * self.BURST, self.address)
            if self.joined(size):
                return
        raise Wrong("%d bursts were not joined" % TIMEOUT)

    def joined(self, size):
        """Whether the burst comes as one packet; as several, or lost with its neighbour entry,
        it is sent again."""
        try:
            return len(self.tap.recv(4096)) == self.HEADERS + self.BURST * size
        except TimeoutError:
            return False


class Pings(Stream):
    """ICMP echo, flushing the neighbour entry each time."""

    def __init__(self, name, host, seed, address):
        super().__init__(name, host, seed)
        self.address, self.lost, self.sequence = address, 0, 0

    def open(self):
        self.v6 = ":" in self.address
        protocol = socket.getprotobyname("ipv6-icmp") if self.v6 else socket.IPPROTO_ICMP
        self.socket = socket.socket(family(self.address), socket.SOCK_RAW, protocol)
        self.socket.settimeout(1)

    def once(self):
        run("ip -n %s neigh flush to %s" % (self.host, self.address), may_fail=True)
        for _ in range(TIMEOUT):
            if self.echoed():
                return
            self.lost += 1
        raise Wrong("no answer to %d requests" % TIMEOUT)

    def echoed(self):
        self.sequence = self.sequence + 1 & 0xffff
        data = self.random.randbytes(64)
        packet = struct.pack(">BBHHH", 128 if self.v6 else 8, 0, 0, id(self) & 0xffff,
                             self.sequence) + data
        if not self.v6:
            packet = packet[:2] + checksum(packet) + packet[4:]
        self.socket.sendto(packet, (self.address, 0))
        try:
            while True:
                got = self.socket.recv(4096)
                if not self.v6:
                    got = got[(got[0] & 15) * 4:]
                if got[0] == (129 if self.v6 else 0) and got[4:8] == packet[4:8]:
                    self.compare(data, got[8:])
                    return True
        except TimeoutError:
            return False


class Disk(Stream):
    """NVMe over TCP, with kernel sockets at both ends."""

    def __init__(self, name, host, seed, server, address):
        super().__init__(name, host, seed)
        self.target(server, address)
        self.address = address

    def target(self, server, address):
        with open("/run/disk", "wb") as f:
            f.truncate(DISK)
        if not os.path.exists(NVMET):
            run("mount -t configfs configfs /sys/kernel/config")
        subsystem, port = NVMET + "/subsystems/t", NVMET + "/ports/1"
        os.makedirs(subsystem + "/namespaces/1")
        os.mkdir(port)
        for path, value in ((subsystem + "/attr_allow_any_host", "1"),
                            (subsystem + "/namespaces/1/device_path", "/run/disk"),
                            (subsystem + "/namespaces/1/buffered_io", "1"),
                            (subsystem + "/namespaces/1/enable", "1"),
                            (port + "/addr_trtype", "tcp"), (port + "/addr_adrfam", "ipv4"),
                            (port + "/addr_traddr", address), (port + "/addr_trsvcid", "4420")):
            if not write(path, value):
                raise Wrong("%s does not take %s" % (path, value))
        with inside(server):
            os.symlink(subsystem, port + "/subsystems/t")

    def open(self):
        with open("/dev/nvme-fabrics", "r+b", buffering=0) as f:
            f.write(("transport=tcp,traddr=%s,trsvcid=4420,nqn=t,nr_io_queues=1,"
                     "keep_alive_tmo=600,ctrl_loss_tmo=0,hostnqn=nqn.2014-08.org.nvmexpress:uuid:"
                     "11111111-2222-3333-4444-555555555555,"
                     "hostid=11111111-2222-3333-4444-555555555555" % self.address).encode())
        # The node is there a moment before the disk is
        deadline = time.monotonic() + TIMEOUT
        while True:
            try:
                self.disk = os.open("/dev/nvme0n1", os.O_RDWR | os.O_DIRECT)
                break
            except OSError as e:
                if e.errno not in (errno.ENOENT, errno.ENXIO) or time.monotonic() > deadline:
                    raise Wrong("/dev/nvme0n1 does not open: %s" % e)
            time.sleep(0.05)
        self.buffer = mmap.mmap(-1, 1 << 16)    # O_DIRECT needs whole pages

    def once(self):
        size = self.random.randrange(1, 17) * 4096
        at = self.random.randrange((DISK - size) // 4096) * 4096
        data = self.random.randbytes(size)
        self.buffer[:size] = data
        view = memoryview(self.buffer)[:size]
        os.pwritev(self.disk, [view], at)
        self.buffer[:size] = bytes(size)
        os.preadv(self.disk, [view], at)
        self.compare(data, self.buffer[:size])


ROUTES = """ip -n h1 addr add 10.1.0.1/32 dev lo
ip -n h4 addr add 10.4.0.4/32 dev lo
ip -n h5 addr add 10.5.0.5/32 dev lo
ip -n h1 route add 10.4.0.4 via 10.0.0.3 src 10.1.0.1
ip -n h4 route add 10.1.0.1 via 10.0.0.3 src 10.4.0.4
ip -n h4 route add 10.5.0.5 via 10.0.0.3 src 10.4.0.4
ip -n h5 route add 10.4.0.4 via 10.0.0.3 src 10.5.0.5
ip -n h3 route add 10.1.0.1 via 10.0.0.1
ip -n h3 route add 10.4.0.4 via 10.0.0.4
ip -n h3 route add 10.5.0.5 via 10.0.0.5"""

TUNNELS = """ip -n h1 link add vx0 type vxlan id 7 remote 10.2.0.2 dstport 4789
ip -n h2 link add vx0 type vxlan id 7 remote 10.2.0.1 dstport 4789
ip -n h1 addr add 10.7.0.1/24 dev vx0
ip -n h2 addr add 10.7.0.2/24 dev vx0
ip -n h1 link set vx0 up
ip -n h2 link set vx0 up
ip -n h4 link add vx1 type vxlan id 8 local 10.4.0.4 remote 10.5.0.5 dstport 4791
ip -n h5 link add vx1 type vxlan id 8 local 10.5.0.5 remote 10.4.0.4 dstport 4791
ip -n h4 addr add 10.8.0.4/24 dev vx1
ip -n h5 addr add 10.8.0.5/24 dev vx1
ip -n h4 link set vx1 up
ip -n h5 link set vx1 up"""


def set_up():
    for host in HOSTS:
        n = host[1]
        run("ip -n %s addr add 10.2.0.%s/24 dev eth0" % (host, n))
        run("ip -n %s addr add fd02::%s/64 dev eth0 nodad" % (host, n))
        with inside(host):
            for name, value in (("tcp_syncookies", 2), ("ip_forward", int(host == "h3")),
                                ("conf/eth0/send_redirects", 0), ("conf/all/send_redirects", 0)):
                if not write("/proc/sys/net/ipv4/" + name, value):
                    raise Wrong("no sysctl net.ipv4.%s" % name)
    for line in (ROUTES + "\n" + TUNNELS).splitlines():
        run(line)
    l2tp("h1", "10.0.0.1", "10.0.0.6", 5000, ROCE, "10.9.0.1")
    l2tp("h6", "10.0.0.6", "10.0.0.1", ROCE, 5000, "10.9.0.6")


def l2tp(host, here, there, sport, dport, address):
    """Set up a tunnel: a kernel UDP socket with user data, to port 4791."""
    run("ip -n %s l2tp add tunnel tunnel_id 2 peer_tunnel_id 2 encap udp local %s remote %s "
        "udp_sport %d udp_dport %d" % (host, here, there, sport, dport))
    run("ip -n %s l2tp add session name l2 tunnel_id 2 session_id 2 peer_session_id 2" % host)
    run("ip -n %s addr add %s/24 dev l2" % (host, address))
    run("ip -n %s link set l2 up" % host)


def streams(seed):
    return [
        Connection("TCP", "h1", seed, "h2", "10.0.0.2", 7001),
        Connection("TCP the other way, over IPv6", "h2", seed + 1, "h1", "fd02::1", 7002),
        Connection("TCP, forwarded", "h1", seed + 2, "h4", "10.4.0.4", 7003),
        Connection("TCP over vxlan", "h1", seed + 3, "h2", "10.7.0.2", 7004),
        Connection("TCP over vxlan on port 4791, forwarded", "h4", seed + 4, "h5", "10.8.0.5",
                   7005),
        Connection("TCP over L2TP to port 4791", "h1", seed + 5, "h6", "10.9.0.6", 7006),
        Connections("short TCP connections", "h1", seed + 6, "h2", "10.2.0.2", 7007),
        Connections("short TCP connections over IPv6, with SYN cookies", "h4", seed + 7, "h1",
                    "fd02::1", 7008),
        Syns("SYNs", "h4", seed + 14, "10.2.0.4",
             {"h1": "10.2.0.1", "h2": "10.2.0.2", "h3": "10.2.0.3"}, 7009),
        Disk("NVMe over TCP", "h1", seed + 8, "h2", "10.2.0.2"),
        Datagrams("UDP to port 4791", "h2", seed + 9, "h6", "10.2.0.6"),
        Joined("UDP to port 4791, joined by rx-gro-list", "h2", seed + 15, "h1", "10.2.0.1"),
        Datagrams("multicast", "h1", seed + 10, "h2", None, "239.1.2.3"),
        Datagrams("multicast over IPv6", "h2", seed + 11, "h1", None, "ff05::123"),
        Pings("ICMP and ARP", "h1", seed + 12, "10.2.0.2"),
        Pings("ICMP and ND over IPv6", "h2", seed + 13, "fd02::1"),
    ]


class Ports:
    """Loads and unloads the module; adds and deletes rxe ports."""

    def __init__(self, module, seed):
        self.module, self.random = module, random.Random(seed)
        self.ports, self.loaded = set(PORTS), True
        self.loads = self.deletes = 0

    def toggle(self, host):
        with inside(host):
            if host in self.ports:
                run("rdma link del rxe_" + host, seconds=HANG)
                self.ports.remove(host)
                self.deletes += 1
            else:
                run("rdma link add rxe_%s type rxe netdev eth0" % host, seconds=HANG)
                self.ports.add(host)

    def load(self):
        run("insmod " + self.module, seconds=HANG)
        self.loaded = True
        self.loads += 1

    def unload(self):
        run("rmmod rdma_dcqcn", seconds=HANG)
        self.loaded = False

    def change(self):
        r = self.random.randrange(12)
        if r < 8:
            self.unload() if self.loaded else self.load()
        elif r < 11:
            self.toggle(self.random.choice(PORTS))
        else:
            for host in sorted(self.ports):     # including the last one
                self.toggle(host)
        # a listener that sends SYN cookies has no request socket
        with inside(self.random.choice(PORTS)):
            write("/proc/sys/net/ipv4/tcp_syncookies", self.random.choice((1, 1, 2)))
        time.sleep(self.random.random() * 0.1)

    def finish(self):
        for host in PORTS:
            if host not in self.ports:
                self.toggle(host)
        if self.loaded:
            self.unload()


def netstat(host, name):
    with inside(host):
        lines = [line.split() for line in read("/proc/thread-self/net/netstat").splitlines()]
    for names, values in zip(lines[::2], lines[1::2]):
        if name in names:
            return int(values[names.index(name)])
    raise Wrong("no counter %s" % name)


def foreign(ports, running, roce, seconds):
    """Change ports while the streams run; stop them after some seconds."""
    deadline = time.monotonic() + seconds
    while ((time.monotonic() < deadline or ports.loads < 2 or not ports.deletes) and
           all(s.is_alive() for s in running)):
        ports.change()
        if roce.poll() is not None:
            raise Wrong("churn ended early")
    ports.finish()
    for s in running:
        s.ended.set()
    for s in running:
        s.join(2 * TIMEOUT)
        if s.is_alive():
            s.error = "hangs\n" + blocked_tasks()


def report(running, figures):
    """Print TAP for the streams, and for what else had to happen; return whether all passed."""
    results = [(not s.error and s.count > 0, "%s: no stream breaks" % s.what,
                s.error or "%d exchanges" % s.count) for s in running]
    results += [(n > 0, what, n) for what, n in figures]
    tap = Tap()
    for ok, what, why in results:
        tap.result(ok, "foreign: " + what)
        comment(why)
    return not tap.done()


def main():
    module, programs, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    write("/proc/sys/kernel/hung_task_timeout_secs", HANG)
    try:
        set_up()
        ports = Ports(module, seed)
        ports.load()
        # its QPs may see any error: their devices disappear
        roce = start(programs + "/churn", "-s", str(seed), "-q", "2",
                     "rxe_h1", "10.0.0.1", "rxe_h2", "10.0.0.2")
        running = streams(seed)
        for s in running:
            s.start()
        foreign(ports, running, roce, seconds)
        seen = {k: sum(s.seen[k] for s in running if isinstance(s, Connections))
                for k in ("closed", "reset", "refused", "time-wait answers")}
        figures = [("TCP connections were " + k, n) for k, n in seen.items() if k[0] != "t"]
        figures += [("TCP answered for connections in TIME-WAIT", seen["time-wait answers"]),
                    ("TCP sent SYN cookies", sum(netstat(h, "SyncookiesSent") for h in PORTS)),
                    ("the module was reloaded", ports.loads - 1),
                    ("ports were deleted", ports.deletes),
                    ("RoCE traffic continued", stop(roce)["completed"])]
        ok = report(running, figures)
    except Wrong as e:
        print("SIM-FAILED %s" % e, flush=True)
        ok = False
    os._exit(0 if ok else 1)


if __name__ == "__main__":
    main()
