#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A peer that speaks plain TCP, UDP or raw IP to a stack under test, from Linux.

usage: peer.py garbage|silent|half ADDRESS PORT SECONDS
           connect, send something that is no MPA request (nothing; the first half of one) and
           expect the connection to end within the seconds
       peer.py closed ADDRESS PORT      expect a TCP connection to be refused
       peer.py udp ADDRESS PORT         expect ICMP to say that the UDP port is closed
       peer.py ask ADDRESS PORT RESULT  ask the port mapper there: `mapped` to itself, `rejected`
       peer.py mapper PORT MAPPED       be a port mapper that maps PORT, the service; expect an MPA
           request at MAPPED
       peer.py flood ADDRESS PORT COUNT send SYNs from addresses where nobody answers

Exit status 0 when it was as expected; otherwise one sentence and status 1.
"""
import socket
import struct
import sys

MPA_REQUEST = b"MPA ID Req Frame" + bytes([0x40, 1, 0, 0])


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def expect_end(address, port, seconds, data):
    with socket.socket(family(address), socket.SOCK_STREAM) as s:
        s.settimeout(float(seconds))
        s.connect((address, int(port)))
        try:
            s.sendall(data)
            while s.recv(4096):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass
        except TimeoutError:
            return f"the connection still lives after {seconds} s"
    return None


def garbage(address, port, seconds):
    return expect_end(address, port, seconds, b"GET / HTTP/1.0\r\n\r\n" * 4)


def silent(address, port, seconds):
    return expect_end(address, port, seconds, b"")


def half(address, port, seconds):
    return expect_end(address, port, seconds, MPA_REQUEST[:10])


def closed(address, port):
    with socket.socket(family(address), socket.SOCK_STREAM) as s:
        s.settimeout(60)
        try:
            s.connect((address, int(port)))
        except ConnectionRefusedError:
            return None
        except TimeoutError:
            return "no answer to a SYN for a closed port"
    return "a closed port accepted"


def udp(address, port):
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect((address, int(port)))
        while True:  # a datagram may be lost; who calls says how long is too long
            try:
                s.send(b"anybody there?")
                return f"an answer: {s.recv(100).hex()}"
            except ConnectionRefusedError:
                return None
            except TimeoutError:
                pass


# ---- the iWARP port mapper: version, type and family; time; mapped port; ports; handle; addresses ----

MAPPER_PORT = 3935
REQUEST, ACCEPT, ACK, REJECT = 0, 1, 2, 3
MAPPER_HEAD = struct.Struct("!BBHHHQ")


def octets(address):
    return socket.inet_pton(family(address), address).ljust(16, bytes(1))


def ask(address, port, result):
    version = 6 if ":" in address else 4
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.settimeout(2)
        s.connect((address, MAPPER_PORT))
        own = octets(s.getsockname()[0])
        head = MAPPER_HEAD.pack(REQUEST << 4 | version, 0, 40001, int(port), 40000, 0x0102030405060708)
        answer = None
        while not answer:
            try:
                s.send(head + own + octets(address) + own)
                answer = s.recv(100)
            except TimeoutError:
                pass
    want = (ACCEPT if result == "mapped" else REJECT) << 4 | version
    if answer[0] != want:
        return f"the answer begins with {answer[0]:#x}, not {want:#x}"
    if len(answer) != 48 or answer[4:16] != head[4:16] or answer[16:48] != own + octets(address):
        return f"the answer is {answer.hex()}"
    return None


def mapper(port, mapped):
    """Lose the first request: it is repeated."""
    udp_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener = socket.create_server(("", int(mapped)))
    udp_socket.bind(("", MAPPER_PORT))
    for s in (udp_socket, listener):
        s.settimeout(280)
    print("ready", flush=True)
    udp_socket.recvfrom(100)
    request, asker = udp_socket.recvfrom(100)
    kind, time, reserved, asked, connecting, handle = MAPPER_HEAD.unpack(request[:16])
    if len(request) != 64 or kind != REQUEST << 4 | 4 or asked != int(port):
        return f"the request is {request.hex()}"
    answer = MAPPER_HEAD.pack(ACCEPT << 4 | 4, 0, 0, int(mapped), connecting, handle)
    udp_socket.sendto(answer + request[16:48], asker)
    while (ack := udp_socket.recv(100))[0] != ACK << 4 | 4:
        pass
    if ack != bytes([ACK << 4 | 4]) + answer[1:] + request[16:48]:
        return f"the acknowledgment is {ack.hex()}"
    connection, who = listener.accept()
    connection.settimeout(280)
    if connection.recv(16) != MPA_REQUEST[:16]:
        return "no MPA request came"
    if who[1] != reserved:
        return f"the request promised port {reserved}, and {who[1]} came"
    return None


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn(source, destination, port, number):
    pseudo = source + destination + struct.pack("!HH", socket.IPPROTO_TCP, 20)
    fields = [1024 + number, port, 1000 * number, 0, 5 << 12 | 2, 65535, 0, 0]
    fields[6] = checksum(pseudo + struct.pack("!HHIIHHHH", *fields))
    return struct.pack("!HHIIHHHH", *fields)


def flood(address, port, count):
    destination = socket.inet_aton(address)
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as s:
        for number in range(int(count)):
            source = socket.inet_aton(f"192.0.2.{1 + number % 250}")
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, number & 0xFFFF, 0, 64,
                             socket.IPPROTO_TCP, 0) + source + destination
            s.sendto(ip + syn(source, destination, int(port), number), (address, 0))
    return None


def main():
    actions = {f.__name__: f for f in (garbage, silent, half, closed, udp, ask, mapper, flood)}
    complaint = actions[sys.argv[1]](*sys.argv[2:])
    if complaint:
        sys.exit(complaint)


if __name__ == "__main__":
    main()
