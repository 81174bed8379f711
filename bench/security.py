# SPDX-License-Identifier: BSD-2-Clause
"""
What encryption costs: perftest over memif in the clear and under TLS, in turns, beside `openssl
speed` on the same core; handshakes a second; memory of an idle connection. Exit status 1 when a bar
is missed. The raw figures are in out/bench/security.json.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys

import measure
from programs import Failure, Runner, work_directory

# Octets of payload of a full packet, for openssl speed.
BYTES = {1500: 1400, 9000: 8900}

# What is compared: figure, other figure, how it must be, at what factor or distance, what it says.
BARS = (
    ("tls_1500", "clear_1500", "ratio", 0.6, "1 MiB Writes, MTU 1500: TLS to clear"),
    ("tls_9000", "openssl_9000", "ratio", 0.5, "1 MiB Writes, MTU 9000: TLS to openssl speed"),
    ("tls_latency", "clear_latency", "above", 0.6, "8-byte Send, one way: us more under TLS"),
    ("tls_memory", "clear_memory", "above", 4096, "an idle connection: bytes more under TLS"),
    ("handshakes", None, "least", 1000, "handshakes in a second on one core, ECDSA P-256"),
)


class Secured(measure.Ours):
    """Ours with further settings, one list for each side."""

    def __init__(self, runner, work, cores, build, mtu, settings):
        super().__init__(runner, work, cores, build)
        self.mtu, self.settings = mtu, settings

    def _stack(self, side, log):
        role, number = ("server", 1) if side == "server" else ("client", 2)
        socket = os.path.join(self.work, "memif")
        settings = [f"port=net_memif0,role={role},socket={socket},socket-abstract=no,bsize=16384",
                    f"address=10.77.0.{number}/24", f"mtu={self.mtu}", "log=info",
                    f"log_file={log}"] + self.settings[side]
        command = [self.uiwarp, "run"]
        for setting in settings:
            command += ["--set", setting]
        return command + ["--"]

    def bandwidth(self):
        row = self._perftest("ib_write_bw", ["-s", "1048576", "-n", "2000", "--report_gbits"])
        return row[3]

    def latency(self):
        return self._latency("ib_send_lat", 100000)["typical"]


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench security", description=__doc__)
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--build", default="build", metavar="DIR", help="where uiwarp is built")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    return p.parse_args()


def quiet(*command, **more):
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, **more)


def certificates(directory):
    """A CA and two hosts of its own; the settings of both sides."""
    path = lambda name: os.path.join(directory, name)
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    quiet("openssl", "req", "-x509", *new, "-subj", "/CN=bench", "-days", "1",
          "-keyout", path("ca.key"), "-out", path("ca.pem"))
    settings = {}
    for number, side in ((1, "server"), (2, "client")):
        quiet("openssl", "req", *new, "-subj", f"/CN={side}", "-addext",
              f"subjectAltName=IP:10.77.0.{number}", "-keyout", path(side + ".key"),
              "-out", path(side + ".csr"))
        quiet("openssl", "x509", "-req", "-in", path(side + ".csr"), "-CA", path("ca.pem"),
              "-CAkey", path("ca.key"), "-CAcreateserial", "-days", "1", "-copy_extensions",
              "copyall", "-out", path(side + ".pem"))
        settings[side] = ["tls=required", f"tls_ca={path('ca.pem')}",
                          f"tls_certificate={path(side + '.pem')}", f"tls_key={path(side + '.key')}"]
    return settings


def openssl_speed(runner, core, size):
    """Gbit/s of AES-128-GCM alone."""
    p = runner.start(["openssl", "speed", "-seconds", "1", "-bytes", str(size), "-evp",
                      "aes-128-gcm"], core, "openssl")
    found = re.search(r"^AES-128-GCM +([0-9.]+)k", runner.finish(p), re.M)
    if not found:
        raise Failure("openssl speed printed no figure")
    return float(found[1]) * 1000 * 8 / 1e9


def handshakes(ends, build):
    """Connections of rdma_cm, made and ended, in a second: both sides share one core."""
    program = os.path.join(build, "bench", "cm_connects")
    s, c = ends.start("handshakes", [program, "-s"],
                      [program, "-n", "2000", "-w", "64", ends.address],
                      (ends.cores[0], ends.cores[1]))
    text = ends.runner.finish(c)
    ends.runner.stop(s)
    found = re.search(r"([0-9.]+) (?:connections )?(?:a second|per second|/s)", text)
    if not found:
        raise Failure(f"cm_connects printed no rate: {text[-200:]!r}")
    return float(found[1])


def judge(figures):
    """The bars that are missed, each said."""
    missed = 0
    for name, other, how, bar, text in BARS:
        if name not in figures or (other and other not in figures):
            print(f"  ----  {text}: not measured")
            continue
        value = figures[name]
        if how == "ratio":
            value /= figures[other]
        elif how == "above":
            value -= figures[other]
        good = value <= bar if how == "above" else value >= bar
        missed += not good
        print(f"  {'PASS' if good else 'MISS'}  {text}: {value:.2f}, "
              f"{'at most' if how == 'above' else 'at least'} {bar}")
    return missed


def measure_all(runner, work, cores, args, runs):
    sides = {"clear": {"server": [], "client": []}, "tls": certificates(work)}
    for _ in range(args.runs):
        for mtu, size in BYTES.items():
            for name, settings in sides.items():
                ends = Secured(runner, work, cores, args.build, mtu, settings)
                runs.setdefault(f"{name}_{mtu}", []).append(ends.bandwidth())
            runs.setdefault(f"openssl_{mtu}", []).append(openssl_speed(runner, cores[0], size))
        for name, settings in sides.items():
            ends = Secured(runner, work, cores, args.build, 1500, settings)
            runs.setdefault(f"{name}_latency", []).append(ends.latency())
    for name, settings in sides.items():
        ends = Secured(runner, work, cores, args.build, 1500, settings)
        runs[f"{name}_memory"] = [measure.Qps(ends, args.build).measure()["qp_bytes_server"]]
    runs["handshakes"] = [handshakes(ends, args.build)]


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("bench: needs two cores")
    logs = os.path.join(args.out, "logs-security")
    shutil.rmtree(logs, ignore_errors=True)
    os.makedirs(logs)
    work, runs, failed = work_directory(), {}, 0
    runner = Runner(logs, limit=600)  # 20,000 handshakes take their time
    print(f"load {os.getloadavg()[0]:.1f}; bandwidth in Gbit/s, latency in us one way")
    try:
        measure_all(runner, work, cores, args, runs)
    except Failure as e:
        failed = 1
        print(f"FAILED: {e}")
    finally:
        runner.stop_all()
        shutil.rmtree(work, ignore_errors=True)
    figures = {name: statistics.median(values) for name, values in runs.items()}
    for name, value in figures.items():
        print(f"  {name:16} {value:12.2f}")
    with open(os.path.join(args.out, "security.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=1)
    return 1 if judge(figures) + failed else 0


if __name__ == "__main__":
    sys.exit(main())
