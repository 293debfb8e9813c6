# SPDX-License-Identifier: MIT
"""tracy_ops_times.csv and tracy_ops_data.csv: ops of the host in the form that tt-metal's process_ops_logs.py reads.

    tracy_ops_times.csv     a row for each zone of an op whose JSON is known; its child functions have a row for
                            each name, with the sum
    tracy_ops_data.csv      a row for each message of the runtime: its text between backticks, then its time
"""
from __future__ import annotations

import csv
import os
import sqlite3
from typing import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    from hyprof.ops import Op

TIMES = "tracy_ops_times.csv"
DATA = "tracy_ops_data.csv"
_TIMES_COLUMNS = ("name", "src_file", "src_line", "zone_name", "zone_text", "ns_since_start", "exec_time_ns", "thread",
                  "special_parent_text")


def _rows_of(op: Op) -> list[tuple[object, ...]]:
    from hyprof.ops import CHILD

    number = f"id:{op.number}"
    rows: list[tuple[object, ...]] = [
        (op.zone, *op.place, op.zone, number, op.start_ns, op.duration_ns, op.thread, "")]
    for name, total_ns in op.cells.items():
        if name.endswith(CHILD):
            child = name.removesuffix(CHILD)
            rows.append((child, "", 0, child, "", op.start_ns, total_ns, op.thread, number))
    return rows


def write(db: sqlite3.Connection, ops: Sequence[Op], folder: str) -> None:
    """Writes both files.  Ops without a zone, JSON or a number are left out: the scripts refuse the whole for one."""
    with open(os.path.join(folder, TIMES), "w", encoding="utf-8", newline="") as file:
        times = csv.writer(file, lineterminator="\n")
        times.writerow(_TIMES_COLUMNS)
        for op in ops:
            if op.zone and op.has_details and op.number is not None and op.duration_ns is not None:
                times.writerows(_rows_of(op))
    with open(os.path.join(folder, DATA), "w", encoding="utf-8", newline="") as file:
        file.write("MessageName;total_ns\n")
        data = csv.writer(file, delimiter=";", quotechar="`", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        for text, time_ns in db.execute(
                "SELECT text, time_ns FROM messages WHERE text GLOB '`TT_*' OR text GLOB 'TT_*' ORDER BY time_ns"):
            data.writerow((text.removeprefix("`").removesuffix("`"), time_ns))
