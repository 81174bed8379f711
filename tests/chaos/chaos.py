# SPDX-License-Identifier: BSD-2-Clause
"""The rounds of scripts/chaos: docs/testing.md."""
import argparse
import os
import pathlib
import queue
import random
import shutil
import sys
import threading
import time
import traceback

import fault
import resources
from lane import PATIENCE, Kernel, Lane, Memif, Plan, Routed, Wan, Wrong

WAN = ["--rate", "200m", "--delay", "2ms", "--loss", "0.2%", "--reorder", "0.5%", "--reorder-by", "1ms",
       "--duplicate", "0.2%", "--corrupt", "0.05%"]
# After so many rounds the survivor must come to rest, and what it holds is looked at.
REST = 10
# The first rests are for what is made once.
WARM = 2
# What the survivor's memory may grow by until its packet buffers have all been touched, and then in the
# whole run; KiB.
RSS_WARM = 80 << 10
RSS_FLAT = 4 << 10

LANES = {
    "memif-server": ("server", lambda lane: Memif(lane, "server"), (1000, 2000)),
    "memif-client": ("client", lambda lane: Memif(lane, "server"), (1000, 3000)),
    "memif-socket": ("server", lambda lane: Memif(lane, "client"), (1000, 2000)),
    "tap-server": ("server", lambda lane: Routed(lane, "tap"), (1000, 2000)),
    "tap-client": ("client", lambda lane: Routed(lane, "tap"), (1000, 3000)),
    "packet-server": ("server", lambda lane: Routed(lane, "af_packet"), (10000, 30000)),
    "wan-server": ("server", lambda lane: Wan(lane, WAN), (1000, 3000)),
    "wan-client": ("client", lambda lane: Wan(lane, WAN), (1000, 2000)),
    "kernel-server": ("server", Kernel, (10000, 30000)),
    "kernel-client": ("client", Kernel, (10000, 30000)),
}


class Chaos:
    def __init__(self, options, plan, isolated):
        self.options = options
        self.plan = plan
        self.isolated = isolated
        self.lock = threading.Lock()
        self.passed = self.failed = self.skipped = self.kills = 0
        self.begin = time.monotonic()
        self.waiting = queue.Queue()
        for i, (name, (survivor, path, patience)) in enumerate(LANES.items()):
            if options.lane and name not in options.lane:
                continue
            if not isolated and not name.startswith(("memif", "wan")):
                self.result("skipped", f"lane {name}", "namespaces cannot be made here")
                continue
            lane = Lane(plan, name, options.seed * 64 + i, survivor, path, patience)
            if options.deliberate == "leak":
                lane.survivor_options = ["-D", "leak"]
            self.waiting.put(lane)

    def result(self, how, name, note=""):
        with self.lock:
            setattr(self, how, getattr(self, how) + 1)
            shown = {"passed": "passed  ", "failed": "FAILED  ", "skipped": "skipped "}[how]
            print(f"  {shown} {name}{': ' if note else ''}{note}", flush=True)

    def goes_on(self):
        with self.lock:
            if self.options.round:
                return True
            if self.options.kills and self.kills >= self.options.kills:
                return False
            if self.options.rounds and self.passed + self.failed >= self.options.rounds:
                return False
            if self.failed >= self.options.failures:
                return False
        return not self.options.time or time.monotonic() - self.begin < self.options.time

    # ---- rounds ------------------------------------------------------------------------------

    def choose(self, lane, chance):
        kinds = {name: weight for name, (_, weight, suits) in fault.KINDS.items()
                 if suits(lane) and (not self.options.only or name in self.options.only)}
        if not kinds:
            raise Wrong("none of the kinds suits this lane")
        return chance.choices(list(kinds), list(kinds.values()))[0]

    def round(self, lane, number, name=None):
        chance = random.Random(f"{lane.seed} {number}")
        name = name or self.choose(lane, chance)
        r = fault.Round(lane, number, chance)
        if self.options.deliberate in ("lost", "flip"):
            r.options += ["-D", self.options.deliberate]
        if self.options.deliberate == "slot" and number == 2:
            lane.keep_slot()
        title = f"{lane.name} round {number}, {name}"
        begin = time.monotonic()
        try:
            fault.KINDS[name][0](r)
            lane.check_survivor()
            how, note = "passed", r.note
        except fault.Skip as why:
            how, note = "skipped", str(why)
        except Wrong as why:
            how, note = "failed", f"{r.note}: {self.reason(lane, why)}"
        finally:
            r.end()
        with self.lock:
            self.kills += r.kills
        self.result(how, title, f"{note}, {time.monotonic() - begin:.1f} s")
        if how == "failed" and lane.survivor.status() is not None:
            lane.survivor.close()
            lane.start_survivor()
            lane.usages = []
        return how

    @staticmethod
    def reason(lane, why):
        """If the survivor has ended there is no need to look at what the victim makes of it."""
        try:
            lane.check_survivor()
        except Wrong as worse:
            return worse
        return why

    def rest(self, lane):
        """Nothing of what has ended is left with the survivor, as soon as it has seen the end."""
        end = time.monotonic() + PATIENCE
        try:
            lane.settle()
            while True:
                lane.check_survivor()
                lane.usages.append(resources.Usage(lane.survivor.pid))
                grown = self.grown(lane)
                if not grown:
                    break
                if time.monotonic() > end:
                    raise Wrong(grown)
                lane.usages.pop()
                time.sleep(0.2)
        except Wrong as why:
            self.result("failed", f"{lane.name} at rest", str(why))
            lane.usages = []

    def grown(self, lane):
        if len(lane.usages) <= WARM:
            return None
        base, now = lane.usages[WARM - 1], lane.usages[-1]
        if now.fds > base.fds or now.threads > base.threads or now.maps > base.maps + 8 or \
           now.rss_kib > base.rss_kib + RSS_WARM:
            return f"the survivor holds {now}; it held {base}"
        return None

    def guarded(self, lane, function):
        """One lane's end must not be that of the others. @return True if there was none."""
        try:
            function(lane)
            return True
        except Exception as why:
            if not isinstance(why, Wrong):
                traceback.print_exc()
            self.result("failed", f"lane {lane.name}", str(why))
            return False

    def next_round(self, lane):
        if not lane.rounds:
            lane.up()
        lane.rounds += 1
        self.round(lane, lane.rounds)
        if lane.rounds % REST == 0:
            self.rest(lane)

    def some_rounds(self, lane):
        """Those of --round alone: what a round draws is of its seed, lane and number."""
        lane.up()
        for lane.rounds in self.options.round:
            self.round(lane, lane.rounds)

    def work(self):
        """Lane by lane, a round of each."""
        done = []
        while self.goes_on():
            try:
                lane = self.waiting.get_nowait()
            except queue.Empty:
                break
            if not self.guarded(lane, self.some_rounds if self.options.round else self.next_round):
                lane.down()
            elif self.options.round:
                done.append(lane)
            else:
                self.waiting.put(lane)
        for lane in done:
            self.waiting.put(lane)

    def last(self, lane):
        """A victim that leaves in order, too: the port, the claim and the slot are there for it."""
        if not lane.rounds:
            return
        lane.rounds += 1
        self.round(lane, lane.rounds, "leave")
        self.rest(lane)
        self.leave(lane)

    def leave(self, lane):
        usages = lane.usages
        half = len(usages) // 2
        note = f"{len(usages)} rests; at first {usages[0]}; at last {usages[-1]}" if usages else ""
        grown = usages[-1].rss_kib - usages[half].rss_kib if len(usages) > 20 else 0
        lane.leave()
        if grown > RSS_FLAT:
            raise Wrong(f"memory has grown by {grown} KiB in the second half: {note}")
        self.result("passed", f"lane {lane.name}", note)

    # ---- what is left ------------------------------------------------------------------------

    def clean(self):
        """Nothing but this program is there any more, nor anything that the others made, but for the
        directories of slots, whose files stay (src/host/slot.c)."""
        slots = [pathlib.Path("/run/uiwarp"), pathlib.Path(f"/tmp/uiwarp-{os.geteuid()}")]
        found = [*pathlib.Path("/dev/shm").iterdir(),
                 *(p for p in pathlib.Path("/tmp").iterdir() if p not in slots),
                 *(p for d in slots if d.exists() for p in d.iterdir() if p.is_socket()),
                 *(p for p in pathlib.Path("/run/dpdk").glob("*") if p.is_dir())]
        links = [line.split()[7] for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]
                 if len(line.split()) > 7]
        found += [f"socket {name}" for name in links]
        netns = pathlib.Path("/run/netns")
        found += [*netns.iterdir()] if netns.exists() else []
        groups = [*pathlib.Path("/sys/fs/cgroup").glob(f"*/{self.plan.tag}-*")]
        processes = [p.name for p in pathlib.Path("/proc").iterdir() if p.name.isdigit()
                     and int(p.name) not in (1, os.getpid())]
        found += groups + [f"process {p}" for p in processes]
        if found:
            self.result("failed", "clean", "left behind: " + ", ".join(map(str, found)))
        else:
            self.result("passed", "clean", "no files, sockets, namespaces or processes are left")

    def run(self):
        threads = [threading.Thread(target=self.work) for _ in range(self.options.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        while not self.waiting.empty():
            lane = self.waiting.get()
            self.guarded(lane, self.last)
            lane.down()
        if self.isolated:
            self.clean()
        seconds = time.monotonic() - self.begin
        print(f"{self.kills} killed in {seconds:.0f} s, seed {self.options.seed}")
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 0 if not self.failed else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kills", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--time", type=float)
    parser.add_argument("--round", type=int, action="append")
    parser.add_argument("--only", action="append", choices=sorted(fault.KINDS))
    parser.add_argument("--lane", action="append", choices=sorted(LANES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--failures", type=int, default=20)
    parser.add_argument("--deliberate", choices=["lost", "flip", "leak", "slot"])
    parser.add_argument("--isolated", action="store_true")
    options = parser.parse_args()
    if not (options.kills or options.rounds or options.time or options.round):
        options.kills = 1000
    root = pathlib.Path(__file__).resolve().parents[2]
    out = root / "out/chaos" / str(options.seed)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    print(f"seed {options.seed}", flush=True)
    return Chaos(options, Plan(root, pathlib.Path(os.environ["CHAOS_BUILD"]), out), options.isolated).run()


if __name__ == "__main__":
    sys.exit(main())
