# SPDX-License-Identifier: BSD-2-Clause
"""What is measured, in which unit, against which bar, and beside what it is shown."""

import statistics

# name: (what a person reads, unit)
METRICS = {
    "core_line": ("cache line from core to core and back", "ns"),
    "raw_lat_64": ("port alone, echo of 64 B, half a round trip", "us"),
    "raw_lat_1500": ("port alone, echo of 1500 B, half a round trip", "us"),
    "raw_mpps_64": ("port alone, one way, 64 B", "Mpps"),
    "raw_gbit_64": ("port alone, one way, 64 B", "Gbit/s"),
    "raw_mpps_1500": ("port alone, one way, 1500 B", "Mpps"),
    "raw_gbit_1500": ("port alone, one way, 1500 B", "Gbit/s"),
    "raw_lat_beside_send": ("port alone, echo of 64 B, right beside ib_send_lat", "us"),
    "raw_lat_beside_read": ("port alone, echo of 64 B, right beside ib_read_lat", "us"),
    "our_send_lat_min": ("ib_send_lat 8 B, fastest", "us"),
    "our_send_lat_typical": ("ib_send_lat 8 B, one way, typical", "us"),
    "our_send_lat_p99": ("ib_send_lat 8 B, one way, 99 %", "us"),
    "our_read_lat_min": ("ib_read_lat 8 B, fastest", "us"),
    "our_read_lat_typical": ("ib_read_lat 8 B, round trip, typical", "us"),
    "our_read_lat_p99": ("ib_read_lat 8 B, round trip, 99 %", "us"),
    "our_write_lat_min": ("ib_write_lat 8 B, one core per process, fastest", "us"),
    "our_write_lat_typical": ("ib_write_lat 8 B, one core per process, typical", "us"),
    "our_write_lat_p99": ("ib_write_lat 8 B, one core per process, 99 %", "us"),
    "our_write_lat_apart": ("ib_write_lat 8 B, two cores per process, typical", "us"),
    "our_write_rate_8": ("ib_write_bw 8 B, one QP", "M/s"),
    "our_write_rate_8_worst": ("... the worst run as a part of the median", ""),
    "our_write_rate_8_lists": ("ib_write_bw 8 B, one QP, posted in lists of 16", "M/s"),
    "our_write_gbit_1m": ("ib_write_bw 1 MiB, MTU 1500", "Gbit/s"),
    "our_write_gbit_1m_worst": ("... the worst run as a part of the median", ""),
    "our_write_gbit_1m_9000": ("ib_write_bw 1 MiB, MTU 9000", "Gbit/s"),
    "our_write_gbit_1m_9000_worst": ("... the worst run as a part of the median", ""),
    "our_idle_cpu": ("process with a connected QP, idle", "% of a core"),
    "conn_ns_10": ("TCP alone, a packet of one of 10 connections", "ns"),
    "conn_ns_50k": ("TCP alone, a packet of one of 50,000 connections", "ns"),
    "conn_ratio": ("... as many times the cost of ten", ""),
    "conn_bytes": ("memory of a TCP connection that is idle", "B"),
    "qp_bytes_server": ("memory of a connected, idle QP, side that listens", "B"),
    "qp_bytes_client": ("memory of a connected, idle QP, side that connects", "B"),
    "qp_bytes_both": ("... of both ends", "B"),
    "qp_ns_few_8": ("8-byte Write on one of 10 QPs", "ns"),
    "qp_ns_many_8": ("8-byte Write on one of 10,000 QPs", "ns"),
    "qp_ratio_8": ("... as many times the cost of ten", ""),
    "qp_ns_few_4096": ("4-KiB Write on one of 10 QPs", "ns"),
    "qp_ns_many_4096": ("4-KiB Write on one of 10,000 QPs", "ns"),
    "qp_ratio_4096": ("... as many times the cost of ten", ""),
    "cm_connects": ("connections of rdma_cm, made and ended", "1/s"),
    "tcp_lat_8": ("kernel TCP ping-pong 8 B, one way", "us"),
    "tcp_rate_8": ("kernel TCP, send() of 8 B", "M/s"),
    "tcp_gbit": ("kernel TCP, iperf3", "Gbit/s"),
    "fi_lat_8": ("libfabric tcp ping-pong 8 B, one way, average", "us"),
    "fi_gbit_1m": ("libfabric tcp ping-pong 1 MiB", "Gbit/s"),
    "ucx_lat_8": ("UCX tcp tag_lat 8 B, one way, typical", "us"),
    "ucx_rate_8": ("UCX tcp put 8 B", "M/s"),
    "ucx_gbit_1m": ("UCX tcp put 1 MiB", "Gbit/s"),
}

# What a person compares, one chart each: title, unit, whether less is better, the metrics.
CHARTS = (
    ("latency", "Small messages: time one way", "us", True,
     ("raw_lat_64", "our_send_lat_typical", "our_write_lat_apart", "our_write_lat_typical",
      "tcp_lat_8", "fi_lat_8", "ucx_lat_8")),
    ("rate", "Small messages: how many a second", "M/s", False,
     ("raw_mpps_64", "our_write_rate_8", "our_write_rate_8_lists", "tcp_rate_8", "ucx_rate_8")),
    ("bandwidth", "Large messages", "Gbit/s", False,
     ("raw_gbit_1500", "our_write_gbit_1m", "our_write_gbit_1m_9000", "tcp_gbit", "fi_gbit_1m", "ucx_gbit_1m")),
)

# Metrics of which the worst run is judged too, and of how many runs at least.
SPREAD = ("our_write_rate_8", "our_write_gbit_1m", "our_write_gbit_1m_9000")
SPREAD_RUNS = 5


class Bar:
    """
    A figure against a limit, against `times` another figure of the same run plus `plus`, or
    against the easier of both: the speed of machines differs, and of one from hour to hour.
    `of` has several where the first that was measured counts.
    """

    def __init__(self, text, metric, relation, limit=None, of=None, times=1, plus=0):
        self.text, self.metric, self.relation, self.fixed = text, metric, relation, limit
        self.of = (of,) if isinstance(of, str) else of or ()
        self.times, self.plus = times, plus

    def limit(self, figures):
        limits = [] if self.fixed is None else [self.fixed]
        other = next((name for name in self.of if name in figures), None)
        if other:
            limits.append(self.times * figures[other] + self.plus)
        if not limits:
            return None
        return min(limits) if self.relation == ">=" else max(limits)

    def verdict(self, figures):
        value, limit = figures.get(self.metric), self.limit(figures)
        if value is None or limit is None:
            return "unknown"
        good = {"<=": value <= limit, "<": value < limit, ">=": value >= limit}[self.relation]
        return "PASS" if good else "MISS"


# What scripts/bench holds: its exit status is 1 when one is missed.
BARS = (
    Bar("1 MiB Writes, MTU 1500: 60 Gbit/s or 2.5 x iperf3", "our_write_gbit_1m", ">=", 60,
        "tcp_gbit", 2.5),
    Bar("1 MiB Writes, MTU 9000: 100 Gbit/s or 4 x iperf3", "our_write_gbit_1m_9000", ">=", 100,
        "tcp_gbit", 4),
    Bar("8-byte Writes, one QP: 10 M/s or 0.33 x the port's rate", "our_write_rate_8", ">=", 10,
        "raw_mpps_64", 0.33),
    Bar("... in lists of 16: 14 M/s", "our_write_rate_8_lists", ">=", 14),
    Bar("8-byte Send, one way: the port's + 0.4 us", "our_send_lat_typical", "<=",
        of=("raw_lat_beside_send", "raw_lat_64"), plus=0.4),
    Bar("... 99 %: twice the median", "our_send_lat_p99", "<=", of="our_send_lat_typical",
        times=2),
    Bar("8-byte Read: the port's one way + 0.8 us", "our_read_lat_typical", "<=",
        of=("raw_lat_beside_read", "raw_lat_64"), plus=0.8),
    Bar("1 MiB Writes, MTU 1500: worst run to median", "our_write_gbit_1m_worst", ">=", 0.8),
    Bar("1 MiB Writes, MTU 9000: worst run to median", "our_write_gbit_1m_9000_worst", ">=", 0.8),
    Bar("8-byte Writes: worst run to median", "our_write_rate_8_worst", ">=", 0.8),
    Bar("8-byte Send: half of libfabric tcp's", "our_send_lat_typical", "<=", of="fi_lat_8",
        times=0.5),
    Bar("... and of UCX tcp's", "our_send_lat_typical", "<=", of="ucx_lat_8", times=0.5),
    Bar("8-byte Write, one way, one core a process", "our_write_lat_typical", "<=", 100),
    Bar("50,000 connections: a packet's cost to that with ten", "conn_ratio", "<=", 1.2),
    Bar("an idle TCP connection", "conn_bytes", "<=", 1024),
    Bar("both ends of an idle QP, one of 10,000", "qp_bytes_both", "<=", 8192),
    Bar("an idle QP in the server's process, 3 KiB", "qp_bytes_server", "<=", 3072),
    Bar("... and in the client's", "qp_bytes_client", "<=", 3072),
    Bar("8-byte Write on one of 10,000 QPs: its cost to that of ten", "qp_ratio_8", "<=", 1.3),
    Bar("4-KiB Write on one of 10,000 QPs: its cost to that of ten", "qp_ratio_4096", "<=", 1.3),
    Bar("connections of rdma_cm in a second", "cm_connects", ">=", 20000),
    Bar("idle with a connected QP", "our_idle_cpu", "<", 1),
)


def apart(values, lines, another):
    """
    These in two: those measured while the cores were as near each other as they ever were (`lines`, each
    beside its value; None: it does not matter), and the others. If less than half are near, all are.
    """
    known = [line for line in lines if line is not None]
    if not known:
        return values, []
    limit = another * min(known)
    near = [v for v, line in zip(values, lines) if line is not None and line < limit]
    far = [v for v, line in zip(values, lines) if line is None or line >= limit]
    return (near, far) if len(near) >= len(far) else (values, [])


def medians(runs):
    """Of each metric; and how far below it the worst run was, where there are enough to say."""
    median = {name: statistics.median(values) for name, values in runs.items()}
    for name in SPREAD:
        if len(runs.get(name, ())) >= SPREAD_RUNS:
            median[name + "_worst"] = min(runs[name]) / median[name]
    return median


def judge(figures):
    """For each bar: text, metric, relation, figure (or None), limit, and PASS, MISS or unknown."""
    return [{"bar": bar.text, "metric": bar.metric, "relation": bar.relation,
             "figure": figures.get(bar.metric), "limit": bar.limit(figures),
             "verdict": bar.verdict(figures)} for bar in BARS]


def number(value):
    """As a person reads it: three digits, or all in front of the point."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
