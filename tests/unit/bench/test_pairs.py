# SPDX-License-Identifier: BSD-2-Clause
"""The benchmarks of two stacks in one process, for a moment: each figure is one."""

import json
import math
import subprocess
import sys
import unittest

stages, telemetry = sys.argv.pop(1), sys.argv.pop(1)


def figures(*command):
    # What it says of an error is for who reads the test's output.
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    return json.loads(ran.stdout)


class Pairs(unittest.TestCase):
    def test_each_stage_of_a_message_takes_time(self):
        for name, value in figures(stages, "-n", "100").items():
            with self.subTest(name):
                self.assertTrue(math.isfinite(value) and value > 0, value)

    def test_both_stacks_work_with_and_without_telemetry(self):
        for name, value in figures(telemetry, "-n", "1").items():
            with self.subTest(name):
                self.assertTrue(all(x > 0 for x in value) if isinstance(value, list) else value == 1, value)


if __name__ == "__main__":
    unittest.main()
