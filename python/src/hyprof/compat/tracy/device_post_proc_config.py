# SPDX-License-Identifier: MIT
"""Settings of tt-metal's analysis of device logs, which is not here: see process_device_log."""
from __future__ import annotations

from typing import Any

from .common import PROFILER_DEVICE_SIDE_LOG


class default_setup:
    """May be made and filled in; what takes it says that it is not here."""

    deviceInputLog: Any = PROFILER_DEVICE_SIDE_LOG
    timerAnalysis: dict[str, Any] = {}
