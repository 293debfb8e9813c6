# SPDX-License-Identifier: MIT
"""Each garbage collection as a zone, in the thread in which it runs."""
from __future__ import annotations

import gc
from typing import Any, Optional

from hyprof import _native


class _Garbage:
    """One for the process: a collection never begins inside of another."""

    def __init__(self) -> None:
        self.zones = [_native.zone(f"garbage collection, generation {n}") for n in range(3)]
        self.open: Optional[_native.zone] = None

    def start(self) -> None:
        if self._note not in gc.callbacks:
            gc.callbacks.append(self._note)

    def stop(self) -> None:
        if self._note in gc.callbacks:
            gc.callbacks.remove(self._note)
        if self.open is not None:
            self.open._end()
            self.open = None

    def _note(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "start":
            zone = self.zones[min(info["generation"], 2)]
            zone._begin(None)
            self.open = zone
        elif self.open is not None:
            self.open.add_value(info["collected"])
            self.open._end()
            self.open = None


garbage = _Garbage()
