#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections to a memif server's socket that come and go at once.

usage: strangers.py SOCKET COUNT

Then one that waits for the server's greeting, which comes when it has dealt with all before.
"""
import socket
import sys


def stranger(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)  # waits, if many do
    return s


def main(path, count):
    for n in range(int(count)):
        try:
            stranger(path).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return f"the server is gone after {n} strangers"
    with stranger(path) as s:
        # A control message of memif has 128 bytes; the greeting is type 2.
        greeting = s.recv(256)
    if len(greeting) != 128 or greeting[0] != 2:
        return f"no greeting: {greeting[:16].hex()}"
    return None


sys.exit(main(*sys.argv[1:]))
