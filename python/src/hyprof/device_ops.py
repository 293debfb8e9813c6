# SPDX-License-Identifier: MIT
"""The device columns of reports of ops: rows of the table `device_ops`, joined to ops of the host by their numbers.

The table has a row for each run of a program on a chip:

    chip, run_host_id, trace, replay    what names the run; trace and replay are NULL outside of traces
    cores                               that ran firmware for it
    "DEVICE FW START CYCLE" ...         a column of the report under its title each; NULL = an empty cell
    "... IN TIME [ns]"                  the latency to what the chip ran before, in the order of time: of a report
                                        that has ops of the host; the others are in the order of numbers

An op of the host that was captured in a trace ran as often as that was replayed: it has a row for its call, and one for
each replay.
"""
from __future__ import annotations

import copy
import re
import sqlite3
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping, Optional, Sequence

if TYPE_CHECKING:
    from hyprof.ops import Op

_KEYS = ("chip", "run_host_id", "trace", "replay", "cores")
_IN_TIME = " IN TIME [ns]"
UNKNOWN = "unknown"  # the name of a run that no op of the host is known of
_CHIP = re.compile(r"chip (\d+), (\w+)\Z")
Replays = Mapping[tuple[Optional[int], str, str], Sequence[int]]  # by process, device and trace: their times


@dataclass
class Run:
    """What a chip did for an op."""

    chip: int
    number: int
    trace: Optional[int]
    replay: Optional[int]
    cores: int
    cells: dict[str, object]


def read_runs(db: sqlite3.Connection) -> list[Run]:
    """All runs, in the order of the table; none if the database has no such table."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'device_ops'").fetchone():
        return []
    rows = db.execute("SELECT * FROM device_ops ORDER BY rowid")
    names = [column[0] for column in rows.description]
    runs = []
    for row in rows:
        cells = dict(zip(names, row))
        chip, number, trace, replay, cores = (cells.pop(key) for key in _KEYS)
        runs.append(Run(chip, number, trace, replay, cores,
                        {name: value for name, value in cells.items() if value is not None}))
    return runs


def read_architectures(db: sqlite3.Connection) -> dict[int, str]:
    """What each chip is, as its log says."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'devices'").fetchone():
        return {}
    found = (_CHIP.match(name or "") for (name,) in db.execute("SELECT name FROM devices"))
    return {int(match.group(1)): match.group(2) for match in found if match is not None}


def _cells_of(run: Run, has_host: bool) -> dict[str, object]:
    cells = {name: value for name, value in run.cells.items() if not name.endswith(_IN_TIME)}
    if has_host:
        cells.update((name.removesuffix(_IN_TIME) + " [ns]", value) for name, value in run.cells.items()
                     if name.endswith(_IN_TIME))
    return cells


def _fill(op: Op, run: Run, has_host: bool = True) -> Op:
    op.cells.update(_cells_of(run, has_host))
    op.cells["DEVICE ID"] = run.chip
    op.cells.setdefault("CORE COUNT", run.cores)
    if run.trace is not None:
        op.cells["METAL TRACE ID"] = run.trace
    if run.replay is not None:
        op.cells["METAL TRACE REPLAY SESSION ID"] = run.replay
    kernel_ns, model_ns = op.cells.get("DEVICE KERNEL DURATION [ns]"), op.cells.get("PM COMPUTE [ns]")
    if isinstance(kernel_ns, (int, float)) and isinstance(model_ns, (int, float)):
        op.cells["PM FPU UTIL (%)"] = round(100 * model_ns / kernel_ns, 3) if kernel_ns else 0.0
    return op


class _Runs:
    """Those that have no op yet."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.single: dict[tuple[int, int], deque[Run]] = defaultdict(deque)
        self.replays: dict[tuple[int, int], list[Run]] = defaultdict(list)
        self.chips: dict[int, set[int]] = defaultdict(set)
        for run in runs:
            self.chips[run.number].add(run.chip)
            if run.replay is None and run.trace is None:
                self.single[run.number, run.chip].append(run)
            else:
                self.replays[run.number, run.chip].append(run)

    def take(self, op: Op) -> list[Run]:
        """The runs of an op: one, or all replays of it."""
        if op.number is None:
            return []
        device, chips = str(op.cells.get("DEVICE ID", "")), self.chips.get(op.number, set())
        if device.isdecimal():
            chip = int(device)
        elif len(chips) == 1:
            chip = next(iter(chips))
        else:
            return []
        single = self.single.get((op.number, chip))
        return [single.popleft()] if single else self.replays.pop((op.number, chip), [])

    def left(self) -> list[Run]:
        """What no op of the host asked for."""
        return [run for each in (*self.single.values(), *self.replays.values()) for run in each]


def _replay_of(op: Op, run: Run, replays: Replays) -> Op:
    """The row of a replay, at the time at which the host asked for it."""
    row = _fill(copy.deepcopy(op), run)
    times = replays.get((op.process, str(run.chip), str(run.trace)), ())
    row.is_replay = True
    if run.replay is not None and 0 < run.replay <= len(times):
        row.ran_ns = times[run.replay - 1]
    return row


def join(ops: Sequence[Op], runs: Sequence[Run], new: type[Op], replays: Optional[Replays] = None,
         ) -> tuple[list[Op], list[Op]]:
    """The ops with their device columns, in the order in which the host asked for them, and rows for the runs that no
    op of the host is known of.  Those have a name: readers of reports take no row without."""
    waiting = _Runs(runs)
    joined: list[Op] = []
    for op in ops:
        of_op = waiting.take(op) if op.kind != "signpost" else []
        if len(of_op) == 1 and of_op[0].replay is None and of_op[0].trace is None:
            joined.append(_fill(op, of_op[0]))
            continue
        joined.append(op)
        joined += [_replay_of(op, run, replays or {}) for run in of_op]
        op.is_captured = bool(of_op)
    joined.sort(key=lambda op: (op.start_ns or 0) if op.ran_ns is None else op.ran_ns)
    alone = [_fill(new(code=UNKNOWN, kind="tt_dnn_device", number=run.number), run, bool(ops)) for run in waiting.left()]
    return joined, alone


def name_architectures(ops: Sequence[Op], architectures: Mapping[int, str]) -> None:
    """Fills in what the log says where the op does not: readers of reports take an empty cell for a Wormhole."""
    for op in ops:
        device = str(op.cells.get("DEVICE ID", ""))
        if op.kind == "tt_dnn_device" and device.isdecimal() and int(device) in architectures:
            op.cells.setdefault("DEVICE ARCH", architectures[int(device)])


def lacking(ops: Sequence[Op]) -> Counter[str]:
    """How many ops of each name a device should have run, and has no row of."""
    return Counter(op.code for op in ops if op.kind == "tt_dnn_device" and not op.is_captured and
                   "DEVICE FW START CYCLE" not in op.cells)
