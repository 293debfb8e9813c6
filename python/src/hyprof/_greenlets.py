# SPDX-License-Identifier: MIT
"""Greenlets as fibers: greenlet reports each switch of a thread that is watched."""
from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Optional

from hyprof import _native

_switch = _native.task_steps_switch_greenlet
_hook_again: Optional[Callable[[], None]] = getattr(_native, "calls_hook_again", None)


class _Watched(threading.local):
    is_watched = False


_here = _Watched()


def watch() -> bool:
    """Watches the calling thread.  A tracer that is set is still called.  False: greenlet is still being imported."""
    greenlet = sys.modules.get("greenlet")
    if _here.is_watched:
        return True
    if greenlet is None or not hasattr(greenlet, "settrace") or not hasattr(greenlet, "gettrace"):
        return False
    _here.is_watched = True
    last = greenlet.gettrace()

    def on_switch(event: str, args: Any) -> None:
        if event in ("switch", "throw"):
            target = args[1]
            _switch(None if target.parent is None else target)
            if _hook_again is not None:
                _hook_again()
        if last is not None:
            last(event, args)

    greenlet.settrace(on_switch)
    here = greenlet.getcurrent()
    if here.parent is not None:
        _switch(here)
    return True
