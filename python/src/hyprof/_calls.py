# SPDX-License-Identifier: MIT
"""Each call of a Python function as a zone: from when to when, of which code, in all threads."""
from __future__ import annotations

import os
import sys
import threading
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Optional, Type

from hyprof import _garbage, _native

if TYPE_CHECKING:
    from hyprof._filters import Filter

_MONITORING_NAME = "hyprof"


class _Calls:
    """Whether calls are recorded, once for the process: all that begins or ends this goes through here.

    start() and stop() are not for two threads at once: their callers hold the lock.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a signal handler may enable a Profiler as well
        self.filter: Optional[Filter] = None  # made when it is first needed
        self.asked: Optional[Filter] = None  # whose decisions code objects have
        self.with_lines = False
        self.with_c = False  # calls of functions in C
        self.is_on = False
        self.has_begun = False
        self.enabled: list[Profiler] = []  # the last one last
        self.is_whole = False  # the program is recorded from its start to its end: Profiler has nothing to do
        self.start_signpost: Optional[str] = None
        self.end_signpost: Optional[str] = None
        self.tool: Optional[int] = None

    def start(self) -> None:
        if self.is_on:
            return
        if self.filter is None:
            from hyprof._filters import Filter

            self.filter = Filter()
        if self.asked is not self.filter:
            self.asked = self.filter
            _native.code_filter(self._decide)
            if self.with_c:
                from hyprof import _c_functions

                _native.c_functions(_c_functions.namer(self.filter))
        self._watch()
        _native.task_steps_set_all(True)
        if _native.HAS_MONITORING:
            self._start_monitoring()
        else:
            self._start_hooks()
        _garbage.start()
        self.is_on = self.has_begun = True

    def stop(self) -> None:
        if not self.is_on:
            return
        self.is_on = False
        _garbage.stop()
        are_open = _native.calls_stop()
        _native.task_steps_set_all(False)
        if _native.HAS_MONITORING:
            self._stop_monitoring(are_open)

    def _decide(self, code: Any, names: Optional[dict[str, Any]]) -> bool:
        self._watch()
        return self.filter is None or self.filter(code, names)

    @staticmethod
    def _watch() -> None:
        """Called for new code, since a program may import asyncio and greenlet at any time."""
        modules = sys.modules
        if "asyncio" in modules:
            from hyprof import _tasks

            _tasks.watch()
        if "multiprocessing.spawn" in modules:
            from hyprof import _children

            _children.watch()
        if "greenlet" in modules:
            from hyprof import _greenlets

            _greenlets.watch()

    # ---------------------------------------------------------------- 3.11

    def _start_hooks(self) -> None:
        _hook_new_threads()
        n_busy = _native.calls_start(self.with_lines)
        if n_busy:
            _warn(f"hyprof: other profilers and debuggers have {n_busy} thread(s), whose calls are not recorded")

    # ---------------------------------------------------------- since 3.12

    def _start_monitoring(self) -> None:
        monitoring: Any = getattr(sys, "monitoring")
        if self.tool is None:
            self.tool = _take_tool(monitoring)
            if self.tool is None:
                _warn("hyprof: calls are not recorded: " + _say_tools(monitoring))
                return
            events = monitoring.events
            for event, function in (
                (events.PY_START, _native.calls_on_start),
                (events.PY_RESUME, _native.calls_on_resume),
                (events.PY_THROW, _native.calls_on_throw),
                (events.PY_RETURN, _native.calls_on_return),
                (events.PY_YIELD, _native.calls_on_return),
                (events.PY_UNWIND, _native.calls_on_unwind),
                (events.LINE, _native.calls_on_line),
                (events.CALL, _native.calls_on_c_call),
                (events.C_RETURN, _native.calls_on_c_end),
                (events.C_RAISE, _native.calls_on_c_end),
            ):
                monitoring.register_callback(self.tool, event, function)
        _native.calls_start()
        # First: another thread may run in between, and a call must not begin where its end is disabled.
        monitoring.restart_events()
        monitoring.set_events(self.tool, self._begins(monitoring) | self._ends(monitoring))

    def _begins(self, monitoring: Any) -> int:
        events = monitoring.events
        lines = events.LINE if self.with_lines else 0
        return int(events.PY_START | events.PY_RESUME | events.PY_THROW | lines)

    def _ends(self, monitoring: Any) -> int:
        """With CALL come C_RETURN and C_RAISE."""
        events = monitoring.events
        in_c = events.CALL if self.with_c else 0
        return int(events.PY_RETURN | events.PY_YIELD | events.PY_UNWIND | in_c)

    def _stop_monitoring(self, are_open: bool) -> None:
        """Other threads and tasks may have calls open, whose ends are still wanted."""
        if self.tool is None:
            return
        monitoring: Any = getattr(sys, "monitoring")
        monitoring.set_events(self.tool, self._ends(monitoring) if are_open else 0)


def _take_tool(monitoring: Any) -> Optional[int]:
    """Tries the numbers that are reserved for no tool before the profilers': cProfile fails if that is taken."""
    for tool in (4, 3, monitoring.PROFILER_ID):
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, _MONITORING_NAME)
            return int(tool)
    return None


def _say_tools(monitoring: Any) -> str:
    names = ", ".join(str(monitoring.get_tool(tool)) for tool in (monitoring.PROFILER_ID, 3, 4))
    return f"sys.monitoring has no number left for it (used by {names})"


def _warn(words: str) -> None:
    warnings.warn(words, RuntimeWarning, stacklevel=5)


_plain_start: Optional[Callable[..., Any]] = None


def _hook_new_threads() -> None:
    """Makes new threads begin with the profile function of 3.11 set: see python/native/profile_hooks.c."""
    global _plain_start
    import _thread

    if _plain_start is not None:
        return
    _plain_start = _thread.start_new_thread
    start_new_thread = _native.calls_starter(_plain_start)
    for module, names in ((_thread, ("start_new_thread", "start_new")), (threading, ("_start_new_thread",))):
        for name in names:
            setattr(module, name, start_new_thread)


calls = _Calls()


def _renew_lock() -> None:
    """In a child of fork(), the thread that held it may be gone."""
    calls.lock = threading.RLock()


os.register_at_fork(after_in_child=_renew_lock)


class Profiler:
    """Bounds of what is recorded: calls between enable() and disable() are zones.

    Enabling an object twice is the same as once.  Calls are zones while any object is enabled.  Under
    `python3 -m hyprof` without -p all calls are zones anyway, and this does nothing.
    """

    def __init__(self) -> None:
        self._was_enabled = False

    def enable(self) -> None:
        """From here on, calls in all threads are zones."""
        with calls.lock:
            if self in calls.enabled or calls.is_whole:
                return
            self._was_enabled = True
            calls.enabled.append(self)
            calls.start()

    def disable(self) -> None:
        """Ends that.  An object that was never enabled ends the last enable() of another object."""
        with calls.lock:
            if self in calls.enabled:
                calls.enabled.remove(self)
            elif calls.enabled and not self._was_enabled:
                calls.enabled.pop()
            else:
                return
            if not calls.enabled:
                calls.stop()

    def __enter__(self) -> Profiler:
        self.enable()
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.disable()


def pass_signpost(header: str, mark: Callable[[], None]) -> None:
    """Calls mark() inside of the recording that the signpost begins or ends."""
    if header == calls.start_signpost:
        with calls.lock:
            calls.start()
    mark()
    if header == calls.end_signpost:
        with calls.lock:
            calls.stop()
