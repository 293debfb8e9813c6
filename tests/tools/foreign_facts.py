#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a file of another tool says, read without hyprof; or, of `hyprof dump`, what hyprof made of it.

Usage: foreign_facts.py FORMAT FILE, or foreign_facts.py dump FILE.  FILE is unpacked; - is standard input.  With --sums
as a third word spans of devices are not told apart by name, and values and moments are left out.
Prints a line for each name of spans: `zone` (of threads) or `span` (of devices), name, count, total length, first begin,
last end; then how many values and moments threads and devices have.  Zones are in ns since the first one begins, spans
in ticks of their device's clock.  All is in whole numbers.
"""
import csv
import json
import re
import struct
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any, Callable, Iterator

Row = dict[str, Any]
ABSENT = 0xFFFFFFFF
OF_DEVICES = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync", "cuda_profiler_range"}


class Facts:
    """Spans as (begin, end) by what they are and their names; and counts of the rest."""

    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        self.counts: Counter[str] = Counter()

    def add(self, kind: str, name: str, begin: int, end: int) -> None:
        self.spans[kind, name].append((begin, end))

    def forget_names(self) -> None:
        named, self.spans = self.spans, defaultdict(list)
        for (kind, _), spans in named.items():
            self.spans[kind, "*"] += spans

    def print(self) -> None:
        first = min((b for (kind, _), s in self.spans.items() for b, _ in s if kind == "zone"), default=0)
        for (kind, name), spans in sorted(self.spans.items()):
            origin = first if kind == "zone" else 0
            print(kind, ascii(name), len(spans), sum(e - b for b, e in spans),
                  min(b for b, _ in spans) - origin, max(e for _, e in spans) - origin)
        for what in ("values", "moments", "device values", "device moments"):
            print(what, self.counts[what])


# ---- IREE

def read_iree_lines(data: bytes, facts: Facts) -> None:
    for row in map(json.loads, data.splitlines()):
        kind = row["record_type"]
        if kind == "dispatch_event" and row["valid"] and row["end_tick"] >= row["start_tick"]:
            facts.add("span", row["key"], row["start_tick"], row["end_tick"])
        elif kind == "queue_device_event" and row["end_tick"] >= row["start_tick"]:
            facts.add("span", row["op"], row["start_tick"], row["end_tick"])
        elif kind == "queue_event":
            facts.add("zone", row["op"], row["host_time_ns"], row["ready_host_time_ns"] or row["host_time_ns"])
        elif kind == "host_execution_event":
            facts.add("span", row["key"] or row["op"], row["start_host_time_ns"], row["end_host_time_ns"])
            facts.counts["device values"] += row["tile_count"] != 0
        elif kind == "command_region_event":
            facts.add("span", "command region", row["start_host_time_ns"], row["end_host_time_ns"])
        elif kind in ("counter_sample", "device_metric_sample"):
            facts.counts["device values"] += len(row["values"])
        facts.counts["device values"] += kind == "memory_event"


def read_iree_container(data: bytes, facts: Facts) -> None:
    """Ticks and times of packed records alone, to where the file ends: names of functions are in other chunks."""
    places = {"dispatch-events": (72, 80), "queue-device-events": (80, 88), "queue-events": (24, 96),
              "host-execution-events": (104, 112)}
    at = struct.unpack_from("<I", data, 8)[0]
    while at + 104 <= len(data):
        n_bytes, n_payload = struct.unpack_from("<QQ", data, at)
        if at + n_bytes > len(data):
            return
        header, n_type, n_name = struct.unpack_from("<III", data, at + 56)
        kind = data[at + header:at + header + n_type].decode().rpartition(".")[2]
        row = at + header + n_type + n_name
        end = row + n_payload
        while kind in places and row < end:
            begin, last = (struct.unpack_from("<Q", data, row + place)[0] for place in places[kind])
            if kind == "queue-events":
                facts.add("zone", kind, begin, last or begin)
            elif last >= begin and last != 0:
                facts.add("span", kind, begin, last)
            row += struct.unpack_from("<I", data, row)[0]
        at += n_bytes


# ---- trace-event JSON

def ns(us: Any) -> int:
    return int((Decimal(str(us)) * 1000).to_integral_value("ROUND_HALF_UP"))


def json_rows(data: bytes) -> list[Row]:
    text = data.decode()
    try:
        whole = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError:
        whole = json.loads(text.rstrip().rstrip(",") + "]", parse_float=Decimal)
    rows: list[Row] = whole["traceEvents"] if isinstance(whole, dict) else whole
    return rows


def read_trace_event(data: bytes, facts: Facts) -> None:
    open_spans: dict[Any, list[Row]] = defaultdict(list)
    flows: dict[Any, list[str]] = defaultdict(list)
    for row in sorted((r for r in json_rows(data) if "ts" in r), key=lambda r: Decimal(str(r["ts"]))):
        phase, name, begin = row["ph"], row.get("name", ""), ns(row["ts"])
        ids = (row.get("cat"), row.get("scope"), row.get("id"), str(row.get("id2")))
        if phase == "X" and name.startswith("Total "):
            facts.counts["values"] += 1
        elif phase == "X":
            facts.add("span" if row.get("cat") in OF_DEVICES else "zone", name, begin, begin + ns(row["dur"]))
        elif phase in "Bb":
            open_spans[("B", row["pid"], row["tid"]) if phase == "B" else ids].append(row)
        elif phase in "Ee":
            around = open_spans[("B", row["pid"], row["tid"]) if phase == "E" else ids]
            if around:
                opened = around.pop()
                facts.add("zone", opened["name"], ns(opened["ts"]), begin)
        elif phase in "iIRnpT":
            facts.counts["moments"] += 1
        elif phase in "stf" and row.get("cat") != "ac2g":
            facts.counts["moments"] += 1
            flows[ids].append(phase)
        elif phase == "C":
            facts.counts["values"] += len(row["args"])
    facts.counts["moments"] += sum(map(len, open_spans.values()))


def read_ninja_log(data: bytes, facts: Facts) -> None:
    commands: dict[tuple[str, str, str], str] = {}
    for line in data.decode().splitlines()[1:]:
        begin, end, _, output, command = line.split("\t")
        commands.setdefault((begin, end, command), output)
    for (begin, end, _), output in commands.items():
        facts.add("zone", output, int(begin) * 1000000, int(end) * 1000000)


# ---- tt-metal

def read_tt_report(lines: list[str], facts: Facts) -> None:
    for row in csv.DictReader(lines):
        if row["OP TYPE"] == "signpost":
            facts.counts["moments"] += 1
            continue
        facts.add("zone", row["OP CODE"], int(row["HOST START TS"]), int(row["HOST END TS"]))
        facts.add("span", row["OP CODE"], int(row["DEVICE FW START CYCLE"]), int(row["DEVICE FW END CYCLE"]))


def read_tt_device(data: bytes, facts: Facts) -> None:
    lines = data.decode().splitlines()
    opened: dict[tuple[str, ...], list[int]] = defaultdict(list)
    if lines[0].startswith("OP CODE"):
        read_tt_report(lines, facts)
        return
    columns = [c.strip() for c in lines[1].split(",")]
    for line in lines[2:]:
        cells = [c.strip() for c in line.split(",", len(columns) - 1)]
        row = dict(zip(columns, cells))
        time, name = int(row["time[cycles since reset]"]), row.get("zone name", "")
        around = opened[(*cells[:4], name)]
        kind = row.get("type", "TS_EVENT")
        if kind == "ZONE_START":
            around.append(time)
        elif kind == "ZONE_END":
            facts.add("span", name, around.pop(), time)
        else:
            facts.counts["device values" if kind == "ZONE_TOTAL" else "device moments"] += 1


# ---- what hyprof made of it

def dump_rows(data: bytes) -> Iterator[tuple[str, Row]]:
    for line in data.decode(errors="surrogateescape").splitlines():
        op, _, rest = line.partition(" ")
        fields = dict(re.findall(r"(\w+)=([^\" ]+)", rest.partition(' text="')[0]))
        text = re.search(r' text=("(?:[^"\\]|\\.)*")$', line)
        yield op, {**fields, **({"text": text.group(1)} if text else {})}


def unescaped(text: str) -> str:
    raw = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda m: bytes([int(m[1][1:], 16)]) if m[1][0] == 120 and len(m[1]) == 3
                 else {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[1], m[1]), text[1:-1].encode(errors="surrogateescape"))
    return raw.decode(errors="surrogateescape")


def read_dump(data: bytes, facts: Facts) -> None:
    """Ends belong to the innermost open zone of their thread, in the order of the dump for each thread."""
    names: dict[str, str] = {}
    locations: dict[str, str] = {}
    opened: dict[str, list[tuple[str, int]]] = defaultdict(list)
    rows = list(dump_rows(data))
    for op, row in rows:
        if op == "string":
            names[row["id"]] = unescaped(row["text"])
        elif op == "location":
            locations[row["id"]] = row["name"]
    for op, row in rows:
        if op == "zone_begin":
            opened[row["thread"]].append((row["location"], int(row["time_ns"])))
        elif op == "zone_end":
            location, begin = opened[row["thread"]].pop()
            facts.add("zone", names[locations[location]], begin, int(row["time_ns"]))
        elif op == "device_span":
            begin = int(row["begin_ticks"])
            facts.add("span", names[locations[row["location"]]], begin, begin + int(row["length_ticks"]))
        elif op in ("message", "message_text", "flow"):
            facts.counts["moments"] += 1
        elif op.startswith("plot_"):
            facts.counts["values"] += 1
        elif op == "device_instant":
            facts.counts["device moments"] += 1
        elif op == "device_value":
            facts.counts["device values"] += 1


READERS: dict[str, Callable[[bytes, Facts], None]] = {
    "ireeperf-jsonl": read_iree_lines, "ireeprof": read_iree_container, "trace-event": read_trace_event,
    "ninja-log": read_ninja_log, "tt-device": read_tt_device, "dump": read_dump,
}


def main() -> None:
    facts = Facts()
    if sys.argv[2] == "-":
        data = sys.stdin.buffer.read()
    else:
        with open(sys.argv[2], "rb") as file:
            data = file.read()
    READERS[sys.argv[1]](data, facts)
    if sys.argv[3:] == ["--sums"]:
        facts.forget_names()
        facts.counts.clear()
    facts.print()


main()
