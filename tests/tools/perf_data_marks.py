#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The marks of rounds in a perf.data file of `hyprof export`, and records after one that a reader had passed on.

Usage: perf_data_marks.py FILE.  Prints both numbers.  At a mark, all records are passed on that are no newer than the newest one
before the mark before."""
import struct
import sys

SAMPLE, FINISHED_ROUND = 9, 68

with open(sys.argv[1], "rb") as file:
    data = file.read()
at, n_bytes = struct.unpack_from("<QQ", data, 40)
end = at + n_bytes
n_marks = n_early = newest = limit = passed = 0
while at < end:
    kind, _, length = struct.unpack_from("<IHH", data, at)
    if kind == FINISHED_ROUND:
        n_marks += 1
        passed, limit = limit, newest
    else:
        time = struct.unpack_from("<Q", data, at + 8 + 24 if kind == SAMPLE else at + length - 24)[0]
        n_early += 0 < time < passed
        newest = max(newest, time)
    at += length
print(n_marks, n_early)
