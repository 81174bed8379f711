# SPDX-License-Identifier: BSD-2-Clause
"""
What encryption costs: perftest over memif in the clear, under TLS and under ESP, in turns, beside `openssl
speed` on the same core; handshakes a second; memory of an idle connection. Exit status 1 when a bar
is missed. A ratio is the median of its runs': what is compared is measured while the two cores stay where they are,
as a host moves them, and encryption costs most where they are near. The raw figures are in out/bench/security.json.
"""

import argparse
import json
import os
import re
import statistics
import subprocess

import measure
from programs import Failure, end, verdict, workplace

# Octets of payload of a full packet, for openssl speed.
BYTES = {1500: 1400, 9000: 8900}

# What is compared: figure, other figure, how it must be, at what factor or distance, what it says.
BARS = (
    ("tls_1500", "clear_1500", "ratio", 0.6, "1 MiB Writes, MTU 1500: TLS to clear"),
    ("esp_1500", "clear_1500", "ratio", 0.6, "1 MiB Writes, MTU 1500: ESP to clear"),
    ("esp_9000", "openssl_9000", "ratio", 0.5, "1 MiB Writes, MTU 9000: ESP to openssl speed"),
    ("tls_9000", "openssl_9000", "ratio", 0.5, "1 MiB Writes, MTU 9000: TLS to openssl speed"),
    ("tls_latency", "clear_latency", "above", 0.6, "8-byte Send, one way: us more under TLS"),
    ("tls_memory", "clear_memory", "above", 4096, "an idle connection: bytes more under TLS"),
    # A handshake is the work of two hosts: what each end does of it in a second of its one core. The
    # connections of rdma_cm beside it have TCP, MPA, the QPs' ends and the idle turns of both in them.
    ("alone_server", None, "least", 1000, "a server's handshakes/s on one core, ECDSA P-256"),
    ("alone_client", None, "least", 1000, "a client's handshakes/s on one core, ECDSA P-256"),
)


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench security", description=__doc__)
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
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
        # Who encrypts has no use for CRCs; both is for the clear lines.
        settings[side] = ["tls=required", "crc=preferred", f"tls_ca={path('ca.pem')}",
                          f"tls_certificate={path(side + '.pem')}", f"tls_key={path(side + '.key')}",
                          "tls_handshakes_per_peer=0"]
    return settings


def security_associations(directory):
    """The file of both hosts: an SA and policies each way, AES-128-GCM; their settings."""
    path = os.path.join(directory, "ipsec")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
        for src, dst, spi in (("10.77.0.1", "10.77.0.2", 4097), ("10.77.0.2", "10.77.0.1", 8193)):
            file.write(f"ip xfrm state add src {src} dst {dst} proto esp spi {spi} "
                       f"aead 'rfc4106(gcm(aes))' 0x{os.urandom(20).hex()} 128\n")
            for direction in ("in", "out"):
                file.write(f"ip xfrm policy add src {src} dst {dst} dir {direction} "
                           "tmpl proto esp mode transport\n")
    # Who encrypts has no use for CRCs; both is for the clear lines.
    return {side: ["crc=off", f"ipsec={path}"] for side in ("server", "client")}


def openssl_speed(runner, core, size):
    """Gbit/s of AES-128-GCM alone."""
    p = runner.start(["openssl", "speed", "-seconds", "1", "-bytes", str(size), "-evp",
                      "aes-128-gcm"], core, "openssl")
    found = re.search(r"^AES-128-GCM +([0-9.]+)k", runner.finish(p), re.M)
    if not found:
        raise Failure("openssl speed printed no figure")
    return float(found[1]) * 1000 * 8 / 1e9


def handshakes_alone(runner, work, core, build, count):
    """What each side has done in a second of the processor, in handshakes, without connections."""
    path = lambda name: os.path.join(work, name)
    p = runner.start([os.path.join(build, "bench", "tls_handshakes"), str(count), path("ca.pem"),
                      *(path(side + suffix) for side in ("server", "client")
                        for suffix in (".pem", ".key"))], core, "tls_handshakes")
    times = json.loads(runner.finish(p))
    return {side: 1e6 / times[f"{side}_us"] for side in ("server", "client")}


def openssl_speed_handshake(runner, core):
    """Operations a second of what a full handshake cannot do without."""
    p = runner.start(["openssl", "speed", "-seconds", "1", "ecdsap256", "ecdhx25519"], core,
                     "openssl-ec")
    text = runner.finish(p)
    ecdsa = re.search(r"ecdsa \(nistp256\).* ([0-9.]+) +([0-9.]+)$", text, re.M)
    ecdh = re.search(r"ecdh \(X25519\).* ([0-9.]+)$", text, re.M)
    if not ecdsa or not ecdh:
        raise Failure("openssl speed printed no figure of elliptic curves")
    # One signature, the peer's verified, a key made and a secret agreed on.
    return 1 / (1 / float(ecdsa[1]) + 1 / float(ecdsa[2]) + 2 / float(ecdh[1]))


def judge(runs):
    """The bars that are missed, each said."""
    missed = 0
    for name, other, how, bar, text in BARS:
        if name not in runs or (other and other not in runs):
            print(f"  ----  {text}: not measured")
            continue
        if how == "ratio":
            value = statistics.median(a / b for a, b in zip(runs[name], runs[other]))
        else:
            value = statistics.median(runs[name]) - (statistics.median(runs[other]) if how == "above" else 0)
        good = value <= bar if how == "above" else value >= bar
        missed += not good
        print(f"  {'PASS' if good else 'MISS'}  {text}: {value:.2f}, "
              f"{'at most' if how == 'above' else 'at least'} {bar}")
    return missed


def measure_all(runner, work, cores, args, runs):
    # TLS is the last: the handshakes are its.
    sides = {"clear": {"server": [], "client": []}, "esp": security_associations(work),
             "tls": certificates(work)}
    placement = measure.Placement(runner, cores, args.build)
    for _ in range(args.runs):
        for mtu, size in BYTES.items():
            ends = {f"{name}_{mtu}": measure.Ours(runner, work, cores, args.build, mtu, settings)
                    for name, settings in sides.items()}
            for name, value in placement.steady(lambda: {n: e.bandwidth(2000) for n, e in ends.items()}).items():
                runs.setdefault(name, []).append(value)
            runs.setdefault(f"openssl_{mtu}", []).append(openssl_speed(runner, cores[0], size))
        for name, settings in sides.items():
            ends = measure.Ours(runner, work, cores, args.build, 1500, settings)
            runs.setdefault(f"{name}_latency", []).append(
                ends.send_latency()["our_send_lat_typical"])
    for name, settings in sides.items():
        ends = measure.Ours(runner, work, cores, args.build, 1500, settings)
        runs[f"{name}_memory"] = [measure.Qps(ends, args.build).memory()["qp_bytes_server"]]
    runs["handshakes"] = [measure.connects(ends, args.build, 2000)]
    for _ in range(args.runs):
        for side, rate in handshakes_alone(runner, work, cores[0], args.build, 500).items():
            runs.setdefault(f"alone_{side}", []).append(rate)
        runs.setdefault("alone_openssl", []).append(openssl_speed_handshake(runner, cores[0]))


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    runs, failed = {}, 0
    # 20,000 handshakes take their time.
    with workplace(args.out, "logs-security", limit=600) as (runner, work, cores):
        print(f"load {os.getloadavg()[0]:.1f}; bandwidth in Gbit/s, latency in us one way")
        try:
            measure_all(runner, work, cores, args, runs)
        except Failure as e:
            failed = 1
            print(f"FAILED: {e}")
    for name, values in runs.items():
        print(f"  {name:16} {statistics.median(values):12.2f}   ({', '.join(f'{v:.4g}' for v in values)})")
    with open(os.path.join(args.out, "security.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=1)
    return verdict(judge(runs), failed)


if __name__ == "__main__":
    end(main)
