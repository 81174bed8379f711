#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""One-sided RDMA from Python, by pyverbs: the client writes into the server's memory and reads it.

    window.py PORT             offers memory, says what is in it when the client is done
    window.py PORT SERVER      fills it, reads it, compares

Debian: python3-pyverbs. What window.c does in C, but for the place of the memory, which comes in a
message here: pyverbs sends private data, but does not show what came.
"""
import struct
import sys

import pyverbs.cm_enums as cm
import pyverbs.enums as e
from pyverbs.cmid import CMID, AddrInfo, ConnParam
from pyverbs.mr import MR
from pyverbs.qp import QPCap, QPInitAttr

SIZE = 1 << 16
PLACE = struct.Struct('!QII')


def endpoint(port, server=None):
    where = AddrInfo(src=None if server else '0.0.0.0', src_service=None if server else port,
                     dst=server, dst_service=port if server else None,
                     port_space=cm.RDMA_PS_TCP, flags=0 if server else cm.RAI_PASSIVE)
    queues = QPInitAttr(cap=QPCap(max_send_wr=4, max_recv_wr=4), sq_sig_all=True)
    return CMID(creator=where, qp_init_attr=queues)


def done(completion, what):
    if completion is None or completion.status != e.IBV_WC_SUCCESS:
        sys.exit(f'{what}: {completion}')


def serve(port):
    listener = endpoint(port)
    listener.listen()
    conn = listener.get_request()
    # iWARP wants local write with remote write; reading it from afar is another right.
    window = MR(conn.pd, SIZE, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE |
                e.IBV_ACCESS_REMOTE_READ)
    message = conn.reg_msgs(PLACE.size)
    conn.post_recv(message, 1)
    conn.accept(ConnParam(resources=1, depth=1))

    done(conn.get_recv_comp(), 'first message')
    conn.post_recv(message, 1)
    message.write(PLACE.pack(window.buf, window.rkey, SIZE), PLACE.size)
    conn.post_send(message, 0)
    done(conn.get_send_comp(), 'send')
    done(conn.get_recv_comp(), 'last message')
    print('the client wrote', SIZE, 'bytes, their sum is', sum(window.read(SIZE, 0)))
    conn.disconnect()


def use(port, server):
    conn = endpoint(port, server)
    message = conn.reg_msgs(PLACE.size)
    conn.connect(ConnParam(resources=1, depth=1))
    conn.post_recv(message)
    token = conn.reg_msgs(1)
    conn.post_send(token, 0, 1)
    done(conn.get_send_comp(), 'first message')
    done(conn.get_recv_comp(), 'place')
    address, key, size = PLACE.unpack(message.read(PLACE.size, 0))

    data = bytes(i * i >> 3 & 0xff for i in range(size))
    out = conn.reg_msgs(size)
    out.write(data, size)
    conn.post_write(out, size, address, key, e.IBV_SEND_SIGNALED)
    done(conn.get_send_comp(), 'write')
    # An RDMA Read's data comes as if written from afar: iWARP wants that right for its sink.
    back = conn.reg_write(size)
    conn.post_read(back, size, address, key, e.IBV_SEND_SIGNALED)
    done(conn.get_send_comp(), 'read')
    if back.read(size, 0) != data:
        sys.exit('what was read is not what was written')
    conn.post_send(token, 0, 1)
    done(conn.get_send_comp(), 'last message')
    print('wrote and read', size, 'bytes, their sum is', sum(data))
    conn.disconnect()


if __name__ == '__main__':
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    elif len(sys.argv) == 3:
        use(sys.argv[1], sys.argv[2])
    else:
        sys.exit(f'usage: {sys.argv[0]} PORT [SERVER]')
