#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Write the seed inputs of the fuzzers to seeds/TARGET/: tests/fuzz/seeds.py [--check]

Each is a short program in the operations of its target (see there), enough to reach the states
that random bytes would take long to find. Some are made from the captures of pcap/corpus.

Only what is missing is written. A seed that is there stays as it is, whatever has become of the
capture that it was made of: it may have found something. To have it made anew, remove it.
--check writes nothing, and fails if one is missing.
"""
import gzip
import os
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent / "seeds"
CHECK = sys.argv[1:] == ["--check"]
if sys.argv[1:] and not CHECK:
    sys.exit("usage: tests/fuzz/seeds.py [--check]")
missing = []


def make(target, name, how):
    path = HERE / target / name
    if path.exists():
        return
    missing.append(f"{target}/{name}")
    if not CHECK:
        path.parent.mkdir(parents=True, exist_ok=True)
        how(path)


def write(target, name, data):
    make(target, name, lambda path: path.write_bytes(data))


def h(text):
    return bytes.fromhex(text)


def be16(value):
    return struct.pack(">H", value)


# ---- fuzz_mpa: role and configuration, segment size, then operations ----------------------------

RUN = b"\x07"
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"
for role, key in ((0, REQUEST), (1, REPLY)):
    for revision, flags, private in ((1, 0, b"abcd"), (2, 0x10, h("80048004")), (0, 0, b"")):
        for crc in (0, 4):
            for markers in (0, 1):
                asks = flags | (0x40 if crc else 0) | (0x80 if markers else 0)
                start = (b"\x02" + bytes([len(private), asks, revision]) +
                         (private + bytes(4))[:4])
                fpdus = (b"\x03\x12" + bytes(18) + b"\x04" + be16(1500) + bytes(64) +
                         b"\x04" + be16(3000) + bytes(64) + b"\x05" + RUN)
                head = bytes([role | crc | 0x70 | 8, 7, markers]) + (bytes(5) if role else b"")
                name = f"{'initiator' if role else 'responder'}-{revision}-{crc}"
                # What the upcalls take: accept; or nothing at the reply and when operational.
                calls = b"\x00\x00" if role else b"\x00"
                write("mpa", name + ("-markers" if markers else ""),
                      head + start + RUN + calls + fpdus)
                if revision == 2 and crc:
                    early = fpdus[:20] * 3 + b"\x46" + b"\x4e" + RUN
                    write("mpa", f"{'initiator' if role else 'responder'}-early" +
                          ("-markers" if markers else ""),
                          head + start + RUN + calls + fpdus[:20] + RUN + early)

# ---- fuzz_rdmap: configuration, IRD, ORD, then operations ---------------------------------------


def tagged(stag, region, at, length, last=True, response=False):
    return (bytes([0 | (16 if last else 0) | (32 if response else 0), stag, region]) +
            struct.pack(">h", at) + be16(length))


def untagged(op, length, last=True, offset=None):
    head = bytes([3 | (16 if last else 0) | (32 if offset is not None else 0), 0, op])
    return head + (be16(offset) if offset is not None else b"") + b"\x00" + be16(length)


RECV = h("19 00 0100")  # one element of 256 bytes
POLL = b"\x0e"
READ = h("06 00000007 0000000000000100 0040 01 01 0000")


ATOMIC = h("87 00 00 0010 0000000000000005 00000000000000ff")  # CmpSwap, always
IMMEDIATE, ANSWER = h("07 00"), h("07 02")


def post(op, length):
    return bytes([0x8b, op, 0]) + be16(length) + h("09 0010 00")


for name, bits in (("responder", 0), ("responder-crc", 1), ("initiator", 64), ("p2p", 64 | 16 | 14)):
    head = bytes([bits]) + h("0004 0004")
    for what, ops in (
            ("write", tagged(0, 0, 16, 100, False) + tagged(0, 0, 116, 100) + POLL),
            ("bounds", tagged(0, 0, 1000, 100) + POLL),
            ("guard", tagged(0, 0, -1, 1) + POLL),
            ("send", RECV * 2 + untagged(3, 100) + untagged(5, 20) + POLL),
            ("send-inv", RECV * 2 + untagged(4, 100) + POLL),
            ("send-parts", RECV + untagged(3, 100, False) + untagged(3, 100, True, 100) + POLL),
            ("send-none", untagged(3, 100) + POLL),
            ("read", READ * 3 + POLL),
            ("terminate", untagged(7, 24) + POLL),
            ("atomic", (ATOMIC + READ) * 2 + POLL),
            ("immediate", RECV * 2 + tagged(0, 0, 16, 100) + IMMEDIATE * 2 + POLL),
            ("our-atomic", tagged(0, 0, 0, 10) + POLL + post(7, 8) + post(8, 8) + POLL + ANSWER * 2 + POLL),
            ("our-write-imm", tagged(0, 0, 0, 10) + POLL + post(6, 64) + POLL),
            ("our-read", tagged(0, 0, 0, 10) + POLL + post(3, 64) + POLL +
             tagged(2, 2, 0, 64, True, True) + POLL),
            ("stranger", h("0d 05 1d 05 0d 05") + POLL + h("1d 05 14 1002 0004 00080008") + POLL +
             h("ed 05 0d 05 2d 05") + POLL),
            ("our-work", tagged(0, 0, 0, 10) + POLL + post(0, 64) + post(2, 99) + POLL)):
        write("rdmap", f"{name}-{what}", head + ops)

EARLY = b"\x1f"  # the third segment overtakes the first two
for name, bits in (("marked", 128 | 1), ("marked-without-crc", 128)):
    head = bytes([bits]) + h("0004 0004") + tagged(0, 0, 0, 10) + POLL
    for what, ops in (
            ("writes", tagged(0, 0, 16, 600) + tagged(0, 0, 616, 100) + tagged(0, 0, 0, 600) + EARLY + POLL),
            ("sends", RECV * 3 + untagged(3, 100) + untagged(5, 20) + untagged(3, 250) + EARLY + POLL),
            ("read", post(3, 640) + POLL + tagged(2, 2, 0, 100, False, True) +
             tagged(2, 2, 100, 40, False, True) + tagged(2, 2, 140, 500, True, True) + EARLY + POLL),
            ("deregistered", tagged(0, 0, 16, 600) * 3 + EARLY + h("0d 01") + POLL),
            ("bad", tagged(0, 0, 1000, 600) * 3 + EARLY + POLL)):
        write("rdmap", f"{name}-{what}", head + ops)

# ---- fuzz_pairing: which side, then operations ---------------------------------------------------

RTR, RTS, RESET, INIT = h("00 02 04 00"), h("00 03 04"), h("00 00 00"), h("00 01 00")
APPEAR, MOVE, WAIT = h("08"), h("05"), h("84 ff")
HELLO = h("09 00 00 04 04")
TALK = h("0b 03 04 61626364") + h("0b 13 08 0001020304050607") + MOVE
POSTS = h("03 20 02 20 00 02 11 00")
for name, bits in (("waits", 0), ("connects", 1), ("connects-in-pieces", 1 | 2 | 20)):
    head = bytes([bits])
    for what, ops in (
            ("joined", RTR + RTS + POSTS + APPEAR + WAIT + HELLO + MOVE + TALK + h("0e") + MOVE + WAIT),
            ("early", APPEAR + HELLO + MOVE + RTR + MOVE + RTS + POSTS + MOVE + TALK),
            ("held", APPEAR + HELLO + h("18") + h("19 00 00 04 04") + MOVE + WAIT + WAIT + MOVE),
            ("stranger", RTR + RTS + APPEAR + WAIT + h("09 02 00000123 00 04 04") + MOVE + TALK + WAIT),
            ("other-psn", RTR + RTS + POSTS + APPEAR + WAIT + h("09 04 00000123 00 04 04") + MOVE + TALK),
            ("refused", RTR + RTS + POSTS + APPEAR + WAIT + h("09 28 00 04 04") + MOVE + WAIT + MOVE),
            ("cut", RTR + RTS + APPEAR + WAIT + h("09 00 10 04 04 15") + MOVE + h("0f") + WAIT),
            ("again", (RTR + RTS + APPEAR + WAIT + HELLO + MOVE + TALK + RESET + INIT) * 2 + MOVE),
            ("itself", h("00 02 04 03") + RTS + POSTS + WAIT + MOVE + RESET + INIT),
            ("alone", RTR + RTS + POSTS + WAIT * 12 + MOVE)):
        write("pairing", f"{name}-{what}", head + ops)

# ---- fuzz_verbs: operations on the usual objects -------------------------------------------------

def sges(length):
    return h("01 00 0000 08") + be16(length) + h("00")


def request(opcode, length=1024, flags=2):
    return h("00") + bytes([opcode, flags, 1]) + sges(length) + h("00 00 8000 00")


def sends(*requests, slot=0):
    return bytes([0x14, slot | (len(requests) - 1) << 2]) + b"".join(requests)


def built(op, *data):
    return h("17 00 02") + bytes([op]) + h("00 00 0000 00 00 00 8000") + bytes([len(data)]) + b"".join(data)


JOIN, LATER, REAP = h("12 04 12 01") + h("1f 10") * 4, h("1f 40"), h("1a 10 1c 00")
ROOM = h("16 01") + sges(4096) + h("01")
SGE, INLINE = h("00 00 00 0000 08 1f00"), h("02 0000 05")
BIND = h("00 08 02 00 00 00") + h("00 00 00 0000 08 0400 1f")  # opcode BIND_MW
VERBS_SEEDS = {
    "send": JOIN + ROOM * 2 + sends(request(2), request(2)) + REAP,
    "write": JOIN + ROOM + sends(request(0), request(1), request(0, 8, 10)) + REAP,
    "read": JOIN + sends(request(4), request(4, 8, 3)) + REAP,
    "atomic": JOIN + sends(request(5, 8), request(6, 8)) + REAP,
    "early": ROOM + sends(request(2)) + JOIN + sends(request(2)) + REAP,
    "invalidate": JOIN + sends(request(7), request(9), request(2)) + REAP,
    "bind": JOIN + h("19 00 00 00 00 0000 08 1000 0f") + sends(BIND) + REAP,
    "alone": h("12 40 01 12 40 02 12 40 03") + sends(request(2)) + ROOM + h("12 40 06") + REAP,
    "build": JOIN + ROOM + b"".join(built(op, SGE) for op in range(8)) + REAP,
    "build-inline": JOIN + ROOM + built(0, INLINE) + built(3, INLINE) + built(3, SGE, INLINE) + REAP,
    "build-inline-and-list": JOIN + ROOM + built(3, INLINE, SGE) + REAP,
    "build-aborted": JOIN + h("17 80 02 03 00 000000 00 00 008000 00") + built(3, SGE) + REAP,
    "shared": h("10 07 10 07") + h("10 3f 08") + JOIN + h("16 80") + sges(4096) + h("01") + REAP,
    "objects": b"".join(bytes([0x10, kind | 8 << 2]) + h("00 00 00 00") for kind in range(8)) * 2,
    "busy": b"".join(bytes([0x10, kind]) for kind in range(8)) * 2,
    "on-demand": h("10 0a 04") + JOIN + ROOM + sends(request(0)) + REAP,
    "closed": JOIN + sends(request(0)) + h("ff") + sends(request(0)) + REAP + h("0e 00 0040"),
    "answers": b"".join(bytes([0x0e, how]) + be16(length) for how in range(5) for length in (0, 40, 400)),
    "queues": h("1a 00 1a 04 0040 1a 08 0010 0010 1a 0c 13 00 00000000 00") + JOIN + sends(request(2)) + REAP,
    "memory": b"".join(h("1d 00 00") + bytes([k]) + h("00 0000 08 1000 00000007") for k in range(0, 64, 3)),
}
for name, ops in VERBS_SEEDS.items():
    write("verbs", name, ops)

# ---- fuzz_drive: configuration, then calls and packets --------------------------------------------


def call(number, host, sock, rest=""):
    return bytes([number << 1 | host, sock]) + h(rest)


CARRY, PASS = h("1a 00"), h("18 00 1e")  # all; a second
LISTENING = call(0, 1, 0, "00") + call(0, 1, 0, "01 00") + call(0, 1, 0, "02 05")
CONNECTING = call(0, 0, 0, "00") + call(0, 0, 0, "03 00")
PAIR = LISTENING + CONNECTING + CARRY + call(2, 1, 0, "10")
TO, FROM = call(3, 0, 0, "03e8 00"), call(4, 1, 1, "00 0fff")
for bits in (0, 1, 2, 4, 8, 16, 32, 64, 128):
    for name, ops in {
            "stream": PAIR + TO * 3 + CARRY + FROM + call(3, 1, 1, "ffff 00") + CARRY + call(4, 0, 0, "00 ffff"),
            "loss": PAIR + TO + h("10 00 01") + TO + CARRY + PASS * 4 + CARRY + FROM,
            "order": PAIR + TO + h("10 00 03") + TO + CARRY + h("15 00 00") + CARRY + FROM,
            "twice": PAIR + TO + h("10 00 02") + CARRY + FROM * 2,
            "mangled": PAIR + TO + h("10 00 04 00 0014 55") + CARRY + FROM,
            "close": PAIR + TO + call(5, 0, 0, "00") + CARRY + FROM * 2 + call(5, 1, 1, "00") + CARRY + PASS * 3,
            "shut": PAIR + call(5, 0, 0, "06") + CARRY + FROM + call(3, 1, 1, "0400 00") + CARRY,
            "abort": PAIR + TO + call(5, 0, 0, "01") + CARRY + FROM * 2 + CONNECTING + CARRY,
            "refused": CONNECTING + CARRY + call(6, 0, 0, "00") + call(7, 0, 0, "1c") + CONNECTING,
            "six": (call(0, 1, 0, "04") + call(0, 1, 0, "05 00") + call(0, 1, 0, "02 01") +
                    call(0, 0, 0, "04") + call(0, 0, 0, "07 00") + CARRY + call(2, 1, 0, "1c") + TO + CARRY + FROM),
            "options": PAIR + b"".join(call(6, 0, 0, f"{k:02x} 00000010") for k in range(0, 128, 5)) + TO + CARRY,
            "backlog": LISTENING + (CONNECTING + CARRY + call(5, 0, 0, "01")) * 8 + call(2, 1, 0, "00") * 8,
            "invented": LISTENING + call(11, 1, 0, "27 45000028000040004006f6ccc0000202c0000201"
                                         "9c400007000000010000000050020fff00000000") + CARRY,
    }.items():
        write("drive", f"{name}-{bits}", bytes([bits]) + ops)

# ---- fuzz_wan: lines, frames and time ------------------------------------------------------------


def line(text):
    return b"\x00" + bytes([len(text) + 1]) + text.encode() + b"\n"


FRAMES, NEXT = h("01 05dc 01 0bb8 01 05dd 01 1fff") * 2, h("02 14") + h("02 1b")
for name, lines in {
        "delay": ["delay=50ms", "delay=1ms"],
        "one-way": ["a-to-b delay=50ms,jitter=10ms", "b-to-a rate=1m,queue=64k", "a-to-b", "b-to-a x"],
        "late": ["jitter=10ms,jitter-reorders=yes,delay=20ms", "reorder=10%,reorder-by=5ms"],
        "loss": ["loss=50%", "loss=1%/10", "corrupt=100%", "duplicate=100%"],
        "queue": ["rate=1k,queue=3", "rate=1000g", "rate=none,queue=none", "mtu=1500,overhead=38"],
        "wrong": ["", "=", ",", "delay", "delay=", "rate=0", "delay=3601s", "a-to-b  =", "x" * 200],
}.items():
    write("wan", name, FRAMES + b"".join(line(text) + FRAMES + NEXT for text in lines) + b"\x03" + FRAMES)
write("wan", "long", (b"\x00\xff" + b"y" * 255) * 3 + line("") + line("delay=1ms") + FRAMES)
write("wan", "in-pieces", b"".join(b"\x00\x01" + bytes([c]) for c in b"delay=1ms,loss=1%\n") + FRAMES + NEXT)

# ---- fuzz_files: what others leave, what we take ---------------------------------------------------

FILES_SEEDS = {
    "slots": h("01 0c 01 0d 01 0e 01 0c 01 0d 01 0f"),
    "in-the-way": h("00 04 01 0c 00 09 01 0d 00 00 01 0c 00 0d 01 0e"),
    "claims": h("02 00 01 08 01 02 fe 01 02 02 01 02 01 01 09 03 04 02 00"),
    "interface": h("02 00 00 02 13 65 07 02 01 00 02 14 65 07"),
    # net_memif0,socket=PATH,role=server,socket-abstract=no over what nobody has bound, and what somebody has
    "stale": h("00 13 03 ff 05 01 02 fe 03 06"),
    "bound": h("00 17 03 ff 05 01 02 fe 03 06 00 1f 03 ff 05 01 02 fe 03 06"),
    "linked": h("00 0b 03 ff 05 01 02 fe 03 06 00 8b 03 ff 05 01 02 fe 03 06"),
    "relative": h("00 13 03 20 05 01 02 16 03 06"),
    "sizes": h("03 ff 06 01 04 0c 0d 0e 10 03 ff 06 01 04 0c 11 0e 0b 03 ff 03 01 0c 0b"),
    "by-default": h("03 40 02 01 03 03 40 02 01 05"),
}
for name, ops in FILES_SEEDS.items():
    write("files", name, ops)

# ---- fuzz_ip: port, then frames -----------------------------------------------------------------

OURS, PEER = "020000000001", "020000000002"


def frame(hexes, bits=3, piece=0):
    data = h(hexes)
    return b"\x00" + bytes([bits | (4 if piece else 0), piece]) + be16(len(data)) + data


def v4(proto, payload, src="0a000002", dst="0a000001", frag="0000", ident="0001"):
    body = h(payload)
    return (OURS + PEER + "0800" + "4500" + be16(20 + len(body)).hex() + ident + frag + "40" + proto +
            "0000" + src + dst + payload)


def v6(proto, payload, src="fd000000000000000000000000000002",
       dst="fd000000000000000000000000000001", hops="ff"):
    return (OURS + PEER + "86dd" + "60000000" + be16(len(h(payload))).hex() + proto + hops + src + dst +
            payload)


TCP_SYN = "9c40138800000001000000005002ffff00000000"
ARP = "00010800060400" + "{op}" + PEER + "0a000002" + "{target}" + "0a000001"
QUOTE4 = "4500002800004000400600000a0000010a000002" + "13889c4000000001"
QUOTE6 = ("60000000001406400000fd000000000000000000000000000001"[0:16] +
          "fd000000000000000000000000000001fd000000000000000000000000000002" + "13889c4000000001")
LL = "fe80000000000000000000000000000a"
NODES = "ff020000000000000000000000000001"
GROUP6 = "ff0e0000000000000000000000001234"


def igmp(payload, dst="e0000001"):
    return (OURS + PEER + "0800" + "4600" + be16(24 + len(h(payload))).hex() + "00000000" + "0102" +
            "0000" + "0a000002" + dst + "94040000" + payload)


IP_SEEDS = {
    "arp-request": frame("ffffffffffff" + PEER + "0806" + ARP.format(op="01", target="000000000000"), 0),
    "arp-reply": b"\x07\x00\x00\x00" + frame(OURS + PEER + "0806" + ARP.format(op="02", target=OURS)),
    "echo": frame(v4("01", "0800000000010001" + "61" * 32)),
    "echo-cut": frame(v4("01", "0800000000010001" + "61" * 32), 3, 9),
    "unreachable": frame(v4("01", "0303000000000000" + QUOTE4)),
    "too-big": frame(v4("01", "03040000000003e8" + QUOTE4)),
    "tcp": frame(v4("06", TCP_SYN)),
    "udp": frame(v4("11", "1388138800080000")),
    "udp-open": frame(v4("11", "13880f5f000c000061626364")),
    "udp-none": frame(v4("11", "13880f5f000c000061626364"), 1),
    "udp-closed": frame(v4("01", "0303000000000000" + QUOTE4[:18] + "11" + QUOTE4[20:40] + "0f5f138800080000")),
    "fragments": (frame(v4("01", "0800000000010001" + "61" * 24, frag="2000")) +
                  frame(v4("01", "61" * 32, frag="2004")) + frame(v4("01", "61" * 8, frag="0008"))),
    "overlap": (frame(v4("01", "08" * 32, frag="2000")) + frame(v4("01", "61" * 32, frag="2003")) +
                frame(v4("01", "61" * 8, frag="0007")) + b"\x06\x22"),
    "options": frame(OURS + PEER + "0800" + "4700002400010000400100000a0000020a00000107040400000000000800f7ff0000"),
    "echo6": frame(v6("3a", "8000000000010001" + "61" * 16)),
    "ns": frame(v6("3a", "8700000000000000fd0000000000000000000000000000010101" + PEER)),
    "na": b"\x07\x02\x00\x00" + frame(v6("3a", "8800000060000000fd0000000000000000000000000000020201" + PEER)),
    "dad": frame(v6("3a", "8700000000000000fd000000000000000000000000000001", src="0" * 32)),
    "ra": frame(v6("3a", "86000000400807080000000000000000" + "0501000000000500" +
                   "030440c0000151800000384000000000fd000000000000000000000000000000" + "0101" + PEER,
                   src=LL, dst=NODES)),
    "redirect": frame(v6("3a", "8900000000000000fd0000000000000000000000000000fe" +
                         "20010db8000000000000000000000007", src=LL)),
    "mld": frame(v6("00", "3a00050200000000" + "82000000271000000000000000000000000000000000000000",
                    src=LL, dst=NODES, hops="01")),
    "mld1": b"\xf5\x02" + frame(v6("00", "3a00050200000000" + "82000000271000000000000000000000000000000000000000000000",
                                    src=LL, dst=NODES, hops="01")),
    "mld2": (b"\xf5\x02" + frame(v6("00", "3a00050200000000" + "8200000003e80000" + GROUP6 + "027d0001" + LL,
                                     src=LL, dst=GROUP6, hops="01")) + b"\x06\x1e\xf5\x82\x06\x1e"),
    "igmp1": b"\xf5\x00" + frame(igmp("1100000000000000")) + b"\x06\x1e\xf5\x80",
    "igmp2": (b"\xf5\x00" + frame(igmp("1164000000000000")) + b"\x06\x1e" +
              frame(igmp("16000000ef010203", "ef010203")) + b"\xf5\x80\x06\x1e"),
    "igmp3": (b"\xf5\x00" + frame(igmp("1164000000000000027d0000")) +
              frame(igmp("110a0000ef010203027d00020101010102020202", "ef010203")) + b"\x06\x20\xf5\x80\x06\x1e"),
    "too-big6": frame(v6("3a", "0200000000000500" + QUOTE6)),
    "fragments6": (frame(v6("2c", "3a00000100000007" + "8000000000010001" + "61" * 24)) +
                   frame(v6("2c", "3a00002000000007" + "61" * 16))),
    "extensions": frame(v6("00", "3c00010400000000" + "2b00010400000000" + "3a00000000000000" +
                           "8000000000010001")),
    "udp6": frame(v6("11", "13880f5f000c000061626364"), 3, 60),
    "tcp6": frame(v6("06", TCP_SYN), 3, 60),
}
for name, ops in IP_SEEDS.items():
    write("ip", name, b"\x04" + ops)
write("ip", "all", b"\x04" + b"".join(IP_SEEDS.values()))

# ---- fuzz_iwpm: configuration, then operations --------------------------------------------------

IWPM_ADDR = {4: (h("0a000001") + bytes(12), h("0a000002") + bytes(12)),
             6: (h("fd" + "00" * 14 + "01"), h("fd" + "00" * 14 + "02"))}


def iwpm_datagram(kind, family, port=7174, handle=bytes(8)):
    us, peer = IWPM_ADDR[family]
    accepting, connecting = (us, peer) if kind == 0 else (peer, us)
    return (bytes([kind << 4 | family, 0]) + be16(50001) + be16(port) + be16(40000) + handle + connecting +
            accepting + (connecting if kind == 0 else b""))


def iwpm_receive(data, how=0):
    return bytes([0 | how << 3, len(data)]) + data


for family in (4, 6):
    name = f"v{family}"
    listen, ask = bytes([1, family & 2]), bytes([2, family & 2])
    write("iwpm", f"request-{name}", b"\x00" + listen + iwpm_receive(iwpm_datagram(0, family)))
    write("iwpm", f"any-{name}", b"\x01" + iwpm_receive(iwpm_datagram(0, family, 9)))
    for kind, what in ((1, "accept"), (2, "ack"), (3, "reject")):
        # The fuzzer puts the handle in where the operation says so.
        write("iwpm", f"{what}-{name}",
              b"\x00" + ask + iwpm_receive(iwpm_datagram(kind, family, 33781), 1) + bytes([5, 3]))
    write("iwpm", f"unreachable-{name}", b"\x00" + ask + bytes([3, 1]) + ask + bytes([3, 0]))
    write("iwpm", f"silent-{name}", b"\x00" + ask + bytes([5, 5]) * 9 + ask + bytes([4, 0]))

# ---- fuzz_esp: the SA, its window, then operations ------------------------------------------------

for sa in (0, 0x10, 0x07, 0x1f, 0x2a, 0x32, 0x14, 0x0c):
    for name, ops in (("friend", b"\x02" + be16(100) + bytes(range(100))),
                      ("changed", b"\x12" + be16(100) + bytes(100) + b"\x01" + be16(70)),
                      ("stranger", b"\x10" + be16(120) + bytes(6) + b"\x32" + bytes(2) + b"\x32" + bytes(110)),
                      ("mad-peer", b"\x01\x08" + bytes(6) + b"\x04\x06" + b"\x01\x08" + h("0908010203040406"))):
        write("esp", f"{name}-{sa:02x}", bytes([sa]) + be16(64) + ops * 3)

# ---- fuzz_esp_file: files, each followed by a flow to look up --------------------------------------

ESP_KEY = "aead 'rfc4106(gcm(aes))' 0x000102030405060708090a0b0c0d0e0fa0a1a2a3 128"
ESP_SA = "ip xfrm state add src 10.0.0.%d dst 10.0.0.%d proto esp spi 0x1%02x " + ESP_KEY
ESP_POLICY = "ip xfrm policy add src 10.0.0.%d dst 10.0.0.%d dir %s"


def esp_files(*files):
    texts = ["\n".join(f).encode() + b"\n" for f in files]
    return b"".join(be16(len(t)) + t + bytes([2, 6, 1, 2, 0]) for t in texts)


ESP_BOTH = [ESP_SA % (1, 2, 1), ESP_SA % (2, 1, 0) + " replay-window 64 flag esn", ESP_POLICY % (1, 2, "out") + " tmpl proto esp",
            ESP_POLICY % (2, 1, "in") + " priority 5 tmpl src 0.0.0.0 dst 0.0.0.0 proto esp reqid 0 mode transport level required"]
write("esp_file", "both", esp_files(ESP_BOTH, ESP_BOTH[1:], ESP_BOTH))
write("esp_file", "rekey", esp_files(ESP_BOTH, ESP_BOTH + [ESP_SA % (1, 2, 3), ESP_SA % (2, 1, 4)], [ESP_SA % (1, 2, 3)] + ESP_BOTH[2:]))
write("esp_file", "changed", esp_files(ESP_BOTH, [ESP_BOTH[0] + " limit byte-hard 5 limit time-hard 18446744073709551615"]))
write("esp_file", "tunnel", esp_files([ESP_SA % (1, 9, 5) + " mode tunnel reqid 3 encap espinudp 4500 4500 0.0.0.0 sel src 10.0.0.0/24 dst "
                                       "10.0.0.0/24 proto tcp sport 1 dport 2", ESP_POLICY % (1, 2, "out") +
                                       " tmpl src 10.0.0.1 dst 10.0.0.9 proto esp mode tunnel"]))
write("esp_file", "default", esp_files(["# all", "ip xfrm policy setdefault in accept out block", ESP_POLICY % (1, 2, "out") + " action block"]))
write("esp_file", "wrong", esp_files([ESP_SA % (1, 2, 1), ESP_SA % (1, 2, 1)], ["ip xfrm state add spi"], ["ip route", "'"]))

# ---- fuzz_ipsec: port, then operations --------------------------------------------------------------


def sealed(sa, protocol, payload, bits=1, piece=0, more=""):
    """By one of six SAs: 0 IPv4, 1 IPv6 with ESN, 2 and 3 tunnels, 4 in UDP, 5 CBC with SHA-1."""
    data = h(payload)
    return bytes([0, sa, bits, protocol, piece]) + be16(len(data)) + data + h(more)


def clear(hexes, bits=3, piece=0):
    return b"\x04" + frame(hexes, bits, piece)[1:]


def inner(proto, payload, **how):
    return v4(proto, payload, **{"src": "c0000207", **how})[28:]


def inner6(proto, payload):
    return v6(proto, payload, src="20010db8" + "00" * 11 + "07")[28:]


UDP_OPEN = "13880f5f000c000061626364"
REPLY4 = b"\x04\x00\x00" + be16(42) + h("020000000001" + PEER + "0806" + ARP.format(op="02", target=OURS))
IPSEC_SEEDS = {
    "tcp": sealed(0, 6, TCP_SYN),
    "udp": sealed(0, 17, UDP_OPEN) + sealed(4, 17, UDP_OPEN) + sealed(5, 17, UDP_OPEN) + sealed(1, 17, UDP_OPEN),
    "tcp6": sealed(1, 6, TCP_SYN, 3, 30),
    "in-udp": sealed(4, 6, TCP_SYN),
    "cbc": sealed(5, 6, TCP_SYN),
    "tunnel": sealed(2, 4, inner("06", TCP_SYN)) + sealed(2, 4, inner("11", UDP_OPEN), 65, 0, "03"),
    "tunnel6": sealed(3, 41, inner6("06", TCP_SYN)) + sealed(3, 41, inner6("11", UDP_OPEN), 65, 0, "03"),
    "tunnel-as-transport": sealed(2, 6, TCP_SYN) + sealed(3, 6, TCP_SYN),
    "transport-as-tunnel": sealed(0, 4, inner("06", TCP_SYN)) + sealed(1, 41, inner6("06", TCP_SYN)),
    "not-its-address": sealed(2, 4, inner("06", TCP_SYN, src="0a000002")) + sealed(2, 4, inner("06", TCP_SYN, src="0a000009")),
    "not-ours": sealed(2, 4, inner("06", TCP_SYN, dst="0a000009")),
    "anothers": sealed(0, 6, TCP_SYN, 33, 0, "05") + sealed(5, 6, TCP_SYN, 33, 0, "00"),
    "twice": sealed(0, 6, TCP_SYN, 9) + sealed(1, 6, TCP_SYN, 9),
    "changed": sealed(0, 6, TCP_SYN, 5, 0, "001801") + sealed(5, 6, TCP_SYN, 5, 0, "000301"),
    "ahead": sealed(0, 6, TCP_SYN, 17, 0, "0100") + sealed(1, 6, TCP_SYN, 17, 0, "ffff") * 2,
    "dummy": sealed(0, 59, "00" * 20),
    "within": sealed(0, 50, "00001000" + "00000001" + "00" * 32),
    "fragment": sealed(2, 4, inner("06", TCP_SYN, frag="2000")) +
                clear(v4("06", "61" * 16, src="c0000207", frag="0002")),
    "fragments": (clear(v4("06", "61" * 16, src="c0000207", frag="0050")) +
                  sealed(2, 4, inner("06", TCP_SYN + "61" * 620, frag="2000"))),
    "fragments6": (clear(v6("2c", "060004d000000007" + "61" * 16, src="20010db8" + "00" * 11 + "07")) +
                   sealed(3, 41, inner6("2c", "0600000100000007" + TCP_SYN + "61" * 1212))),
    "fragment6": sealed(1, 44, "0600000100000007" + TCP_SYN + "00" * 4),
    "echo": sealed(0, 1, "0800000000010001" + "61" * 16) + REPLY4,
    "options6": sealed(1, 60, "0600010400000000" + TCP_SYN),
    "clear": clear(v4("06", TCP_SYN)) + clear(v6("06", TCP_SYN)) + clear(v4("06", TCP_SYN, src="0a000009")),
    "clear-fragments": clear(v4("06", TCP_SYN[:32], frag="2000")) + clear(v4("06", TCP_SYN[32:] + "00" * 4, frag="0002")),
    "ike": clear(v4("11", "11941194000d000000000000aa", src="0a000004")) + clear(v4("11", "119411940009000" + "0ff", src="0a000004")),
    "sent": b"\x05\x00\x00\x00" + REPLY4 + b"\x05\x00\x00\x08" + b"\x05\x02\x01\x00" + b"\x05\x06\x02\x00",
    "too-big": b"\x05\x00\x00\x00" + REPLY4 +
               clear(v4("01", "03040000000003e8" + QUOTE4[:18] + "32" + QUOTE4[20:40] + "0000200000000001")) +
               b"\x05\x00\x00\x08",
    "files": sealed(0, 6, TCP_SYN) + b"\x07\x01" + sealed(0, 6, TCP_SYN) + b"\x07\x02" + sealed(0, 6, TCP_SYN) +
             clear(v4("06", TCP_SYN, src="0a000009")) + b"\x07\x00" + sealed(0, 6, TCP_SYN),
}
for name, ops in IPSEC_SEEDS.items():
    write("ipsec", name, b"\x04" + ops)

# ---- fuzz_ud: operations -------------------------------------------------------------------------

UD_RECEIVE = b"\x00" + be16(0) + be16(1000)


def ud_datagram(text=b"abc", op=4):
    return bytes([op]) + be16(len(text)) + text


write("ud", "message", UD_RECEIVE + ud_datagram() + b"\x02" + ud_datagram())
write("ud", "immediate", UD_RECEIVE * 2 + ud_datagram(op=0x84) + ud_datagram(bytes(960)) + ud_datagram(bytes(961)))
write("ud", "wrong", UD_RECEIVE + ud_datagram(op=0x24) + b"\x01" + ud_datagram(op=0x44) + b"\x01")
write("ud", "raw", UD_RECEIVE + ud_datagram(b"uiUD\x01" + bytes(23), op=0x14))
write("ud", "sidr", bytes.fromhex("070102 070102 070206 070304 17ff01 070680 270702aa55 570102 47010140"))
write("ud", "answered", bytes.fromhex("170001"))
write("ud", "error", UD_RECEIVE + b"\xf3" + ud_datagram())

# ---- fuzz_tcp: configuration, then operations ---------------------------------------------------

HANDSHAKE = h("08 0f")


def seg(kind, seq=b"\x00", ack=b"\x00", length=None, conn=0):
    return (bytes([conn << 4, kind]) + seq + ack + (be16(length) if length is not None else b"") +
            b"\x00")


DATA = seg(1, length=1000)
GAP = seg(1, seq=h("2a"[0:0] + "0d"), length=700)
FIN = seg(2, length=0)
ROUND = b"\x0e"
SEND = h("09 10 0400")
MOOD = {n: bytes([0x09, 8, n]) for n in range(8)}
ADVANCE = h("0b 06")
CONNECT = h("09 07") + ROUND
ACK = seg(0)
MARKED = h("09 3d")
for bits in (0, 2, 8, 24, 64, 128, 136):
    for name, ops in {
            "data": HANDSHAKE + DATA * 3 + ROUND + FIN + ROUND,
            "unread": HANDSHAKE + MOOD[2] + DATA * 3 + ROUND + FIN + h("09 0a") + ROUND,
            "half": HANDSHAKE + MOOD[1] + DATA * 3 + ROUND + ADVANCE + MOOD[0] + h("09 0a"),
            "gaps": HANDSHAKE + GAP * 2 + DATA + ROUND + GAP + ADVANCE + DATA * 2 + ROUND,
            "taken": HANDSHAKE + h("09 08 80") + GAP * 2 + ROUND + DATA + ROUND + GAP + DATA * 3 + ROUND,
            "send": HANDSHAKE + SEND * 4 + ROUND + ACK + ROUND + ADVANCE * 3 + ACK,
            "loss": HANDSHAKE + h("09 f3") + ROUND + seg(0, ack=h("012f")) * 3 + ADVANCE + ACK,
            "close": HANDSHAKE + SEND + h("09 05") + ROUND + ACK + FIN + ROUND + h("0b 11"),
            "release": HANDSHAKE + DATA + h("09 86") + ROUND + ACK + FIN + ROUND,
            "abort": HANDSHAKE + MOOD[3] + DATA + ROUND,
            "connect": CONNECT + HANDSHAKE + ROUND + DATA + ROUND + h("09 05") + ROUND + ACK,
            "simultaneous": CONNECT + seg(3) + b"\x00\x05b4\x00" + ROUND + seg(4) + ROUND + ACK,
            "reset": HANDSHAKE + seg(5, seq=h("0105")) + seg(5) + ROUND,
            "icmp": HANDSHAKE + SEND + ROUND + h("0d 00 05 0300 00") + ROUND + ADVANCE,
            "ecn": h("88 0f") + MARKED + seg(1, length=1000, conn=8) + ROUND + h("89 10 0400") + ROUND,
            "half-open": seg(3) + b"\x00\x05b4\x00" + ROUND + ADVANCE + seg(0) + seg(5) + ROUND,
            "zero-window": HANDSHAKE + SEND + h("80 00 00 00 0000 00") + SEND + ROUND + ADVANCE * 4,
    }.items():
        write("tcp", f"{name}-{bits}", bytes([bits]) + ops)

# ---- fuzz_config: lines -------------------------------------------------------------------------

write("config", "all", b"""port = net_memif0,role=server,id=1
eal = --no-huge -m 256
name = uiw0
mac = 02:00:00:00:00:01
address = 10.0.0.1/24
address = fd00::1/64
gateway = 10.0.0.254
gateway = fd00::fe
mtu = 1500
progress = dedicated:1
crc = off
markers = off
mpa_revision = 2
rtr = read write
connect_mode = rdma_cm
connect_port = 61525
congestion_control = newreno
timestamps = off
sack = off
window_scale = off
ecn = on
syn_cookies = always
capture = /tmp/%p.pcapng
log = debug
log_file = /tmp/log
send_buffer = 1M
receive_buffer = 256K
memory = 64
peer = siw
placement = in-order
fpdu = 1024
rnr_timeout = 0
user_timeout = 1000
zero_window_timeout = 86400000
keepalive = 0
startup_timeout = 100
max_startups = 1
max_startups_per_peer = 65536
max_half_open = 1
max_half_open_per_peer = 1
max_stalled_per_peer = 0
tls_handshakes_per_peer = 1
interface = off
settle = 60
slots = group:1-4
""")
write("config", "wrong", b"# a comment\n[section]\nport\n=\nmtu = 99999999999\naddress=1.2.3.4/33\nmtu=-1\n")
write("config", "slots", b"port=p%{slot}\naddress=10.0.0.%{slot}/24\nmac=02:00:00:00:00:%{slot:02x}\nslots=a:1-9\n")
write("config", "assignments", b"mtu=9000\naddress=::1/128\nprogress=auto\nlog=info\n")

# ---- fuzz_ucma: configuration, then commands ----------------------------------------------------


def cmd(number, payload):
    return bytes([0, number]) + be16(len(payload)) + payload + b"\x00"


def sockaddr(address, port):
    return struct.pack("<H", 2) + be16(port) + bytes(map(int, address.split("."))) + bytes(20)


def conn_param(private=b"hello"):
    return struct.pack("<II256sBBBBBBBB", 17, 0, private, len(private), 0, 4, 4, 0, 7, 7, 1)


def u32(*values):
    return struct.pack("<%dI" % len(values), *values)


CREATE = cmd(0, struct.pack("<QQHB5x", 7, 1, 0x106, 2))
EVENT = cmd(12, bytes(8))
for first in (0, 1):  # ids count from one or the other
    i = u32(first)
    DESTROY = cmd(1, bytes(8) + i + bytes(4))
    BIND_IP = cmd(2, bytes(8) + sockaddr("10.0.0.1", 7174) + i + bytes(4))
    RESOLVE = cmd(3, bytes(28) + sockaddr("10.0.0.2", 7174) + i + u32(2000))
    ROUTE = cmd(4, i + u32(2000))
    ACTIVE = CREATE + RESOLVE + EVENT + ROUTE + EVENT
    QUERIES = cmd(5, bytes(8) + i + u32(0)) + b"".join(
        cmd(19, bytes(8) + i + u32(k)) for k in range(3))
    LISTEN = cmd(7, i + u32(5))
    ENDED = h("0c 07 01")
    for name, ops in {
            "active": ACTIVE + QUERIES + cmd(11, bytes(8) + i + u32(1)) +
            cmd(6, conn_param() + i + bytes(12)) + h("0c 03 00 05") + EVENT + cmd(10, i) + ENDED +
            EVENT + DESTROY,
            "rejected": ACTIVE + cmd(6, conn_param() + i + bytes(12)) + h("0c 04 00 09") + EVENT,
            "passive": CREATE + BIND_IP + LISTEN + h("0c 02 05") * 3 + EVENT +
            cmd(8, bytes(8) + conn_param() + u32(first + 1) + bytes(12)) + EVENT +
            cmd(9, u32(first + 2) + b"\x02\x00\x00\x00" + b"no" + bytes(254)) + DESTROY,
            "options": CREATE + b"".join(
                cmd(14, bytes(8) + i + u32(0, opt, size)) for opt, size in
                ((0, 1), (1, 4), (2, 4), (3, 1))) + BIND_IP + cmd(15, i + u32(2)),
            "migrate": CREATE + cmd(18, bytes(8) + i + u32(1)) + b"\x8f" + DESTROY,
            "bind": CREATE + cmd(20, i + struct.pack("<HH", 16, 0) + sockaddr("10.0.0.1", 0) +
                                 bytes(100)) + cmd(21, i + u32(2000) + struct.pack("<HHI", 0, 16, 0) +
                                                   bytes(128) + sockaddr("10.0.0.2", 1) + bytes(100)),
    }.items():
        write("ucma", f"{name}-{first}", b"\x01" + ops)

# ---- pcap/corpus: what real connections send ----------------------------------------------------

CORPUS = HERE.parents[2] / "pcap" / "corpus"
SEED_MAX = 2048  # of a stream: longer ones make every input slow


def packets(data):
    """Ethernet frames of a little-endian file, pcap or pcapng."""
    if data[:4] == h("0a0d0d0a"):
        at = 0
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            if kind == 6:
                size = struct.unpack_from("<I", data, at + 20)[0]
                yield data[at + 28:at + 28 + size]
            at += length
    else:
        at = 24
        while at < len(data):
            size = struct.unpack_from("<I", data, at + 8)[0]
            yield data[at + 16:at + 16 + size]
            at += 16 + size


def segments(data):
    """(direction, TCP segment with its header); None: the packet is none."""
    for p in packets(data):
        if p[12:14] == h("0800") and p[23] == 6:
            end = 14 + struct.unpack_from(">H", p, 16)[0]
            yield p[26:34], p[14 + (p[14] & 15) * 4:end]
        elif p[12:14] == h("86dd") and p[20] == 6:
            yield p[22:54], p[54:54 + struct.unpack_from(">H", p, 18)[0]]


def first_connection(data):
    """Of both ends: the text of the first connection, as far as it is all there, in order."""
    text, ports = {}, None
    for way, s in segments(data):
        sport, dport, seq = struct.unpack_from(">HHI", s)
        body = s[(s[12] >> 4) * 4:]
        key = (way, sport, dport)
        if s[13] & 2:  # SYN
            if not s[13] & 16:
                if ports not in (None, {sport, dport}):
                    break
                ports = {sport, dport}
            text.setdefault(key, [seq + 1, b""])
        elif key in text and body:
            begin, have = text[key]
            new = (begin + len(have) - seq) & 0xffffffff
            if new < len(body):
                text[key][1] = have + body[new:]
    return [t for _, t in text.values()]


def pieces(op, data):
    return b"".join(bytes([op, len(data[i:i + 256]) - 1]) + data[i:i + 256]
                    for i in range(0, len(data), 256))


def ulpdus(stream):
    at = 20 + struct.unpack_from(">H", stream, 18)[0]
    while at + 2 <= len(stream):
        size = struct.unpack_from(">H", stream, at)[0]
        if 0 < size <= 256:
            yield stream[at + 2:at + 2 + size]
        at += (2 + size + 3) // 4 * 4 + 4


for file in sorted(CORPUS.rglob("*.pcap*")):
    if file.parent.name == "tls":
        continue  # random octets, but for their length
    name, data = "corpus-" + file.stem, file.read_bytes()
    if len(data) <= 8 * SEED_MAX:
        make("pcap", name, lambda path: path.symlink_to(os.path.relpath(file, path.parent)))
    for number, stream in enumerate(first_connection(data)[:2]):
        if len(stream) < 20:
            continue
        crc, markers = stream[16] >> 6 & 1, stream[16] >> 7
        head = bytes([number | crc << 2 | 0x70 | 8, 0]) + (bytes(5) if number else b"")
        write("mpa", f"{name}-{number}", head + pieces(0, stream[:SEED_MAX]))
        if number == 0:
            # Its responder may have wanted markers: then it tells so in its reply.
            reply = (list(first_connection(data)[:2]) + [b""])[1]
            marked = len(reply) >= 20 and reply[16] >> 7
            write("fpdu", name, bytes([marked, 0]) + stream[:SEED_MAX])
        if not markers and number == 0:
            ops = b"".join(pieces(8, u) for u in list(ulpdus(stream))[:12])
            write("rdmap", name, bytes([crc]) + h("0004 0004") + RECV * 6 + ops + POLL)
    if name.startswith("corpus-ops-") and file.stem not in ("ops-rev2", "ops-ipv6"):
        continue  # the same to TCP
    heads = [s[:(s[12] >> 4) * 4] for _, s in segments(data)][:16]
    write("tcp", name, b"\x00" + b"".join(b"\x0c" + bytes([len(s)]) + s + ROUND for s in heads))

# What no capture of the corpus has: IP fragments, and markers of which no start-up tells.


def pcap(frames):
    head = struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(struct.pack("<IIII", 0, i, len(f), len(f)) + f for i, f in enumerate(frames))


def fragments(frame, number, size):
    """The frame's IP packet in fragments of so many octets, the last one first."""
    v6 = frame[12:14] == h("86dd")
    head = 54 if v6 else 14 + (frame[14] & 15) * 4
    body = frame[head:]
    for at in reversed(range(0, len(body), size)):
        part, more = body[at:at + size], at + size < len(body)
        if v6:
            yield (frame[:18] + be16(8 + len(part)) + b"\x2c" + frame[21:head] +
                   struct.pack(">BBHI", 6, 0, at | more, number) + part)
        else:
            yield (frame[:16] + be16(head - 14 + len(part)) + be16(number) + be16(at // 8 | more << 13) +
                   frame[22:head] + part)


for file in ("start-rev0", "start-again-with-rev1", "ops-ipv6"):
    whole = list(packets((CORPUS / f"{file}.pcapng").read_bytes()))
    write("pcap", f"corpus-fragments-{file}",
          pcap(f for n, p in enumerate(whole) for f in fragments(p, n, 64 + 8 * (n % 7))))
for file in ("ops-rev2-markers", "ops-rev2-markers-nocrc"):
    whole = list(packets((CORPUS / f"{file}.pcapng").read_bytes()))
    write("pcap", f"corpus-middle-of-{file}", pcap(whole[9:]))

# The same, compressed: with gzip, and as zstd without compressing has it (RFC 8878 section 3.1.1).
whole = (CORPUS / "ops-rev2.pcapng").read_bytes()
raw = [whole[at:at + 8192] for at in range(0, len(whole), 8192)]
write("pcap", "gzip-corpus", gzip.compress(whole, mtime=0))
write("pcap", "gzip-two-members", gzip.compress(whole[:500], mtime=0) + gzip.compress(whole[500:], mtime=0))
write("pcap", "zstd-corpus", h("28b52ffd0058") + b"".join(
    struct.pack("<I", len(r) << 3 | (n == len(raw) - 1))[:3] + r for n, r in enumerate(raw)))
# ---- fuzz_tls: role, mode and suite, then operations ------------------------------------------------

for role in (0, 1):
    for suite in (0, 0x10, 0x20):
        # Records of two sizes, tickets, new keys, a close_notify, the end; then a damaged one.
        whole = (b"\x00" + be16(99) + bytes(range(100)) + b"\x0f" + b"\x03\x05" + h("040000020000") +
                 b"\x05\x01" + b"\x01" + be16(5000) + b"\x0f" + b"\x02\x15\x01" + h("0100") + b"\x08\x0f")
        damaged = b"\x09\x11" + b"\x00" + be16(2000) + b"\x0f" + b"\x04\x20" + be16(77) + b"\x0f"
        for name, ops in (("whole", whole), ("damaged", damaged)):
            write("tls", f"{name}-{role}-{suite >> 4}", bytes([role | suite | 4]) + ops)
HELLO = (h("16030100a5010000a10303") + bytes(range(32)) + h("20") + bytes(range(32)) +
         h("00061301130213030100005200100009000706697761727000") + bytes(60))
write("tls", "stranger-server", bytes([1 | 8, 0]) + HELLO)
write("tls", "stranger-client", bytes([8, 7]) + h("160303007a020000760303") + bytes(range(60)) + bytes(60))
write("tls", "stranger-clear", bytes([1 | 8, 0]) + b"MPA ID Req Frame")

# ---- fuzz_tls_certificate: mode, the names that are wanted, those that the certificate has ----------


def names(*of):
    return bytes([len(of)]) + b"".join(bytes([kind, len(text)]) + text for kind, text in of)


DNS, IP, URI = 0, 1, 2
server, pattern, stranger, expired, others, any_bytes, again, later = (1 << bit for bit in range(8))
here = IP, bytes([10, 0, 0, 2])
for name, mode, text in (
        ("client", again, names(here)), ("client-other", 0, names((IP, bytes([10, 0, 0, 3])))),
        ("server", server | again, names((DNS, b"a.test"))), ("server-later", server | again | later, names(here)),
        ("server-stranger", server | stranger | others, names(here)), ("server-expired", server | expired, names(here)),
        ("client-chain", others, names(here, (URI, b"a.test"))), ("nobody", server | others, names()),
        ("pattern", server | pattern, b"\x08*.a.test" + names((DNS, b"x.a.test"))),
        ("pattern-wild", server | pattern, b"\x09b, x.a.te" + names((DNS, b"*.a.te"), (DNS, b"y\0.a.te"))),
        ("pattern-address", pattern | again, b"\x08fe80::1 " + names((IP, h("fe80000000000000") + bytes(7) + b"\1"))),
        ("any", server | any_bytes | again, b"\x10" + h("300e8206612e7465737487040a000002"))):
    write("tls_certificate", name, bytes([mode]) + text)

if missing:
    print(*(("missing: " if CHECK else "written: ") + name for name in missing), sep="\n")
sys.exit(1 if CHECK and missing else 0)
