# SPDX-License-Identifier: MIT
"""Each garbage collection as a zone, in the thread in which it runs."""
from __future__ import annotations

import gc

from hyprof import _native


def start() -> None:
    if _native.garbage_note not in gc.callbacks:
        gc.callbacks.append(_native.garbage_note)


def stop() -> None:
    if _native.garbage_note in gc.callbacks:
        gc.callbacks.remove(_native.garbage_note)
    _native.garbage_note("stop", {})
