#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what two builds print of the same traces, byte for byte: whether a change that should change nothing does.

Usage: compare_outputs.py OLD NEW TRACE...

OLD, NEW: programs.  Each command of commands() is run with both on each trace, and prints a line if standard output, standard
error or the exit status differ, with the first line that does; the last line is the sum.  The exit status is 1 if anything
differed.  The program's own path is not compared.
"""
import difflib
import os
import subprocess
import sys
import tempfile

FORMATS = [[], ["--json"], ["--json", "--limit", "0"], ["--format", "md"], ["--csv"]]
VIEWS = [["report"], ["report", "--functions"], ["report", "--top-down"], ["report", "--bottom-up"], ["report", "--lines"],
         ["report", "--zones"], ["report", "--zones", "--histogram"], ["report", "--zone", "*"],
         ["report", "--zone", "**", "--group-by", "thread", "--histogram"], ["report", "--zone", "*", "--group-by", "text"],
         ["report", "--threads"], ["report", "--modules"], ["report", "--locks"], ["report", "--memory"], ["report", "--frames"],
         ["report", "--plots"], ["report", "--messages"], ["report", "--devices"], ["report", "--off-cpu"], ["report", "--cpus"],
         ["report", "--off-cpu", "--cpus"], ["report", "--syscalls"], ["report", "--functions", "--from", "1ms"],
         ["why", "--zone", "*"], ["why", "--zone", "*", "--by", "wall"], ["path"], ["path", "--zone", "*"], ["annotate"],
         ["annotate", "--source"], ["modules"], ["check"], ["dump"]]
EXPORTS = ["perfetto", "chrome", "folded", "speedscope", "callgrind", "csv"]


def run(program, arguments, folder):
    done = subprocess.run([program, *arguments], capture_output=True, stdin=subprocess.DEVNULL, cwd=folder, check=False,
                          timeout=300, env={**os.environ, "COLUMNS": "120"})
    name = os.fsencode(program)
    return [done.stdout.replace(name, b"hyprof"), done.stderr.replace(name, b"hyprof"), b"%d" % done.returncode]


def commands(trace):
    for view in VIEWS:
        for words in FORMATS if view[0] not in ("dump", "check") else [[]]:
            yield [*view, *words, *(["-i", trace] if view[0] not in ("dump", "check", "modules") else [trace])]
    yield ["diff", "--anyway", trace, trace]
    yield ["diff", "--anyway", "--json", trace, trace]
    for name in EXPORTS:
        yield ["export", name, "-o", "-", trace]


def first_difference(old, new):
    for a, b in zip(old, new):
        if a != b:
            lines = difflib.unified_diff(a.decode(errors="replace").split("\n"), b.decode(errors="replace").split("\n"),
                                         lineterm="", n=0)
            return " | ".join(list(lines)[3:7])[:300]
    return ""


def main(old, new, *traces):
    n_run = n_differ = 0
    with tempfile.TemporaryDirectory() as folder:
        for trace in traces:
            for arguments in commands(os.path.abspath(trace)):
                before, after = run(os.path.abspath(old), arguments, folder), run(os.path.abspath(new), arguments, folder)
                n_run += 1
                if before != after:
                    n_differ += 1
                    print(f"{' '.join(arguments)}: {first_difference(before, after)}", flush=True)
    print(f"{n_run} outputs of {len(traces)} traces, {n_differ} differ")
    return n_differ != 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
