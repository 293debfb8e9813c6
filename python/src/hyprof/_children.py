# SPDX-License-Identifier: MIT
"""Processes that multiprocessing starts anew: each gets to know what its parent records, and records the same."""
from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, Callable, Sequence

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
    """Calls begin() when it is unpickled, in a spawned process or one of a fork server, before the program's code."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return begin, ()


def export(settings: Filter) -> None:
    """Leaves for children what to record."""
    os.environ[_VARIABLE] = json.dumps(
        {"include": settings.include, "exclude": settings.exclude, "lines": calls.with_lines, "c": calls.with_c})


def begin() -> None:
    """Begins to record in a child, before the program's code."""
    facts = json.loads(os.environ.get(_VARIABLE, "{}"))
    calls.filter = Filter(facts.get("include", ()), facts.get("exclude", ()))
    calls.with_lines = bool(facts.get("lines"))
    calls.with_c = bool(facts.get("c"))
    calls.is_whole = True
    calls.start()


class Programs:
    """Counts other Python programs that this process starts, to report that nothing records their calls."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.pid = os.getpid()
        self._n = 0
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        # Processes of multiprocessing have another event.
        if event not in ("subprocess.Popen", "os.exec") or os.getpid() != self.pid:
            return
        try:
            is_other = _is_other_python(args[0], args[1])
        except (TypeError, ValueError, OSError):  # the program's mistake, which is reported to it
            return
        if is_other and event == "os.exec":
            self._say("the program runs another Python program in its place, whose calls are not zones")
        elif is_other:
            self._n += 1

    def words(self) -> str:
        """A sentence about these programs; empty if there were none."""
        if self._n == 0:
            return ""
        program, their = ("program was", "its") if self._n == 1 else ("programs were", "their")
        return f"{self._n} other Python {program} started: {their} calls are not zones without `-m hyprof`"


def _is_other_python(executable: Any, argv: Any) -> bool:
    path = os.fsdecode(executable)
    words: Sequence[str] = [os.fsdecode(word) for word in argv]
    if "hyprof" in words[1:]:
        return False
    return path == sys.executable or re.fullmatch(r"python(3(\.\d+)?)?", os.path.basename(path)) is not None
