# SPDX-License-Identifier: BSD-2-Clause
"""
What scripts/bench load found, from its JSON alone: a table in Markdown, and a plot.

usage: load_report.py [--docs] LOAD.JSON...     of runs of different parts, all together; with --docs into
                                                docs/performance.md and docs/plots/load.svg
"""

import json
import os
import shutil
import subprocess
import sys

TEXTS = {"verbs": "uiwarp, Send over memif", "port": "the port alone, uiwarp's rates",
         "bare": "the port alone, shares of its own most", "tcp": "kernel TCP over veth", "ucx": "UCX tcp over veth"}
COLOURS = {"verbs": "#2060c0", "port": "#909090", "bare": "#404040", "tcp": "#d08030", "ucx": "#208040"}
QUANTILES = {"us_p50": "p50", "us_p99": "p99", "us_p999": "p99.9", "us_p9999": "p99.99"}

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
BEGIN, END = (f"<!-- scripts/bench load: {x} -->" for x in ("begin", "end"))


def ordered(cases):
    """By size and connections, and what is compared side by side."""
    names = list(TEXTS)
    return sorted(cases, key=lambda c: (c["size"], c["connections"], names.index(c["transport"])))


def title(size, connections):
    return f"{size} B, {connections} connection{'s' if connections > 1 else ''}"


def table(cases):
    """A row for each rate."""
    lines = ["| | of the most | M/s | " + " | ".join(f"{q}, us" for q in QUANTILES.values()) +
             " | before it was sent: p99.9 |", "|:--|--:|--:|" + "--:|" * (len(QUANTILES) + 1)]
    for case in ordered(cases):
        for i, row in enumerate(case["rows"]):
            name = f"{title(case['size'], case['connections'])}: {TEXTS[case['transport']]}"
            lines.append(f"| {name if i == 0 else ''} | {row['share']:.0%} | {row['per_second'] / 1e6:.3f} | " +
                         " | ".join(f"{row[q]:.1f}" for q in QUANTILES) + f" | {row['late_us_p999']:.1f} |")
    return lines


def panel(cases):
    """gnuplot's lines of a size and a number of connections."""
    blocks, lines = [], []
    for case in ordered(cases):
        name, block = case["transport"], f"$d{len(blocks)}"
        points = "\n".join(f"{row['per_second'] / 1e6} {row['us_p50']} {row['us_p999']}" for row in case["rows"])
        blocks.append(f"{block} << EOD\n{points}\nEOD")
        lines += [f'{block} using 1:{column} with linespoints lc rgb "{COLOURS[name]}" dt {dash} '
                  f'title "{TEXTS[name]}, {what}"' for column, dash, what in ((2, 1, "p50"), (3, 2, "p99.9"))]
    return (f'{chr(10).join(blocks)}\nset title "{title(cases[0]["size"], cases[0]["connections"])}"\n'
            f"plot {', '.join(lines)}\n")


def plot(cases, path):
    """A panel for each size and number of connections; p50 drawn through, p99.9 broken."""
    if not cases or not shutil.which("gnuplot"):
        return
    kinds = sorted({(c["size"], c["connections"]) for c in cases})
    panels = [panel([c for c in cases if (c["size"], c["connections"]) == kind]) for kind in kinds]
    script = f"""set terminal svg size 1100,{60 + 370 * ((len(panels) + 1) // 2)} font "sans,11" background "white"
set output "{path}"
set multiplot layout {(len(panels) + 1) // 2},2 title "One way under load (us), by messages a second (M/s)"
set logscale xy
set key below font ",8"
set grid
{"".join(panels)}unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def publish(cases):
    """The table into docs/performance.md, between its two marks, and the plot into docs/plots."""
    page = os.path.join(DOCS, "performance.md")
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, "", *table(cases), "", END]) + rest.split(END)[1])
    plot(cases, os.path.join(DOCS, "plots", "load.svg"))


def main():
    cases = []
    for name in sys.argv[1:]:
        if name != "--docs":
            with open(name, encoding="utf-8") as saved:
                cases += json.load(saved)["cases"]
    print("\n".join(table(cases)))
    if "--docs" in sys.argv[1:]:
        publish(cases)


if __name__ == "__main__":
    main()
