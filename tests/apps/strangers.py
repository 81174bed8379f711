#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections to a memif server's socket that come and go at once.

usage: strangers.py SOCKET COUNT [ID]

Then one that waits for the server's greeting, which comes when it has dealt with all before. Then a
client of the memif with that ID, or 0, that sends on and on and reads none of the answers, and once
more one that waits.
"""
import os
import socket
import struct
import sys

ACK, INIT, ADD_RING = 1, 3, 5
# More than sockets have room for the answers to, both ways.
REQUESTS = 10000
# A busy machine may stand still for a while.
PATIENCE_S = 60


def stranger(path):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(path)  # waits, if many do
    return s


def message(kind, body):
    return struct.pack("<H", kind) + body.ljust(126, b"\0")


def greeted(path):
    with stranger(path) as s:
        # A control message of memif has 128 bytes; the greeting is type 2.
        greeting = s.recv(256)
    if len(greeting) != 128 or greeting[0] != 2:
        return f"no greeting: {greeting[:16].hex()}"
    return None


def send_and_read_nothing(path, number):
    with stranger(path) as s:
        s.recv(256)
        s.send(message(INIT, struct.pack("<HIB", 0x0200, number, 0)))
        if s.recv(256)[0] != ACK:
            return "the server does not take a client"
        s.settimeout(PATIENCE_S)
        interrupt = os.eventfd(0)
        ring = message(ADD_RING, struct.pack("<HHHIBH", 1, 0, 0, 0, 4, 0))
        try:
            for _ in range(REQUESTS):
                socket.send_fds(s, [ring], [interrupt])
        except (BrokenPipeError, ConnectionResetError):
            return greeted(path)
        except TimeoutError:
            return "the server waits for a client that reads nothing"
    return f"the server took {REQUESTS} requests of a client that reads nothing"


def main(path, count, number="0"):
    for n in range(int(count)):
        try:
            stranger(path).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return f"the server is gone after {n} strangers"
    wrong = greeted(path)
    if wrong:
        return wrong
    return send_and_read_nothing(path, int(number))


sys.exit(main(*sys.argv[1:]))
