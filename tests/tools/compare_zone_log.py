#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares hyprof's numbers of the zone "logged" with the program's own log of these zones (w_truth).

compare_zone_log.py LOG ZONES.json CSV UNWRAPPED.csv

LOG has two durations a zone: hyprof's cannot be below the first, which was measured inside of the zone, nor above the
second, measured around it.  Then the same is true of every order statistic, of the sum and of the mean.  On top come
CLOCK_NS for the program's clock, converted to the recorder's, and 1 % for the quantiles of a histogram.
"""
import csv
import json
import math
import sys

CLOCK_NS = 100
QUANTILE = 0.01
n_faults = 0


def check(name, low, found, high, share=0.0):
    global n_faults
    good = low * (1 - share) - CLOCK_NS <= found <= high * (1 + share) + CLOCK_NS
    print(f"{'' if good else 'FAULT: '}{name}: {low:.0f} <= {found:.0f} <= {high:.0f}")
    n_faults += not good


def rank(numbers, share):
    return numbers[max(math.ceil(share * len(numbers)), 1) - 1]


def check_report(row, lows, highs):
    check("count", len(lows) + CLOCK_NS, row["count"], len(lows) - CLOCK_NS)
    check("unclosed", CLOCK_NS, row["n_unclosed"], -CLOCK_NS)
    check("total_ns", sum(lows), row["total_ns"], sum(highs))
    check("mean_ns", sum(lows) / len(lows), row["mean_ns"], sum(highs) / len(highs))
    for key, share in (("p50_ns", 0.5), ("p90_ns", 0.9), ("p99_ns", 0.99), ("p99_9_ns", 0.999)):
        check(key, rank(lows, share), row[key], rank(highs, share), QUANTILE)
    check("min_ns", lows[0], row["min_ns"], highs[0])
    check("max_ns", lows[-1], row["max_ns"], highs[-1])


def check_csv(row, lows, highs, durations):
    n = len(durations)
    mean = sum(durations) / n
    check("csv counts", len(lows) + CLOCK_NS, int(row["counts"]), len(lows) - CLOCK_NS)
    check("csv total_ns", sum(lows), int(row["total_ns"]), sum(highs))
    check("csv mean_ns", sum(lows) / n, int(row["mean_ns"]), sum(highs) / n)
    check("csv min_ns", lows[0], int(row["min_ns"]), highs[0])
    check("csv max_ns", lows[-1], int(row["max_ns"]), highs[-1])
    # Its own zones' sum: a squared one cannot be enclosed as tightly.
    std = math.sqrt(sum((d - mean) ** 2 for d in durations) / (n - 1))
    check("csv std_ns", std + CLOCK_NS - 1, float(row["std_ns"]), std - CLOCK_NS + 1)


def main():
    with open(sys.argv[1], encoding="ascii") as log:
        pairs = [tuple(map(int, line.split())) for line in log]
    lows, highs = (sorted(column) for column in zip(*pairs))
    with open(sys.argv[2], encoding="utf-8") as zones:
        check_report(next(r for r in json.load(zones)["zones"]["rows"] if r["name"] == "logged"), lows, highs)
    with open(sys.argv[4], encoding="utf-8", newline="") as table:
        durations = [int(r["exec_time_ns"]) for r in csv.DictReader(table) if r["name"] == "logged"]
    if len(durations) != len(pairs):
        print(f"FAULT: {len(durations)} rows of every zone, the log has {len(pairs)}")
        return 1
    with open(sys.argv[3], encoding="utf-8", newline="") as table:
        check_csv(next(r for r in csv.DictReader(table) if r["name"] == "logged"), lows, highs, durations)
    n_outside = sum(not low - CLOCK_NS <= d <= high + CLOCK_NS for d, (low, high) in zip(durations, pairs))
    print(f"{'FAULT: ' if n_outside else ''}{n_outside} of {len(pairs)} single zones are outside of what the log says")
    return 1 if n_faults or n_outside else 0


if __name__ == "__main__":
    sys.exit(main())
