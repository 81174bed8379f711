#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Figures of scripts/bench are of a time in which the host left the two cores where they were."""
import os
import sys
import unittest
from unittest import mock

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "bench"))
import bench  # noqa: E402
import measure  # noqa: E402
import metrics  # noqa: E402
from programs import Failure  # noqa: E402


class Lines:
    """A runner whose program says what comes next."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def start(self, *_):
        return None

    def finish(self, _):
        return f'{{"line_ns": {self.lines.pop(0)}}}\n'


def steady(lines, tries=3):
    runs = iter(range(100))
    placement = measure.Placement(Lines(*lines), [0, 1], "build", tries, looks=2, pause=0)
    return placement.steady(lambda: {"run": next(runs)})


class Steady(unittest.TestCase):
    def test_cores_that_stay_are_measured_once(self):
        self.assertEqual(steady([470, 490]), {"run": 0, "core_line": 490})

    def test_cores_that_move_are_measured_again(self):
        self.assertEqual(steady([470, 120, 130, 125]), {"run": 1, "core_line": 125})
        self.assertEqual(steady([120, 470, 120, 110]), {"run": 1, "core_line": 110})

    def test_cores_are_waited_for_until_they_are_near(self):
        self.assertEqual(steady([120, 470, 480, 490, 120, 130]), {"run": 1, "core_line": 130})

    def test_cores_that_stay_far_are_measured_there(self):
        self.assertEqual(steady([120, 470, 480, 490, 470, 480]), {"run": 1, "core_line": 480})

    def test_cores_that_never_stay_are_measured_as_they_are(self):
        self.assertEqual(steady([120, 470, 120, 470, 120, 470]), {"run": 2, "core_line": 470})

    def test_what_fails_is_not_tried_again(self):
        def fail():
            raise Failure("no figures")

        runner = Lines(120)
        with self.assertRaises(Failure):
            measure.Placement(runner, [0, 1], "build").steady(fail)
        self.assertEqual(runner.lines, [])


class Apart(unittest.TestCase):
    def test_runs_with_the_cores_near_count(self):
        self.assertEqual(metrics.apart([50, 30, 48], [90, 480, 100], 1.6), ([50, 48], [30]))

    def test_where_most_are_far_all_count(self):
        self.assertEqual(metrics.apart([50, 30, 31], [90, 480, 470], 1.6), ([50, 30, 31], []))

    def test_what_passes_between_no_cores_counts(self):
        self.assertEqual(metrics.apart([1, 2], [None, None], 1.6), ([1, 2], []))


def port(missing=None):
    """A stand-in that takes the calls of the bare port's measurement, and no others."""
    raw = mock.create_autospec(measure.Raw, instance=True)
    raw.missing.return_value = missing
    raw.latency.return_value = 0.25
    return raw


class Beside(unittest.TestCase):
    def test_port_is_measured_right_before(self):
        both = bench.beside_port(port(), "send", lambda: {"our_send_lat_typical": 0.8})
        self.assertEqual(both(), {"raw_lat_beside_send": 0.25, "our_send_lat_typical": 0.8})

    def test_without_the_port_ours_is_measured_alone(self):
        raw = port("bench/raw_port is not built")
        self.assertEqual(bench.beside_port(raw, "send", lambda: {"a": 1})(), {"a": 1})

    def test_round_trip_is_that_of_as_many_frames(self):
        raw = measure.Raw(None, "", [0, 1], "build")
        with mock.patch.object(raw, "_pair", return_value={"rtt_us_p50": 0.5}) as pair:
            self.assertEqual(raw.latency(count=50), 0.25)
        pair.assert_called_once_with("echo", 50, 64)


if __name__ == "__main__":
    unittest.main()
