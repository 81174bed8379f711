#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Linux's TCP as the peer of uiwarp tcp.

usage: stream.py connect ADDRESS PORT ACTION [ARGUMENT]...
       stream.py listen PORT ACTION [ARGUMENT]...     prints "ready" when it listens

actions:
    source BYTES           send the pattern, close our direction, expect the peer to close
    sink BYTES             expect so much of the pattern, then the end
    slow BYTES             as sink, but with a small buffer, and read nothing before a line of input comes
    echo                   send back what comes until it ends
    duplex BYTES           send the pattern and read it back from an echo at the same time
    half BYTES             send, close our direction, and only then read the echo
    last BYTES             read to the end, and only then send so much of the pattern
    pingpong SIZE COUNT    send messages and read each one's echo
    reset BYTES            read so much, then reset the connection
    cut BYTES              send until the peer resets, which must be after so much
    close SECONDS          send a little, and close after so long whatever the peer does

--ecn before the first word: fail if the two did not agree on ECN.
--parallel=N: N connections at once.

Exit status 0 when it was as expected; otherwise one sentence and status 1.
"""
import selectors
import socket
import struct
import sys
import threading
import time

PERIOD = 65521
MASK = (1 << 64) - 1
TIMEOUT = 280
PIECE = 1 << 18


def pattern_period(seed):
    """The formula of src/traffic/pattern.h."""
    out = bytearray(PERIOD)
    for i in range(PERIOD):
        z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        out[i] = (z ^ z >> 31) >> 56
    return bytes(out)


BLOCK = pattern_period(1) * (PIECE // PERIOD + 2)


def pattern(at, length):
    at %= PERIOD
    return memoryview(BLOCK)[at:at + length]


class Wrong(Exception):
    pass


def send_pattern(s, length):
    at = 0
    while at < length:
        at += s.send(pattern(at, min(PIECE, length - at)))


def receive(s, at, most):
    """Some bytes of the pattern; how many came, 0 at the end."""
    data = s.recv(min(PIECE, most))
    if data != pattern(at, len(data)):
        raise Wrong(f"a wrong byte within {len(data)} from {at}")
    return len(data)


def receive_pattern(s, length):
    at = 0
    while at < length:
        n = receive(s, at, length - at)
        if not n:
            raise Wrong(f"the stream ended after {at} bytes of {length}")
        at += n


def expect_end(s):
    if s.recv(1):
        raise Wrong("more came than was expected")


def source(s, length):
    send_pattern(s, int(length))
    s.shutdown(socket.SHUT_WR)
    expect_end(s)


def sink(s, length):
    receive_pattern(s, int(length))
    expect_end(s)


def slow(s, length):
    sys.stdin.readline()
    sink(s, length)


def echo(s):
    while data := s.recv(PIECE):
        s.sendall(data)


def duplex(s, length):
    length, sent, got = int(length), 0, 0
    s.setblocking(False)
    with selectors.DefaultSelector() as events:
        events.register(s, selectors.EVENT_READ | selectors.EVENT_WRITE)
        while got < length:
            if not (ready := events.select(TIMEOUT)):
                raise TimeoutError
            if ready[0][1] & selectors.EVENT_WRITE:
                sent += s.send(pattern(sent, min(PIECE, length - sent)))
                if sent == length:
                    s.shutdown(socket.SHUT_WR)
                    events.modify(s, selectors.EVENT_READ)
            if ready[0][1] & selectors.EVENT_READ:
                n = receive(s, got, PIECE)
                if not n:
                    raise Wrong(f"the echo ended after {got} bytes of {length}")
                got += n
    s.setblocking(True)
    expect_end(s)


def half(s, length):
    length = int(length)
    send_pattern(s, length)
    s.shutdown(socket.SHUT_WR)
    sink(s, length)


def last(s, length):
    while s.recv(PIECE):
        pass
    send_pattern(s, int(length))


def pingpong(s, size, count):
    size = int(size)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(int(count)):
        send_pattern(s, size)
        receive_pattern(s, size)


def reset(s, length):
    receive_pattern(s, int(length))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def cut(s, length):
    sent = 0
    try:
        while True:
            sent += s.send(pattern(sent, PIECE))
    except (ConnectionResetError, BrokenPipeError):
        if sent < int(length):
            raise Wrong(f"reset after {sent} bytes") from None


def close(s, seconds):
    end = time.monotonic() + float(seconds)
    s.sendall(b"something")
    # What the peer sent is read, or Linux would reset the connection.
    s.settimeout(0.01)
    while (left := end - time.monotonic()) > 0:
        try:
            if not s.recv(PIECE):
                time.sleep(left)
        except TimeoutError:
            pass
    s.shutdown(socket.SHUT_WR)
    s.settimeout(TIMEOUT)
    while s.recv(PIECE):
        pass


ACTIONS = {f.__name__: f
           for f in (source, sink, slow, echo, duplex, half, last, pingpong, reset, cut, close)}

TCPI_OPT_ECN = 8


def check_ecn(s):
    info = s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 64)
    if not info[5] & TCPI_OPT_ECN:
        raise Wrong("the two did not agree on ECN")


def act(s, ecn, action, arguments, complaints):
    try:
        with s:
            s.settimeout(TIMEOUT)
            if ecn:
                check_ecn(s)
            ACTIONS[action](s, *arguments)
    except (Wrong, OSError) as e:
        complaints.append(f"{action}: {e or type(e).__name__}")


def connected(address, port):
    return socket.create_connection((address, int(port)), TIMEOUT)


def listening(port, action):
    s = socket.create_server(("", int(port)), family=socket.AF_INET6, dualstack_ipv6=True,
                             backlog=256)
    if action == "slow":  # before the handshake, or the window would be scaled for more
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
    s.settimeout(TIMEOUT)
    print("ready", flush=True)
    return s


def main():
    ecn, parallel, complaints, threads = False, 1, [], []
    arguments = sys.argv[1:]
    while arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option == "--ecn":
            ecn = True
        else:
            parallel = int(option.removeprefix("--parallel="))
    how, *arguments = arguments
    if how == "connect":
        address, port, action, *arguments = arguments
        sockets = (connected(address, port) for _ in range(parallel))
    else:
        port, action, *arguments = arguments
        server = listening(port, action)
        sockets = (server.accept()[0] for _ in range(parallel))
    try:
        for s in sockets:
            threads.append(threading.Thread(
                target=act, args=(s, ecn, action, arguments, complaints), daemon=True))
            threads[-1].start()
    except OSError as e:
        complaints.append(f"{how}: {e}")
    for t in threads:
        t.join(TIMEOUT)
        if t.is_alive():
            complaints.append(f"{action}: it takes too long")
    if complaints:
        sys.exit(complaints[0])


if __name__ == "__main__":
    main()
