#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fits the prior of analyze/diff/diff_test.h: how much the cost of a function or zone varies between runs of one program.

Usage: diff_draws --values FOLDER | fit_diff_prior.py      (several folders: their lines one after the other)

Model: a run's logarithm has the variance s2 = RUN^2 + COUNTS * c, where c is the variance by the number of samples or
instances alone; for an item of a program, the true variance is s2 * DF / chi-squared(DF), so that the difference of two
runs, divided by its standard error, has Student's distribution with DF degrees of freedom.  Among all pairs of runs of a
folder, these three numbers are those of the largest likelihood; functions of the kernel, which no pair judges, are left
out.
"""

import collections
import itertools
import math
import sys


def log_density(t, df):
    """The logarithm of Student's density, without what does not depend on t and df."""
    return (math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df)
            - (df + 1) / 2 * math.log1p(t * t / df))


def read_values(lines):
    """folder -> item -> run -> (logarithm, variance by counts)."""
    folders = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in lines:
        folder, kind, run, name, value, counts = line.rstrip("\n").split("\t")
        if kind != "kernel":
            folders[folder][kind, name][int(run)] = float(value), float(counts)
    return folders


def differences(folders):
    """Of each pair of runs of an item: the difference and both variances by counts."""
    for folder, items in sorted(folders.items()):
        for item, runs in sorted(items.items()):
            for a, b in itertools.combinations(sorted(runs), 2):
                yield folder, item, (a, b), runs[b][0] - runs[a][0], runs[a][1] + runs[b][1]


def likelihood(rows, run, counts, df):
    total = 0
    for _, _, _, difference, by_counts in rows:
        variance = 2 * run * run + counts * by_counts
        total += log_density(difference / math.sqrt(variance), df) - 0.5 * math.log(variance)
    return total


def fit(rows):
    grid = itertools.product((0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06), (0.5, 1, 1.5, 2, 3, 4),
                             (2, 3, 4, 5, 6, 8, 12))
    return max(grid, key=lambda g: likelihood(rows, *g))


def main():
    folders = read_values(sys.stdin)
    rows = [row for row in differences(folders) if math.isfinite(row[4])]
    # A part of the pairs is enough, and quicker.
    run, counts, df = fit(rows[::max(1, len(rows) // 4000)])
    print(f"{len(folders)} folders, {len(rows)} pairs of runs of an item")
    print(f"largest likelihood: RUN {run:.3f}  COUNTS {counts:.1f}  DF {df}")
    worst = collections.Counter()
    for folder, item, _, difference, by_counts in rows:
        worst[folder, item] = max(worst[folder, item],
                                  abs(difference) / math.sqrt(2 * run * run + counts * by_counts))
    for (folder, item), t in worst.most_common(8):
        print(f"  {t:5.1f} standard errors: {folder} {item[0]} {item[1][:60]}")


if __name__ == "__main__":
    main()
