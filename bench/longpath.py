# SPDX-License-Identifier: BSD-2-Clause
"""
Two hosts, one namespace each, and between them `uiwarp wan` in a third:

    PREFIX-near  eth0 -- near  PREFIX-wan  far -- eth0  PREFIX-far

Linux has 10.79.0.1 (near) and 10.79.0.2 (far) on eth0; stacks of our own sit on the same eth0 by
AF_PACKET, as 10.79.0.11 and 10.79.0.12.
"""

import json
import os
import subprocess

from programs import Failure

SIDES = ("near", "far")
# So that no window is what limits Linux, and no connection knows what the one before it learnt.
SYSCTLS = ("net.ipv4.tcp_rmem=4096 131072 67108864", "net.ipv4.tcp_wmem=4096 65536 67108864",
           "net.ipv4.tcp_no_metrics_save=1")
# Rings that bridge the moments in which the kernel runs something else, 16 MB each.
RING = "framecnt=8192"


def _run(*command):
    subprocess.run(command, check=True, capture_output=True)


class LongPath:
    """Made on entry, removed on exit. One emulator at a time runs on it."""

    linux_far, our_near, our_far = "10.79.0.2", "10.79.0.11", "10.79.0.12"

    def __init__(self, runner, uiwarp, wan_core, host_core):
        self.runner, self.uiwarp, self.wan_core, self.host_core = runner, uiwarp, wan_core, host_core
        prefix = f"uiw-path-{os.getpid()}"
        self.namespace = {name: f"{prefix}-{name}" for name in (*SIDES, "wan")}
        self.emulator = None

    def __enter__(self):
        for name in self.namespace.values():
            _run("ip", "netns", "add", name)
        for number, side in enumerate(SIDES, 1):
            self._wire(side, number)
        return self

    def _wire(self, side, number):
        host, wan = self.namespace[side], self.namespace["wan"]
        _run("ip", "-n", wan, "link", "add", "name", side, "type", "veth",
             "peer", "name", "eth0", "netns", host)
        for namespace, device in ((host, "eth0"), (wan, side)):
            # A wire carries no unfinished segments.
            _run("ip", "netns", "exec", namespace, "ethtool", "-K", device,
                 "tx", "off", "rx", "off", "tso", "off", "gso", "off", "gro", "off")
            self._write(namespace, f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6", "1")
            _run("ip", "-n", namespace, "link", "set", device, "up")
        for setting in SYSCTLS:
            _run("ip", "netns", "exec", host, "sysctl", "-qw", setting)
        _run("ip", "-n", host, "addr", "add", f"10.79.0.{number}/24", "dev", "eth0")

    def steer(self, to_host):
        """
        Where the kernel takes in what comes by the emulator's hand: on the hosts' core, at the
        price of an interrupt between the cores for each packet, or on the emulator's. Linux's TCP
        does all its work there and is a little better off with the first; a stack of our own has
        the packet copied there, no more, and needs its core for itself.
        """
        for side in SIDES:
            self._write(self.namespace[side], "/sys/class/net/eth0/queues/rx-0/rps_cpus",
                        f"{1 << self.host_core if to_host else 0:x}")

    @staticmethod
    def _write(namespace, path, value):
        """Of the namespace's own /sys and /proc, which ip-netns mounts."""
        _run("ip", "netns", "exec", namespace, "sh", "-c", f'echo {value} >"{path}"')

    def __exit__(self, *_):
        for name in self.namespace.values():
            subprocess.run(("ip", "netns", "del", name), check=False, capture_output=True)

    def start(self, options, seed):
        """Start the emulator with these options, for the flow that comes next."""
        command = [self.uiwarp, "wan", "--json", "--seed", seed, *options]
        for letter, number, side in (("a", 0, "near"), ("b", 1, "far")):
            command += [f"--{letter}", f"net_af_packet{number},iface={side},{RING}"]
        self.emulator = self.runner.start(command, self.wan_core, "wan",
                                          namespace=self.namespace["wan"])
        self.runner.wait_until(lambda: '"ready"' in self.runner.output(self.emulator),
                               self.emulator)

    def stop(self):
        """End the emulator. Returns what it says of the path, near to far and back."""
        process, self.emulator = self.emulator, None
        if process is None:
            return None
        self.runner.stop(process)
        lines = [line for line in self.runner.output(process).splitlines()
                 if line.startswith('{"seconds"')]
        if not lines:
            raise Failure(f"the emulator gave no totals (see {process.log})")
        return json.loads(lines[-1])

    def our_port(self):
        """The stack's end of eth0."""
        return f"port=net_af_packet0,iface=eth0,{RING}"
