# SPDX-License-Identifier: BSD-2-Clause
"""
What scripts/bench measured over time, one line of JSON a run, and what is made of it: tables and
plot of docs/performance.md.
"""

import html
import json
import math
import os
import statistics

import metrics

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join(TOP, "bench", "history.jsonl")
PAGE = os.path.join("docs", "performance.md")
PLOT = os.path.join("docs", "plots", "performance.svg")
BEGIN, END = "<!-- scripts/bench docs: begin -->", "<!-- scripts/bench docs: end -->"

# A run without these is of a part only: figures of different runs are not put side by side.
NEEDED = ("raw_lat_64", "raw_mpps_64", "our_send_lat_typical", "our_write_rate_8",
          "our_write_gbit_1m", "our_write_gbit_1m_9000", "tcp_gbit")
# The bars whose way is plotted: the first ones.
PLOTTED = 7
COLOURS = ("#2060c0", "#d08030", "#208040", "#a03080", "#806000", "#c03030", "#404040")


def is_whole(median):
    return all(name in median for name in NEEDED)


def build_of(machine):
    """How it was built, in a few words."""
    build = machine.get("build", {})
    words = [build.get("buildtype", "unknown")]
    if build.get("b_lto"):
        words.append("LTO")
    if build.get("b_pgo") == "use":
        words.append("PGO")
    return ", ".join(words)


def add(path, result, runs):
    """Append one line: the medians, and what they depend on."""
    machine = result["machine"]
    line = {"date": machine["date"], "commit": machine.get("commit", "unknown"),
            "cpu": machine.get("cpu", "unknown"), "cores": machine["cores"],
            "kernel": machine["kernel"], "build": build_of(machine),
            "load": round(machine["load_average"], 1), "runs": runs,
            "median": {name: float(f"{value:.5g}") for name, value in result["median"].items()}}
    if result.get("far"):
        line["far"] = {name: [float(f"{value:.5g}") for value in values] for name, values in result["far"].items()}
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def load(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def newest(records):
    """The last run on each model of processor, the latest first."""
    found = {}
    for record in reversed(records):
        found.setdefault(record["cpu"], record)
    return list(found.values())


def heading(record):
    return (f"{record['cpu']}, {record['cores']} cores, commit {record['commit']}, "
            f"{record['date'][:10]}, build {record['build']}, "
            f"{record['runs']} run{'s' if record['runs'] > 1 else ''}, load {record['load']}")


def figures_table(record):
    lines = ["| figure | median | unit |", "|---|--:|---|"]
    for name, (text, unit) in metrics.METRICS.items():
        if name in record["median"]:
            lines.append(f"| {text} | {metrics.number(record['median'][name])} | {unit} |")
        if name in record.get("far", {}):
            values = record["far"][name]
            lines.append(f"| ... not counted: cores far from each other, {len(values)} of {record['runs']} runs "
                         f"| {metrics.number(statistics.median(values))} | {unit} |")
    return lines


def bars_table(record):
    lines = ["| bar | figure | | limit | |", "|---|--:|---|--:|---|"]
    for v in metrics.judge(record["median"]):
        if v["verdict"] == "unknown":
            lines.append(f"| {v['bar']} | | {v['relation']} | | not measured |")
        else:
            verdict = "pass" if v["verdict"] == "PASS" else "**miss**"
            lines.append(f"| {v['bar']} | {metrics.number(v['figure'])} | {v['relation']} "
                         f"| {metrics.number(v['limit'])} | {verdict} |")
    return lines


def section(records):
    """What stands between the marks."""
    lines = []
    for record in newest(records):
        lines += ["", f"### {heading(record)}", "", *bars_table(record), "", *figures_table(record)]
    return "\n".join(lines or ["", "No run yet."]) + "\n\n"


# ---- plot ------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP_MARGIN, RIGHT, BOTTOM = 900, 420, 60, 40, 340, 50


def margin(bar, median):
    """How many times better than the limit; None: not measured."""
    value, limit = median.get(bar.metric), bar.limit(median)
    if not value or not limit:
        return None
    return value / limit if bar.relation == ">=" else limit / value


def y_of(ratio):
    """Logarithmic, a quarter to four."""
    share = (math.log2(min(max(ratio, 0.25), 4)) + 2) / 4
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP_MARGIN - BOTTOM)


def plot(records):
    """The bars' margins, run by run; above the line is better."""
    right, step = WIDTH - RIGHT, (WIDTH - RIGHT - LEFT) / max(len(records) - 1, 1)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{LEFT}" y="20" font-size="14">Figure to bar, run by run '
           '(above 1: the bar is passed)</text>']
    for ratio in (0.25, 0.5, 1, 2, 4):
        y = y_of(ratio)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" '
                   f'stroke="{"black" if ratio == 1 else "#cccccc"}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{ratio:g}</text>')
    for i, record in enumerate(records):
        out.append(f'<text transform="translate({LEFT + i * step:.1f},{HEIGHT - BOTTOM + 14}) '
                   f'rotate(30)" font-size="9">{html.escape(record["commit"])}</text>')
    for number, bar in enumerate(metrics.BARS[:PLOTTED]):
        points = [(LEFT + i * step, y_of(m)) for i, r in enumerate(records)
                  if (m := margin(bar, r["median"])) is not None]
        colour = COLOURS[number]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{right + 16}" y="{TOP_MARGIN + 12 + 20 * number}" '
                   f'fill="{colour}">{html.escape(bar.text)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


# ---- the page --------------------------------------------------------------------------------

def put(top, page, text):
    """The page of this tree with the text between its marks."""
    with open(os.path.join(top, page), encoding="utf-8") as file:
        head, mark, rest = file.read().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"{page}: no place between {BEGIN} and {END}")
    return head + BEGIN + "\n" + text + END + tail


def texts(top):
    """The page and the plot as the history of this tree makes them."""
    records = load(os.path.join(top, "bench", "history.jsonl"))
    return {PAGE: put(top, PAGE, section(records)), PLOT: plot(records)}
