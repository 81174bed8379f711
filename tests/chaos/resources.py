# SPDX-License-Identifier: BSD-2-Clause
"""What a process has and may have: control groups, descriptors, memory."""
import os
import pathlib

CGROUPS = pathlib.Path("/sys/fs/cgroup")


class Cgroup:
    """A control group of one controller, of either version. It is removed when it is left."""

    def __init__(self, controller, name, values):
        self.path = None
        for base in (CGROUPS / controller, CGROUPS / "unified", CGROUPS):
            if self._make(base / name, values):
                return

    def _make(self, path, values):
        try:
            path.mkdir()
        except OSError:
            return False
        try:
            for file, value in values:
                if (path / file).exists():
                    (path / file).write_text(str(value))
                    self.path = path
        except OSError:
            self.path = None
        if not self.path:
            path.rmdir()
        return bool(self.path)

    def enter(self):
        """For the child between fork() and exec()."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        if self.path:
            self.path.rmdir()
            self.path = None


def cpu(name, percent):
    return Cgroup("cpu", name, [("cpu.cfs_period_us", 100000), ("cpu.cfs_quota_us", percent * 1000),
                                ("cpu.max", f"{percent * 1000} 100000")])


def memory(name, mib):
    return Cgroup("memory", name, [("memory.limit_in_bytes", mib << 20), ("memory.max", mib << 20)])


class Usage:
    """What a process holds at one moment."""

    def __init__(self, pid):
        root = pathlib.Path("/proc") / str(pid)
        status = dict(line.split(":", 1) for line in (root / "status").read_text().splitlines())
        self.fds = len(os.listdir(root / "fd"))
        self.threads = int(status["Threads"])
        self.rss_kib = int(status["VmRSS"].split()[0])
        self.maps = len((root / "maps").read_text().splitlines())

    def __str__(self):
        return (f"{self.fds} descriptors, {self.threads} threads, {self.maps} mappings, "
                f"{self.rss_kib} KiB")
