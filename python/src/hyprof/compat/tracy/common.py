# SPDX-License-Identifier: MIT
"""Where tt-metal's profiler has its files: those that `python3 -m hyprof -r` leaves."""
from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Union

from hyprof import _metalium, host_logs

TT_METAL_HOME = Path(os.environ.get("TT_METAL_HOME") or Path.cwd())
PROFILER_ARTIFACTS_DIR = Path(os.environ.get("TT_METAL_PROFILER_DIR") or TT_METAL_HOME / "generated" / "profiler")
PROFILER_SCRIPTS_ROOT = TT_METAL_HOME / "tools" / "tracy"
PROFILER_BIN_DIR = TT_METAL_HOME / "build" / "tools" / "profiler" / "bin"

PROFILER_DEVICE_SIDE_LOG = _metalium.DEVICE_LOG
PROFILER_HOST_SIDE_LOG = "profile_log_host.csv"
PROFILER_HOST_DEVICE_SYNC_INFO = "sync_device_info.csv"
PROFILER_CPP_DEVICE_PERF_REPORT = "cpp_device_perf_report.csv"
PROFILER_DEFAULT_OP_SUPPORT_COUNT = 1000

TRACY_FILE_NAME = _metalium.TRACE  # what the host did: a recording of hyprof
TRACY_OPS_TIMES_FILE_NAME = host_logs.TIMES
TRACY_OPS_DATA_FILE_NAME = host_logs.DATA

_Name = Union[str, "os.PathLike[str]"]


def generate_logs_folder(outFolder: _Name) -> Path:
    return Path(outFolder) / _metalium.LOGS


def generate_reports_folder(outFolder: _Name) -> Path:
    return Path(outFolder) / _metalium.REPORTS


PROFILER_LOGS_DIR = generate_logs_folder(PROFILER_ARTIFACTS_DIR)
PROFILER_OUTPUT_DIR = generate_reports_folder(PROFILER_ARTIFACTS_DIR)


def rm(path: _Name) -> None:
    """Removes a file, a link or a folder with all in it, if it is there."""
    if os.path.islink(path) or os.path.isfile(path):
        os.remove(path)
    elif os.path.exists(path):
        shutil.rmtree(path)


def clear_profiler_runtime_artifacts() -> None:
    """Removes all logs and reports."""
    rm(PROFILER_ARTIFACTS_DIR)
