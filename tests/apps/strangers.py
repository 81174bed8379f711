#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections to a memif server's socket that come and go at once.

usage: strangers.py SOCKET COUNT [ID]

Then one that waits for the server's greeting, which comes when it has dealt with all before. Then
clients of the memif with that ID, or 0: one that sends on and on and reads none of the answers, and
some that say what is not so, and are refused. After each, one that waits.
"""
import os
import socket
import struct
import sys

ACK, INIT, ADD_REGION, ADD_RING, CONNECT, DISCONNECT = 1, 3, 4, 5, 6, 8
# More than sockets have room for the answers to, both ways.
REQUESTS = 10000
SIZE = 65536
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


def client(path, number):
    s = stranger(path)
    s.recv(256)
    s.send(message(INIT, struct.pack("<HIB", 0x0200, number, 0)))
    if s.recv(256)[0] != ACK:
        sys.exit("the server does not take a client")
    s.settimeout(PATIENCE_S)
    return s


def region(size):
    return message(ADD_REGION, struct.pack("<HQ", 0, size))


def ring(offset):
    return message(ADD_RING, struct.pack("<HHHIBH", 1, 0, 0, offset, 4, 0))


def send_and_read_nothing(path, number):
    with client(path, number) as s:
        interrupt = os.eventfd(0)
        try:
            for _ in range(REQUESTS):
                socket.send_fds(s, [ring(0)], [interrupt])
        except (BrokenPipeError, ConnectionResetError):
            return greeted(path)
        except TimeoutError:
            return "the server waits for a client that reads nothing"
    return f"the server took {REQUESTS} requests of a client that reads nothing"


def lies():
    """Messages with descriptors. Each list would end the server, or fill it with descriptors."""
    interrupt = os.eventfd(0)
    full, empty = (os.memfd_create("memif", os.MFD_ALLOW_SEALING) for _ in range(2))
    os.ftruncate(full, SIZE)
    return {
        "an empty file": [(region(SIZE), [empty]), (ring(0), [interrupt])],
        "a ring elsewhere": [(region(SIZE), [full]), (ring(1 << 31), [interrupt])],
        "many rings": [(region(SIZE), [full])] + [(ring(0), [interrupt])] * 200,
        "more descriptors": [(region(SIZE), [full]), (ring(0), [interrupt] * 2)],
    }


def is_refused(s, messages):
    """Does the server end it with a reason?"""
    try:
        for text, descriptors in messages:
            socket.send_fds(s, [text], descriptors)
        s.send(message(CONNECT, b""))
    except (BrokenPipeError, ConnectionResetError):
        pass
    last = None
    while True:
        try:
            heard = s.recv(256)
        except ConnectionResetError:  # it has not read all of it; what it has sent comes then
            continue
        if not heard:
            return last == DISCONNECT
        last = heard[0]


def lie(path, number):
    for name, messages in lies().items():
        with client(path, number) as s:
            if not is_refused(s, messages):
                return f"the server does not refuse {name}"
        wrong = greeted(path)
        if wrong:
            return f"{wrong}, after {name}"
    return None


def main(path, count, number="0"):
    for n in range(int(count)):
        try:
            stranger(path).close()
        except (ConnectionRefusedError, ConnectionResetError):
            return f"the server is gone after {n} strangers"
    return greeted(path) or send_and_read_nothing(path, int(number)) or lie(path, int(number))


sys.exit(main(*sys.argv[1:]))
