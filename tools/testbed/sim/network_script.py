# SPDX-License-Identifier: GPL-2.0
"""The script that builds a run's hosts, links and switches inside the simulator.

A host hN is a network namespace with eth0 and the rxe device rxe_hN. A switch sN is a namespace
with a bridge. Their ports are those of dcbport.py or of tc.py.
"""

from . import dcbport, tc
from .model import MTU
from .tc import CNP_TOS, batch
from .uml import PYTHON

KINDS = {"dcbport": dcbport, "tc": tc}  # of ports
MANY = 100          # hosts; with more, sysfs of each shows no devices of others, which take 0.7 MB
SHORTEST_TICK = 100     # us between reads of all counters, which take real time


def _kind(switch):
    return KINDS[switch.port]


def switch_port(name):
    """The name of the switch's end of a host's link: that of the host."""
    return name


def _mac_to_neighbours(run, host):
    return ["neigh add %s lladdr %s dev eth0 nud permanent" % (h.address, h.mac)
            for h in run.hosts.values() if h is not host]


def changes(run, binaries):
    """The input of changes.py: ns after t0, and a command."""
    out = []
    for c in run.changes:
        ends = c.cable or ((run.hosts[c.host].switch, switch_port(c.host)), (c.host, "eth0"))
        kind = _kind(run.switches[ends[0][0]])
        for netns, device in ends:
            out.append("%d %s" % (c.at, kind.change(netns, device, c.rate, binaries) if c.rate else
                                  "ip -n %s link set %s down" % (netns, device)))
    return "\n".join(out)


def ports(run):
    """Queues that data passes: the switch and device of ports to receivers and to trunks."""
    receivers = {f.dst for f in run.flows + run.streams}
    out = [(h.switch, switch_port(h.name)) for h in run.hosts.values() if h.name in receivers]
    for t in run.trunks:
        out += [end for cable in t.ports() for end in cable]
    return out


def _late_cnps(host):
    """Commands that delay a host's CNPs, as a slow NIC does, with netem on a second device."""
    if not host.cnp_delay:
        return []
    return [batch("ip", host.name, ["link add ifb0 type ifb", "link set ifb0 up"]),
            batch("tc", host.name, [
                "qdisc add dev ifb0 root netem limit 1000000 delay %.3fus" %
                (host.cnp_delay / 1000),
                "qdisc add dev eth0 clsact",
                "filter add dev eth0 egress protocol ip prio 1 u32 match ip tos %#x 0xfc "
                "action mirred egress redirect dev ifb0" % CNP_TOS])]


def _host(run, host, binaries):
    name, port = host.name, switch_port(host.name)
    switch = run.switches[host.switch]
    kind = _kind(switch)
    lines = ["ip netns add %s" % name,
             "ip link add eth0 address %s mtu %d netns %s type veth peer name %s netns %s" %
             (host.mac, MTU, name, port, host.switch),
             batch("ip", name, ["link set lo up", "link set eth0 up",
                                "addr add %s/16 dev eth0" % host.address] +
                   _mac_to_neighbours(run, host)),
             batch("ip", host.switch, ["link set %s mtu %d master br0 up" % (port, MTU)]),
             *kind.host(host, switch, binaries),
             *kind.port(port, host.link, switch, binaries),
             *_late_cnps(host),
             "ip netns exec %s rdma link add %s type %s netdev eth0" %
             (name, host.dev, run.device)]
    return lines


def _settings(run, host):
    """The scenario's settings, and the line rate: a veth claims 10 Gb/s."""
    told = {"roce_rp/rpg_max_rate": host.link.rate // 10**6} if run.line == "told" else {}
    settings = {**told, **host.settings}
    lines = ["echo %s >%s" % (value, key) for key, value in settings.items()]
    if host.profile == "off":
        lines.append("for f in roce_*/enable/*; do echo 0 >$f; done")
    return "ip netns exec %s sh -e <<'END'\ncd /sys/class/net/eth0/ecn\n%s\nEND" % (
        host.name, "\n".join(lines))


def _ring(run, trunk):
    """Turn off flooding and learning in a ring, where broadcasts would circulate, and bridges would
    learn source addresses on the wrong port."""
    if run.shape != "ring":
        return []
    a, b = trunk.ends
    return ["bridge -n %s link set dev to_%s learning off flood off mcast_flood off "
            "bcast_flood off" % (here, there) for here, there in ((a, b), (b, a))]


def _ways(run):
    """Forwarding entries for hosts on switches with dcbport, where a flooded packet would be
    charged for each port."""
    out = []
    for switch in run.switches.values():
        if switch.port != "dcbport":
            continue
        lines = []
        for h in run.hosts.values():
            port = (switch_port(h.name) if h.switch == switch.name else
                    "to_%s" % run.next_switch(switch.name, h.switch))
            lines.append("fdb replace %s dev %s master static" % (h.mac, port))
        out.append(batch("bridge", switch.name, lines))
    return out


def _trunk(run, trunk, binaries):
    (a, b), lines = trunk.ends, []
    both = (a, b), (b, a)
    if trunk.cables > 1:
        lines += ["ip -n %s link add to_%s mtu %d type bond mode balance-xor "
                  "xmit_hash_policy layer3+4" % (here, there, MTU) for here, there in both]
    for (_, at_a), (_, at_b) in trunk.ports():
        lines.append("ip link add %s netns %s mtu %d type veth peer name %s netns %s" %
                     (at_a, a, MTU, at_b, b))
        if trunk.cables > 1:
            lines += ["ip -n %s link set %s master to_%s" % (a, at_a, b),
                      "ip -n %s link set %s master to_%s" % (b, at_b, a)]
    for here, there in both:
        lines.append(batch("ip", here, ["link set to_%s mtu %d master br0 up" % (there, MTU)]))
    for here, device in (end for cable in trunk.ports() for end in cable):
        lines += _kind(run.switches[here]).port(device, trunk.link, run.switches[here], binaries)
    lines += _ring(run, trunk)
    # The first end came up without the other. The kernel may take 1 s to tell the bridge
    # that both are up.
    for here, there in both:
        lines.append("until bridge -n %s link show dev to_%s | grep -q forwarding; do "
                     "sleep 0.01; done" % (here, there))
    return lines


def progress_interval(run):
    """us between records of progress; at least 5, because traffic may continue for 200 ms after a
    short run, and is recorded to the end."""
    return max(run.duration // 500_000, 5)


def flows(run):
    """The input of traffic.c."""
    out = []
    for f in run.flows:
        src, dst = run.hosts[f.src], run.hosts[f.dst]
        out.append(" ".join("%s=%s" % kv for kv in (
            ("id", f.id), ("verb", f.verb), ("transport", f.transport),
            ("src_netns", src.name), ("src_dev", src.dev), ("src_addr", src.address),
            ("dst_netns", dst.name), ("dst_dev", dst.dev), ("dst_addr", dst.address),
            ("size", f.size), ("depth", f.depth), ("mtu", f.mtu), ("timeout", f.timeout),
            ("tclass", f.tclass), ("start_us", f.start // 1000), ("stop_us", f.stop // 1000),
            ("count", f.count), *[("scheduled", 1)] * f.scheduled, *(("after", n) for n in f.after))))
    return "\n".join(out) + "\n"


def kept(commands):
    """Run these commands in a directory in memory, and copy what they leave there to /mnt."""
    return """echo 1000000 >/proc/sys/net/core/netdev_max_backlog
mkdir /run/out
cd /run/out
%s
cp -r /run/out/. /mnt/""" % commands


def streams(run, binaries):
    """Shell commands that send TCP, in the background."""
    out = []
    for n, s in enumerate(run.streams):
        if s.ecn:
            out.append("ip netns exec %s sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_ecn'" % s.src)
        out.append("%s/stream %s %s %s %d >tcp.%d &\nstreams=\"$streams $!\"" %
                   (binaries, s.src, s.dst, run.hosts[s.dst].address,
                    max(run.duration // 1000_000, 10), n))
    return "\n".join(out)


# in this order, so that no traffic is missed
MEASURE = """
streams=
%(streams)s
samplers=
%(samplers)s
%(python)scounters.py %(tick_us)d >counters.csv &
counters=$!
frames=
%(frames)s
%(changes)s
%(storms)s
mkfifo said
(%(bin)s/traffic -w %(begin_us)d,%(end_us)d -i %(progress_us)d %(schedule)s/mnt/flows . >said ||
	echo "SIM-FAILED traffic: $?") &
# It ends when its queue pairs have, and these when their packets have left their host. So wait for
# its second line, without a look now and then: a process reads the clock when it begins, which
# takes a microsecond each time, and timers are late by that.
{ read -r t0 && read -r done; } <said || :
rm said
kill $samplers $streams
# CNPs in flight arrive, and the counters are read once more, but not before: a
# look takes more of our time than a millisecond of traffic
kill -STOP $counters
sleep 0.3
kill $counters $frames
kill -CONT $counters
%(record)s
%(release)s
wait"""


def script(run, binaries):
    """The shell script for the simulator."""
    # Namespaces inherit that no device gets an address of IPv6. All begin in the same jiffy, and
    # what they flood about these addresses would fill the buffers of switches.
    lines = ["echo 1 >/proc/sys/net/core/devconf_inherit_init_net",
             "echo 1 >/proc/sys/net/ipv6/conf/default/addr_gen_mode"]
    if len(run.hosts) > MANY:
        lines.append("rdma system set netns exclusive")
    if run.tcp_control:     # namespaces inherit it
        lines.append("echo %s >/proc/sys/net/ipv4/tcp_congestion_control" % run.tcp_control)
    for switch in run.switches.values():
        lines.append("ip netns add %s" % switch.name)
        lines.append(batch("ip", switch.name,
                            ["link set lo up",
                             "link add name br0 mtu %d type bridge stp_state 0 "
                             "mcast_snooping 0" % MTU,
                             "link set br0 up"]))
        lines += _kind(switch).switch(switch, binaries)
    for host in run.hosts.values():
        lines += _host(run, host, binaries)
    for trunk in run.trunks:
        lines += _trunk(run, trunk, binaries)
    lines += _ways(run)
    if run.profile != "stock":
        lines += [_settings(run, host) for host in run.hosts.values()]
    samplers = []
    for switch, port in ports(run):
        samplers.append("ip netns exec %s %s/qsample %s %s %d >queue.%s.%s &\n"
                        "samplers=\"$samplers $!\"" %
                        (switch, binaries, port, _kind(run.switches[switch]).QUEUE,
                         run.sample // 1000, switch, port))
    if run.profile != "stock":
        for name in sorted({f.src for f in run.flows}):
            samplers.append("ip netns exec %s %s/dcqcn record -i %dus -o qps.%s &\n"
                            "samplers=\"$samplers $!\"" %
                            (name, binaries, run.record // 1000, name))
    changing = changes(run, binaries)
    values = {
        "changes": changing and "%schanges.py <<END &\n%s\nEND" % (PYTHON, changing),
        "record": "\n".join(dcbport.record(run, binaries)),
        "release": "\n".join(dcbport.release(run, binaries)),
        "frames": dcbport.listen(run), "storms": dcbport.storms(run),
        "python": PYTHON, "bin": binaries,
        "samplers": "\n".join(samplers), "streams": streams(run, binaries),
        "tick_us": max(run.duration // 50000, SHORTEST_TICK),
        "begin_us": run.window[0] // 1000, "end_us": run.window[1] // 1000,
        "progress_us": progress_interval(run),
        "schedule": "-m /mnt/schedule " if run.workload.tables else "",
    }
    return kept("\n".join([*lines, MEASURE % values]))
