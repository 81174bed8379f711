#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Strangers at the TCP port of a process that listens for iWARP: each says something that no peer of its would.

usage: kernel_strangers.py rubbish ADDRESS PORT PID COUNT   COUNT of each kind; then none may be left of them
       kernel_strangers.py crowd ADDRESS PORT FROM COUNT    so many who say nothing stay until the input ends
       kernel_strangers.py asking ADDRESS PORT FROM COUNT   the same, with a good MPA request each and no more; the
           next one comes when it is answered, so that it is no full backlog that keeps them out
       kernel_strangers.py parting ADDRESS PORT FROM COUNT  the same, who are told that they are wrong, and stay
       kernel_strangers.py half ADDRESS PORT FROM COUNT     the same, with most of a long FPDU behind it

rubbish has a fixed seed. Its exit status is 1 if the process keeps descriptors of those who have gone.
"""
import os
import random
import socket
import struct
import sys
import time

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
CRC, ENHANCED = 0x40, 0x10
PATIENCE = 30  # seconds
rubbish = random.Random(7174).randbytes


def frame(key=REQUEST, flags=CRC, revision=1, length=0, text=b""):
    return key + struct.pack(">BBH", flags, revision, length) + text


# IRD and ORD of 16, peer-to-peer, each kind of RTR.
GOOD = frame(flags=CRC | ENHANCED, revision=2, length=4, text=struct.pack(">HH", 0xc010, 0xc010))

# What is sent, and whether the stranger reads first what is answered to a request in front of it.
SAID = {
    "nothing": (b"", b""),
    "a byte": (b"M", b""),
    "half a request": (GOOD[:10], b""),
    "no key": (rubbish(20), b""),
    "much": (rubbish(1 << 20), b""),
    "another protocol": (b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", b""),
    "a short greeting": (b"220 \r\n", b""),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + rubbish(500), b""),
    "our role": (frame(key=REPLY), b""),
    "a revision to come": (frame(revision=255), b""),
    "a long request": (frame(length=65535, text=rubbish(70000)), b""),
    "a request alone": (GOOD, b""),
    "FPDUs too early": (GOOD + rubbish(1 << 16), b""),
    "no FPDU": (GOOD, rubbish(1 << 16)),
    "a long FPDU": (GOOD, b"\xff\xff" + bytes(20)),
}


def close(s, how):
    if how == "reset":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif how == "half":
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    s.close()


def stranger(at, said, behind, how):
    s = socket.create_connection(at, PATIENCE)
    try:
        if how == "urgent":
            s.send(b"!", socket.MSG_OOB)
        s.sendall(said)
        if behind:
            s.recv(len(REPLY))
            s.sendall(behind)
        close(s, how)
    except ConnectionError:  # it has had enough
        s.close()


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def send_rubbish(at, pid, count):
    before = descriptors(pid)
    for said, behind in SAID.values():
        for how in ("close", "reset", "half", "urgent"):
            for _ in range(count):
                stranger(at, said, behind, how)
    for _ in range(20 * PATIENCE):
        if descriptors(pid) <= before:
            return None
        time.sleep(0.05)
    return f"{descriptors(pid) - before} descriptors are left of strangers"


# It is answered with a rejection, behind which our side closes.
REJECTED = frame(revision=255)

# Most of the longest: as it is not whole, nobody looks at what is in it.
HALF = struct.pack(">H", 65535) + bytes(40000)


def crowd(at, source, count, text, behind=None):
    """@behind follows the answer, which is waited for; None: there is none to wait for."""
    held = []
    for _ in range(count):
        try:
            held.append(socket.create_connection(at, PATIENCE, (source, 0)))
            held[-1].sendall(text)
            if behind is not None:
                held[-1].recv(len(REPLY))
                held[-1].sendall(behind)
        except ConnectionError:  # there is no room
            pass
    print(f"{count} have come", flush=True)
    sys.stdin.read()


def main(what, address, port, *rest):
    at = address, int(port)
    if what == "rubbish":
        return send_rubbish(at, int(rest[0]), int(rest[1]))
    said = {"half": (GOOD, HALF), "asking": (GOOD, b""), "parting": (REJECTED,)}.get(what, (b"",))
    return crowd(at, rest[0], int(rest[1]), *said)


sys.exit(main(*sys.argv[1:]))
