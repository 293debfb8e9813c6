# SPDX-License-Identifier: MIT
"""Calls of the processes that multiprocessing starts anew: they are told what their parent records."""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Callable

from hyprof._calls import calls
from hyprof._filters import Filter

# Set for children: the options of the filter, as JSON.
_VARIABLE = "HYPROF_PYTHON_CHILD"
_is_watching = False


def watch() -> None:
    """Called once multiprocessing.spawn is imported; does nothing the second time."""
    global _is_watching
    spawn: Any = sys.modules.get("multiprocessing.spawn")
    if _is_watching or not hasattr(spawn, "get_preparation_data"):
        return
    _is_watching = True
    plain = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = dict(plain(name))
        if calls.is_on:
            data["hyprof"] = _Begin()
        return data

    spawn.get_preparation_data = get_preparation_data


class _Begin:
    """Unpickled in the new process before the program's code, spawned or of a fork server: that calls begin()."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return begin, ()


def export(settings: Filter) -> None:
    """Leaves for children what to record."""
    os.environ[_VARIABLE] = json.dumps(
        {"include": settings.include, "exclude": settings.exclude, "lines": calls.with_lines})


def begin() -> None:
    """In a child, before the program's code."""
    facts = json.loads(os.environ.get(_VARIABLE, "{}"))
    calls.filter = Filter(facts.get("include", ()), facts.get("exclude", ()))
    calls.with_lines = bool(facts.get("lines"))
    calls.is_whole = True
    calls.start()
