#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A capture as several files: what a rotation leaves, or what two taps see, one of each direction. The checker
says the same of them as of the whole one.

usage: tests/corpus/several.py UIWARP [--each N] [FILE...]      all of pcap/corpus, or each Nth, or these
"""
import functools
import gzip
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "pcap" / "corpus"
MAGIC_US, MAGIC_NS = 0xa1b2c3d4, 0xa1b23c4d


# ---- files --------------------------------------------------------------------------------------


def read_pcap(data):
    unit = {MAGIC_US: 1000, MAGIC_NS: 1}[struct.unpack_from("<I", data)[0]]
    link, at = struct.unpack_from("<I", data, 20)[0], 24
    while at < len(data):
        seconds, part, captured, length = struct.unpack_from("<IIII", data, at)
        yield seconds * 10**9 + part * unit, link, length, data[at + 16:at + 16 + captured]
        at += 16 + captured


def read_pcapng(data):
    """Of one interface with times in ns or, without the option, in us."""
    at, link, unit = 0, 0, 1000
    while at < len(data):
        kind, total = struct.unpack_from("<II", data, at)
        if kind == 1:
            link = struct.unpack_from("<H", data, at + 8)[0]
            unit = 1 if b"\x09\0\x01\0\x09" in data[at + 16:at + total - 4] else 1000
        elif kind == 6:
            high, low, captured, length = struct.unpack_from("<IIII", data, at + 12)
            yield (high << 32 | low) * unit, link, length, data[at + 28:at + 28 + captured]
        at += total


def read(path):
    """[(time in ns, link type, length, bytes)]"""
    data = path.read_bytes()
    return list(read_pcapng(data) if data[:4] == b"\x0a\x0d\x0d\x0a" else read_pcap(data))


def apart(frames):
    """At times that differ, a millisecond from one to the next: the simulator's are often alike."""
    return [(4000 * 10**9 + i * 10**6, *rest) for i, (_, *rest) in enumerate(frames)]


def pcap(frames, magic=MAGIC_NS):
    unit = 1000 if magic == MAGIC_US else 1
    return struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 1 << 18, frames[0][1]) + b"".join(
        struct.pack("<IIII", time // 10**9, time % 10**9 // unit, len(octets), length) + octets
        for time, _, length, octets in frames)


def block(kind, body):
    body += bytes(-len(body) % 4)
    return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)


def pcapng(frames, exponent=9):
    """With times in units of 10^-exponent s; None: in blocks without any."""
    options = struct.pack("<HHB3xI", 9, 1, exponent or 0, 0)
    out = block(0x0a0d0d0a, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    out += block(1, struct.pack("<HHI", frames[0][1], 0, 1 << 18) + (b"" if exponent is None else options))
    for time, _, length, octets in frames:
        if exponent is None:
            out += block(3, struct.pack("<I", length) + octets)
            continue
        time = time * 10**exponent // 10**9
        out += block(6, struct.pack("<IIIII", 0, time >> 32, time & 0xffffffff, len(octets), length) + octets)
    return out


# ---- the two taps -------------------------------------------------------------------------------


def sender(octets):
    """Its address, of IP in Ethernet or alone; None: there is no IP."""
    at = 14 if octets[12:14] in (b"\x08\0", b"\x86\xdd") else 0
    return {4: octets[at + 12:at + 16], 6: octets[at + 8:at + 24]}.get(octets[at] >> 4 if at or len(octets) < 14 or
                                                                      octets[12:14] != b"\x08\x06" else 0)


def by_sender(frames):
    first = next(filter(None, (sender(f[3]) for f in frames)))
    return [f for f in frames if sender(f[3]) == first], [f for f in frames if sender(f[3]) != first]


def shifted(frames, ns):
    return [(time + ns, *rest) for time, *rest in frames]


# ---- what is said -------------------------------------------------------------------------------


def check(uiwarp, *files, notes=True):
    """Status, findings as the whole capture would have them, and warnings."""
    run = subprocess.run([uiwarp, "pcap", "check", "--json", "--all", *files], text=True, capture_output=True,
                         check=False)
    events = []
    for line in run.stdout.splitlines():
        event = {k: v for k, v in json.loads(line).items() if k not in ("file", "file_frame")}
        event["text"] = re.sub(r" \(\S+:\d+\)", "", event.get("text", ""))
        if event["event"] not in ("note", "summary") or notes:
            events.append(event)
    return run.returncode, events, re.sub(r"(?m)^uiwarp pcap: [^:]*: ", "", run.stderr)


@functools.cache
def check_whole(uiwarp, name, notes=True):
    return check(uiwarp, name, notes=notes)


def places(uiwarp, *files):
    """(file, number there) of each finding, and its frame's octets by that."""
    run = subprocess.run([uiwarp, "pcap", "check", "--json", *files], text=True, capture_output=True, check=False)
    found = []
    for line in run.stdout.splitlines():
        event = json.loads(line)
        if "file_frame" in event:
            found.append(read(pathlib.Path(event["file"]))[event["file_frame"] - 1][3])
    return found


def written(directory, **files):
    paths = [pathlib.Path(directory, name) for name in files]
    for path, data in zip(paths, files.values()):
        path.write_bytes(data)
    return paths


def rotation(uiwarp, name, frames):
    """In files of 13 frames, named the other way round."""
    with tempfile.TemporaryDirectory() as directory:
        parts = {f"a{i // 13:04}": pcap(frames[i:i + 13]) for i in range(0, len(frames), 13)}
        files = written(directory, **parts)
        if check(uiwarp, *reversed(files)) != check_whole(uiwarp, name):
            yield f"in {len(files)} files of a rotation"
    # Without times in the order of their names.
    with tempfile.TemporaryDirectory() as directory:
        parts = {f"a{i // 50:04}": pcapng(frames[i:i + 50], None) for i in range(0, len(frames), 50)}
        whole, *files = written(directory, whole=pcapng(frames, None), **parts)
        status, events, _ = check(uiwarp, *files)
        if (status, events) != check(uiwarp, whole)[:2]:
            yield "in files of a rotation without times"


def taps(uiwarp, name, frames):
    one, other = by_sender(frames)
    whole = check_whole(uiwarp, name)
    forms = {
        "pcap": (pcap(one), pcap(other)), "pcap and pcapng": (pcap(one), pcapng(other)),
        "compressed": (gzip.compress(pcap(one)), pcapng(other, 10)),
    }
    for form, (a, b) in forms.items():
        with tempfile.TemporaryDirectory() as directory:
            files = written(directory, a=a, b=b)
            for order in (files, files[::-1]):
                if check(uiwarp, *order) != whole:
                    yield f"of two taps, {form}"
            if form == "pcap" and places(uiwarp, *files) != places(uiwarp, name):
                yield "of two taps, at other places"
    # Coarser times, some of them alike: the order of frames is another.
    coarse = {"us and ns": (pcap(one, MAGIC_US), pcap(other)), "ms": (pcapng(one, 3), pcapng(other, 3))}
    due = check_whole(uiwarp, name, notes=False)
    for form, (a, b) in coarse.items():
        with tempfile.TemporaryDirectory() as directory:
            found = check(uiwarp, *written(directory, a=a, b=b), notes=False)
            if kinds(found[1]) != kinds(due[1]) or found[2]:
                yield f"of two taps, {form}: {kinds(found[1])}, due is {kinds(due[1])}; it says {found[2]!r}"


def kinds(events):
    return sorted((e["event"], e["id"], e["from"]) for e in events)


def clocks(uiwarp, name, frames):
    """The clock of one tap is behind: never a false alarm, and a sentence; corrected as it says, none."""
    one, other = by_sender(frames)
    due = check_whole(uiwarp, name, notes=False)
    for ns in (10**7, -10**7, 10**9, -3600 * 10**9):
        with tempfile.TemporaryDirectory() as directory:
            files = written(directory, a=pcap(one), b=pcap(shifted(other, -ns)))
            found = check(uiwarp, *files, notes=False)
            new = set(kinds(found[1])) - set(kinds(due[1]))
            if new:
                yield f"of two taps, {ns} ns apart: {new}"
            if "the clocks differ" not in found[2]:
                yield f"of two taps, {ns} ns apart: it says {found[2]!r}"


def main(uiwarp, names):
    bad, used, each = [], 0, 1
    if names[:1] == ["--each"]:
        each, names = int(names[1]), names[2:]
    for name in map(pathlib.Path, names) if names else sorted(CORPUS.rglob("*.pcap*"))[::each]:
        if name.parent.name == "tls":  # nothing to be seen without keys
            continue
        frames = apart(read(name))
        used += 1
        with tempfile.NamedTemporaryFile() as whole:
            whole.write(pcap(frames))
            whole.flush()
            for kind in (rotation, taps, clocks):
                bad += [f"{name}: {kind.__name__}: {text}" for text in kind(uiwarp, whole.name, frames)]
    print(*bad, f"{used} captures, {len(bad)} of their forms are told otherwise", sep="\n")
    return bool(bad) or used == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
