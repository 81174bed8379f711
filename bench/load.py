# SPDX-License-Identifier: BSD-2-Clause
"""
Times of messages under load: 64-byte and 4-KiB Sends at 10 to 95 % of the rate that saturates, over one
queue pair and over 64, beside the same over the kernel's TCP and over UCX tcp, and the bare port's echo. The
raw figures are in out/bench/load.json, a plot is out/bench/load.svg. Exit status 2: something failed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

import measure
from programs import Failure, end, listens, verdict, workplace
from veth import Veth

SIZES, CONNECTIONS = (64, 4096), (1, 64)
# Of the rate that saturates.
SHARES = (0.10, 0.25, 0.50, 0.75, 0.90, 0.95)
QUANTILES = ("us_p50", "us_p99", "us_p999", "us_p9999")
# Ten messages are beyond the last of them.
LEAST = 100000
# What fills a rate's queues, and what does not take minutes.
SATURATING = {64: 1000000, 4096: 200000}
TEXTS = {"verbs": "uiwarp, Send over memif", "tcp": "kernel TCP over veth", "ucx": "UCX tcp over veth"}
COLOURS = {"verbs": "#2060c0", "tcp": "#d08030", "ucx": "#208040"}


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench load", description=__doc__)
    p.add_argument("--seconds", type=float, default=2, metavar="S", help="of each rate (default 2)")
    p.add_argument("--only", default=",".join(TEXTS), metavar="LIST", help="some of verbs,tcp,ucx")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    if a.seconds <= 0:
        p.error("--seconds: more than 0")
    a.only = a.only.split(",")
    return a


class OverVerbs:
    """The program of verbs, on a stack for each side."""

    def __init__(self, runner, work, cores, build):
        self.ours = measure.Ours(runner, work, cores, build)
        self.program = os.path.join(build, "bench", "load")

    def run(self, options, sender):
        command = [self.program, *options]
        s, c = self.ours.start("load", command, [*command, *sender, self.ours.address])
        self.ours.runner.finish(c)
        return measure.json_in(self.ours.runner.finish(s))


class OverKernel:
    """The same program over sockets, or over UCX, between two network namespaces."""

    def __init__(self, runner, cores, build, veth, transport):
        self.runner, self.cores, self.veth, self.transport = runner, cores, veth, transport
        self.program = os.path.join(build, "bench", "load")
        # What has ended holds its port for a minute.
        self.port = {"tcp": 7500, "ucx": 7600}[transport]

    def run(self, options, sender):
        self.port += 1
        env = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "veth0"} if self.transport == "ucx" else {}
        command = [self.program, "-t", self.transport, "-p", str(self.port), *options]
        s = self.runner.start(command, self.cores[0], f"{self.transport}-receiver", env, self.veth.server)
        self.runner.wait_until(lambda: listens(self.veth.server, self.port), s)
        c = self.runner.start([*command, *sender, self.veth.address], self.cores[1],
                              f"{self.transport}-sender", env, self.veth.client)
        self.runner.finish(c)
        return measure.json_in(self.runner.finish(s))


def measure_case(over, size, connections, seconds):
    """The rate that saturates, and the quantiles at shares of it."""
    options = ["-q", str(connections), "-l", str(size)]
    most = over.run(options, ["-n", str(SATURATING[size])])["per_second"]
    rows = []
    for share in SHARES:
        rate = max(int(most * share), 1)
        count = max(int(rate * seconds), LEAST)
        rows.append({"share": share, **over.run(options, ["-n", str(count), "-r", str(rate)])})
    return {"per_second": most, "rows": rows}


def show(name, size, connections, case):
    print(f"\n{TEXTS[name]}: {size} B, {connections} connection{'s' if connections > 1 else ''}, "
          f"at most {case['per_second'] / 1e6:.3f} M/s")
    print(f"  {'of that':>8} {'M/s':>8} {'p50':>10} {'p99':>10} {'p99.9':>10} {'p99.99':>10} {'longest':>10}  us")
    for row in case["rows"]:
        print(f"  {row['share']:8.0%} {row['per_second'] / 1e6:8.3f} " +
              " ".join(f"{row[q]:10.1f}" for q in (*QUANTILES, "us_max")), flush=True)


def plot(cases, path):
    """A panel for each size and number of connections; p50 drawn through, p99.9 broken."""
    panels = []
    for size in SIZES:
        for connections in CONNECTIONS:
            blocks, lines = [], []
            for name in TEXTS:
                case = cases.get((name, size, connections))
                if not case:
                    continue
                block = f"$d{len(blocks)}"
                blocks.append(f"{block} << EOD\n" + "\n".join(
                    f"{100 * r['share']} {r['us_p50']} {r['us_p999']}" for r in case["rows"]) + "\nEOD")
                lines += [f'{block} using 1:{column} with linespoints lc rgb "{COLOURS[name]}" dt {dash} '
                          f'title "{TEXTS[name]}, {what}"'
                          for column, dash, what in ((2, 1, "p50"), (3, 2, "p99.9"))]
            if lines:
                panels.append("\n".join(blocks) + f'\nset title "{size} B, {connections} connections"\n'
                              f"plot {', '.join(lines)}\n")
    script = f"""set terminal svg size 1100,800 font "sans,11" background "white"
set output "{path}"
set multiplot layout 2,2 title "One way under load (us), by share of the rate that saturates (%)"
set logscale y
set key left top font ",8"
set grid
{"".join(panels)}unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def measure_all(runner, work, cores, args, cases, failed):
    with Veth() as veth:
        over = {name: OverVerbs(runner, work, cores, args.build) if name == "verbs"
                else OverKernel(runner, cores, args.build, veth, name) for name in args.only}
        for size in SIZES:
            for connections in CONNECTIONS:
                for name, transport in over.items():
                    try:
                        case = measure_case(transport, size, connections, args.seconds)
                    except Failure as e:
                        failed.append(f"{TEXTS[name]}, {size} B, {connections} connections: {e}")
                        print(f"FAILED: {failed[-1]}", flush=True)
                        runner.stop_all()
                        continue
                    cases[(name, size, connections)] = case
                    show(name, size, connections, case)


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    cases, echo, failed = {}, {}, []
    unknown = set(args.only) - set(TEXTS)
    missing = f"nothing is called {unknown.pop()}" if unknown else Veth.missing()
    if missing:
        sys.exit(f"bench: load: {missing}")
    with workplace(args.out, "logs-load", limit=300) as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}")
        try:
            echo = measure.Raw(runner, work, cores, args.build).echo(count=1000000)
            print("the port alone, echo of 64 B, half a round trip: " + ", ".join(
                f"{q.removeprefix('rtt_us_')} {v / 2:.2f}" for q, v in echo.items() if q.startswith("rtt_us_")))
            measure_all(runner, work, cores, args, cases, failed)
        except (Failure, OSError, KeyError, ValueError) as e:
            failed.append(str(e))
            print(f"FAILED: {e}")
        commands = runner.commands
    with open(os.path.join(args.out, "load.json"), "w", encoding="utf-8") as file:
        json.dump({"load_average": os.getloadavg()[0], "echo": echo, "failed": failed, "commands": commands,
                   "cases": [{"transport": t, "size": s, "connections": c, **case}
                             for (t, s, c), case in cases.items()]}, file, indent=1)
    if cases and shutil.which("gnuplot"):
        plot(cases, os.path.join(args.out, "load.svg"))
    return verdict(False, failed)


if __name__ == "__main__":
    end(main)
