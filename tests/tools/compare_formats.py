#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares what a command answers as JSON, CSV, Markdown and text: the same rows, and the same numbers in them.

compare_formats.py HYPROF WORD...

CSV has each cell of JSON exactly.  In Markdown each number is one of the row's in JSON, rounded as it is shown, and each
cell of Markdown stands in the text; the numbers of a row stand in one line of it.  Of `annotate` the text is a listing, in
which each address stands with its samples.  Prints a line a difference; the exit status is 1 if there was one.
"""
import csv
import io
import json
import re
import subprocess
import sys

UNITS = {"": 1, "%": 0.01, "ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9, "B": 1, "bytes": 1,
         "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "k": 1e3, "M": 1e6, "G": 1e9}
NUMBER = re.compile(r"^([+-]?)(\d[\d,]*)(?:\.(\d+))? ?(%|[A-Za-zµ]*)$")
csv.field_size_limit(1 << 30)


class Comparison:
    def __init__(self, hyprof, words):
        self.command = [hyprof, *words]
        self.n_faults = self.n_cells = self.n_numbers = 0
        self.hidden = set()

    def ask(self, *options):
        done = subprocess.run([*self.command, *options], capture_output=True, check=False)
        if not done.stdout:
            raise SystemExit(f"{self.command} {options}: {done.stderr.decode()}")
        return done.stdout.decode()

    def fault(self, words):
        self.n_faults += 1
        print(words[:400])

    # ---- CSV

    def csv_cell(self, value):
        if value is None:
            return ""
        if isinstance(value, bool):
            return "yes" if value else "no"
        return " < ".join(value) if isinstance(value, list) else value

    def compare_csv(self, key, table):
        rows = list(csv.DictReader(io.StringIO(self.ask("--csv", "--section", key), newline=""), strict=True))
        if len(rows) != len(table["rows"]):
            self.fault(f"{key}: CSV has {len(rows)} rows, JSON {len(table['rows'])}")
        for number, (row, wanted) in enumerate(zip(rows, table["rows"])):
            for name, value in wanted.items():
                if name == "bar":
                    continue
                self.n_cells += 1
                cell, found = self.csv_cell(value), row.get(name)
                if isinstance(cell, str):
                    is_same = found == cell or not cell.isprintable()
                else:
                    is_same = found not in (None, "") and abs(float(found) - cell) <= 1e-9 * abs(cell)
                if not is_same:
                    self.fault(f"{key}, row {number}, {name}: JSON {value!r}, CSV {found!r}")

    # ---- Markdown and text

    def is_rounded(self, cell, numbers):
        match = NUMBER.match(cell)
        if not match or match[4] not in UNITS:
            return None
        unit = UNITS[match[4]]
        shown = float(match[2].replace(",", "") + "." + (match[3] or "0")) * unit
        margin = 0.51 * unit * 10 ** -len(match[3] or "") + 1e-9 * shown
        return any(abs(abs(number) - shown) <= margin for number in numbers)

    def compare_markdown(self, number, named_cells, row, lines):
        numbers = [value for value in row.values() if isinstance(value, (int, float)) and not isinstance(value, bool)]
        numbers += [float(value) for value in row.values() if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value)]
        shown = []
        for title, cell in named_cells:
            is_rounded = self.is_rounded(cell, numbers)
            if is_rounded is None:
                continue
            self.n_numbers += 1
            if title not in self.hidden:
                shown.append(cell)
            if not is_rounded and cell not in [str(value) for value in row.values()]:
                self.fault(f"row {number}: Markdown has {cell}, JSON {row}")
        if lines is not None and not any(all(f" {cell} " in line for cell in shown) for line in lines):
            self.fault(f"row {number}: no line of the text has all of {shown}")

    def compare_listing(self, row, lines):
        """An instruction in a listing: its address, and the samples in the same line."""
        if row["n_samples"] == 0:
            return
        address = f" {int(row['address'], 16):x}: "
        wanted = f" {row['n_samples']:,}"
        if not any(address in line and wanted in line.split(address)[0] for line in lines):
            self.fault(f"the text has no {address.strip()} with {row['n_samples']} samples")

    def run(self):
        document = json.loads(self.ask("--json"))
        tables = [(key, value) for key, value in document.items() if isinstance(value, dict) and "rows" in value]
        for key, table in tables:
            self.compare_csv(key, table)
        markdown = [block.splitlines() for block in re.findall(r"(?:^\|.*\n)+", self.ask("--format", "md"), re.M)]
        text = self.ask("--full-names") if "--full-names" in self.help() else self.ask()
        # Columns for which a line has no room are named below the table.
        hidden = re.findall(r"hidden, the terminal is too narrow: (.*(?:\n {4}.*)*)", text)
        self.hidden = {title for words in hidden for title in re.split(r",\s+", words)}
        lines = [" " + re.sub(r"\s+", " ", line) + " " for line in text.splitlines()]
        is_listing = document["schema"].startswith("hyprof.annotation/")
        wanted = [(key, table) for key, table in tables if table["rows"] and key != "traces"]
        if len([block for block in markdown if len(block) > 2]) != len(wanted):
            self.fault(f"Markdown has {len(markdown)} tables, JSON {[key for key, _ in wanted]}")
        for (key, table), block in zip(wanted, [block for block in markdown if len(block) > 2]):
            head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in block]
            if len(rows) != len(table["rows"]) and not table["left_out"]:
                self.fault(f"{key}: Markdown has {len(rows)} rows, JSON {len(table['rows'])}")
            for number, (cells, row) in enumerate(zip(rows, table["rows"])):
                has_line = not is_listing or key == "functions"
                self.compare_markdown(number, list(zip(head, cells)), row, lines if has_line else None)
                if is_listing and key == "instructions":
                    self.compare_listing(row, lines)
        for sentence in (document.get("answer"),) if document.get("answer") else ():
            if re.sub(r"\s+", " ", sentence) not in re.sub(r"\s+", " ", text):
                self.fault(f"the text has not the answer {sentence!r}")

    def help(self):
        return subprocess.run([*self.command[:2], "--help"], capture_output=True, check=True).stdout.decode()


comparison = Comparison(sys.argv[1], sys.argv[2:])
comparison.run()
print(f"{comparison.n_cells} cells, {comparison.n_numbers} rounded numbers, {comparison.n_faults} faults")
sys.exit(1 if comparison.n_faults else 0)
