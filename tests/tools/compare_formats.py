#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the four formats of one answer: the same facts, the same rows, the same numbers.

compare_formats.py HYPROF ARGUMENT...

JSON is what the others are held against.  CSV must have every fact and every row of it; Markdown every row of each of
its tables, each number as people write it; text, with all rows and a line as long as need be, the same rows as
Markdown.  Columns and tables that are for people or for programs alone must have no twin of the same name.  Prints a
line a difference; the exit status is 1 if there was one.
"""
import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import termios

# In text these are listings, of which a part of the columns are notes; numbers without samples are blank.
NUMBERS = ("percent", "samples", "IPC", "c-miss/k", "b-miss/k")
LISTINGS = {"Instructions": (*NUMBERS, "address", "file offset", "instruction", "target"), "Lines": (*NUMBERS, "line")}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
         "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def run(hyprof, arguments, *more):
    done = subprocess.run([hyprof, *arguments, *more], capture_output=True, stdin=subprocess.DEVNULL, timeout=120,
                          check=False, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join([*arguments, *more])}: status {done.returncode}: {done.stderr}")
    return done.stdout


def run_on_terminal(hyprof, arguments, n_columns=4000):
    """Text on a terminal on which nothing has to be left out."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, n_columns))
    with subprocess.Popen([hyprof, *arguments, "--color", "never"], stdout=theirs, stdin=subprocess.DEVNULL) as child:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the last one has closed it
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    return said.decode().replace("\r\n", "\n")


def as_csv(value):
    """What CSV has for a value of JSON."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " < ".join(value)
    return str(value)


def is_same(wanted, found):
    """A value of JSON and a cell of CSV."""
    if isinstance(wanted, float) and found not in ("", "yes", "no"):
        return abs(float(found) - wanted) <= 1e-9 * abs(wanted)
    return as_csv(wanted).replace("\n", r"\x0a") == found


def amount(text):
    """The number that people read, and how far it may be rounded; None for words."""
    text = text.strip().strip("`").replace(",", "")
    found = re.fullmatch(r"([+-]?[0-9.]+(?:e[+-]?\d+)?)(%| ?[A-Za-z]+)?", text)
    if not found:
        return None
    number, unit = float(found[1]), (found[2] or "").strip()
    digits = len(found[1].partition(".")[2].split("e")[0])
    step = 10.0 ** -digits if "." in found[1] else 1.0
    factor = 0.01 if unit == "%" else UNITS.get(unit, 1 if unit == "" else None)
    return None if factor is None else (number * factor, max(step * factor, abs(number) * factor * 0.006))


def is_shown(wanted, text):
    """A value of JSON and a cell for people."""
    plain = text.strip().strip("`").strip()
    if wanted is None:
        return plain == "-" or plain == ""
    if isinstance(wanted, (bool, list)):
        return plain == as_csv(wanted)
    if isinstance(wanted, (int, float)):
        found = amount(text)
        if found is None or plain == "-":
            return isinstance(wanted, float) and plain == "-" or plain == str(wanted)
        return abs(found[0] - wanted) <= found[1]
    return plain in (wanted, wanted.rpartition("/")[2]) or not wanted.isascii() or not wanted.isprintable()


def tables_of(markdown):
    """{title: (column titles, rows)}, in order; cells may have an escaped bar in them."""
    tables, title = {}, None
    for line in markdown.splitlines():
        if line.startswith("### "):
            title = line[4:]
            tables[title] = []
        elif line.startswith("| ") and title:
            tables[title].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
    return {title: (rows[0], rows[2:]) for title, rows in tables.items() if rows}


def compare_csv(hyprof, arguments, document, faults):
    facts = list(csv.DictReader(io.StringIO(run(hyprof, arguments, "--csv", "--section", "facts"))))
    facts = {row["key"]: row["value"] for row in facts}
    warnings = list(csv.reader(io.StringIO(run(hyprof, arguments, "--csv", "--section", "warnings"))))[1:]
    for key, value in document.items():
        if isinstance(value, dict):
            rows = list(csv.DictReader(io.StringIO(run(hyprof, arguments, "--csv", "--section", key))))
            if len(rows) != len(value["rows"]) or int(facts[f"{key}.left_out"]) != value["left_out"]:
                faults.append(f"csv: {key}: {len(rows)} rows for {len(value['rows'])}")
            for wanted, found in zip(value["rows"], rows):
                bad = [name for name in wanted if name != "bar" and not is_same(wanted[name], found.get(name, "?"))]
                faults += [f"csv: {key}: {name}: {wanted[name]!r} is {found.get(name)!r}" for name in bad]
        elif key == "warnings":
            if len(warnings) != len(value):
                faults.append(f"csv: {len(warnings)} warnings for {len(value)}")
        elif key not in ("hints",) and not is_same(value, facts.get(key, "?")):
            faults.append(f"csv: fact {key}: {value!r} is {facts.get(key)!r}")


def bare(cell):
    """A cell of Markdown without its marks: a tree's indentation, a bar that is escaped, a code span."""
    return re.sub(r"^`+ ?| ?`+$", "", cell.replace("&nbsp;", "").replace(r"\|", "|")).strip()


def fits(wanted, cells):
    """Whether each cell of a row for people is a value of the JSON's row, none of them twice; a tree's depth as well."""
    left = [value for key, value in wanted.items() if key != "depth"]
    if "depth" in wanted and max(cell.count("&nbsp;") for cell in cells) != 2 * wanted["depth"]:
        return f"depth {wanted['depth']}"
    for cell in cells:
        if "bar" in wanted and set(cell.strip("`")) <= {"#"}:
            continue
        for i, value in enumerate(left):
            if is_shown(value, bare(cell)):
                del left[i]
                break
        else:
            return cell
    return None


def rows_for_people(rows, n_shown):
    """The rows of JSON without the frames around all of a tree, which people have in the line above it."""
    n_around = len(rows) - n_shown
    around = rows[:n_around]
    if "depth" not in rows[0] or n_around <= 0 or [row["depth"] for row in around] != list(range(n_around)):
        return rows
    if any(row["total_samples" if "total_samples" in row else "n_samples"] !=
           around[0]["total_samples" if "total_samples" in row else "n_samples"] for row in around):
        return rows
    return [{**row, "depth": row["depth"] - n_around} for row in rows[n_around:]]


def compare_people(document, markdown, text, faults):
    titles = tables_of(markdown)
    twins = {key: value for key, value in document.items() if isinstance(value, dict) and value["rows"]}
    n_matched = 0
    for title, (columns, rows) in titles.items():
        found = None
        for key, value in twins.items():
            wanted = rows_for_people(value["rows"], len(rows))
            if len(wanted) == len(rows) and all(fits(a, b) is None for a, b in zip(wanted, rows)):
                found = key
                break
        if found:
            n_matched += 1
            del twins[found]
        else:
            nearest = [(key, fits(value["rows"][0], rows[0])) for key, value in twins.items()]
            faults.append(f"markdown: {title}: no such table in JSON ({len(rows)} rows; {nearest})")
        if title in ("Lines", "Parts of the function") and "Instructions" in titles:
            continue  # notes of the listing say it
        # In text the same rows, in the same order, whatever is blank because it repeats the row above.
        at = text.find(f"\n{title}\n")
        if at < 0:
            faults.append(f"text: {title} is not there")
            continue
        part = text[at + len(title) + 2:]
        part = re.sub(r"\s+", " ", part if title in LISTINGS else part.partition("\n\n")[0])
        for cells in rows:
            for column, cell in zip(columns, cells):
                plain = bare(cell)
                if title in LISTINGS and (column not in LISTINGS[title] or plain in ("-", "0", "0.0%")):
                    continue
                if not plain.isascii() or not plain.isprintable() or set(plain) <= {"#"} or plain.count(" < ") > 11 or len(plain) > 4096:
                    continue
                if re.sub(r"\s+", " ", plain) not in part:
                    faults.append(f"text: {title}: {column}: {plain[:200]!r} is missing")
    shown = {key for key in ("functions", "zones", "threads", "top_down", "bottom_up", "modules", "places", "cpus")}
    faults += [f"markdown: the table {key} of JSON is not there" for key in twins if key in shown]
    return n_matched


def main():
    hyprof, arguments = sys.argv[1], [*sys.argv[2:], "--limit", "0"]
    document = json.loads(run(hyprof, arguments, "--json"))
    markdown = run(hyprof, arguments, "--format", "md")
    text = run_on_terminal(hyprof, arguments)
    faults = []
    compare_csv(hyprof, arguments, document, faults)
    n = compare_people(document, markdown, text, faults)
    if document.get("answer"):
        for name, words in (("markdown", markdown), ("text", text)):
            first = words.splitlines()[0].lstrip("# ").replace("\\", "")
            if document["answer"].split()[0] != first.split()[0]:
                faults.append(f"{name} does not begin with the answer")
    print("\n".join(faults[:20]))
    print(f"{document['schema']}: {n} tables compared")
    return 1 if faults or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
