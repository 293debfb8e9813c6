# SPDX-License-Identifier: MIT
"""`pytest -p hyprof`: a zone for each test, with its id, and a list of the slowest tests."""
from __future__ import annotations

import inspect
from collections import defaultdict
from typing import Any, Generator

import pytest

from hyprof._native import zone

_durations: dict[str, float] = defaultdict(float)


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("hyprof")
    group.addoption("--hyprof-slowest", type=int, default=10, metavar="N",
                    help="list the N slowest tests, with setup and teardown; 0 = none; default: 10")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any) -> Generator[None, Any, None]:
    function = getattr(item, "function", None)
    test = zone(item.nodeid)
    test._begin(getattr(inspect.unwrap(function), "__code__", None) if function is not None else None)
    try:
        yield
    finally:
        test._end()


def pytest_runtest_logreport(report: Any) -> None:
    """Also called for tests that ran in other processes."""
    _durations[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    n = config.getoption("hyprof_slowest")
    slowest = sorted(_durations.items(), key=lambda row: row[1], reverse=True)[: max(n, 0)]
    if not slowest:
        return
    terminalreporter.write_sep("=", "slowest tests")
    for name, seconds in slowest:
        terminalreporter.write_line(f"{seconds * 1000:10.1f} ms  {name}")
