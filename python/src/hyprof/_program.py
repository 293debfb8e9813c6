# SPDX-License-Identifier: MIT
"""Runs a script or module as if the interpreter had been started with it, its calls recorded."""
from __future__ import annotations

import atexit
import io
import optparse
import os
import runpy
import sys
from types import CodeType, ModuleType, TracebackType
from typing import Any, Optional, Sequence

from hyprof import _children
from hyprof._calls import calls
from hyprof._filters import Filter

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _say(words: str) -> None:
    print(f"hyprof: {words}", file=sys.stderr)


def _load_script(path: str) -> tuple[CodeType, dict[str, Any]]:
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    return code, {"__file__": path, "__spec__": None, "__package__": None, "__cached__": None}


def _load_module(name: str) -> tuple[CodeType, dict[str, Any]]:
    sys.path[0] = os.getcwd()
    details: Any = getattr(runpy, "_get_module_details")(name)
    spec, code = details[1], details[2]
    return code, {
        "__file__": spec.origin,
        "__spec__": spec,
        "__package__": spec.parent,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
    }


def _make_main(names: dict[str, Any]) -> ModuleType:
    """Children of multiprocessing and pickle look for the program's names in __main__."""
    module = ModuleType("__main__")
    module.__dict__.update(names, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    return module


def _without_us(traceback: Optional[TracebackType]) -> Optional[TracebackType]:
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OWN):
        traceback = traceback.tb_next
    return traceback


def _prepare(options: optparse.Values, args: Sequence[str]) -> None:
    # A module named tracy that is installed is found before ours.
    sys.path.append(os.path.join(_OWN, "compat"))
    if options.is_module and args[0] in ("pytest", "py.test"):
        plugins = os.environ.get("PYTEST_PLUGINS", "")
        os.environ["PYTEST_PLUGINS"] = ",".join(filter(None, [plugins, "hyprof.pytest_plugin"]))
    if options.no_zones:
        calls.is_whole = True  # so that Profiler does not begin what was not asked for
        return
    calls.filter = Filter(options.include, options.exclude)
    calls.with_lines = options.lines
    _children.export(calls.filter)
    calls.start_signpost = options.start_signpost
    calls.end_signpost = options.end_signpost
    calls.is_whole = not options.partial and not options.start_signpost
    atexit.register(_finish, options.verbose)


def _finish(is_verbose: bool) -> None:
    calls.stop()
    if calls.filter is None:
        return
    n = calls.filter.n_left_out
    if n > 0:
        _say(f"calls of {n} functions of libraries are left out; --include MODULE records them")
    elif is_verbose:
        _say("no calls of libraries were left out")


def run(options: optparse.Values, args: Sequence[str]) -> int:
    """Returns 1 if the program raised, which is printed; SystemExit goes on."""
    sys.argv[:] = args
    try:
        code, names = _load_module(args[0]) if options.is_module else _load_script(args[0])
    except (OSError, ImportError) as error:
        _say(f"cannot run {args[0]}: {getattr(error, 'strerror', None) or error}")
        return 2
    except (SyntaxError, ValueError) as error:
        sys.excepthook(type(error), error, None)
        return 1
    if options.is_module:
        sys.argv[0] = names["__file__"]
    main = _make_main(names)
    _prepare(options, args)
    try:
        if calls.is_whole and not options.no_zones:
            calls.start()
        exec(code, main.__dict__)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        error.__traceback__ = _without_us(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0
