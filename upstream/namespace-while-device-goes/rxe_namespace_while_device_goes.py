#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Test a namespace that is made as a device goes

A network namespace is made while the network device of an rxe device is
deleted, in the one order in which that fails. Three processes have
real-time priorities and one CPU. The kernel's workers have none, so they
run only while all three wait:

 first:  deletes another device: takes the RTNL, and waits for a worker
 maker:  makes the namespace: waits for the RTNL to register its loopback
         device
 second: deletes rxe's network device: waits for the RTNL, too; its
         priority is raised above maker's
         (a worker runs, first is done and releases the RTNL)
 maker:  registers its loopback device and releases the RTNL: second runs
 second: takes the RTNL, closes its device, and waits for a worker
 maker:  locks the RDMA core's list of devices, and waits for the RTNL to
         query rxe's port
         (a worker runs)
 second: unregisters its device: rxe queues the same for the RDMA device;
         releases the RTNL
 maker:  queries the port, before a worker can unregister the RDMA device
"""

import ctypes
import errno
import os
import socket
import struct

from rxe_peer import fault, setup

CLONE_NEWNET = 0x40000000
RTM_DELLINK, NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 17, 1, 4, 2

FIRST, SECOND, MAKER, SECOND_AT_FIRST, SELF = 50, 40, 30, 20, 10     # priorities

SETUP = """
modprobe dummy
modprobe rdma_rxe
ip link add other type dummy
ip link add near up type dummy
rdma link add rxe0 type rxe netdev near
"""


def priority(value, pid=0):
    os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(value))


def deleter(name):
    """A function that deletes a network device, with one system call."""
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, socket.if_nametoindex(name), 0, 0)
    head = struct.pack("=IHHII", 16 + len(body), RTM_DELLINK, NLM_F_REQUEST | NLM_F_ACK, 1, 0)

    def delete():
        s.send(head + body)
        _, kind, _, _, _, error = struct.unpack("=IHHIIi", s.recv(4096)[:20])
        if (kind, error) != (NLMSG_ERROR, 0):
            raise OSError("%s: deletion answers %d, %d" % (name, kind, error))

    return delete


def maker():
    """A function that makes a network namespace, and looks whether it did at the right time."""
    libc = ctypes.CDLL(None, use_errno=True)

    def make():
        if not libc.unshare(CLONE_NEWNET):
            if os.path.exists("/sys/class/net/near") or not os.path.exists(
                    "/sys/class/infiniband/rxe0"):
                raise OSError("the namespace was made too early or too late")
        elif ctypes.get_errno() == errno.ENODEV:
            fault("a network namespace cannot be made: " + os.strerror(errno.ENODEV))
        else:
            raise OSError(ctypes.get_errno(), "unshare")

    return make


def start(value, act):
    """Start a process that acts when it is told to. Returns its id, and the pipe to tell it by."""
    ready, go = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        status = 1
        try:
            priority(value)
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            act()
            status = 0
        except OSError as e:
            print(e, flush=True)
        finally:
            os._exit(status)
    os.read(ready[0], 1)
    return pid, go[1]


def main():
    setup(SETUP)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    priority(SELF)
    started = [start(value, act) for value, act in (
        (FIRST, deleter("other")), (MAKER, maker()), (SECOND_AT_FIRST, deleter("near")))]
    for _, go in started:
        os.write(go, b"x")      # returns when that process waits for something else
    priority(SECOND, started[2][0])
    for pid, _ in started:
        _, status = os.waitpid(pid, 0)
        assert not status, status


main()
