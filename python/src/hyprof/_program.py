# SPDX-License-Identifier: MIT
"""Runs a script or module as if the interpreter had been started with it, its calls recorded."""
from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import importlib.util
import io
import optparse
import os
import pkgutil
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


def _put_folder(folder: str) -> None:
    """Puts the folder of the program's modules in place of ours; does nothing with -P."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _load_script(path: str) -> tuple[CodeType, dict[str, Any]]:
    path = os.path.abspath(path)
    with io.open_code(path) as file:
        content = file.read()
    _put_folder(os.path.dirname(os.path.realpath(path)))
    loader: Any
    if content.startswith(importlib.util.MAGIC_NUMBER):
        loader = importlib.machinery.SourcelessFileLoader("__main__", path)
        code = loader.get_code("__main__")
    else:
        loader = importlib.machinery.SourceFileLoader("__main__", path)
        code = compile(content, path, "exec", dont_inherit=True)
    return code, {"__file__": path, "__spec__": None, "__package__": None, "__cached__": None, "__loader__": loader}


def _names_of(spec: Any) -> dict[str, Any]:
    return {
        "__file__": spec.origin,
        "__spec__": spec,
        "__package__": spec.parent,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
    }


def _load_container(path: str) -> tuple[CodeType, dict[str, Any]]:
    """Loads a folder or .zip file, which is also where the program's modules are found, even with -P."""
    path = os.path.abspath(path)
    sys.path[:1] = [path] if not sys.flags.safe_path else [path, *sys.path[:1]]
    details: Any = getattr(runpy, "_get_main_module_details")(ImportError)
    return details[2], _names_of(details[1])


def _load_module(name: str) -> tuple[CodeType, dict[str, Any]]:
    _put_folder(os.getcwd())
    details: Any = getattr(runpy, "_get_module_details")(name)
    return details[2], _names_of(details[1])


def _load(options: optparse.Values, name: str) -> tuple[CodeType, dict[str, Any]]:
    if options.is_module:
        return _load_module(name)
    # As the interpreter decides.
    return _load_script(name) if pkgutil.get_importer(name) is None else _load_container(name)


def _make_main(names: dict[str, Any]) -> ModuleType:
    """Puts the program's names into __main__, where pickle and children of multiprocessing look for them."""
    module = ModuleType("__main__")
    module.__dict__.update(names, __builtins__=builtins)
    if "__annotations__" in vars(sys.modules["__main__"]):  # since 3.14 the interpreter does not set it
        module.__dict__["__annotations__"] = {}
    sys.modules["__main__"] = module
    return module


def _without_us(traceback: Optional[TracebackType]) -> Optional[TracebackType]:
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(_OWN):
        traceback = traceback.tb_next
    return traceback


def _print_without_us() -> None:
    """Makes the interpreter print an exception that ends it without the frames around the program's: ours, runpy's."""
    hook = sys.excepthook

    def print_it(kind: type[BaseException], error: BaseException, traceback: Optional[TracebackType]) -> None:
        at = traceback
        while at is not None and at.tb_frame.f_code is not run.__code__:
            at = at.tb_next
        error.__traceback__ = at.tb_next if at is not None else traceback
        hook(kind, error, error.__traceback__)

    sys.excepthook = print_it


def _prepare(options: optparse.Values, args: Sequence[str]) -> None:
    # A module named tracy that is installed is found before ours.
    sys.path.append(os.path.join(_OWN, "compat"))
    if options.is_module and args[0] in ("pytest", "py.test"):
        # Not in PYTEST_PLUGINS: a pytest that a test starts has that as well, and might not find the package.
        sys.argv[1:1] = ["-p", "hyprof.pytest_plugin"]
    if options.no_zones:
        calls.is_whole = True  # so that Profiler does not begin what was not asked for
        return
    calls.filter = Filter(options.include, options.exclude)
    calls.with_lines = options.lines
    calls.with_c = options.c_calls
    _children.export(calls.filter)
    calls.start_signpost = options.start_signpost
    calls.end_signpost = options.end_signpost
    calls.is_whole = not options.partial and not options.start_signpost
    wanted = args[0].partition(".")[0] if options.is_module else ""
    atexit.register(_finish, options.verbose, wanted, _children.Programs(_say))


def _finish(is_verbose: bool, wanted: str, programs: _children.Programs) -> None:
    with calls.lock:
        calls.stop()
    if calls.filter is None or os.getpid() != programs.pid:
        return
    others = programs.words()
    if others:
        _say(others)
    if not calls.has_begun and calls.start_signpost is not None:
        _say(f"no call was recorded: the signpost {calls.start_signpost!r} did not come")
    elif not calls.has_begun:
        _say("no call was recorded: with -p, Profiler().enable() begins, and it was not called")
    words = calls.filter.say_left_out(wanted)
    if words or is_verbose:
        _say(words or "no calls of libraries were left out")


def run(options: optparse.Values, args: Sequence[str]) -> int:
    """Returns 1 if the program raised, which is printed; SystemExit goes on."""
    sys.argv[:] = args
    try:
        code, names = _load(options, args[0])
    except (OSError, ImportError) as error:
        _say(f"cannot run {args[0]}: {getattr(error, 'strerror', None) or error}")
        return 2
    except (SyntaxError, ValueError, EOFError, TypeError) as error:  # the last two: a .pyc file that is cut
        error.__traceback__ = _without_us(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    if options.is_module:
        sys.argv[0] = names["__file__"]
    main = _make_main(names)
    _prepare(options, args)
    try:
        if calls.is_whole and not options.no_zones:
            calls.start()
        exec(code, main.__dict__)
    except SystemExit:
        raise
    except KeyboardInterrupt:
        _print_without_us()  # the interpreter ends by the signal then
        raise
    except BaseException as error:
        error.__traceback__ = _without_us(error.__traceback__)
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0
