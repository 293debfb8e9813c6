#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server of HTTP that reads the body of each request before it answers, and so never says "100 Continue"."""
import socket


def answer(client):
    received = b""
    while b"\r\n\r\n" not in received:
        received += client.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < int(lengths[0]):
        body += client.recv(65536)
    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    client.close()


with socket.create_server(("127.0.0.1", 8099)) as server:
    while True:
        answer(server.accept()[0])
