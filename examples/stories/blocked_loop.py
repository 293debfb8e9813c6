#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server of asyncio that hashes a password in its event loop, so that all others wait; `threads`: in a thread."""
import asyncio
import hashlib
import sys

import hyprof


def check_password():
    hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 20000)


async def answer(reader, writer):
    while line := await reader.readline():
        if line == b"login\n" and "threads" in sys.argv:
            await asyncio.to_thread(check_password)
        elif line == b"login\n":
            check_password()
        writer.write(b"ok\n")
        await writer.drain()
    writer.close()


async def ask(port, word, n, pause):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(n):
        with hyprof.zone(word):
            writer.write(word.encode() + b"\n")
            await reader.readline()
        await asyncio.sleep(pause)
    writer.close()


def run_clients(port):
    async def run():
        await asyncio.gather(ask(port, "login", 80, 0.01), ask(port, "ping", 400, 0.003))

    hyprof.thread_name("clients")
    asyncio.run(run())


async def main():
    hyprof.thread_name("server")
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    await asyncio.to_thread(run_clients, server.sockets[0].getsockname()[1])


asyncio.run(main())
