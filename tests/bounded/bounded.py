#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""However much is under way in a capture, `uiwarp pcap check` has bounded memory, and says little.

usage: tests/bounded/bounded.py UIWARP-MANY UIWARP N     (uiwarp-many makes captures of N of each kind)
"""
import os
import re
import subprocess
import sys
import tempfile

MEBI = 1 << 20
LIMIT = 512 * MEBI
# A connection that was open for a few frames, and what the checker has anyway.
PER_CONNECTION, ANYWAY = 4096, 40 * MEBI


def check(uiwarp, path):
    """Status, lines of output and the most memory that a check had, pages of the file included."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([uiwarp, "pcap", "check", path], stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        return child.returncode, out.read().splitlines(), usage.ru_maxrss * 1024


def main(many, uiwarp, number):
    bad = []
    for kind, due in (("connections", 0), ("reads", 1), ("flows", 3)):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([many, kind, str(number)], stdout=file, check=True)
            status, lines, memory = check(uiwarp, file.name)
        limit = min(LIMIT, ANYWAY + number * PER_CONNECTION)
        print(f"{number} {kind}: status {status}, {len(lines)} lines, {memory // MEBI} MiB of {limit // MEBI}")
        print(*lines[:20], sep="\n")
        if status != due:
            bad.append(f"{kind}: status {status}, due is {due}")
        if memory > limit:
            bad.append(f"{kind}: {memory // MEBI} MiB")
        if len(lines) > 20:
            bad.append(f"{kind}: {len(lines)} lines")
        seen = re.search(r"(\d+) iWARP connections", "\n".join(lines))
        if kind == "connections" and (not seen or int(seen[1]) < number):
            bad.append(f"{kind}: not all were seen")
    print(*bad, sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
