#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints figures of the source as a table of Markdown: how large it is, and what a reader stumbles over.

Usage: house_figures.py [TREE [HYPROF]]

TREE: a checkout, the current folder if not given.  HYPROF: the program built from it, whose commands and options are
counted.  Product: all .c and .h that are not below tests, boards and examples; C of this style, where braces of
functions stand at the left edge.  Nothing is written.
"""
import collections
import pathlib
import re
import subprocess
import sys

LONG_FUNCTION = 60
CRUMB_PROTOTYPES = 2
SHORT_FILE = 80
PASSAGE_LINES = 8  # that stand twice, without blanks, comments, braces alone and includes
NOT_PRODUCT = {"tests", "boards", "examples", "build", "debian", "packaging", "docs"}


def sources(tree):
    """Path and lines of each .c and .h that git knows of; of the product, or of the tests."""
    names = subprocess.run(["git", "-C", tree, "ls-files", "*.c", "*.h"], capture_output=True, text=True, check=True)
    for name in names.stdout.split():
        path = pathlib.Path(tree, name)
        if path.is_file():
            yield name, path.read_text(errors="replace").split("\n")


def functions(lines):
    """The length of each function's body, with its braces."""
    begin = None
    for at, line in enumerate(lines):
        if line == "{":
            begin = at
        elif line == "}" and begin is not None:
            yield at - begin + 1
            begin = None


def passages(files):
    """How many lines stand in a passage of PASSAGE_LINES that is somewhere else as well."""
    places = collections.defaultdict(list)
    kept_of = {}
    for name, lines in files:
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), "\n".join(lines), flags=re.S)
        kept = [(at, line.strip()) for at, line in enumerate(text.split("\n"))
                if len(line.strip()) > 1 and not line.lstrip().startswith("#include")]
        kept_of[name] = kept
        for i in range(len(kept) - PASSAGE_LINES + 1):
            places[tuple(line for _, line in kept[i:i + PASSAGE_LINES])].append((name, i))
    twice = set()
    for found in places.values():
        if len(found) > 1:
            twice.update((name, kept_of[name][i + k][0]) for name, i in found for k in range(PASSAGE_LINES))
    return len(twice)


def headers(files):
    """Headers with at most one user beside their own .c, and those with few prototypes and no type."""
    users = collections.defaultdict(set)
    for name, lines in files:
        for line in lines:
            found = re.match(r'#include "([^"]+)"', line)
            if found and found.group(1) != name:
                users[found.group(1)].add(name)
    n_one, n_crumbs = 0, 0
    for name, lines in files:
        if not name.endswith(".h"):
            continue
        own = name[:-1] + "c"
        n_one += len(users[name] - {own}) <= 1
        text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.S)
        has_type = re.search(r"^(struct|union|enum)\b[^;(]*\{", text, re.M)
        n_crumbs += not has_type and len(re.findall(r"^[a-z].*?\)[^;{]*;", text, re.M | re.S)) <= CRUMB_PROTOTYPES
    return n_one, n_crumbs


def commands(hyprof):
    """Numbers of commands and of the rows of their options."""
    text = subprocess.run([hyprof, "--help"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+)  ", text, re.M)
    rows = 0
    for name in names:
        page = subprocess.run([hyprof, name, "--help"], capture_output=True, text=True, check=False).stdout
        rows += len(re.findall(r"^ +(?:-., |    )--[a-z]", page, re.M)) + len(re.findall(r"^  --[a-z]", page, re.M))
    return len(names), rows


def main():
    tree = sys.argv[1] if len(sys.argv) > 1 else "."
    files = list(sources(tree))
    product = [one for one in files if one[0].split("/")[0] not in NOT_PRODUCT]
    tests = [one for one in files if one[0].startswith("tests/")]
    lengths = [n for name, lines in product if name.endswith(".c") for n in functions(lines)]
    n_one, n_crumbs = headers(product)
    by_folder = collections.Counter()
    for name, lines in product:
        by_folder[name.split("/")[0]] += len(lines) - 1
    widest = collections.Counter(str(pathlib.PurePath(name).parent) for name, _ in product).most_common(1)[0]
    rows = [
        ("product: files", len(product)),
        ("product: lines", sum(by_folder.values())),
        *((f"lines of {folder}/", n) for folder, n in sorted(by_folder.items())),
        ("tests: files of C", len(tests)),
        ("tests: lines of C", sum(len(lines) - 1 for _, lines in tests)),
        (f"files of C below {SHORT_FILE} lines", sum(name.endswith(".c") and len(lines) <= SHORT_FILE for name, lines in product)),
        ("headers with at most one user beside their own .c", n_one),
        (f"headers with at most {CRUMB_PROTOTYPES} prototypes and no type", n_crumbs),
        (f"largest folder ({widest[0]}): files", widest[1]),
        ("functions", len(lengths)),
        (f"functions of more than {LONG_FUNCTION} lines", sum(n > LONG_FUNCTION for n in lengths)),
        (f"lines of the product in passages of {PASSAGE_LINES} that stand twice", passages(product)),
        (f"lines of the tests in passages of {PASSAGE_LINES} that stand twice", passages(tests)),
    ]
    if len(sys.argv) > 2:
        n_commands, n_options = commands(sys.argv[2])
        rows += [("commands", n_commands), ("rows of options in their help", n_options)]
    print("| figure | |\n|---|---|")
    for title, number in rows:
        print(f"| {title} | {number:,} |")


if __name__ == "__main__":
    main()
