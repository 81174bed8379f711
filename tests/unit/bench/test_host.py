#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bars of scripts/bench host."""
import contextlib
import io
import os
import sys
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "bench"))
import host  # noqa: E402
from programs import Failure  # noqa: E402

GOOD = {f"{path}_{what}_{whose}": [value] * 3 for path in ("loopback", "veth") for what, whose, value in (
    ("latency", "tcp", 6), ("latency", "ours", 7.4), ("bandwidth", "tcp", 10), ("bandwidth", "ours", 8.1),
    ("rate", "tcp", 0.4), ("rate", "ours", 1.6))}


def judged(runs):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        missed = host.judge(runs)
    return missed, said.getvalue()


class Said:
    """A runner whose program says one thing."""

    def __init__(self, text):
        self.text = text

    def start(self, *_):
        return None

    def finish(self, _):
        return self.text


class Bars(unittest.TestCase):
    def test_good_run_misses_nothing(self):
        self.assertEqual(judged({**GOOD, "mesh_qps": [4032]})[0], 0)

    def test_each_bar_is_missed_by_itself(self):
        for name, value in (("loopback_latency_ours", 7.6), ("veth_latency_ours", 7.6), ("loopback_bandwidth_ours", 7.9),
                            ("loopback_rate_ours", 1.4), ("veth_rate_ours", 1.4)):
            self.assertEqual(judged({**GOOD, name: [value] * 3})[0], 1, name)

    def test_each_figure_is_held_to_its_neighbour(self):
        # A slow hour in between is no miss of ours.
        self.assertEqual(judged({**GOOD, "loopback_bandwidth_tcp": [10, 5, 5], "loopback_bandwidth_ours": [8, 4, 4]})[0], 0)

    def test_what_is_not_measured_is_said(self):
        missed, said = judged({})
        self.assertEqual(missed, 0)
        self.assertEqual(said.count("not measured"), len(host.BARS) + 1)

    def test_mesh_that_does_not_verify_fails(self):
        runs = {}
        host.measure_mesh(Said("64 processes, 4032 QPs, 10 rounds: all of it verified\n"), "build", runs)
        self.assertEqual(runs, {"mesh_qps": [4032]})
        with self.assertRaises(Failure):
            host.measure_mesh(Said("12 processes, 132 QPs, 10 rounds: all of it verified\n"), "build", runs)


if __name__ == "__main__":
    unittest.main()
