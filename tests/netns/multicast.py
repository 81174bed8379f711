#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""A member of a multicast group on Linux's own UDP: receives messages of UD queue pairs (docs/ud.md) and says
what is wrong with them, or sends some.

usage: multicast.py receive|send GROUP DEVICE COUNT LENGTH
"""

import ipaddress
import socket
import struct
import sys

PORT = 61525 + 127
QKEY = 0x01234567
HEADER = struct.Struct(">4sBBHIIII")
WITH_IMM = 1
HOPS = 1
GROUP_QP = 0xFFFFFF
PATIENCE = 60
IP_RECVTTL = 12  # Linux's <linux/in.h>; Python has it from 3.14 on


def crc32c(data):
    crc = 0xFFFFFFFF
    for octet in data:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def message(length, imm):
    head = HEADER.pack(b"uiUD", 1, WITH_IMM, length, GROUP_QP, 7, QKEY, imm)
    text = head + bytes(i & 0xFF for i in range(length))
    return text + struct.pack("<I", crc32c(text))


def check(text, length):
    """Of mckey, whose immediate data is its QP's number."""
    magic, version, flags, size, to_qp, from_qp, qkey, imm = HEADER.unpack_from(text)
    assert magic == b"uiUD" and version == 1, "no message of UD"
    assert size == length and len(text) == HEADER.size + length + 4, "its length is wrong"
    assert to_qp == GROUP_QP, f"it is for QP {to_qp:#x}"
    assert qkey == QKEY, f"its Q_Key is {qkey:#x}"
    assert flags == WITH_IMM and imm == from_qp, "its immediate data is wrong"
    assert struct.unpack_from("<I", text, len(text) - 4)[0] == crc32c(text[:-4]), "its CRC is wrong"


def hops(ancillary):
    for level, kind, data in ancillary:
        if (level, kind) in ((socket.IPPROTO_IP, socket.IP_TTL), (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT)):
            return struct.unpack("i", data)[0]
    raise AssertionError("no hop limit")


def receive(s, group, device, count, length):
    index = socket.if_nametoindex(device)
    if group.version == 4:
        s.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        s.bind((str(group), PORT))
        s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group.packed + struct.pack("4si", bytes(4), index))
    else:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT, 1)
        s.bind((str(group), PORT, 0, index))
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP, group.packed + struct.pack("i", index))
    print("joined", flush=True)
    for _ in range(count):
        text, ancillary, _, _ = s.recvmsg(9000, 512)
        check(text, length)
        assert hops(ancillary) == HOPS, f"its hop limit is {hops(ancillary)}"
    print(f"received {count}", flush=True)


def send(s, group, device, count, length):
    index = socket.if_nametoindex(device)
    if group.version == 4:
        s.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, struct.pack("4s4si", bytes(4), bytes(4), index))
    else:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
    for i in range(count):
        s.sendto(message(length, i), (str(group), PORT))
    print(f"sent {count}", flush=True)


def main():
    what, group, device, count, length = sys.argv[1:]
    group = ipaddress.ip_address(group)
    with socket.socket(socket.AF_INET if group.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as s:
        s.settimeout(PATIENCE)
        {"receive": receive, "send": send}[what](s, group, device, int(count), int(length))


if __name__ == "__main__":
    main()
