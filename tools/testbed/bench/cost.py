# SPDX-License-Identifier: GPL-2.0
"""Instructions per packet, on a stock kernel in a guest that counts them."""

import os
import re
import shutil
import subprocess

from ..core import sources
from ..core.errors import LabError
from ..core.paths import BENCH, MODULE, MODULE_PARTS, ROCE_PACKET, SIM, TOP
from .icount import Guest

FRAME = 1082        # bytes of a packet in the middle of a message, MTU 1024

# The emulated CPU has 1 GHz and needs more than 10 us for a packet, both hosts included, so no two
# packets of a flow could share a timer within the module's DCQCN_BATCH_NS. Multiply this constant.
BATCH = ("queue.c", "#define DCQCN_BATCH_NS\t\t(10 * NSEC_PER_USEC)",
         "#define DCQCN_BATCH_NS\t\t(1000 * NSEC_PER_USEC)")

# A start is over after some ten round trips, too soon to be measured. In this copy of the module,
# all samples find an empty queue, but steps leave the rate at three bursts in two round trips.
START = (("start.c", "\telse if (rtt > least + least / DCQCN_START_QUEUE)",
          "\telse if (least)\n\t\tr->sampled = left >= r->timer_time;\n"
          "\telse if (rtt > least + least / DCQCN_START_QUEUE)"),
         ("start.c", "\t\t\tr->current_rate += r->current_rate / 8 * 7;", "\t\t\t;"))

# The only CPU works for both hosts in turn, so the flow seems to pause. In the copies "starting"
# and "measured", a flow does not start again, with another burst, after such a pause.
PAUSE = ("limiter.h", "#define DCQCN_PAUSE_RTTS\t4", "#define DCQCN_PAUSE_RTTS\t(1 << 20)")

FLOWS = (1, 100, 1000, 10000)

SCRIPT = """
. /run/bin/measures

measure quiet 1000

# One QP keeps the CPU busy; messages of 64 packets
flows 1 65536 4
load
measure rxe 400
unload
insmod bin/nullhooks.ko
load
measure hooks 400
unload
rmmod nullhooks
dcqcn rdma_dcqcn
load
measure idle 400
unload
rmmod rdma_dcqcn

# The default profile, when the start is over
insmod bin/rdma_dcqcn.ko
load
until [ "$(cat $RXE/rp_limited_qps)" = 0 ] && [ "$(cat $RXE/rp_passed_packets)" != 0 ]; do
	sleep 0.01
done
measure settled 400 $RXE/rp_passed_packets $RXE/rp_held_packets
unload
rmmod rdma_dcqcn

# The same in a start, after the burst, at a rate that the CPU cannot reach: no packet waits
insmod bin/rdma_dcqcn_starting.ko
knob h1 start_burst 1000000
knob h1 rpg_max_rate 400000
load
measure starting 400 $RXE/rp_held_packets $RXE/rp_passed_packets $ANSWERS
echo "result still_limited $(cat $RXE/rp_limited_qps)"
unload
rmmod rdma_dcqcn

insmod bin/flowsize.ko
size=/sys/module/flowsize/parameters
echo "result flowsize $(cat $size/bytes) $(cat $size/context_bytes)"

# limited NAME MODULE RATE [BURST [FILE]]: with a start, the path is measured; the rate
# follows the knobs all the same
limited() {
	dcqcn "$2"
	[ -z "$4" ] || knob h1 start_burst "$4"
	load
	limit "$3"
	measure "$1" 400 $RXE/rp_held_packets $RXE/rp_released_packets $5
	unload
	rmmod rdma_dcqcn
}

# A rate that the CPU cannot reach: all packets pass, also where the path is measured. Then a
# little less than it can, the less the more it has to do: most packets wait for their
# timer, and the CPU is still busy all the time.
limited passing rdma_dcqcn 20000
limited measured rdma_dcqcn_measured 20000 16384 $ANSWERS
rate=$(sed -n 's/^result passing //p' /lab/share/output |
	awk '{ printf "%%d", 0.9 * %(frame)d * 8 * 1000 * $3 / $1 }')
limited single rdma_dcqcn "$rate"
limited batched rdma_dcqcn_batched $((rate * 107 / 100))

# contexts NAME ALGORITHMS BASE_RTT [DELAY]: both hosts use contexts; the line rate and the base round
# trip set the window. Feedback and ACKs are delayed, but no data: netem orphans packets.
contexts() {
	dcqcn rdma_dcqcn
	[ -z "$4" ] || ip netns exec h2 tc qdisc add dev eth0 root netem limit 10000 delay "$4"
	for h in h1 h2; do
		knob $h ccc_base_rtt "$3"
		knob $h ccc_target_qdelay 1000
		knob $h ccc_initial_window 1000000
		knob $h ccc_algorithms "$2"
	done
	load
	until [ "$(cat $RXE/rp_feedback_handled)" -gt 1000 ]; do
		sleep 0.01
	done
	measure "$1" 400 $RXE/rp_held_packets $RXE/rp_feedback_handled
	unload
	[ -z "$4" ] || ip netns exec h2 tc qdisc del dev eth0 root
	rmmod rdma_dcqcn
}

# 1.5 BDP are 750 KB, or 30 KB, where feedback is asked for more often. Without a delay, the one CPU
# never has as much in flight. It sends 30 KB in about 380 us: with the short delay no packet waits
# either, with the long one the window is a little too small.
modprobe sch_netem
contexts window_open 1 100
contexts both_open 3 100
contexts window_small 1 4
contexts window_delayed 1 4 100us
contexts window_limited 1 4 420us

# All packets are CE-marked. The rate cannot be cut to what would matter.
dcqcn rdma_dcqcn
for h in h1 h2; do
	knob $h rpg_min_rate 20000
	knob $h min_time_between_cnps 100
done
insmod bin/stopwatch.ko
flows 1 65536 4 3
load
S=$SYS/module/stopwatch/parameters
measure marked 200 $S/ce_insns $S/ce_count $S/cnp_insns $S/cnp_count
unload
rmmod stopwatch
rmmod rdma_dcqcn
"""

# Messages of 8 packets. Whatever the number of flows, their rates add up to a
# little less than what the CPU can do, or to more if a flow cannot be slower.
SCRIPT_FLOWS = """
flows %(n)d 8192 %(depth)d
dcqcn rdma_dcqcn
load
limit $((rate * 9 / 10 / %(n)d + 1))
measure flows_%(n)d %(ms)d $RXE/rp_held_packets
kill -STOP $traffic
silence
measure janitor_%(n)d 1000
kill -CONT $traffic
unload
rmmod rdma_dcqcn
"""

# The cost of algorithms of struct dcqcn_cc_ops, and of DCQCN, which the module calls directly. The
# only CPU takes milliseconds for the packets in flight, so the round trip without queues is set to
# 20 ms: no window is ever full. TIMELY has a rate, so its packets wait.
ALGORITHMS = ("dcqcn", "swift", "timely", "dctcp", "fast", "fast-oneway", "hpcc", "powertcp")

SCRIPT_ALGORITHMS = """
. /run/bin/measures
flows 1 65536 4
load
measure rxe 400
unload
dcqcn rdma_dcqcn
load
limit 20000
measure dcqcn 400 $RXE/rp_held_packets $ANSWERS
unload
rmmod rdma_dcqcn
"""

SCRIPT_ALGORITHM = """
dcqcn rdma_dcqcn
knob h1 ccc_base_rtt 20000
knob h1 cc_algorithm %(name)s
load
until [ "$(cat $RXE/rp_limited_qps)" = 1 ]; do
	sleep 0.01
done
measure %(name)s 400 $RXE/rp_held_packets $ANSWERS
unload
rmmod rdma_dcqcn
"""

EXTRA = "tools/bench/modules"


def _build(guest, out):
    """Put all programs for the guest into bin in the shared directory."""
    bin_dir = os.path.join(guest.share, "bin")
    modules = os.path.join(out, "modules")

    def extra_modules():
        with open(os.path.join(modules, "Kbuild"), "a") as f:
            f.write("obj-m += %s/\n" % EXTRA)

    guest.image.module(TOP, MODULE_PARTS + (EXTRA,), modules, extra_modules)
    for path in (MODULE, *("%s/%s.ko" % (EXTRA, m)
                           for m in ("idle", "nullhooks", "stopwatch", "flowsize"))):
        shutil.copy2(os.path.join(modules, path), bin_dir)
    for name, changes in (("batched", (BATCH,)), ("starting", (*START, PAUSE)),
                          ("measured", (PAUSE,))):
        changed = os.path.join(out, name)

        def change():
            for source, before, after in changes:
                sources.replace(os.path.join(changed, "drivers/infiniband/sw/dcqcn", source),
                                before, after)

        guest.image.module(TOP, MODULE_PARTS, changed, change)
        shutil.copy2(os.path.join(changed, MODULE),
                     os.path.join(bin_dir, "rdma_dcqcn_%s.ko" % name))

    programs = os.path.join(out, "bin")
    subprocess.run(["make", "-s", "-C", SIM, "OUT=" + programs, programs + "/traffic"], check=True)
    shutil.copy2(os.path.join(programs, "traffic"), bin_dir)
    subprocess.run(["cc", "-O2", "-Wall", "-o", os.path.join(bin_dir, "gauge"),
                    os.path.join(BENCH, "gauge.c")], check=True)
    for path in (os.path.join(BENCH, "guest", "hosts"), os.path.join(BENCH, "guest", "measures"),
                 os.path.join(BENCH, "guest", "cnp.py"),
                 ROCE_PACKET):
        shutil.copy2(path, bin_dir)


def _results(text):
    return {m[1]: [int(n) for n in m[2].split()]
            for m in re.finditer(r"^result ([\w-]+) ([\d ]+)$", text, re.M)}


class Measured:
    """A line of gauge's output: insns: instructions per packet; timers: per packet; extra: the
    totals of further counters."""

    def __init__(self, results, name):
        if name not in results:
            raise LabError("the guest did not measure %s" % name)
        insns, idle, packets, timers, *extra = results[name]
        if not packets:
            raise LabError("%s: no packets were sent" % name)
        self.packets = packets
        self.insns = (insns - idle) / packets
        self.idle = idle / insns
        self.timers = timers / packets
        self.extra = extra
        self.waited = extra[0] / packets if extra else 0.0


def figures(r, flows):
    """Convert the guest's measurements to keys of result.json."""
    rxe, hooks, idle = (Measured(r, n) for n in ("rxe", "hooks", "idle"))
    passing, single, batched = (Measured(r, n) for n in ("passing", "single", "batched"))
    settled, starting, measured, marked = (Measured(r, n) for n in (
        "settled", "starting", "measured", "marked"))
    if any(settled.extra):
        raise LabError("a QP was limited again while packets after its start were measured")
    if r["still_limited"] != [1]:
        raise LabError("the start ended while it was measured")
    for what, m in (("of a start", starting), ("on a measured path", measured)):
        if m.extra[0]:
            raise LabError("%d packets %s waited" % (m.extra[0], what))
    ce, ce_n, cnp, cnp_n = marked.extra
    if not ce_n or not cnp_n:
        raise LabError("no CNP was sent, or none came")

    def limited(m):
        """The cost of a packet that waits for its timer. The few packets that did not wait are
        subtracted, at their cost in a run in which none waits."""
        return passing.insns + (m.insns - passing.insns) / m.waited

    def overhead(insns):
        return round(insns / rxe.insns - 1, 4)

    def busy(name):
        """The share of time in which the CPU is not idle."""
        insns, idle = r[name][:2]
        return 1 - idle / insns

    many = {n: Measured(r, "flows_%d" % n) for n in flows}
    contexts = {n: Measured(r, n) for n in (
        "window_open", "both_open", "window_small", "window_delayed", "window_limited")}
    for name, m in contexts.items():
        if name != "window_limited" and m.extra[0]:
            raise LabError("%s: %d packets waited" % (name, m.extra[0]))
    costs = {n: contexts[n].insns for n in ("window_open", "both_open", "window_small")}
    # without the cost of the delay
    costs["window_limited"] = (contexts["window_limited"].insns -
                               contexts["window_delayed"].insns + costs["window_small"])
    return {
        "rxe_insns": round(rxe.insns),
        "hooks_insns": round(hooks.insns),
        "idle_insns": round(idle.insns),
        "idle_overhead": overhead(idle.insns),
        "idle_over_hooks": round(idle.insns - hooks.insns),
        "settled_insns": round(settled.insns),
        "settled_overhead": overhead(settled.insns),
        "starting_insns": round(starting.insns),
        "starting_overhead": overhead(starting.insns),
        "starting_acks": round(starting.extra[-1] / starting.packets, 4),
        "limited_measured_insns": round(measured.insns),
        "limited_measured_acks": round(measured.extra[-1] / measured.packets, 4),
        "measuring_insns": round(measured.insns - passing.insns),
        "limited_passing_insns": round(passing.insns),
        "limited_overhead_passing": overhead(passing.insns),
        "limited_batched_insns": round(limited(batched)),
        "limited_overhead_batched": overhead(limited(batched)),
        "packets_per_timer_batched": round(batched.waited / batched.timers, 1),
        "limited_single_insns": round(limited(single)),
        "limited_overhead_single": overhead(limited(single)),
        "packets_per_timer_single": round(single.waited / single.timers, 1),
        "waited_share_single": round(single.waited, 3),
        "waited_share_batched": round(batched.waited, 3),
        "cpu_idle_share_single": round(single.idle, 3),
        "cpu_idle_share_batched": round(batched.idle, 3),
        "ce_to_cnp_insns": round(ce / ce_n),
        "cnp_to_cut_insns": round(cnp / cnp_n),
        "flows": {str(n): round(m.insns) for n, m in many.items()},
        # their program is stopped, so nothing else runs
        "janitor_share": {str(n): round(busy("janitor_%d" % n) - busy("quiet"), 5) for n in flows},
        "flows_timers_per_packet": {str(n): round(m.timers, 3) for n, m in many.items()},
        "flows_waited_share": {str(n): round(m.waited, 3) for n, m in many.items()},
        "flows_cpu_idle_share": {str(n): round(m.idle, 3) for n, m in many.items()},
        **{"context_%s_insns" % n: round(insns) for n, insns in costs.items()},
        **{"context_%s_overhead" % n: overhead(insns) for n, insns in costs.items()},
        **{"context_%s_feedback" % n: round(contexts[n].extra[1] / contexts[n].packets, 4)
           for n in costs},
        "context_waited_share": round(contexts["window_limited"].waited, 3),
        "context_cpu_idle_share": round(contexts["window_limited"].idle, 3),
        "bytes_per_flow": r["flowsize"][0],
        "bytes_per_context": r["flowsize"][1],
    }


def measure(out, flows=FLOWS):
    """Return the keys of result.json that count instructions."""
    script = SCRIPT % {"frame": FRAME}
    for n in flows:
        script += SCRIPT_FLOWS % {"n": n, "depth": 8 if n == 1 else 2,
                                  "ms": 1000 if n >= 1000 else 400}
    with Guest() as guest:
        _build(guest, out)
        text = guest.run(script, os.path.join(out, "guest"), "3G")
        return {"kernel": guest.image.release, **figures(_results(text), flows)}


def measure_algorithms(out):
    """Return the key of result.json that has the cost of each algorithm."""
    script = SCRIPT_ALGORITHMS + "".join(SCRIPT_ALGORITHM % {"name": n} for n in ALGORITHMS[1:])
    with Guest() as guest:
        _build(guest, out)
        results = _results(guest.run(script, os.path.join(out, "guest-algorithms"), "3G"))
    rxe = Measured(results, "rxe")
    algorithms = {}
    for name in ALGORITHMS:
        m = Measured(results, name)
        algorithms[name] = {"insns": round(m.insns),
                            "overhead": round(m.insns / rxe.insns - 1, 4),
                            "waited_share": round(m.waited, 3),
                            "acks": round(m.extra[1] / m.packets, 4)}
    return {"algorithms": algorithms}
