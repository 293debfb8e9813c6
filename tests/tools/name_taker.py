#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Listens at an abstract name, as a user: name_taker.py @NAME UID.  Prints "listening", then what arrives."""
import array
import os
import socket
import sys

WAIT_S = 60

name, uid = sys.argv[1], int(sys.argv[2])
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind("\0" + name[1:])
listener.listen(5)
listener.settimeout(WAIT_S)
print("listening", flush=True)
connection, _ = listener.accept()
connection.settimeout(WAIT_S)
data, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4))
files = array.array("i")
for _level, _kind, payload in ancillary:
    files.frombytes(payload)
print(f"{len(data)} bytes, {len(files)} files")
