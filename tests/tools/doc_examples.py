#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lists the commands that documents show, as they can be run: a line PLACE<TAB>WHAT<TAB>COMMAND for each.

doc_examples.py TABLE FILE...

A command is a line of an indented block, or of a fenced one, that begins with `hyprof`, `$ hyprof` or `sudo hyprof`.  What
follows after two spaces, or after ` #`, is a comment.  A line that ends in a backslash goes on.  WHAT is `run`,
`event NAME` (that event is needed) or the reason why it cannot be run; the rows of TABLE say so.
"""
import re
import sys

COMMAND = re.compile(r"^(?:\$ )?(?:sudo )?(hyprof (?:[a-z]|--version|--help).*)$")
COMMENT = re.compile(r"(?:\s{2,}| #).*$")


def read_table(path):
    """Rows of KIND, REGEX, WORDS: `cannot` with the reason, `event` with its name, and `with` a replacement."""
    rows = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                kind, regex, words = (part.strip() for part in line.split(" ;"))
                rows.append((kind, re.compile(regex), words))
    return rows


def code_lines(path):
    """Numbers and texts of the lines that are code."""
    fenced = False
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            text = line.rstrip("\n")
            if text.lstrip().startswith("```"):
                fenced = not fenced
            elif fenced or text.startswith("    "):
                yield number, text.strip()


def examples(path):
    first, words = 0, ""
    for number, text in code_lines(path):
        match = COMMAND.match(text)
        if not words and not match:
            continue
        first = first if words else number
        words += COMMENT.sub("", " " + text if words else match.group(1))
        if words.endswith("\\"):
            words = words[:-1].rstrip()
            continue
        yield first, words
        words = ""


def main():
    table = read_table(sys.argv[1])
    used = set()
    for path in sys.argv[2:]:
        for at, words in examples(path):
            what, command = "run", words
            for row in table:
                kind, regex, argument = row
                if not regex.search(words if kind != "with" else command):
                    continue
                used.add(row)
                if kind == "with":
                    command = regex.sub(argument, command)
                elif what == "run":
                    what = argument if kind == "cannot" else f"{kind} {argument}"
            print(f"{path}:{at}\t{what}\t{command}")
    for kind, regex, _ in (row for row in table if row not in used):
        print(f"the table\tunused\t{kind} ; {regex.pattern}")


main()
