#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes that fork, each with a device of its own: what a program sees of them, in a line each.

    forks.py pool METHOD      three of multiprocessing's workers; with spawn, the parent has a device, too
    forks.py prefork          a server that forks its workers first; one that was killed is replaced
    forks.py late             a child of a process that has used its device already

With "listed" behind it, the parent has listed devices, opened and closed them, and used none.


tests/apps/forks.sh runs it.
"""
import multiprocessing
import os
import signal
import socket
import sys

import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

WORKERS = 3


class Device:
    """Opened and used; its address is of the slot that this process has."""

    def __init__(self):
        self.context = Context(name=get_device_list()[0].name.decode())
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 16)
        self.address = self.context.query_gid(1, 0).gid
        self.talk()

    def connect(self, qp, peer):
        route = GlobalRoute(dgid=self.context.query_gid(1, 0), sgid_index=0)
        attr = QPAttr(port_num=1)
        attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE
        qp.to_init(attr)
        attr.dest_qp_num = peer.qp_num
        attr.path_mtu = e.IBV_MTU_1024
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.ah_attr = AHAttr(port_num=1, is_global=1, gr=route)
        qp.to_rts(attr)

    def talk(self):
        """A message from a queue pair to another: there is an RNIC that works."""
        init = QPInitAttr(qp_type=e.IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=QPCap(4, 4, 1, 1))
        one, other = QP(self.pd, init), QP(self.pd, init)
        memory = MR(self.pd, 64, e.IBV_ACCESS_LOCAL_WRITE)
        memory.write(b'to whom it may concern', 22)
        self.connect(one, other)
        self.connect(other, one)
        other.post_recv(RecvWR(num_sge=1, sg=[SGE(memory.buf + 32, 32, memory.lkey)]))
        one.post_send(SendWR(num_sge=1, sg=[SGE(memory.buf, 22, memory.lkey)]))
        done = []
        while len(done) < 2:
            done += self.cq.poll()[1]
        assert all(wc.status == e.IBV_WC_SUCCESS for wc in done), [wc.status for wc in done]
        assert memory.read(22, 32) == b'to whom it may concern'


def work(barrier):
    device = Device()
    # All at once, so that none takes the slot of one that has ended.
    barrier.wait()
    return device.address


def begin(barrier):
    global shared
    shared = barrier


def work_on_shared(_):
    return work(shared)


def look(how):
    """What frameworks do at their start: see what there is."""
    if how == 'listed':
        for device in get_device_list():
            Context(name=device.name.decode()).close()


def pool(method, how=None):
    look(how)
    mine = [Device()] if method == 'spawn' else []
    context = multiprocessing.get_context(method)
    with context.Pool(WORKERS, begin, (context.Barrier(WORKERS),)) as workers:
        addresses = workers.map(work_on_shared, range(WORKERS), 1)
    for address in addresses + [device.address for device in mine]:
        print('device at', address)


def serve(listener):
    """A worker: it tells each client its number and its address."""
    device = Device()
    kept = []
    while True:
        peer, _ = listener.accept()
        peer.sendall(f'{os.getpid()} {device.address}\n'.encode())
        kept.append(peer)


def start_worker(listener):
    pid = os.fork()
    if pid == 0:
        try:
            serve(listener)
        finally:
            os._exit(1)
    return pid


def visit(listener):
    with socket.create_connection(listener.getsockname()) as s:
        pid, address = s.makefile().readline().split()
    return int(pid), address


def visit_until(listener, pids):
    """Any worker may take a connection: come until each has."""
    found = {}
    while set(found) != set(pids):
        pid, address = visit(listener)
        found[pid] = address
    return found


def prefork(how=None):
    look(how)
    with socket.create_server(('127.0.0.1', 0)) as listener:
        pids = [start_worker(listener) for _ in range(WORKERS)]
        try:
            found = visit_until(listener, pids)
            first = pids.pop(0)
            os.kill(first, signal.SIGTERM)
            os.waitpid(first, 0)
            pids.append(start_worker(listener))
            again = visit_until(listener, pids)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
    for address in found.values():
        print('device at', address)
    print('replaced' if again[pids[-1]] == found[first] else 'the slot of the killed one is not taken')


def count_devices():
    try:
        return len(get_device_list())
    except PyverbsRDMAError:  # of a kernel without RDMA
        return 0


def late():
    device = Device()
    pid = os.fork()
    if pid == 0:
        os._exit(count_devices())
    print('in the child', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    PD(device.context)
    print('device at', device.address)


if __name__ == '__main__':
    {'pool': pool, 'prefork': prefork, 'late': late}[sys.argv[1]](*sys.argv[2:])
