#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes from the tables of SQLite what zones of devices waited for, and compares `hyprof why --json` with it.

    hyprof why --json --limit 0 --devices --zone z5 TRACE | device_waits.py DATABASE LOCATION
"""
import json
import sqlite3
import sys
from collections import defaultdict


def waits(database: sqlite3.Connection, location: int) -> list[tuple[int, ...]]:
    """(time, on the device, behind earlier work, the rest, begin) of each zone of a location, the longest first."""
    spans = database.execute('SELECT id, device, lane, begin_ns, end_ns, location FROM device_spans').fetchall()
    hosts = dict(database.execute('SELECT span, zone_begin_ns FROM device_hosts').fetchall())
    lanes = defaultdict(list)
    for _, device, lane, begin, end, _ in spans:
        lanes[device, lane].append((begin, end))
    found = []
    for number, device, lane, begin, end, where in spans:
        if where != location:
            continue
        since = min(hosts.get(number, begin), begin)
        behind, until = 0, since
        for first, last in sorted(s for s in lanes[device, lane] if s[0] < begin and since < s[1] <= begin):
            behind += max(last - max(first, until), 0)
            until = max(until, last)
        found.append((end - since, end - begin, behind, begin - since - behind, since))
    return sorted(found, key=lambda row: (-row[0], row[4]))


def main() -> int:
    expected = waits(sqlite3.connect(sys.argv[1]), int(sys.argv[2]))
    said = json.load(sys.stdin)
    slow = expected[:said['slow_instances']]
    ours = [(row['duration_ns'], row['device_ns'], row['queue_ns'], row['host_ns'] + row['launch_ns'])
            for row in said['slowest_spans']['rows']]
    causes = {row['cause']: row['slow_ns'] for row in said['causes']['rows']}
    means = [sum(row[i] for row in slow) / len(slow) for i in (1, 2, 3)]
    found = [causes.get('device', 0), causes.get('queue', 0), causes.get('host', 0) + causes.get('launch', 0)]
    if len(expected) != said['instances'] or [row[:4] for row in slow][:len(ours)] != ours:
        print('wanted:', slow[:len(ours)], 'found:', ours)
        return 1
    if any(abs(a - b) > 2 for a, b in zip(means, found)):
        print('wanted:', means, 'found:', found)
        return 1
    return 0


sys.exit(main())
