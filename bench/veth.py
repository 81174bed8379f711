# SPDX-License-Identifier: BSD-2-Clause
"""Two network namespaces joined by a veth pair, for the kernel's TCP and what stands on it."""

import os
import subprocess
import time


def _run(*command):
    subprocess.run(command, check=True, capture_output=True)


class Veth:
    """Made on entry, removed on exit. MTU 1500, Linux's own offloads left as they are."""

    address = "10.78.0.1"

    def __init__(self):
        prefix = f"uiw-bench-{os.getpid()}"
        self.server = prefix + "-s"
        self.client = prefix + "-c"

    @staticmethod
    def missing():
        """Why it cannot be made here, or None."""
        if os.geteuid() != 0:
            return "needs root (network namespaces)"
        probe = f"uiw-bench-probe-{os.getpid()}"
        try:
            _run("ip", "netns", "add", probe)
            _run("ip", "netns", "del", probe)
        except (OSError, subprocess.CalledProcessError):
            return "this system does not let us make network namespaces"
        return None

    def __enter__(self):
        _run("ip", "netns", "add", self.server)
        _run("ip", "netns", "add", self.client)
        _run("ip", "-n", self.server, "link", "add", "veth0", "type", "veth",
             "peer", "name", "veth0", "netns", self.client)
        for namespace, number in ((self.server, 1), (self.client, 2)):
            _run("ip", "-n", namespace, "addr", "add", f"10.78.0.{number}/24", "dev", "veth0")
            _run("ip", "-n", namespace, "link", "set", "lo", "up")
            _run("ip", "-n", namespace, "link", "set", "veth0", "up")
        self._wait_up()
        return self

    def _wait_up(self):
        """UCX does not use a device that is not up yet."""
        end = time.monotonic() + 5
        while time.monotonic() < end:
            links = [subprocess.run(("ip", "-n", n, "-o", "link", "show", "veth0"), check=True,
                                    capture_output=True, text=True).stdout
                     for n in (self.server, self.client)]
            if all("state UP" in link for link in links):
                return
            time.sleep(0.02)

    def __exit__(self, *_):
        for namespace in (self.server, self.client):
            subprocess.run(("ip", "netns", "del", namespace), check=False, capture_output=True)
