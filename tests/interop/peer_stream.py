# SPDX-License-Identifier: BSD-2-Clause
"""What peer.py sends and takes: FPDUs (RFC 5044 section 4) and the headers of DDP and RDMAP in them."""
import os
import socket
import ssl
import struct

REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
MARKERS, CRC, REJECT, ENHANCED = 0x80, 0x40, 0x20, 0x10  # RFC 5044 section 7.1.1, RFC 6581 section 8
TAGGED, LAST = 0x80, 0x40  # RFC 5041 section 4.1
SEGMENT = 1400  # of a message, in each FPDU
INTERVAL = 512  # of markers: RFC 5044 section 4.3

FAULT = os.environ.get("FAULT", "")  # msn, length, pattern, version, deaf or hasty: what is done wrong on order


class Wrong(Exception):
    """The peer has done what it must not."""


class Closed(Exception):
    """The peer has sent its FIN."""


def expect(true, what):
    if not true:
        raise Wrong(what)


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)
    return table


TABLE = crc_table()


def crc32c(data):
    crc, table = 0xFFFFFFFF, TABLE
    for octet in data:
        crc = table[(crc ^ octet) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def pattern(size, wrong=False):
    return bytes(i * 7 + (i >> 8) + wrong & 0xFF for i in range(size))


class Stream:
    """One connection. Markers are for what the side sends that was asked for them."""

    def __init__(self, tcp):
        self.tcp = tcp
        self.crc = True
        self.put_at = self.got_at = None  # octets since the first FPDU, where there are markers
        self.sequence = {0: 1} if FAULT == "msn" else {}

    def take(self, size):
        data = b""
        while len(data) < size:
            part = self.tcp.recv(size - len(data))
            if not part:
                raise Closed if not data else Wrong("FIN in the middle of an FPDU")
            data += part
        return data

    # ---- MPA -----------------------------------------------------------------------------------

    def start_up(self, key, flags, revision, private):
        self.tcp.sendall(key + struct.pack(">BBH", flags, revision, len(private)) + private)

    def started_up(self, key):
        head = self.take(20)
        expect(head[:16] == key, f"not {key}: {head[:16]}")
        flags, revision, size = struct.unpack(">BBH", head[16:])
        return flags, revision, self.take(size)

    def agreed(self, own, peers, crc):
        """What both frames say of markers and CRCs holds from here on."""
        self.put_at = 0 if peers & MARKERS else None
        self.got_at = 0 if own & MARKERS else None
        self.crc = crc

    @staticmethod
    def begin_of(at):
        """Where the ULPDU Length of an FPDU is that begins there: behind a marker, if one is due."""
        return at + (4 if at % INTERVAL == 0 else 0)

    def marked(self, octets):
        """An FPDU as it goes into the stream, a marker at each 512th octet."""
        if self.put_at is None:
            return octets
        out, begin = b"", self.begin_of(self.put_at)
        while octets:
            at = self.put_at + len(out)
            if at % INTERVAL == 0:
                out += struct.pack(">HH", 0, max(at - begin, 0))
                at += 4
            room = INTERVAL - at % INTERVAL
            out, octets = out + octets[:room], octets[room:]
        return out

    def put(self, ulpdu, spoil=False):
        if FAULT == "version":
            ulpdu = bytes([ulpdu[0] ^ 2]) + ulpdu[1:]
        fpdu = struct.pack(">H", len(ulpdu) + (FAULT == "length")) + ulpdu
        fpdu += bytes(-len(fpdu) % 4)
        # Four octets stand for the CRC, so that a marker right before it is there, and counts.
        fpdu = self.marked(fpdu + bytes(4))[:-4]
        crc = crc32c(fpdu) if self.crc else 0
        fpdu += struct.pack("<I", crc ^ (1 if spoil else 0))
        if self.put_at is not None:
            self.put_at += len(fpdu)
        self.tcp.sendall(fpdu)

    def take_marked(self, size, begin):
        """@size octets that are no markers, and all that was taken, of the FPDU that begins there."""
        if self.got_at is None:
            data = self.take(size)
            return data, data
        data, whole = b"", b""
        while len(data) < size:
            if self.got_at % INTERVAL == 0:
                marker = self.take(4)
                wanted = struct.pack(">HH", 0, max(self.got_at - begin, 0))
                expect(marker == wanted, f"a marker {marker.hex()}, not {wanted.hex()}")
                whole += marker
                self.got_at += 4
            part = self.take(min(size - len(data), INTERVAL - self.got_at % INTERVAL))
            self.got_at += len(part)
            data, whole = data + part, whole + part
        return data, whole

    def get(self):
        """The next ULPDU; None: its CRC is wrong."""
        begin = self.begin_of(self.got_at or 0)
        head, whole = self.take_marked(2, begin)
        size = struct.unpack(">H", head)[0]
        rest, more = self.take_marked(size + -(2 + size) % 4 + 4, begin)
        if self.crc and struct.unpack("<I", more[-4:])[0] != crc32c(whole + more[:-4]):
            return None
        return rest[:size]

    # ---- DDP and RDMAP -------------------------------------------------------------------------

    def put_tagged(self, opcode, stag, offset, data):
        for at in range(0, max(len(data), 1), SEGMENT):
            last = at + SEGMENT >= len(data)
            self.put(struct.pack(">BBIQ", TAGGED | (LAST if last else 0) | 1, 0x40 | opcode, stag, offset + at)
                     + data[at:at + SEGMENT])

    def put_untagged(self, opcode, queue, data, invalidate=0, spoil=False):
        self.sequence[queue] = self.sequence.get(queue, 0) + 1
        for at in range(0, max(len(data), 1), SEGMENT):
            last = at + SEGMENT >= len(data)
            self.put(struct.pack(">BBIIII", (LAST if last else 0) | 1, 0x40 | opcode, invalidate, queue,
                                 self.sequence[queue], at) + data[at:at + SEGMENT], spoil)

    def drain(self):
        """Nothing more from us; what comes until the peer's FIN does not count."""
        try:
            if isinstance(self.tcp, ssl.SSLSocket):
                self.tcp.unwrap()  # both close_notify
                return
            self.tcp.shutdown(socket.SHUT_WR)
            while self.tcp.recv(65536):
                pass
        except (ConnectionResetError, ssl.SSLError):
            pass


class Segment:
    """A DDP segment; header and payload as RFC 5041 section 4 has them."""

    def __init__(self, ulpdu):
        self.whole = ulpdu
        control, rdmap = ulpdu[0], ulpdu[1]
        self.ddp_version, self.rdmap_version = control & 3, rdmap >> 6
        self.tagged, self.last, self.opcode = bool(control & TAGGED), bool(control & LAST), rdmap & 15
        self.header = 14 if self.tagged else 18
        if self.tagged:
            self.stag, self.offset = struct.unpack(">IQ", ulpdu[2:14])
        else:
            self.invalidate, self.queue, self.msn, self.offset = struct.unpack(">IIII", ulpdu[2:18])
        self.data = ulpdu[self.header:]
