# SPDX-License-Identifier: GPL-2.0
"""Scenarios of the threshold model: the table [model] of a file, which dcqcn model also
reads, becomes hosts, a switch and flows, and its predictions are compared with figures."""

import json
import os
import subprocess

from ..core import sources
from ..core.errors import InputError
from ..core.paths import DCQCN

COMMAND = os.path.join(DCQCN, "dcqcn")
# rxe's QP has at most 128 unacknowledged packets, and asks for an ACK about every 64 (the 66th)
RXE_PACKETS, RXE_ACK_PACKETS = 128, 64
RXE_HOST_PACKETS = 64       # in its host's queues, and on its cable
MESSAGE = 2 ** 20           # bytes
TIMEOUT = 12                # of a QP, as verbs encode it
LATE_US = 1.8               # delay of a few pause frames: Documentation/switch.rst, Limits
SWING_PACKETS = 8           # as in tools/model/runs.c
ROW_LINKS, STAR_LINKS = 3, 2
KNOBS = {                   # input of the model: file below ecn/, and its unit in the model's
    "max_rate_bps": ("roce_rp/rpg_max_rate", 1e6),
    "gd": ("roce_rp/rpg_gd", 1),
    "alpha_period_us": ("roce_rp/dce_tcp_rtt", 1), "timer_us": ("roce_rp/rpg_time_reset", 1),
    "byte_counter_bytes": ("roce_rp/rpg_byte_reset", 1),
    "recovery_steps": ("roce_rp/rpg_threshold", 1),
    "ai_bps": ("roce_rp/rpg_ai_rate", 1e6), "hai_bps": ("roce_rp/rpg_hai_rate", 1e6),
    "cnp_interval_us": ("roce_np/min_time_between_cnps", 1),
    "monitor_us": ("roce_rp/rate_reduce_monitor_period", 1),
}


def ask(path, *words):
    """The answer of dcqcn model about a file: input, output, findings, ..."""
    sources.dcqcn()
    r = subprocess.run([COMMAND, "-j", "model", path, *words], capture_output=True, text=True)
    if r.returncode:
        raise InputError(r.stderr.strip())
    return json.loads(r.stdout)


def _links(given):
    return ROW_LINKS if given["uplinks"] > 0 else STAR_LINKS


def _cable_us(given, said):
    """One way; all cables have the same length."""
    links = _links(given)
    frame = said["frame_bytes"] * 8e6 / given["speed_bps"]
    return (said["rtt_us"] - links * frame) / 2 / links


def predict(path):
    """The answer of dcqcn model, given the window, host's queue, ACKs and timeout of rxe; without
    uplinks unless the file has some."""
    answer = ask(path)
    given, said = answer["input"], answer["output"]
    packet = said["packet_bytes"]
    cable = max(0, _cable_us(given, said)) * given["speed_bps"] / 8e6
    # the line rate, as for a scenario's hosts, unless the file says otherwise
    told = ["max_rate", repr(given["speed_bps"])] if given["max_rate_bps"] == -1 else []
    if given["uplinks"] == -1:
        told += ["uplinks", "0"]
    return ask(path, "window", repr(RXE_PACKETS * packet),
               "host_queue", repr(max(packet, RXE_HOST_PACKETS * packet - cable)),
               "ack", repr(RXE_ACK_PACKETS * packet), "message", repr(MESSAGE),
               "timeout", repr(4.096 * 2 ** TIMEOUT),
               *told)


def _settings(given):
    out = {}
    for key, (knob, unit) in KNOBS.items():
        if given[key] != -1:
            out[knob] = str(max(round(given[key] / unit), 1 if given[key] else 0))
    if given["g_share"] != -1:
        out["roce_rp/dce_tcp_g"] = str(int(1024 * (1 - given["g_share"]) + 0.5))
    if given["algorithm"] != "dcqcn":
        out["roce_rp/cc_algorithm"] = given["algorithm"]
    return out


def _ns(us):
    return "%dns" % round(us * 1000)


def _switch(given, said, ports):
    """A switch whose shared pool is that of the model, whatever headroom ports have besides."""
    headroom = round(said["headroom_bytes"])
    reserve = round(given["reserve_bytes"])
    if given["headroom_bytes"] == -1:
        headroom += round(LATE_US * (given["spine_speed_bps"] or given["speed_bps"]) / 8e6)
    out = {"buffer": "%dB" % (round(said["shared_bytes"]) + ports * (headroom + reserve)),
           "kmin": "%dB" % said["kmin_bytes"], "kmax": "%dB" % said["kmax_bytes"],
           "pmax": said["pmax_share"], "alpha": given["alpha"], "watchdog": "off",
           "flows_min": int(given["flows_min"]), "flows_max": int(given["flows_max"])}
    if given["pfc"] == "yes":
        out.update(pfc="0", xoff="%dB" % said["xoff_bytes"], xon="%dB" % said["xon_bytes"],
                   headroom="%dB" % headroom, reserve="%dB" % reserve)
    return out


def tables(path):
    """The tables of a scenario, from the model in a file."""
    answer = predict(path)
    given, said = answer["input"], answer["output"]
    flows, row = int(given["flows"]), given["uplinks"] > 0
    hosts = int(min(given["senders"] or flows, flows))
    if flows % hosts:
        raise InputError("%s: model: senders: the simulator needs the same number of flows for "
                         "each sender" % path)
    if given["uplinks"] > 1:
        raise InputError("%s: model: uplinks: must be 1, or 0 for one per sender" % path)
    if given["cnp_cap"]:
        raise InputError("%s: model: cnp_cap: the simulator's receivers use the module's cap" %
                         path)
    if given["sample_us"]:
        raise InputError("%s: model: sample: must be 0: the simulator's switch reads the queue at "
                         "each packet" % path)
    delay = _cable_us(given, said)
    if delay < 0:
        raise InputError("%s: model: rtt: is shorter than a packet takes over %d links" %
                         (path, _links(given)))
    # the model leaves some out, if they take too many steps
    start, duration = said["start_us"], said["duration_us"]
    if given["duration_us"]:
        start, duration = given["duration_us"] / 2, given["duration_us"]
    out = {
        "duration": _ns(duration), "window": [_ns(start), _ns(duration)],
        "profile": given["profile"], "settings": _settings(given),
        "sample": "%dns" % max(5000, round(duration / 5)),
        "link": {"rate": "%dbit" % given["speed_bps"], "delay": _ns(delay),
                 "overhead": "%dB" % (said["frame_bytes"] - said["packet_bytes"])},
        "switch": _switch(given, said, hosts + 1 + row),
        "flow": [{"from": "h1..h%d" % hosts, "qps": flows // hosts, "to": "h100",
                  "size": "%dB" % MESSAGE, "depth": 2, "mtu": int(given["mtu_bytes"]),
                  "stagger": _ns(given["stagger_us"]),
                  "timeout": TIMEOUT}],
    }
    if row:
        trunk = given["spine_speed_bps"] or given["speed_bps"]
        out["topology"] = {"shape": "row", "switches": 2, "rate": "%dbit" % trunk}
        out["host"] = [{"name": "h100", "switch": "s2"}]
    return out


def _when(in_window, in_all):
    return "always" if in_window else "start" if in_all else "none"


def measured(answer, figures):
    """The figures, under the model's names."""
    given, said = answer["input"], answer["output"]
    swing = figures["queue_p95"] - figures["queue_p5"]
    used = figures["utilisation"] * said["frame_bytes"] / said["packet_bytes"]
    return {
        "utilisation_share": used, "queue_mean_bytes": figures["queue_mean"],
        "queue_p5_bytes": figures["queue_p5"], "queue_p95_bytes": figures["queue_p95"],
        "queue_p99_bytes": figures["queue_p99"], "queue_max_bytes": figures["queue_max"],
        "marked_share": figures["marked_share"], "jain": figures["jain"],
        "pfc_per_s": figures.get("pfc_per_s", 0),
        "state_pfc": _when(figures.get("pfc_per_s", 0), figures.get("pfc_frames", 0)),
        # one packet may be lost to a late pause: Documentation/switch.rst, Limits
        "state_loss": _when(figures["drops"] > 1, figures.get("port_drops", 0) > 1),
        "state_used": "under-used" if used < given["utilisation_share"] else "full",
        "state_queue": "swings" if swing > max(figures["queue_mean"], SWING_PACKETS *
                                               said["packet_bytes"]) else "steady",
    }


def table(answer, found):
    """The predicted figures beside the measured ones, as text."""
    lines = ["%-20s %12s %12s" % ("", "predicted", "measured")]
    for key, value in found.items():
        both = [answer["output"][key], value]
        if not isinstance(value, str):
            form = "%.0f" if key.endswith("bytes") or key == "pfc_per_s" else "%.4f"
            both = [form % v for v in both]
        lines.append("%-20s %12s %12s" % (key, *both))
    return "\n".join(lines)
