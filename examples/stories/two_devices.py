#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with two devices, each of which writes what it did into a file; for docs/use/import.md.

    two_devices.py FOLDER

Nothing runs on these devices: a kernel takes 2 ms on gpu 0 and 3 ms on gpu 1, each after the one before it.
"""
import csv
import hashlib
import os
import sys
import threading
import time

COLUMNS = ('name', 'process', 'thread', 'begin', 'end', 'clock', 'device', 'lane', 'key', 'key_kind')


class Device:
    """Runs kernels one after another, in its own time, and notes them."""

    def __init__(self, number: int, kernel_ns: int) -> None:
        self.number, self.kernel_ns = number, kernel_ns
        self.free_ns = 0
        self.rows: list[tuple[object, ...]] = []

    def launch(self, step: int) -> None:
        begin = time.monotonic_ns()
        hashlib.pbkdf2_hmac('sha256', b'arguments', b'', 100)
        handed_over = time.monotonic_ns()
        starts = max(handed_over, self.free_ns)
        self.free_ns = starts + self.kernel_ns
        key, kind = 2 * step + self.number, 'submission'
        self.rows.append(('launch', os.getpid(), threading.get_native_id(), begin, handed_over, 'monotonic', '', '',
                          key, kind))
        self.rows.append(('gemm', '', '', starts, self.free_ns, 'monotonic', f'gpu {self.number}', 1, key, kind))

    def wait(self) -> None:
        time.sleep(max(self.free_ns - time.monotonic_ns(), 0) / 1e9)

    def write(self, folder: str) -> None:
        with open(os.path.join(folder, f'gpu{self.number}.csv'), 'w', newline='') as file:
            csv.writer(file).writerows([COLUMNS, *self.rows])


def load_batch() -> None:
    hashlib.pbkdf2_hmac('sha256', b'batch', b'', 5000)


def main() -> None:
    devices = [Device(0, 2000000), Device(1, 3000000)]
    for step in range(100):
        load_batch()
        for device in devices:
            device.launch(step)
        if step % 10 == 9:
            for device in devices:
                device.wait()
    for device in devices:
        device.write(sys.argv[1])


main()
