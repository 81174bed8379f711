# SPDX-License-Identifier: BSD-2-Clause
"""A lane: one end that lives on, the survivor, and the path to the other, where victims come and go."""
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time

from process import Process

# Seconds for what takes moments on an idle machine.
PATIENCE = 60
NUMBERS = {"server": 1, "client": 2}


class Wrong(Exception):
    """What should not have happened."""


class Plan:
    """What all lanes know: where things are."""

    def __init__(self, root, build, out):
        self.root = root
        self.uiwarp = os.environ.get("UIWARP", str(build / "tools/uiwarp"))
        self.pair = str(build / "tests/chaos/pair")
        self.realtime = str(build / "tests/chaos/librealtime.so")
        self.out = out
        # Process ids are those of a namespace: others may have this script's. Names of slots are short.
        self.tag = f"uiwc-{os.urandom(2).hex()}"


class Memif:
    """Shared memory between the two ends. The one that makes the socket need not be who listens."""
    networks = {"server": ("10.77.0", "fd77:"), "client": ("10.77.0", "fd77:")}
    captures = True

    def __init__(self, lane, socket_side):
        self.lane = lane
        self.socket_side = socket_side

    def up(self):
        pass

    def settings(self, side):
        role = "server" if side == self.socket_side else "client"
        return [f"port=net_memif0,role={role},socket={self.lane.dir}/memif,socket-abstract=no"]

    def inside(self, side):
        return []

    def down(self):
        pass


class Wan(Memif):
    """Two memifs, with uiwarp wan between them."""

    def __init__(self, lane, path):
        super().__init__(lane, None)
        self.path = path
        self.emulator = None

    def up(self):
        ports = [f"net_memif{n},role=server,id={n},socket={self.lane.dir}/wan{n},socket-abstract=no"
                 for n in (1, 2)]
        self.emulator = Process(
            [self.lane.plan.uiwarp, "wan", "--json", "--a", ports[0], "--b", ports[1],
             "--seed", str(self.lane.seed), *self.path], self.lane.log("wan"))
        if not self.emulator.wait_line('.*"ready"', PATIENCE):
            raise Wrong("uiwarp wan does not start")

    def settings(self, side):
        n = NUMBERS[side]
        return [f"port=net_memif0,role=client,id={n},socket={self.lane.dir}/wan{n},socket-abstract=no"]

    def restart(self):
        """Killed, and another one in its place."""
        self.emulator.kill()
        self.emulator.close()
        self.up()

    def down(self):
        if self.emulator:
            self.emulator.close()


class Routed:
    """Namespaces with Linux routers between: scripts/lib/netns.sh."""
    networks = {"server": ("10.1.0", "fd01:"), "client": ("10.2.0", "fd02:")}
    socket_side = None
    captures = True

    def __init__(self, lane, port):
        self.lane = lane
        self.port = port
        self.prefix = f"{lane.plan.tag}-{lane.name}"

    def _shell(self, command):
        subprocess.run(["bash", "-euc", f"source scripts/lib/common.sh; source scripts/lib/netns.sh\n{command}"],
                       cwd=self.lane.plan.root, check=True, stdin=subprocess.DEVNULL)

    def up(self):
        self._shell(f"netns_up {self.prefix} {self.port}")

    def settings(self, side):
        v4, v6 = self.networks[side]
        port = {"tap": "net_tap0,iface=tap0", "af_packet": "net_af_packet0,iface=uiw0"}[self.port]
        return [f"port={port}", f"gateway={v4}.1", f"gateway={v6}:1"]

    def inside(self, side):
        return ["ip", "netns", "exec", f"{self.prefix}-{side}"]

    def down(self):
        self._shell(f"netns_prefix={self.prefix}; netns_down")


class Kernel:
    """The host's own TCP, over the loopback interface of a network namespace. Its packets are Linux's to capture."""
    networks = {"server": ("127.0.0", "fd77:"), "client": ("127.0.0", "fd77:")}
    socket_side = None
    captures = False

    def __init__(self, lane):
        self.name = f"{lane.plan.tag}-{lane.name}"

    def _ip(self, *words):
        subprocess.run(["ip", *words], check=True, stdin=subprocess.DEVNULL)

    def up(self):
        self._ip("netns", "add", self.name)
        self._ip("-n", self.name, "link", "set", "lo", "up")
        for n in NUMBERS.values():
            self._ip("-n", self.name, "addr", "add", f"fd77::{n}/64", "dev", "lo", "nodad")

    def settings(self, side):
        return ["port=kernel"]

    def inside(self, side):
        return ["ip", "netns", "exec", self.name]

    def down(self):
        subprocess.run(["ip", "netns", "del", self.name], check=False, stdin=subprocess.DEVNULL)


class Lane:
    """survivor: which of the two it is, "server" or "client" of the connections."""

    def __init__(self, plan, name, seed, survivor, make_path, patience_ms=(1000, 2000)):
        self.plan = plan
        self.name = name
        self.seed = seed
        self.side = survivor
        self.other = "client" if survivor == "server" else "server"
        self.keepalive, self.user_timeout = patience_ms
        self.dir = pathlib.Path("/tmp") / f"{plan.tag}-{name}"
        self.path = make_path(self)
        self.number = 1 if survivor == "server" else 2
        self.family = seed % 2
        self.survivor = None
        self.usages = []
        self.rounds = 0
        self.survivor_options = []
        self.clock = self.kept = None
        self.slot_of = {"server": 1, "client": 2}
        if isinstance(self.path, Routed):
            self.slot_of = {"server": 2, "client": 2}

    def log(self, name):
        return str(self.plan.out / f"{self.name}.{name}.log")

    # ---- ends --------------------------------------------------------------------------------

    def address(self, side, family):
        v4, v6 = self.path.networks[side]
        slot = self.slot_of[side]
        return f"{v6}:{slot}" if family else f"{v4}.{slot}"

    def settings(self, side, more=()):
        v4, v6 = self.path.networks[side]
        slot = self.slot_of[side]
        words = [*self.path.settings(side), f"address={v4}.%{{slot}}/24",
                 f"address={v6}:%{{slot:x}}/64", f"slots={self.dir.name}-{side}:{slot}-{slot}",
                 f"keepalive={self.keepalive}", f"user_timeout={self.user_timeout}", "log=info", *more]
        return [word for setting in words for word in ("--set", setting)]

    def start(self, side, name, options=(), more=(), env=None, prepare=None, family=0):
        if side == self.path.socket_side and side == self.side:
            # That of a survivor of before; what a victim leaves there is the next one's trouble.
            (self.dir / "memif").unlink(missing_ok=True)
        argv = [*self.path.inside(side), self.plan.uiwarp, "run", *self.settings(side, more), "--",
                self.plan.pair, "-t", str(self.patience_ms()), *options]
        if side == "client":
            argv.append(self.address("server", family))
        return Process(argv, self.log(name), env, prepare)

    def patience_ms(self):
        """How long an end may take to be told of. The machine may be busy: it is much more than is documented."""
        return self.user_timeout + self.keepalive + 20000

    def start_survivor(self):
        self.clock = self.dir / "clock"
        self.clock.write_bytes(bytes(8))
        env = {"LD_PRELOAD": self.plan.realtime, "CHAOS_REALTIME": str(self.clock)}
        self.survivor = self.start(self.side, "survivor", self.survivor_options, env=env, family=self.family)
        if self.side == "server" and not self.survivor.wait_line("listening", PATIENCE):
            raise Wrong("the survivor does not listen")

    def step_clock(self, seconds):
        with open(self.clock, "r+b", buffering=0) as f:
            f.write(seconds.to_bytes(8, "little", signed=True))

    # ---- the survivor ------------------------------------------------------------------------

    def check_survivor(self):
        status = self.survivor.status()
        wrong = self.survivor.find("wrong: .*")
        if status is not None or wrong:
            raise Wrong(f"the survivor: {wrong[0] if wrong else f'ended with status {status}'}")

    def _links(self, word):
        return sum(line.startswith(word) for line in self.survivor.lines)

    def settle(self):
        """No victim is there: all links of the survivor come to their end."""
        end = time.monotonic() + self.patience_ms() / 1000 + PATIENCE
        while self._links("end ") < self._links("up "):
            self.check_survivor()
            if time.monotonic() > end:
                raise Wrong(f"{self._links('up ') - self._links('end ')} links of the survivor have no end")
            time.sleep(0.05)

    def moved(self, process):
        """Completions so far, over all its links."""
        begin = len(process.lines)
        process.signal(signal.SIGUSR1)
        if not process.wait_line("asked", PATIENCE, begin):
            raise Wrong(f"a program does not answer: {process.argv[-1]}")
        words = [line.split() for line in process.lines[begin:] if line.startswith("moved ")]
        return {int(n): int(count) for _, n, count in words}

    def goes_on(self, process, seconds=PATIENCE):
        """The newest link of the process moves."""
        before = self.moved(process)
        if not before:
            raise Wrong("there is no link any more")
        newest = max(before)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            now = self.moved(process)
            if newest not in now:
                raise Wrong(f"link {newest} has ended")
            if now[newest] > before[newest]:
                return
            time.sleep(0.05)
        raise Wrong(f"link {newest} stands still")

    def keep_slot(self):
        """As if a victim's slot were not free when it has ended."""
        slots = pathlib.Path("/run/uiwarp") / f"{self.dir.name}-{self.other}.{self.slot_of[self.other]}"
        self.kept = open(slots, "a", encoding="utf-8")
        fcntl.flock(self.kept, fcntl.LOCK_EX)

    # ---- life --------------------------------------------------------------------------------

    def up(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        self.dir.mkdir()
        self.path.up()
        self.start_survivor()

    def leave(self):
        """The survivor is asked to leave in order."""
        self.survivor.leave()
        status = self.survivor.wait_end(PATIENCE)
        if status != 0:
            raise Wrong(f"the survivor leaves with status {status}")

    def down(self):
        if self.survivor:
            self.survivor.close()
        self.path.down()
        shutil.rmtree(self.dir, ignore_errors=True)
