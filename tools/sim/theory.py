# SPDX-License-Identifier: GPL-2.0
"""Where DCQCN settles, by analysis: the marking probability and the queue.

The fluid model's fixed point of N equal flows, solved without its usual
approximations.

  Zhu et al., "ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY",
  CoNEXT 2016, section 3.1 and appendix A
"""


def balance(p, rate, tau, tau_alpha, timer, threshold, byte_counter, ai):
    """Decrease over increase at marking probability p; 1 at the fixed point.

    rate, ai: packets/s of a flow, and of R_AI; tau, tau_alpha, timer: s;
    byte_counter: packets.
    """
    keep = 1 - p
    a = 1 - keep ** (tau * rate)
    b = p / (keep ** -byte_counter - 1)
    c = keep ** (threshold * byte_counter) * b
    d = p / (keep ** -(timer * rate) - 1)
    e = keep ** (threshold * timer * rate) * d
    alpha = 1 - keep ** (tau_alpha * rate)
    return a * a * alpha / ((b + d) * (c + e)) / (tau * tau * ai * rate)


def fixed_point(flows, line=40e9, packet=1000, tau=50e-6, tau_alpha=55e-6, timer=55e-6,
                threshold=5, byte_counter=10e6, ai=40e6):
    """p* of the paper's parameters, or others. line, ai: bit/s; packet: bytes."""
    args = (line / 8 / packet / flows, tau, tau_alpha, timer, threshold,
            byte_counter / packet, ai / 8 / packet)
    low, high = 1e-7, 0.5
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
