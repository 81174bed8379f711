#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames with a VLAN tag, on a Linux that may know no VLAN devices.

usage: tag.py send DEVICE ID      send a few frames with the tag
       tag.py expect DEVICE ID    print "ready"; wait for one that has it, whole
"""
import socket
import struct
import sys

SOL_PACKET, PACKET_AUXDATA = 263, 8
VLAN_VALID = 1 << 4
TYPE = 0x88B5  # for local experiments
PAYLOAD = bytes(range(256)) * 5


def open_on(device):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.bind((device, 0))
    return s


def send(device, tag):
    frame = (b"\xff" * 6 + bytes([2, 0, 0, 0, 0, 1]) + struct.pack("!HHH", 0x8100, tag, TYPE)
             + PAYLOAD)
    with open_on(device) as s:
        for _ in range(5):
            s.send(frame)


def tag_of(ancillary):
    """As struct tpacket_auxdata has it."""
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, _, _, _, _, tci, _ = struct.unpack("=IIIHHHH", data[:20])
            if status & VLAN_VALID:
                return tci
    return None


def expect(device, tag):
    with open_on(device) as s:
        s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        print("ready", flush=True)
        while True:
            frame, ancillary, _, _ = s.recvmsg(65536, 256)
            if frame[12:14] == struct.pack("!H", TYPE):
                break
    if tag_of(ancillary) != tag:
        sys.exit(f"the tag is {tag_of(ancillary)}, not {tag}")
    if frame[14:] != PAYLOAD:
        sys.exit("the frame is not what was sent")


if __name__ == "__main__":
    {"send": send, "expect": expect}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
