#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `uiwarp pcap show` and tshark read in a capture: start-up frames, and FPDUs by opcode, length of
the ULPDU and CRC. Only tshark's own words count.

usage: tests/pcap/compared.py [--cut] UIWARP FILE [DISSECTION]

DISSECTION has what tshark said of the file already (scripts/decode -k). --cut: the file may end in the
middle of a frame. Exit status 1 when they differ.
"""
import collections
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

TSHARK = ["tshark", "-O", "iwarp_mpa,iwarp_ddp_rdmap", "--disable-protocol", "rpcordma",
          "--disable-protocol", "smb_direct",
          "-o", "tcp.try_heuristic_first:TRUE", "-o", "tcp.desegment_tcp_streams:TRUE",
          "-o", "tcp.reassemble_out_of_order:TRUE", "-r"]
LINES = re.compile(r"^    (?:(Re\w+) frame header|(FPDU))$|^        ULPDU length: (\d+) bytes"
                   r"|^        CRC check: \S+ \((Good|Bad) CRC32|^            .*OpCode: .*\(0x(\w+)\)$")


def uiwarp_json(uiwarp, command, path, *options, good=None):
    """The events; check may say 1."""
    run = subprocess.run([uiwarp, "pcap", command, "--json", *options, path], text=True,
                         stdout=subprocess.PIPE, check=False)
    if run.returncode not in (good or ((0, 1) if command == "check" else (0,))):
        sys.exit(f"{path}: uiwarp pcap {command}: status {run.returncode}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def dissected(path, good):
    run = subprocess.run([*TSHARK, path], text=True, check=False, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, errors="replace")
    if run.returncode not in good:
        sys.exit(f"{path}: tshark: status {run.returncode}")
    return run.stdout.splitlines()


def counted(lines):
    """Counters of start-up frames and of FPDUs in tshark's text."""
    starts, fpdus = collections.Counter(), collections.Counter()
    fpdu = None

    def done():
        if fpdu:
            fpdus[tuple(fpdu)] += 1

    for line in lines:
        m = LINES.match(line)
        if not m:
            continue
        start, begins, length, crc, opcode = m.groups()
        if start:
            starts[start.lower()] += 1
        elif begins:
            done()
            fpdu = [None, None, "off"]
        elif fpdu and length:
            fpdu[1] = int(length)
        elif fpdu and crc:
            fpdu[2] = crc.lower()
        elif fpdu and opcode and fpdu[0] is None:
            fpdu[0] = int(opcode, 16)
    done()
    return starts, fpdus


def frame(seq, ack, number, text):
    """A TCP segment of end 0 or 1 in a record of the pcap format."""
    tcp = struct.pack(">HHIIBBHHH", 40000 + number, 40001 - number, seq, ack, 0x50, 0x18, 65535, 0, 0) + text
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, bytes([10, 0, 0, 1 + number]),
                     bytes([10, 0, 0, 2 - number]))
    return struct.pack("<IIII", 1, 0, 14 + len(ip + tcp), 14 + len(ip + tcp)) + bytes(12) + b"\x08\0" + ip + tcp


def opened(path, keys, directory):
    """A capture in the clear of what tshark finds in the TLS of the first connection of one."""
    run = subprocess.run(["tshark", "-r", path, "-o", f"tls.keylog_file:{keys}", "-q", "-z",
                          "follow,tls,raw,0"], text=True, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    out = os.path.join(directory, "opened.pcap")
    seqs = [1000, 5000]
    with open(out, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for line in run.stdout.splitlines():
            if not re.fullmatch(r"\t?[0-9a-f]+", line):
                continue
            number, text = int(line.startswith("\t")), bytes.fromhex(line.strip())
            file.write(frame(seqs[number], seqs[not number], number, text))
            seqs[number] += len(text)
    return out


def ours(uiwarp, path, good, options=()):
    starts, fpdus = collections.Counter(), collections.Counter()
    for event in uiwarp_json(uiwarp, "show", path, *options, good=good):
        if event["event"] == "mpa":
            starts["request" if event["request"] else "reply"] += 1
        elif event["event"] == "fpdu":
            fpdus[event.get("opcode"), event["ulpdu_length"], event["crc"]] += 1
    return starts, fpdus


def difference(title, a, b):
    return [f"{title} {key}: {a[key]} of ours, {b[key]} of tshark's"
            for key in sorted(a.keys() | b.keys(), key=str) if a[key] != b[key]]


def with_tshark(uiwarp, path, dissection=None, cut=False, options=()):
    """What differs, how many FPDUs do not, and how many we see. Of options there is --keylog FILE."""
    good = (0, 2) if cut else (0,)
    our_starts, our_fpdus = ours(uiwarp, path, good, options)
    if options:
        with tempfile.TemporaryDirectory() as directory:
            starts, fpdus = counted(dissected(opened(path, options[1], directory), good))
    elif dissection:
        with open(dissection, errors="replace") as lines:
            starts, fpdus = counted(lines)
    else:
        starts, fpdus = counted(dissected(path, good))
    bad = difference("start-up frame", our_starts, starts) + difference("FPDU", our_fpdus, fpdus)
    return bad, sum((our_fpdus & fpdus).values()), sum(our_fpdus.values())


def main(arguments):
    cut = arguments[:1] == ["--cut"]
    match arguments[cut:]:
        case [uiwarp, path]:
            bad, alike, fpdus = with_tshark(uiwarp, path, None, cut)
        case [uiwarp, path, dissection]:
            bad, alike, fpdus = with_tshark(uiwarp, path, dissection, cut)
        case _:
            sys.exit(__doc__)
    for line in bad:
        print(line)
    print(f"{path}: {fpdus} FPDUs, {alike} of them as tshark reads them")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
