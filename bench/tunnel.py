# SPDX-License-Identifier: BSD-2-Clause
"""iperf3 through two stunnels, over the veth pair of the kernel's TCP: each beside its end, on its core."""

import os
import shutil
import subprocess

import measure
from programs import Failure, listens, text_of

# Where the stunnels listen: the server's for the client's, and that for iperf3.
PORT = measure.PORT + 3


def stunnel_missing():
    for program in ("iperf3", "stunnel4"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


def kernel_tls_missing():
    """Why stunnel cannot leave the records to Linux, or None."""
    if "tls" not in text_of("/proc/sys/net/ipv4/tcp_available_ulp").split():
        return "this kernel has no TLS (or its module tls is not loaded)"
    said = subprocess.run(("openssl", "s_server", "-help"), capture_output=True, text=True, check=False)
    return None if "-ktls" in said.stderr + said.stdout else "OpenSSL was built without kernel TLS"


class Tunnel:
    """With the certificates of both sides in the work directory."""

    def __init__(self, runner, work, cores, veth, kernel_tls=False):
        self.runner, self.work, self.cores, self.veth = runner, work, cores, veth
        self.kernel_tls = kernel_tls

    def _start(self, side, accept, connect):
        """A stunnel, once it listens."""
        path = lambda name: os.path.join(self.work, name)
        core, namespace = ((self.cores[0], self.veth.server) if side == "server" else
                           (self.cores[1], self.veth.client))
        lines = ["foreground = yes", "pid =", "syslog = no", "[iperf3]",
                 f"client = {'no' if side == 'server' else 'yes'}",
                 f"accept = {accept}:{PORT}", f"connect = {connect}",
                 f"cert = {path(side + '.pem')}", f"key = {path(side + '.key')}",
                 f"CAfile = {path('ca.pem')}", "verifyChain = yes", "sslVersion = TLSv1.3",
                 "ciphersuites = TLS_AES_128_GCM_SHA256"]
        if self.kernel_tls:
            lines.append("options = ENABLE_KTLS")
        with open(path(f"stunnel-{side}.conf"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        p = self.runner.start(["stunnel4", path(f"stunnel-{side}.conf")], core, f"stunnel-{side}",
                              namespace=namespace)
        self.runner.wait_until(lambda: listens(namespace, PORT), p, what="does not listen")
        return p

    def _records_of_linux(self):
        """Connections of which Linux has made the records, so far."""
        done = subprocess.run(("ip", "netns", "exec", self.veth.client, "cat", "/proc/net/tls_stat"),
                              capture_output=True, text=True, check=False)
        return sum(int(line.split()[1]) for line in done.stdout.splitlines()
                   if line.startswith(("TlsTxSw", "TlsTxDevice")))

    def bandwidth(self):
        before = self._records_of_linux() if self.kernel_tls else 0
        v = self.veth
        tunnels = [self._start("server", v.address, f"127.0.0.1:{measure.PORT}"),
                   self._start("client", "127.0.0.1", f"{v.address}:{PORT}")]
        figure = measure.iperf3(self.runner, self.cores, v, "127.0.0.1", PORT)
        for tunnel in tunnels:
            self.runner.stop(tunnel)
        if self.kernel_tls and self._records_of_linux() == before:
            raise Failure("stunnel has not left its records to Linux")
        return figure
