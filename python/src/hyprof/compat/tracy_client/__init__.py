# SPDX-License-Identifier: MIT
"""Tracy's module `tracy_client`, recorded by hyprof: docs/use/tracy-compat.md says what is different.

A name of a plot, of frames or of a pool is handed over once and has a number from then on, as in Tracy.
"""
from __future__ import annotations

import sys
from enum import IntEnum
from functools import wraps
from types import CodeType
from typing import Any, Callable, Optional, TypeVar, Union

from hyprof import _native
from hyprof.compat.tracy_client._colors import ColorType

__all__ = [
    "Color",
    "ColorType",
    "PlotFormatType",
    "PlotType",
    "ScopedFrame",
    "ScopedFrameDecorator",
    "ScopedZone",
    "ScopedZoneDecorator",
    "alloc",
    "app_info",
    "frame_image",
    "frame_mark",
    "frame_mark_end",
    "frame_mark_start",
    "free",
    "is_enabled",
    "message",
    "plot",
    "plot_config",
    "program_name",
    "thread_name",
]

_F = TypeVar("_F", bound=Callable[..., Any])
_SEVERITY_INFO = 2
_STEP, _FILL = 1, 2


class PlotFormatType(IntEnum):
    Number = 0
    Memory = 1
    Percentage = 2


Color = Union[int, ColorType]
PlotType = Union[int, PlotFormatType]

_names: list[str] = []
_numbers: dict[str, int] = {}
# A code object with the line of a zone as its first one, so that the zone has that place.
_places: dict[tuple[CodeType, int], CodeType] = {}


def _number_of(name: str) -> int:
    number = _numbers.setdefault(name, len(_names))
    if number == len(_names):
        _names.append(name)
    return number


def _name_of(number: int) -> Optional[str]:
    return _names[number] if 0 <= number < len(_names) else None


def _place(code: CodeType, line: int) -> CodeType:
    place = _places.get((code, line))
    if place is None:
        place = _places[code, line] = code.replace(co_firstlineno=line)
    return place


def is_enabled() -> bool:
    return True


def program_name(name: str) -> bool:
    _native.app_info("program", name)
    return True


def thread_name(name: str) -> None:
    _native.thread_name(name)


def app_info(text: str) -> bool:
    _native.app_info(text)
    return True


def message(message: str, color: Color = 0) -> bool:
    _native.message(message, _SEVERITY_INFO, int(color))
    return True


def frame_mark() -> None:
    _native.frame(None)


def frame_mark_start(name: str) -> Optional[int]:
    _native.frame_begin(name)
    return _number_of(name)


def frame_mark_end(name: int) -> bool:
    known = _name_of(name)
    if known is not None:
        _native.frame_end(known)
    return known is not None


def frame_image(data: bytes, width: int, height: int, offset: int = 0, flip: bool = False) -> bool:
    """The picture of a frame, RGBA; False if width or height is not a multiple of 4, or if there are too few bytes."""
    if width % 4 != 0 or height % 4 != 0:
        return False
    return _native.picture(data, width, height, offset, flip)


def plot_config(name: str, type: PlotType, step: bool = False, flip: bool = False, color: Color = 0) -> Optional[int]:
    _native.plot_config(name, int(type), (_STEP if step else 0) | (_FILL if flip else 0), int(color))
    return _number_of(name)


def plot(id: int, value: float) -> bool:
    known = _name_of(id)
    if known is not None:
        _native.plot(known, value)
    return known is not None


def _address(ptr: object) -> int:
    return ptr if isinstance(ptr, int) else id(ptr)


def alloc(ptr: object, size: int, name: Optional[str] = None, id: Optional[int] = None,
          depth: Optional[int] = None) -> Optional[int]:
    """The number of the pool; no number for the main one is ever needed.  A call stack (depth) is not recorded."""
    pool = name if id is None else _name_of(id)
    if id is not None and pool is None:
        return None
    _native.memory_alloc(_address(ptr), size, pool)
    return None if pool is None else _number_of(pool)


def free(ptr: object, id: Optional[int] = None, depth: Optional[int] = None) -> bool:
    pool = None if id is None else _name_of(id)
    if id is not None and pool is None:
        return False
    _native.memory_free(_address(ptr), pool)
    return True


class ScopedZone:
    """`with ScopedZone("parse") as zone:`; depth, of a call stack, is not recorded: samples have those of Python."""

    def __init__(self, name: Optional[str] = None, color: Color = 0, depth: Optional[int] = None,
                 active: bool = True) -> None:
        caller = sys._getframe(1)
        self._init(name, color, active, caller.f_code.co_name, _place(caller.f_code, caller.f_lineno))

    def _init(self, name: Optional[str], color: Color, active: bool, function: str, place: CodeType) -> None:
        self._zone = _native.zone(name or function, color=int(color) & 0xffffff)
        self._place = place
        self._is_active = active

    @property
    def is_active(self) -> bool:
        return self._is_active and _native.is_recording()

    def text(self, text: object) -> bool:
        self._zone.add_text(text)
        return True

    def name(self, name: str) -> bool:
        self._zone.set_name(name)
        return True

    def color(self, color: Color) -> None:
        self._zone.set_color(int(color) & 0xffffff)

    def enter(self) -> None:
        if self._is_active:
            self._zone._begin(self._place)

    def exit(self) -> None:
        self._zone._end()

    def __enter__(self) -> ScopedZone:
        self.enter()
        return self

    def __exit__(self, *exception: object) -> None:
        self.exit()


def ScopedZoneDecorator(name: Optional[str] = None, color: Color = 0, depth: Optional[int] = None,
                        active: bool = True, class_name: Optional[str] = None) -> Callable[[_F], _F]:
    def decorator(function: _F) -> _F:
        code = function.__code__
        source = function.__name__ if class_name is None else f"{class_name}:{function.__name__}"
        zone = ScopedZone.__new__(ScopedZone)
        zone._init(name, color, active, source, code)

        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with zone:
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorator


class ScopedFrame:
    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> ScopedFrame:
        _native.frame_begin(self._name)
        return self

    def __exit__(self, *exception: object) -> None:
        _native.frame_end(self._name)


def ScopedFrameDecorator(name: str) -> Callable[[_F], _F]:
    def decorator(function: _F) -> _F:
        @wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with ScopedFrame(name):
                return function(*args, **kwargs)

        return wrapped  # type: ignore[return-value]

    return decorator
