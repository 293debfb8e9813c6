#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A connection that takes its time: delay_proxy.py HERE THERE TO_MS FROM_MS

Listens at the socket HERE, connects each connection to the socket THERE, and passes bytes on TO_MS or FROM_MS
milliseconds after they came: towards THERE, and from it.  Prints "listening" and runs until it is killed.
"""

import heapq
import os
import select
import socket
import sys
import time


def pass_on(near, far, to_s, from_s):
    """Both directions of one connection, in one process."""
    waiting = []  # (when, number, socket or None, bytes)
    number = 0
    delays = {near: (far, to_s), far: (near, from_s)}
    reads = {near, far}
    while reads or waiting:
        timeout = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
        for ready in select.select(list(reads), [], [], timeout)[0]:
            other, delay_s = delays[ready]
            try:
                data = ready.recv(65536)
            except OSError:
                data = b""
            if not data:
                reads.discard(ready)
            number += 1
            heapq.heappush(waiting, (time.monotonic() + delay_s, number, other, data))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, other, data = heapq.heappop(waiting)
            try:
                if data:
                    other.sendall(data)
                else:
                    other.shutdown(socket.SHUT_WR)
            except OSError:
                return


def main(here, there, to_ms, from_ms):
    """One process for each connection."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(here)
    listener.listen(8)
    print("listening", flush=True)
    while True:
        near, _ = listener.accept()
        if os.fork() == 0:
            far = socket.socket(socket.AF_UNIX)
            far.connect(there)
            pass_on(near, far, float(to_ms) / 1000, float(from_ms) / 1000)
            os._exit(0)
        near.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
