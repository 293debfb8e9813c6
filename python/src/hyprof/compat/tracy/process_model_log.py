# SPDX-License-Identifier: MIT
"""Profiles a command, and reads the newest report: what tests of the performance of models are made of."""
from __future__ import annotations

import csv
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Optional, Sequence

from .common import PROFILER_ARTIFACTS_DIR, PROFILER_DEFAULT_OP_SUPPORT_COUNT, generate_reports_folder


def get_profiler_folder(output_logs_subdir: str) -> Path:
    return PROFILER_ARTIFACTS_DIR / output_logs_subdir


def get_latest_ops_log_filename(output_logs_subdir: str = "") -> Path:
    """The table of the newest report without a name."""
    folder = generate_reports_folder(get_profiler_folder(output_logs_subdir))
    date = max(os.listdir(folder))
    return folder / date / f"ops_perf_results_{date}.csv"


def _between_signposts(rows: Sequence[dict[str, str]]) -> range:
    first = {row["OP CODE"]: i for i, row in reversed(list(enumerate(rows))) if row["OP TYPE"] == "signpost"}
    return range(first["start"] + 1, first["stop"])


def post_process_ops_log(
    output_logs_subdir: str,
    columns: Optional[list[str]] = None,
    sum_vals: bool = True,
    op_name: str = "",
    has_signposts: bool = False,
) -> Any:
    """The newest report: the sums of columns, or their numbers as arrays of numpy, or all of it as pandas' DataFrame.

    has_signposts: only rows between the signposts start and stop.  Empty cells count as none.
    """
    path = get_latest_ops_log_filename(output_logs_subdir)
    csv.field_size_limit(max(csv.field_size_limit(), 1 << 28))
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    kept = [i for i in (_between_signposts(rows) if has_signposts else range(len(rows)))
            if not op_name or rows[i]["OP CODE"] == op_name]
    if not columns:
        import pandas

        return pandas.read_csv(path).iloc[kept]
    numbers = {column: [float(rows[i][column]) for i in kept if rows[i][column] not in ("", "-")] for column in columns}
    if sum_vals:
        return {column: sum(each) for column, each in numbers.items()}
    import numpy

    return {column: numpy.array(each, dtype=float) for column, each in numbers.items()}


def run_device_profiler(
    command: str,
    output_logs_subdir: str,
    check_test_return_code: bool = True,
    device_analysis_types: Sequence[str] = (),
    python_post_process: bool = True,
    capture_perf_counters_groups: Sequence[str] = (),
    sum_profiling: bool = False,
    op_support_count: int = int(PROFILER_DEFAULT_OP_SUPPORT_COUNT * 1.333),
    is_command_binary_exe: bool = False,
) -> None:
    """Runs a command line, which begins with a module, under `python3 -m hyprof -p -r`.

    subprocess.CalledProcessError: it failed, and check_test_return_code is set.
    """
    del device_analysis_types  # all columns are computed
    arguments = ["-p", "-o", str(get_profiler_folder(output_logs_subdir)), "--op-support-count", str(op_support_count)]
    arguments += ["-r"] if python_post_process else []
    arguments += ["--check-exit-code"] if check_test_return_code else []
    arguments += ["--enable-sum-profiling"] if sum_profiling else []
    if capture_perf_counters_groups:
        arguments += ["--profiler-capture-perf-counters", ",".join(capture_perf_counters_groups)]
    arguments += [] if is_command_binary_exe else ["-m"]
    subprocess.run([sys.executable, "-m", "hyprof", *arguments, *shlex.split(command)], check=check_test_return_code)


def get_samples_per_s(time_ns: float, num_samples: float) -> float:
    return 1e9 / time_ns * num_samples
