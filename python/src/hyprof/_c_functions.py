# SPDX-License-Identifier: MIT
"""Names of functions that are written in C, for --c-calls: each is asked for once."""
from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any, Callable, Optional, Union

from hyprof._filters import Filter

_BUILTIN = type(len)
_METHODS = (type(str.join), type(dict.__dict__["fromkeys"]))


def _class_of(function: Any) -> Optional[type]:
    """The class that a method is from, which may be a base of its object's."""
    if type(function) in _METHODS:
        return function.__objclass__  # type: ignore[no-any-return]
    it = function.__self__
    if it is None or isinstance(it, ModuleType):
        return None
    kind = it if isinstance(it, type) else type(it)
    return next((base for base in kind.__mro__ if function.__name__ in vars(base)), kind)


def _has_python_hooks(kind: type) -> bool:
    """Whether a call, or a look at an attribute, would run the program's code."""
    names = ("__call__", "__getattr__", "__getattribute__")
    return any(isinstance(vars(base).get(name), FunctionType) for base in kind.__mro__ for name in names)


def _parts(function: Any) -> Optional[tuple[str, str]]:
    """The module and the name in it; None if it is an object that can be called, and no function."""
    if isinstance(function, _BUILTIN) or type(function) in _METHODS:
        owner = _class_of(function)
        if owner is not None:
            return str(owner.__module__), f"{owner.__qualname__}.{function.__name__}"
        return str(function.__module__ or ""), str(function.__qualname__)
    if _has_python_hooks(type(function)):
        return None
    # ttnn's operations are objects with a name of their own.
    for attribute in ("__qualname__", "__name__", "python_fully_qualified_name"):
        name = getattr(function, attribute, None)
        if isinstance(name, str):
            module = getattr(function, "__module__", None) if attribute.startswith("__") else None
            return module if isinstance(module, str) else "", name
    return None


def namer(filter: Filter) -> Callable[[Any], Union[str, bool, None]]:
    """The name of a function; None: its module is left out; False: no object of its type is a function."""

    def name(function: Any) -> Union[str, bool, None]:
        parts = _parts(function)
        if parts is None:
            return False
        module, own = parts
        if module.partition(".")[0] == "hyprof" or filter.is_excluded(module or own.rpartition(".")[0]):
            return None
        return own if module in ("", "builtins") else f"{module}.{own}"

    return name
