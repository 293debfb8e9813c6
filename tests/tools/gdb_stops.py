# SPDX-License-Identifier: MIT
"""
Stops a program at instants that it does not choose, and writes of each what unwinding needs and what gdb says.

    gdb -batch -nx -ex 'python stops_file, n_stops = "FILE", 100' -x gdb_stops.py --args COMMAND

The file, for stops_beside_gdb.c, is lines, some of them followed by bytes:

    maps N            then N bytes of /proc/PID/maps; again when it has changed
    stop TID PC REGISTERS     by DWARF number, hexadecimal
    piece START N     then N bytes of a stack from START on; at least one a stop
    frames PC...      of gdb, innermost first, without inlined functions
"""
import random
import subprocess

import gdb

PIECE_BYTES = 1 << 20
DEPTH_MAX = 500
REGISTERS = {
    "i386:x86-64": "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15".split(),
    "aarch64": ["x%d" % i for i in range(31)] + ["sp"],
}


def number(value):
    return int(value) & (2**64 - 1)


def end_of_mapping(maps, address):
    for line in maps.splitlines():
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if start <= address < end:
            return end
    return address


def frames_of_thread():
    """(pc, sp) of each real frame."""
    frames = []
    frame = gdb.newest_frame()
    while frame is not None and len(frames) < DEPTH_MAX:
        # Neither was called: one is part of its caller, of the other nothing is left on the stack.
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            frames.append((frame.pc(), number(frame.read_register("sp"))))
        try:
            frame = frame.older()
        except gdb.error:
            break
    return frames


class Stops:
    def __init__(self, path):
        self.out = open(path, "wb")
        self.maps = None
        self.n = 0

    def write_maps(self, pid):
        with open("/proc/%d/maps" % pid) as file:
            maps = file.read()
        if maps != self.maps:
            self.maps = maps
            self.out.write(b"maps %d\n" % len(maps.encode()) + maps.encode())

    def write_stop(self):
        inferior = gdb.selected_inferior()
        self.write_maps(inferior.pid)
        frame = gdb.newest_frame()
        names = REGISTERS[frame.architecture().name()]
        values = [number(frame.read_register(name)) for name in names]
        frames = frames_of_thread()
        words = ["%x" % x for x in [frame.pc()] + values]
        self.out.write(("stop %d %s\n" % (gdb.selected_thread().ptid[1], " ".join(words))).encode())
        pieces = []
        for _, sp in frames:
            if any(start <= sp <= end for start, end in pieces) or len(pieces) == 4:
                continue
            end = min(end_of_mapping(self.maps, sp), sp + PIECE_BYTES)
            if end > sp:
                pieces.append((sp, end))
                self.out.write(b"piece %x %d\n" % (sp, end - sp))
                self.out.write(inferior.read_memory(sp, end - sp).tobytes() + b"\n")
        self.out.write(("frames " + " ".join("%x" % pc for pc, _ in frames) + "\n").encode())
        self.n += 1


def interrupt_later(pid):
    """
    The instant is to be any at all, so it is time that decides, and nothing depends on which it is.  By another
    process, since gdb lets no thread of Python run while the program does; not by a child, which gdb would reap.
    """
    subprocess.run(["sh", "-c", "(sleep %.4f; kill -USR2 %d 2>/dev/null) &" % (random.uniform(0.001, 0.03), pid)])


def main():
    for setting in ("pagination off", "confirm off", "debuginfod enabled off",
                    "backtrace past-main on", "backtrace past-entry on", "print inferior-events off",
                    "print thread-events off"):
        try:
            gdb.execute("set " + setting)
        except gdb.error:
            pass  # this gdb does not have it
    gdb.execute("handle SIGUSR2 stop noprint nopass", to_string=True)
    # Signals between the programs are their own matter.
    gdb.execute("handle all nostop noprint pass", to_string=True)
    gdb.execute("handle SIGUSR2 stop print nopass", to_string=True)
    stops = Stops(stops_file)
    while stops.n < n_stops:
        if gdb.selected_inferior().pid == 0:
            gdb.execute("starti", to_string=True)
        interrupt_later(gdb.selected_inferior().pid)
        gdb.execute("continue", to_string=True)
        if gdb.selected_inferior().pid == 0:
            continue  # it has ended: once more from the start
        threads = gdb.selected_inferior().threads()
        if stops.n % 4 == 3:
            threads[stops.n // 4 % len(threads)].switch()
        stops.write_stop()
    gdb.execute("kill")


main()
