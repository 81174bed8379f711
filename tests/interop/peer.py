#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A small iWARP end over the host's TCP, written from RFC 5040, 5041, 5044, 6581 and 7306 alone.

It shares no line with the RNIC, so that a misreading of the RFCs shows. One connection, one
case; what it does, and what it does wrong on order, the environment says: interop/README.md.
"""
import os
import signal
import socket
import ssl
import struct
import sys

import peer_mapper
from peer_stream import (CRC, ENHANCED, FAULT, MARKERS, REJECT, REPLY, REQUEST, Closed, Segment, Stream, Wrong,
                         expect, pattern)

# RFC 5040 section 4.3, RFC 7306 section 4.
WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE = range(8)
IMMEDIATE, ATOMIC_REQUEST, ATOMIC_RESPONSE = 8, 10, 11
FETCH_ADD, COMPARE_SWAP = 0, 2
# RFC 6581 section 9.1: bits of the words with IRD and ORD.
PEER_TO_PEER, RTR_SEND, RTR_WRITE, RTR_READ = 0x8000, 0x4000, 0x8000, 0x4000
BUFFER = 65536
RECEIVE, RECEIVES = 16384, 8
SINK = 0x00C0FFEE
ALL = 0xFFFFFFFFFFFFFFFF
UNSUPPORTED = 127

SENDS = {"send": SEND, "send-se": SEND_SE, "send-inv": SEND_INV, "send-se-inv": SEND_SE_INV, "crc-off": SEND,
         "markers": SEND, "tls": SEND, "port-mapper": SEND, "rtr-write": SEND, "rtr-read": SEND, "rtr-send": SEND}
WRITES = {"write": 2, "revision-1": 2, "loss": 200}
# The Terminate that a case wants: layer, type, code; what the client sends for it is in Client.offend().
TERMINATES = {
    "wrong-stag": (1, 1, 0), "beyond": (1, 1, 1), "read-wrong-stag": (0, 1, 0), "read-beyond": (0, 1, 1),
    "read-no-right": (0, 1, 2), "no-receive": (1, 2, 2), "too-long": (1, 2, 5), "bad-crc": (2, 0, 2),
    "bad-ddp-version": (1, 2, 6), "bad-rdmap-version": (0, 2, 5), "bad-opcode": (0, 2, 6), "bad-queue": (1, 2, 1),
    "bad-msn": (1, 2, 3)}
CASES = {*SENDS, *WRITES, *TERMINATES, "read", "immediate", "fetch-add", "compare-swap", "depths", "reject"}


class Refused(Exception):
    """What the peer sent is answered by a Terminate: RFC 5040 section 4.8."""

    def __init__(self, layer, kind, code, segment=None):
        super().__init__(layer, kind, code)
        self.cause, self.segment = (layer, kind, code), segment

    def message(self):
        layer, kind, code = self.cause
        s, bits, quoted = self.segment, 0, b""
        if s and layer != 2:
            bits |= 0xC000  # M and D
            quoted = struct.pack(">H", len(s.whole)) + s.whole[:s.header]
            if (layer, kind) == (0, 1) and s.opcode == READ_REQUEST:
                bits |= 0x2000  # R
                quoted += s.data[:28]
        return struct.pack(">BBH", layer << 4 | kind, code, bits) + quoted


def added(found, data, mask):
    """RFC 7306 section 5.1.1: no carry goes out of a bit that the mask has."""
    new = carry = 0
    for bit in (1 << n for n in range(64)):
        total = bool(found & bit) + bool(data & bit) + carry
        new |= bit if total & 1 else 0
        carry = 1 if total & 2 and not mask & bit else 0
    return new


# ---- the responder ---------------------------------------------------------------------------


class Server:
    """The one who listens: offers a buffer, in its private data, and counts what comes."""

    def __init__(self, case, stream):
        self.case, self.stream = case, stream
        self.stag, self.base = 0x5EED0100, 0x10000
        self.valid, self.readable = True, case != "read-no-right"
        self.memory = bytearray(pattern(BUFFER))
        self.message = b""
        self.receives = 0 if case == "no-receive" else RECEIVES
        self.msn = {0: 1, 1: 1}
        self.sends = self.reads = self.atomics = self.immediates = 0
        self.rtr = None  # the opcode of one that is to come
        self.refused = None

    def depths(self, private):
        """RFC 6581 section 9: as many as the peer asks for, and of its RTR types one."""
        ird, ord_ = struct.unpack(">HH", private[:4])
        reply = [ord_ & 0x3FFF, ird & 0x3FFF]
        if ird & PEER_TO_PEER:
            if ord_ & RTR_WRITE:
                self.rtr, bits = WRITE, (PEER_TO_PEER, RTR_WRITE)
            elif ord_ & RTR_READ:
                self.rtr, bits = READ_REQUEST, (PEER_TO_PEER, RTR_READ)
            else:
                expect(ird & RTR_SEND, "peer-to-peer without a type of RTR")
                self.rtr, bits = SEND, (PEER_TO_PEER | RTR_SEND, 0)
            reply = [reply[0] | bits[0], reply[1] | bits[1]]
        return struct.pack(">HH", *reply)

    def begin(self):
        flags, revision, private = self.stream.started_up(REQUEST)
        enhanced = revision == 2 and flags & ENHANCED
        expect(revision in (1, 2), f"revision {revision}")
        reply = self.depths(private) if enhanced else b""
        own = (MARKERS if self.case == "markers" else 0) | (0 if self.case == "crc-off" else CRC)
        answer = flags & (CRC | ENHANCED) | own
        if self.case == "reject":
            self.stream.start_up(REPLY, answer | REJECT, revision, reply + b"no")
            return False
        self.stream.start_up(REPLY, answer, revision,
                             reply + struct.pack(">QII", self.base, self.stag, BUFFER))
        self.stream.agreed(own, flags, bool(answer & CRC))
        return True

    def at(self, s, stag, offset, size, layer):
        """Where in the buffer. Tagged buffers are DDP's to check, sources of Reads RDMAP's."""
        if stag != self.stag or not self.valid:
            raise Refused(layer, 1, 0, s)
        if offset < self.base or offset + size > self.base + BUFFER:
            raise Refused(layer, 1, 1, s)
        return offset - self.base

    def write(self, s):
        if s.data:  # else it names no memory: RFC 5041 section 5.1
            at = self.at(s, s.stag, s.offset, len(s.data), 1)
            self.memory[at:at + len(s.data)] = s.data

    def read(self, s):
        sink, to, size, stag, source = struct.unpack(">IQIIQ", s.data)
        at = self.at(s, stag, source, size, 0) if size else 0
        if size and not self.readable:
            raise Refused(0, 1, 2, s)
        self.reads += size != 0
        self.stream.put_tagged(READ_RESPONSE, sink, to, bytes(self.memory[at:at + size]))

    def atomic(self, s):
        """RFC 7306 section 5.1, in the order of this host's octets."""
        kind, number, stag, to, data, mask, compare, compare_mask = struct.unpack(">IIIQQQQQ", s.data)
        at = self.at(s, stag, to, 8, 0)
        found = int.from_bytes(self.memory[at:at + 8], sys.byteorder)
        if kind & 15 == FETCH_ADD:
            new = added(found, data, mask)
        else:
            expect(kind & 15 == COMPARE_SWAP, f"AOpCode {kind & 15}")
            swap = (compare ^ found) & compare_mask == 0
            new = found & ~mask | data & mask if swap else found
        self.memory[at:at + 8] = new.to_bytes(8, sys.byteorder)
        self.atomics += 1
        self.stream.put_untagged(ATOMIC_RESPONSE, 3, struct.pack(">IQ", number, found))

    def send(self, s):
        if s.offset + len(s.data) > RECEIVE:
            raise Refused(1, 2, 5, s)
        expect(s.offset == len(self.message), "a Send out of order")
        self.message += s.data
        if not s.last:
            return
        self.msn[0] += 1
        if self.rtr == SEND and not self.sends and not self.message:
            return
        expect(self.message == pattern(len(self.message)), "a Send's octets are wrong")
        expect(s.opcode == SENDS.get(self.case, SEND), f"opcode {s.opcode} in {self.case}")
        if s.opcode in (SEND_INV, SEND_SE_INV):
            expect(s.invalidate == self.stag and self.valid, f"STag {s.invalidate:#x} is invalidated")
            self.valid = False
        self.sends, self.message = self.sends + 1, b""

    def immediate(self, s):
        expect(s.data == bytes.fromhex("5eed000100000000"), f"immediate data {s.data.hex()}")
        self.msn[0] += 1
        self.immediates += 1

    def check_untagged(self, s):
        queue = {READ_REQUEST: 1, ATOMIC_REQUEST: 1}.get(s.opcode, 0)
        if s.queue > 3:
            raise Refused(1, 2, 1, s)
        expect(s.queue == queue, f"opcode {s.opcode} on queue {s.queue}")
        if s.queue == 0 and s.msn == self.msn[0] and self.msn[0] > self.receives:
            raise Refused(1, 2, 2, s)
        if s.msn != self.msn[s.queue]:
            raise Refused(1, 2, 3, s)
        if s.queue == 1:
            self.msn[1] += 1

    def segment(self, s):
        does = {WRITE: self.write, READ_REQUEST: self.read, ATOMIC_REQUEST: self.atomic, SEND: self.send,
                SEND_SE: self.send, SEND_INV: self.send, SEND_SE_INV: self.send, IMMEDIATE: self.immediate}
        if s.ddp_version != 1:
            raise Refused(1, 1 if s.tagged else 2, 4 if s.tagged else 6, s)
        if s.rdmap_version != 1:
            raise Refused(0, 2, 5, s)
        if s.opcode not in does or s.tagged != (s.opcode == WRITE):
            raise Refused(0, 2, 6, s)
        if not s.tagged:
            self.check_untagged(s)
        does[s.opcode](s)

    def serve(self):
        first = True
        try:
            while True:
                ulpdu = self.stream.get()
                if ulpdu is None:
                    raise Refused(2, 0, 2)
                s = Segment(ulpdu)
                expect(not first or self.rtr is None or s.opcode == self.rtr, f"an RTR by opcode {s.opcode}")
                first = False
                self.segment(s)
        except Closed:
            pass
        except Refused as r:
            self.refused = r.cause
            self.stream.put_untagged(TERMINATE, 2, r.message())

    def judge(self):
        case, wanted = self.case, TERMINATES.get(self.case)
        expect(self.refused == wanted, f"refused {self.refused}, not {wanted}")
        expect(self.memory == pattern(BUFFER), "the buffer is wrong")
        expect(case not in SENDS or self.sends == (1 if case.endswith("-inv") else 4), f"{self.sends} Sends")
        expect(self.reads == {"read": 2, "depths": 12}.get(case, 0), f"{self.reads} Reads")
        expect(case != "fetch-add" or self.atomics == 4, f"{self.atomics} Atomics")
        expect(case != "compare-swap" or self.atomics == 3, f"{self.atomics} Atomics")
        expect(case != "immediate" or self.immediates == 2, f"{self.immediates} times immediate data")

    def run(self):
        if self.begin():
            if FAULT == "deaf":
                signal.pause()
            self.serve()
            self.judge()
        self.stream.drain()


# ---- the initiator ---------------------------------------------------------------------------


class Client:
    """The one who connects, and begins."""

    def __init__(self, case, stream):
        self.case, self.stream = case, stream
        self.rtr = {"rtr-write": WRITE, "rtr-read": READ_REQUEST, "rtr-send": SEND}.get(case)
        self.ord = 4

    def depths(self):
        ird, ord_ = (3, 5) if self.case == "depths" else (4, 4)
        if self.rtr is not None:
            ird |= PEER_TO_PEER | (RTR_SEND if self.rtr == SEND else 0)
            ord_ |= {WRITE: RTR_WRITE, READ_REQUEST: RTR_READ}.get(self.rtr, 0)
        return struct.pack(">HH", ird, ord_)

    def begin(self):
        revision = 1 if self.case == "revision-1" else 2
        own = (MARKERS if self.case == "markers" else 0) | (0 if self.case == "crc-off" else CRC)
        self.stream.start_up(REQUEST, own | (ENHANCED if revision == 2 else 0), revision,
                             self.depths() if revision == 2 else b"")
        flags, answered, private = self.stream.started_up(REPLY)
        expect(answered == revision, f"revision {answered} answers {revision}")
        expect(bool(flags & REJECT) == (self.case == "reject"), f"flags {flags:#x}")
        if flags & REJECT:
            return False
        self.stream.agreed(own, flags, bool((flags | own) & CRC))
        if flags & ENHANCED:
            self.take_depths(*struct.unpack(">HH", private[:4]))
            private = private[4:]
        self.base, self.stag, _ = struct.unpack(">QII", private[:16])
        self.ready_to_receive()
        return True

    def take_depths(self, ird, ord_):
        if self.case == "depths":
            expect(ord_ & 0x3FFF <= 3, f"{ord_ & 0x3FFF} Reads of the peer's, and 3 may come")
            self.ord = min(5, ird & 0x3FFF)
        if self.rtr is not None:
            said = {SEND: ird & RTR_SEND, WRITE: ord_ & RTR_WRITE, READ_REQUEST: ord_ & RTR_READ}
            expect(ird & PEER_TO_PEER and said[self.rtr], f"no RTR as asked for: {ird:#x} {ord_:#x}")

    def ready_to_receive(self):
        """RFC 6581 section 9.2: empty, and before all else."""
        if self.rtr == WRITE:
            self.stream.put_tagged(WRITE, self.stag, self.base, b"")
        elif self.rtr == SEND:
            self.stream.put_untagged(SEND, 0, b"")
        elif self.rtr == READ_REQUEST:
            self.ask(0)
            self.answered(0)

    def ask(self, size, stag=None, base=None):
        if FAULT == "hasty":  # request and FIN leave together
            self.stream.tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        self.stream.put_untagged(READ_REQUEST, 1, struct.pack(
            ">IQIIQ", SINK, 0, size, self.stag if stag is None else stag, base or self.base))
        if FAULT == "hasty":
            os._exit(0)

    def answered(self, size):
        data, last = b"", False
        while not last:
            s = Segment(self.stream.get() or b"")
            expect(s.tagged and s.opcode == READ_RESPONSE and s.stag == SINK, "not the Read Response")
            expect(s.offset == len(data), "a Read Response out of order")
            data, last = data + s.data, s.last
        expect(data == pattern(size), "what was read is wrong")

    def many_reads(self, count, size):
        asked = done = 0
        while done < count:
            while asked < count and asked - done < self.ord:
                self.ask(size)
                asked += 1
            self.answered(size)
            done += 1

    def atomic(self, number, kind, at, data, compare):
        """@return what was there."""
        mask, compare_mask = (0, ALL) if kind == FETCH_ADD else (ALL, ALL)
        self.stream.put_untagged(ATOMIC_REQUEST, 1, struct.pack(
            ">IIIQQQQQ", kind, number, self.stag, self.base + at, data & ALL, mask, compare, compare_mask))
        s = Segment(self.stream.get() or b"")
        expect(s.opcode == ATOMIC_RESPONSE and s.queue == 3 and len(s.data) == 12, "not the Atomic Response")
        answers, found = struct.unpack(">IQ", s.data)
        expect(answers == number, f"an answer to {answers}, not {number}")
        return found

    def fetch_adds(self):
        first = self.atomic(1, FETCH_ADD, 0, 1, 0)
        for n, add in ((1, 1), (2, 1), (3, -3)):
            found = self.atomic(1 + n, FETCH_ADD, 0, add, 0)
            expect(found == first + n & ALL, f"{found:#x} was added to, not {first + n:#x}")

    def compare_swaps(self):
        there = self.atomic(1, COMPARE_SWAP, 8, 0, 0)
        for number, (new, old) in enumerate(((there ^ ALL, there), (there, there ^ ALL)), 2):
            found = self.atomic(number, COMPARE_SWAP, 8, new, old)
            expect(found == old, f"{found:#x} was there, not {old:#x}")

    def offend(self):
        put, case = self.stream, self.case
        untagged = struct.pack(">IIII", 0, 0, 1, 0) + pattern(64)
        if case in ("wrong-stag", "beyond"):
            put.put_tagged(WRITE, self.stag ^ (0x5500 if case == "wrong-stag" else 0),
                           self.base + (65530 if case == "beyond" else 0), pattern(64))
        elif case.startswith("read-"):
            self.ask(64, self.stag ^ (0x5500 if case == "read-wrong-stag" else 0),
                     self.base + (65530 if case == "read-beyond" else 0))
        elif case == "bad-ddp-version":
            put.put(bytes([0x42, 0x40 | SEND]) + untagged)
        elif case == "bad-rdmap-version":
            put.put(bytes([0x41, 0x80 | SEND]) + untagged)
        elif case == "bad-opcode":
            put.put(bytes([0x41, 0x40 | 15]) + untagged)
        elif case == "bad-queue":
            put.put(bytes([0x41, 0x40 | SEND]) + struct.pack(">IIII", 0, 7, 1, 0) + pattern(64))
        elif case == "bad-msn":
            put.put(bytes([0x41, 0x40 | SEND]) + struct.pack(">IIII", 0, 0, 1 << 31, 0) + pattern(64))
        else:
            put.put_untagged(SEND, 0, pattern(20000 if case == "too-long" else 64), spoil=case == "bad-crc")

    def terminated(self):
        s = Segment(self.stream.get() or b"")
        expect(s.opcode == TERMINATE and s.queue == 2, f"opcode {s.opcode}, not a Terminate")
        found, wanted = (s.data[0] >> 4, s.data[0] & 15, s.data[1]), TERMINATES[self.case]
        expect(found == wanted, f"Terminate {found}, not {wanted}")

    def operate(self):
        case, put = self.case, self.stream
        if case in SENDS:
            invalidate = self.stag if case.endswith("-inv") else 0
            for _ in range(1 if invalidate else 4):
                put.put_untagged(SENDS[case], 0, pattern(3000, FAULT == "pattern"), invalidate)
        elif case in WRITES or case == "immediate":
            for _ in range(WRITES.get(case, 2)):
                put.put_tagged(WRITE, self.stag, self.base, pattern(60000))
                if case == "immediate":
                    put.put_untagged(IMMEDIATE, 0, bytes.fromhex("5eed000100000000"))
        elif case in ("read", "depths"):
            self.many_reads(*((2, 60000) if case == "read" else (12, 1000)))
        elif case == "fetch-add":
            self.fetch_adds()
        elif case == "compare-swap":
            self.compare_swaps()
        else:
            self.offend()
            self.terminated()

    def run(self):
        if self.begin():
            self.operate()
        self.stream.drain()


# ---- TCP, and TLS on it ------------------------------------------------------------------------


def tcp_of(case, role, address, peer, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM)
    if role == "client":
        s.bind((address, 0))
        if case == "port-mapper":
            port = peer_mapper.ask(address, peer, port, s.getsockname()[1])
        s.connect((peer, port))
    else:
        if case == "port-mapper":
            peer_mapper.answer_all(address)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        s.listen(1)
        print("ready", flush=True)
        s = s.accept()[0]
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # The kernel of a peer that is slow answers; of one that is gone, none does.
    s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in ((socket.TCP_KEEPIDLE, 60), (socket.TCP_KEEPINTVL, 10), (socket.TCP_KEEPCNT, 9)):
        s.setsockopt(socket.IPPROTO_TCP, option, value)
    return s


def tls_on(tcp, role, env):
    kind = ssl.PROTOCOL_TLS_SERVER if role == "server" else ssl.PROTOCOL_TLS_CLIENT
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(env["TLS_CERTIFICATE"], env["TLS_KEY"])
    context.load_verify_locations(env["TLS_CA"])
    context.keylog_filename = env["TLS_KEYLOG"]
    context.set_alpn_protocols(["iwarp"])
    name = env["PEER"] if role == "client" else None
    return context.wrap_socket(tcp, server_side=role == "server", server_hostname=name)


def main():
    env = os.environ
    case, role = env["TESTCASE"], env["ROLE"]
    if case not in CASES:
        return UNSUPPORTED
    tcp = tcp_of(case, role, env["ADDRESS"], env["PEER"], int(env["PORT"]))
    try:
        if case == "tls":
            tcp = tls_on(tcp, role, env)
        (Server if role == "server" else Client)(case, Stream(tcp)).run()
    except (Wrong, Closed, OSError, struct.error) as e:
        print(f"peer.py: {type(e).__name__}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
