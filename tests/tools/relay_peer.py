#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other side of a trace that is taken, as it should not be.

relay_peer.py recorder SOCKET|PORT HOW [TRACE]  listens once, prints "listening", and answers a capture
relay_peer.py taker SOCKET|PORT HOW         connects to a recorder; prints what came of it
relay_peer.py names PORT_FILE HOW           a server of debug files that says nothing; prints "asked"
relay_peer.py forward SOCKET TO             passes connections on, as ssh -L does; closes them when nobody listens
"""

import os
import socket
import struct
import sys
import threading
import time

HELLO_BYTES = 40
CHUNK_HEADER = struct.Struct("<IHHIIIIQQQ")
FRESH, RESUMED, BUSY, STALE, FOREIGN, CROWDED, UNKNOWN = range(7)


def hello(magic: bytes, recording: int, generation: int, status: int, position: int) -> bytes:
    return magic + struct.pack("<QIIQQ", recording, generation, status, position, 0)


def answer(status: int, position: int = 0) -> bytes:
    return hello(b"HYPGIVE1", 7, 1, status, position)


def receive(connection: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        part = connection.recv(n - len(data))
        if not part:
            break
        data += part
    return data


def listen(path: str) -> socket.socket:
    if path.isdigit():
        listener = socket.create_server(("127.0.0.1", int(path)))
        print("listening at", listener.getsockname()[1], flush=True)
        return listener
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(16)
    print("listening", flush=True)
    return listener


# ---- a recorder

def huge_chunk(trace: bytes) -> bytes:
    """The header of the first chunk, as of four gigabytes."""
    fields = list(CHUNK_HEADER.unpack_from(trace))
    fields[3] = fields[4] = 0xFFFFFFFF
    return CHUNK_HEADER.pack(*fields)


def first_chunk_bytes(trace: bytes) -> int:
    return CHUNK_HEADER.size + CHUNK_HEADER.unpack_from(trace)[3]


def words_of(how: str, trace: bytes, asked: bytes) -> bytes:
    position = struct.unpack_from("<Q", asked, 24)[0]
    half = trace[:len(trace) // 2]
    flipped = bytearray(trace)
    flipped[len(trace) // 2] ^= 1
    return {
        "silence": b"",
        "nothing": b"",
        "garbage": os.urandom(1 << 20),
        "http": b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + b" " * 100,
        "half-answer": answer(FRESH)[:HELLO_BYTES // 2],
        "busy": answer(BUSY),
        "stale": answer(STALE),
        "foreign": answer(FOREIGN),
        "crowded": answer(CROWDED),
        "unknown-status": answer(UNKNOWN),
        "resumes-nothing": answer(RESUMED, 77) + trace,
        "garbage-after-answer": answer(FRESH) + os.urandom(1 << 20),
        "huge-chunk": answer(FRESH) + huge_chunk(trace) + b"\0" * (1 << 20),
        "no-beginning": answer(FRESH) + trace[first_chunk_bytes(trace):],
        "silence-after-answer": answer(FRESH),
        "silence-after-all": answer(FRESH) + trace,
        "all": answer(FRESH) + trace,
        "half": answer(FRESH) + half,
        "flipped": answer(FRESH) + bytes(flipped),
        "twice": answer(FRESH) + half + half,
        "rest": answer(RESUMED, position) + trace[position:],
    }[how]


def fill_queue(path: str) -> None:
    """Accepts nothing, and lets no more connections in; until it is killed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(0)
    waiting = []
    try:
        while True:
            one = socket.socket(socket.AF_UNIX)
            one.setblocking(False)
            one.connect(path)
            waiting.append(one)
    except BlockingIOError:
        pass
    print("listening", flush=True)
    time.sleep(1000)


def be_recorder(path: str, how: str, trace: bytes) -> None:
    if how == "full-queue":
        fill_queue(path)
    connection, _ = listen(path).accept()
    asked = receive(connection, HELLO_BYTES)
    if how != "nothing":
        try:
            connection.sendall(words_of(how, trace, asked))
        except OSError:
            pass  # the capture has had enough
    if how.startswith("silence"):
        receive(connection, 1 << 30)
    connection.close()


# ---- a taker

def connect(path: str) -> socket.socket:
    if path.isdigit():
        return socket.create_connection(("127.0.0.1", int(path)))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def is_closed_within(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        while connection.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


def flood_connections(path: str) -> int:
    """How many of 500 connections with garbage were not closed."""
    some = []
    for _ in range(500):
        connection = connect(path)
        try:
            connection.sendall(os.urandom(HELLO_BYTES * 3))
        except OSError:
            pass
        some.append(connection)
    return sum(not is_closed_within(connection, 20) for connection in some)


def flood_positions(path: str) -> int:
    """Confirms the beginning until it is closed, and reads nothing; how many seconds that took."""
    connection = connect(path)
    connection.sendall(hello(b"HYPTAKE1", 0, 0, FRESH, 0))
    receive(connection, HELLO_BYTES)
    print("connected", flush=True)
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 100:
            connection.sendall(b"\0" * (1 << 20))
    except OSError:
        pass
    return int(time.monotonic() - begin)


def answer_to(connection: socket.socket) -> tuple[int, int]:
    """The generation and the status."""
    connection.sendall(hello(b"HYPTAKE1", 0, 0, FRESH, 0))
    fields = struct.unpack("<8sQIIQQ", receive(connection, HELLO_BYTES))
    return fields[2], fields[3]


def say_hello_and_go(path: str) -> str:
    """Fifty connections that are closed before the recorder can have looked at them."""
    for _ in range(50):
        connection = connect(path)
        try:
            connection.sendall(hello(b"HYPTAKE1", 0, 0, FRESH, 0))
        except OSError:
            pass
        connection.close()
    return "gone"


def crowd(path: str) -> int:
    """The status of the fifth connection, when four say nothing."""
    silent = [connect(path) for _ in range(4)]
    status = answer_to(connect(path))[1]
    for one in silent:
        one.close()
    return status


def be_taker(path: str, how: str) -> None:
    whole = {
        "flood-connections": flood_connections,
        "flood-positions": flood_positions,
        "hello-and-go": say_hello_and_go,
        "crowd": crowd,
        "generation": lambda path: answer_to(connect(path))[0],
    }
    if how in whole:
        print(whole[how](path))
        return
    connection = connect(path)
    connection.sendall({
        "half-hello": hello(b"HYPTAKE1", 0, 0, FRESH, 0)[:17],
        "http": b"GET / HTTP/1.1\r\nHost: localhost:8086\r\nAccept: */*\r\n\r\n",
        "other-recording": hello(b"HYPTAKE1", 99, 1, FRESH, 1 << 40),
        "position-of-the-future": hello(b"HYPTAKE1", 0, 0, FRESH, 0) + b"\xff" * 7 + b"\x7f",
    }[how])
    print("closed" if is_closed_within(connection, 30) else "open")


# ---- a server of debug files

def be_silent_server(port_file: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with open(port_file, "w", encoding="ascii") as file:
        file.write(str(listener.getsockname()[1]))
    print("listening", flush=True)
    connections = []
    while True:
        connections.append(listener.accept())
        print("asked", flush=True)


# ---- a forwarder

def pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
    except OSError:
        pass
    for one in (source, sink):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def forward(path: str, to: str) -> None:
    listener = listen(path)
    while True:
        near, _ = listener.accept()
        try:
            far = connect(to)
        except OSError:
            near.close()
            continue
        for pair in ((near, far), (far, near)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def main() -> None:
    role, path, how = sys.argv[1:4]
    if role == "recorder":
        with open(sys.argv[4], "rb") as file:
            be_recorder(path, how, file.read())
    elif role == "names":
        be_silent_server(path)
    elif role == "taker":
        be_taker(path, how)
    else:
        forward(path, how)


if __name__ == "__main__":
    main()
