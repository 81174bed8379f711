# SPDX-License-Identifier: BSD-2-Clause
"""
Times of messages under load: 64-byte and 4-KiB Sends at 10 to 95 % of the rate that saturates, over one
queue pair and over 64, beside the same over the kernel's TCP and over UCX tcp, and over the port alone, at the
rates of ours and at shares of its own. The raw figures are in out/bench/load.json, a plot is out/bench/load.svg. Exit status 2:
something failed.
"""

import argparse
import json
import os
import statistics
import sys

import load_report
import measure
from load_report import TEXTS
from programs import Failure, end, listens, verdict, workplace
from veth import Veth

SIZES, CONNECTIONS = (64, 4096), (1, 64)
# Of the rate that saturates.
SHARES = (0.10, 0.25, 0.50, 0.75, 0.90, 0.95)
# Ten messages are beyond the last of the quantiles.
LEAST = 100000
# What fills a rate's queues, and what does not take minutes.
SATURATING = {64: 400000, 4096: 100000}


def numbers(text):
    return [int(word) for word in text.split(",")]


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench load", description=__doc__)
    p.add_argument("--seconds", type=float, default=2, metavar="S", help="of each rate (default 2)")
    p.add_argument("--only", default=",".join(TEXTS), metavar="LIST", help=f"some of {','.join(TEXTS)}")
    p.add_argument("--sizes", type=numbers, default=SIZES, metavar="LIST", help="of messages, in bytes")
    p.add_argument("--connections", type=numbers, default=CONNECTIONS, metavar="LIST", help="how many")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    if a.seconds <= 0:
        p.error("--seconds: more than 0")
    a.only = a.only.split(",")
    return a


def figures(runner, receiver, sender):
    """When both have ended: the receiver's, and how late the sender was with its messages."""
    text = runner.finish(sender)
    late = {f"late_{name}": value for name, value in measure.json_in(text).items() if name.startswith("us_")}
    return {**measure.json_in(runner.finish(receiver)), **late}


class OverVerbs:
    """The program of verbs, on a stack for each side."""

    def __init__(self, runner, work, cores, build):
        self.ours = measure.Ours(runner, work, cores, build)
        self.program = os.path.join(build, "bench", "load")

    def run(self, options, sender):
        command = [self.program, *options]
        s, c = self.ours.start("load", command, [*command, *sender, self.ours.address])
        return figures(self.ours.runner, s, c)


class OverPort:
    """The same program over frames of a port, as the stack drives it: what the machine takes."""

    def __init__(self, runner, work, cores, build):
        self.runner, self.cores = runner, cores
        self.socket = os.path.join(work, "load")
        self.program = os.path.join(build, "bench", "load_port")

    def _device(self, role):
        return f"net_memif0,role={role},socket={self.socket},socket-abstract=no"

    def run(self, options, sender):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        s = self.runner.start([self.program, *options, "-p", self._device("server")], self.cores[0], "port-receiver")
        self.runner.wait_until(lambda: os.path.exists(self.socket), s)
        c = self.runner.start([self.program, *options, *sender, self._device("client")], self.cores[1],
                              "port-sender")
        return figures(self.runner, s, c)


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
        return figures(self.runner, s, c)


def saturate(over, options, size):
    """Messages a second, of a sender that never waits: the median of three."""
    return statistics.median(over.run(options, ["-n", str(SATURATING[size])])["per_second"] for _ in range(3))


def measure_case(over, size, connections, seconds, most=None):
    """The rate that saturates, unless it is given, and the quantiles at shares of it."""
    options = ["-q", str(connections), "-l", str(size)]
    most = most or saturate(over, options, size)
    rows = []
    for share in SHARES:
        rate = max(int(most * share), 1)
        count = max(int(rate * seconds), LEAST)
        rows.append({"share": share, **over.run(options, ["-n", str(count), "-r", str(rate)])})
    return {"size": size, "connections": connections, "per_second": most, "rows": rows}


def make_all(runner, work, cores, args, veth):
    """What is to be measured, by name. Ours comes before the port, which has its rates."""
    made = {}
    for name in TEXTS:
        if name not in args.only:
            continue
        if name == "verbs":
            made[name] = OverVerbs(runner, work, cores, args.build)
        elif name in ("port", "bare"):
            made[name] = OverPort(runner, work, cores, args.build)
        else:
            made[name] = OverKernel(runner, cores, args.build, veth, name)
    return made


def is_wanted(name, connections, args):
    """A port knows no connections: by shares of its own it is measured once for each size."""
    return name != "bare" or connections == args.connections[0]


def measure_all(runner, work, cores, args, cases, failed):
    with Veth() as veth:
        over = make_all(runner, work, cores, args, veth)
        for size in args.sizes:
            for connections in args.connections:
                most = None
                for name, transport in over.items():
                    if not is_wanted(name, connections, args):
                        continue
                    try:
                        case = measure_case(transport, size, connections, args.seconds,
                                            most if name == "port" else None)
                    except Failure as e:
                        failed.append(f"{TEXTS[name]}, {load_report.title(size, connections)}: {e}")
                        print(f"FAILED: {failed[-1]}", flush=True)
                        runner.stop_all()
                        continue
                    most = most or case["per_second"]
                    cases.append({"transport": name, **case})
                    print("\n".join(["", *load_report.table(cases[-1:])]), flush=True)


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    cases, echo, failed = [], {}, []
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
                   "cases": cases}, file, indent=1)
    load_report.plot(cases, os.path.join(args.out, "load.svg"))
    return verdict(False, failed)


if __name__ == "__main__":
    end(main)
