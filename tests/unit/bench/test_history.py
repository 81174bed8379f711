#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bars of scripts/bench and of scripts/bench security, and the pages that are made of their histories."""
import contextlib
import io
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
import pages  # noqa: E402
import security_bars  # noqa: E402

RUN = {"raw_lat_64": 0.2, "raw_mpps_64": 30, "our_send_lat_typical": 0.5, "our_send_lat_p99": 0.9,
       "our_read_lat_typical": 0.9, "our_write_rate_8": 10.5, "our_write_rate_8_lists": 14.5,
       "our_write_gbit_1m": 61, "our_write_gbit_1m_9000": 101, "tcp_gbit": 40}


SECURITY = {"clear_1500": [40, 40, 20], "tls_1500": [26, 30, 10], "esp_1500": [26, 30, 13],
            "clear_9000": [60, 60, 60], "tls_9000": [40, 40, 40], "esp_9000": [40, 40, 40],
            "openssl_1500": [30, 30, 30], "openssl_9000": [40, 40, 40],
            "clear_latency": [0.5, 0.5, 0.5], "tls_latency": [0.7, 0.7, 0.7], "clear_memory": [4000],
            "tls_memory": [7000], "alone_server": [2000, 2000, 2000], "alone_client": [2000, 2000, 2000],
            "handshakes": [1000]}


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


class SecurityBars(unittest.TestCase):
    def judged(self, runs):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            missed = security_bars.judge(security_bars.medians(runs))
        return missed, said.getvalue()

    def test_every_bar_is_of_a_figure(self):
        for name, other, *_ in security_bars.BARS:
            self.assertIn(name, security_bars.FIGURES)
            self.assertTrue(other is None or other in security_bars.FIGURES)

    def test_good_run_misses_nothing(self):
        self.assertEqual(self.judged(SECURITY)[0], 0)
        self.assertTrue(security_bars.is_whole(security_bars.medians(SECURITY)))

    def test_each_bar_is_missed_by_itself(self):
        for name, value in (("tls_1500", 11), ("esp_1500", 11), ("esp_9000", 19), ("tls_9000", 19),
                            ("tls_latency", 1.2), ("tls_memory", 8097), ("alone_server", 999), ("alone_client", 999)):
            self.assertEqual(self.judged({**SECURITY, name: [value] * 3})[0], 1, name)

    def test_a_ratio_is_of_neighbours(self):
        # Each run alone passes; the medians of both, of different runs, would not.
        runs = {**SECURITY, "clear_1500": [100, 50, 10], "tls_1500": [20, 30, 6]}
        self.assertEqual(self.judged(runs)[0], 0)
        self.assertAlmostEqual(security_bars.medians(runs)["tls_1500_to_clear_1500"], 0.6)

    def test_what_is_not_measured_is_said(self):
        missed, said = self.judged({})
        self.assertEqual(missed, 0)
        self.assertEqual(said.count("not measured"), len(security_bars.BARS))
        self.assertFalse(security_bars.is_whole({}))


class Page(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.top = self.directory.name
        os.makedirs(os.path.join(self.top, "docs", "plots"))
        os.makedirs(os.path.join(self.top, "bench"))
        for page in (history.PAGE, security_bars.PAGE):
            self.write(page, f"above\n{history.BEGIN}\nold\n{history.END}\nbelow\n")

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

    def add_security(self, **more):
        machine = {"date": "2026-11-24T09:00:00+00:00", "commit": "sss", "cpu": "one", "cores": 2,
                   "kernel": "6.1", "build": {"buildtype": "release"}, "load_average": 0.04}
        history.add(os.path.join(self.top, "bench", "security.jsonl"),
                    {"machine": machine, "median": security_bars.medians({**SECURITY, **more})}, 3)

    def test_a_line_a_run(self):
        self.add("one", "aaa")
        self.add("one", "bbb")
        lines = self.read("bench/history.jsonl").splitlines()
        self.assertEqual([json.loads(x)["commit"] for x in lines], ["aaa", "bbb"])

    def test_last_run_of_each_processor(self):
        self.add("one", "aaa")
        self.add("two", "bbb")
        self.add("one", "ccc", our_write_gbit_1m=5)
        pages.publish(self.top)
        page = self.read(history.PAGE)
        self.assertTrue(page.startswith("above\n") and page.endswith("below\n"))
        self.assertNotIn("aaa", page)
        self.assertLess(page.index("ccc"), page.index("bbb"))
        self.assertIn("| 5 | >= | 60 | **miss** |", page)

    def test_runs_that_do_not_count_are_shown(self):
        history.add(os.path.join(self.top, "bench", "history.jsonl"),
                    {"machine": {"date": "2026-11-23", "commit": "aaa", "cpu": "one", "cores": 2, "kernel": "6.1",
                                 "load_average": 0}, "median": RUN, "far": {"our_write_gbit_1m": [29, 31]}}, 5)
        pages.publish(self.top)
        self.assertIn("far from each other, 2 of 5 runs | 30 | Gbit/s |", self.read(history.PAGE))

    def test_stale_page_is_told(self):
        self.add("one", "aaa")
        self.assertEqual(len(pages.stale(self.top)), 3)
        pages.publish(self.top)
        self.assertEqual(pages.stale(self.top), [])
        self.add("one", "bbb")
        self.assertEqual(len(pages.stale(self.top)), 2)

    def test_page_without_a_place(self):
        pages.publish(self.top)
        self.write(history.PAGE, "nothing\n")
        self.assertEqual(len(pages.stale(self.top)), 1)
        self.write(security_bars.PAGE, "nothing\n")
        self.assertEqual(len(pages.stale(self.top)), 2)

    def test_security_page(self):
        pages.publish(self.top)
        self.assertIn("No run yet.", self.read(security_bars.PAGE))
        self.add_security(esp_1500=[20, 20, 20])
        self.assertEqual(len(pages.stale(self.top)), 1)
        pages.publish(self.top)
        page = self.read(security_bars.PAGE)
        self.assertIn("| 1 MiB Writes, MTU 1500: TLS to clear | 0.65 | >= | 0.6 | pass |", page)
        self.assertIn("| 1 MiB Writes, MTU 1500: ESP to clear | 0.5 | >= | 0.6 | **miss** |", page)
        self.assertIn("| the same with kernel TLS | not here | |", page)
        self.assertEqual(pages.stale(self.top), [])

    def test_part_of_a_run_is_not_whole(self):
        self.assertTrue(history.is_whole(RUN))
        self.assertFalse(history.is_whole({k: v for k, v in RUN.items() if k != "tcp_gbit"}))


if __name__ == "__main__":
    unittest.main()
