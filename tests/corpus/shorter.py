#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A capture that becomes shorter while it is read: what was found before is told, up to its last line.

usage: tests/corpus/shorter.py UIWARP
"""
import fcntl
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from several import CORPUS, apart, pcap, read

ROOM = 4096  # of the pipe: no reader is further on than this and its own buffer


def copies(frames, n):
    """As many connections, each from another port, with TCP's checksums left out."""
    for i in range(n):
        for time, link, length, octets in frames:
            octets = bytearray(octets)
            at = 34 if octets[26:30] < octets[30:34] else 36
            octets[at:at + 2] = struct.pack(">H", 20000 + i)
            octets[50:52] = bytes(2)
            yield time, link, length, bytes(octets)


def cut_off(uiwarp, path, command):
    """Status, what is told and why it ends, of a file that is cut off when the first of it was read."""
    with subprocess.Popen([uiwarp, "pcap", *command, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        fcntl.fcntl(run.stdout, fcntl.F_SETPIPE_SZ, ROOM)
        told = os.read(run.stdout.fileno(), 1)
        os.truncate(path, ROOM)
        told += run.stdout.read()
        why = run.stderr.read()
    return run.returncode, told, why


def cut_off_page(uiwarp, path):
    """The same of a page, which is waited for; nobody reads what else is told."""
    page, into = os.pipe()
    nobody, out = os.pipe()
    os.close(nobody)
    fcntl.fcntl(page, fcntl.F_SETPIPE_SZ, ROOM)
    with subprocess.Popen([uiwarp, "pcap", "stats", "--json", "--html", f"/dev/fd/{into}", path], stdout=out,
                          stderr=subprocess.PIPE, pass_fds=[into]) as run:
        os.close(into)
        os.close(out)
        told = os.read(page, 1)
        os.truncate(path, ROOM)
        with open(page, "rb") as rest:
            told += rest.read()
        why = run.stderr.read()
    return run.returncode, told, why


def check_page(uiwarp, path):
    """Its last connection is there to its end, and the sentence too."""
    status, told, why = cut_off_page(uiwarp, path)
    good = status == 2 and b"cut off meanwhile" in why and told.endswith(b"\n")
    if not good:
        print(f"the page: status {status}, ends with {told[-80:]}, {why}")
    return good


def main(uiwarp):
    data = pcap(apart(list(copies(read(CORPUS / "ops-rev2.pcapng"), 100))))
    bad = 0
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "capture")
        path.write_bytes(data)
        bad += not check_page(uiwarp, path)
    for command in (["show"], ["show", "--json"]):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "capture")
            path.write_bytes(data)
            whole = subprocess.run([uiwarp, "pcap", *command, path], stdout=subprocess.PIPE, check=True).stdout
            status, told, why = cut_off(uiwarp, path, command)
        if status != 2 or b"cut off meanwhile" not in why or len(told) >= len(whole):
            print(f"{command}: status {status}, {len(told)} of {len(whole)} octets told, {why}")
            bad += 1
        elif not told.endswith(b"\n") or not whole.startswith(told):
            print(f"{command}: the last that it tells is {told[-80:]}")
            bad += 1
    return bad


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
