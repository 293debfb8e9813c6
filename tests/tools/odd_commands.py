#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command of hyprof that reads traces on one trace, in every format, and judges what comes out.

odd_commands.py HYPROF TRACE FOLDER SECONDS [PART [STATUS...]]

PART "1/3" is the second, fifth, eighth... of all runs; "0/1" is all of them.

Right is: one of the exit statuses named (0) for most commands, or 1 with an error of one or two lines where nothing is
called as asked; JSON that a strict parser reads, without NaN; CSV whose rows are equally long; text of UTF-8 without
control characters but the ends of lines; no report of a sanitizer; an end within SECONDS.  Prints a line a fault; the
exit status is 1 if there was one.
"""
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import time

HYPROF, TRACE, FOLDER, SECONDS = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
PART, N_PARTS = (int(number) for number in (sys.argv[5] if len(sys.argv) > 5 else "0/1").split("/"))
FORMATS = (["--format", "text"], ["--json"], ["--csv"], ["--format", "md"])
csv.field_size_limit(1 << 30)


def options_of(command):
    return subprocess.run([HYPROF, command, "--help"], capture_output=True, check=True).stdout.decode()


def refuse_constant(word):
    raise ValueError(f"{word} is no JSON")


def judge_json(out):
    if out.startswith(b"\x1f\x8b"):
        out = gzip.decompress(out)
    json.loads(out.decode("utf-8"), parse_constant=refuse_constant)


def judge_csv(out, separator=","):
    text = out.decode("utf-8", "surrogateescape")  # tracy-csvexport hands on bytes as they are
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    if not rows:
        raise ValueError("no header")
    for row in rows:
        if len(row) != len(rows[0]):
            raise ValueError(f"{len(row)} columns, the header has {len(rows[0])}: {str(row)[:200]}")


def judge_text(out):
    for character in out.decode("utf-8"):
        code = ord(character)
        if (code < 32 and character != "\n") or 127 <= code < 160 or 0x202A <= code <= 0x202E:
            raise ValueError(f"the control character {code:#x}")


def judge_nothing(_out):
    return


def judge_something(out):
    if not out:
        raise ValueError("nothing was written")


class Run:
    def __init__(self):
        self.n_faults = self.n_runs = self.n_wanted = 0
        self.slowest = (0.0, "")

    def fault(self, arguments, words):
        self.n_faults += 1
        print(f"{' '.join(arguments)}: {words}")

    def stderr(self, arguments, status, err):
        text = err.decode("utf-8", "replace")
        if "Sanitizer" in text or "runtime error" in text:
            self.fault(arguments, text[:2000])
        lines = [line for line in text.split("\n") if line]
        if status == 1 and not any(line.startswith(("hyprof: error: ", "hyprof: warning: ")) for line in lines):
            self.fault(arguments, f"exit status 1, and no words but {text[:300]!r}")
        try:
            judge_text(err)
        except ValueError as problem:
            self.fault(arguments, f"standard error: {problem}: {text[:200]!r}")
        for line in lines:
            if len(line) > 4000:
                self.fault(arguments, f"a line of {len(line)} characters on standard error")

    def run(self, arguments, judge, statuses=(0,)):
        began = time.monotonic()
        self.n_wanted += 1
        if self.n_wanted % N_PARTS != PART:
            return
        self.n_runs += 1
        try:
            done = subprocess.run([HYPROF, *arguments], capture_output=True, timeout=SECONDS,
                                  stdin=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            self.fault(arguments, f"not over after {SECONDS:.0f} s")
            return
        seconds = time.monotonic() - began
        if seconds > self.slowest[0]:
            self.slowest = (seconds, " ".join(arguments[:3]))
        if done.returncode not in statuses:
            self.fault(arguments, f"exit status {done.returncode}: {done.stderr.decode('utf-8', 'replace')[:1500]}")
            return
        self.stderr(arguments, done.returncode, done.stderr)
        if done.returncode != 0:
            return
        try:
            judge(done.stdout)
        except (ValueError, csv.Error) as problem:
            self.fault(arguments, f"{problem}"[:300] + f"; began as {done.stdout[:150]!r}")


def document_judges():
    return zip(FORMATS, (judge_text, judge_json, judge_csv, judge_text))


def run_report(run, ok):
    have = options_of("report")
    views = [["--functions"], ["--top-down"], ["--bottom-up"], ["--function", "*"], ["--zones"],
             ["--zones", "--histogram"], ["--threads"], ["--modules"], ["--locks"], ["--memory"], ["--frames"],
             ["--plots"], ["--messages"], ["--off-cpu"], ["--cpus"], ["--zones", "--zone", "**"],
             ["--functions", "--from", "1ms", "--to", "2ms"], ["--threads", "--cpu", "0"]]
    for view in views:
        if f"{view[0]} " not in have:
            continue
        for form, judge in document_judges():
            overview = view[0] in ("--off-cpu", "--cpus")
            filtered = any(word in ("--zone", "--from", "--cpu") for word in view)
            run.run(["report", *view, *form, TRACE], judge, ok + (1,) * filtered + (2,) * overview)
    for form, judge in document_judges():
        run.run(["report", *form, TRACE], judge, ok + ((2,) if judge is judge_csv or form[-1] == "md" else ()))
        for zone in ("**", "*", "z1"):
            run.run(["report", "--zone", zone, *form, TRACE], judge, ok + (1,))


def run_questions(run, ok):
    for form, judge in document_judges():
        for zone in ("*", "z1"):
            run.run(["why", "--zone", zone, *form, TRACE], judge, ok + (1,))
            run.run(["path", "--zone", zone, *form, TRACE], judge, ok + (1,))
        run.run(["path", *form, TRACE], judge, ok + (1,))
        # Two recordings without anything to compare are a usage error, exit status 2.
        run.run(["diff", *form, TRACE, TRACE], judge, (0, 2))
    for form, judge in document_judges():
        run.run(["annotate", *form, TRACE], judge, ok + (1,))
        run.run(["modules", *form, TRACE], judge, ok)
        run.run(["check", *form, TRACE], judge, ok + (1,))


def run_tables(run, ok):
    for switches in ([], ["-e"], ["-u"], ["-u", "-p"], ["-u", "-e"], ["-m"], ["-f", "x", "-c"], ["-f", "X"]):
        run.run(["csv", *switches, TRACE], judge_csv, ok + (1,) * ("-f" in switches))
    run.run(["csv", "-u", "-s", "\\t", TRACE], lambda out: judge_csv(out, "\t"), ok)
    database = os.path.join(FOLDER, "out.db")
    for command in (["query", "--force", "--sqlite"], ["export", "sqlite", "--force", "-o"]):
        run.run([*command, database, TRACE], judge_nothing, ok)
        if os.path.exists(database):
            check = subprocess.run(["sqlite3", database, "PRAGMA integrity_check"], capture_output=True, check=False)
            if check.stdout != b"ok\n":
                run.fault(command, f"the database: {check.stdout!r} {check.stderr!r}")
            os.unlink(database)


def run_exports(run, ok):
    formats = subprocess.run([HYPROF, "export", "--list"], capture_output=True, check=True).stdout.decode()
    judges = {"firefox": judge_json, "speedscope": judge_json, "chrome": judge_json, "folded": judge_nothing}
    for line in formats.splitlines():
        name = line.split()[0]
        # run_tables() has the database and the CSV; the page is hundreds of the answers above, which take half a minute.
        if name in ("sqlite", "html", "csv"):
            continue
        for more in ([], ["--zones-as-frames"]):
            run.run(["export", name, *more, "-o", "-", TRACE], judges.get(name, judge_something), ok)


def run_others(run, ok):
    run.run(["dump", TRACE], judge_nothing, ok + (1,))
    run.run(["symbolize", "--force", "-o", os.path.join(FOLDER, "named.hyp"), TRACE], judge_text, ok + (1,))


def main():
    run = Run()
    ok = tuple(int(status) for status in sys.argv[6:]) or (0,)
    for part in (run_report, run_questions, run_tables, run_exports, run_others):
        part(run, ok)
    print(f"{run.n_runs} runs, {run.n_faults} faults; the slowest took {run.slowest[0]:.1f} s: {run.slowest[1]}")
    return 1 if run.n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
