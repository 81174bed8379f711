# SPDX-License-Identifier: BSD-2-Clause
"""The iWARP port mapper of peer.py: the port mapper section of draft-pinkerton-iwarp-sdp-v1.0, IPv4."""
import os
import socket
import struct
import threading

from peer_stream import expect

PORT = 3935
REQUEST, ACCEPT, ACK = 0x04, 0x14, 0x24  # version 0, type, IPv4


def padded(address):
    return socket.inet_aton(address) + bytes(12)


def ask(address, peer, port, own_port):
    """Where to connect to, for @port of @peer."""
    handle = os.urandom(8)
    head = struct.pack(">BBHHH", REQUEST, 0, own_port, port, own_port) + handle
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, 0))
    s.settimeout(2)
    answer = None
    while not answer:  # it is UDP: a datagram may be lost, or come before the peer's port is there
        try:
            s.sendto(head + padded(address) + padded(peer) + padded(address), (peer, PORT))
            answer = s.recv(64)
        except TimeoutError:
            pass
    expect(len(answer) == 48 and answer[0] == ACCEPT, f"no Accept: {answer.hex()}")
    expect(answer[8:16] == handle, "another handle in the Accept")
    mapped = struct.unpack(">H", answer[4:6])[0]
    expect(answer[32:36] == socket.inet_aton(peer), "an Accept for another address")
    s.sendto(bytes([ACK]) + answer[1:], (peer, PORT))
    s.close()
    return mapped


def answer_all(address):
    """Ports of this host are what they are."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, PORT))

    def run():
        while True:
            question, peer = s.recvfrom(64)
            if len(question) == 64 and question[0] == REQUEST:
                s.sendto(bytes([ACCEPT]) + question[1:2] + bytes(2) + question[4:48], peer)

    threading.Thread(target=run, daemon=True).start()
