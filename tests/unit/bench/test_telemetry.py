#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bars of scripts/bench telemetry."""
import contextlib
import io
import os
import sys
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "bench"))
import telemetry  # noqa: E402

TURNS = 101


def around(middle, width):
    """As many figures, spread evenly."""
    return [middle + width * (i - TURNS // 2) / (TURNS // 2) for i in range(TURNS)]


def costs(on=1000, width=50, ask=200000):
    """Blocks of 400 us; telemetry takes `on` of each, spread by `width`, and `ask` when it is asked."""
    runs = {}
    for what in ("rate", "bandwidth"):
        for figure in ("cpu", "time", "least"):
            runs[f"{figure}_{what}_off"] = [400000] * TURNS
            runs[f"{figure}_{what}_on"] = around(400000 + on, width)
            runs[f"{figure}_{what}_asked"] = around(400000 + on + ask, width)
    return runs


def screens(longest=30, long=0, others=0, process=50):
    """Of each of 40 screens, or as many figures as there are, how many slices were long."""
    long, others = ([x] * 40 if isinstance(x, int) else x for x in (long, others))
    return {"process_ms": [process], "top_ms": [50], "hold_us": [longest], "long": long, "slices": [500] * len(long),
            "machine_long": others, "machine_slices": [625] * len(others)}


def judged(runs):
    with contextlib.redirect_stdout(io.StringIO()) as said:
        missed = telemetry.judge(runs)
    return missed, said.getvalue()


class Bars(unittest.TestCase):
    def test_good_run_misses_nothing(self):
        self.assertEqual(judged({**costs(), **screens()})[0], 0)

    def test_what_is_on_and_costs_is_missed(self):
        missed, said = judged(costs(on=2500))
        self.assertEqual(missed, 4)
        self.assertNotIn("too much scatter", said)

    def test_what_is_asked_and_costs_is_missed(self):
        # 10 ms of both stacks a second: half a percent of each.
        self.assertEqual(judged(costs(ask=10000000))[0], 2)

    def test_scatter_shows_nothing_and_is_said(self):
        missed, said = judged(costs(width=40000))
        self.assertEqual(missed, 4)
        self.assertEqual(said.count("too much scatter to show it"), 4)

    def test_what_was_not_measured_misses_nothing(self):
        missed, said = judged({})
        self.assertEqual(missed, 0)
        self.assertNotIn("PASS", said)

    def test_a_slow_screen_is_missed(self):
        self.assertEqual(judged(screens(process=101))[0], 1)


class Holds(unittest.TestCase):
    def test_a_long_one_in_each_screen_where_the_machine_has_none_is_missed(self):
        self.assertEqual(judged(screens(60, 1, 0))[0], 1)

    def test_none_that_is_too_long_misses_nothing(self):
        self.assertEqual(judged(screens(50, 1, 0))[0], 0)

    def test_long_ones_as_often_as_in_slices_of_nothing_are_the_machine(self):
        self.assertEqual(judged(screens(60, [0, 4] * 20, 5))[0], 0)

    def test_a_clump_is_the_machine(self):
        # Pooled, 60 beside none would be as good as never.
        self.assertEqual(judged(screens(60, [0] * 38 + [30, 30], 0))[0], 0)

    def test_a_few_more_in_most_screens_are_missed(self):
        self.assertEqual(judged(screens(60, [3, 3, 3, 1] * 10, [2, 2, 1, 3] * 10))[0], 1)

    def test_fewer_than_the_machine_are_not_missed(self):
        self.assertEqual(judged(screens(60, 1, 3))[0], 0)

    def test_chance_of_few_is_exact(self):
        for differences, p in (([], 1), ([0, 0], 1), ([1], 1 / 2), ([-1], 1), ([1, 1, 0, 1], 1 / 8), ([3, 1, -2], 3 / 8),
                               ([0.1, 0.2, -0.3], 5 / 8)):
            self.assertAlmostEqual(telemetry.chance(differences), p, msg=str(differences))

    def test_chance_of_many_is_the_same_each_time(self):
        differences = [(-1) ** i * i for i in range(40)]
        self.assertEqual(telemetry.chance(differences), telemetry.chance(differences))
        self.assertAlmostEqual(telemetry.chance([1] * 40), 1 / (telemetry.FLIPS + 1))
        # An even number of equal ones: half, and half of the ties.
        self.assertAlmostEqual(telemetry.chance([1, -1] * 20), 0.5627, delta=0.015)


if __name__ == "__main__":
    unittest.main()
