# SPDX-License-Identifier: MIT
"""Reports of ops from the files that `python3 -m hyprof -r` left."""
from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Optional, Sequence, Union

from hyprof import _metalium, device_ops, ops

from ._absent import absent
from .common import PROFILER_ARTIFACTS_DIR, PROFILER_DEVICE_SIDE_LOG, PROFILER_OUTPUT_DIR

_Name = Union[str, "os.PathLike[str]"]

OPS_CSV_HEADER = list(ops.COLUMNS)

import_tracy_op_logs = absent("process_ops_logs", "import_tracy_op_logs",
                              "python3 -m hyprof ops TRACE -o FILE writes ops of the host as a table")
_INSTEAD = "process_ops() joins ops with the device log and writes the report"
append_device_data = absent("process_ops_logs", "append_device_data", _INSTEAD)
generate_reports = absent("process_ops_logs", "generate_reports", _INSTEAD)


def _find_recorder() -> str:
    name = os.environ.get("HYPROF") or "hyprof"
    recorder = shutil.which(name)
    if recorder is None:
        raise FileNotFoundError(f"there is no program {name!r} to read traces; $HYPROF names it")
    return recorder


def process_ops(
    output_folder: Optional[_Name] = None,
    name_append: Optional[str] = None,
    date: bool = True,
    device_only: bool = False,
    analyze_noc_traces: bool = False,
    device_analysis_types: Sequence[str] = (),
    force_legacy_device_logs: bool = False,
) -> None:
    """Makes a report of a folder's logs again; RuntimeError if that fails.  All columns are computed.

    date: in a folder of its date.  device_only: without ops of the host.
    """
    del device_analysis_types, force_legacy_device_logs
    if analyze_noc_traces:
        raise NotImplementedError("hyprof does not read traces of the NoC: tt-npe does")
    report = _metalium.Report(os.fspath(output_folder or PROFILER_ARTIFACTS_DIR), _find_recorder(), name=name_append or "",
                              is_dated=date, is_host=not device_only)
    if report.make() != 0:
        raise RuntimeError("no report of ops could be made: stderr says why")


def get_device_data_generate_report(
    logFolder: _Name,
    outputFolder: Optional[_Name],
    date: bool,
    nameAppend: Optional[str],
    export_csv: bool = True,
    cleanup_device_log: bool = False,
    device_analysis_types: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """A row for each run in the device log, as texts; [] if there is no log.  All columns are computed.

    export_csv: also write them below outputFolder.  cleanup_device_log: remove the log then.
    """
    del device_analysis_types
    log = Path(logFolder) / PROFILER_DEVICE_SIDE_LOG
    if not log.exists():
        return []
    recorder = _find_recorder()
    with tempfile.TemporaryDirectory(prefix="hyprof-ops-") as folder:
        trace = os.path.join(folder, "log.hyp")
        subprocess.run([recorder, "import", "-q", "-o", trace, os.fspath(log)], stdout=subprocess.DEVNULL, check=True)
        db = ops.open_trace(trace, recorder, folder)
        _, rows = device_ops.join([], device_ops.read_runs(db), ops.Op)
        db.close()
    if export_csv:
        place, table = _metalium.make_report_folder(os.fspath(outputFolder or PROFILER_OUTPUT_DIR), nameAppend or "", date)
        shutil.copy(log, place)
        with open(table, "w", encoding="utf-8", newline="") as file:
            ops.write_csv(rows, file)
    if cleanup_device_log:
        os.remove(log)
    return [{"GLOBAL CALL COUNT": row.number, **{name: str(cell) for name, cell in row.cells.items()}} for row in rows]
