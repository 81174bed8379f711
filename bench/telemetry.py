# SPDX-License-Identifier: BSD-2-Clause
"""
What telemetry costs: Writes between two stacks of one process with it off, on, and asked, in turns
of a millisecond (telemetry.c); and `uiwarp top` of 10,000 queue pairs: processor time of both
processes for a screen, and how long it holds the engine. Exit status 1 when a bar is missed, or is
not shown to be met. The raw figures are in out/bench/telemetry.json.
"""

import argparse
import itertools
import json
import math
import operator
import os
import pty
import random
import socket
import statistics

import measure
from programs import Failure, child_of, end, verdict, workplace

QPS = 10000
SCREENS = 40

# At most, in % of what the Writes cost without telemetry. All of the interval must be below.
MOST_COST = 0.5
COSTS = (
    ("rate", "8-byte Writes"),
    ("bandwidth", "1 MiB Writes"),
)
# Figure, at most, what it says.
LIMITS = (
    ("process_ms", 100, f"a screen of {QPS} QPs: the process's time, ms"),
    ("top_ms", 100, "... uiwarp top's own time, ms"),
)
# The engine is held no longer than this at a time, us of processor time. Interrupts, and a hypervisor
# that takes the core away, count as processor time too: the same slices of a walk over other memory,
# beside it and as many, tell how often (holds.c). They come in clumps, so screens are compared, not slices.
LONGEST_HOLD = 50
# Were it only the machine, each screen's difference could as well have the other sign. That so many more long
# ones as were seen come about so must not be less likely than this.
LEAST_CHANCE = 0.01
FLIPS, SEED = 20000, 1


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench telemetry", description=__doc__)
    p.add_argument("--runs", type=int, default=3000, metavar="N", help="turns of each (default 3000)")
    p.add_argument("--quick", action="store_true", help="100 turns: too few to show the bar")
    p.add_argument("--only", default="cost,qps", metavar="LIST", help="some of cost,qps")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    a = p.parse_args()
    a.runs = 100 if a.quick else a.runs
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

    def own_costs(self):
        info = self.ask("/uiwarp/info")
        return {**info["telemetry"], "uptime_ns": info["uptime_ns"]}

    def close(self):
        self.socket.close()


def measure_costs(runner, work, cores, args, runs):
    program = os.path.join(args.build, "bench", "telemetry")
    runs.update(measure.json_in(runner.finish(
        runner.start([program, "-n", args.runs], None, "telemetry"), 900)))


def watch(uiwarp, pid, core, seen):
    """
    Have uiwarp top show the process in a terminal of its own, and call seen() after each screen. Its time for a
    screen, in ms.
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
                seen()
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
    costs = [client.own_costs()]
    control = runner.start([os.path.join(args.build, "bench", "holds"), "-s", SCREENS], cores[0], "holds")
    runs["top_ms"] = [watch(ends.uiwarp, child_of(s, "qps"), cores[1], lambda: costs.append(client.own_costs()))]
    last = costs[-1]
    runs["process_ms"] = [(last["cpu_ns"] - costs[0]["cpu_ns"]) / 1e6 / SCREENS]
    runs["hold_us"] = [last["longest_hold_ns"] / 1e3]
    runs["elapsed_us"] = [last["longest_elapsed_ns"] / 1e3]
    for figure, name in (("long", "long_holds"), ("slices", "slices")):
        runs[figure] = [b[name] - a[name] for a, b in itertools.pairwise(costs)]
    own = measure.json_in(runner.finish(control))
    runs["machine_hold_us"] = [own["longest_ns"] / 1e3]
    runs["machine_long"], runs["machine_slices"] = own["long"], own["slices"]
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


def more(runs, figure, what, variant):
    """What a variant has more than none beside it, in the median: low, median, high, in ns."""
    without = runs[f"{figure}_{what}_off"]
    differences = [a - b for a, b in zip(runs[f"{figure}_{what}_{variant}"], without)]
    low, high = interval(differences)
    return low, statistics.median(differences), high


def judge_cost(what, text, runs):
    """How many bars are missed. Asked once a second costs a second's share, beside what being on costs."""
    if f"least_{what}_off" not in runs:
        print(f"  ----  {text}: not measured")
        return 0
    base = statistics.median(runs[f"least_{what}_off"])
    on = [100 * x / base for x in more(runs, "least", what, "on")]
    # Both stacks are asked: for each, half of it.
    share = [100 * x / 2 / 1e9 for x in more(runs, "cpu", what, "asked")]
    missed = 0
    for name, cost in (("nobody asks", on), ("asked once a second", [a + b for a, b in zip(on, share)])):
        low, median, high = cost
        verdict = "PASS" if high <= MOST_COST else "MISS"
        print(f"  {verdict}  {text}, {name}: {median:+.3f} % of processor time, 95 % between {low:+.3f} and "
              f"{high:+.3f}, at most {MOST_COST}"
              f"{'; too much scatter to show it' if low <= MOST_COST < high else ''}")
        missed += verdict == "MISS"
    low, median, high = (x / 1e3 for x in more(runs, "time", what, "asked"))
    print(f"        ... asking delays the Writes by {median:.0f} us, between {low:.0f} and {high:.0f}, by the clock")
    return missed


def chance(differences):
    """How likely their sum is as large as it is, or larger, if the sign of each is chance's."""
    seen = [d for d in differences if d]
    if 2 ** len(seen) <= FLIPS:
        signs = list(itertools.product((1, -1), repeat=len(seen)))
    else:
        coin = random.Random(SEED)
        # As they are seen is one of the ways.
        signs = [[1] * len(seen)] + [coin.choices((1, -1), k=len(seen)) for _ in range(FLIPS)]
    # What differs by rounding is the same.
    least = sum(seen) - 1e-9 * sum(map(abs, seen))
    return sum(sum(map(operator.mul, way, seen)) >= least for way in signs) / len(signs)


def judge_holds(runs):
    """1 if the engine was held longer than it may be, in any screen, and not by the machine."""
    text = "... the longest that the engine was held at a time, us of processor time"
    if "hold_us" not in runs:
        print(f"  ----  {text}: not measured")
        return 0
    (longest,) = runs["hold_us"]
    long, slices, others, of_others = (runs[x] for x in ("long", "slices", "machine_long", "machine_slices"))
    p = chance([a / b - c / d for a, b, c, d in zip(long, slices, others, of_others)])
    verdict = "PASS" if longest <= LONGEST_HOLD or p >= LEAST_CHANCE else "MISS"
    print(f"  {verdict}  {text}: {longest:.3g}, at most {LONGEST_HOLD}; longer ones: {sum(long)} of {sum(slices)}, and "
          f"{sum(others)} of {sum(of_others)} slices without an engine meanwhile, in {len(long)} screens (so many "
          f"more by chance: {p:.2g})")
    return verdict == "MISS"


def judge(runs):
    missed = sum(judge_cost(what, text, runs) for what, text in COSTS)
    for name, limit, text in LIMITS:
        if not runs.get(name):
            print(f"  ----  {text}: not measured")
            continue
        value = max(runs[name])
        missed += value > limit
        print(f"  {'PASS' if value <= limit else 'MISS'}  {text}: {value:.3g}, at most {limit:.3g}")
    missed += judge_holds(runs)
    for name, text in (("elapsed_us", "the longest hold by the clock, other threads in it, us"),
                       ("machine_hold_us", "the longest of the slices without an engine, us")):
        if name in runs:
            print(f"        {text}: {runs[name][0]:.3g}")
    return missed


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    runs, failed = {}, 0
    with workplace(args.out, "logs-telemetry", limit=300) as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}")
        for name, part in (("cost", measure_costs), ("qps", measure_qps)):
            try:
                if name in args.only.split(","):
                    part(runner, work, cores, args, runs)
            except (Failure, OSError, KeyError, ValueError) as e:
                failed = 1
                print(f"FAILED: {name}: {e}")
    with open(os.path.join(args.out, "telemetry.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=1)
    return verdict(judge(runs), failed)


if __name__ == "__main__":
    end(main)
