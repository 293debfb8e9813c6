# SPDX-License-Identifier: MIT
"""Tasks of asyncio as fibers: loops report which task's step they run."""
from __future__ import annotations

import sys
from typing import Any

from hyprof import _native

_is_watching = False


def watch() -> None:
    """Called once asyncio is imported; does nothing the second time, and while it is still being imported."""
    global _is_watching
    events = sys.modules.get("asyncio.events")
    tasks = sys.modules.get("asyncio.tasks")
    if _is_watching or not hasattr(events, "Handle") or not hasattr(tasks, "Task"):
        return
    assert events is not None and tasks is not None
    _is_watching = True
    plain = getattr(tasks, "_PyTask", tasks.Task)
    _native.task_steps_watch((tasks.Task, plain), tasks.current_task, events._get_running_loop)
    _wrap_run(events.Handle)


def _wrap_run(handle: Any) -> None:
    run, begin, end = handle._run, _native.task_steps_begin, _native.task_steps_end

    def _run(self: Any) -> None:
        if not begin(self._callback):
            run(self)
            return
        try:
            run(self)
        finally:
            end()

    handle._run = _run
