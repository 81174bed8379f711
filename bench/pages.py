# SPDX-License-Identifier: BSD-2-Clause
"""
What is made of the histories in bench/: tables and plot of docs/performance.md, tables of
docs/security.md. With --check nothing is written: exit status 1 and a sentence for each that is not
what its history makes.
"""

import argparse
import os
import sys

import history
import security_bars

TOP = history.TOP
# Each has the texts of a tree, by the names of their files, as its history makes them.
MAKERS = (history.texts, security_bars.texts)


def publish(top=TOP):
    """Write all. Returns their paths."""
    written = []
    for texts in MAKERS:
        for name, text in texts(top).items():
            written.append(os.path.join(top, name))
            with open(written[-1], "w", encoding="utf-8") as file:
                file.write(text)
    return written


def is_made(top, name, text):
    path = os.path.join(top, name)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return file.read() == text


def stale(top=TOP):
    """What is not as the histories make it, a sentence each."""
    found = []
    for texts in MAKERS:
        try:
            found += [f"{name}: not what the history in bench/ makes: run scripts/bench docs"
                      for name, text in texts(top).items() if not is_made(top, name, text)]
        except (OSError, ValueError) as e:
            found.append(str(e))
    return found


def main():
    p = argparse.ArgumentParser(prog="scripts/bench docs", description=__doc__)
    p.add_argument("--check", action="store_true", help="write nothing")
    args = p.parse_args()
    if not args.check:
        publish()
        return 0
    found = stale()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
