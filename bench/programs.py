# SPDX-License-Identifier: BSD-2-Clause
"""Running programs: pinned, in pairs, with a time limit, and every command remembered."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback


class Failure(Exception):
    """A program did not do what it should; the text says what, in a sentence."""


class Runner:
    """Starts programs on given cores and ends what is left of them."""

    def __init__(self, directory, limit=60):
        self.directory = directory
        self.limit = limit
        self.commands = []
        self.running = []
        self.count = 0

    def start(self, command, core, name, env=None, namespace=None):
        """Start a program on one core (or none in particular). Its output goes to a file."""
        self.count += 1
        command = [str(c) for c in command]
        pinned = ["taskset", "-c", str(core)] + command if core is not None else command
        if namespace:
            pinned = ["ip", "netns", "exec", namespace] + pinned
        words = [f"{k}={v}" for k, v in (env or {}).items()] + pinned
        self.commands.append(" ".join(shlex.quote(w) for w in words))
        path = os.path.join(self.directory, f"{self.count:03d}-{name}.log")
        with open(path, "w", encoding="utf-8") as log:
            log.write("$ " + self.commands[-1] + "\n")
            log.flush()
            process = subprocess.Popen(
                pinned, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})}, process_group=0)
        process.log = path
        process.name = name
        self.running.append(process)
        return process

    def output(self, process):
        """What it has printed so far."""
        with open(process.log, encoding="utf-8", errors="replace") as log:
            log.readline()
            return log.read()

    def finish(self, process, limit=None):
        """Wait for its end, which must be a good one. Returns what it printed."""
        try:
            status = process.wait(limit or self.limit)
        except subprocess.TimeoutExpired:
            self.stop(process)
            raise Failure(f"{process.name} took more than {limit or self.limit} s "
                          f"(see {process.log})") from None
        self.running.remove(process)
        if status:
            raise Failure(f"{process.name} ended with status {status} (see {process.log})")
        return self.output(process)

    def stop(self, process):
        """End it and what it has started: they are a process group of their own."""
        for sig in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sig)
            except ProcessLookupError:
                pass
            try:
                process.wait(3)
                break
            except subprocess.TimeoutExpired:
                continue
        if process in self.running:
            self.running.remove(process)

    def stop_all(self):
        for process in list(self.running):
            self.stop(process)

    def wait_until(self, condition, process, seconds=15, what="is not ready"):
        """Until the condition holds, while the program lives."""
        end = time.monotonic() + seconds
        while not condition():
            if process.poll() is not None:
                raise Failure(f"{process.name} ended early (see {process.log})")
            if time.monotonic() > end:
                raise Failure(f"{process.name} {what} after {seconds} s (see {process.log})")
            time.sleep(0.02)


def child_of(process, name):
    """The process id of the program itself, once taskset and uiwarp have become it; or None."""
    pids = [process.pid]
    for pid in pids:
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                if comm.read().strip() == name[:15]:
                    return pid
            with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as children:
                pids.extend(int(c) for c in children.read().split())
        except FileNotFoundError:
            continue
    return None


def cpu_seconds(pid):
    """User and system time that a process has used, all its threads together."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def listens(namespace, port):
    """Whether Linux has a TCP listener on the port, in the namespace or here."""
    command = ["ss", "-Hltn", f"sport = :{port}"]
    if namespace:
        command = ["ip", "netns", "exec", namespace] + command
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return bool(done.stdout.strip())


def verdict(missed, failed):
    """The exit status: 2 when something could not be measured, else 1 when a bar is missed."""
    return 2 if failed else 1 if missed else 0


def end(main):
    """Ends the process with the status of main(); a fault in a benchmark is no missed bar."""
    try:
        status = main()
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        status = verdict(False, True)
    sys.exit(status)


def work_directory():
    """A short path: a UNIX socket's name has room for 107 bytes."""
    return tempfile.mkdtemp(prefix="uiwb.", dir="/tmp")


@contextlib.contextmanager
def workplace(out, logs, limit=60):
    """
    What every measurement starts with: a runner whose logs go to an empty directory, another for
    sockets, and the cores. Nothing is left running, and no socket lying about.
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        sys.exit("bench: needs two cores, one for each process")
    logs = os.path.join(out, logs)
    shutil.rmtree(logs, ignore_errors=True)
    os.makedirs(logs)
    work, runner = work_directory(), Runner(logs, limit)
    try:
        yield runner, work, cores
    finally:
        runner.stop_all()
        shutil.rmtree(work, ignore_errors=True)
