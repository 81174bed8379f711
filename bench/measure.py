# SPDX-License-Identifier: BSD-2-Clause
"""
The measurements. Each returns a dictionary from metric to figure, in the units that metrics.py
says, or raises Failure.
"""

import json
import math
import os
import re
import shutil
import signal
import time

from programs import Failure, child_of, cpu_seconds, listens, text_of

PORT = 7479
# What a buffer of memif's default size holds.
MEMIF_MTU = 1500


class Placement:
    """How near each other the two cores are just now: a host moves those of a virtual machine."""

    # Nearer or farther than this is another place; within one place the figure varies by a fifth.
    ANOTHER = 1.6
    # How often the line is looked at, at most, until the cores are where they were nearest: some ten seconds.
    LOOKS = 20

    def __init__(self, runner, cores, build, tries=4, looks=LOOKS, pause=0.5):
        self.runner, self.cores, self.tries, self.looks, self.pause = runner, cores[:2], tries, looks, pause
        self.program = os.path.join(build, "bench", "cores")
        self.nearest = math.inf

    def line(self):
        """A cache line from core to core and back, in ns."""
        p = self.runner.start([self.program, *self.cores], None, "cores")
        line = json_in(self.runner.finish(p))["line_ns"]
        self.nearest = min(self.nearest, line)
        return line

    def is_near(self, line):
        """As near as the cores have been at any time."""
        return line < self.ANOTHER * self.nearest

    def await_near(self):
        """Look until the cores are near, or long enough. Returns the last line."""
        line = self.line()
        for _ in range(self.looks):
            if self.is_near(line):
                break
            time.sleep(self.pause)
            line = self.line()
        return line

    def steady(self, function):
        """
        Its figures, of a time in which the cores were near and stayed there, and how near that was; else of
        the last try.
        """
        for _ in range(self.tries):
            before = self.await_near()
            figures, after = function(), self.line()
            if max(before, after) < self.ANOTHER * min(before, after):
                break
        return {**figures, "core_line": after}


class Raw:
    """(a) The port alone: what is left when our stack costs nothing."""

    def __init__(self, runner, work, cores, build):
        self.runner, self.work, self.cores = runner, work, cores
        self.program = os.path.join(build, "bench", "raw_port")

    def missing(self):
        return None if os.access(self.program, os.X_OK) else "bench/raw_port is not built"

    def _pair(self, mode, count, length):
        socket = os.path.join(self.work, "raw")
        if os.path.exists(socket):
            os.unlink(socket)
        args = lambda role: [self.program, f"net_memif0,role={role},socket={socket},"
                             "socket-abstract=no", mode, role, count, length]
        server = self.runner.start(args("server"), self.cores[0], f"raw-{mode}-server")
        self.runner.wait_until(lambda: os.path.exists(socket), server)
        client = self.runner.start(args("client"), self.cores[1], f"raw-{mode}-client")
        texts = self.runner.finish(client), self.runner.finish(server)
        return json_in(texts[0 if mode == "echo" else 1])

    def echo(self, length=64, count=200000):
        """A round trip, in us: the median and other quantiles."""
        return self._pair("echo", count, length)

    def latency(self, length=64, count=200000):
        return self.echo(length, count)["rtt_us_p50"] / 2

    def measure(self):
        figures = {}
        for length in (64, 1500):
            figures[f"raw_lat_{length}"] = self.latency(length)
            one_way = self._pair("oneway", 20000000 if length == 64 else 5000000, length)
            figures[f"raw_mpps_{length}"] = one_way["mpps"]
            figures[f"raw_gbit_{length}"] = one_way["gbit_s"]
        return figures


class Ours:
    """(b) Unmodified perftest, each process on a stack of its own, over memif."""

    address = "10.77.0.1"
    # Of the server and the client; none: where we are.
    namespaces = (None, None)

    def __init__(self, runner, work, cores, build, mtu=1500, settings=None):
        """Further settings: for each side a list."""
        self.runner, self.work, self.cores = runner, work, cores
        self.uiwarp = os.path.join(build, "tools", "uiwarp")
        self.mtu, self.settings = mtu, settings or {}

    def missing(self):
        if not os.access(self.uiwarp, os.X_OK):
            return "uiwarp is not built"
        if not shutil.which("ib_send_lat"):
            return "perftest is not installed"
        return None

    def _port(self, side):
        """The settings of a side's end."""
        role, number = ("server", 1) if side == "server" else ("client", 2)
        socket = os.path.join(self.work, "memif")
        port = f"net_memif0,role={role},socket={socket},socket-abstract=no"
        if self.mtu > MEMIF_MTU:
            port += ",bsize=16384"
        return [f"port={port}", f"address=10.77.0.{number}/24", f"mtu={self.mtu}"]

    def _stack(self, side, log):
        settings = self._port(side) + ["crc=on", "log=info", f"log_file={log}"]
        command = [self.uiwarp, "run"]
        for setting in settings + self.settings.get(side, []):
            command += ["--set", setting]
        return command + ["--"]

    def start(self, name, server, client, cores=None):
        """Both programs; the client when the server's stack says that somebody listens."""
        socket = os.path.join(self.work, "memif")
        log = os.path.join(self.work, "server.log")
        for path in (socket, log):
            if os.path.exists(path):
                os.unlink(path)
        cores = cores or self.cores
        s = self.runner.start(self._stack("server", log) + server, cores[0], name + "-server",
                              namespace=self.namespaces[0])
        self.runner.wait_until(lambda: "listening on" in text_of(log), s, what="does not listen")
        c = self.runner.start(self._stack("client", os.path.join(self.work, "client.log")) + client,
                              cores[1], name + "-client", namespace=self.namespaces[1])
        return s, c

    def _perftest(self, program, options, cores=None):
        command = [program, "-R", "-F"] + options
        for _ in range(3):
            s, c = self.start(program, command, command + [self.address], cores)
            text = self.runner.finish(c)
            self.runner.finish(s)
            row = figures_in(text)
            if all(map(math.isfinite, row)):
                return row
        raise Failure(f"{program} could not measure the clock's frequency: the machine is busy")

    def _latency(self, program, count, cores=None):
        row = self._perftest(program, ["-s", "8", "-n", str(count)], cores)
        return {"min": row[2], "typical": row[4], "p99": row[7]}

    def send_latency(self):
        return self._named("send", self._latency("ib_send_lat", 200000))

    def read_latency(self):
        return self._named("read", self._latency("ib_read_lat", 100000))

    def write_latency(self):
        return self._named("write", self._latency("ib_write_lat", 2000))

    @staticmethod
    def _named(operation, latency):
        return {f"our_{operation}_lat_{what}": value for what, value in latency.items()}

    def write_rate(self):
        row = self._perftest("ib_write_bw", ["-s", "8", "-n", "1000000"])
        return {"our_write_rate_8": row[4]}

    def write_lists_rate(self):
        row = self._perftest("ib_write_bw", ["-s", "8", "-n", "1000000", "-l", "16"])
        return {"our_write_rate_8_lists": row[4]}

    def bandwidth(self, count=3000):
        """Gbit/s of Writes of 1 MiB."""
        row = self._perftest("ib_write_bw", ["-s", "1048576", "-n", str(count),
                                             "--report_gbits"])
        return row[3]

    def write_bandwidth(self):
        return {f"our_write_gbit_1m{'' if self.mtu == 1500 else f'_{self.mtu}'}": self.bandwidth()}

    def measure_apart(self, cores):
        """ib_write_lat with a core for each thread: the engine's beside the one that spins."""
        row = self._latency("ib_write_lat", 100000, [f"{cores[0]},{cores[2]}",
                                                     f"{cores[1]},{cores[3]}"])
        return {"our_write_lat_apart": row["typical"]}

    def measure_idle(self, seconds=5):
        """
        CPU of a server with a connected QP and nothing to do: its rping client is stopped.
        """
        s, c = self.start("rping", ["rping", "-s", "-a", self.address],
                          ["rping", "-c", "-a", self.address])
        self.runner.wait_until(lambda: child_of(c, "rping"), c)
        pid, peer = child_of(s, "rping"), child_of(c, "rping")
        used = cpu_seconds(pid)
        self.runner.wait_until(lambda: cpu_seconds(pid) > used + 0.2, s, what="does nothing")
        os.kill(peer, signal.SIGSTOP)
        time.sleep(1)
        begin, used = time.monotonic(), cpu_seconds(pid)
        time.sleep(seconds)
        share = (cpu_seconds(pid) - used) / (time.monotonic() - begin)
        alive = s.poll() is None
        os.kill(peer, signal.SIGCONT)
        self.runner.stop(c)
        self.runner.stop(s)
        if not alive:
            raise Failure("the idle server ended while it was watched")
        return {"our_idle_cpu": 100 * share}


class Connections:
    """(e) Our TCP without a port: what a packet costs when there are many connections."""

    def __init__(self, runner, cores, build):
        self.runner, self.cores = runner, cores
        self.program = os.path.join(build, "bench", "tcp_connections")

    def missing(self):
        return None if os.access(self.program, os.X_OK) else "bench/tcp_connections is not built"

    def measure(self):
        p = self.runner.start([self.program], self.cores[0], "tcp-connections")
        figures = json_in(self.runner.finish(p))
        return {"conn_ns_10": figures["ns_few"], "conn_ns_50k": figures["ns_many"],
                "conn_ratio": figures["ratio"], "conn_bytes": figures["memory_new"]}


class Qps:
    """(f) Connected QPs, 10,000 between two processes: memory of one, each of which has moved data (all that
    either process keeps for it: librdmacm's part and its send queue of one are in it); what a Write on one of
    them costs beside one on one of ten; and how many rdma_cm makes in a second."""

    def __init__(self, ours, build):
        self.ours, self.build = ours, build

    def program(self, name):
        return os.path.join(self.build, "bench", name)

    def missing(self):
        return next((f"bench/{name} is not built" for name in ("qps", "qps_random", "cm_connects")
                     if not os.access(self.program(name), os.X_OK)), None)

    def measure(self):
        return {**self.memory(), **self.random(), "cm_connects": connects(self.ours, self.build, 10000)}

    def memory(self):
        program = self.program("qps")
        s, c = self.ours.start("qps", [program], [program, self.ours.address])
        client = json_in(self.ours.runner.finish(c))["bytes_used"]
        server = json_in(self.ours.runner.finish(s))["bytes_used"]
        return {"qp_bytes_server": server, "qp_bytes_client": client,
                "qp_bytes_both": server + client}

    def random(self):
        program = self.program("qps_random")
        s, c = self.ours.start("qps_random", [program], [program, self.ours.address])
        figures = json_in(self.ours.runner.finish(c))
        self.ours.runner.finish(s)
        return {f"qp_{what}_{size}": figures[f"{what}_{size}"]
                for size in (8, 4096) for what in ("ns_few", "ns_many", "ratio")}


def connects(ours, build, count):
    """Connections of rdma_cm, made and ended, in a second: each side has a core."""
    program = os.path.join(build, "bench", "cm_connects")
    s, c = ours.start("connects", [program, "-s"], [program, "-n", str(count), "-w", "64", ours.address])
    text = ours.runner.finish(c)
    ours.runner.stop(s)
    found = re.search(r"([0-9.]+) per second", text)
    if not found:
        raise Failure(f"cm_connects printed no rate: {text[-200:]!r}")
    return float(found[1])


def iperf3(runner, cores, veth, address, port):
    """Gbit/s of the kernel's TCP, from the client's end to a server at PORT, as it is reached there."""
    s = runner.start(["iperf3", "-s", "-1", "-p", PORT], cores[0], "iperf3-server",
                     namespace=veth.server)
    runner.wait_until(lambda: listens(veth.server, PORT), s)
    c = runner.start(["iperf3", "-c", address, "-p", port, "-t", "3", "-J"], cores[1],
                     "iperf3-client", namespace=veth.client)
    text = runner.finish(c)
    runner.finish(s)
    return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e9


class Kernel:
    """(c) The kernel's TCP over veth, or what is in its place."""

    def __init__(self, runner, cores, build, veth):
        self.runner, self.cores, self.veth = runner, cores, veth
        self.program = os.path.join(build, "bench", "tcp_pingpong")

    def _pingpong(self, *options):
        v = self.veth
        s = self.runner.start([self.program, "-s", "-p", PORT], self.cores[0],
                              "tcp-server", namespace=v.server)
        self.runner.wait_until(lambda: listens(v.server, PORT), s)
        c = self.runner.start([self.program, "-p", PORT, *options, v.address], self.cores[1],
                              "tcp-client", namespace=v.client)
        text = self.runner.finish(c)
        self.runner.finish(s)
        return json_in(text)

    def latency(self):
        return self._pingpong("-l", "8", "-n", "50000")["rtt_us_p50"] / 2

    def rate(self):
        return self._pingpong("-r", "-l", "8", "-n", "2000000")["mmsg_s"]

    def bandwidth(self):
        return iperf3(self.runner, self.cores, self.veth, self.veth.address, PORT)

    def measure(self):
        figures = {"tcp_lat_8": self.latency(), "tcp_rate_8": self.rate()}
        if shutil.which("iperf3"):
            figures["tcp_gbit"] = self.bandwidth()
        return figures


class Libfabric:
    """(d) libfabric's tcp provider: fi_pingpong."""

    def __init__(self, runner, cores, veth):
        self.runner, self.cores, self.veth = runner, cores, veth

    @staticmethod
    def missing():
        return None if shutil.which("fi_pingpong") else "libfabric-bin is not installed"

    def _pingpong(self, size, count):
        v = self.veth
        command = ["fi_pingpong", "-p", "tcp", "-e", "msg", "-I", count, "-S", size,
                   "-B", PORT + 1, "-P", PORT + 1]
        s = self.runner.start(command[:-2], self.cores[0], "fi-server", namespace=v.server)
        self.runner.wait_until(lambda: listens(v.server, PORT + 1), s)
        c = self.runner.start(command[:-4] + command[-2:] + [v.address], self.cores[1],
                              "fi-client", namespace=v.client)
        text = self.runner.finish(c)
        self.runner.finish(s)
        row = text.strip().splitlines()[-1].split()
        return float(row[6]), float(row[5]) * 8 / 1000

    def measure(self):
        return {"fi_lat_8": self._pingpong(8, 20000)[0],
                "fi_gbit_1m": self._pingpong(1048576, 2000)[1]}


class Ucx:
    """(d) UCX over tcp: ucx_perftest."""

    def __init__(self, runner, cores, veth):
        self.runner, self.cores, self.veth = runner, cores, veth

    @staticmethod
    def missing():
        return None if shutil.which("ucx_perftest") else "ucx-utils is not installed"

    def _perftest(self, test, size, count):
        v = self.veth
        env = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": "veth0"}
        command = ["ucx_perftest", "-p", PORT + 2]
        s = self.runner.start(command, self.cores[0], "ucx-server", env, v.server)
        self.runner.wait_until(lambda: listens(v.server, PORT + 2), s)
        c = self.runner.start(command + [v.address, "-t", test, "-s", size, "-n", count, "-f"],
                              self.cores[1], "ucx-client", env, v.client)
        text = self.runner.finish(c)
        self.runner.finish(s)
        # iterations, latency (typical, average, overall), MB/s (2), messages/s (2)
        return [float(x) for x in text.splitlines()[-1].replace("Final:", "").split()]

    def measure(self):
        return {"ucx_lat_8": self._perftest("tag_lat", 8, 50000)[1],
                "ucx_rate_8": self._perftest("ucp_put_bw", 8, 500000)[-1] / 1e6,
                "ucx_gbit_1m": self._perftest("ucp_put_bw", 1048576, 3000)[-3] * 8 * 1.048576 / 1e3}


def json_in(text):
    """The last line that is an object."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            return json.loads(line)
    raise Failure(f"no figures in: {text.strip()[-200:]!r}")


def figures_in(text):
    """perftest's last row of figures."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        try:
            rows.append([float(w) for w in words])
        except ValueError:
            continue
    rows = [row for row in rows if len(row) >= 5]
    if not rows:
        raise Failure(f"perftest printed no figures: {text.strip()[-200:]!r}")
    return rows[-1]
