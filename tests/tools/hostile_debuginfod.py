#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_debuginfod.py FOLDER: a server of debug files that answers each build-id as the file FOLDER/BUILD-ID says.

The file's first line is how, and the second a path or an address:
right FILE, endless, trickle, huge (a length that never comes), cut FILE (half of it), header (a megabyte of headers),
redirect URL, error.  Prints "port N"; ends when it is killed.
"""

import http.server
import os
import sys
import time


class Answer(http.server.BaseHTTPRequestHandler):
    """One answer."""

    def begin(self, status: int, **headers: object) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def answer(self, how: str, what: str) -> None:
        if how in ("right", "cut"):
            with open(what, "rb") as file:
                data = file.read()
            self.begin(200, Content_Length=len(data))
            self.wfile.write(data if how == "right" else data[:len(data) // 2])
        elif how == "endless":
            self.begin(200)
            while True:
                self.wfile.write(os.urandom(1 << 16))
        elif how == "trickle":
            self.begin(200, Content_Length=1 << 20)
            while True:
                self.wfile.write(b"\x7f")
                self.wfile.flush()
                time.sleep(0.05)
        elif how == "huge":
            self.begin(200, Content_Length=1 << 62)
            self.wfile.write(b"\x7fELF" * 1000)
        elif how == "header":
            self.begin(200, X_Filler="x" * (1 << 20))
        elif how == "redirect":
            self.begin(302, Location=what)
        else:
            self.begin(500)

    def do_GET(self) -> None:
        name = self.path.split("/")[2] if self.path.count("/") > 2 else ""
        try:
            with open(os.path.join(sys.argv[1], os.path.basename(name)), encoding="utf-8") as file:
                how, what = (file.read() + "\n\n").split("\n")[:2]
        except OSError:
            self.begin(404)
            return
        try:
            self.answer(how, what)
        except OSError:
            pass  # the client has had enough

    def log_message(self, format: str, *args: object) -> None:  # pylint: disable=redefined-builtin
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
server.daemon_threads = True
print("port", server.server_address[1], flush=True)
server.serve_forever()
