#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program on a terminal of its own and plays a user.

usage: on_terminal.py TERM ROWSxCOLUMNS STEPS -- COMMAND ARGS...

STEPS are separated by '|': 'see TEXT' waits until the text was printed since the step before, 'type KEYS' types,
'size ROWSxCOLUMNS' resizes, 'kill NAME' sends a signal, 'close' closes the terminal.  Prints all that the program
wrote, and ends with its status; 99 if the terminal was left in another mode than it was in, 98 if a text never came.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE_S = 50


def set_size(fd: int, size: str) -> None:
    rows, columns = (int(n) for n in size.split('x'))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


class Terminal:
    def __init__(self, term: str, size: str, command: list[str]) -> None:
        self.output = b''
        self.seen = 0
        self.closed = False
        self.master, self.slave = pty.openpty()
        set_size(self.slave, size)
        self.before = termios.tcgetattr(self.slave)
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.master)
            self.take_terminal()
            os.environ['TERM'] = term
            os.execvp(command[0], command)

    def take_terminal(self) -> None:
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for fd in (0, 1, 2):
            os.dup2(self.slave, fd)
        os.close(self.slave)

    def read(self, timeout: float) -> bool:
        """Whether there is more to come."""
        if not select.select([self.master], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += data
        return len(data) > 0

    def see(self, text: bytes) -> bool:
        until = time.monotonic() + PATIENCE_S
        while text not in self.output[self.seen:]:
            if time.monotonic() > until or not self.read(0.2):
                return text in self.output[self.seen:]
        self.seen = self.output.index(text, self.seen) + len(text)
        return True

    def play(self, step: str) -> bool:
        verb, _, rest = step.partition(' ')
        if verb == 'see':
            return self.see(rest.encode())
        if verb == 'type':
            os.write(self.master, rest.encode().decode('unicode_escape').encode())
        elif verb == 'size':
            set_size(self.master, rest)
        elif verb == 'kill':
            os.kill(self.pid, getattr(signal, 'SIG' + rest))
        elif verb == 'close':
            os.close(self.slave)
            os.close(self.master)
            self.closed = True
        return True

    def wait(self) -> int:
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if self.closed:
                time.sleep(0.05)
            else:
                self.read(0.05)
        os.kill(self.pid, signal.SIGKILL)
        return 98


def main() -> int:
    term, size, steps, _, *command = sys.argv[1:]
    terminal = Terminal(term, size, command)
    for step in steps.split('|'):
        if not terminal.play(step):
            sys.stderr.write(f'never came: {step}\n')
            os.kill(terminal.pid, signal.SIGKILL)
            sys.stdout.buffer.write(terminal.output)
            return 98
    status = terminal.wait()
    while not terminal.closed and select.select([terminal.master], [], [], 0)[0] and terminal.read(0):
        pass
    sys.stdout.buffer.write(terminal.output)
    if not terminal.closed and termios.tcgetattr(terminal.slave) != terminal.before:
        return 99
    return status if status >= 0 else 128 - status


sys.exit(main())
