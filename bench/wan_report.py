# SPDX-License-Identifier: BSD-2-Clause
"""
What scripts/bench wan found, from its JSON alone: tables in Markdown, a verdict on each bar, plots.

usage: wan_report.py [--docs] WAN.JSON      writes tables and plots beside it again; with --docs
                                            into docs/ too, and the medians; each run stays there
"""

import json
import os
import shutil
import statistics
import subprocess
import sys

ALGORITHMS = ("cubic", "bbr")
# At least so much of Linux's goodput: with the like algorithm, and the best with the best.
LIKE, BEST = 0.95, 1.0
COLOURS = {"linux-cubic": "0xd0b080", "ours-cubic": "0x80a8e0",
           "linux-bbr": "0xd08030", "ours-bbr": "0x2060c0"}
TITLES = {"linux-cubic": "Linux cubic", "ours-cubic": "ours cubic",
          "linux-bbr": "Linux bbr", "ours-bbr": "ours bbr"}


def cells(results):
    return sorted({(r["rtt"], r["loss"]) for r in results})


def goodput(results, cell, flow):
    """The median over the runs, Mbit/s; None without one."""
    found = [r["mbit"] for r in results if (r["rtt"], r["loss"]) == cell and r["flow"] == flow]
    return statistics.median(found) if found else None


def ratio(a, b):
    return a / b if a is not None and b else None


def text(value, form):
    return "" if value is None else format(value, form)


def best(results, cell, who):
    found = [goodput(results, cell, f"{who}-{a}") for a in ALGORITHMS]
    return max((f for f in found if f is not None), default=None)


def verdict(value, least):
    """A ratio, and whether it passes."""
    return "" if value is None else f"{value:.3f} {'pass' if value >= least else '**miss**'}"


def tcp_table(results):
    lines = ["| RTT | loss | Linux cubic | ours cubic | ours / Linux | Linux bbr | ours bbr "
             "| ours / Linux | best / best |", "|--:" * 9 + "|"]
    for cell in cells(results):
        row = [f"{cell[0]:g} ms", f"{cell[1]:g} %"]
        for a in ALGORITHMS:
            theirs, ours = (goodput(results, cell, f"{who}-{a}") for who in ("linux", "ours"))
            row += [text(theirs, ".1f"), text(ours, ".1f"), verdict(ratio(ours, theirs), LIKE)]
        row.append(verdict(ratio(best(results, cell, "ours"), best(results, cell, "linux")), BEST))
        lines.append("| " + " | ".join(row) + " |")
    return lines


def spread_table(results):
    """Every run: how far apart they were."""
    lines = ["| RTT | loss | flow | Mbit/s, each run | retransmissions | queue at most, ms |",
             "|--:|--:|:--|:--|:--|:--|"]
    for cell in cells(results):
        for flow in COLOURS:
            of = [r for r in results if (r["rtt"], r["loss"]) == cell and r["flow"] == flow]
            if not of:
                continue
            runs = ", ".join(f"{r['mbit']:.1f}{' (!)' if r['disturbed'] else ''}" for r in of)
            again = ", ".join(str(r["retransmits"]) for r in of)
            queue = ", ".join(f"{r['path']['a_to_b']['queue_ns_max'] / 1e6:.1f}" for r in of)
            lines.append(f"| {cell[0]:g} ms | {cell[1]:g} % | {TITLES[flow]} | {runs} | {again} "
                         f"| {queue} |")
    return lines


def bars(result):
    """(what, figure, least or most, holds)."""
    found = []
    for cell in cells(result.get("tcp", [])):
        where = f"{cell[0]:g} ms, {cell[1]:g} %"
        for a in ALGORITHMS:
            value = ratio(goodput(result["tcp"], cell, f"ours-{a}"),
                          goodput(result["tcp"], cell, f"linux-{a}"))
            if value is not None:
                found.append((f"{where}: ours / Linux, {a}", value, f">= {LIKE:.2f}",
                              value >= LIKE))
        value = ratio(best(result["tcp"], cell, "ours"), best(result["tcp"], cell, "linux"))
        if value is not None:
            found.append((f"{where}: best of ours / best of Linux", value, f">= {BEST:.2f}",
                          value >= BEST))
    median = result.get("emulator", {}).get("median", {})
    for kind in ("memif", "veth"):
        if f"{kind}_gbit" in median:
            found.append((f"emulator over {kind}, 1500 bytes, one core, Gbit/s",
                          median[f"{kind}_gbit"], ">= 2", median[f"{kind}_gbit"] >= 2))
        for load, name in (("2g", "at 2 Gbit/s"), ("1m", "at 1 Mbit/s")):
            value = median.get(f"{kind}_late_us_{load}")
            if value is not None:
                found.append((f"emulator over {kind}, late {name}, median, us", value, "< 50",
                              value < 50))
    return found


def emulator_table(emulator):
    m = emulator["median"]
    lines = ["| ports | Gbit/s at most | frames/s at most | late at 2 Gbit/s: median, 99 % "
             "| late at 1 Mbit/s: median, 99 % |", "|:--|--:|--:|--:|--:|"]
    for kind, name in (("memif", "memif"), ("veth", "AF_PACKET on veth")):
        if f"{kind}_gbit" not in m:
            continue
        lines.append(
            f"| {name} | {m[f'{kind}_gbit']:.1f} | {m[f'{kind}_mpps']:.2f} M "
            f"| {m[f'{kind}_late_us_2g']:.1f} us, {m[f'{kind}_late_us_2g_p99']:.1f} us "
            f"| {m[f'{kind}_late_us_1m']:.1f} us, {m[f'{kind}_late_us_1m_p99']:.1f} us |")
    return lines


def tables(result, each_run=True):
    info = result["machine"]
    lines = [f"`{result['command']}`, {info['date']}, {info.get('cpu', 'unknown CPU')}, "
             f"Linux {info['kernel']}.", ""]
    if result.get("emulator", {}).get("median"):
        lines += ["The emulator itself, one core, frames of 1514 bytes, everything included "
                  f"between two ports of one probe; median of {result['runs']}:", ""]
        lines += emulator_table(result["emulator"]) + [""]
    if result.get("tcp"):
        lines += [f"Goodput in Mbit/s, {result['rate']} bottleneck, a queue of one "
                  f"bandwidth-delay product, flows of {result['seconds']} s from their first "
                  f"byte; median of {result['runs']}:", ""]
        lines += tcp_table(result["tcp"]) + [""]
        if each_run:
            lines += ["Each run:", ""] + spread_table(result["tcp"]) + [""]
    found = bars(result)
    lines += [f"{sum(holds for *_, holds in found)} of {len(found)} bars hold."]
    lines += [f"\nMissed: {what}: {value:.3f}, wanted {limit}."
              for what, value, limit, holds in found if not holds]
    lines += [f"\nFailed: {what}: {why}" for what, why in result["failed"].items()]
    return "\n".join(lines) + "\n"


def plot(result, rtt, directory):
    """Goodput over loss, a bar per flow. Returns the file, or None."""
    losses = [loss for at, loss in cells(result["tcp"]) if at == rtt]
    svg = os.path.join(directory, f"wan-rtt{rtt:g}.svg")
    rows = []
    for i, loss in enumerate(losses):
        for k, (flow, colour) in enumerate(COLOURS.items()):
            value = goodput(result["tcp"], (rtt, loss), flow)
            if value is not None:
                rows.append(f"{i + (k - 1.5) * 0.2:.3f} {value:.3f} {colour}")
    keys = ", ".join(f'1/0 with boxes lc rgb {c} title "{TITLES[f]}"' for f, c in COLOURS.items())
    ticks = ", ".join(f'"{loss:g} %%" {i}' for i, loss in enumerate(losses))
    newline = "\n"
    script = f"""set terminal svg size 800,420 font "sans,13" background "white"
set output "{svg}"
set title "Goodput of one flow, bottleneck {result['rate']}, round trip {rtt:g} ms, median of {result['runs']}"
set ylabel "Mbit/s"
set xlabel "frames lost at random"
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set xrange [-0.6:{len(losses) - 0.4}]
set xtics ({ticks}) scale 0
set style fill solid 0.9
set boxwidth 0.18
set grid ytics
set key outside right top
$data << EOD
{newline.join(rows)}
EOD
plot $data using 1:2:3 with boxes lc rgb variable notitle, {keys}, \\
     $data using 1:2:(sprintf("%.0f", $2)) with labels offset 0,0.6 font ",10" notitle
"""
    done = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True, check=False)
    if done.returncode == 0:
        return svg
    print(done.stderr, file=sys.stderr)
    return None


def write(result, directory):
    """Tables to wan.md, a plot per RTT. Returns the tables."""
    out = tables(result)
    with open(os.path.join(directory, "wan.md"), "w", encoding="utf-8") as file:
        file.write(out)
    if shutil.which("gnuplot"):
        for rtt in sorted({r["rtt"] for r in result.get("tcp", [])}):
            plot(result, rtt, directory)
    return out


DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
BEGIN, END = (f"<!-- scripts/bench wan --docs: {x} -->" for x in ("begin", "end"))


def medians(result):
    """The same with one entry for each flow of each cell, the median of its runs, and no more."""
    kept = {k: v for k, v in result.items() if k not in ("commands", "tcp", "emulator")}
    kept["tcp"] = []
    for cell in cells(result.get("tcp", [])):
        for flow in COLOURS:
            of = [r for r in result["tcp"] if (r["rtt"], r["loss"]) == cell and r["flow"] == flow]
            if of:
                kept["tcp"].append({
                    "rtt": cell[0], "loss": cell[1], "flow": flow, "runs": len(of),
                    "mbit": statistics.median(r["mbit"] for r in of),
                    "retransmits": statistics.median(r["retransmits"] for r in of)})
    if result.get("emulator", {}).get("median"):
        kept["emulator"] = {"median": result["emulator"]["median"]}
    return kept


def publish(result):
    """Tables into docs/wan.md, between its two marks; plots and the medians into docs/plots."""
    result = medians(result)
    page, plots = os.path.join(DOCS, "wan.md"), os.path.join(DOCS, "plots")
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    drawn = [plot(result, rtt, plots) for rtt in sorted({r["rtt"] for r in result.get("tcp", [])})]
    images = "\n".join(f"![goodput against loss](plots/{os.path.basename(f)})" for f in drawn if f)
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"{before}{BEGIN}\n\n{tables(result, each_run=False)}\n{images}\n\n{END}{rest.split(END)[1]}")
    with open(os.path.join(plots, "wan.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


def main():
    docs, name = "--docs" in sys.argv[1:], sys.argv[-1]
    with open(name, encoding="utf-8") as saved:
        result = json.load(saved)
    print(write(result, os.path.dirname(os.path.abspath(name))))
    if docs:
        publish(result)


if __name__ == "__main__":
    main()
