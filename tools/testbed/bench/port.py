# SPDX-License-Identifier: GPL-2.0
"""Instructions per packet of a port of dcbport, and of the qdiscs that it replaces: tbf,
prio, RED and bfifo. A guest with a stock kernel counts them: pktgen gives packets to a bridge
as if they came in, and the bridge sends them through the qdiscs or the port.
"""

import os
import re
import shutil

from ..core import sources
from ..core.errors import LabError
from ..core.paths import BENCH, DCBPORT, MODULE_PARTS, TOP
from ..vm.image import DEFAULT
from .icount import Guest

EXTRA = "tools/bench/modules"
PACKETS = 50000
FRAME = 1082        # bytes, as in the middle of a message, MTU 1024
TOS = 0x62          # priority 3, ECT(0)
PRIOS = 8

SETUP = """
modprobe -a pktgen dummy bridge sch_tbf sch_prio sch_red
insmod bin/dcbport.ko
ip link add br0 type bridge stp_state 0 mcast_snooping 0
echo 1 >/proc/sys/net/ipv6/conf/br0/disable_ipv6
ip link set br0 up
for d in in0 out0; do
	ip link add $d mtu 4200 type dummy
	echo 1 >/proc/sys/net/ipv6/conf/$d/disable_ipv6
	ip link set $d master br0 up
done
bridge fdb replace 02:00:00:00:00:02 dev out0 master static
pg() {
	echo "$2" >"/proc/net/pktgen/$1"
}
pg kpktgend_0 rem_device_all
pg kpktgend_0 "add_device in0"
for line in "pkt_size %(frame)d" "clone_skb 0" "xmit_mode netif_receive" "delay 0" \\
		"dst_mac 02:00:00:00:00:02" "src_mac 02:00:00:00:00:01" "dst 10.0.0.2" \\
		"src_min 10.0.0.1" "src_max 10.0.0.1" "udp_dst_min 4791" "udp_dst_max 4791" \\
		"tos %(tos)02x"; do
	pg in0 "$line"
done

sent() {
	cat /sys/class/net/out0/statistics/tx_packets
}

# send NAME: once to warm up, then counted
send() {
	progress "$1"
	pg in0 "count 2000"
	pg pgctrl start
	pg in0 "count %(packets)d"
	before=$(sent)
	pg pgctrl start
	echo "result $1 $(sed -n 's/^Result: OK: \\([0-9]*\\)(.*/\\1/p' /proc/net/pktgen/in0)" \\
		"$(($(sent) - before))"
}

send bare

tc qdisc add dev out0 root handle 1: tbf rate 40gbit burst 60000 limit 10000000
tc qdisc add dev out0 parent 1:1 handle 2: prio
for b in 1 2 3; do
	tc qdisc add dev out0 parent 2:$b handle 2$b: red limit 4000000 min 5000 max 200000 \\
		avpkt 1000 burst 55 probability 0.01 bandwidth 10gbit ecn
	tc qdisc add dev out0 parent 2$b:1 bfifo limit 4000000
done
send stack
tc qdisc del dev out0 root

dcqcn port switch new s
for d in in0 out0; do
	tc qdisc add dev $d root dcbport
	dcqcn port set dev $d switch s pfc 3 xoff 60KB xon 40KB headroom 20KB
done
send port
dcqcn -j port stat dev in0 >charged
dcqcn port set dev out0 prio 3 flows_min 1 flows_max 100
send port_flows
dcqcn port set dev out0 rate 40gbit prio 3 flows_min 0 flows_max 0
send port_rate
cat charged
insmod bin/portsize.ko
echo "size $(cat /sys/module/portsize/parameters/bytes)"
"""

HOSTS = "ip link set lo up\n"


def _build(guest, out):
    bin_dir = os.path.join(guest.share, "bin")
    modules = os.path.join(out, "port-modules")

    def extra_modules():
        with open(os.path.join(modules, "Kbuild"), "a") as f:
            f.write("obj-m += %s/\n" % EXTRA)

    guest.image.module(TOP, MODULE_PARTS + (EXTRA,), modules, extra_modules)
    for path in (DCBPORT, EXTRA + "/idle.ko", EXTRA + "/portsize.ko"):
        shutil.copy2(os.path.join(modules, path), bin_dir)
    shutil.copy2(sources.dcqcn(), bin_dir)
    with open(os.path.join(bin_dir, "hosts"), "w") as f:
        f.write(HOSTS)


def figures(text):
    """Convert the guest's measurements to keys of result.json. The CPU never idles: a
    microsecond of pktgen's is a thousand instructions."""
    results = {m[1]: (int(m[2]), int(m[3]))
               for m in re.finditer(r"^result (\w+) (\d+) (\d+)$", text, re.M)}
    insns = {}
    for name in ("bare", "stack", "port", "port_flows", "port_rate"):
        if name not in results:
            raise LabError("the guest did not measure %s" % name)
        usec, sent = results[name]
        if sent != PACKETS:
            raise LabError("%s: %d of %d packets were sent" % (name, sent, PACKETS))
        insns[name] = usec * 1000 / sent
    charged = re.search(r'"rx_prio3_buffer_bytes_max": ?(\d+)', text)
    if not charged or not int(charged[1]):
        raise LabError("no packet was charged to its ingress port")
    size = re.search(r"^size (\d+)$", text, re.M)
    if not size:
        raise LabError("the guest did not measure the size of a port")
    return {"switch_port_prio_bytes": int(size[1]) // PRIOS,
            **{"switch_" + name: round(n - insns["bare"]) if name != "bare" else round(n)
               for name, n in insns.items()}}


def measure(out):
    """Return the keys of result.json about ports."""
    with Guest(DEFAULT) as guest:
        _build(guest, out)
        text = guest.run(SETUP % {"frame": FRAME, "tos": TOS, "packets": PACKETS},
                         os.path.join(out, "port-guest"))
        return {"switch_kernel": guest.image.release, **figures(text)}
