#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stands between an ibv_rc_pingpong client and its server, once: the client hears another QP number.

    mislead.py PORT HOST SERVER-PORT

What they say is "lid:qpn:psn:gid" in hexadecimal text.
"""
import socket
import sys
import threading


def relay(source, sink, change):
    while data := source.recv(4096):
        if change:
            lid, qpn, rest = data.split(b":", 2)
            data = b":".join((lid, b"%06x" % (int(qpn, 16) ^ 0x999), rest))
            change = False
        sink.sendall(data)
    sink.shutdown(socket.SHUT_WR)


def main():
    port, host, server_port = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with socket.create_server((host, port)) as listener:
        client, _ = listener.accept()
    server = socket.create_connection((host, server_port))
    back = threading.Thread(target=relay, args=(server, client, True))
    back.start()
    relay(client, server, False)
    back.join()


main()
