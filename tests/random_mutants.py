#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks operators, constants and statements that are drawn at random, and expects a unit test to fail.

random_mutants.py N SEED [PART-OF-A-PATH]

Runs in the root of a tree that may be written to; tests/mutants.sh makes it.  The same tree and the same seed give the
same mutants.  They are drawn from the functions of files that have unit tests: one with the file's name (test_<file>.c,
test_<file>_*.c) or one that includes its header.  For each mutant its file alone is compiled, and linked in front of the
library into these tests, one at a time, then into up to OTHERS further tests whose program contains the file, until one
of them fails.  A test has failed as well when it does not end in time.

Not drawn: assertions, kill() and what removes files, statements that only release something (AddressSanitizer watches
these), and lines of preprocessors.

Exit status: 0 = all were killed or do not build, 1 = one survived, 2 = the tree does not build, or a test that was
needed fails without a mutant.
"""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

BUILD = pathlib.Path("build/release")
MADE = pathlib.Path("build/mutant")
OTHERS = 12             # further tests that contain the file, those with the fewest objects first
LIMIT_S = float(os.environ.get("HYPROF_LIMIT_S", "20"))  # for a test, on top of ten times what it takes without a mutant
MEMORY_BYTES = 64 << 30  # a mutant that allocates without end

SWAPS = {
    "==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "+": "-", "-": "+",
    "+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "|": "&", "&": "|", "<<": ">>", ">>": "<<", "!": "",
    "0": "1", "1": "0", "true": "false", "false": "true", "break": "", "continue": "",
}
OPERATOR = re.compile(r"(?<= )(?:==|!=|<=|>=|&&|\|\||\+=|-=|\|=|&=|<<|>>|[<>+|&-])(?= |$)"  # of two operands
                      r"|(?<!\(void\))!(?=[A-Za-z_(])|\b(?:0|1|true|false)\b(?!\.)|\b(?:break|continue)(?=;)")
STATEMENT = re.compile(r"\s+(?:\(void\))?(?:\+\+|--|\*)?[a-z_][\w>.\[\]-]*(?:\[.*\])?"
                       r"(?:\(.*\)| (?:[-+*/|&^]|<<|>>)?= .*|\+\+|--);$")
NO_STATEMENT = re.compile(r"\s+(?:return|goto|else)\b")
RELEASES = re.compile(r"\s+(?:\(void\))?\w*(?:free|deinit|close|unmap|munmap|unref|destroy)\(")
LEFT_OUT = re.compile(r"\b(?:static_assert|assert|t?g?kill|pidfd_send_signal|unlink(?:at)?|rmdir|execv\w*|reboot)\(")
BEFORE_STATEMENT = re.compile(r"(?:[;{}]|else|\*/)$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    line: int    # from 1
    column: int  # from 0
    old: str
    new: str

    def apply(self, text: str) -> str:
        lines = text.split("\n")
        line = lines[self.line - 1]
        assert line.startswith(self.old, self.column)
        lines[self.line - 1] = line[:self.column] + self.new + line[self.column + len(self.old):]
        return "\n".join(lines)


def blank_words(text: str) -> str:
    """The same text with blanks in place of comments, strings and preprocessor lines."""
    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", blank, text, flags=re.M)


def mutants_of(file: str, text: str) -> list[Mutant]:
    found = []
    inside = False
    before = "{"
    for number, line in enumerate(blank_words(text).split("\n"), 1):
        line = line.rstrip()
        if line in ("{", "}"):  # of a function, in column 0
            inside = line == "{"
        elif inside and line and not LEFT_OUT.search(line):
            for operator in OPERATOR.finditer(line):
                found.append(Mutant(file, number, operator.start(), operator[0], SWAPS[operator[0]]))
            if STATEMENT.fullmatch(line) and not NO_STATEMENT.match(line) and not RELEASES.match(line) and \
                    BEFORE_STATEMENT.search(before):
                begin = len(line) - len(line.lstrip())
                found.append(Mutant(file, number, begin, text.split("\n")[number - 1].strip(), ";"))
        before = line or before
    return [mutant for mutant in found if mutant.old]


def fail(words: str) -> None:
    print(words)
    sys.exit(2)


def make(*goals: str, dry: bool = False) -> str:
    options = ["-nB", "V=1"] if dry else [f"-j{os.cpu_count()}"]
    if (BUILD / "git_id").exists():  # a copy is no repository: what it was copied with stays valid
        options.append(f"GIT_ID={(BUILD / 'git_id').read_text().strip()}")
    made = subprocess.run(["make", "--no-print-directory", *options, *goals], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        fail("\n".join((made.stdout + made.stderr).splitlines()[-20:] + ["does not build"]))
    return made.stdout


class Tree:
    def __init__(self) -> None:
        self.tests = {path.stem: set(re.findall(r'^#include "(.+)"', path.read_text(), re.M))
                      for path in sorted(pathlib.Path("tests/unit").glob("test_*.c"))}
        goals = {str(BUILD / "tests" / test): test for test in self.tests}
        make(next(iter(goals)), *(str(BUILD / "obj/tests/unit" / f"{test}.o") for test in self.tests))
        make("compile_commands.json")
        commands = json.loads(pathlib.Path("compile_commands.json").read_text())
        self.commands = {command["file"]: command["command"] for command in commands}
        made = (line.rpartition(" -o ") for line in make(*goals, dry=True).splitlines())
        self.links = {goals[goal]: command for command, _, goal in made if goal in goals}
        self.objects = Objects()
        self.seconds: dict[str, float | None] = {}  # of a test without a mutant; None: it fails
        self.is_apart = subprocess.run([*self.apart(), "true"], capture_output=True, check=False).returncode == 0

    @staticmethod
    def apart() -> list[str]:
        """Processes of a mutant see no others, and end with it."""
        return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]

    def own_tests(self, file: str) -> list[str]:
        stem = pathlib.Path(file).stem
        header = f"{file[:-2]}.h"
        named = [test for test in self.tests if test == f"test_{stem}"]
        named += [test for test in self.tests if test.startswith(f"test_{stem}_")]
        named += [test for test, headers in self.tests.items() if header in headers and test not in named]
        return [test for test in named if self.objects.has(test, file)]

    def tests_of(self, file: str) -> list[str]:
        own = self.own_tests(file)
        others = [test for test in self.tests if test not in own and self.objects.has(test, file)]
        others.sort(key=lambda test: (len(self.objects.of(test)), test))
        return own + others[:OTHERS]

    def unit_tested(self) -> list[str]:
        return [file for file in sorted(self.commands)
                if file.endswith(".c") and not file.startswith(("tests/", "examples/")) and self.own_tests(file)]

    def runs(self, program: str, limit_s: float) -> bool:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        scratch = MADE / "tmp"
        scratch.mkdir(parents=True, exist_ok=True)
        root = pathlib.Path.cwd()
        names = {"HYPROF": root / BUILD / "hyprof", "BUILD": root / BUILD, "WORKLOADS": root / BUILD / "workloads",
                 "EXAMPLES": root / BUILD / "examples", "VARIANT": "release", "TMPDIR": root / scratch,
                 "LC_ALL": "C.UTF-8", "CK_DEFAULT_TIMEOUT": "60", "MALLOC_PERTURB_": "165"}
        environment = dict(os.environ) | {name: str(value) for name, value in names.items()}
        with subprocess.Popen([*(self.apart() if self.is_apart else []), program], env=environment, preexec_fn=limit,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as child:
            try:
                status = child.wait(limit_s)
            except subprocess.TimeoutExpired:
                status = -1
            finally:
                if child.poll() is None or not self.is_apart:
                    try:
                        os.killpg(child.pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
        shutil.rmtree(scratch, ignore_errors=True)
        return status in (0, 77)

    def passes_unbroken(self, test: str) -> bool:
        if test not in self.seconds:
            began = time.monotonic()
            passes = self.runs(self.link_with(test, ""), 300)
            self.seconds[test] = time.monotonic() - began if passes else None
            if not passes:
                print(f"{test} fails without a mutant", flush=True)
        return self.seconds[test] is not None

    def build(self, mutant: Mutant) -> bool:
        MADE.mkdir(parents=True, exist_ok=True)
        source = MADE / "mutant.c"
        source.write_text(mutant.apply(pathlib.Path(mutant.file).read_text()))
        command = re.sub(r" -MMD -MP -c \S+ -o \S+$", f" -w -c {source} -o {MADE}/mutant.o", self.commands[mutant.file])
        return subprocess.run(command, shell=True, capture_output=True, check=False).returncode == 0

    def link_with(self, test: str, mutant: str) -> str:
        """An object in front of the library is taken in place of the library's."""
        command = self.links[test].replace(f"/{test}.o ", f"/{test}.o {mutant} ") + f" -o {MADE}/{test}"
        MADE.mkdir(parents=True, exist_ok=True)
        linked = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        if linked.returncode != 0:
            fail(f"{test} does not link: {linked.stderr[-400:]}")
        return f"./{MADE}/{test}"

    def kills(self, test: str) -> bool:
        program = self.link_with(test, f"{MADE}/mutant.o")
        passes = self.runs(program, LIMIT_S + 10 * (self.seconds[test] or 0))
        os.unlink(program)
        return not passes


class Objects:
    """Which objects a program of the tree is linked of: by the names that they define and want."""
    def __init__(self) -> None:
        self.wants: dict[str, list[str]] = {}
        self.defined_by: dict[str, str] = {}
        self.stands_for: dict[str, set[str]] = {}  # by test: functions that it defines in place of the tree's
        files = sorted(str(path) for path in (BUILD / "obj").rglob("*.o"))
        names = subprocess.run(["nm", "-A", "-g", *files], capture_output=True, text=True, check=False).stdout
        for line in names.splitlines():
            file, _, rest = line.partition(":")
            kind, name = rest.split()[-2:]
            if kind in "Uwv":
                self.wants.setdefault(file, []).append(name)
            elif "/tests/unit/test_" in file:
                self.stands_for.setdefault(pathlib.Path(file).stem, set()).add(name)
            elif not file.startswith(str(BUILD / "obj/tests/")) or "/tests/unit/" in file:
                self.defined_by.setdefault(name, file)
        self.known: dict[str, set[str]] = {}

    def of(self, test: str) -> set[str]:
        if test not in self.known:
            left = [str(BUILD / "obj/tests/unit" / f"{name}.o") for name in (test, "unit_test")]
            own = self.stands_for.get(test, set())
            seen = set(left)
            while left:
                wanted = set(self.wants.get(left.pop(), [])) - own
                new = {self.defined_by[name] for name in wanted if name in self.defined_by} - seen
                seen |= new
                left.extend(new)
            self.known[test] = seen
        return self.known[test]

    def has(self, test: str, file: str) -> bool:
        return str(BUILD / "obj" / f"{file[:-2]}.o") in self.of(test)


def judge(tree: Tree, mutant: Mutant) -> tuple[str, str]:
    if not tree.build(mutant):
        return "unbuilt", ""
    tried = 0
    for test in tree.tests_of(mutant.file):
        if tree.passes_unbroken(test):
            tried += 1
            if tree.kills(test):
                return "killed", test
    return "SURVIVED", f"{tried} tests"


def main(n: int, seed: str, part: str) -> int:
    began = time.monotonic()
    tree = Tree()
    files = [file for file in tree.unit_tested() if part in file]
    drawn = [mutant for file in files for mutant in mutants_of(file, pathlib.Path(file).read_text())]
    print(f"seed {seed}: {min(n, len(drawn))} of {len(drawn)} mutants in {len(files)} files", flush=True)
    counts = {"killed": 0, "SURVIVED": 0, "unbuilt": 0}
    for mutant in random.Random(seed).sample(drawn, min(n, len(drawn))):
        outcome, words = judge(tree, mutant)
        counts[outcome] += 1
        line = pathlib.Path(mutant.file).read_text().split("\n")[mutant.line - 1].strip()
        where = f"{mutant.file}:{mutant.line}:{mutant.column + 1}"
        change = f"{mutant.old} -> {mutant.new}" + (f" in: {line}" if mutant.old != line else "")
        print(f"{outcome:9} {where}: {change}" + (f"  ({words})" if words else ""), flush=True)
    print(f"{sum(counts.values())} mutants, {counts['killed']} killed, {counts['SURVIVED']} survived, "
          f"{counts['unbuilt']} do not build, {time.monotonic() - began:.0f} s, seed {seed}")
    if None in tree.seconds.values() or not drawn:
        return 2
    return 1 if counts["SURVIVED"] else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or not sys.argv[1].isdigit():
        sys.exit(__doc__)
    sys.exit(main(int(sys.argv[1]), sys.argv[2], "".join(sys.argv[3:])))
