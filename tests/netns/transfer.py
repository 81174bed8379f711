#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Bytes over TCP between two Linux hosts, compared at the end.

usage: transfer.py serve ADDRESS PORT BYTES    take one connection; expect exactly these bytes
       transfer.py send ADDRESS PORT BYTES     send them, wait until they were taken, and print the
                                               seconds from the first to the last

Exit status 0 when all was as expected; otherwise one sentence and status 1.
"""
import random
import socket
import sys
import time

PIECE = 1 << 20


def pieces(size):
    """The same bytes on both sides."""
    source = random.Random(7)
    while size:
        part = min(size, PIECE)
        yield source.randbytes(part)
        size -= part


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve(address, port, size):
    with socket.socket(family(address), socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(1)
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            for piece in pieces(size):
                if stream.read(len(piece)) != piece:
                    return "what came is not what was sent"
            if stream.read(1):
                return "more came than was sent"
            connection.sendall(b"!")
    return None


def send(address, port, size):
    data = list(pieces(size))
    with socket.create_connection((address, port), 30) as connection:
        begin = time.monotonic()
        for piece in data:
            connection.sendall(piece)
        connection.shutdown(socket.SHUT_WR)
        if connection.recv(1) != b"!":
            return "the other side did not take it all"
        print(f"{time.monotonic() - begin:.6f}")
    return None


def main():
    command, address, port, size = sys.argv[1:]
    complaint = {"serve": serve, "send": send}[command](address, int(port), int(size))
    if complaint:
        sys.exit(complaint)


if __name__ == "__main__":
    main()
