# SPDX-License-Identifier: MIT
"""`python3 -m hyprof ops TRACE -o ops.csv`: a row for each op of a host, in the columns of ops_perf_results.csv.

An op is a zone whose name begins with TT_DNN_ or TT_METAL_ and whose text is "id:N", and the message that describes it:

    `TT_DNN_DEVICE_OP: "name", hash, device, [cache_hit,] id ->
    {json}`

Later calls of an op send the line without the JSON.  A signpost is the message `TT_SIGNPOST: header, a new line, text`.
Columns about devices are those of the table `device_ops` (device_ops.py), where the database has one.
"""
from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional, Sequence, TextIO

from hyprof import device_ops, host_logs

_HOST = (
    "OP CODE|OP TYPE|GLOBAL CALL COUNT|DEVICE ID|DEVICE ARCH|ATTRIBUTES|MATH FIDELITY|CORE COUNT|"
    "AVAILABLE WORKER CORE COUNT|PARALLELIZATION STRATEGY|HOST START TS|HOST END TS|HOST DURATION [ns]"
)
_DEVICE = (
    "DEVICE FW START CYCLE|DEVICE FW END CYCLE|OP TO OP LATENCY [ns]|OP TO OP LATENCY BR/NRISC START [ns]|"
    "DEVICE FW DURATION [ns]|DEVICE KERNEL DURATION [ns]|DEVICE KERNEL DURATION DM START [ns]|"
    "DEVICE KERNEL DURATION PER CORE MIN [ns]|DEVICE KERNEL DURATION PER CORE MAX [ns]|"
    "DEVICE KERNEL DURATION PER CORE AVG [ns]|DEVICE KERNEL FIRST TO LAST START [ns]|DEVICE BRISC KERNEL DURATION [ns]|"
    "DEVICE NCRISC KERNEL DURATION [ns]|DEVICE TRISC0 KERNEL DURATION [ns]|DEVICE TRISC1 KERNEL DURATION [ns]|"
    "DEVICE TRISC2 KERNEL DURATION [ns]|DEVICE ERISC KERNEL DURATION [ns]|DEVICE COMPUTE CB WAIT FRONT [ns]|"
    "DEVICE COMPUTE CB RESERVE BACK [ns]|DISPATCH TOTAL CQ CMD OP TIME [ns]|DISPATCH GO SEND WAIT TIME [ns]"
)
# Columns of tensors lie between these two.
_PROGRAM = (
    "METAL TRACE ID|METAL TRACE REPLAY SESSION ID|COMPUTE KERNEL SOURCE|COMPUTE KERNEL HASH|"
    "DATA MOVEMENT KERNEL SOURCE|DATA MOVEMENT KERNEL HASH|PROGRAM HASH|PROGRAM CACHE HIT|"
    "TENSIX DM 0 MAX KERNEL SIZE [B]|TENSIX DM 1 MAX KERNEL SIZE [B]|TENSIX COMPUTE 0 MAX KERNEL SIZE [B]|"
    "TENSIX COMPUTE 1 MAX KERNEL SIZE [B]|TENSIX COMPUTE 2 MAX KERNEL SIZE [B]|ACTIVE ETH DM 0 MAX KERNEL SIZE [B]|"
    "ACTIVE ETH DM 1 MAX KERNEL SIZE [B]|IDLE ETH DM 0 MAX KERNEL SIZE [B]|IDLE ETH DM 1 MAX KERNEL SIZE [B]"
)
_MODEL = (
    "PM IDEAL [ns]|PM COMPUTE [ns]|PM BANDWIDTH [ns]|PM REQ I BW|PM REQ O BW|PM FPU UTIL (%)|NOC UTIL (%)|"
    "MULTICAST NOC UTIL (%)|DRAM BW UTIL (%)|DRAM BW UTIL PER CTRL (%)|ETH BW UTIL (%)|NPE CONG IMPACT (%)"
)
_BEFORE_TENSORS = tuple("|".join((_HOST, _DEVICE)).split("|"))
_AFTER_TENSORS = tuple("|".join((_PROGRAM, _MODEL)).split("|"))
COLUMNS = _BEFORE_TENSORS + _AFTER_TENSORS
_COLUMNS = frozenset(COLUMNS)

_OP = re.compile(r'\A`?(TT_(?!SIGNPOST)[A-Z0-9_]+): *"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SIGNPOST = re.compile(r"\A`?TT_SIGNPOST: *([^\n]*?)(?:\n(.*?))?`?\Z", re.DOTALL)
_TRACE = re.compile(r"\A`?TT_METAL_TRACE_(BEGIN|END|REPLAY): *(\d+), *(\d+)`?\s*\Z")
_ID = re.compile(r"^id: *([0-9]{1,18})\b", re.MULTILINE)
_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_ZONES = ("TT_DNN_*", "TT_METAL_*")
CHILD = "_TT_HOST_FUNC [ns]"  # after the name of a child function: its column


@dataclass
class Op:
    """A row.  Times in nanoseconds from the start of the recording."""

    code: str
    kind: str
    start_ns: Optional[int] = None
    duration_ns: Optional[int] = None
    thread: Optional[int] = None
    number: Optional[int] = None
    attributes: str = ""
    is_malformed: bool = False
    has_details: bool = False  # the JSON of its message, or of an earlier call's
    zone: str = ""  # its name; "" = the op has none
    place: tuple[str, int] = ("", 0)  # file and line of the zone
    process: Optional[int] = None
    is_captured: bool = False  # in a trace, and so not run by this call
    is_replay: bool = False  # by a trace: the times on the host are those of the call that was captured
    ran_ns: Optional[int] = None  # when the host asked for the replay
    cells: dict[str, object] = field(default_factory=dict)


@dataclass
class _Described:
    """An op as a message describes it."""

    zone: str
    name: str
    hash: str
    device: str
    cache_hit: str
    number: Optional[int]
    details: Optional[dict[str, Any]]
    is_malformed: bool
    time_ns: int
    thread: int
    process: Optional[int] = None
    trace: str = ""


class OpsError(Exception):
    """An error whose text is for the user."""


def _parse_op(text: str, time_ns: int, thread: int) -> Optional[_Described]:
    match = _OP.match(text)
    if match is None:
        return None
    zone, name = match.groups()
    line, _, below = text[match.end() :].partition("\n")
    line, arrow, details_text = line.partition("->")
    if not arrow:
        if below.strip():
            return None
        line = line.rstrip().removesuffix("`")
    fields = [part.strip() for part in line.split(",") if part.strip()]
    details: Optional[dict[str, Any]] = None
    is_malformed = False
    if arrow:
        try:
            found = json.loads(f"{details_text}\n{below}".strip().removesuffix("`"))
            details = found if isinstance(found, dict) else None
        except (ValueError, RecursionError):
            pass
        is_malformed = details is None
    facts = details or {}
    number = fields[-1] if fields and _NUMBER.match(fields[-1]) else str(facts.get("global_call_count", ""))
    return _Described(
        zone=zone,
        name=name,
        hash=fields[0] if len(fields) > 1 else str(facts.get("op_hash", "")),
        device=fields[1] if len(fields) > 2 else str(facts.get("device_id", "")),
        cache_hit=fields[2] if len(fields) > 3 else str(facts.get("program_cache_hit", "")),
        number=int(number) if _NUMBER.match(number) else None,
        details=details,
        is_malformed=is_malformed,
        time_ns=time_ns,
        thread=thread,
    )


def _cell(value: object) -> object:
    """The cell as in tt-metal's reports: lists and dicts as Python writes them, but with semicolons."""
    return str(value).replace(",", ";") if isinstance(value, (dict, list)) else value


def _memory(tensor: dict[str, Any]) -> object:
    storage = tensor.get("storage_type")
    if not isinstance(storage, dict):
        return storage
    config = storage.get("memory_config")
    if not isinstance(config, dict):
        return _cell(storage)
    words = [str(config.get(key, "")).upper() for key in ("buffer_type", "memory_layout")]
    return "_".join(["DEV", str(storage.get("device_id", "")), *words])


def _put_tensors(cells: dict[str, object], word: str, tensors: Sequence[object]) -> None:
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, dict):
            continue
        shape = tensor.get("shape")
        values = [(f"{axis}_PAD[LOGICAL]", shape.get(axis) if isinstance(shape, dict) else None) for axis in "WZYX"]
        values += [("LAYOUT", tensor.get("layout")), ("DATATYPE", tensor.get("dtype")), ("MEMORY", _memory(tensor))]
        for title, value in values:
            if value is not None:
                cells[f"{word}_{i}_{title}"] = _cell(value)


def _put_kernels(cells: dict[str, object], info: object) -> None:
    if not isinstance(info, dict):
        return
    for key, title in (("compute_kernels", "COMPUTE"), ("datamovement_kernels", "DATA MOVEMENT")):
        kernels = [kernel for kernel in _list(info.get(key)) if isinstance(kernel, dict)]
        cells[f"{title} KERNEL SOURCE"] = _cell([kernel.get("source", "") for kernel in kernels])
        cells[f"{title} KERNEL HASH"] = _cell([kernel.get("name", "") for kernel in kernels])
        for kernel in kernels:
            if "math_fidelity" in kernel:
                cells["MATH FIDELITY"] = _cell(kernel["math_fidelity"])
    sizes = info.get("kernel_sizes")
    for name, size in sizes.items() if isinstance(sizes, dict) else ():
        column = name.upper().replace("_", " ") + " [B]"
        if column in _COLUMNS:
            cells[column] = _cell(size)


def _put_model(cells: dict[str, object], model: object) -> None:
    if not isinstance(model, dict):
        return
    for key, column in (("ideal_ns", "PM IDEAL [ns]"), ("compute_ns", "PM COMPUTE [ns]"),
                        ("bandwidth_ns", "PM BANDWIDTH [ns]"), ("input_bws", "PM REQ I BW"),
                        ("output_bws", "PM REQ O BW")):
        if key in model:
            cells[column] = _cell(model[key])


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


# The runtime's own numbers of a call are those of the line above the JSON.
_NOT_CELLS = ("OP CODE", "OP TYPE", "ATTRIBUTES", "GLOBAL CALL COUNT", "PROGRAM CACHE HIT")


def _op_of(described: _Described) -> Op:
    details = described.details or {}
    op = Op(
        code=str(_cell(details.get("op_code")) or described.name),
        kind=str(details.get("op_type") or described.zone.lower().removesuffix("_op")),
        number=described.number,
        thread=described.thread,
        process=described.process,
        start_ns=described.time_ns,
        is_malformed=described.is_malformed,
        has_details=described.details is not None,
    )
    attributes = details.get("attributes")
    op.attributes = "" if attributes is None else str(_cell(attributes))
    for key, value in details.items():
        column = key.upper().replace("_", " ")
        if column in _COLUMNS and column not in _NOT_CELLS and value is not None:
            op.cells[column] = _cell(value)
    op.cells.setdefault("DEVICE ID", described.device)
    op.cells["PROGRAM HASH"], op.cells["METAL TRACE ID"] = described.hash, described.trace
    hit = {"1": True, "true": True, "0": False, "false": False}.get(described.cache_hit.lower(), described.cache_hit)
    op.cells["PROGRAM CACHE HIT"] = hit
    usage = details.get("core_usage")
    if isinstance(usage, dict) and "count" in usage:
        op.cells["CORE COUNT"] = _cell(usage["count"])
    inputs = _list(details.get("input_tensors")) + _list(details.get("optional_input_tensors"))
    _put_tensors(op.cells, "INPUT", inputs)
    _put_tensors(op.cells, "OUTPUT", _list(details.get("output_tensors")))
    _put_kernels(op.cells, details.get("kernel_info"))
    _put_model(op.cells, details.get("performance_model"))
    return op


def read_replays(db: sqlite3.Connection) -> dict[tuple[Optional[int], str, str], list[int]]:
    """When each process asked each device for a replay of each trace."""
    replays = defaultdict(list)
    rows = db.execute("SELECT m.time_ns, t.process, m.text FROM messages m LEFT JOIN threads t ON t.id = m.thread"
                      " WHERE m.text GLOB '`TT_METAL_TRACE_REPLAY*' OR m.text GLOB 'TT_METAL_TRACE_REPLAY*' ORDER BY m.time_ns")
    for time_ns, process, text in rows:
        match = _TRACE.match(text)
        if match is not None:
            replays[process, match.group(2), match.group(3)].append(time_ns)
    return replays


def _read_messages(db: sqlite3.Connection) -> tuple[list[Op], list[_Described]]:
    signposts: list[Op] = []
    described: list[_Described] = []
    traces: dict[tuple[Optional[int], str], str] = {}  # by process and device, while one is captured
    rows = db.execute(
        "SELECT m.time_ns, m.thread, t.process, m.text FROM messages m LEFT JOIN threads t ON t.id = m.thread"
        " WHERE m.text GLOB '`TT_*' OR m.text GLOB 'TT_*' ORDER BY m.time_ns")
    for time_ns, thread, process, text in rows:
        match = _SIGNPOST.match(text)
        if match is not None:
            signposts.append(Op(match.group(1), "signpost", time_ns, None, thread, None, match.group(2) or ""))
            continue
        match = _TRACE.match(text)
        if match is not None:
            if match.group(1) != "REPLAY":
                traces[process, match.group(2)] = match.group(3) if match.group(1) == "BEGIN" else ""
            continue
        one = _parse_op(text, time_ns, thread)
        if one is not None:
            one.process = process
            one.trace = traces.get((process, one.device), "")
            described.append(one)
    return signposts, described


def _add_details(described: Sequence[_Described]) -> None:
    """Fills in the JSON that a call from the cache does not send.

    It is that of the program with the same hash on the same device in the same process, or, for a process that was
    forked and has its parent's cache, in any process.
    """
    known: dict[tuple[Optional[int], str, str, str], dict[str, Any]] = {}
    for one in described:
        key = (one.zone, one.hash, one.device)
        if one.details is not None:
            known[(one.process, *key)] = known[(None, *key)] = one.details
        elif not one.is_malformed:
            one.details = known.get((one.process, *key)) or known.get((None, *key))


def _add_children(db: sqlite3.Connection, op: Op, names: Sequence[str]) -> None:
    if not names or op.start_ns is None or op.duration_ns is None:
        return
    marks = ",".join("?" * len(names))
    rows = db.execute(
        "SELECT l.name, sum(z.duration_ns) FROM zones z JOIN locations l ON l.id = z.location"
        f" WHERE l.name IN ({marks}) AND z.thread = ? AND z.begin_ns >= ? AND z.begin_ns + z.duration_ns <= ?"
        " GROUP BY l.name",
        (*names, op.thread, op.start_ns, op.start_ns + op.duration_ns))
    for name, total_ns in rows:
        op.cells[name + CHILD] = total_ns


@dataclass
class _Zone:
    """A zone that may be an op."""

    name: str
    thread: int
    process: Optional[int]
    begin_ns: int
    duration_ns: int
    closed: bool
    number: Optional[int]
    place: tuple[str, int]


def _read_zones(db: sqlite3.Connection) -> list[_Zone]:
    rows = db.execute(
        "SELECT coalesce(l.name, l.function) AS title, z.thread, t.process, z.begin_ns, z.duration_ns, z.closed, z.text,"
        " coalesce(l.file, ''), coalesce(l.line, 0)"
        " FROM zones z JOIN locations l ON l.id = z.location LEFT JOIN threads t ON t.id = z.thread"
        " WHERE title GLOB ? OR title GLOB ? ORDER BY z.begin_ns",
        _ZONES)
    zones = []
    for name, thread, process, begin_ns, duration_ns, closed, text, file, line in rows:
        match = _ID.search(text or "")
        number = int(match.group(1)) if match else None
        zones.append(_Zone(name, thread, process, begin_ns, duration_ns, bool(closed), number, (file, line)))
    return zones


def _join(zones: Sequence[_Zone], described: Sequence[_Described]) -> list[Optional[_Described]]:
    """The message of each zone, or None.  All processes count from the same number, and one may use a number again.

    The message is the one that the zone's thread sent inside of the zone; else the first one of the process that has
    no zone yet.
    """
    of_thread: dict[tuple[int, str, Optional[int]], list[_Described]] = defaultdict(list)
    of_process: dict[tuple[Optional[int], str, Optional[int]], deque[_Described]] = defaultdict(deque)
    for one in described:
        of_thread[one.thread, one.zone, one.number].append(one)
        of_process[one.process, one.zone, one.number].append(one)
    joined: set[int] = set()
    found: list[Optional[_Described]] = [None] * len(zones)
    for i, zone in enumerate(zones):
        sent = of_thread.get((zone.thread, zone.name, zone.number), []) if zone.number is not None else []
        for j in range(bisect_left(sent, zone.begin_ns, key=lambda one: one.time_ns), len(sent)):
            if sent[j].time_ns > zone.begin_ns + zone.duration_ns:
                break
            if id(sent[j]) not in joined:
                found[i] = sent[j]
                joined.add(id(sent[j]))
                break
    for i, zone in enumerate(zones):
        if found[i] is None and zone.number is not None:
            left = of_process.get((zone.process, zone.name, zone.number), deque())
            while left and id(left[0]) in joined:
                left.popleft()
            found[i] = left.popleft() if left else None
    return found


def read_ops(db: sqlite3.Connection, child_functions: Sequence[str] = ()) -> list[Op]:
    """All rows, in the order in which they begin: zones and messages, joined by threads, processes and numbers."""
    signposts, described = _read_messages(db)
    _add_details(described)
    ops: list[Op] = []
    joined: set[int] = set()
    zones = _read_zones(db)
    for zone, known in zip(zones, _join(zones, described)):
        if known is None and not zone.name.startswith("TT_DNN_"):
            continue  # a zone of the runtime, and no op
        op = _op_of(known) if known is not None else Op(zone.name, zone.name.lower().removesuffix("_op"))
        if known is not None:
            joined.add(id(known))
        op.number, op.thread, op.start_ns = zone.number, zone.thread, zone.begin_ns
        op.duration_ns, op.zone, op.place = zone.duration_ns if zone.closed else None, zone.name, zone.place
        _add_children(db, op, child_functions)
        ops.append(op)
    alone = [_op_of(one) for one in described if id(one) not in joined]
    return sorted(ops + alone + signposts, key=lambda op: op.start_ns or 0)


def cut(ops: Sequence[Op], start: Optional[str], end: Optional[str]) -> list[Op]:
    """The ops from the first signpost `start` to the first signpost `end` after it, with both."""
    first, last = 0, len(ops)
    signposts = [(i, op.code) for i, op in enumerate(ops) if op.kind == "signpost"]
    if start is not None:
        found = next((i for i, code in signposts if code == start), None)
        if found is None:
            raise OpsError(f"there is no signpost {start!r}; there are: {_names(signposts)}")
        first = found
    if end is not None:
        found = next((i for i, code in signposts if code == end and i >= first), None)
        if found is None:
            after = " after the first" if start else ""
            raise OpsError(f"there is no signpost {end!r}{after}; there are: {_names(signposts)}")
        last = found + 1
    return list(ops[first:last])


def _names(signposts: Sequence[tuple[int, str]]) -> str:
    names = list(dict.fromkeys(code for _, code in signposts))
    return ", ".join(names[:10]) + (" ..." if len(names) > 10 else "") if names else "none"


def write_csv(ops: Iterable[Op], file: TextIO) -> None:
    """Writes as many columns of tensors as the ops have; columns of child functions follow all others."""
    rows = list(ops)
    names = {name for op in rows for name in op.cells}.union(_FIRST_TENSORS) - _COLUMNS
    tensors = sorted((name for name in names if _TENSOR.match(name)), key=_tensor_order)
    children = sorted(name for name in names if not _TENSOR.match(name))
    writer = csv.DictWriter(file, [*_BEFORE_TENSORS, *tensors, *_AFTER_TENSORS, *children], restval="")
    writer.writeheader()
    for op in rows:
        cells = dict(op.cells)
        cells["OP CODE"], cells["OP TYPE"], cells["ATTRIBUTES"] = op.code, op.kind, op.attributes
        if op.number is not None:
            cells["GLOBAL CALL COUNT"] = op.number
        cells["HOST START TS"] = op.start_ns
        if op.duration_ns is not None and op.start_ns is not None:
            cells["HOST END TS"] = op.start_ns + op.duration_ns
            cells["HOST DURATION [ns]"] = op.duration_ns
        writer.writerow(cells)


_OF_TENSOR = ("W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]", "LAYOUT", "DATATYPE", "MEMORY")
_FIRST_TENSORS = [f"{word}_0_{name}" for word in ("INPUT", "OUTPUT") for name in _OF_TENSOR]  # no report lacks them
_TENSOR = re.compile(rf"(INPUT|OUTPUT)_([0-9]+)_({'|'.join(map(re.escape, _OF_TENSOR))})\Z")


def _tensor_order(name: str) -> tuple[str, int, int]:
    match = _TENSOR.match(name)
    assert match is not None
    return match.group(1), int(match.group(2)), _OF_TENSOR.index(match.group(3))


def _time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 100 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def _gaps(ops: Sequence[Op]) -> list[tuple[int, Op]]:
    """The time before each op in which its thread ran no op."""
    ends: dict[Optional[int], int] = {}
    gaps = []
    for op in ops:
        if op.is_replay or op.start_ns is None or op.duration_ns is None:
            continue
        if op.thread in ends and op.start_ns > ends[op.thread]:
            gaps.append((op.start_ns - ends[op.thread], op))
        ends[op.thread] = max(ends.get(op.thread, 0), op.start_ns + op.duration_ns)
    return gaps


def write_summary(ops: Sequence[Op], file: TextIO) -> None:
    """Writes the time by op, the gaps between ops, and what these ops lack."""
    times: dict[str, list[int]] = defaultdict(list)
    for op in ops:
        if op.kind != "signpost" and not op.is_replay and op.duration_ns is not None:
            times[op.code].append(op.duration_ns)
    total_ns = sum(sum(each) for each in times.values())
    n_signposts, n_replays = sum(op.kind == "signpost" for op in ops), sum(op.is_replay for op in ops)
    print(f"{len(ops) - n_signposts - n_replays} ops took {_time(total_ns)} on the host; {n_signposts} signposts"
          + (f"; {n_replays} runs by traces" if n_replays else ""), file=file)
    width = max([2, *(len(code) for code in times)])
    if times:
        print(f"\n  {'op':{width}}  {'count':>8}  {'total':>9}  {'share':>6}  {'mean':>9}  {'max':>9}", file=file)
    for code, each in sorted(times.items(), key=lambda row: -sum(row[1])):
        share = 100 * sum(each) / total_ns if total_ns else 0.0
        mean, longest_one = _time(sum(each) / len(each)), _time(max(each))
        print(f"  {code:{width}}  {len(each):8}  {_time(sum(each)):>9}  {share:5.1f}%  {mean:>9}  {longest_one:>9}",
              file=file)
    gaps = _gaps(ops)
    if gaps:
        longest, op = max(gaps, key=lambda gap: gap[0])
        print(f"\n  {_time(sum(gap for gap, _ in gaps))} in {len(gaps)} gaps between ops of one thread; the longest, "
              f"{_time(longest)}, before {op.code}" + (f" {op.number}" if op.number is not None else ""), file=file)
    called = [op for op in ops if op.kind != "signpost" and not op.is_replay]
    n_malformed, n_without_zone = sum(op.is_malformed for op in called), sum(not op.zone for op in called)
    if n_malformed:
        print(f"\n  {n_malformed} message{'s' * (n_malformed != 1)} with malformed JSON; the ops have no attributes",
              file=file)
    if n_without_zone:
        print(f"\n  {n_without_zone} op{'s' * (n_without_zone != 1)} without a zone, and so without a duration",
              file=file)


def write_lacking(lacking: Counter[str], n_unknown: int, file: TextIO) -> None:
    """Writes which ops no device has a run of, and how many runs no op of the host is known of."""
    n_lacking = sum(lacking.values())
    if n_lacking:
        names = ", ".join(f"{code} {n}" for code, n in lacking.most_common(10))
        print(f"\n  {n_lacking} op{'s' * (n_lacking != 1)} without a run in the device's log: {names}"
              + (" ..." if len(lacking) > 10 else ""), file=file)
    if n_unknown:
        print(f"\n  {n_unknown} run{'s' * (n_unknown != 1)} in the device's log without an op of the host", file=file)


def open_trace(path: str, program: str, folder: str) -> sqlite3.Connection:
    """Opens a trace by way of `hyprof query`, or a database that `hyprof query` wrote as it is."""
    try:
        with open(path, "rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
    except OSError as error:
        raise OpsError(f"cannot open {path}: {error.strerror}") from error
    if not is_database:
        recorder = shutil.which(program)
        if recorder is None:
            raise OpsError(f"there is no program {program!r} to read the trace; --hyprof FILE or $HYPROF names it")
        database = os.path.join(folder, "ops.db")
        done = subprocess.run([recorder, "query", "-q", "--sqlite", database, path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            raise OpsError(f"hyprof query cannot read {path}: {done.stderr.strip()}")
        sys.stderr.write(done.stderr)  # that it is cut off
        path = database
    db = sqlite3.connect(path)
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    return db


# Reasons of docs/understand/trace-format.md that leave out zones, messages or their texts.
_LOSSES = (2, 3, 4, 5, 7, 14, 16, 17, 18, 19, 25, 26, 44, 46, 47, 48, 49, 52, 53, 57)


def _say_losses(db: sqlite3.Connection, trace: str) -> None:
    reasons = ",".join(map(str, _LOSSES))
    if db.execute(f"SELECT count(*) FROM losses WHERE count > 0 AND reason IN ({reasons})").fetchone()[0]:
        print(f"hyprof ops: events of the program are missing, and so ops may be; try: hyprof report {trace}",
              file=sys.stderr)


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 -m hyprof ops",
        description="Writes a row for each op and signpost of TRACE, in the columns of tt-metal's "
                    "ops_perf_results.csv, and a summary. Columns about devices are filled if TRACE has a device log, by "
                    "hyprof import --into.")
    parser.add_argument("trace", metavar="TRACE", help="a trace of hyprof, or what `hyprof query --sqlite` made of one")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the CSV; - for standard output; default: a summary alone")
    parser.add_argument("--start-signpost", metavar="HEADER", help="only from this signpost on")
    parser.add_argument("--end-signpost", metavar="HEADER", help="only up to this one")
    parser.add_argument("--child-functions", metavar="A,B", default="CompileProgram,HWCommandQueue_write_buffer",
                        help="zones inside of ops that get a column; default: %(default)s")
    parser.add_argument("--host-logs", metavar="FOLDER",
                        help="also write tracy_ops_times.csv and tracy_ops_data.csv there, for tt-metal's own scripts")
    parser.add_argument("--hyprof", metavar="FILE", default=os.environ.get("HYPROF") or "hyprof",
                        help="the program that reads traces; default: $HYPROF, else hyprof in PATH")
    return parser.parse_args(argv)


def _report(options: argparse.Namespace, folder: str) -> None:
    db = open_trace(options.trace, options.hyprof, folder)
    names = [name for name in options.child_functions.split(",") if name]
    runs = device_ops.read_runs(db)
    of_host = read_ops(db, names)
    if options.host_logs:
        host_logs.write(db, of_host, options.host_logs)
    ops, alone = device_ops.join(of_host, runs, Op, read_replays(db))
    device_ops.name_architectures([*ops, *alone], device_ops.read_architectures(db))
    ops = cut(ops, options.start_signpost, options.end_signpost)
    lacking = device_ops.lacking(ops) if runs else Counter()
    rows = ops + ([] if options.start_signpost or options.end_signpost else alone)
    _say_losses(db, options.trace)
    db.close()
    if options.output == "-":
        write_csv(rows, sys.stdout)
        sys.stdout.flush()
        return
    if options.output:
        with open(options.output, "w", encoding="utf-8", newline="") as file:
            write_csv(rows, file)
    write_summary(ops, sys.stdout)
    write_lacking(lacking, len(rows) - len(ops), sys.stdout)
    if options.output:
        print(f"\n  rows: {options.output}")
    sys.stdout.flush()


def _forget_output() -> None:
    """Drops unwritten output: Python 3.13 tries to write it once more at its end, and exits with 120 if that fails."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def main(argv: Sequence[str]) -> int:
    """Returns 0 = written, 1 = the trace cannot be read or has no such signpost, or there is no room for the report."""
    options = _parse(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="hyprof-ops-") as folder:
            _report(options, folder)
    except OpsError as error:
        print(f"hyprof ops: {error}", file=sys.stderr)
        return 1
    except sqlite3.Error as error:
        print(f"hyprof ops: {options.trace} is not a database that `hyprof query` wrote: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        name = error.filename or (options.output if options.output not in (None, "-") else "standard output")
        print(f"hyprof ops: cannot write {name}: {error.strerror}", file=sys.stderr)
        _forget_output()
        return 1
    return 0

