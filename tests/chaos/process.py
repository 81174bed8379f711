# SPDX-License-Identifier: BSD-2-Clause
"""A process whose lines are read as they come."""
import os
import re
import shutil
import signal
import subprocess
import threading
import time


class Process:
    """A command with its output in a list of lines, and in a log file."""

    def __init__(self, argv, log, env=None, prepare=None):
        def begin():
            # Who starts this script may ignore some, as shells and nohup do.
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            if prepare:
                prepare()

        self.argv = argv
        self.log = log
        self.lines = []
        self._more = threading.Condition()
        self._out = open(log, "a", encoding="utf-8", errors="replace")
        self._child = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})}, preexec_fn=begin)
        self.pid = self._child.pid
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for raw in self._child.stdout:
            line = raw.decode(errors="replace").rstrip("\n")
            self._out.write(f"{time.monotonic():.3f} {line}\n")
            self._out.flush()
            with self._more:
                self.lines.append(line)
                self._more.notify_all()
        with self._more:
            self._more.notify_all()

    def is_alive(self):
        return self._child.poll() is None

    def status(self):
        """The exit status; of an end by a signal its negative number; None while it lives."""
        return self._child.poll()

    def find(self, pattern, begin=0):
        """The first line that matches, from that number on: its match, or None."""
        for line in self.lines[begin:]:
            match = re.match(pattern, line)
            if match:
                return match
        return None

    def wait_line(self, pattern, seconds, begin=0):
        """The same, as soon as it is there; None when the process ends or time is over before."""
        end = time.monotonic() + seconds
        with self._more:
            while True:
                match = self.find(pattern, begin)
                if match or time.monotonic() >= end:
                    return match
                begin = len(self.lines)  # a survivor says more and more
                if not self.is_alive() and not self._reader.is_alive():
                    return None
                self._more.wait(0.1)

    def wait_end(self, seconds):
        """The status, or None when it still lives after so long."""
        try:
            status = self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        # A child of its own may hold the output open.
        self._reader.join(1)
        return status

    def signal(self, number):
        if self.is_alive():
            self._child.send_signal(number)

    def tell_where(self):
        """What its threads do, for the log of one that does not end."""
        if self.is_alive() and shutil.which("gdb"):
            found = subprocess.run(["gdb", "-p", str(self.pid), "-batch", "-ex", "thread apply all bt"],
                                   capture_output=True, text=True, check=False)
            self._out.write(found.stdout)
            self._out.flush()

    def kill(self):
        """@return True if it was alive until then."""
        alive = self.is_alive()
        self.signal(signal.SIGKILL)
        self._child.wait()
        self._reader.join(1)
        return alive

    def leave(self):
        """Tell it that nothing more will come."""
        try:
            self._child.stdin.close()
        except OSError:
            pass

    def close(self):
        if self.is_alive():
            self.kill()
        self.leave()
        # Its children may still have the other end, and hold the reader up.
        if not self._reader.is_alive():
            self._child.stdout.close()
            self._out.close()
