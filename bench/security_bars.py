# SPDX-License-Identifier: BSD-2-Clause
"""
What scripts/bench security has measured, its bars, and the tables of docs/security.md that are made
of its history.
"""

import os
import statistics

import history
import metrics

FILE = os.path.join(history.TOP, "bench", "security.jsonl")
PAGE = os.path.join("docs", "security.md")

# What is compared: figure, other figure, how it must be, at what factor or distance, what it says.
BARS = (
    ("tls_1500", "clear_1500", "ratio", 0.6, "1 MiB Writes, MTU 1500: TLS to clear"),
    ("esp_1500", "clear_1500", "ratio", 0.6, "1 MiB Writes, MTU 1500: ESP to clear"),
    ("esp_9000", "openssl_9000", "ratio", 0.5, "1 MiB Writes, MTU 9000: ESP to openssl speed"),
    ("tls_9000", "openssl_9000", "ratio", 0.5, "1 MiB Writes, MTU 9000: TLS to openssl speed"),
    ("tls_latency", "clear_latency", "above", 0.6, "8-byte Send, one way: us more under TLS"),
    ("tls_memory", "clear_memory", "above", 4096, "an idle connection: bytes more under TLS"),
    # A handshake is the work of two hosts: what each end does of it in a second of its one core. The
    # connections of rdma_cm beside it have TCP, MPA, the QPs' ends and the idle turns of both in them.
    ("alone_server", None, "least", 1000, "a server's handshakes/s on one core, ECDSA P-256"),
    ("alone_client", None, "least", 1000, "a client's handshakes/s on one core, ECDSA P-256"),
)

# Name: what it is, unit.
FIGURES = {
    **{f"{name}_{mtu}": (f"1 MiB Writes, MTU {mtu}: {text}", "Gbit/s") for mtu in (1500, 9000)
       for name, text in (("clear", "in the clear, with CRC"), ("tls", "TLS, AES-128-GCM"),
                          ("esp", "ESP, AES-128-GCM"))},
    "openssl_1500": ("`openssl speed`, AES-128-GCM, 1400 bytes", "Gbit/s"),
    "openssl_9000": ("`openssl speed`, AES-128-GCM, 8900 bytes", "Gbit/s"),
    "iperf3_clear": ("iperf3 over the kernel's TCP: in the clear", "Gbit/s"),
    "iperf3_stunnel": ("iperf3 over the kernel's TCP: through stunnel, AES-128-GCM", "Gbit/s"),
    "iperf3_ktls": ("the same with kernel TLS", "Gbit/s"),
    **{f"{name}_latency": (f"8-byte Send, one way: {text}", "us")
       for name, text in (("clear", "in the clear"), ("tls", "TLS"), ("esp", "ESP"))},
    **{f"{name}_memory": (f"an idle connection: {text}", "bytes")
       for name, text in (("clear", "in the clear"), ("tls", "TLS"), ("esp", "ESP"))},
    "alone_server": ("handshakes on one core: a server", "1/s"),
    "alone_client": ("handshakes on one core: a client", "1/s"),
    "alone_openssl": ("what OpenSSL's elliptic curves alone would allow", "1/s"),
    "handshakes": ("connections of rdma_cm under TLS, none resumed, both sides", "1/s"),
    "core_line": ("a cache line from core to core and back", "ns"),
}


def ratio_of(name, other):
    return f"{name}_to_{other}"


def medians(runs):
    """Of each figure; and of each ratio of two that were measured beside each other."""
    found = {name: statistics.median(values) for name, values in runs.items()}
    for name, other, how, _, _ in BARS:
        if how == "ratio" and name in runs and other in runs:
            found[ratio_of(name, other)] = statistics.median(
                a / b for a, b in zip(runs[name], runs[other]))
    return found


def value_of(bar, median):
    """What the bar is held against; None: not measured."""
    name, other, how, _, _ = bar
    if how == "ratio":
        return median.get(ratio_of(name, other))
    if name not in median or (how == "above" and other not in median):
        return None
    return median[name] - (median[other] if how == "above" else 0)


def is_passed(bar, value):
    return value <= bar[3] if bar[2] == "above" else value >= bar[3]


def is_whole(median):
    """Figures of different runs are not put side by side."""
    return all(value_of(bar, median) is not None for bar in BARS)


def judge(median):
    """Say of each bar whether it is missed. Returns how many are."""
    missed = 0
    for bar in BARS:
        value = value_of(bar, median)
        if value is None:
            print(f"  ----  {bar[4]}: not measured")
            continue
        good = is_passed(bar, value)
        missed += not good
        print(f"  {'PASS' if good else 'MISS'}  {bar[4]}: {value:.2f}, "
              f"{'at most' if bar[2] == 'above' else 'at least'} {bar[3]}")
    return missed


# ---- the page --------------------------------------------------------------------------------

def bars_table(median):
    lines = ["| bar | figure | | limit | |", "|---|--:|---|--:|---|"]
    for bar in BARS:
        value = value_of(bar, median)
        lines.append(f"| {bar[4]} | {metrics.number(value)} | {'<=' if bar[2] == 'above' else '>='} "
                     f"| {metrics.number(bar[3])} | {'pass' if is_passed(bar, value) else '**miss**'} |")
    return lines


def figures_table(median):
    lines = ["| figure | median | unit |", "|---|--:|---|"]
    for name, (text, unit) in FIGURES.items():
        lines.append(f"| {text} | {metrics.number(median[name])} | {unit} |" if name in median
                     else f"| {text} | not here | |")
    return lines


def section(records):
    lines = []
    for record in history.newest(records):
        lines += ["", f"**{history.heading(record)}**", "", *bars_table(record["median"]), "",
                  *figures_table(record["median"])]
    return "\n".join(lines or ["", "No run yet."]) + "\n\n"


def texts(top):
    """The page as the history of this tree makes it."""
    records = history.load(os.path.join(top, "bench", "security.jsonl"))
    return {PAGE: history.put(top, PAGE, section(records))}
