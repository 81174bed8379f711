# SPDX-License-Identifier: BSD-2-Clause
"""
What telemetry costs: perftest over memif with it off, on, and asked once a second, in turns; and
`uiwarp top` of 10,000 queue pairs: processor time of both processes for a screen, and how long it
holds the engine. Exit status 1 when a bar is missed. The raw figures are in out/bench/telemetry.json.
"""

import argparse
import json
import math
import os
import pty
import socket
import statistics
import sys
import threading
import time

import measure
from programs import Failure, child_of, workplace

VARIANTS = ("off", "on", "asked")
# What a table needs of a process, as `uiwarp stat` and `top` ask for it.
ASKED = ("/uiwarp/info", "/uiwarp/qps", "/uiwarp/connections")
QPS = 10000
SCREENS = 20

# A part of the rate with telemetry off, in the median of neighbours.
LEAST_RATIO = 0.995
RATIOS = (
    ("rate", "on", "8-byte Writes, nobody asks"),
    ("rate", "asked", "8-byte Writes, asked once a second"),
    ("bandwidth", "on", "1 MiB Writes, nobody asks"),
    ("bandwidth", "asked", "1 MiB Writes, asked once a second"),
)
# Figure, at most, what it says.
LIMITS = (
    ("own_share", 0.5, "asked once a second: the part of a core that telemetry's thread takes, %"),
    ("process_ms", 100, f"a screen of {QPS} QPs: the process's time, ms"),
    ("top_ms", 100, "... uiwarp top's own time, ms"),
    ("hold_us", 50, "... the longest that the engine was held at a time, us of processor time"),
)
# Interrupts and waiting threads are in a hold. Slices of nothing beside it tell what they do.
HOLDS = 50000


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench telemetry", description=__doc__)
    p.add_argument("--runs", type=int, default=9, metavar="N", help="of each; the median (default 9)")
    p.add_argument("--quick", action="store_true", help="three runs")
    p.add_argument("--only", default="cost,qps", metavar="LIST", help="some of cost,qps")
    p.add_argument("--build", default="build", metavar="DIR", help="where uiwarp is built")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    a.runs = 3 if a.quick else a.runs
    if a.runs < 1:
        p.error("--runs: at least 1")
    return a


class Client:
    """Asks one process, as docs/telemetry.md says."""

    def __init__(self, pid):
        if os.geteuid() == 0:
            directory = "/run/uiwarp"
        elif "XDG_RUNTIME_DIR" in os.environ:
            directory = os.path.join(os.environ["XDG_RUNTIME_DIR"], "uiwarp")
        else:
            directory = f"/tmp/uiwarp-{os.geteuid()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(os.path.join(directory, f"telemetry.{pid}"))
        self.room = json.loads(self.socket.recv(65536))["max_output_len"]

    def ask(self, command):
        self.socket.send(command.encode())
        text = self.socket.recv(self.room)
        if not text:
            raise ConnectionResetError
        (answer,) = json.loads(text).values()
        return answer

    def ask_all(self, command):
        """All pages."""
        answer = self.ask(command)
        while "next" in answer:
            answer = self.ask(f"{command},{answer['next']}")

    def own_costs(self):
        info = self.ask("/uiwarp/info")
        return {**info["telemetry"], "uptime_ns": info["uptime_ns"]}

    def close(self):
        self.socket.close()


class Poller(threading.Thread):
    """Asks a process once a second until it ends."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.client = Client(pid)
        self.first = self.last = self.client.own_costs()
        self.start()

    def run(self):
        try:
            while True:
                time.sleep(1)
                for command in ASKED:
                    self.client.ask_all(command)
                self.last = self.client.own_costs()
        except OSError:
            self.client.close()

    def share(self):
        """Processor time of telemetry's thread in the time that it was asked, in %."""
        spent = {k: self.last[k] - self.first[k] for k in ("cpu_ns", "uptime_ns")}
        return 100 * spent["cpu_ns"] / spent["uptime_ns"] if spent["uptime_ns"] else None


class Watched(measure.Ours):
    """perftest for some seconds, perhaps asked meanwhile."""

    def __init__(self, *args, variant):
        settings = ["telemetry=off"] if variant == "off" else []
        super().__init__(*args, settings={"server": settings, "client": settings})
        self.asked, self.pollers = variant == "asked", []

    def start(self, name, server, client, cores=None):
        s, c = super().start(name, server, client, cores)
        if self.asked:
            self.pollers = [self._poller(process, server[0]) for process in (s, c)]
        return s, c

    def _poller(self, process, program):
        poller = []

        def connected():
            pid = child_of(process, program)
            try:
                poller[:] = [Poller(pid)] if pid else []
            except OSError:
                return False
            return bool(poller)

        self.runner.wait_until(connected, process, what="cannot be asked")
        return poller[0]

    def shares(self):
        for poller in self.pollers:
            poller.join(10)
        return [share for poller in self.pollers if (share := poller.share()) is not None]

    def measure(self, what):
        """M/s or Gbit/s."""
        size = "8" if what == "rate" else "1048576"
        options = ["-s", size, "-D", "5", "-f", "1", "--report_gbits"]
        for _ in range(3):
            rate = self._perftest("ib_write_bw", options)[4 if what == "rate" else 3]
            # On a busy machine its timers come late, and it has counted nothing.
            if rate > 0:
                return rate
        raise Failure("ib_write_bw counted nothing: the machine is busy")


def measure_costs(runner, work, cores, args, runs):
    for number in range(args.runs):
        for what in ("rate", "bandwidth"):
            # Each variant comes first as often as the others.
            for step in range(len(VARIANTS)):
                variant = VARIANTS[(number + step) % len(VARIANTS)]
                ends = Watched(runner, work, cores, args.build, variant=variant)
                runs.setdefault(f"{what}_{variant}", []).append(ends.measure(what))
                runs.setdefault("own_share", []).extend(ends.shares())
        print(f"  run {number + 1} of {args.runs}: " + ", ".join(
            f"{k} {v[-1]:.4g}" for k, v in runs.items() if v), flush=True)


def watch(uiwarp, pid, core, shown):
    """
    Have uiwarp top show the process in a terminal of its own. Its time for a screen, in ms. After
    each screen shown() is called.
    """
    child, terminal = pty.fork()
    if child == 0:
        os.sched_setaffinity(0, {core})
        os.execv(uiwarp, ["uiwarp", "top", "--interval", "0.5", str(pid)])
    screens, rest = 0, b""
    try:
        while screens < SCREENS:
            text = rest + os.read(terminal, 65536)
            if b"\033[H" in text:
                screens += text.count(b"\033[H")
                shown()
            rest = text[-2:]
        os.write(terminal, b"x")
        while os.read(terminal, 65536):
            pass
    except OSError:
        pass  # the end of a terminal
    _, status, usage = os.wait4(child, 0)
    if status or screens < SCREENS:
        raise Failure(f"uiwarp top ended with status {os.waitstatus_to_exitcode(status)}")
    return 1000 * (usage.ru_utime + usage.ru_stime) / screens


def measure_qps(runner, work, cores, args, runs):
    ends = measure.Ours(runner, work, cores, args.build)
    program = os.path.join(args.build, "bench", "qps")
    s, c = ends.start("qps", [program, "-n", QPS], [program, "-n", QPS, "-w", ends.address])
    runner.wait_until(lambda: '"qps"' in runner.output(c), c, 300, "has not connected all")
    client = Client(child_of(s, "qps"))
    before = client.own_costs()
    # The same slices of nothing, as often and at the same time.
    idle = runner.start([os.path.join(args.build, "bench", "holds"), "-n", HOLDS], cores[0], "holds")
    seen = [before]
    runs["top_ms"] = [watch(ends.uiwarp, child_of(s, "qps"), cores[1],
                            lambda: seen.append(client.own_costs()))]
    after = client.own_costs()
    runs["process_ms"] = [(after["cpu_ns"] - before["cpu_ns"]) / 1e6 / SCREENS]
    runs["hold_us"] = [after["longest_hold_ns"] / 1e3]
    runs["elapsed_us"] = [after["longest_elapsed_ns"] / 1e3]
    # Each screen reads the same lists by the same code: what is long by itself is so in all.
    runs["clean_screens"] = [sum(b["long_holds"] == a["long_holds"] and b["slices"] - a["slices"] >= QPS // 256
                                 for a, b in zip(seen, seen[1:]))]
    own = measure.json_in(runner.finish(idle))
    runs["machine_hold_us"] = [own["longest_ns"] / 1e3]
    runs["machine_long"] = [1000 * own["long"] / HOLDS]
    runs["long"] = [1000 * (after["long_holds"] - before["long_holds"]) /
                    (after["slices"] - before["slices"])]
    runs["slices"] = [(after["slices"] - before["slices"]) / SCREENS]
    client.close()
    runner.stop(c)
    runner.stop(s)


def interval(values):
    """Where the median lies at 95 % or more, whatever the distribution; all of few values."""
    values, n, below, cut = sorted(values), len(values), 0, 0
    while cut < n // 2:
        below += math.comb(n, cut) / 2 ** n
        if below > 0.025:
            break
        cut += 1
    cut = max(cut - 1, 0)
    return values[cut], values[n - 1 - cut]


def judge_ratio(runs, what, variant, text):
    """1 if the bar is missed. What the runs' own scatter can explain misses none, and is said."""
    if f"{what}_{variant}" not in runs:
        print(f"  ----  {text}: not measured")
        return 0
    ratios = [a / b for a, b in zip(runs[f"{what}_{variant}"], runs[f"{what}_off"])]
    median, (low, high) = statistics.median(ratios), interval(ratios)
    verdict = "PASS" if median >= LEAST_RATIO else "MISS" if high < LEAST_RATIO else "----"
    print(f"  {verdict}  {text}: {100 * median:.2f} % of the rate without, between {100 * low:.2f} "
          f"and {100 * high:.2f}, at least {100 * LEAST_RATIO}"
          f"{'; too much scatter to say' if verdict == '----' else ''}")
    return verdict == "MISS"


def judge(runs):
    missed = sum(judge_ratio(runs, *ratio) for ratio in RATIOS)
    for name, limit, text in LIMITS:
        if not runs.get(name):
            print(f"  ----  {text}: not measured")
            continue
        value, note = max(runs[name]), ""
        verdict = "PASS" if value <= limit else "MISS"
        if name == "hold_us" and value > limit and runs["clean_screens"][0]:
            verdict = "PASS"
            note = (f"; but in {runs['clean_screens'][0]} of {SCREENS} screens, which are read "
                    "alike, none was beyond that: it was an interrupt")
        elif name == "hold_us" and value > limit and runs["machine_hold_us"][0] > limit:
            # A machine on which nothing takes that long says nothing.
            verdict, note = "----", "; with nothing to do it is beyond that here too"
        missed += verdict == "MISS"
        print(f"  {verdict}  {text}: {value:.3g}, at most {limit:.3g}{note}")
    for name, text in (("elapsed_us", "the longest hold by the clock, other threads in it, us"),
                       ("clean_screens", f"screens of {SCREENS} without a longer hold"),
                       ("long", "holds of 1000 that are longer than that"),
                       ("machine_hold_us", "the longest of slices in which nothing is done, us"),
                       ("machine_long", "of 1000 of these longer than a hold may be")):
        if name in runs:
            print(f"        {text}: {runs[name][0]:.3g}")
    return missed


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    runs, failed = {}, 0
    with workplace(args.out, "logs-telemetry", limit=300) as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}; rates in M/s and Gbit/s")
        for name, part in (("cost", measure_costs), ("qps", measure_qps)):
            try:
                if name in args.only.split(","):
                    part(runner, work, cores, args, runs)
            except (Failure, OSError, KeyError, ValueError) as e:
                failed = 1
                print(f"FAILED: {name}: {e}")
    with open(os.path.join(args.out, "telemetry.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=1)
    return 1 if judge(runs) + failed else 0


if __name__ == "__main__":
    sys.exit(main())
