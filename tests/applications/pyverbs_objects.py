#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pyverbs by its objects: device list, context, PD, MR, CQ with its channel, QP, and traffic that is looked at.

    pyverbs_objects.py PORT                 serves: offers a region, answers a message, looks at what was written
    pyverbs_objects.py PORT HOST            sends, writes, reads, adds

The two exchange QP numbers, starting PSNs and GIDs over Linux's TCP, and bring the QPs to RTS by themselves.
tests/applications/pyverbs.sh runs it; examples/window.py is the same by rdma_cm.
"""
import json
import socket
import sys

import pyverbs.enums as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ, CompChannel
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

SIZE = 100000
ACCESS = (e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ |
          e.IBV_ACCESS_REMOTE_ATOMIC)


def pattern(seed):
    return bytes((i * i >> 3) + seed & 0xff for i in range(SIZE))


class End:
    """One end of a connection, with all that belongs to it."""

    def __init__(self):
        names = [device.name.decode() for device in get_device_list()]
        self.context = Context(name=names[0])
        device, port = self.context.query_device(), self.context.query_port(1)
        print('device', names[0], 'of', len(names), 'with', device.max_qp, 'QPs, port state', port.state)
        self.pd = PD(self.context)
        self.events = CompChannel(self.context)
        self.cq = CQ(self.context, 16, None, self.events)
        self.cq.req_notify()
        self.mr = MR(self.pd, SIZE, ACCESS)
        # An atomic's operand is eight aligned bytes.
        self.count = MR(self.pd, 8, ACCESS)
        cap = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1, max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=1))

    def connect(self, channel):
        psn = self.qp.qp_num * 7 & 0xffffff
        mine = {'qpn': self.qp.qp_num, 'psn': psn, 'gid': self.context.query_gid(1, 0).gid,
                'addr': self.mr.buf, 'key': self.mr.rkey, 'count': self.count.buf, 'count_key': self.count.rkey}
        channel.write(json.dumps(mine) + '\n')
        channel.flush()
        self.peer = json.loads(channel.readline())
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = ACCESS
        self.qp.to_init(attr)
        attr.dest_qp_num, attr.rq_psn, attr.sq_psn = self.peer['qpn'], self.peer['psn'], psn
        attr.path_mtu, attr.min_rnr_timer = e.IBV_MTU_1024, 12
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
        route = GlobalRoute(dgid=GID(self.peer['gid']), sgid_index=0)
        attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
        self.qp.to_rts(attr)

    def completion(self, what):
        n, completions = self.cq.poll()
        while n == 0:
            self.events.get_cq_event(self.cq)
            self.cq.req_notify()
            n, completions = self.cq.poll()
        if completions[0].status != e.IBV_WC_SUCCESS:
            sys.exit(f'{what}: status {completions[0].status}')

    def receive(self):
        self.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(self.mr.buf, SIZE, self.mr.lkey)]))

    def post(self, opcode, what, mr=None, rdma=None, atomic=None):
        mr = mr or self.mr
        wr = SendWR(opcode=opcode, num_sge=1, sg=[SGE(mr.buf, mr.length, mr.lkey)])
        if rdma:
            wr.set_wr_rdma(*rdma)
        if atomic:
            wr.set_wr_atomic(*atomic)
        self.qp.post_send(wr)
        self.completion(what)


def check(got, seed, what):
    if got != pattern(seed):
        sys.exit(f'{what}: not what was sent')
    print(what, 'is right')


def serve(port):
    end = End()
    with socket.create_server(('', port)) as listener:
        channel = listener.accept()[0].makefile('rw')
    end.connect(channel)
    end.count.write((40).to_bytes(8, sys.byteorder), 8)
    end.receive()
    channel.write('ready\n')
    channel.flush()
    end.completion('receive')
    check(end.mr.read(SIZE, 0), 1, 'the message')
    end.mr.write(pattern(2), SIZE)
    end.post(e.IBV_WR_SEND, 'send')
    # When the client says so, it has written, read and added.
    channel.readline()
    check(end.mr.read(SIZE, 0), 3, 'what was written')
    print('the count is', int.from_bytes(end.count.read(8, 0), sys.byteorder))


def use(port, host):
    end = End()
    channel = socket.create_connection((host, port)).makefile('rw')
    end.connect(channel)
    peer = end.peer
    channel.readline()
    back = MR(end.pd, SIZE, ACCESS)
    end.mr.write(pattern(1), SIZE)
    end.qp.post_recv(RecvWR(num_sge=1, sg=[SGE(back.buf, SIZE, back.lkey)]))
    end.post(e.IBV_WR_SEND, 'send')
    end.completion('receive')
    check(back.read(SIZE, 0), 2, 'the answer')
    end.mr.write(pattern(3), SIZE)
    end.post(e.IBV_WR_RDMA_WRITE, 'write', rdma=(peer['key'], peer['addr']))
    end.post(e.IBV_WR_RDMA_READ, 'read', mr=back, rdma=(peer['key'], peer['addr']))
    check(back.read(SIZE, 0), 3, 'what was read')
    end.post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, 'atomic', mr=end.count,
             atomic=(peer['count_key'], peer['count'], 2))
    print('the count was', int.from_bytes(end.count.read(8, 0), sys.byteorder))
    channel.write('done\n')
    channel.flush()


if __name__ == '__main__':
    if len(sys.argv) == 2:
        serve(int(sys.argv[1]))
    elif len(sys.argv) == 3:
        use(int(sys.argv[1]), sys.argv[2])
    else:
        sys.exit(f'usage: {sys.argv[0]} PORT [HOST]')
