#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A TCP echo server, and a client with one long-lived connection and many short ones.

usage: streams.py serve PORT
       streams.py ask ADDRESS PORT     until SIGTERM; fails if a connection breaks
"""

import random
import signal
import socket
import sys
import threading

TIMEOUT = 60    # s without an answer; emulated hosts are slow


def echo(s):
    try:
        while True:
            data = s.recv(65536)
            if not data:
                break
            s.sendall(data)
    except OSError:
        pass        # the client reports it
    s.close()


def serve(port):
    with socket.create_server(("", port), backlog=64) as server:
        while True:
            s, _ = server.accept()
            threading.Thread(target=echo, args=(s,), daemon=True).start()


def ask(s):
    data = random.randbytes(random.randrange(1, 20000))
    s.sendall(data)
    got = b""
    while len(got) < len(data):
        more = s.recv(65536)
        if not more:
            sys.exit("the connection ended after %d of %d bytes" % (len(got), len(data)))
        got += more
    if got != data:
        sys.exit("received other data than was sent")


class Ended(Exception):
    """SIGTERM has arrived."""


def end(number, frame):
    raise Ended


def main():
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    signal.signal(signal.SIGTERM, end)
    address, count = (sys.argv[2], int(sys.argv[3])), 0
    try:
        with socket.create_connection(address, TIMEOUT) as lasting:
            while True:
                ask(lasting)
                with socket.create_connection(address, TIMEOUT) as s:
                    ask(s)
                count += 1
    except Ended:
        print("%d connections" % count)
    sys.exit(not count)


main()
