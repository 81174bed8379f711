#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A crowd that begins TLS handshakes and goes no further.

usage: tls_strangers.py ADDRESS PORT COUNT

Each sends another part of a ClientHello. Writes "waiting" when all have, and ends when the server has
ended all of them.
"""
import selectors
import socket
import ssl
import sys

# One that stays silent, one with a byte, one without its end, and one that answers no more.
PARTS = (lambda hello: b"", lambda hello: hello[:1], lambda hello: hello[:-1], lambda hello: hello)


def hello():
    out = ssl.MemoryBIO()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="server.test").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def main(address, port, count):
    waiting = selectors.DefaultSelector()
    text = hello()
    for n in range(int(count)):
        s = socket.create_connection((address, int(port)))
        s.sendall(PARTS[n % len(PARTS)](text))
        waiting.register(s, selectors.EVENT_READ)
    print("waiting", flush=True)
    while waiting.get_map():
        for key, _ in waiting.select():
            try:
                ended = not key.fileobj.recv(65536)
            except ConnectionResetError:
                ended = True
            if ended:
                waiting.unregister(key.fileobj)
                key.fileobj.close()


sys.exit(main(*sys.argv[1:]))
