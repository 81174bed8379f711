# SPDX-License-Identifier: BSD-2-Clause
"""The table, and the plots: SVG by gnuplot, from the JSON alone."""

import json
import os
import shutil
import statistics
import subprocess
import sys

from metrics import CHARTS, METRICS

OURS = ("our_",)


def _ratio(metric, figures, raw, less_is_better):
    """How many times worse than the port alone."""
    if raw not in figures or metric == raw or not figures[raw] or not figures[metric]:
        return ""
    ratio = figures[metric] / figures[raw] if less_is_better else figures[raw] / figures[metric]
    return f"{ratio:.1f}x"


def _versus(metric, figures, reference, less_is_better):
    """How many times better our figure is than this one."""
    if metric.startswith(OURS) or metric.startswith("raw_") or reference not in figures:
        return ""
    ratio = (figures[metric] / figures[reference] if less_is_better
             else figures[reference] / figures[metric])
    return f"{ratio:.1f}x"


def table(result):
    """The text that a person reads."""
    figures = result["median"]
    lines = []
    for _, title, unit, less, metrics in CHARTS:
        lines += ["", f"{title} ({unit}; {'less' if less else 'more'} is better)",
                  f"  {'':56} {'median':>9} {'min':>9} {'max':>9}  {'to raw':>7} {'ours is':>8}"]
        ours = next((m for m in metrics if m.startswith(OURS) and m in figures), None)
        for metric in metrics:
            if metric not in figures:
                continue
            values = result["runs"][metric]
            lines.append(
                f"  {METRICS[metric][0]:56} {figures[metric]:9.3f} {min(values):9.3f} "
                f"{max(values):9.3f}  {_ratio(metric, figures, metrics[0], less):>7} "
                f"{_versus(metric, figures, ours, less):>8}")
    shown = {m for chart in CHARTS for m in chart[4]}
    lines += ["", "Also"]
    for metric, (text, unit) in METRICS.items():
        if metric in figures and metric not in shown:
            runs = result["runs"].get(metric, [figures[metric]])
            lines.append(f"  {text:56} {figures[metric]:9.3f} {min(runs):9.3f} {max(runs):9.3f}  {unit}")
    far = {metric: runs for metric, runs in result.get("far", {}).items() if metric in METRICS}
    if far:
        lines += ["", "Not counted: the cores were far from each other"]
    for metric, runs in far.items():
        text, unit = METRICS[metric]
        lines.append(f"  {text:56} {statistics.median(runs):9.3f} {min(runs):9.3f} {max(runs):9.3f}  {unit}")
    lines += ["", "Bars"]
    for v in result["bars"]:
        figure = "" if v["figure"] is None else f"{v['figure']:.3f}"
        limit = "" if v["limit"] is None else f"{v['limit']:.3f}"
        lines.append(f"  {v['verdict']:8} {v['bar']:60} {figure:>9} {limit:>9}")
    for what, why in result["skipped"].items():
        lines.append(f"  skipped: {what}: {why}")
    for what, why in result["failed"].items():
        lines.append(f"  FAILED: {what}: {why}")
    return "\n".join(lines)


def plots(result, directory):
    """One bar chart per comparison. Returns the files, or none when gnuplot is missing."""
    if not shutil.which("gnuplot"):
        return []
    figures, files = result["median"], []
    for name, title, unit, less, metrics in CHARTS:
        rows = [m for m in metrics if m in figures]
        if not rows:
            continue
        svg = os.path.join(directory, name + ".svg")
        data = "\n".join(
            f'{i} {figures[m]} {1 if m.startswith("raw_") else 2 if m.startswith(OURS) else 3} '
            f'"{METRICS[m][0]}"' for i, m in enumerate(reversed(rows)))
        script = f"""set terminal svg size 900,{90 + 46 * len(rows)} font "sans,13" background "white"
set output "{svg}"
set title "{title} ({unit}, logarithmic; {'less' if less else 'more'} is better)"
set logscale x
set xrange [{min(figures[m] for m in rows) / 3}:{max(figures[m] for m in rows) * 3}]
set yrange [-0.6:{len(rows) - 0.4}]
set style fill solid 0.8
set grid xtics
unset key
color(k) = k == 1 ? 0x999999 : k == 2 ? 0x2060c0 : 0xd08030
$data << EOD
{data}
EOD
plot $data using (0):1:(1e-9):2:($1-0.35):($1+0.35):(color($3)):ytic(4) \\
     with boxxyerror lc rgb variable, \\
     $data using 2:1:(sprintf(" %.3g", $2)) with labels left
"""
        done = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True,
                              check=False)
        if done.returncode == 0:
            files.append(svg)
        else:
            print(done.stderr, file=sys.stderr)
    return files


if __name__ == "__main__":
    # Table and plots again, from a file of earlier.
    with open(sys.argv[1], encoding="utf-8") as saved:
        earlier = json.load(saved)
    print(table(earlier))
    print("\n".join(plots(earlier, os.path.dirname(os.path.abspath(sys.argv[1])))))
