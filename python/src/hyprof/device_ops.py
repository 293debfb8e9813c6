# SPDX-License-Identifier: MIT
"""The device columns of reports of ops: rows of the table `device_ops`, joined to ops of the host by their numbers.

The table has a row for each run of a program on a chip:

    chip, run_host_id, trace, replay    what names the run; trace and replay are NULL outside of traces
    cores                               that ran firmware for it
    "DEVICE FW START CYCLE" ...         a column of the report under its title each; NULL = an empty cell

An op of the host that was captured in a trace ran as often as that was replayed: it becomes as many rows.
"""
from __future__ import annotations

import copy
import sqlite3
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence

if TYPE_CHECKING:
    from hyprof.ops import Op

_KEYS = ("chip", "run_host_id", "trace", "replay", "cores")


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


def _fill(op: Op, run: Run) -> Op:
    op.cells.update(run.cells)
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


def join(ops: Sequence[Op], runs: Sequence[Run], new: type[Op]) -> tuple[list[Op], list[Op]]:
    """The ops with their device columns, and rows for the runs that no op of the host is known of."""
    waiting = _Runs(runs)
    joined: list[Op] = []
    for op in ops:
        of_op = waiting.take(op) if op.kind != "signpost" else []
        joined += [_fill(copy.deepcopy(op), run) for run in of_op] or [op]
    alone = [_fill(new(code="", kind="tt_dnn_device", number=run.number), run) for run in waiting.left()]
    return joined, alone


def lacking(ops: Sequence[Op]) -> Counter[str]:
    """How many ops of each name a device should have run, and has no row of."""
    return Counter(op.code for op in ops if op.kind == "tt_dnn_device" and "DEVICE FW START CYCLE" not in op.cells)
