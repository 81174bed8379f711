#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A small iWARP end over the host's TCP, written from RFC 5040, 5041, 5044 and 6581 alone.

It shares no line with the RNIC, so that a misreading of the RFCs shows. One connection, one
operation; what it does, and what it does wrong on order, the environment says: interop/README.md.
"""
import os
import socket
import struct
import sys

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MARKERS, CRC, REJECT, ENHANCED = 0x80, 0x40, 0x20, 0x10  # RFC 5044 section 7.1.1, RFC 6581 section 8
WRITE, READ_REQUEST, READ_RESPONSE, SEND, TERMINATE = 0, 1, 2, 3, 7  # RFC 5040 section 4.3
TAGGED, LAST = 0x80, 0x40  # RFC 5041 section 4.1
BUFFER = 65536
SEGMENT = 1400  # of a message, in each FPDU
SINK = 0x00C0FFEE
UNSUPPORTED = 127

FAULT = os.environ.get("FAULT", "")  # msn, length, pattern or version: what is done wrong on order

CASES = ("send", "crc-off", "write", "revision-1", "read", "reject", "wrong-stag", "bad-crc")


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for octet in data:
        crc = TABLE[(crc ^ octet) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def pattern(size, wrong=False):
    return bytes(i * 7 + (i >> 8) + wrong & 0xFF for i in range(size))


class Wrong(Exception):
    """The peer has done what it must not."""


class Closed(Exception):
    """The peer has sent its FIN."""


class Stream:
    """FPDUs (RFC 5044 section 4) and DDP segments (RFC 5041) of one connection."""

    def __init__(self, tcp):
        self.tcp = tcp
        self.crc = True
        self.sequence = {0: 1} if FAULT == "msn" else {}

    def take(self, size):
        data = b""
        while len(data) < size:
            part = self.tcp.recv(size - len(data))
            if not part:
                raise Closed if not data else Wrong("FIN in the middle of an FPDU")
            data += part
        return data

    def start_up(self, key, flags, revision, private):
        self.tcp.sendall(key + struct.pack(">BBH", flags, revision, len(private)) + private)

    def started_up(self, key):
        head = self.take(20)
        if head[:16] != key:
            raise Wrong(f"not {key}: {head[:16]}")
        flags, revision, size = struct.unpack(">BBH", head[16:])
        if flags & MARKERS:
            raise Wrong("markers are wanted, and not spoken here")
        return flags, revision, self.take(size)

    def put(self, ulpdu, spoil=False):
        if FAULT == "version":
            ulpdu = bytes([ulpdu[0] ^ 2]) + ulpdu[1:]
        fpdu = struct.pack(">H", len(ulpdu) + (FAULT == "length")) + ulpdu
        fpdu += bytes(-len(fpdu) % 4)
        crc = crc32c(fpdu) if self.crc else 0
        self.tcp.sendall(fpdu + struct.pack("<I", crc ^ (1 if spoil else 0)))

    def get(self):
        """The next ULPDU; None: its CRC is wrong."""
        head = self.take(2)
        size = struct.unpack(">H", head)[0]
        rest = self.take(size + -(2 + size) % 4 + 4)
        if self.crc and struct.unpack("<I", rest[-4:])[0] != crc32c(head + rest[:-4]):
            return None
        return rest[:size]

    def put_tagged(self, opcode, stag, offset, data):
        for at in range(0, max(len(data), 1), SEGMENT):
            last = at + SEGMENT >= len(data)
            self.put(struct.pack(">BBIQ", TAGGED | (LAST if last else 0) | 1, 0x40 | opcode, stag, offset + at)
                     + data[at:at + SEGMENT])

    def put_untagged(self, opcode, queue, data, spoil=False):
        self.sequence[queue] = self.sequence.get(queue, 0) + 1
        for at in range(0, max(len(data), 1), SEGMENT):
            last = at + SEGMENT >= len(data)
            self.put(struct.pack(">BBIIII", (LAST if last else 0) | 1, 0x40 | opcode, 0, queue,
                                 self.sequence[queue], at) + data[at:at + SEGMENT], spoil)

    def terminate(self, layer, kind, code, quoted=b""):
        """RFC 5040 section 4.8; @quoted is a tagged segment, of which the header is given back."""
        bits = 0xC000 if quoted else 0  # M and D
        data = struct.pack(">BBH", layer << 4 | kind, code, bits)
        if quoted:
            data += struct.pack(">H", len(quoted)) + quoted[:14]
        self.put_untagged(TERMINATE, 2, data)

    def drain(self):
        """Nothing more from us; what comes until the peer's FIN does not count."""
        self.tcp.shutdown(socket.SHUT_WR)
        try:
            while self.tcp.recv(65536):
                pass
        except ConnectionResetError:
            pass


class Segment:
    def __init__(self, ulpdu):
        control, rdmap = ulpdu[0], ulpdu[1]
        if control & 3 != 1 or rdmap >> 6 != 1:
            raise Wrong(f"versions of DDP and RDMAP: {control:#x} {rdmap:#x}")
        self.whole = ulpdu
        self.tagged, self.last, self.opcode = bool(control & TAGGED), bool(control & LAST), rdmap & 15
        if self.tagged:
            self.stag, self.offset = struct.unpack(">IQ", ulpdu[2:14])
            self.data = ulpdu[14:]
        else:
            self.queue, self.msn, self.offset = struct.unpack(">III", ulpdu[6:18])
            self.data = ulpdu[18:]


def expect(true, what):
    if not true:
        raise Wrong(what)


# ---- the responder ---------------------------------------------------------------------------


class Server:
    """The one who listens: offers a buffer, in its private data, and counts what comes."""

    def __init__(self, case, stream):
        self.case, self.stream = case, stream
        self.stag, self.base = 0x5EED0100, 0x10000
        self.memory = bytearray(pattern(BUFFER))
        self.message = b""
        self.sends = self.reads = 0
        self.refused = None

    def begin(self):
        flags, revision, private = self.stream.started_up(REQUEST)
        enhanced = revision == 2 and flags & ENHANCED
        expect(revision in (1, 2), f"revision {revision}")
        reply = b""
        if enhanced:
            ird, ord_ = struct.unpack(">HH", private[:4])
            # RFC 6581 section 9: as many as the peer asks for, and of its RTR types a Write.
            peer_to_peer = ird & 0x8000
            expect(not peer_to_peer or ord_ & 0x8000, "no RTR by Write is offered")
            reply = struct.pack(">HH", (ord_ & 0x3FFF) | peer_to_peer, (ird & 0x3FFF) | (peer_to_peer and 0x8000))
        answer = flags & (CRC | ENHANCED) | (0 if self.case == "crc-off" else CRC)
        self.stream.crc = bool(answer & CRC)
        if self.case == "reject":
            self.stream.start_up(REPLY, answer | REJECT, revision, reply + b"no")
            return False
        self.stream.start_up(REPLY, answer, revision,
                             reply + struct.pack(">QII", self.base, self.stag, BUFFER))
        return True

    def refuse(self, layer, kind, code, quoted=b""):
        self.stream.terminate(layer, kind, code, quoted)
        self.refused = (layer, kind, code)

    def at(self, stag, offset, size):
        """Where in the buffer; None: it is not all there."""
        if stag != self.stag or offset < self.base or offset + size > self.base + BUFFER:
            return None
        return offset - self.base

    def write(self, s):
        at = self.at(s.stag, s.offset, len(s.data))
        if not s.data:
            return  # names no memory: RFC 5041 section 5.1
        if at is None:
            # RFC 5040 section 4.8: DDP, tagged buffer, invalid STag or bounds.
            self.refuse(1, 1, 0 if s.stag != self.stag else 1, s.whole)
        else:
            self.memory[at:at + len(s.data)] = s.data

    def read(self, s):
        sink, to, size, stag, source = struct.unpack(">IQIIQ", s.data)
        at = self.at(stag, source, size)
        expect(at is not None, "a Read of what was not offered")
        self.reads += 1
        self.stream.put_tagged(READ_RESPONSE, sink, to, bytes(self.memory[at:at + size]))

    def send(self, s):
        expect(s.queue == 0 and s.msn == self.sends + 1 and s.offset == len(self.message), "a Send out of order")
        self.message += s.data
        if s.last:
            expect(self.message == pattern(len(self.message)), "a Send's octets are wrong")
            self.sends, self.message = self.sends + 1, b""

    def serve(self):
        while self.refused is None:
            ulpdu = self.stream.get()
            if ulpdu is None:
                self.refuse(2, 0, 2)  # LLP, MPA, CRC error
                break
            s = Segment(ulpdu)
            expect(s.opcode in (WRITE, READ_REQUEST, SEND), f"opcode {s.opcode}")
            {WRITE: self.write, READ_REQUEST: self.read, SEND: self.send}[s.opcode](s)

    def run(self):
        if self.begin():
            try:
                self.serve()
            except Closed:
                pass
            wanted = {"wrong-stag": (1, 1, 0), "bad-crc": (2, 0, 2)}.get(self.case)
            expect(self.refused == wanted, f"refused {self.refused}, not {wanted}")
            expect(self.memory == pattern(BUFFER), "the buffer is wrong")
            expect(self.case not in ("send", "crc-off") or self.sends == 4, f"{self.sends} Sends, not 4")
            expect(self.case != "read" or self.reads == 2, f"{self.reads} Reads, not 2")
        self.stream.drain()


# ---- the initiator ---------------------------------------------------------------------------


class Client:
    """The one who connects, and begins."""

    def __init__(self, case, stream):
        self.case, self.stream = case, stream

    def begin(self):
        revision = 1 if self.case == "revision-1" else 2
        flags = (0 if self.case == "crc-off" else CRC) | (ENHANCED if revision == 2 else 0)
        self.stream.start_up(REQUEST, flags, revision, struct.pack(">HH", 4, 4) if revision == 2 else b"")
        flags, answered, private = self.stream.started_up(REPLY)
        expect(answered == revision, f"revision {answered} answers {revision}")
        expect(bool(flags & REJECT) == (self.case == "reject"), f"flags {flags:#x}")
        self.stream.crc = bool(flags & CRC) or self.case != "crc-off"
        if flags & REJECT:
            return False
        private = private[4:] if flags & ENHANCED else private
        self.base, self.stag, _ = struct.unpack(">QII", private[:16])
        return True

    def read(self, size):
        self.stream.put_untagged(READ_REQUEST, 1, struct.pack(">IQIIQ", SINK, 0, size, self.stag, self.base))
        data, last = b"", False
        while not last:
            s = Segment(self.stream.get() or b"")
            expect(s.tagged and s.opcode == READ_RESPONSE and s.stag == SINK, "not the Read Response")
            expect(s.offset == len(data), "a Read Response out of order")
            data, last = data + s.data, s.last
        expect(data == pattern(size), "what was read is wrong")

    def terminated(self, layer, kind, code):
        s = Segment(self.stream.get() or b"")
        expect(s.opcode == TERMINATE and s.queue == 2, f"opcode {s.opcode}, not a Terminate")
        found = (s.data[0] >> 4, s.data[0] & 15, s.data[1])
        expect(found == (layer, kind, code), f"Terminate {found}, not {(layer, kind, code)}")

    def run(self):
        if self.begin():
            if self.case in ("send", "crc-off"):
                for _ in range(4):
                    self.stream.put_untagged(SEND, 0, pattern(3000, FAULT == "pattern"))
            elif self.case in ("write", "revision-1"):
                for _ in range(2):
                    self.stream.put_tagged(WRITE, self.stag, self.base, pattern(60000))
            elif self.case == "read":
                for _ in range(2):
                    self.read(60000)
            elif self.case == "wrong-stag":
                self.stream.put_tagged(WRITE, self.stag ^ 0x5500, self.base, pattern(64))
                self.terminated(1, 1, 0)
            elif self.case == "bad-crc":
                self.stream.put_untagged(SEND, 0, pattern(64), spoil=True)
                self.terminated(2, 0, 2)
        self.stream.drain()


def tcp_of(role, address, peer, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, socket.SOCK_STREAM)
    if role == "client":
        s.bind((address, 0))
        s.connect((peer, port))
    else:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        s.listen(1)
        print("ready", flush=True)
        s = s.accept()[0]
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def main():
    env = os.environ
    case, role = env["TESTCASE"], env["ROLE"]
    if case not in CASES:
        return UNSUPPORTED
    tcp = tcp_of(role, env["ADDRESS"], env["PEER"], int(env["PORT"]))
    tcp.settimeout(60)
    try:
        (Server if role == "server" else Client)(case, Stream(tcp)).run()
    except (Wrong, Closed, OSError, struct.error) as e:
        print(f"peer.py: {type(e).__name__}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
