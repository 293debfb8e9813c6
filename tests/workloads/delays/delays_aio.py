# SPDX-License-Identifier: MIT
"""delays_aio.py aio [COUNT]: main asks an event loop that runs in 'loop', where a callback of another one is slow.

Truth: truth.tsv.
"""
import asyncio
import sys
import threading

import hyprof


def count(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def slow_callback():
    x = 0
    for i in range(120000):
        x ^= i
    return x


async def answer_request():
    return count(5000)


def run_loop():
    hyprof.thread_name("loop")
    asyncio.set_event_loop(loop)
    loop.run_forever()


loop = asyncio.new_event_loop()
hyprof.thread_name("main")
thread = threading.Thread(target=run_loop)
thread.start()
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 120):
    with hyprof.zone("request"):
        loop.call_soon_threadsafe(slow_callback)
        asyncio.run_coroutine_threadsafe(answer_request(), loop).result()
loop.call_soon_threadsafe(loop.stop)
thread.join()
