#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Hold the table of libibverbs' symbols against libraries.

usage: symbols.py TABLE PRELOADED-LIBRARY LIBIBVERBS...

What the table calls ours is what the preloaded library exports, and nothing else. Each libibverbs has
the table's symbols up to its own release, and no public one beside them: a release that brings new ones
needs a decision on each.
"""
import pathlib
import re
import subprocess
import sys

ANSWERS = {"ours", "public", "process", "kernel", "foreign"}
# Private to rdma-core: its own programs call it all the same.
PRIVATE = {"ibv_query_gid_type"}


def read_table(path):
    """@return {symbol: (release, the library that answers)}"""
    rows = {}
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        words = line.split()
        if not words or line.startswith("#"):
            continue
        if len(words) != 3 or not words[1].isdigit() or words[2] not in ANSWERS or words[0] in rows:
            sys.exit(f"{path}:{number}: not SYMBOL RELEASE ANSWER, or a second time: {line}")
        rows[words[0]] = (int(words[1]), words[2])
    return rows


def exported(path):
    """@return {(symbol, its version or "")} of the functions that a library defines"""
    out = subprocess.run(["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True)
    found = re.findall(r" [TWi] ([^@\s]+)(?:@@?(\S+))?$", out.stdout, re.MULTILINE)
    return {(name, version) for name, version in found}


def is_verb(name):
    return name.startswith(("ibv_", "_ibv_"))


def differences(what, has, should):
    missing, extra = sorted(should - has), sorted(has - should)
    return [f"{what} lacks {name}" for name in missing] + [f"{what} has {name}, which the table does not" for name in extra]


def check_preloaded(path, rows):
    has = {name for name, _ in exported(path) if is_verb(name)}
    return differences(path, has, {name for name, (_, answer) in rows.items() if answer == "ours"})


def check_library(path, rows):
    """The release is in the file's name: libibverbs.so.1.14.44.0."""
    file = pathlib.Path(path).resolve()
    match = re.fullmatch(r"libibverbs\.so\.1\.\d+\.(\d+)\.\d+", file.name)
    if not match:
        return [f"{file}: no release in its name"]
    release = int(match[1])
    has = {name for name, version in exported(file) if "PRIVATE" not in version or name in PRIVATE}
    has = {name for name in has if re.match(r"_?(ibv|mbps|mult)_", name)}
    return differences(f"{file} (rdma-core {release})", has, {name for name, (since, _) in rows.items() if since <= release})


def main():
    rows = read_table(sys.argv[1])
    wrong = check_preloaded(sys.argv[2], rows)
    for library in sys.argv[3:]:
        wrong += check_library(library, rows)
    for line in wrong:
        print(line)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
