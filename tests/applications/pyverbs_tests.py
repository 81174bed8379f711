#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Run rdma-core's own tests of pyverbs, and say of each what came of it.

usage: uiwarp run ... -- tests/applications/pyverbs_tests.py DIRECTORY
DIRECTORY has their package, "tests". A line for each test: "ok", "fails" or "skipped", its name, and why.
"""
import pathlib
import sys
import unittest


class Lines(unittest.TestResult):
    def say(self, word, test, why=""):
        print(word, test.id(), " ".join(str(why).split())[:200], flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.say("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.say("fails", test, err[1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("fails", test, err[1])

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.say("fails", test, err[1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skipped", test, reason)


def main():
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "tests" / "run_tests.py").is_file():
        sys.exit("usage: uiwarp run ... -- tests/applications/pyverbs_tests.py DIRECTORY")
    top = sys.argv.pop()
    # Their modules name each other by the package, and some without it.
    sys.path[:0] = [top, f"{top}/tests"]
    import args_parser  # pylint: disable=import-error,import-outside-toplevel
    args_parser.parser.parse_args()
    import tests  # pylint: disable=import-error,import-outside-toplevel
    unittest.defaultTestLoader.loadTestsFromModule(tests).run(Lines())


main()
