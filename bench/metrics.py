# SPDX-License-Identifier: BSD-2-Clause
"""What is measured, in which unit, against which bar, and beside what it is shown."""

# name: (what a person reads, unit)
METRICS = {
    "raw_lat_64": ("port alone, echo of 64 B, half a round trip", "us"),
    "raw_lat_1500": ("port alone, echo of 1500 B, half a round trip", "us"),
    "raw_mpps_64": ("port alone, one way, 64 B", "Mpps"),
    "raw_gbit_64": ("port alone, one way, 64 B", "Gbit/s"),
    "raw_mpps_1500": ("port alone, one way, 1500 B", "Mpps"),
    "raw_gbit_1500": ("port alone, one way, 1500 B", "Gbit/s"),
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
    "our_write_gbit_1m": ("ib_write_bw 1 MiB", "Gbit/s"),
    "our_idle_cpu": ("process with a connected QP, idle", "% of a core"),
    "conn_ns_10": ("TCP alone, a packet of one of 10 connections", "ns"),
    "conn_ns_50k": ("TCP alone, a packet of one of 50,000 connections", "ns"),
    "conn_ratio": ("... as many times the cost of ten", ""),
    "conn_bytes": ("memory of a TCP connection that is idle", "B"),
    "qp_bytes_server": ("memory of a connected, idle QP, side that listens", "B"),
    "qp_bytes_client": ("memory of a connected, idle QP, side that connects", "B"),
    "qp_bytes_both": ("... of both ends", "B"),
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
     ("raw_mpps_64", "our_write_rate_8", "tcp_rate_8", "ucx_rate_8")),
    ("bandwidth", "Large messages", "Gbit/s", False,
     ("raw_gbit_1500", "our_write_gbit_1m", "tcp_gbit", "fi_gbit_1m", "ucx_gbit_1m")),
)

# The floors: what it says, and how to tell. A ratio to another metric when that one is there.
BARS = (
    ("8-byte send latency at most 2.5 us", "our_send_lat_typical", "<=", 2.5, None),
    ("... and half of libfabric tcp's at most", "our_send_lat_typical", "<=", 0.5, "fi_lat_8"),
    ("... and half of UCX tcp's at most", "our_send_lat_typical", "<=", 0.5, "ucx_lat_8"),
    ("8-byte read latency at most 5 us", "our_read_lat_typical", "<=", 5, None),
    ("8-byte write latency, one core per process, at most 100 us", "our_write_lat_typical",
     "<=", 100, None),
    ("8-byte writes, one QP, at least 2 M/s", "our_write_rate_8", ">=", 2, None),
    ("1 MiB writes at least 20 Gbit/s", "our_write_gbit_1m", ">=", 20, None),
    ("a packet of one of 50,000 connections at most 1.3 times as dear as of ten", "conn_ratio",
     "<=", 1.3, None),
    ("an idle TCP connection at most 1 KiB", "conn_bytes", "<=", 1024, None),
    ("both ends of a connected QP that is idle, one of 10,000, at most 8 KiB", "qp_bytes_both",
     "<=", 8192, None),
    ("idle with a connected QP, under 2 % of a core", "our_idle_cpu", "<", 2, None),
)


def judge(figures):
    """For each bar: text, figure (or None), limit, and PASS, MISS or unknown."""
    verdicts = []
    for text, metric, relation, limit, reference in BARS:
        value = figures.get(metric)
        if reference is not None:
            limit = figures[reference] * limit if reference in figures else None
        if value is None or limit is None:
            verdict = "unknown"
        elif relation == "<=":
            verdict = "PASS" if value <= limit else "MISS"
        elif relation == "<":
            verdict = "PASS" if value < limit else "MISS"
        else:
            verdict = "PASS" if value >= limit else "MISS"
        verdicts.append({"bar": text, "metric": metric, "figure": value, "limit": limit,
                         "verdict": verdict})
    return verdicts
