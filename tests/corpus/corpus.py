#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The captures of pcap/corpus against its index.

usage: tests/corpus/corpus.py check MAKER UIWARP    made again, the same; and what the checker says
       tests/corpus/corpus.py index UIWARP          what the checker says now, as lines of the index
       tests/corpus/corpus.py oracle UIWARP FILE    one of the index: what we and tshark read, compared
       tests/corpus/corpus.py list                  the files of the index
"""
import collections
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "pcap"))
import compared  # noqa: E402 (it stands with the tests of whole captures)

CORPUS = ROOT / "pcap" / "corpus"


def index():
    """{file: entry} of the index, in its order."""
    entries = tomllib.loads((CORPUS / "index.toml").read_text())["capture"]
    return {e["file"]: e for e in entries}


# ---- made again, and checked --------------------------------------------------------------------


def compare(maker, files):
    """The files that our own program makes: the same octets."""
    bad = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([maker, directory], check=True, stdout=subprocess.DEVNULL)
        made = {p.name: p.read_bytes() for p in pathlib.Path(directory).iterdir()}
    for name in made.keys() - files.keys():
        bad.append(f"{name}: made, but not in the index")
    for name, entry in files.items():
        if "made" in entry:
            continue
        if name not in made:
            bad.append(f"{name}: in the index, but not made")
        elif made[name] != (CORPUS / name).read_bytes():
            bad.append(f"{name}: made again, it differs; if that is right: {maker} {CORPUS}")
    return bad


def opened(name):
    """The options that open what is inside of TLS."""
    keys = index()[name].get("keylog")
    return ["--keylog", str(CORPUS / keys)] if keys else []


def findings(uiwarp, name):
    """{"violations": {id: count}, "advice": {id: count}}"""
    found = {"violation": collections.Counter(), "advice": collections.Counter()}
    for event in compared.uiwarp_json(uiwarp, "check", CORPUS / name, "--all", *opened(name)):
        if event["event"] in found:
            found[event["event"]][event["id"]] += 1
    return {"violations": dict(found["violation"]), "advice": dict(found["advice"])}


# A peer written for these shows errors that siw takes otherwise than we do, and operations that it
# does not know.
OTHERWISE = ("siw/foreign-errors", "siw/foreign-python", "siw/foreign-write-readback")


def replays(uiwarp, name):
    """What is wrong when our stack is given each side of the capture a second time."""
    if name.startswith(OTHERWISE):
        return []
    bad = []
    for options in ([], ["--responder"]):
        run = subprocess.run([uiwarp, "pcap", "replay", *options, *opened(name), CORPUS / name],
                             text=True, stdout=subprocess.PIPE, check=False)
        if run.returncode != 0:
            bad += [f"{name}: replay {' '.join(options)}: {line.strip()}"
                    for line in run.stdout.splitlines() if "differs" in line] or [f"{name}: replay"]
    return bad


def statuses(uiwarp):
    """What is wrong with the exit status of a check: nothing of iWARP is not the same as nothing wrong."""
    def header(link):
        return struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link)

    bad = []
    with tempfile.TemporaryDirectory() as directory:
        files = {name: pathlib.Path(directory, name) for name in ("empty", "other", "cut")}
        files["empty"].write_bytes(header(1))
        files["other"].write_bytes(header(147) + struct.pack("<IIII", 1, 0, 4, 4) + b"abcd")
        files["cut"].write_bytes(header(1) + b"abcd")
        for name, due, said in [
                (CORPUS / "ops-rev2.pcapng", 0, ""), (CORPUS / "terminate-untagged.pcapng", 1, ""),
                (files["cut"], 2, "cut off"), (files["empty"], 3, "no iWARP connection in 0 frames"),
                (files["other"], 3, "1 frames of link types that are not read, first 147")]:
            run = subprocess.run([uiwarp, "pcap", "check", name], text=True, capture_output=True,
                                 check=False)
            if run.returncode != due or said not in run.stderr:
                bad.append(f"{name}: status {run.returncode}, due is {due}: {run.stderr}")
    return bad


def selections(uiwarp):
    """What is wrong with the options that take a part of a capture, by the number of violations told of."""
    name = CORPUS / "terminate-tagged.pcapng"
    bad = []
    with tempfile.TemporaryDirectory() as directory:
        known = pathlib.Path(directory, "known")
        known.write_text("ignore DDP-* # known\nnote RDMAP-5.2.1-9 from 10.0.0.2\n", encoding="ascii")
        wrong = pathlib.Path(directory, "wrong")
        wrong.write_text("ignore\n", encoding="ascii")
        for options, status, told in [
                ((), 1, 3), (("--connection", "7"), 1, 1), (("--connection", "6", "--connection", "7"), 1, 2),
                (("--host", "10.0.0.0/30"), 1, 3), (("--host", "10.0.0.4"), 3, 0),
                (("--host", "10.0.0.4/"), 2, 0), (("--from", "9"), 1, 2), (("--from", "9", "--to", "13"), 1, 1),
                (("--from", "1s"), 2, 0), (("--filter", "tcp port 7006"), 1, 1), (("--filter", "udp"), 3, 0),
                (("--filter", "tcp port"), 2, 0), (("--severities", known), 0, 0),
                (("--severities", wrong), 2, 0), (("--level", "violation"), 1, 3), (("--level", "x"), 2, 0)]:
            run = subprocess.run([uiwarp, "pcap", "check", *options, name], text=True, capture_output=True,
                                 check=False)
            found = sum(line.startswith("violation") for line in run.stdout.splitlines())
            if (run.returncode, found) != (status, told):
                bad.append(f"{name}: {options}: status {run.returncode}, {found} violations told: {run.stderr}")
    return bad


def opens(uiwarp):
    """Whether it was built with OpenSSL."""
    run = subprocess.run([uiwarp, "pcap", "check", "--keylog", CORPUS / "tls/rping.keys", os.devnull], text=True,
                         capture_output=True, check=False)
    return "built without OpenSSL" not in run.stderr


def check(maker, uiwarp):
    files = index()
    bad = compare(maker, files) + statuses(uiwarp) + selections(uiwarp)
    can_open = opens(uiwarp)
    bad += sealed(uiwarp) if can_open else []
    there = {str(p.relative_to(CORPUS)) for p in CORPUS.rglob("*.pcap*")}
    bad += [f"{name}: not in the index" for name in sorted(there - files.keys())]
    for name, entry in files.items():
        if "keylog" in entry and not can_open:
            continue
        due = {key: entry.get(key, {}) for key in ("violations", "advice")}
        found = findings(uiwarp, name)
        if found != due:
            bad.append(f"{name}: the checker finds {found}; due is {due}")
        bad += replays(uiwarp, name)
    return bad


def sealed(uiwarp):
    """What is wrong with captures inside of TLS when there is no key log, or another one."""
    name, bad = CORPUS / "tls/rping.pcapng", []
    keys = CORPUS / "tls/rping.keys"
    with tempfile.TemporaryDirectory() as directory:
        other = pathlib.Path(directory, "other")
        other.write_text("".join(
            " ".join([label, random.translate(str.maketrans("0123456789abcdef", "123456789abcdef0")), secret])
            + "\n" for label, random, secret in map(str.split, keys.read_text().splitlines())))
        empty = pathlib.Path(directory, "empty")
        empty.write_text("# nothing\n")
        for options, status, said in [
                ((), 3, "no iWARP connection"), (("--keylog", keys), 0, ""),
                (("--keylog", other), 3, "1 TLS connections whose secrets are not in the key log"),
                (("--keylog", empty), 2, "it has no traffic secret of TLS 1.3"),
                (("--keylog", empty / "none"), 2, "Not a directory")]:
            run = subprocess.run([uiwarp, "pcap", "check", *options, name], text=True, capture_output=True,
                                 check=False)
            if run.returncode != status or said not in run.stderr:
                bad.append(f"{name}: {options}: status {run.returncode}, due is {status}: {run.stderr}")
    return bad


def show_index(uiwarp):
    for name in index():
        print(name)
        for key, ids in findings(uiwarp, name).items():
            if ids:
                inner = ", ".join(f"{i} = {n}" for i, n in sorted(ids.items()))
                print(f"{key} = {{ {inner} }}")


# ---- tshark -------------------------------------------------------------------------------------

def oracle(uiwarp, name):
    """They read the same; or as many FPDUs alike as the index says, which says why not all."""
    due = index()[name].get("tshark")
    bad, alike, fpdus = compared.with_tshark(uiwarp, CORPUS / name, options=opened(name))
    print(f"{name}: {fpdus} FPDUs, {alike} of them as tshark reads them")
    if due is None:
        return bad
    if not bad:
        return ["all agrees; the index says that it does not"]
    if alike != due["agrees"]:
        return [*bad, f"{alike} FPDUs agree; the index says {due['agrees']}"]
    return []


def main(arguments):
    match arguments:
        case ["check", maker, uiwarp]:
            bad = check(maker, uiwarp)
        case ["index", uiwarp]:
            return show_index(uiwarp)
        case ["oracle", uiwarp, name]:
            bad = oracle(uiwarp, name)
        case ["list"]:
            return print("\n".join(index()))
        case _:
            sys.exit(__doc__)
    print("\n".join(bad))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
