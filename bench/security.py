# SPDX-License-Identifier: BSD-2-Clause
"""
What encryption costs: perftest over memif in the clear, under TLS and under ESP, in turns, beside `openssl
speed` on the same core and iperf3 through stunnel; handshakes a second; memory of an idle connection. Exit
status 1 when a bar is missed. A ratio is the median of its runs': what is compared is measured while the two
cores stay where they are, as a host moves them, and encryption costs most where they are near. The raw
figures are in out/bench/security.json; the medians of a whole run go to bench/security.jsonl, and
docs/security.md shows them.
"""

import argparse
import json
import os
import re
import subprocess

import measure
import pages
import security_bars
import tunnel
from history import add
from machine import machine
from programs import Failure, end, verdict, workplace
from veth import Veth

# Octets of payload of a full packet, for openssl speed.
BYTES = {1500: 1400, 9000: 8900}


def arguments():
    p = argparse.ArgumentParser(prog="scripts/bench security", description=__doc__)
    p.add_argument("--runs", type=int, default=5, metavar="N", help="the median of N (default 5)")
    p.add_argument("--build", default="build-release", metavar="DIR",
                   help="where uiwarp is built (default build-release)")
    p.add_argument("--out", default="out/bench", metavar="DIR")
    p.add_argument("--history", default=security_bars.FILE, metavar="FILE",
                   help="where the medians of a whole run are added (default bench/security.jsonl, "
                   "from which docs/security.md is made; none: empty)")
    a = p.parse_args()
    if a.runs < 1:
        p.error("--runs: at least 1")
    return a


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


def measure_tunnels(runner, work, cores, runs, count):
    """The kernel's TCP beside: iperf3 in the clear, through stunnel, and that with kernel TLS."""
    missing = tunnel.stunnel_missing() or Veth.missing()
    if missing:
        print(f"  iperf3 through stunnel: not here, {missing}")
        return
    no_kernel_tls = tunnel.kernel_tls_missing()
    if no_kernel_tls:
        print(f"  kernel TLS: not here, {no_kernel_tls}")
    with Veth() as veth:
        ways = {"iperf3_clear": lambda: measure.iperf3(runner, cores, veth, veth.address, measure.PORT),
                "iperf3_stunnel": tunnel.Tunnel(runner, work, cores, veth).bandwidth}
        if not no_kernel_tls:
            ways["iperf3_ktls"] = tunnel.Tunnel(runner, work, cores, veth, kernel_tls=True).bandwidth
        for _ in range(count):
            for name, function in ways.items():
                runs.setdefault(name, []).append(function())


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
    measure_tunnels(runner, work, cores, runs, args.runs)


def remember(args, info, median):
    """Add a whole run to the history, and make of it what docs/security.md shows."""
    if not args.history or not security_bars.is_whole(median):
        return
    add(args.history, {"machine": info, "median": median}, args.runs)
    if os.path.abspath(args.history) == security_bars.FILE:
        pages.publish()


def main():
    args = arguments()
    args.build = os.path.abspath(args.build)
    runs, failed = {}, 0
    # 20,000 handshakes take their time.
    with workplace(args.out, "logs-security", limit=600) as (runner, work, cores):
        info = machine(cores, args.build)
        print(f"load {info['load_average']:.1f}; bandwidth in Gbit/s, latency in us one way")
        try:
            measure_all(runner, work, cores, args, runs)
        except Failure as e:
            failed = 1
            print(f"FAILED: {e}")
    median = security_bars.medians(runs)
    for name, values in runs.items():
        print(f"  {name:16} {median[name]:12.2f}   ({', '.join(f'{v:.4g}' for v in values)})")
    with open(os.path.join(args.out, "security.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file, indent=1)
    if not failed:
        remember(args, info, median)
    return verdict(security_bars.judge(median), failed)


if __name__ == "__main__":
    end(main)
