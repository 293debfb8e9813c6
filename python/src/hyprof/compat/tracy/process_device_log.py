# SPDX-License-Identifier: MIT
"""The device log.  Its analyses are columns of reports here; the rest of tt-metal's module says so when it is called."""
from __future__ import annotations

import os
import re
from typing import Optional, Union

from ._absent import absent

_INSTEAD = ("hyprof import FOLDER -o chips.hyp reads the log, hyprof report --devices chips.hyp shows it, and"
            " tracy.process_ops_logs.get_device_data_generate_report() has a row for each run")

import_log_run_stats = absent("process_device_log", "import_log_run_stats", _INSTEAD)
import_device_profile_log = absent("process_device_log", "import_device_profile_log", _INSTEAD)
generate_artifact_tarball = absent("process_device_log", "generate_artifact_tarball", _INSTEAD)


def extract_device_info(logPath: Union[str, "os.PathLike[str]"]) -> tuple[str, int, Optional[int]]:
    """The architecture, the clock in MHz, and how many cores compute (None: not said), from the first line of a log."""
    with open(logPath, encoding="utf-8", errors="replace") as file:
        line = file.readline(4096)
    if "Chip clock is at " in line:
        return "grayskull", 1200, None
    arch = re.search(r"ARCH: *(\w+)", line)
    clock = re.search(r"CHIP_FREQ\[MHz\]: *([0-9]+)", line)
    if arch is None or clock is None:
        raise ValueError(f"{os.fspath(logPath)}: the first line is not that of a device log")
    cores = re.search(r"Max Compute Cores: *([0-9]+)", line)
    return arch.group(1), int(clock.group(1)), int(cores.group(1)) if cores else None
