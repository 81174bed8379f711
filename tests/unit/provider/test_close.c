/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ibv_close_device() with objects left, as programs do it: it succeeds, peers see the end of what
 * was connected and reach no memory, and whatever the program does with the rest gets an answer.
 */
#include "cm_fixture.h"
#include "must.h"
#include "support/limit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

/* One of each kind, in a context of their own. */
struct objects {
	struct ibv_context *context;
	struct ibv_td *td;
	struct ibv_pd *pd, *parent;
	struct ibv_mr *mr, *null_mr;
	struct ibv_mw *mw;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
	struct ibv_srq *srq;
	struct ibv_qp *qp, *qp_srq;
	uint8_t buf[64];
};

static struct ibv_context *open_ours(void)
{
	struct ibv_context *c = NULL;
	struct ibv_device **list;
	int n = 0;

	list = ibv_get_device_list(&n);
	for (int i = 0; i < n && c == NULL; i++)
		if (strcmp(ibv_get_device_name(list[i]), "uiw0") == 0)
			c = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	assert_non_null(c);
	return c;
}

static void make_domains(struct objects *o)
{
	struct ibv_td_init_attr td = {0};
	struct ibv_parent_domain_init_attr parent = {0};

	o->td = ibv_alloc_td(o->context, &td);
	o->pd = ibv_alloc_pd(o->context);
	parent.pd = o->pd;
	parent.td = o->td;
	o->parent = ibv_alloc_parent_domain(o->context, &parent);
	o->mr = ibv_reg_mr(o->pd, o->buf, sizeof o->buf,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_MW_BIND);
	o->null_mr = ibv_alloc_null_mr(o->pd);
	o->mw = ibv_alloc_mw(o->pd, IBV_MW_TYPE_1);
	assert_true(o->td != NULL && o->parent != NULL && o->mr != NULL && o->null_mr != NULL &&
		    o->mw != NULL);
}

static void make_queues(struct objects *o)
{
	struct ibv_cq_init_attr_ex cq_ex = {.cqe = 8};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1}};

	o->channel = ibv_create_comp_channel(o->context);
	o->cq = ibv_create_cq(o->context, 16, o, o->channel, 0);
	o->cq_ex = ibv_create_cq_ex(o->context, &cq_ex);
	o->srq = ibv_create_srq(o->pd, &srq);
	assert_true(o->channel != NULL && o->cq != NULL && o->cq_ex != NULL && o->srq != NULL);
	qp.send_cq = qp.recv_cq = o->cq;
	o->qp = ibv_create_qp(o->pd, &qp);
	qp.srq = o->srq;
	o->qp_srq = ibv_create_qp(o->parent, &qp);
	assert_true(o->qp != NULL && o->qp_srq != NULL);
}

static void objects_make(struct objects *o)
{
	memset(o, 0, sizeof *o);
	o->context = open_ours();
	make_domains(o);
	make_queues(o);
}

static void objects_destroy(struct objects *o)
{
	assert_int_equal(ibv_destroy_qp(o->qp_srq), 0);
	assert_int_equal(ibv_destroy_qp(o->qp), 0);
	assert_int_equal(ibv_destroy_srq(o->srq), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(o->cq_ex)), 0);
	assert_int_equal(ibv_destroy_cq(o->cq), 0);
	assert_int_equal(ibv_destroy_comp_channel(o->channel), 0);
	assert_int_equal(ibv_dealloc_mw(o->mw), 0);
	assert_int_equal(ibv_dereg_mr(o->null_mr), 0);
	assert_int_equal(ibv_dereg_mr(o->mr), 0);
	assert_int_equal(ibv_dealloc_pd(o->parent), 0);
	assert_int_equal(ibv_dealloc_td(o->td), 0);
	assert_int_equal(ibv_dealloc_pd(o->pd), 0);
}

/* ---- what is left ---------------------------------------------------------------------------- */

#define NO_POINTER(call)                         \
	do {                                     \
		errno = 0;                       \
		assert_null(call);               \
		assert_int_equal(errno, ENODEV); \
	} while (0)

static void nothing_is_made(struct objects *o)
{
	struct ibv_parent_domain_init_attr parent = {.pd = o->pd};
	struct ibv_srq_init_attr srq = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_qp_init_attr qp = {.qp_type = IBV_QPT_RC, .send_cq = o->cq, .recv_cq = o->cq};
	struct ibv_cq_init_attr_ex cq_ex = {.cqe = 4};
	struct ibv_td_init_attr td = {0};

	NO_POINTER(ibv_alloc_td(o->context, &td));
	NO_POINTER(ibv_alloc_pd(o->context));
	NO_POINTER(ibv_alloc_parent_domain(o->context, &parent));
	NO_POINTER(ibv_reg_mr(o->pd, o->buf, 8, 0));
	NO_POINTER(ibv_alloc_null_mr(o->pd));
	NO_POINTER(ibv_alloc_mw(o->pd, IBV_MW_TYPE_2));
	NO_POINTER(ibv_create_comp_channel(o->context));
	NO_POINTER(ibv_create_cq(o->context, 4, NULL, NULL, 0));
	NO_POINTER(ibv_create_cq_ex(o->context, &cq_ex));
	NO_POINTER(ibv_create_srq(o->pd, &srq));
	NO_POINTER(ibv_create_qp(o->pd, &qp));
	assert_int_equal(ibv_rereg_mr(o->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
		IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(errno, ENODEV);
}

/* Posts find a queue pair in its last state, polls what is flushed there; nothing connects it. */
static void queues_are_at_their_end(struct objects *o)
{
	struct ibv_send_wr send = {.wr_id = 1, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
	struct ibv_recv_wr recv = {.wr_id = 2}, *bad_recv;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_init_attr init;
	struct ibv_wc wc[2];

	assert_int_equal(ibv_query_qp(o->qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_ERR);
	assert_int_equal(ibv_post_send(o->qp, &send, &bad_send), 0);
	assert_int_equal(ibv_post_recv(o->qp, &recv, &bad_recv), 0);
	assert_int_equal(ibv_post_srq_recv(o->srq, &recv, &bad_recv), 0);
	assert_int_equal(ibv_req_notify_cq(o->cq, 0), 0);
	assert_int_equal(ibv_poll_cq(o->cq, 2, wc), 2);
	assert_int_equal(wc[0].status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc[1].status, IBV_WC_WR_FLUSH_ERR);
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(ibv_modify_qp(o->qp, &attr, IBV_QP_STATE), ENODEV);
}

static void nothing_comes(struct objects *o)
{
	struct pollfd p = {.fd = o->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	/* Readable, or a program in its loop would never learn. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(poll(&p, 1, -1), 1);
		assert_int_equal(ibv_get_cq_event(o->channel, &cq, &context), -1);
		assert_int_equal(errno, EIO);
	}
}

static void test_used_afterwards(void **state)
{
	struct objects o;
	int fd;

	objects_make(&o);
	fd = o.context->async_fd;
	assert_int_equal(ibv_close_device(o.context), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	nothing_is_made(&o);
	queues_are_at_their_end(&o);
	nothing_comes(&o);
	objects_destroy(&o);
}

/* The order of destruction is as strict as before, and a refused call may be made again. */
static void test_destroyed_in_order(void **state)
{
	struct objects o;

	objects_make(&o);
	assert_int_equal(ibv_close_device(o.context), 0);
	assert_int_equal(ibv_dealloc_pd(o.pd), EBUSY);
	assert_int_equal(ibv_dealloc_td(o.td), EBUSY);
	assert_int_equal(ibv_destroy_cq(o.cq), EBUSY);
	assert_int_equal(ibv_destroy_srq(o.srq), EBUSY);
	assert_int_equal(ibv_destroy_comp_channel(o.channel), EBUSY);
	objects_destroy(&o);
}

/* Left for good, again and again: of descriptors only the channels' stay, as with the kernel. */
static void test_forgotten(void **state)
{
	for (int i = 0; i < 100; i++) {
		struct objects o;
		int channel, fd;

		objects_make(&o);
		channel = o.channel->fd;
		assert_int_equal(ibv_close_device(o.context), 0);
		assert_true(fcntl(channel, F_GETFD) >= 0);
		fd = dup(STDERR_FILENO);
		assert_true(fd <= channel + 2);
		close(fd);
	}
}

/* An event that was read is still to be acknowledged before its queue can go. */
static void test_unread_and_unacknowledged(void **state)
{
	struct ibv_recv_wr recv[3] = {{.next = &recv[1]}, {.next = &recv[2]}}, *bad;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct objects o;
	struct ibv_cq *cq;
	void *context;

	objects_make(&o);
	assert_int_equal(ibv_req_notify_cq(o.cq, 0), 0);
	assert_int_equal(ibv_modify_qp(o.qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(ibv_post_recv(o.qp, &recv[2], &bad), 0);
	assert_int_equal(ibv_get_cq_event(o.channel, &cq, &context), 0);
	assert_ptr_equal(cq, o.cq);
	assert_int_equal(ibv_req_notify_cq(o.cq, 0), 0);
	assert_int_equal(ibv_post_recv(o.qp, recv, &bad), 0);
	assert_int_equal(ibv_close_device(o.context), 0);
	ibv_ack_cq_events(o.cq, 1);
	objects_destroy(&o);
}

/* ---- other threads --------------------------------------------------------------------------- */

static void *wait_for_async(void *arg)
{
	struct objects *o = arg;
	struct ibv_async_event event;

	MUST(ibv_get_async_event(o->context, &event) == -1 && (errno == EIO || errno == EBADF));
	return NULL;
}

static void *wait_for_completion(void *arg)
{
	struct objects *o = arg;
	struct ibv_cq *cq;
	void *context;

	MUST(ibv_get_cq_event(o->channel, &cq, &context) == -1 && errno == EIO);
	return NULL;
}

static _Atomic bool over;
static _Atomic unsigned rounds;

static void *poll_and_post(void *arg)
{
	struct ibv_recv_wr recv = {0}, *bad;
	struct objects *o = arg;
	struct ibv_wc wc[4];

	while (!atomic_load(&over)) {
		MUST(ibv_poll_cq(o->cq, 4, wc) >= 0);
		ibv_post_recv(o->qp, &recv, &bad);
		atomic_fetch_add(&rounds, 1);
	}
	return NULL;
}

static void rounds_pass(void)
{
	unsigned from = atomic_load(&rounds);

	while (atomic_load(&rounds) - from < 1000)
		sched_yield();
}

/* A waiting thread is told; one that is inside a verb, or comes again, finds what it uses. */
static void test_threads(void **state)
{
	static void *(*const what[])(void *) = {wait_for_async, wait_for_completion, poll_and_post};
	pthread_t thread[3];
	struct objects o;

	objects_make(&o);
	atomic_store(&over, false);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, what[i], &o), 0);
	rounds_pass();
	assert_int_equal(ibv_close_device(o.context), 0);
	rounds_pass();
	atomic_store(&over, true);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	objects_destroy(&o);
}

/* ---- connected ------------------------------------------------------------------------------- */

/* The active side's queue pair is of a context of its own; rdma_cm knows it by its number. */
static void connect_by_number(struct cm_pair *p, struct ibv_qp *qp)
{
	struct rdma_conn_param param = cm_param(NULL, 0);
	struct rdma_cm_event *ev;

	p->listener = cm_listener(4);
	p->active = cm_routed(CM_V4, cm_port(p->listener));
	param.qp_num = qp->qp_num;
	assert_int_equal(rdma_connect(p->active, &param), 0);
	ev = cm_next(p->listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	p->passive = ev->id;
	rdma_ack_cm_event(ev);
	cm_qp(p->passive);
	cm_accept(p);
}

static void test_connected(void **state)
{
	struct ibv_recv_wr recv = {.wr_id = 7}, *bad;
	struct cm_pair p = {0};
	struct objects o;
	struct ibv_wc wc;

	objects_make(&o);
	connect_by_number(&p, o.qp);
	assert_int_equal(ibv_post_recv(p.passive->qp, &recv, &bad), 0);
	assert_int_equal(ibv_close_device(o.context), 0);
	/* Both ends of the connection are told, and what the peer had posted comes back. */
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *ev;

		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_DISCONNECTED);
		assert_true(ev->id == p.active || ev->id == p.passive);
		rdma_ack_cm_event(ev);
	}
	while (ibv_poll_cq(p.passive->qp->recv_cq, 1, &wc) == 0)
		;
	assert_int_equal(wc.status, IBV_WC_WR_FLUSH_ERR);
	assert_int_equal(wc.wr_id, 7);
	cm_end(&p);
	objects_destroy(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(test_used_afterwards),
		CM(test_destroyed_in_order),
		CM(test_unread_and_unacknowledged),
		CM(test_threads),
		CM(test_connected),
		CM(test_forgotten),
	};

	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
