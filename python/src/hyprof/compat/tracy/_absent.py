# SPDX-License-Identifier: MIT
"""Functions of tt-metal's scripts that have no meaning here: importing them is allowed, calling them says why."""
from __future__ import annotations

from typing import Callable, NoReturn


def absent(module: str, name: str, instead: str) -> Callable[..., NoReturn]:
    """A function that raises NotImplementedError with a sentence."""

    def refuse(*_args: object, **_keywords: object) -> NoReturn:
        raise NotImplementedError(f"tracy.{module}.{name}() is not in hyprof's package: {instead}")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse
