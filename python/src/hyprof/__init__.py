# SPDX-License-Identifier: MIT
"""Zones, messages and plots of Python programs, for recordings by hyprof.

    import hyprof

    with hyprof.zone("parse", text=path):
        ...

    @hyprof.zone("handle")
    async def handle(request): ...

While no recorder is there, all of it does next to nothing.  `hyprof record -- python3 script.py` records a program;
`python3 -m hyprof script.py` also makes a zone of each call of its functions.

A recorder's presence ends no program: str() of a text and the value of a number are asked for only while a recorder is
there; if that fails, sys.unraisablehook reports it, and the event is left out.
"""
from __future__ import annotations

import os as _os
import sys as _sys
import threading as _threading
from contextlib import contextmanager as _contextmanager
from typing import Iterator as _Iterator
from typing import Optional as _Optional

try:
    from hyprof import _native
except ImportError as error:
    _version = ".".join(map(str, _sys.version_info[:3]))
    if not (3, 11) <= _sys.version_info[:2] <= (3, 14) or _sys.implementation.name != "cpython":
        _name = f"{_sys.implementation.name} {_version}"
        raise ImportError(f"hyprof is for CPython 3.11 to 3.14; this is {_name}") from error
    if not getattr(_sys, "_is_gil_enabled", lambda: True)():
        raise ImportError("hyprof needs the GIL; this is a free-threaded build of CPython") from error
    if "subinterpreter" in str(error):
        raise ImportError("hyprof: sub-interpreters are not supported; import it in the main one") from error
    if "sub-interpreter" in str(error):
        raise
    raise ImportError(f"hyprof was not built for this CPython {_version}: {error}") from error

from hyprof._calls import Profiler
from hyprof._native import zone

__all__ = [
    "Profiler",
    "app_info",
    "flow_begin",
    "flow_end",
    "flow_step",
    "frame",
    "is_recording",
    "mark",
    "message",
    "pause",
    "paused",
    "plot",
    "resume",
    "signpost",
    "thread_name",
    "zone",
]

__version__ = _native.VERSION

# `pytest -p hyprof` loads this one as well.
pytest_plugins = ("hyprof.pytest_plugin",)

_SEVERITIES = {"trace": 0, "debug": 1, "info": 2, "warning": 3, "error": 4, "fatal": 5}


def is_recording() -> bool:
    """True while a recorder records this process: guards work that is only done for the recording."""
    return _native.is_recording()


def message(text: object, *, severity: str = "info", color: int = 0) -> None:
    """A line of text at this moment.  A text of more than 16 MiB is left out, and counted.

    severity: trace, debug, info, warning, error or fatal.  color: 0xRRGGBB, 0 = none.
    """
    number = _SEVERITIES.get(severity)
    if number is None:
        raise ValueError(f"message: {severity!r} is not a severity; known ones: {', '.join(_SEVERITIES)}")
    if not 0 <= color <= 0xFFFFFF:
        raise ValueError(f"message: the color is {color:#x}, it can be 0 to 0xffffff")
    _native.message(text, number, color)


def plot(name: str, value: float) -> None:
    """The value of a quantity from this moment on, for a curve over time: an int, a float, or what float() makes one of.

    An int with more than 64 bits becomes a float.
    """
    _native.plot(name, value)


def frame(name: _Optional[str] = None) -> None:
    """A frame of the program ends and the next one begins; with a name, a frame of that name."""
    _native.frame(name)


def flow_begin(number: int, space: _Optional[str] = None) -> None:
    """This thread hands work over: the timeline has an arrow from here to where another zone takes it.

    number: what tells the work from other work that is under way, such as a counter or id(); its lowest 64 bits count.
    space: what kind of number that is; numbers of different spaces are different.
    """
    _native.flow(0, number, space)


def flow_step(number: int, space: _Optional[str] = None) -> None:
    """This thread takes the work over, and hands it on."""
    _native.flow(1, number, space)


def flow_end(number: int, space: _Optional[str] = None) -> None:
    """This thread takes the work over, and the flow is over."""
    _native.flow(2, number, space)


def signpost(header: str, message: _Optional[object] = None) -> None:
    """Marks a moment for reports: a row of `python3 -m hyprof ops`, and a bound of --start-signpost, --end-signpost."""
    from hyprof import _calls

    words = str(header)
    _calls.pass_signpost(words, lambda: _native.message(_Signpost(words, message), _SEVERITIES["info"], 0))


class _Signpost:
    """The text of a signpost, which is only made while a recorder is there."""

    def __init__(self, header: str, message: _Optional[object]) -> None:
        self.header, self.message = header, message

    def __str__(self) -> str:
        return f"`TT_SIGNPOST: {self.header}" + ("" if self.message is None else f"\n{self.message}") + "`"


def mark(text: object) -> None:
    """Marks this moment of the recording, as `hyprof ctl mark` does from outside."""
    _native.message(text, _SEVERITIES["info"], 0)


def pause() -> None:
    """Leaves out this process's events from now on, in all threads, until resume().

    No zone begins, and nothing else is recorded but samples and context switches; zones that are open may end.
    A recording that begins meanwhile begins paused.  Pauses are not counted: one resume() ends them.
    """
    _native.pause()


def resume() -> None:
    """Ends the pause; without one it does nothing."""
    _native.resume()


_n_paused = 0
_pause_lock = _threading.RLock()  # a signal handler may pause as well


@_contextmanager
def paused() -> _Iterator[None]:
    """`with hyprof.paused():` pauses, and resumes when the last of these ends, in whatever thread."""
    global _n_paused
    with _pause_lock:
        _n_paused += 1
        if _n_paused == 1:
            pause()
    try:
        yield
    finally:
        with _pause_lock:
            _n_paused -= _n_paused > 0
            if _n_paused == 0:
                resume()


def _forget_pauses() -> None:
    """A child of fork() begins without a pause."""
    global _n_paused, _pause_lock
    _n_paused, _pause_lock = 0, _threading.RLock()


_os.register_at_fork(after_in_child=_forget_pauses)


def thread_name(name: str) -> None:
    """Names this thread in recordings, also in those that begin later; cut to 63 bytes."""
    _native.thread_name(name)


def app_info(key: object, value: _Optional[object] = None) -> None:
    """A fact about this run: `app_info("model", name)`, or one line of text."""
    if value is None:
        _native.app_info(key)
    else:
        _native.app_info(key, value)


def _watch_what_is_there() -> None:
    if "asyncio" in _sys.modules:
        from hyprof import _tasks

        _tasks.watch()


_watch_what_is_there()


def __dir__() -> list[str]:
    return sorted(__all__)


