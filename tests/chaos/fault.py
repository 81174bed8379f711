# SPDX-License-Identifier: BSD-2-Clause
"""What is done to victims. Each kind is a function of a round; what it draws comes from the round's
own chance, before anything happens, so that a seed draws the same again."""
import glob
import os
import resource
import shutil
import signal
import subprocess
import time

import resources
from lane import PATIENCE, Wan, Wrong

KINDS = {}


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


class Skip(Exception):
    """Why a round cannot be had here."""


def kind(weight, suits=lambda lane: True):
    """weight: how often it is drawn. suits: of which lanes."""
    def register(function):
        KINDS[function.__name__.replace("_", "-")] = (function, weight, suits)
        return function
    return register


class Round:
    """One victim, from its start to its end."""

    def __init__(self, lane, number, chance):
        self.lane = lane
        self.number = number
        self.chance = chance
        self.victim = None
        self.note = ""
        self.kills = 0
        self.family = chance.randrange(2) if lane.side == "server" else lane.family
        self.options = ["-s", str(chance.randrange(1 << 30))]
        if chance.random() < 0.2:
            self.options.append("-b")

    def start(self, options=(), **how):
        self.victim = self.lane.start(self.lane.other, "victim", [*self.options, *options],
                                      family=self.family, **how)

    def works(self, nth=1):
        """Until it has verified each kind of request over its n-th link or a later one."""
        seen = 0
        for _ in range(nth):
            match = self.wait("works|wrong|lacks", seen)
            if not match or match[0] != "works":
                raise Wrong(self.said() or "the victim does not come to work")
            seen = next(i for i in range(seen, len(self.victim.lines))
                        if self.victim.lines[i].startswith("works")) + 1

    def wait(self, pattern, begin=0):
        """For a line of the victim's, while the survivor is well."""
        end = time.monotonic() + PATIENCE
        match = None
        while not match and time.monotonic() < end and self.victim.is_alive():
            self.lane.check_survivor()
            match = self.victim.wait_line(pattern, 1, begin)
        return match or self.victim.find(pattern, begin)

    def said(self):
        """What it found wrong, or why it did not go on."""
        match = self.victim.find("wrong: .*") or self.victim.find("uiwarp: .*(in use|cannot|taken|limit).*") or \
            self.victim.find("lacks: .*")
        status = self.victim.status()
        text = match[0] if match else ""
        return f"{text} (status {status})" if status is not None else text

    def pause(self, seconds):
        """The victim is alive until then, unless its fault may end it."""
        time.sleep(seconds)
        if self.victim.find("wrong: .*"):
            raise Wrong(self.said())

    def kill(self):
        if self.victim.find("wrong: .*"):
            raise Wrong(self.said())
        if not self.victim.kill():
            raise Wrong(f"the victim ended before it was killed: {self.said()}")
        self.kills += 1

    def kill_at(self, seconds):
        self.pause(seconds)
        self.kill()

    def goes_on(self):
        self.lane.goes_on(self.victim)

    def end(self):
        if self.victim:
            self.victim.close()

    def serves_nobody(self):
        """A server cannot tell its program of a connection that there was no descriptor for; the stack does."""
        return self.lane.other == "server" and self.victim.find("uiwarp: .*no descriptor is left")

    def may_lack(self):
        """Under a limit: either it works, or it ends and says why. @return True: it works."""
        match = self.victim.wait_line("works|wrong|lacks|uiwarp: ", PATIENCE)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.victim.find("works"):
                return True
            status = self.victim.wait_end(0.2)
            if status is None and self.serves_nobody():
                self.note += ", has no descriptor for a connection"
                self.kill()
                return False
            if status is None:
                continue
            if status in (-signal.SIGKILL, -signal.SIGXFSZ):
                # Out of the group's memory; beyond `ulimit -f`, which is the kernel's own way to say so.
                self.note += ", killed by the kernel"
                self.kills += 1
                return False
            if status < 0 or status == 1 and self.victim.find("wrong"):
                raise Wrong(f"the victim crashed: {self.said()}")
            if not match and not self.victim.find(".*[a-z]{4}"):
                raise Wrong(f"the victim ended with status {status} and without a word")
            self.note += f", ended with status {status}"
            return False
        raise Wrong("the victim neither works nor ends")


# ---- ends ------------------------------------------------------------------------------------

@kind(8)
def kill(r):
    """kill -9 while both sides are busy."""
    moment = r.chance.uniform(0, 1)
    r.start()
    r.works()
    r.note = f"{moment:.3f} s after it worked"
    r.kill_at(moment)


@kind(6)
def kill_early(r):
    """kill -9 at any moment from exec() on: loading, the port, the claim, the connection."""
    moment = r.chance.uniform(0, 1.5)
    r.note = f"{moment:.3f} s after its start"
    r.start()
    r.kill_at(moment)


@kind(2)
def kill_twice(r):
    """Several die, one right after the other."""
    moments = [r.chance.uniform(0.2, 0.9) for _ in range(3)]
    r.note = ", ".join(f"{moment:.3f}" for moment in moments) + " s after their starts"
    for moment in moments:
        r.start()
        r.kill_at(moment)
        r.end()


@kind(1)
def end_by_signal(r):
    """Signals that end a process; of some the stack hears."""
    number = r.chance.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT,
                              signal.SIGSEGV, signal.SIGQUIT])
    moment = r.chance.uniform(0, 0.5)
    r.note = f"{number.name} {moment:.3f} s after it worked"
    r.start()
    r.works()
    r.pause(moment)
    r.victim.signal(number)
    status = r.victim.wait_end(PATIENCE)
    if status != -number:
        r.victim.tell_where()
        raise Wrong(f"the victim ended with status {status}, not by {number.name}")


@kind(2)
def leave(r):
    """In order, with all that was sent acknowledged."""
    count = r.chance.randrange(50, 400)
    r.note = f"after {count} messages"
    r.start(["-c", str(count)] if r.lane.other == "client" else [])
    r.works()
    if r.lane.other == "server":
        r.victim.leave()
    status = r.victim.wait_end(PATIENCE)
    if status != 0:
        raise Wrong(f"the victim does not leave: {r.said()}")


# ---- time ------------------------------------------------------------------------------------

@kind(2)
def stop(r):
    """SIGSTOP for less than a peer waits: nothing may come of it."""
    seconds = r.chance.uniform(0, r.lane.user_timeout / 4000)
    times = r.chance.randrange(1, 4)
    r.note = f"{times} times {seconds:.3f} s"
    r.start()
    r.works()
    for _ in range(times):
        r.victim.signal(signal.SIGSTOP)
        time.sleep(seconds)
        r.victim.signal(signal.SIGCONT)
        r.victim.wait_line("works 2", 0.2)
    r.note += "" if len(r.lane.moved(r.victim)) and not r.victim.find("end ") else ", with an end"
    r.victim.wait_line("works 2", 0.1)
    r.kill()


@kind(1, lambda lane: lane.user_timeout <= 5000)
def stop_long(r):
    """SIGSTOP until the peer has given up; the next link works."""
    seconds = (r.lane.user_timeout + 2 * r.lane.keepalive) / 1000 + r.chance.uniform(1, 2)
    dies = r.chance.random() < 0.3
    r.note = f"{seconds:.3f} s" + (", and killed then" if dies else "")
    r.start()
    r.works()
    r.victim.signal(signal.SIGSTOP)
    time.sleep(seconds)
    if not dies:
        r.victim.signal(signal.SIGCONT)
        r.works(2)
    r.kill()


@kind(2)
def clock(r):
    """CLOCK_REALTIME steps, at the victim and the survivor. Connections do not notice."""
    steps = [r.chance.choice([-1, 1]) * 10 ** r.chance.randrange(10) for _ in range(4)]
    r.note = "steps to " + ", ".join(f"{step:+d}" for step in steps)
    r.start(env={"LD_PRELOAD": r.lane.plan.realtime, "CHAOS_REALTIME": str(r.lane.clock)})
    r.works()
    for step in steps:
        r.lane.step_clock(step)
        r.goes_on()
        r.lane.goes_on(r.lane.survivor)
    r.lane.step_clock(0)
    r.goes_on()
    r.kill()


# ---- resources -------------------------------------------------------------------------------

@kind(2)
def cpu(r):
    """A control group with a part of a core."""
    percent = r.chance.choice([10, 20, 40])
    moment = r.chance.uniform(0, 1)
    r.note = f"{percent} % of a core"
    group = resources.cpu(f"{r.lane.dir.name}", percent)
    if not group.path:
        raise Skip("no control group of processor time can be had")
    try:
        r.start(prepare=group.enter)
        r.works()
        r.pause(moment)
        r.kill()
    finally:
        r.end()
        group.remove()


@kind(2)
def memory(r):
    """A control group with little memory: it works, or says what it lacks, or the kernel kills it."""
    mib = r.chance.choice([8, 16, 24, 32, 48, 64, 96, 128, 160, 200])
    moment = r.chance.uniform(0, 0.5)
    r.note = f"{mib} MiB"
    group = resources.memory(f"{r.lane.dir.name}", mib)
    if not group.path:
        raise Skip("no control group of memory can be had")
    try:
        r.start(prepare=group.enter)
        if r.may_lack():
            r.pause(moment)
            if r.victim.kill():
                r.kills += 1
    finally:
        r.end()
        group.remove()


@kind(2)
def disk(r):
    """Log and capture on a file system without room."""
    size = r.chance.choice([4, 64, 1024])
    moment = r.chance.uniform(0, 1)
    full = r.lane.dir / "full"
    r.note = f"{size} KiB"
    full.mkdir(exist_ok=True)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "chaos", str(full)],
                           capture_output=True, check=False)
    if mount.returncode:
        raise Skip("no file system can be mounted")
    try:
        capture = [f"capture={full}/capture"] if r.lane.path.captures else []
        r.start(more=[f"log_file={full}/log", *capture, "log=debug"])
        r.works()
        r.pause(moment)
        r.goes_on()
        if shutil.disk_usage(full).free:
            r.note += ", not full"
        r.kill()
    finally:
        r.end()
        subprocess.run(["umount", str(full)], check=True)


LIMITS = {
    "n": (resource.RLIMIT_NOFILE, [4, 8, 12, 16, 20, 24, 32, 64, 128]),
    "l": (resource.RLIMIT_MEMLOCK, [0, 4096, 65536, 1 << 20]),
    "v": (resource.RLIMIT_AS, [n << 20 for n in (32, 64, 96, 128, 160, 192, 224, 256, 320, 384, 512, 1024)]),
    "u": (resource.RLIMIT_NPROC, [0, 1, 2, 3, 4, 6]),
    "s": (resource.RLIMIT_STACK, [n << 10 for n in (64, 128, 256, 1024)]),
    "f": (resource.RLIMIT_FSIZE, [0, 4096, 65536]),
}


@kind(4)
def limit(r):
    """ulimit: it works, or ends and says what it lacks."""
    names = sorted(LIMITS)
    if os.getuid() or r.lane.path.socket_side != r.lane.other:
        # It is not for root, and others do not get at the port of this lane.
        names.remove("u")
    name = r.chance.choice(names)
    what, values = LIMITS[name]
    value = r.chance.choice(values)
    r.note = f"ulimit -{name}, {value}"
    nobody = name == "u"

    def prepare():
        resource.setrlimit(what, (value, value))
        if nobody:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)

    if nobody:
        r.lane.dir.chmod(0o777)
    r.start(prepare=prepare)
    if r.may_lack():
        r.goes_on()
        r.kill()
    if nobody:
        (r.lane.dir / "memif").unlink(missing_ok=True)
        for directory in ("/tmp/uiwarp-65534", "/tmp/dpdk"):
            shutil.rmtree(directory, ignore_errors=True)


# ---- the program's own doing -----------------------------------------------------------------

@kind(2)
def unmap(r):
    """munmap() of registered memory under the peer's Writes: the link ends, the next one works."""
    count = r.chance.randrange(1, 200)
    r.note = f"after {count} messages"
    r.start(["-u", str(count)])
    if not r.wait("end "):
        raise Wrong(f"the link does not end: {r.said()}")
    # Another one comes, and ends likewise.
    if not r.wait("up 2"):
        raise Wrong(f"there is no second link: {r.said()}")
    r.kill()


@kind(2)
def fork(r):
    """Children without an end, that end in different ways."""
    moment = r.chance.uniform(0.2, 1.5)
    r.note = f"for {moment:.3f} s"
    r.start(["-f"])
    r.works()
    r.pause(moment)
    r.goes_on()
    r.kill()


@kind(1)
def orphan(r):
    """A child outlives the victim, and has copies of all its descriptors: the next one works at once."""
    r.start(["-o", "600"])
    r.works()
    if not r.wait("orphan"):
        raise Wrong(f"it has no child: {r.said()}")
    orphans = children_of(r.victim.pid)
    try:
        r.kill()
        r.end()
        r.start()
        r.works()
        if not any(os.path.exists(f"/proc/{pid}") for pid in orphans):
            raise Wrong("the child did not outlive the victim")
        r.kill()
    finally:
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)


@kind(2)
def cancel(r):
    """Threads that are cancelled while they poll or wait."""
    moment = r.chance.uniform(0.2, 1.5)
    r.note = f"for {moment:.3f} s"
    r.start(["-x"])
    r.works()
    r.pause(moment)
    r.goes_on()
    r.kill()


@kind(2)
def allocator(r):
    """Another malloc() under the program."""
    name = r.chance.choice(["libjemalloc.so.2", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4",
                            "libtcmalloc_debug.so.4"])
    moment = r.chance.uniform(0, 1)
    r.note = name
    found = glob.glob(f"/usr/lib/*/{name}")
    if not found:
        raise Skip(f"{name} is not installed")
    r.start(["-f"] if r.chance.random() < 0.3 else [], env={"LD_PRELOAD": found[0]})
    r.works()
    r.pause(moment)
    r.goes_on()
    r.kill()


# ---- the path --------------------------------------------------------------------------------

@kind(2, lambda lane: isinstance(lane.path, Wan))
def path(r):
    """The emulator of the path is killed, and another one started."""
    moment = r.chance.uniform(0, 0.5)
    r.note = f"{moment:.3f} s after the victim worked"
    r.start()
    r.works()
    r.pause(moment)
    before = len(r.victim.lines)
    r.lane.path.restart()
    r.kills += 1
    # The connection may last, if it was short enough; if not, the next one works. It may come to that while the former
    # one is looked at, whose end is no fault then.
    end = time.monotonic() + PATIENCE
    while True:
        works = r.victim.find("works", before)
        try:
            r.goes_on()
            break
        except Wrong:
            if works or time.monotonic() > end:
                raise
            r.victim.wait_line("works", 0.1, before)
    r.kill()
