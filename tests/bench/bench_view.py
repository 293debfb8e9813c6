#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench_view.py HYPROF TRACE [VIEWS=1000] - how long `hyprof view` takes to answer a picture

Random views of all lanes of zones, samples, states and CPUs, of the first 200 where there are more, 2,000 pixels wide, from the whole trace to
one microsecond, over one connection as a browser has it.  Shown: until the address works, until the index
is whole, and the views' times.  Targets: 20 ms for 99 of 100 views, the first picture 0.3 s after the start, and
10 million zones a second in the index where that has not been kept.  Part of bench_view.sh.
"""

import contextlib
import http.client
import json
import random
import subprocess
import sys
import time

PIXELS = 2000
TARGET_MS = 20
LANES_IN_SIGHT = 200  # of thousands; lower rows are asked for when they come into sight
# As web/pages/lane_cache.js has them.
LANES_A_REQUEST = 1000
ITEMS_A_REPLY = 190000
DRAWN_KINDS = ("zones", "samples", "states", "cpu")
PICTURE_TARGET_S = 0.3
ZONES_A_SECOND_TARGET = 10e6
INDEX_KEPT_S = 0.1  # an index that is whole after that was in the cache, or is too small to measure


def bucket_of(length: int) -> int:
    """The least power of two that is at least a pixel: so all lanes at once are below the bound of a reply."""
    return max(0, (length - 1) // PIXELS).bit_length()


def peak_mib(pid: int) -> float:
    """The peaks of the memory of the viewer's processes, added up; pages of files that are mapped count as well."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        pids = [pid] + [int(child) for child in children.read().split()]
    total = 0
    for one in pids:
        with open(f"/proc/{one}/status", encoding="ascii") as status:
            total += sum(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    return total / 1024


def main() -> int:
    hyprof, trace = sys.argv[1:3]
    n_views = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    begin = time.monotonic()
    with (subprocess.Popen([hyprof, "view", "--no-open", "--quiet", trace], stdout=subprocess.PIPE, text=True) as viewer,
          contextlib.ExitStack() as at_the_end):
        at_the_end.callback(viewer.terminate)
        assert viewer.stdout
        url = viewer.stdout.readline().strip()
        host, path = url.removeprefix("http://").split("/", 1)
        ready = time.monotonic()
        # Every name under localhost is this machine's (RFC 6761), which not each resolver knows.
        connection = http.client.HTTPConnection("127.0.0.1", int(host.rsplit(":", 1)[1]))

        def get_lanes(start: int, end: int, ids: list[str]) -> None:
            bucket = bucket_of(end - start)
            n = min(LANES_A_REQUEST, max(1, ITEMS_A_REPLY // (2 * (end - start >> bucket) + 4)))
            for i in range(0, len(ids), n):
                get(f"lanes?from={start}&to={end}&bucket={bucket}&ids={','.join(ids[i:i + n])}")

        def get(rest: str) -> bytes:
            connection.request("GET", f"/{path}{rest}", headers={"Host": host})
            reply = connection.getresponse()
            body = reply.read()
            if reply.status != 200:
                raise SystemExit(f"{rest[:60]}: {reply.status} {body[:200]!r}")
            return body

        first = 0.0  # a picture of what is read by then
        while True:
            model = json.loads(get("model"))
            ids = [str(lane["id"]) for track in model["tracks"] for lane in track["lanes"]
                   if lane["items"] and lane["kind"] in DRAWN_KINDS]
            if ids and not first:
                get_lanes(0, model["duration_ns"], ids[:LANES_IN_SIGHT])
                first = time.monotonic()
            if model["progress"] >= 1:
                break
            time.sleep(0.01)
        whole = time.monotonic()
        model = json.loads(get("model"))
        lanes = [str(lane["id"]) for track in model["tracks"] for lane in track["lanes"]
                 if lane["kind"] in DRAWN_KINDS][:LANES_IN_SIGHT]
        n_items = sum(lane["items"] for track in model["tracks"] for lane in track["lanes"])
        n_zones = sum(lane["items"] for track in model["tracks"] for lane in track["lanes"] if lane["kind"] == "zones")
        duration = max(model["duration_ns"], 2000)
        get_lanes(0, duration, lanes)
        drawn = time.monotonic()
        numbers = random.Random(1)
        times = []
        for _ in range(n_views):
            length = int(1000 * (duration / 1000) ** numbers.random())
            start = numbers.randrange(max(1, duration - length))
            before = time.monotonic()
            get_lanes(start, start + length, lanes)
            times.append((time.monotonic() - before) * 1000)
        times.sort()
        memory = peak_mib(viewer.pid)
    p99 = times[min(len(times) - 1, len(times) * 99 // 100)]
    print(f"{n_items} items, {len(lanes)} lanes: address after {ready - begin:.2f} s, first picture "
          f"after {first - begin:.2f} s, index whole after "
          f"{whole - begin:.2f} s, the data of a picture of all of it after {drawn - begin:.2f} s; {memory:.0f} MiB")
    rate = n_zones / (whole - ready)
    if whole - ready > INDEX_KEPT_S:
        print(f"index: {rate / 1e6:.1f} million zones a second (target {ZONES_A_SECOND_TARGET / 1e6:.0f}); "
              f"first picture: target {PICTURE_TARGET_S} s")
    else:
        rate = ZONES_A_SECOND_TARGET
    print(f"{n_views} views: median {times[len(times) // 2]:.2f} ms, p99 {p99:.2f} ms (target {TARGET_MS}), "
          f"longest {times[-1]:.2f} ms")
    return 0 if p99 <= TARGET_MS and first - begin <= PICTURE_TARGET_S and rate >= ZONES_A_SECOND_TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
