# SPDX-License-Identifier: BSD-2-Clause
"""Measures everything in one run, on the same two cores, and says what came out."""

import argparse
import contextlib
import json
import os

import history
import measure
import metrics
import pages
import report
from machine import machine
from programs import Failure, end, verdict, workplace
from veth import Veth


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one run of each instead of five")
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--only", default="raw,ours,idle,connections,qps,kernel,libfabric,ucx", metavar="LIST",
                   help="some of raw,ours,idle,connections,qps,kernel,libfabric,ucx")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    p.add_argument("--history", default=history.FILE, metavar="FILE",
                   help="where the medians of a whole run are added (default bench/history.jsonl, "
                   "from which docs/performance.md is made; none: empty)")
    a = p.parse_args()
    a.runs = 1 if a.quick else a.runs
    if a.runs < 1:
        p.error("--runs: at least 1")
    a.only = a.only.split(",")
    return a


class Session:
    """Figures as they come; what fails or cannot be is remembered and the rest goes on."""

    def __init__(self, runner, placement):
        self.runner, self.placement = runner, placement
        self.runs, self.failed, self.skipped = {}, {}, {}
        # Beside each figure how near the cores were, or None where that does not matter.
        self.lines = {}

    def skip(self, what, why):
        if what not in self.skipped:
            print(f"  {what}: skipped, {why}", flush=True)
        self.skipped[what] = why

    def take(self, what, function, *args):
        print(f"  {what} ...", end=" ", flush=True)
        try:
            figures = function(*args)
        except (Failure, OSError, KeyError, IndexError, ValueError) as e:
            print(f"FAILED: {e}", flush=True)
            self.failed[what] = str(e)
            return
        finally:
            self.runner.stop_all()
        print(", ".join(f"{k} {v:.4g}" for k, v in figures.items()), flush=True)
        for name, value in figures.items():
            self.runs.setdefault(name, []).append(value)
            self.lines.setdefault(name, []).append(figures.get("core_line"))

    def take_steady(self, what, function):
        """The same of what passes between the two cores, while these stay where they are."""
        self.take(what, self.placement.steady, function)

    def apart(self):
        """Of each metric the runs that count, with the cores near, and the others."""
        both = {name: metrics.apart(values, self.lines[name], self.placement.ANOTHER)
                for name, values in self.runs.items()}
        return ({name: near for name, (near, _) in both.items()},
                {name: far for name, (_, far) in both.items() if far})


def one_run(session, only, parts, cores):
    for name in ("raw", "ours", "connections", "qps"):
        if name not in only:
            continue
        missing = parts[name].missing()
        if missing:
            session.skip(name, missing)
        elif name == "ours":
            measure_ours(session, parts, cores)
        elif name == "raw":
            session.take_steady(name, parts[name].measure)
        else:
            session.take(name, parts[name].measure)
    if "idle" in only and not parts["ours"].missing():
        session.take("idle", parts["ours"].measure_idle)
    for name in ("kernel", "libfabric", "ucx"):
        if name in only and name in parts:
            missing = parts[name].missing() if name != "kernel" else None
            if missing:
                session.skip(name, missing)
            else:
                session.take_steady(name, parts[name].measure)


def beside_port(raw, operation, function):
    """A latency, and what the bare port needs meanwhile."""
    if raw.missing():
        return function
    return lambda: {f"raw_lat_beside_{operation}": raw.latency(count=50000), **function()}


def measure_ours(session, parts, cores):
    raw, ours, large = parts["raw"], parts["ours"], parts["large"]
    for program, function in (("ib_send_lat", beside_port(raw, "send", ours.send_latency)),
                              ("ib_read_lat", beside_port(raw, "read", ours.read_latency)),
                              ("ib_write_lat", ours.write_latency),
                              ("ib_write_bw, 8 B", ours.write_rate),
                              ("ib_write_bw, 8 B, lists of 16", ours.write_lists_rate),
                              ("ib_write_bw, 1 MiB", ours.write_bandwidth),
                              ("ib_write_bw, 1 MiB, MTU 9000", large.write_bandwidth)):
        session.take_steady(program, function)
    if len(cores) >= 4:
        session.take("ib_write_lat with two cores each", ours.measure_apart, cores)
    else:
        session.skip("ib_write_lat with two cores each", "needs four cores")


def measure_all(args, session, work, cores):
    runner, build = session.runner, os.path.abspath(args.build)
    parts = {"raw": measure.Raw(runner, work, cores, build),
             "ours": measure.Ours(runner, work, cores, build),
             "large": measure.Ours(runner, work, cores, build, mtu=9000),
             "connections": measure.Connections(runner, cores, build)}
    parts["qps"] = measure.Qps(parts["ours"], build)
    with contextlib.ExitStack() as stack:
        missing = Veth.missing()
        if not missing:
            veth = stack.enter_context(Veth())
            parts["kernel"] = measure.Kernel(runner, cores, build, veth)
            parts["libfabric"] = measure.Libfabric(runner, cores, veth)
            parts["ucx"] = measure.Ucx(runner, cores, veth)
        elif {"kernel", "libfabric", "ucx"} & set(args.only):
            session.skip("kernel, libfabric, ucx", missing)
        for run in range(args.runs):
            print(f"run {run + 1} of {args.runs}", flush=True)
            one_run(session, args.only, parts, cores)


def save(args, session, info):
    near, far = session.apart()
    median = metrics.medians(near)
    info["load_average_at_end"] = os.getloadavg()[0]
    result = {"machine": info, "median": median, "runs": near, "far": far, "lines": session.lines,
              "units": {name: metrics.METRICS[name][1] for name in median},
              "bars": metrics.judge(median), "skipped": session.skipped,
              "failed": session.failed, "commands": session.runner.commands}
    stamp = info["date"].replace(":", "").replace("+0000", "Z")
    for name in (f"bench-{stamp}.json", "bench.json"):
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    return result


def remember(args, result):
    """Add a whole run to the history, and make of it what docs/performance.md shows."""
    if not args.history or not history.is_whole(result["median"]):
        return []
    history.add(args.history, result, args.runs)
    if os.path.abspath(args.history) != os.path.abspath(history.FILE):
        return [args.history]
    return [args.history, *pages.publish()]


def main():
    args = arguments()
    with workplace(args.out, "logs") as (runner, work, cores):
        info = machine(cores, os.path.abspath(args.build))
        print(f"{info.get('cpu', 'unknown CPU')}, Linux {info['kernel']}, cores {cores[0]} and "
              f"{cores[1]}, build {history.build_of(info)}")
        if info["load_average"] > 0.5:
            print(f"note: the machine is busy (load {info['load_average']:.1f}): "
                  "figures will be worse than they could be")
        placement = measure.Placement(runner, cores, os.path.abspath(args.build))
        session = Session(runner, placement)
        measure_all(args, session, work, cores)
    result = save(args, session, info)
    print(report.table(result))
    files = report.plots(result, args.out) + remember(args, result)
    print("\nwritten:", ", ".join(os.path.relpath(f) for f in
                                  [os.path.join(args.out, "bench.json")] + files))
    print(f"commands: in {os.path.relpath(os.path.join(args.out, 'bench.json'))}, "
          f"outputs in {os.path.relpath(os.path.join(args.out, 'logs'))}/")
    missed = any(bar["verdict"] == "MISS" for bar in result["bars"])
    return verdict(missed, session.failed)


if __name__ == "__main__":
    end(main)
