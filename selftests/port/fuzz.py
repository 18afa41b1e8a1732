# SPDX-License-Identifier: GPL-2.0
"""Runs on the debug kernel: PFC frames, of which many are malformed, at a port that has
packets to send. Its counters must be exact, and the kernel must report nothing.

usage: fuzz.py MODULE BINARIES FRAMES SEED
"""

import sys

from wire import Port, Socket, in_netns, mac, packet, sh, unaccounted

MODULE, BINARIES, FRAMES, SEED = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
OBEYED = 0b10111101     # all but 1, which has no PFC, and 6, which is strict
CHUNK, TELL = 20000, 500000     # frames between refills of its queue, and between lines of progress


def main():
    sh("insmod " + MODULE)
    print("1..1\n# seed %d" % SEED, flush=True)
    sh("ip netns add a && ip netns add b && "
       "ip link add a0 netns a address 02:00:00:00:00:01 mtu 4200 type veth "
       "peer name b0 netns b mtu 4200 && ip -n a link set a0 up && ip -n b link set b0 up")
    port, a = Port(BINARIES, "a", "a0"), Socket("a", "a0")
    port.set("rate 40gbit delay 1us pfc 0,2,3,4,5,7 action drop")
    # more frames than the device's queue holds are lost before the port sees them
    sh("echo 1000000 >/proc/sys/net/core/netdev_max_backlog")
    wanted, left = [0] * 9, FRAMES
    while left:
        n = min(left, CHUNK)
        a.send(*(packet(mac(2), mac(1), p) for p in range(8) for _ in range(20)))
        with in_netns("b"):
            said = sh("%s/pfcfuzz b0 %#x %d %d" % (BINARIES, OBEYED, n, SEED + left)).stdout
        wanted = [w + int(s) for w, s in zip(wanted, said.split())]
        a.take()
        left -= n
        if left % TELL < CHUNK:
            print("# %d frames to go" % left, flush=True)
    stat = port.stat()
    got = [stat["rx_pfc_errors"], *(stat["rx_prio%d_pause" % p] + stat["rx_prio%d_resume" % p]
                                    for p in range(8))]
    print("# %d frames: malformed, and about each priority: %s" % (FRAMES, got))
    ok = got == wanted and unaccounted(stat) == [0] * 8
    if not ok:
        print("# should be %s; unaccounted: %s" % (wanted, unaccounted(stat)))
    print("%sok 1 - a port counts what any PFC frame says, and no other" % ("" if ok else "not "))


main()
