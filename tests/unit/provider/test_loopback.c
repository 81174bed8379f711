/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole provider in one process: started by "uiwarp run" on a port that goes nowhere, two QPs
 * of ours are connected through librdmacm over our own address, which the IP layer loops back.
 */
#include "fixture.h"

#include "support/child_fork.h"
#include "support/limit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- objects without a connection --------------------------------------------------------------
 */

static void test_device(void **state)
{
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_gid_entry entry;
	union ibv_gid gid;

	assert_int_equal(fx.context->device->node_type, IBV_NODE_RNIC);
	assert_int_equal(fx.context->device->transport_type, IBV_TRANSPORT_IWARP);
	assert_int_equal(ibv_query_device(fx.context, &attr), 0);
	assert_int_equal(attr.phys_port_cnt, 1);
	assert_true(attr.node_guid == ibv_get_device_guid(fx.context->device));
	assert_int_equal(ibv_query_device_ex(fx.context, NULL, &ex), 0);
	assert_memory_equal(&ex.orig_attr, &attr, sizeof attr);
	assert_int_equal(ibv_query_port(fx.context, 1, &port), 0);
	assert_int_equal(port.state, IBV_PORT_ACTIVE);
	assert_int_equal(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(port.max_msg_sz, INT32_MAX);
	assert_int_equal(ibv_query_port(fx.context, 2, &port), EINVAL);
	assert_int_equal(ibv_query_gid(fx.context, 1, 0, &gid), 0);
	assert_int_equal(ibv_query_gid_ex(fx.context, 1, 0, &entry, 0), 0);
	assert_memory_equal(&entry.gid, &gid, sizeof gid);
	assert_int_equal(ibv_query_gid_ex(fx.context, 1, 1, &entry, 0), EINVAL);
	assert_int_equal(ibv_query_gid_table(fx.context, &entry, 1, 0), 1);
}

static void test_memory(void **state)
{
	const int rw = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	uint8_t *gone = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;
	char byte;

	assert_non_null(pd);
	/* Read-only; the second page gone. */
	errno = 0;
	assert_null(ibv_reg_mr(pd, gone, 8192, rw));
	assert_int_equal(errno, EFAULT);
	mr = ibv_reg_mr(pd, gone, 8192, IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(gone + 4096, 4096);
	assert_null(ibv_reg_mr(pd, gone + 4000, 100, 0));
	assert_int_equal(errno, EFAULT);
	munmap(gone, 4096);
	assert_null(ibv_reg_mr(pd, &byte, SIZE_MAX, 0));
	assert_null(ibv_reg_mr(pd, &byte, 1, IBV_ACCESS_REMOTE_WRITE));
	assert_int_equal(errno, EINVAL);
	mr = ibv_reg_mr(pd, &byte, 1, rw | IBV_ACCESS_RELAXED_ORDERING);
	assert_non_null(mr);
	assert_int_equal(mr->lkey, mr->rkey);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_refusals(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct ibv_cq *cq = ibv_create_cq(fx.context, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC};
	struct ibv_ah_attr ah = {0};
	struct ibv_device_attr dev;

	ibv_query_device(fx.context, &dev);
	assert_null(ibv_create_cq(fx.context, 0, NULL, NULL, 0));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_cq(fx.context, dev.max_cqe + 1, NULL, NULL, 0));
	assert_null(ibv_create_cq(fx.context, 1, NULL, NULL, 1));
	assert_null(ibv_create_qp(pd, &a));
	assert_int_equal(errno, EOPNOTSUPP);
	a.qp_type = IBV_QPT_RC;
	a.cap.max_send_wr = (uint32_t)dev.max_qp_wr + 1;
	assert_null(ibv_create_qp(pd, &a));
	assert_int_equal(errno, EINVAL);
	assert_null(ibv_create_ah(pd, &ah)); /* without a GID */
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_qp_states(void **state)
{
	struct ibv_pd *pd = ibv_alloc_pd(fx.context);
	struct ibv_cq *cq = ibv_create_cq(fx.context, 8, NULL, NULL, 0);
	struct ibv_qp_init_attr a = {.send_cq = cq,
		.recv_cq = cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp(pd, &a);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad_recv;
	struct ibv_send_wr send = {.wr_id = 8}, *bad_send = NULL;

	assert_non_null(qp);
	assert_true(a.cap.max_send_wr >= 2);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	assert_int_equal(ibv_destroy_cq(cq), EBUSY);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), 0);
	assert_int_equal(qp->state, IBV_QPS_INIT);
	attr.port_num = 2;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
	assert_ptr_equal(bad_send, &send);
	assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
	attr.qp_state = IBV_QPS_ERR;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	/* In ERROR what was posted, and what still is, completes flushed. */
	assert_int_equal(ibv_post_send(qp, &send, &bad_send), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(take(cq).status, IBV_WC_WR_FLUSH_ERR);
	/* librdmacm's disconnect must get past this. */
	attr.qp_state = IBV_QPS_SQD;
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_extended_cq(void **state)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_poll_cq_attr poll_attr = {0};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(fx.context, &attr);

	assert_non_null(cq);
	assert_int_equal(ibv_start_poll(cq, &poll_attr), ENOENT);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 64), 0);
	assert_true(cq->cqe >= 64);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	attr.wc_flags = IBV_WC_EX_WITH_FLOW_TAG;
	assert_null(ibv_create_cq_ex(fx.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
}

static bool in_child;

/* NOLINTBEGIN(bugprone-reserved-identifier) */
int __lsan_is_turned_off(void);

/** In a child, LeakSanitizer would wait for ever for a lock that a thread of the parent had at
 * fork(). */
int __lsan_is_turned_off(void)
{
	return in_child;
}
/* NOLINTEND(bugprone-reserved-identifier) */

static void test_fork(void **state)
{
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	int status;
	pid_t pid;

	pd = ibv_alloc_pd(fx.context);
	cq = ibv_create_cq(fx.context, 8, NULL, NULL, 0);
	pid = child_fork();
	if (pid == 0) {
		struct ibv_wc wc;
		int ok = ibv_alloc_pd(fx.context) == NULL && errno == ENODEV &&
			 ibv_poll_cq(cq, 1, &wc) < 0 && ibv_req_notify_cq(cq, 0) == ENODEV &&
			 ibv_destroy_cq(cq) == ENODEV;

		in_child = true;
		/* exit(), not _exit(): what runs then must leave the parent's device alone. */
		exit(ok ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

/* ---- a connection -------------------------------------------------------------------------------
 */

static void test_write_and_read(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, FIXTURE_SIZE), *bad;
	struct ibv_wc wc;

	fill(fx.client.buf, 1);
	wr.wr.rdma.remote_addr = (uintptr_t)fx.server.buf;
	wr.wr.rdma.rkey = fx.server.mr->rkey;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	/* A Read behind it: when it is answered, the Write has been placed. */
	wr = request(IBV_WR_RDMA_READ, &sge, &fx.client, FIXTURE_SIZE / 2);
	wr.wr.rdma.remote_addr = (uintptr_t)fx.server.buf + FIXTURE_SIZE / 2;
	wr.wr.rdma.rkey = fx.server.mr->rkey;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_WRITE);
	assert_int_equal(wc.qp_num, fx.client.id->qp->qp_num);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RDMA_READ);
	assert_int_equal(wc.byte_len, FIXTURE_SIZE / 2);
	assert_memory_equal(fx.client.buf, fx.server.buf + FIXTURE_SIZE / 2, FIXTURE_SIZE / 2);
	fill(fx.client.buf, 1);
	assert_memory_equal(fx.client.buf, fx.server.buf, FIXTURE_SIZE);
}

static void test_send(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, FIXTURE_SIZE), *bad;
	struct ibv_wc wc;

	post_recv(&fx.server, 55);
	fill(fx.client.buf, 9);
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wr_id, 55);
	assert_int_equal(wc.byte_len, FIXTURE_SIZE);
	assert_memory_equal(fx.client.buf, fx.server.buf, FIXTURE_SIZE);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.wr_id, wr.wr_id);
}

static void test_send_with_invalidate(void **state)
{
	struct ibv_mw *mw = server_window(64);
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge, &fx.client, 4), *bad;
	struct ibv_wc wc;

	post_recv(&fx.server, 56);
	wr.invalidate_rkey = mw->rkey;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_true((wc.wc_flags & IBV_WC_WITH_INV) != 0);
	assert_int_equal(wc.invalidated_rkey, mw->rkey);
	take(fx.client.id->send_cq);
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* Both QPs are of one PD, so no peer may take away what the other could use. */
static void test_send_with_invalidate_of_shared_memory(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV, &sge, &fx.client, 4);

	assert_ptr_equal(fx.client.id->pd, fx.server.id->pd);
	post_recv(&fx.server, 56);
	wr.invalidate_rkey = fx.server.mr->rkey;
	client_posts(&wr);
	assert_int_equal(take(fx.server.id->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
}

static void test_post_errors(void **state)
{
	struct ibv_sge sge[3];
	struct ibv_send_wr wr = request(IBV_WR_SEND, sge, &fx.client, 17), *bad = NULL;

	wr.send_flags |= IBV_SEND_INLINE;
	sge[0].length = 1 << 20;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.num_sge = 1000;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	wr.num_sge = -1;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.opcode = (enum ibv_wr_opcode)1000;
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), EOPNOTSUPP);
}

static void test_builders(void **state)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(fx.client.id->qp);
	char text[] = "built inline";
	struct ibv_wc wc;

	assert_non_null(ex);
	fill(fx.client.buf, 3);
	/* Abandoned: neither may be seen. */
	ibv_wr_start(ex);
	ex->wr_id = 1;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 8);
	ibv_wr_send(ex);
	ibv_wr_abort(ex);
	/* An error keeps all of them back. */
	ibv_wr_start(ex);
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf);
	ibv_wr_set_inline_data(ex, fx.client.buf, FIXTURE_SIZE);
	assert_int_equal(ibv_wr_complete(ex), EINVAL);

	post_recv(&fx.server, 57);
	ibv_wr_start(ex);
	ex->wr_id = 2;
	ex->wr_flags = 0;
	ibv_wr_rdma_write(ex, fx.server.mr->rkey, (uintptr_t)fx.server.buf + 1000);
	ibv_wr_set_sge(ex, fx.client.mr->lkey, (uintptr_t)fx.client.buf, 5000);
	ex->wr_id = 3;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, text, sizeof text);
	assert_int_equal(ibv_wr_complete(ex), 0);
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.wr_id, 57);
	assert_int_equal(wc.byte_len, sizeof text);
	assert_string_equal((char *)fx.server.buf, text);
	assert_memory_equal(fx.server.buf + 1000, fx.client.buf, 5000);
	wc = take(fx.client.id->send_cq);
	assert_int_equal(wc.wr_id, 3);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_poll_cq(fx.client.id->send_cq, 1, &wc), 0);
}

static void test_completion_channel(void **state)
{
	struct ibv_cq *cq = fx.server.id->recv_cq, *which;
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_SEND, &sge, &fx.client, 1), *bad;
	struct pollfd fd = {.fd = fx.server.id->recv_cq_channel->fd, .events = POLLIN};
	void *cq_context;

	post_recv(&fx.server, 58);
	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	/* Blocks, with nobody but the engine's own thread to make progress. */
	assert_int_equal(ibv_get_cq_event(fx.server.id->recv_cq_channel, &which, &cq_context), 0);
	assert_ptr_equal(which, cq);
	assert_int_equal(take(cq).wr_id, 58);
	ibv_ack_cq_events(cq, 1);
	take(fx.client.id->send_cq);
	/* An event that nobody reads goes with its CQ. */
	post_recv(&fx.server, 59);
	assert_int_equal(ibv_req_notify_cq(cq, 0), 0);
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	assert_int_equal(poll(&fd, 1, LIMIT_MS), 1);
}

static void test_bad_rkey(void **state)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, &sge, &fx.client, 8), *bad;
	struct ibv_async_event ev;
	struct ibv_wc wc;

	wr.wr.rdma.remote_addr = (uintptr_t)fx.server.buf;
	wr.wr.rdma.rkey = fx.server.mr->rkey ^ 0x5a5a00;
	post_recv(&fx.server, 60);
	post_recv(&fx.client, 61);
	assert_int_equal(ibv_post_send(fx.client.id->qp, &wr, &bad), 0);
	/* The server tells of it by a Terminate, and all that is posted is flushed on both sides.
	 */
	wc = take(fx.server.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 60);
	wc = take(fx.client.id->recv_cq);
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(ibv_get_async_event(fx.server.id->verbs, &ev), 0);
	assert_true(ev.event_type == IBV_EVENT_QP_ACCESS_ERR ||
		    ev.event_type == IBV_EVENT_QP_FATAL || ev.event_type == IBV_EVENT_QP_REQ_ERR);
	ibv_ack_async_event(&ev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPENED(test_device),
		OPENED(test_memory),
		OPENED(test_refusals),
		OPENED(test_qp_states),
		OPENED(test_extended_cq),
		OPENED(test_fork),
		CONNECTED(test_write_and_read),
		CONNECTED(test_send),
		CONNECTED(test_send_with_invalidate),
		CONNECTED(test_send_with_invalidate_of_shared_memory),
		CONNECTED(test_post_errors),
		CONNECTED(test_builders),
		CONNECTED(test_completion_channel),
		CONNECTED(test_bad_rkey),
	};

	/* A lost event must end the test. */
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
