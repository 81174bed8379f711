# SPDX-License-Identifier: BSD-2-Clause
"""
iWARP over the host's own TCP (port = kernel) beside that TCP alone, over loopback and over a veth
pair, in turns in one run; and 64 processes of the host, each connected to each. Exit status 1 when
a bar is missed. The raw figures are in out/bench/host.json.
"""

import argparse
import contextlib
import json
import os
import statistics

import measure
from programs import Failure, end, verdict, workplace
from veth import Veth

# Of a mesh: processes, rounds of data, its first TCP port.
PROCESSES, ROUNDS, MESH_PORT = 64, 10, 23000

# Over what; what is measured; how it must be to the kernel's own figure, or alone; what it says.
BARS = (
    ("loopback", "latency", "above", 1.5, "8-byte Send, one way: us more than TCP's, loopback"),
    ("veth", "latency", "above", 1.5, "8-byte Send, one way: us more than TCP's, veth"),
    ("loopback", "bandwidth", "ratio", 0.8, "1 MiB Writes: to iperf3, loopback"),
    ("veth", "bandwidth", "shown", None, "1 MiB Writes: to iperf3, veth"),
    ("loopback", "rate", "least", 1.5, "8-byte Writes, M/s, loopback"),
    ("veth", "rate", "least", 1.5, "8-byte Writes, M/s, veth"),
)
MESH = f"{PROCESSES} processes, each connected to each: queue pairs with verified data"


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench host", description=__doc__)
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--only", default="loopback,veth,mesh", metavar="LIST",
                   help="some of loopback,veth,mesh")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    if a.runs < 1:
        p.error("--runs: at least 1")
    a.only = a.only.split(",")
    return a


class Loopback(contextlib.nullcontext):
    """In the place of a veth pair: both ends where we are."""

    address, server, client = "127.0.0.1", None, None


class OnHost(measure.Ours):
    """perftest over the host's own TCP, with CRC."""

    def __init__(self, runner, work, cores, build, path):
        super().__init__(runner, work, cores, build)
        self.address, self.namespaces = path.address, (path.server, path.client)

    def _port(self, side):
        return ["port=kernel"]


def measure_path(name, parts, runs):
    """A run: each figure right beside what it is compared with."""
    ours, kernel = parts
    for what, measured, compared in (
            ("latency", lambda: ours.send_latency()["our_send_lat_typical"], kernel.latency),
            ("bandwidth", ours.bandwidth, kernel.bandwidth),
            ("rate", lambda: ours.write_rate()["our_write_rate_8"], kernel.rate)):
        for whose, function in (("tcp", compared), ("ours", measured)):
            runs.setdefault(f"{name}_{what}_{whose}", []).append(function())


def measure_mesh(runner, build, runs):
    """The program verifies what it gets, and says so in its last line."""
    command = [os.path.join(build, "tools", "uiwarp"), "run", "--set", "port=kernel", "--",
               os.path.join(build, "tests", "mesh", "mesh"), PROCESSES, "127.0.0.1", MESH_PORT, ROUNDS]
    text = runner.finish(runner.start(command, None, "mesh"))
    qps = PROCESSES * (PROCESSES - 1)
    if f"{PROCESSES} processes, {qps} QPs, {ROUNDS} rounds: all of it verified" not in text:
        raise Failure(f"the mesh does not say that all is verified: {text.strip()[-200:]!r}")
    runs["mesh_qps"] = [qps]


def compared(how, pairs):
    """Of a run's figure and the one beside it."""
    if how == "least":
        return statistics.median(ours for ours, _ in pairs)
    return statistics.median(ours - tcp if how == "above" else ours / tcp for ours, tcp in pairs)


def judge(runs):
    """How many bars are missed; what was not measured misses none."""
    missed = 0
    for path, what, how, bar, text in BARS:
        pairs = list(zip(runs.get(f"{path}_{what}_ours", ()), runs.get(f"{path}_{what}_tcp", ())))
        if not pairs:
            print(f"  ----  {text}: not measured")
            continue
        value = compared(how, pairs)
        if how == "shown":
            print(f"        {text}: {value:.2f}")
            continue
        good = value <= bar if how == "above" else value >= bar
        missed += not good
        print(f"  {'PASS' if good else 'MISS'}  {text}: {value:.2f}, "
              f"{'at most' if how == 'above' else 'at least'} {bar}")
    if "mesh_qps" in runs:
        print(f"  PASS  {MESH}: {runs['mesh_qps'][0]}")
    else:
        print(f"  ----  {MESH}: not measured")
    return missed


def measure_paths(runner, work, cores, args, runs):
    paths = {"loopback": Loopback(), "veth": Veth()}
    missing = Veth.missing() if "veth" in args.only else "not asked for"
    if missing:
        print(f"  veth: skipped, {missing}")
        del paths["veth"]
    for name, path in paths.items():
        if name not in args.only:
            continue
        with path:
            parts = (OnHost(runner, work, cores, args.build, path),
                     measure.Kernel(runner, cores, args.build, path))
            for run in range(args.runs):
                measure_path(name, parts, runs)
                print(f"  {name}, run {run + 1} of {args.runs}: " + ", ".join(
                    f"{k.removeprefix(name + '_')} {v[-1]:.4g}" for k, v in runs.items()
                    if k.startswith(name)), flush=True)


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    runs, failed = {}, 0
    # On a busy machine thousands of connections take their time.
    with workplace(args.out, "logs-host", limit=500) as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}; us one way, Gbit/s, M/s")
        for part in (lambda: measure_paths(runner, work, cores, args, runs),
                     lambda: "mesh" in args.only and measure_mesh(runner, args.build, runs)):
            try:
                part()
            except (Failure, OSError, KeyError, ValueError) as e:
                failed = 1
                print(f"FAILED: {e}")
                runner.stop_all()
    with open(os.path.join(args.out, "host.json"), "w", encoding="utf-8") as file:
        json.dump({"load_average": os.getloadavg()[0], "runs": runs, "commands": runner.commands},
                  file, indent=1)
    return verdict(judge(runs), failed)


if __name__ == "__main__":
    end(main)
