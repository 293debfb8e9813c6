#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Four threads of pure Python work: one of them runs, the others wait for the interpreter's lock."""
import json
import threading

DOCUMENT = [{"id": i, "name": f"n{i}"} for i in range(2000)]


def work():
    for _ in range(60):
        json.loads(json.dumps(DOCUMENT))
    total = 0
    for i in range(3000000):
        total += i


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
