#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judges `hyprof path` by programs whose delays are known: tests/workloads/delays, and truth.tsv there.

judge_paths.py BUILD [--load quiet|loaded|both] [--runs N] [--only NAME,...] [--wall] [--idle] [...]

Each program is recorded with --off-cpu, and the answer about its root zone is compared with the truth: the sum of the
segments is the time of the instances, to the nanosecond; the first row is the planted thread and place; the shares of the
planted places are within 10 points; where nothing is planted, no other thread has 5 %.  "quiet": the program has a
real-time priority, so that others on the machine do not preempt it.  "loaded": its priority is ordinary, and two spinning
processes run beside it; the truth itself may move then, and shares are printed but not judged.

--answer-with COMMAND judges another program, which prints the same document: COMMAND path|wall|idle ZONE TRACE.
Exit status: 0 = the bars below hold, 1 = they do not, 2 = usage.
"""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

# The documents' members, should their names change.
INSTANCES, TOTAL_NS, SEGMENTS_NS, CONFIDENCE, PATH_ROWS = "instances", "total_ns", "segments_ns", "confidence", "path"
SHARE, KIND, THREAD, FUNCTION, IS_OWN = "share", "kind", "thread_name", "function", "own"
WALL_ROWS, WALL_SHARE, WALL_FUNCTION = "wall", "share", "function"
IDLE_SHARE = "idle_share"
# The kind of a row -> how truth.tsv calls the place; where a thread ran, the place is the function.
PLACES = {"timer": "[timer]", "disk": "[disk]", "network": "[network]", "spin": "[spin]", "preempted": "[preempted]",
          "ready": "[preempted]", "throttled": "[preempted]"}
MACHINE = "[preempted]"

SHARE_POINTS = 10.0
WALL_POINTS = 3.0
IDLE_POINTS = 4.0
OVERHEAD_POINTS = 10.0  # of the wall time, outside of planted functions
NULL_SHARE = 5.0  # of another thread
FIRST_BAR = {"quiet": 0.95, "loaded": 0.90}
SHARES_BAR = 0.95
NULL_BAR = 0.98
FREQUENCY_HZ = 2000
TIMEOUT_S = 90
N_SPINNERS = 2
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable  # as make chooses it
SOURCES = Path(__file__).resolve().parent.parent / "workloads" / "delays"


@dataclasses.dataclass(frozen=True)
class Truth:
    name: str
    program: str
    runs: tuple[str, ...]  # "rt": quiet ones have a real-time priority; "quiet": only these are judged
    zone: str
    thread: str  # "*": any; "null": each instance delays itself
    places: tuple[str, ...]
    path: str
    wall: str
    busy: str

    @property
    def is_null(self) -> bool:
        return self.thread == "null"


@dataclasses.dataclass
class Verdict:
    skipped: str = ""
    failed: str = ""
    is_exact: bool = False
    is_first_right: bool = False  # of a null: no other thread has a part in it
    error: float = 0.0  # of the worst share, in points
    wall_error: float | None = None
    idle_error: float | None = None
    machine: float = 0.0  # percent of the path
    confidence: str = ""
    found: str = ""  # the first row


def read_truths(path: Path) -> list[Truth]:
    truths = []
    for line in path.read_text(encoding="ascii").splitlines():
        if line.startswith("#") or not line:
            continue
        name, program, runs, zone, first, shares, wall, busy = line.split("\t")
        thread, _, places = first.partition(" ")
        truths.append(Truth(name, program, tuple(runs.split()), zone, thread, tuple(places.split(",")), shares, wall, busy))
    return truths


def rows_of(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    table = document[key]
    rows: list[dict[str, Any]] = table["rows"] if isinstance(table, dict) else table
    return rows


def plain_function(name: str | None) -> str:
    """Without the parameters of C++ and what compilers append."""
    return (name or "").split("(")[0].split(".constprop")[0].split(".part")[0]


def place_of(row: dict[str, Any]) -> str:
    if row[KIND] in ("run", "device"):
        return plain_function(row[FUNCTION])
    return PLACES.get(row[KIND], f"[{row[KIND]}]")


def worst_error(shares: dict[str, float], stated: str) -> float:
    """The largest difference between shares and what is stated of them ("a=75 b=20+"), in points."""
    worst = 0.0
    for word in stated.split():
        place, _, number = word.rpartition("=")
        difference = shares.get(place, 0.0) - float(number.rstrip("+"))
        worst = max(worst, max(0.0, -difference) if number.endswith("+") else abs(difference))
    return worst


def add_up(rows: list[tuple[str, float]]) -> dict[str, float]:
    """Percent of all, by place."""
    total = sum(share for _, share in rows) or 1.0
    shares: dict[str, float] = {}
    for place, share in rows:
        shares[place] = shares.get(place, 0.0) + 100 * share / total
    return shares


def judge_path(truth: Truth, document: dict[str, Any], stated: str) -> Verdict:
    rows = rows_of(document, PATH_ROWS)
    total = sum(row[SHARE] for row in rows) or 1.0
    verdict = Verdict(confidence=document.get(CONFIDENCE) or "none")
    verdict.is_exact = document[SEGMENTS_NS] == document[TOTAL_NS] > 0
    verdict.machine = 100 * sum(row[SHARE] for row in rows if place_of(row) == MACHINE) / total
    if MACHINE not in truth.places and MACHINE not in stated:
        rows = [row for row in rows if place_of(row) != MACHINE]
    if not rows:
        verdict.found = "nothing"
        return verdict
    first = max(rows, key=lambda row: float(row[SHARE]))
    verdict.found = f"{first[THREAD]} {place_of(first)}"
    verdict.error = worst_error(add_up([(place_of(row), row[SHARE]) for row in rows]), stated)
    if truth.is_null:
        others = add_up([("own" if row[IS_OWN] else str(row[THREAD]), row[SHARE]) for row in rows])
        worst = max((share, thread) for thread, share in {**others, "own": 0.0}.items())
        verdict.is_first_right = worst[0] < NULL_SHARE
        if not verdict.is_first_right:
            verdict.found = f"{worst[1]} has {worst[0]:.0f}%"
    else:
        verdict.is_first_right = truth.thread in ("*", first[THREAD]) and place_of(first) in truth.places
    return verdict


def judge_wall(rows: list[dict[str, Any]], stated: str) -> float:
    """The worst error of the planted functions among each other: starting, waking and recording take their part as well."""
    planted = {word.rpartition("=")[0]: 0.0 for word in stated.split()}
    for row in rows:
        function = plain_function(row[WALL_FUNCTION])
        if function in planted:
            planted[function] += 100 * float(row[WALL_SHARE])
    wanted = sum(float(word.rpartition("=")[2]) for word in stated.split())
    found = sum(planted.values())
    if abs(found - wanted) > OVERHEAD_POINTS:
        return abs(found - wanted)
    return worst_error({function: share * wanted / found for function, share in planted.items()}, stated)


class Judge:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.build = Path(options.build)
        self.hyprof = str(self.build / "hyprof")
        self.options = options
        self.folder = folder
        self.priority = ["chrt", "-r", "10"]
        if shutil.which("chrt") is None or subprocess.run([*self.priority, "true"], capture_output=True).returncode != 0:
            print("real-time priorities are not allowed: quiet runs have ordinary ones")
            self.priority = []

    def command_of(self, truth: Truth, load: str) -> list[str]:
        before = self.priority if load == "quiet" and "rt" in truth.runs else []
        if truth.program.endswith(".py"):
            command = [PYTHON, str(SOURCES / truth.program), truth.name]
        else:
            command = [str(self.build / "workloads" / truth.program), truth.name]
        return [*before, *command]

    def ask(self, question: str, truth: Truth, trace: Path) -> dict[str, Any]:
        zone = truth.zone
        if self.options.answer_with:
            command = [*shlex.split(self.options.answer_with), question, zone, str(trace)]
        elif question == "path":
            command = [self.hyprof, "path", "--zone", zone, "--json", "--limit", "0", str(trace)]
        else:
            by_zone = ["--zone", zone] if question == "idle" else []
            command = [self.hyprof, "report", f"--{question}", *by_zone, "--json", "--limit", "0", str(trace)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        if run.returncode != 0:
            raise RuntimeError(f"{question}: status {run.returncode}: {run.stderr.strip().splitlines()[-1:]}")
        document: dict[str, Any] = json.loads(run.stdout)
        return document

    def record(self, truth: Truth, load: str, trace: Path) -> Verdict | str:
        """What the program says of its own truth; or a verdict, where there is nothing to judge."""
        command = [self.hyprof, "record", "-q", "--off-cpu", "-F", str(FREQUENCY_HZ), "-o", str(trace), "--",
                   *self.command_of(truth, load)]
        environment = {**os.environ, "PYTHONPATH": str(self.build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, env=environment)
        last = (run.stdout.strip().splitlines() or [""])[-1]
        if run.returncode == 77:
            return Verdict(skipped=last)
        if run.returncode != 0:
            return Verdict(failed=f"status {run.returncode}: {(run.stderr or run.stdout).strip()[-200:]}")
        return last.removeprefix("truth:").strip()

    def judge(self, truth: Truth, load: str, number: int) -> Verdict:
        trace = self.folder / f"{truth.name}-{load}-{number}.hyp"
        try:
            said = self.record(truth, load, trace)
            if isinstance(said, Verdict):
                return said
            stated = said if truth.path == "measured" else truth.path
            verdict = judge_path(truth, self.ask("path", truth, trace), stated)
            if self.options.wall and load == "quiet" and truth.wall != "-":
                rows = rows_of(self.ask("wall", truth, trace), WALL_ROWS)
                verdict.wall_error = judge_wall(rows, truth.wall)
            if self.options.idle and load == "quiet" and truth.busy != "-":
                n_cpus = len(os.sched_getaffinity(0))
                found = 100 * self.ask("idle", truth, trace)[IDLE_SHARE]
                verdict.idle_error = abs(found - 100 * (1 - float(truth.busy) / n_cpus))
        except (RuntimeError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
            verdict = Verdict(failed=f"{type(error).__name__}: {error}")
        if self.options.keep is None:
            trace.unlink(missing_ok=True)
        return verdict


class Spinners:
    """Processes that run beside loaded programs."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __enter__(self) -> None:
        self.running = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(self.n)]

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            process.kill()
            process.wait()


def print_row(truth: Truth, load: str, verdicts: list[Verdict]) -> None:
    judged = [v for v in verdicts if not v.skipped and not v.failed]
    for words in sorted({v.skipped for v in verdicts if v.skipped} | {v.failed for v in verdicts if v.failed}):
        print(f"{truth.name:12} {load:6}    {words}", flush=True)
    if not judged:
        return
    right = sum(v.is_first_right for v in judged)
    others = sorted({f"{v.found} ({v.confidence}, machine {v.machine:.0f}%)" for v in judged if not v.is_first_right})
    walls = [v.wall_error for v in judged if v.wall_error is not None]
    idles = [v.idle_error for v in judged if v.idle_error is not None]
    print(f"{truth.name:12} {load:6} {right:3} of {len(judged):<3} {max(v.error for v in judged):9.1f}"
          f" {max(v.machine for v in judged):8.0f}%"
          f" {f'{max(walls):8.1f}' if walls else '':8} {f'{max(idles):8.1f}' if idles else '':8}"
          f"  {'' if all(v.is_exact for v in judged) else 'NOT EXACT '}{'; '.join(others)}", flush=True)


def percent(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.1f}%)" if whole else "")


def sum_up(load: str, judged: list[tuple[Truth, Verdict]]) -> bool:
    """Prints the totals of a load, and returns whether they reach the bars."""
    planted = [v for truth, v in judged if not truth.is_null]
    nulls = [v for truth, v in judged if truth.is_null]
    n_right = sum(v.is_first_right for v in planted)
    n_shares = sum(v.error <= SHARE_POINTS for v in planted)
    # Who is late at a barrier on a loaded machine does delay the other: that is said, but with little confidence.
    n_null = sum(v.is_first_right or (load == "loaded" and v.confidence == "low") for v in nulls)
    n_inexact = sum(not v.is_exact for _, v in judged)
    n_sure = sum(not v.is_first_right and v.confidence == "high" for _, v in judged)
    walls = [v.wall_error for _, v in judged if v.wall_error is not None]
    idles = [v.idle_error for _, v in judged if v.idle_error is not None]
    print(f"{load}: first row {percent(n_right, len(planted))}; shares within {SHARE_POINTS:.0f} points "
          f"{percent(n_shares, len(planted))}; nulls {percent(n_null, len(nulls))}; "
          f"not exact {n_inexact}; wrong with high confidence {n_sure}")
    if planted:
        print(f"    mean of the worst share errors {sum(v.error for v in planted) / len(planted):.1f} points")
    if walls:
        print(f"    wall within {WALL_POINTS:.0f} points {percent(sum(e <= WALL_POINTS for e in walls), len(walls))}")
    if idles:
        print(f"    idle within {IDLE_POINTS:.0f} points {percent(sum(e <= IDLE_POINTS for e in idles), len(idles))}")
    is_good = n_right >= FIRST_BAR[load] * len(planted) and n_null >= NULL_BAR * len(nulls)
    if load == "quiet":
        is_good = is_good and n_shares >= SHARES_BAR * len(planted)
    return is_good and n_inexact == 0 and n_sure == 0


def run_load(judge: Judge, truths: list[Truth], load: str) -> bool:
    judged: list[tuple[Truth, Verdict]] = []
    n_failed = 0
    with Spinners(N_SPINNERS if load == "loaded" else 0):
        for truth in truths:
            if load == "loaded" and "quiet" in truth.runs:
                continue
            verdicts = [judge.judge(truth, load, number) for number in range(judge.options.runs)]
            print_row(truth, load, verdicts)
            n_failed += sum(bool(v.failed) for v in verdicts)
            judged += [(truth, v) for v in verdicts if not v.skipped and not v.failed]
    is_good = sum_up(load, judged)
    if n_failed:
        print(f"    {n_failed} runs failed")
    return is_good and not n_failed and bool(judged)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="judges hyprof path by programs whose delays are known")
    parser.add_argument("build", help="build/release")
    parser.add_argument("--load", choices=("quiet", "loaded", "both"), default="both")
    parser.add_argument("--runs", type=int, default=5, metavar="N")
    parser.add_argument("--only", metavar="NAME,...", help="these kinds; +null or -null: all nulls, or none")
    parser.add_argument("--wall", action="store_true", help="judge report --wall in quiet runs as well")
    parser.add_argument("--idle", action="store_true", help="judge report --idle in quiet runs as well")
    parser.add_argument("--answer-with", metavar="COMMAND", help="another program that answers")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the traces there")
    return parser.parse_args()


def choose(truths: list[Truth], only: str | None) -> list[Truth]:
    if only is None:
        return truths
    names = set(only.split(","))
    unknown = names - {truth.name for truth in truths} - {"+null", "-null"}
    if unknown:
        sys.exit(f"judge_paths.py: truth.tsv has no kind named {', '.join(sorted(unknown))}")
    if "-null" in names:
        return [truth for truth in truths if not truth.is_null]
    return [truth for truth in truths if truth.name in names or truth.is_null and "+null" in names]


def main() -> int:
    options = parse_options()
    truths = choose(read_truths(SOURCES / "truth.tsv"), options.only)
    loads = ("quiet", "loaded") if options.load == "both" else (options.load,)
    with tempfile.TemporaryDirectory(prefix="hyprof-paths.") as scratch:
        folder = Path(options.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        judge = Judge(options, folder)
        print(f"{'kind':12} {'load':6} {'first row':10} {'worst, pt':>9} {'machine':>9} {'wall, pt':>8} {'idle, pt':>8}"
              "  where it is wrong: the first row (confidence)")
        return 0 if all([run_load(judge, truths, load) for load in loads]) else 1


if __name__ == "__main__":
    sys.exit(main())
