# SPDX-License-Identifier: GPL-2.0
"""Where DCQCN settles, by analysis: the marking probability and the queue.

The fluid model's fixed point of N equal flows, solved without its usual
approximations.

  Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
  CoNEXT 2016, section 3.1 and appendix A
"""

import math


def balance(p, rate, tau, tau_alpha, timer, threshold, byte_counter, ai):
    """Decrease over increase at marking probability p; 1 at the fixed point.

    rate, ai: packets/s of a flow, and of R_AI; tau, tau_alpha, timer: s;
    byte_counter: packets.
    """
    def unmarked(packets):
        return math.exp(packets * math.log1p(-p))

    a = 1 - unmarked(tau * rate)
    b = p * unmarked(byte_counter) / (1 - unmarked(byte_counter))
    c = b * unmarked(threshold * byte_counter)
    d = p * unmarked(timer * rate) / (1 - unmarked(timer * rate))
    e = d * unmarked(threshold * timer * rate)
    alpha = 1 - unmarked(tau_alpha * rate)
    return a * a * alpha / ((b + d) * (c + e)) / (tau * tau * ai * rate)


def fixed_point(flows, line=40e9, packet=1000, tau=50e-6, tau_alpha=55e-6, timer=55e-6,
                threshold=5, byte_counter=10e6, ai=40e6):
    """p* of the paper's parameters, or others. line, ai: bit/s; packet: bytes."""
    args = (line / 8 / packet / flows, tau, tau_alpha, timer, threshold,
            byte_counter / packet, ai / 8 / packet)
    low, high = 1e-7, 0.1
    for _ in range(100):
        middle = (low + high) / 2
        if balance(middle, *args) < 1:
            low = middle
        else:
            high = middle
    return middle


def queue(p, kmin, kmax, pmax):
    """The queue at which the curve gives p, in kmin's unit; None above Pmax."""
    return kmin + p / pmax * (kmax - kmin) if p <= pmax else None
