#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bars of scripts/bench, and the page that is made of its history."""
import json
import os
import sys
import tempfile
import unittest

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(TOP, "bench"))
import history  # noqa: E402
import metrics  # noqa: E402

RUN = {"raw_lat_64": 0.2, "raw_mpps_64": 30, "our_send_lat_typical": 0.5, "our_send_lat_p99": 0.9,
       "our_read_lat_typical": 0.9, "our_write_rate_8": 10.5, "our_write_rate_8_lists": 14.5,
       "our_write_gbit_1m": 61, "our_write_gbit_1m_9000": 101, "tcp_gbit": 40}


def verdicts(figures):
    return {v["metric"]: v["verdict"] for v in metrics.judge(figures) if v["verdict"] != "unknown"}


class Bars(unittest.TestCase):
    def test_every_bar_is_of_a_metric(self):
        for bar in metrics.BARS:
            self.assertIn(bar.metric, metrics.METRICS)
            self.assertLessEqual(set(bar.of), set(metrics.METRICS))

    def test_good_run_misses_nothing(self):
        self.assertEqual(set(verdicts(RUN).values()), {"PASS"})

    def test_either_figure_or_ratio(self):
        slow = {**RUN, "our_write_gbit_1m": 26}
        self.assertEqual(verdicts({**slow, "tcp_gbit": 10})["our_write_gbit_1m"], "PASS")
        self.assertEqual(verdicts({**slow, "tcp_gbit": 11})["our_write_gbit_1m"], "MISS")
        fast = {**RUN, "our_write_gbit_1m": 60, "tcp_gbit": 66}
        self.assertEqual(verdicts(fast)["our_write_gbit_1m"], "PASS")

    def test_distance_from_the_port(self):
        at = {**RUN, "raw_lat_64": 0.3, "our_send_lat_typical": 0.7, "our_read_lat_typical": 1.2}
        self.assertEqual(verdicts(at)["our_send_lat_typical"], "PASS")
        self.assertEqual(verdicts(at)["our_read_lat_typical"], "MISS")

    def test_distance_from_the_port_right_beside(self):
        # The port was measured far from its other end, and we near: no bar is passed by that.
        far = {**RUN, "raw_lat_64": 0.8, "our_send_lat_typical": 0.7, "our_read_lat_typical": 1.2}
        self.assertEqual(verdicts(far)["our_send_lat_typical"], "PASS")
        beside = {**far, "raw_lat_beside_send": 0.2, "raw_lat_beside_read": 0.5}
        self.assertEqual(verdicts(beside)["our_send_lat_typical"], "MISS")
        self.assertEqual(verdicts(beside)["our_read_lat_typical"], "PASS")

    def test_tail(self):
        self.assertEqual(verdicts({**RUN, "our_send_lat_p99": 1.1})["our_send_lat_p99"], "MISS")

    def test_what_is_not_measured_is_unknown(self):
        self.assertEqual({v["verdict"] for v in metrics.judge({})}, {"unknown"})

    def test_worst_of_five(self):
        runs = {"our_write_gbit_1m": [40, 41, 42, 43, 30]}
        median = metrics.medians(runs)
        self.assertAlmostEqual(median["our_write_gbit_1m_worst"], 30 / 41)
        self.assertEqual(verdicts(median)["our_write_gbit_1m_worst"], "MISS")
        self.assertNotIn("our_write_gbit_1m_worst", metrics.medians(
            {"our_write_gbit_1m": [40, 41, 42, 30]}))


class Page(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.top = self.directory.name
        os.makedirs(os.path.join(self.top, "docs", "plots"))
        os.makedirs(os.path.join(self.top, "bench"))
        self.write(history.PAGE, f"above\n{history.BEGIN}\nold\n{history.END}\nbelow\n")

    def tearDown(self):
        self.directory.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.top, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as file:
            return file.read()

    def add(self, cpu, commit, **more):
        machine = {"date": "2026-11-23T09:00:00+00:00", "commit": commit, "cpu": cpu, "cores": 2,
                   "kernel": "6.1", "build": {"buildtype": "release"}, "load_average": 0.04}
        history.add(os.path.join(self.top, "bench", "history.jsonl"),
                    {"machine": machine, "median": {**RUN, **more}}, 5)

    def test_a_line_a_run(self):
        self.add("one", "aaa")
        self.add("one", "bbb")
        lines = self.read("bench/history.jsonl").splitlines()
        self.assertEqual([json.loads(x)["commit"] for x in lines], ["aaa", "bbb"])

    def test_last_run_of_each_processor(self):
        self.add("one", "aaa")
        self.add("two", "bbb")
        self.add("one", "ccc", our_write_gbit_1m=5)
        history.publish(self.top)
        page = self.read(history.PAGE)
        self.assertTrue(page.startswith("above\n") and page.endswith("below\n"))
        self.assertNotIn("aaa", page)
        self.assertLess(page.index("ccc"), page.index("bbb"))
        self.assertIn("| 5 | >= | 60 | **miss** |", page)

    def test_runs_that_do_not_count_are_shown(self):
        history.add(os.path.join(self.top, "bench", "history.jsonl"),
                    {"machine": {"date": "2026-11-23", "commit": "aaa", "cpu": "one", "cores": 2, "kernel": "6.1",
                                 "load_average": 0}, "median": RUN, "far": {"our_write_gbit_1m": [29, 31]}}, 5)
        history.publish(self.top)
        self.assertIn("far from each other, 2 of 5 runs | 30 | Gbit/s |", self.read(history.PAGE))

    def test_stale_page_is_told(self):
        self.add("one", "aaa")
        self.assertEqual(len(history.stale(self.top)), 2)
        history.publish(self.top)
        self.assertEqual(history.stale(self.top), [])
        self.add("one", "bbb")
        self.assertEqual(len(history.stale(self.top)), 2)

    def test_page_without_a_place(self):
        self.write(history.PAGE, "nothing\n")
        self.assertEqual(len(history.stale(self.top)), 1)

    def test_part_of_a_run_is_not_whole(self):
        self.assertTrue(history.is_whole(RUN))
        self.assertFalse(history.is_whole({k: v for k, v in RUN.items() if k != "tcp_gbit"}))


if __name__ == "__main__":
    unittest.main()
