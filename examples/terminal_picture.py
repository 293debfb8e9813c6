#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the last screen that a program had on a terminal as SVG.

usage: on_terminal.py xterm-256color ROWSxCOLUMNS STEPS -- COMMAND... | terminal_picture.py ROWSxCOLUMNS >FILE.svg

It knows what ncurses sends to such a terminal, and no more.  The screen is that before the program left it.
"""
import html
import re
import sys

CELL = (7.8, 17.0)
MARGIN = 14
BACKGROUND, TEXT = '#16181d', '#d7dae0'
COLORS = ['#5c6370', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#d7dae0']
SEQUENCE = re.compile(r'\x1b\[([?>]?)([0-9;]*)([@-~])|\x1b[()][A-Z0-9]|\x1b[=>78]|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]')

# A cell: its character, and how it looks: (color, is bold, is dim, is inverse).
Look = tuple[str, bool, bool, bool]
PLAIN: Look = (TEXT, False, False, False)


class Screen:
    def __init__(self, rows: int, columns: int) -> None:
        self.size = rows, columns
        self.look = PLAIN
        self.row = self.column = 0
        self.last = ' '
        self.clear()

    def clear(self) -> None:
        rows, columns = self.size
        self.cells = [[(' ', PLAIN)] * columns for _ in range(rows)]

    def put(self, character: str) -> None:
        rows, columns = self.size
        if self.row < rows and self.column < columns:
            self.cells[self.row][self.column] = character, self.look
        self.column += 1
        self.last = character

    def erase(self, first: int, last: int) -> None:
        for column in range(max(0, first), min(self.size[1], last)):
            self.cells[self.row][column] = ' ', PLAIN

    def set_look(self, numbers: list[int]) -> None:
        color, is_bold, is_dim, is_inverse = self.look
        for number in numbers or [0]:
            if number == 0:
                color, is_bold, is_dim, is_inverse = PLAIN
            elif number in (1, 2, 7):
                is_bold, is_dim, is_inverse = is_bold or number == 1, is_dim or number == 2, is_inverse or number == 7
            elif 30 <= number <= 37:
                color = COLORS[number - 30]
            elif number == 39:
                color = TEXT
        self.look = color, is_bold, is_dim, is_inverse

    def control(self, letter: str, numbers: list[int]) -> None:
        first = numbers[0] if numbers else 0
        if letter == 'H':
            self.row, self.column = max(1, first) - 1, (numbers[1] if len(numbers) > 1 else 1) - 1
        elif letter == 'd':
            self.row = max(1, first) - 1
        elif letter == 'G':
            self.column = max(1, first) - 1
        elif letter in 'ABCD':
            step = max(1, first)
            self.row += {'A': -step, 'B': step}.get(letter, 0)
            self.column += {'C': step, 'D': -step}.get(letter, 0)
        elif letter == 'J' and first == 2:
            self.clear()
        elif letter == 'J':
            self.erase(self.column, self.size[1])
            for row in range(self.row + 1, self.size[0]):
                self.cells[row] = [(' ', PLAIN)] * self.size[1]
        elif letter == 'K':
            self.erase(0 if first == 1 else self.column, self.column + 1 if first == 1 else self.size[1])
        elif letter == 'X':
            self.erase(self.column, self.column + max(1, first))
        elif letter == 'b':
            for _ in range(max(1, first)):
                self.put(self.last)
        elif letter == 'm':
            self.set_look(numbers)

    def play(self, output: str) -> None:
        for match in SEQUENCE.finditer(output):
            mark, digits, letter = match.groups()
            numbers = [int(number or 0) for number in digits.split(';')] if digits else []
            if mark == '?' and numbers == [1049] and letter == 'l':
                return
            if letter and not mark:
                self.control(letter, numbers)
            elif match[0] == '\r':
                self.column = 0
            elif match[0] == '\n':
                self.row += 1
            elif match[0] == '\b':
                self.column -= 1
            elif match[0] >= ' ' and match[0] != '\x7f':
                self.put(match[0])

    def runs(self, row: int) -> list[tuple[int, str, Look]]:
        """Pieces of a row that look alike: where each begins, its text."""
        found: list[tuple[int, str, Look]] = []
        for column, (character, look) in enumerate(self.cells[row]):
            if found and found[-1][2] == look:
                found[-1] = found[-1][0], found[-1][1] + character, look
            else:
                found.append((column, character, look))
        return found


def spaces_kept(text: str) -> str:
    return html.escape(text).replace(' ', '&#160;')


def draw_run(column: int, text: str, look: Look, y: float) -> str:
    color, is_bold, is_dim, is_inverse = look
    x, width = MARGIN + column * CELL[0], len(text) * CELL[0]
    box = f'<rect x="{x:.1f}" y="{y - 13:.1f}" width="{width:.1f}" height="{CELL[1]}" fill="{color}"/>' if is_inverse else ''
    if text.strip() == '':
        return box
    text, width = text.rstrip(), len(text.rstrip()) * CELL[0]
    weight = ' font-weight="bold"' if is_bold else ''
    opacity = ' opacity="0.65"' if is_dim else ''
    return (f'{box}<text x="{x:.1f}" y="{y:.1f}" textLength="{width:.1f}" fill="{BACKGROUND if is_inverse else color}"'
            f'{weight}{opacity}>{spaces_kept(text)}</text>')


def main() -> None:
    rows, columns = (int(number) for number in sys.argv[1].split('x'))
    screen = Screen(rows, columns)
    screen.play(sys.stdin.buffer.read().decode('utf-8', 'replace'))
    width, height = columns * CELL[0] + 2 * MARGIN, rows * CELL[1] + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
          f'height="{height:.0f}" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="13">')
    print(f'<rect width="100%" height="100%" rx="6" fill="{BACKGROUND}"/>')
    for row in range(rows):
        line = ''.join(draw_run(column, text, look, MARGIN + row * CELL[1] + 13) for column, text, look in screen.runs(row))
        if line:
            print(line)
    print('</svg>')


main()
