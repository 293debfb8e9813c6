#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges `hyprof path --what-if` by programs that can really be made faster: `w_delays serial 150 serial=0.5`.

judge_what_if.py BUILD [--runs N] [--only KIND,...] [--ordinary] [--keep FOLDER]

Each program is recorded as it is, and the mean of its zone is predicted for a faster function; then it is recorded with
that function faster, and its mean is measured.  Both are without the time in which other programs had the CPUs, and the
programs have a real-time priority where that is allowed, and --ordinary is not given.  Of N runs the median counts.  The error is in points of the mean
as it was; that of the share on the path, times the part that is saved, is printed beside it.
Exit status: 0 = all errors are within 5 points, 1 = not all, 2 = usage.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ERROR_POINTS = 5.0
FREQUENCY_HZ = 2000
TIMEOUT_S = 90


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str
    zone: str
    function: str
    factor: float


# Where the factor is small, something else is the last one; where nothing is gained, the function is not on the path.
CASES = [
    Case("serial", "frame", "serial", 0.5),
    Case("serial", "frame", "side_by_side", 0.25),
    Case("barrier", "step@main", "slow_part", 0.5),
    Case("barrier", "step@main", "slow_part", 0.1),
    Case("starve", "item", "produce", 0.5),
    Case("starve", "item", "produce", 0.1),
    Case("stages", "batch", "transform", 0.5),
    Case("stages", "batch", "transform", 0.1),
    Case("pipes", "query", "sort_lines", 0.5),
    Case("dag", "build", "job_b", 0.5),
    Case("dag", "build", "job_b", 0),
    Case("dag", "build", "side_job", 0.5),
    Case("oversized", "request@main", "inside", 0.5),
    Case("oversized", "request@main", "inside", 0.1),
    Case("unixsock", "call", "handle", 0.5),
    Case("convoy", "request", "flush_log", 0.5),
    Case("convoy", "request", "flush_log", 0.1),
    Case("herd", "item", "make_item", 0.5),
    Case("episode", "request", "other_work", 0.5),
    Case("imbalance", "loop", "big_part", 0.5),
    Case("imbalance", "loop", "big_part", 0.1),
    Case("imbalance", "loop", "small_part", 0.5),
]


class Judge:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.build = Path(options.build)
        self.folder = folder
        self.priority = ["chrt", "-r", "10"]
        if options.ordinary:
            self.priority = []
        elif shutil.which("chrt") is None or subprocess.run([*self.priority, "true"], capture_output=True).returncode != 0:
            print("real-time priorities are not allowed: programs have ordinary ones")
            self.priority = []

    def record(self, kind: str, faster: str, number: int) -> Path:
        trace = self.folder / f"{kind}-{faster or 'as-it-is'}-{number}.hyp"
        command = [str(self.build / "hyprof"), "record", "-q", "--off-cpu", "-F", str(FREQUENCY_HZ), "-o", str(trace), "--",
                   *self.priority, str(self.build / "workloads" / "w_delays"), kind, *(["as-usual", faster] if faster else [])]
        subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S)
        return trace

    def ask(self, trace: Path, case: Case, *options: str) -> dict[str, Any]:
        command = [str(self.build / "hyprof"), "path", "--json", "--limit", "0", "--zone", case.zone, *options, str(trace)]
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIMEOUT_S)
        document: dict[str, Any] = json.loads(run.stdout)
        return document


def share_of(document: dict[str, Any], function: str) -> float:
    return float(sum(row["share"] for row in document["path"]["rows"] if row["kind"] == "run" and row["function"] == function))


def judge(judge_: Judge, case: Case, as_it_is: list[Path]) -> float:
    change = f"{case.function}={case.factor:g}"
    answers = [judge_.ask(trace, case, "--what-if", change) for trace in as_it_is]
    before = statistics.median(a["what_if_before_ns"] for a in answers)
    predicted = statistics.median(a["what_if_mean_ns"] / a["what_if_before_ns"] for a in answers)
    alone = statistics.median(1 - share_of(a, case.function) * (1 - case.factor) for a in answers)
    after = [judge_.ask(judge_.record(case.kind, change, i), case) for i in range(len(as_it_is))]
    truth = statistics.median(a["mean_ns"] * (1 - a["machine_share"]) for a in after) / before
    cap = f"{answers[0]['capped_by_thread']} {answers[0]['capped_by_function']}" if answers[0]["capped_by_thread"] else "-"
    error = 100 * (predicted - truth)
    print(f"{case.kind:10} {change:18} {before / 1e6:8.2f} {predicted * before / 1e6:10.2f} {truth * before / 1e6:8.2f}"
          f" {error:8.1f} {100 * (alone - truth):12.1f}  {cap}", flush=True)
    return abs(error)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="judges hyprof path --what-if by programs that can be made faster")
    parser.add_argument("build", help="build/release")
    parser.add_argument("--runs", type=int, default=3, metavar="N")
    parser.add_argument("--only", metavar="KIND,...")
    parser.add_argument("--ordinary", action="store_true", help="priorities are ordinary; for information")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the traces there")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    wanted = options.only.split(",") if options.only else [case.kind for case in CASES]
    errors = []
    with tempfile.TemporaryDirectory(prefix="hyprof-what-if.") as scratch:
        folder = Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        judge_ = Judge(options, folder)
        print(f"{'kind':10} {'change':18} {'now, ms':>8} {'then, ms':>10} {'true, ms':>8} {'error':>8} {'share alone':>12}  capped by")
        as_it_is: dict[str, list[Path]] = {}
        for case in CASES:
            if case.kind not in wanted:
                continue
            if case.kind not in as_it_is:
                as_it_is[case.kind] = [judge_.record(case.kind, "", i) for i in range(options.runs)]
            errors.append(judge(judge_, case, as_it_is[case.kind]))
    n_good = sum(error <= ERROR_POINTS for error in errors)
    print(f"{n_good} of {len(errors)} within {ERROR_POINTS:.0f} points; mean error {statistics.mean(errors or [0]):.1f}")
    return 0 if errors and n_good == len(errors) else 1


if __name__ == "__main__":
    sys.exit(main())
