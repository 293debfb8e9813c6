# SPDX-License-Identifier: MIT
"""Calls of the processes that multiprocessing starts anew: they are told what their parent records."""
from __future__ import annotations

import json
import os
import sys
from typing import Any

from hyprof._calls import calls
from hyprof._filters import Filter

# Set for children: the options of the filter, as JSON.
_VARIABLE = "HYPROF_PYTHON_CHILD"
_is_watching = False


def watch() -> None:
    """Called once multiprocessing.spawn is imported; does nothing the second time."""
    global _is_watching
    spawn: Any = sys.modules.get("multiprocessing.spawn")
    if _is_watching or not hasattr(spawn, "get_command_line"):
        return
    _is_watching = True
    plain = spawn.get_command_line

    def get_command_line(**facts: Any) -> list[str]:
        command = list(plain(**facts))
        if calls.is_on and "-c" in command:
            at = command.index("-c") + 1
            command[at] = "from hyprof._children import begin; begin(); " + command[at]
        return command

    spawn.get_command_line = get_command_line


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
