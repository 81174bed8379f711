# SPDX-License-Identifier: BSD-2-Clause
"""
Who drives, and what it costs: a target whose application polls, computes, sleeps or spins on
memory, with one core for each process or two for both, asked for latency, rate and bandwidth. For
each the share of a core that the application's thread and the engine's thread had, on both sides.
Exit status 1 when a bar is missed. The raw figures are in out/bench/progress.json.
"""

import argparse
import json
import os
import statistics

import measure
from programs import Failure, end, verdict, workplace

MODES = ("polling", "computing", "sleeping", "spinning")
TESTS = ("latency", "rate", "bandwidth")

# Application, cores, test, figure, at most, what it says.
BARS = (
    ("spinning", 1, "latency", "us_p50", 2 * 100,
     "Writes there and back between programs that spin on memory, one core each"),
    ("computing", 1, "latency", "us_p99", 100, "Reads from a program that computes, one core each"),
    ("computing", 2, "latency", "us_p99", 100, "Reads from a program that computes, two cores"),
)


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench progress", description=__doc__)
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--seconds", type=int, default=1, metavar="S", help="of each (default 1)")
    p.add_argument("--modes", default=",".join(MODES), metavar="LIST")
    p.add_argument("--tests", default=",".join(TESTS), metavar="LIST")
    p.add_argument("--build", action="append", metavar="DIR",
                   help="where uiwarp is built; more than one: they take turns")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    a.build = [os.path.abspath(b) for b in a.build or ["build-release"]]
    return a


def one(runner, work, cores, case, build, seconds):
    """One run. Returns the client's figures with both sides' shares."""
    mode, count, test = case
    program = os.path.join(build, "bench", "progress")
    if not os.access(program, os.X_OK):
        program = os.path.join("build-release", "bench", "progress")
    ours = measure.Ours(runner, work, cores, build)
    if mode == "spinning" and test == "latency":
        test = "spin"
    both = f"{cores[0]},{cores[1]}"
    s, c = ours.start(f"{mode}-{test}", [program, mode],
                      [program, "-t", seconds, test, ours.address],
                      cores[:2] if count == 1 else (both, both))
    client = measure.json_in(runner.finish(c))
    target = measure.json_in(runner.finish(s))
    return {**client, "target_own": target["own"], "target_engine": target["engine"]}


def median(runs, name):
    values = [r[name] for r in runs if name in r]
    return statistics.median(values) if values else None


def line(case, build, runs):
    mode, count, test = case
    m = lambda name: median(runs, name)
    what = (f"{m('us_p50'):9.2f} us, p99 {m('us_p99'):9.2f}" if test == "latency" else
            f"{m('mmsg_s'):9.3f} M/s" if test == "rate" else f"{m('gbit_s'):9.2f} Gbit/s")
    return (f"{mode:10}{count:5}  {test:10}{what:27} client {m('own'):5.2f} + {m('engine'):4.2f}, "
            f"target {m('target_own'):4.2f} + {m('target_engine'):4.2f}  {build}")


def judge(results, build):
    """The bars that are missed, each said; those that were not measured are not judged."""
    missed = 0
    for mode, count, test, figure, most, text in BARS:
        runs = results.get((mode, count, test, build))
        if not runs:
            continue
        value = median(runs, figure)
        missed += value > most
        print(f"  {'MISS' if value > most else 'PASS'}  {text}: {figure[3:]} "
              f"{value:.1f} us, at most {most}")
    return missed


def measure_all(runner, work, cores, args, results):
    for case in [(m, n, t) for m in args.modes.split(",") for n in (1, 2)
                 for t in args.tests.split(",")]:
        for i in range(args.runs):
            for build in args.build[::1 if i % 2 == 0 else -1]:
                results.setdefault((*case, build), []).append(
                    one(runner, work, cores, case, build, args.seconds))
        for build in args.build:
            print(line(case, build if len(args.build) > 1 else "", results[(*case, build)]),
                  flush=True)


def main():
    args = arguments()
    results, failed = {}, False
    with workplace(args.out, "logs-progress") as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}; shares of a core: application's thread + engine's")
        try:
            measure_all(runner, work, cores, args, results)
        except Failure as e:
            failed = True
            print(f"FAILED: {e}")
    with open(os.path.join(args.out, "progress.json"), "w", encoding="utf-8") as file:
        json.dump({"runs": [{"application": k[0], "cores": k[1], "test": k[2], "build": k[3],
                             "figures": v} for k, v in results.items()],
                   "commands": runner.commands}, file, indent=1)
    missed = judge(results, args.build[-1])
    return verdict(missed, failed)


if __name__ == "__main__":
    end(main)
