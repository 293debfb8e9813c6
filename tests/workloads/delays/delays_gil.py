# SPDX-License-Identifier: MIT
"""delays_gil.py gil [COUNT]: main lets the GIL go for a moment; 'burner', which never does by itself, takes it for 5 ms.

Truth: truth.tsv.
"""
import sys
import threading
import time

import hyprof


def burn_python():
    x = 0
    for i in range(20000):
        x ^= i
    return x


def run_burner():
    hyprof.thread_name("burner")
    while not ends.is_set():
        burn_python()


def answer():
    x = 0
    for i in range(5000):
        x ^= i
    return x


ends = threading.Event()
hyprof.thread_name("main")
burner = threading.Thread(target=run_burner)
burner.start()
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 60):
    with hyprof.zone("request"):
        for _ in range(3):
            time.sleep(0)
            answer()
ends.set()
burner.join()
