# SPDX-License-Identifier: MIT
"""Compares the samples of a trace with what `perf script --ns -F comm,tid,time,event,period,ip` says of the file
that it was imported from.  compare_perf_script.py DUMP SCRIPT [dwarf]

DUMP is what `hyprof dump` prints.  SCRIPT may have further columns behind the addresses, and times in microseconds.
With "dwarf" perf's addresses of callers are those of their calls, one byte before the return address.
Prints: samples of the trace, of perf, those with an equal head (comm, tid, time, event, period), those whose stack
is equal as well, and those where one stack goes on where the other ends.  A sample that one of both lacks is passed
over; stderr has the first ones that differ.
"""
import re
import sys


def fields(line):
    return dict(re.findall(r"(\w+)=(\"(?:[^\"\\]|\\.)*\"|\S+)", line))


def read_dump(path):
    tables = {}
    samples = []
    for line in open(path, encoding="utf-8", errors="replace"):
        kind, _, rest = line.partition(" ")
        if kind in ("string", "thread", "frame", "stack", "sample_event", "module"):
            row = fields(rest)
            tables.setdefault(kind, {})[int(row["id"])] = row
        elif kind in ("sample", "thread_name"):
            row = fields(rest)
            samples.append((int(row["time_ns"]), len(samples), kind, row))
    samples.sort(key=lambda s: s[:2])
    return tables, samples


def text(tables, number):
    return tables["string"][int(number)]["text"].strip('"') if int(number) else ""


def stack_of(tables, number):
    """Innermost first, without the mark of a cut stack (a module of kind 5)."""
    found = []
    while number:
        row = tables["stack"][number]
        frame = tables["frame"][int(row["frame"])]
        module = tables["module"].get(int(frame["module"]))
        if not module or module["kind"] != "5":
            found.append(int(frame["offset"], 16))
        number = int(row["parent"])
    return found


def read_trace(path):
    tables, events = read_dump(path)
    names = {}
    out = []
    for time, _, kind, row in events:
        if kind == "thread_name":
            names[row["thread"]] = text(tables, row["name"])
            continue
        tid = tables["thread"][int(row["thread"])]["tid"]
        event = text(tables, tables["sample_event"][int(row["event"])]["name"])
        head = (names.get(row["thread"], ""), tid, time, int(row["weight"]), event)
        out.append((head, [ip for ip in stack_of(tables, int(row["stack"])) if ip]))
    return out


def read_script(path):
    out = []
    for block in open(path, encoding="utf-8", errors="replace").read().split("\n\n"):
        lines = [line for line in block.split("\n") if line.strip()]
        if not lines:
            continue
        head = re.match(r"\s*(.*?)\s+(\d+)\s+(\d+)\.(\d+):\s+(\d+)\s+(\S+?):?\s*$", lines[0])
        if not head:
            sys.exit(f"not understood: {lines[0]}")
        comm, tid, seconds, part, period, event = head.groups()
        time = int(seconds) * 10**9 + int(part) * 10 ** (9 - len(part))
        ips = [int(line.split()[0], 16) for line in lines[1:]]
        out.append(((comm, tid, time, int(period), event), [ip for ip in ips if ip], 10 ** (9 - len(part))))
    return out


def pairs_of(ours, theirs):
    """Samples of one thread, moment and event.  perf may have printed microseconds: then a moment is one of those."""
    grain = theirs[0][2] if theirs else 1
    waiting = {}
    for sample in theirs:
        waiting.setdefault((sample[0][1], sample[0][2] // grain, sample[0][4]), []).append(sample)
    for head, stack in ours:
        same = waiting.get((head[1], head[2] // grain, head[4]))
        if same:
            yield (head, stack), same.pop(0)
        else:
            print("only in the trace:", head, file=sys.stderr)
    for left in waiting.values():
        for sample in left:
            print("only of perf:", sample[0], file=sys.stderr)


def main():
    ours, theirs = read_trace(sys.argv[1]), read_script(sys.argv[2])
    is_dwarf = sys.argv[3:] == ["dwarf"]
    heads = equal = longer = n_different = 0
    for (a, mine), (b, of_perf, grain) in pairs_of(ours, theirs):
        is_same = (*a[:2], a[2] // grain, *a[3:]) == (*b[:2], b[2] // grain, *b[3:])
        heads += is_same
        fits = all(x == y or (is_dwarf and x == y + 1) for x, y in zip(mine, of_perf))
        equal += is_same and fits and len(mine) == len(of_perf)
        longer += is_same and fits and len(mine) != len(of_perf)
        if not (is_same and fits) and n_different < 5:
            n_different += 1
            print("differ:", a, [hex(ip) for ip in mine], b, [hex(ip) for ip in of_perf], file=sys.stderr)
    print(len(ours), len(theirs), heads, equal, longer)


main()
