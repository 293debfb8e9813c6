# SPDX-License-Identifier: MIT
"""Which code is recorded: the program's own, and not that of libraries, unless options say otherwise."""
from __future__ import annotations

import fnmatch
import os
import site
import sys
import sysconfig
from collections import Counter
from types import CodeType, FrameType
from typing import Any, Optional, Sequence

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _library_folders() -> tuple[str, ...]:
    """Where the standard library and installed packages are."""
    paths = sysconfig.get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib") if key in paths}
    folders.update(site.getsitepackages() if hasattr(site, "getsitepackages") else [])
    user = site.getusersitepackages() if hasattr(site, "getusersitepackages") else None
    if user:
        folders.add(user)
    # Debian's packages, also in a virtual environment that sees them.
    folders.add("/usr/lib/python3/dist-packages")
    folders.update(os.path.realpath(folder) for folder in list(folders))
    folders.update(os.path.dirname(os.path.realpath(module.__file__)) for module in (os,) if module.__file__)
    return tuple(sorted(folder.rstrip(os.sep) + os.sep for folder in folders))


def _module_of(names: Optional[dict[str, Any]]) -> Optional[str]:
    module = names.get("__name__") if names is not None else None
    return module if isinstance(module, str) else None


def _is_text(file: str) -> bool:
    """Whether the name of a file says that the code is generated: "<string>", or none."""
    return not file or (file.startswith("<") and file.endswith(">"))


def _caller_of(code: CodeType) -> Optional[FrameType]:
    """The innermost frame that has a module or a file, from the frame of `code` outwards."""
    frame: Optional[FrameType] = sys._getframe()
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_OWN) and not (_is_text(file) and _module_of(frame.f_globals) is None):
            break
        frame = frame.f_back
    return frame


class Filter:
    """Decides about a code object, once.

    include: globs of modules that are recorded although they are library code.
    exclude: globs of modules that are not recorded; stronger than include.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self.include = tuple(include)
        self.exclude = tuple(exclude)
        self.folders = _library_folders()
        self.left_out: Counter[str] = Counter()  # functions, by package

    def is_library(self, file: str, module: Optional[str]) -> bool:
        if _is_text(file):
            # collections.namedtuple makes its functions from text.
            if file.startswith("<frozen") or (file == "<string>" and (module or "").startswith("namedtuple_")):
                return True
            known = sys.modules.get(module or "")
            file = getattr(known, "__file__", None) or ""
        return bool(file) and (file.startswith(self.folders) or os.path.realpath(file).startswith(self.folders))

    @staticmethod
    def _matches(globs: Sequence[str], module: Optional[str]) -> bool:
        """A glob that names a package also matches the modules in it."""
        if module is None:
            return False
        parts = module.split(".")
        names = [".".join(parts[:n]) for n in range(1, len(parts) + 1)]
        return any(fnmatch.fnmatchcase(name, glob) for glob in globs for name in names)

    def is_excluded(self, module: str) -> bool:
        """Whether --exclude names a module, of which a function in C is."""
        return self._matches(self.exclude, module)

    def __call__(self, code: CodeType, names: Optional[dict[str, Any]]) -> bool:
        file, module = code.co_filename, _module_of(names)
        if module is None and _is_text(file):
            caller = _caller_of(code)
            if caller is not None:
                file, module = caller.f_code.co_filename, _module_of(caller.f_globals)
        if file.startswith(_OWN) or self._matches(self.exclude, module):
            return False
        if self._matches(self.include, module):
            return True
        if self.is_library(file, module):
            self.left_out[(module or "").partition(".")[0]] += 1
            return False
        return True

    def say_left_out(self, wanted: str = "") -> str:
        """A sentence about code that was left out; wanted: the package to name for --include, if it was left out."""
        n = self.left_out.total()
        if n == 0:
            return ""
        # Functions that namedtuple makes name modules that do not exist.
        counted = self.left_out.most_common()
        most = [name for name, _ in counted if name.isidentifier() and not name.startswith("namedtuple_")]
        installed = [name for name in most if name not in sys.stdlib_module_names and not name.startswith("_")]
        # The code of pytest is in _pytest.
        known = [name for name in ("_" + wanted, wanted) if wanted and name in self.left_out]
        example = max(known, key=self.left_out.__getitem__, default=next(iter(installed), "MODULE"))
        shown = ", ".join(f"{name} {self.left_out[name]}" for name in most[:3])
        others = f" ({shown}{', ...' if len(most) > 3 else ''})" if shown else ""
        functions = "function" if n == 1 else "functions"
        return f"calls of {n} {functions} of libraries are left out{others}; --include {example} records them"
