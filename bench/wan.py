# SPDX-License-Identifier: BSD-2-Clause
"""
scripts/bench wan: the path emulator itself, then TCP over long and lossy paths in real time: ours
against Linux's, the like algorithms, one after the other on the same path with the same seed.
"""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys

import wan_report
from longpath import LongPath
from machine import machine
from measure import json_in
from programs import Failure, Runner, end, listens, verdict, work_directory
from veth import Veth

PORT = 5201
ALGORITHMS = ("cubic", "bbr")
# Of an emulator that was late by more, or lost frames of its own, no figure is taken.
LATE_NS = 1_000_000
TRIES = 3


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench wan", description=__doc__)
    p.add_argument("--quick", action="store_true", help="one run of 6 s of each")
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--seconds", type=int, default=15, metavar="T", help="a flow lasts (default 15)")
    p.add_argument("--only", default="emulator,tcp", metavar="LIST", help="some of emulator,tcp")
    p.add_argument("--rate", default="1g", metavar="RATE", help="of the bottleneck (default 1g)")
    p.add_argument("--rtt", default="20,100", metavar="LIST", help="ms (default 20,100)")
    p.add_argument("--loss", default="0,0.01,0.1,1", metavar="LIST",
                   help="%% of the frames from sender to receiver (default 0,0.01,0.1,1)")
    p.add_argument("--flows", default=",".join(FLOWS), metavar="LIST",
                   help=f"some of {','.join(FLOWS)}")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench/wan", metavar="DIR")
    p.add_argument("--resume", action="store_true",
                   help="go on with what DIR has of a run with the same rate and seconds")
    p.add_argument("--docs", action="store_true",
                   help="tables into docs/wan.md, plots and figures into docs/plots")
    a = p.parse_args()
    if a.quick:
        a.runs, a.seconds = 1, 6
    if a.runs < 1 or a.seconds < 2:
        p.error("--runs: at least 1; --seconds: at least 2")
    try:
        a.rtt = [float(x) for x in a.rtt.split(",")]
        a.loss = [float(x) for x in a.loss.split(",")]
    except ValueError:
        p.error("--rtt and --loss: numbers with commas between")
    a.flows = a.flows.split(",")
    for flow in a.flows:
        if flow not in FLOWS:
            p.error(f"--flows: there is no {flow}")
    a.only = a.only.split(",")
    return a


# ---- the emulator --------------------------------------------------------------------------------

class Emulator:
    """
    Stamped frames from one end to the other by bench/wan_probe, which is both ends: over memif,
    which leaves the emulator's own cost, and over veth by AF_PACKET, as it is mostly used.
    """

    def __init__(self, runner, work, cores, build):
        self.runner, self.work, self.cores = runner, work, cores
        self.uiwarp = os.path.join(build, "tools", "uiwarp")
        self.probe = os.path.join(build, "bench", "wan_probe")

    def _memif(self):
        """The emulator's devices and the probe's: at each end of a link another is the server."""
        of = lambda n, role: (f"net_memif{n},role={role},socket={self.work}/wan{n},"
                              "socket-abstract=no")
        return (of(0, "server"), of(1, "client")), (of(0, "client"), of(1, "server"))

    def _run(self, name, devices, namespaces, wan, probe):
        for entry in os.listdir(self.work):
            os.unlink(os.path.join(self.work, entry))
        ours, theirs = devices
        emulator = self.runner.start(
            [self.uiwarp, "wan", "--json", *wan, "--a", ours[0], "--b", ours[1]],
            self.cores[0], f"emulator-{name}", namespace=namespaces[0])
        self.runner.wait_until(lambda: '"ready"' in self.runner.output(emulator), emulator)
        process = self.runner.start([self.probe, *probe, *theirs], self.cores[1],
                                    f"probe-{name}", namespace=namespaces[1])
        figures = json_in(self.runner.finish(process))
        self.runner.stop(emulator)
        return figures

    def measure(self, name, devices, namespaces, seconds):
        """Most frames a second, and how late they are at a quarter, at 2 Gbit/s and when few."""
        delay = ("--delay", "10ms")
        expected = ("--delay", 10_000_000, "--seconds", seconds)
        full = self._run(f"{name}-full", devices, namespaces, (), ("--seconds", seconds))
        busy = self._run(f"{name}-2g", devices, namespaces, delay,
                         (*expected, "--rate", 2_000_000_000))
        idle = self._run(f"{name}-1m", devices, namespaces, delay,
                         (*expected, "--rate", 1_000_000))
        return {f"{name}_gbit": full["gbit_s"], f"{name}_mpps": full["mpps"],
                f"{name}_gbit_offered_2": busy["gbit_s"], f"{name}_lost_at_2g": busy["lost"],
                f"{name}_late_us_2g": busy["late_us_p50"],
                f"{name}_late_us_2g_p99": busy["late_us_p99"],
                f"{name}_late_us_1m": idle["late_us_p50"],
                f"{name}_late_us_1m_p99": idle["late_us_p99"]}

    def measure_memif(self, seconds):
        return self.measure("memif", self._memif(), (None, None), seconds)

    def measure_veth(self, seconds):
        """Both far ends in one namespace, for one clock and one process."""
        wan, ends = (f"uiw-probe-{os.getpid()}-{x}" for x in ("wan", "ends"))
        devices = [[f"net_af_packet{n},iface={d}{n},framecnt=8192" for n in (0, 1)]
                   for d in ("wan", "end")]
        run = lambda *command: subprocess.run(command, check=False, capture_output=True)
        try:
            for namespace in (wan, ends):
                run("ip", "netns", "add", namespace)
            for n in (0, 1):
                run("ip", "-n", wan, "link", "add", "name", f"wan{n}", "type", "veth",
                    "peer", "name", f"end{n}", "netns", ends)
                for namespace, device in ((wan, f"wan{n}"), (ends, f"end{n}")):
                    run("ip", "netns", "exec", namespace, "sh", "-c",
                        f"echo 1 >/proc/sys/net/ipv6/conf/{device}/disable_ipv6")
                    run("ip", "-n", namespace, "link", "set", device, "up")
            return self.measure("veth", devices, (wan, ends), seconds)
        finally:
            for namespace in (wan, ends):
                run("ip", "netns", "del", namespace)


# ---- TCP -----------------------------------------------------------------------------------------

def linux(path, runner, core, algorithm, seconds):
    """Linux's TCP, by iperf3."""
    far = path.namespace["far"]
    path.steer(to_host=True)
    server = runner.start(["iperf3", "-s", "-1", "-p", PORT], core, f"linux-{algorithm}-server",
                          namespace=far)
    runner.wait_until(lambda: listens(far, PORT), server)
    client = runner.start(["iperf3", "-c", path.linux_far, "-p", PORT, "-t", seconds, "-J",
                           "-C", algorithm], core, f"linux-{algorithm}-client",
                          namespace=path.namespace["near"])
    end = json.loads(runner.finish(client))["end"]
    runner.finish(server)
    used = end["streams"][0]["sender"]
    return {"mbit": end["sum_received"]["bits_per_second"] / 1e6,
            "retransmits": used["retransmits"], "rtt_ms": used["mean_rtt"] / 1e3,
            "cpu_percent": end["cpu_utilization_percent"]["host_total"]}


def ours(path, runner, core, algorithm, seconds):
    """Our TCP, by uiwarp tcp."""
    stack = lambda address: ["--set", path.our_port(), "--set", f"address={address}/24",
                             "--set", "memory=512", "--json", "--interval", 0]
    path.steer(to_host=False)
    sink = runner.start([path.uiwarp, "tcp", "sink", *stack(path.our_far), "--listen", PORT,
                         "--once"], core, f"ours-{algorithm}-sink", namespace=path.namespace["far"])
    runner.wait_until(lambda: '"listening"' in runner.output(sink), sink)
    source = runner.start([path.uiwarp, "tcp", "source", *stack(path.our_near), "--cc", algorithm,
                           "--time", seconds, path.our_far, PORT], core,
                          f"ours-{algorithm}-source", namespace=path.namespace["near"])
    sent, total = event(runner.finish(source), "end"), event(runner.output(source), "total")
    got = event(runner.finish(sink), "end")
    return {"mbit": got["bits_per_second"] / 1e6, "retransmits": sent["tcp"]["retransmits"],
            "timeouts": sent["tcp"]["timeouts"], "rtt_ms": sent["tcp"]["srtt_ns"] / 1e6,
            "cpu_percent": 100 * total["cpu_seconds"] / seconds}


def event(text, name):
    for line in text.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            if found.get("event") == name:
                return found
    raise Failure(f"no \"{name}\" in: {text.strip()[-200:]!r}")


FLOWS = {f"{who}-{algorithm}": (function, algorithm)
         for algorithm in ALGORITHMS for who, function in (("linux", linux), ("ours", ours))}


def disturbed(totals):
    """Why the path was not what it should have been, or None."""
    for direction in ("a_to_b", "b_to_a"):
        t = totals[direction]
        own = {k: v for k, v in t["dropped"].items() if k in ("missed", "memory", "refused",
                                                              "oversize") and v}
        if own:
            return f"the emulator lost frames itself: {own}"
        if t["late_ns_p50"] > LATE_NS:
            return f"the emulator was late by {t['late_ns_p50'] / 1e3:.0f} us at the median"
    return None


def one_flow(path, runner, core, flow, cell, args, seed):
    """One flow over a fresh path. Taken again when the machine, not the path, got in its way."""
    function, algorithm = FLOWS[flow]
    rtt, loss = cell
    options = ["--rate", args.rate, "--delay", f"{rtt / 2:g}ms", "--queue", "bdp",
               "--a-to-b", f"loss={loss:g}%"]
    for attempt in range(TRIES):
        path.start(options, seed)
        try:
            figures = function(path, runner, core, algorithm, args.seconds)
        finally:
            totals = path.stop()
        why = disturbed(totals)
        figures.update(flow=flow, rtt=rtt, loss=loss, seed=seed, path=totals, disturbed=why)
        if why is None:
            break
        print(f"({why}{'; again' if attempt + 1 < TRIES else ''})", end=" ", flush=True)
    return figures


def measure_tcp(args, runner, cores, build, result):
    failed, results = result["failed"], result.setdefault("tcp", [])
    have = {(r["rtt"], r["loss"], r["flow"], r["seed"]) for r in results}
    with LongPath(runner, os.path.join(build, "tools", "uiwarp"), cores[0], cores[1]) as path:
        for run in range(args.runs):
            for cell in [(rtt, loss) for rtt in args.rtt for loss in args.loss]:
                for flow in args.flows:
                    if (*cell, flow, run + 1) in have:
                        continue
                    name = f"run {run + 1}, {cell[0]:g} ms, {cell[1]:g} %, {flow}"
                    print(f"  {name} ...", end=" ", flush=True)
                    try:
                        figures = one_flow(path, runner, cores[1], flow, cell, args, run + 1)
                    except (Failure, OSError, KeyError, IndexError, ValueError) as e:
                        print(f"FAILED: {e}", flush=True)
                        failed[name] = str(e)
                        continue
                    finally:
                        runner.stop_all()
                    results.append(figures)
                    save(args, result)
                    print(f"{figures['mbit']:.1f} Mbit/s, {figures['retransmits']} "
                          "retransmissions", flush=True)
            result["runs_done"] = run + 1


# ---- what is kept ---------------------------------------------------------------------------------

def save(args, result):
    """After each flow, so that whatever ends the run loses one at most."""
    path = os.path.join(args.out, "wan.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    os.replace(path + ".new", path)


def resume(args, result):
    """Take over what an earlier run measured in the same way; flows that failed are taken again."""
    try:
        with open(os.path.join(args.out, "wan.json"), encoding="utf-8") as file:
            before = json.load(file)
    except FileNotFoundError:
        return
    for key in ("rate", "seconds"):
        if before[key] != result[key]:
            sys.exit(f"bench wan: --resume: {args.out}/wan.json was measured with {key} "
                     f"{before[key]}, not {result[key]}")
    result["tcp"] = before.get("tcp", [])
    if before.get("emulator", {}).get("median"):
        result["emulator"] = before["emulator"]


# ---- all of it -----------------------------------------------------------------------------------

def measure_emulator(args, runner, cores, build, failed):
    work = work_directory()
    emulator = Emulator(runner, work, cores, build)
    runs = {}
    try:
        for _ in range(args.runs):
            for name, function in (("memif", emulator.measure_memif),
                                   ("veth", emulator.measure_veth)):
                print(f"  emulator over {name} ...", end=" ", flush=True)
                try:
                    figures = function(2 if args.quick else 5)
                except (Failure, OSError, KeyError, ValueError) as e:
                    print(f"FAILED: {e}", flush=True)
                    failed[f"emulator over {name}"] = str(e)
                    continue
                finally:
                    runner.stop_all()
                print(", ".join(f"{k} {v:.4g}" for k, v in figures.items()), flush=True)
                for key, value in figures.items():
                    runs.setdefault(key, []).append(value)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return {"runs": runs, "median": {k: statistics.median(v) for k, v in runs.items()}}


def why_not():
    missing = Veth.missing()
    for program in ("iperf3", "ethtool", "ip", "ss"):
        if missing is None and not shutil.which(program):
            missing = f"{program} is not installed"
    return missing


def main():
    args = arguments()
    cores = sorted(os.sched_getaffinity(0))
    missing = why_not() if len(cores) >= 2 else "needs two cores: the path's and the hosts'"
    if missing:
        sys.exit(f"bench wan: {missing}")
    build = os.path.abspath(args.build)
    logs = os.path.join(args.out, "logs")
    if not args.resume:
        shutil.rmtree(logs, ignore_errors=True)
    os.makedirs(logs, exist_ok=True)
    info = machine(cores[:2], build)
    if info["load_average"] > 0.5:
        print(f"note: the machine is busy (load {info['load_average']:.1f}): "
              "figures will be worse than they could be")
    # An end by signal leaves no namespaces behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    runner, failed = Runner(logs, limit=args.seconds + 60), {}
    result = {"machine": info, "command": " ".join(["scripts/bench", "wan", *sys.argv[1:]]),
              "rate": args.rate, "seconds": args.seconds, "runs": args.runs, "failed": failed}
    if args.resume:
        resume(args, result)
    try:
        if "emulator" in args.only and "emulator" not in result:
            result["emulator"] = measure_emulator(args, runner, cores, build, failed)
        if "tcp" in args.only:
            measure_tcp(args, runner, cores, build, result)
    except KeyboardInterrupt:
        # What has been measured until then counts.
        failed["the rest"] = "interrupted"
    finally:
        runner.stop_all()
        info["load_average_at_end"] = os.getloadavg()[0]
        result["commands"] = runner.commands
        save(args, result)
    print(wan_report.write(result, args.out))
    if args.docs:
        wan_report.publish(result)
    return verdict(False, failed)


if __name__ == "__main__":
    end(main)
