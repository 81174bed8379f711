#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames of a capture over a veth pair, and what `uiwarp pcap check -i` says of them.

usage: tests/pcap/live.py UIWARP CAPTURE SENDS LISTENS WRITTEN [OPTION...]
(in a network namespace with the interfaces SENDS and LISTENS; WRITTEN keeps what comes)
What it says must be what it says of CAPTURE itself, but for times and frame numbers.
"""
import json
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

OWN = ("frame", "file", "file_frame", "time_ns", "text")


def frames(data):
    """Ethernet frames of a little-endian pcapng file."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        if kind == 6:
            captured = struct.unpack_from("<I", data, at + 20)[0]
            yield data[at + 28:at + 28 + captured]
        at += length


def lines(text):
    found = [json.loads(line) for line in text.splitlines()]
    return [{k: v for k, v in f.items() if k not in OWN} for f in found]


def main(uiwarp, capture, sends, listens, written, *options):
    due = subprocess.run([uiwarp, "pcap", "check", "--json", *options, capture], text=True,
                         stdout=subprocess.PIPE, check=False)
    with subprocess.Popen([uiwarp, "pcap", "check", "--json", "-i", listens, "-w", written, *options],
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as live:
        said = live.stderr.readline()
        if "capturing on" not in said:
            sys.exit(f"it does not capture: {said}{live.stderr.read()}")
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind((sends, 0))
            number = 0
            for number, frame in enumerate(frames(pathlib.Path(capture).read_bytes()), 1):
                out.send(frame)
        # What was sent has come when send() returns: a veth has no line. All of it must be told of.
        live.send_signal(signal.SIGINT)
        try:
            text, errors = live.communicate(timeout=280)
        except subprocess.TimeoutExpired:
            live.kill()
            sys.exit("it does not stop")
    again = subprocess.run([uiwarp, "pcap", "check", "--json", written], text=True, stdout=subprocess.PIPE,
                           check=False)
    print(f"{number} frames sent, at {time.strftime('%T')}; status {live.returncode}, due is {due.returncode}")
    print(text, errors)
    if live.returncode != due.returncode or lines(text) != lines(due.stdout):
        sys.exit("not what it says of the file")
    if not options and lines(again.stdout) != lines(due.stdout):
        sys.exit("what it wrote is not the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
