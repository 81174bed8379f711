/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that make connections, move data over them and end them in every way, in an order drawn
 * from a fixed seed; all with one PD and one CQ, which each of them polls for all. What is there to
 * be seen is seen by sanitizers and valgrind; here, that the data are right, that each request
 * completes once, and that in the end nothing is left.
 */
#include "cm_fixture.h"
#include "must.h"

#include "base/prng.h"
#include "support/limit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define THREADS 4
#define BUFFER  (64 << 10)
#define CQ_SIZE (4 * THREADS * 16)
#define PENDING (-1)

/* Valgrind and TSan take their time. */
static unsigned rounds = 25;

static struct ibv_pd *pd;
static struct ibv_cq *cq;

/* What a request's wr_id points to. */
struct op {
	_Atomic int status;
};

struct peer {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	uint8_t buf[BUFFER];
};

struct worker {
	struct prng random;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct peer active, passive;
};

static uint32_t draw(struct worker *w, uint32_t below)
{
	return (uint32_t)prng_below(&w->random, below);
}

/* ---- completions ----------------------------------------------------------------------------- */

/* Anybody's. */
static void poll_some(void)
{
	struct ibv_wc wc[4];
	int n = ibv_poll_cq(cq, 4, wc);

	MUST(n >= 0);
	for (int i = 0; i < n; i++) {
		struct op *op = (struct op *)(uintptr_t)wc[i].wr_id;

		MUST(atomic_exchange(&op->status, (int)wc[i].status) == PENDING);
	}
	if (n == 0)
		sched_yield();
}

static int wait_for(struct op *op)
{
	int status;

	while ((status = atomic_load(&op->status)) == PENDING)
		poll_some();
	return status;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void post(struct worker *w, struct op *op, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)w->active.buf, .length = len, .lkey = w->active.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = (uintptr_t)op,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = opcode,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.rdma = {.remote_addr = (uintptr_t)w->passive.buf,
					   .rkey = w->passive.mr->rkey}},
			   *bad;

	atomic_store(&op->status, PENDING);
	MUST(ibv_post_send(w->active.id->qp, &wr, &bad) == 0);
}

static void post_receive(struct peer *p, struct op *op)
{
	struct ibv_sge sge = {.addr = (uintptr_t)p->buf, .length = BUFFER, .lkey = p->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = (uintptr_t)op, .sg_list = &sge, .num_sge = 1}, *bad;

	atomic_store(&op->status, PENDING);
	MUST(ibv_post_recv(p->id->qp, &wr, &bad) == 0);
}

static void fill(uint8_t *buf, uint32_t len, uint8_t seed)
{
	for (uint32_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(seed + 31 * i);
}

static void move_data(struct worker *w)
{
	uint32_t len = draw(w, BUFFER) + 1;
	uint8_t seed = (uint8_t)draw(w, 256);
	struct op op, receive;

	fill(w->active.buf, len, seed);
	memset(w->passive.buf, 0, len);
	switch (draw(w, 3)) {
	case 0:
		post(w, &op, IBV_WR_RDMA_WRITE, len);
		MUST(wait_for(&op) == IBV_WC_SUCCESS);
		/* Placed for sure when a Read behind it has come back. */
		post(w, &op, IBV_WR_RDMA_READ, len);
		MUST(wait_for(&op) == IBV_WC_SUCCESS);
		break;
	case 1:
		fill(w->passive.buf, len, seed);
		memset(w->active.buf, 0, len);
		post(w, &op, IBV_WR_RDMA_READ, len);
		MUST(wait_for(&op) == IBV_WC_SUCCESS);
		break;
	default:
		post_receive(&w->passive, &receive);
		post(w, &op, IBV_WR_SEND, len);
		MUST(wait_for(&op) == IBV_WC_SUCCESS);
		MUST(wait_for(&receive) == IBV_WC_SUCCESS);
	}
	MUST(memcmp(w->active.buf, w->passive.buf, len) == 0);
	MUST(w->active.buf[len - 1] == (uint8_t)(seed + 31 * (len - 1)));
}

/* ---- connections ----------------------------------------------------------------------------- */

static struct rdma_cm_id *next(struct worker *w, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *ev;
	struct rdma_cm_id *id;

	MUST(rdma_get_cm_event(w->channel, &ev) == 0);
	if (ev->event != type || ev->status != 0)
		fprintf(stderr, "%s with status %d, not %s\n", rdma_event_str(ev->event),
			ev->status, rdma_event_str(type));
	MUST(ev->event == type && ev->status == 0);
	id = ev->id;
	MUST(rdma_ack_cm_event(ev) == 0);
	return id;
}

static void register_buffer(struct peer *p)
{
	p->mr = ibv_reg_mr(pd, p->buf, BUFFER,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	MUST(p->mr != NULL);
}

static void equip(struct peer *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};

	MUST(rdma_create_qp(p->id, pd, &attr) == 0);
	register_buffer(p);
}

static void connect_both(struct worker *w)
{
	struct cm_address to = cm_address(CM_V4, cm_port(w->listener));
	struct rdma_conn_param param = cm_param(NULL, 0);

	MUST(rdma_create_id(w->channel, &w->active.id, NULL, RDMA_PS_TCP) == 0);
	MUST(rdma_resolve_addr(w->active.id, NULL, cm_sockaddr(&to), 2000) == 0);
	next(w, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(rdma_resolve_route(w->active.id, 2000) == 0);
	next(w, RDMA_CM_EVENT_ROUTE_RESOLVED);
	equip(&w->active);
	MUST(rdma_connect(w->active.id, &param) == 0);
	w->passive.id = next(w, RDMA_CM_EVENT_CONNECT_REQUEST);
	equip(&w->passive);
	MUST(rdma_accept(w->passive.id, &param) == 0);
	next(w, RDMA_CM_EVENT_ESTABLISHED);
	next(w, RDMA_CM_EVENT_ESTABLISHED);
}

static void dismiss(struct peer *p, bool id_first)
{
	struct ibv_qp *qp = p->id->qp;

	if (id_first) {
		p->id->qp = NULL; /* librdmacm's CQs are not ours */
		MUST(rdma_destroy_id(p->id) == 0);
		MUST(ibv_destroy_qp(qp) == 0);
	} else {
		rdma_destroy_qp(p->id);
		MUST(rdma_destroy_id(p->id) == 0);
	}
	MUST(ibv_dereg_mr(p->mr) == 0);
}

/* With requests under way, which complete in one way or another. */
static void end_in_the_middle(struct worker *w)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct op op[4], receive[4];

	for (unsigned i = 0; i < 4; i++)
		post_receive(&w->passive, &receive[i]);
	for (unsigned i = 0; i < 4; i++)
		post(w, &op[i], i % 2 ? IBV_WR_RDMA_READ : IBV_WR_SEND, draw(w, BUFFER) + 1);
	switch (draw(w, 3)) {
	case 0:
		MUST(ibv_modify_qp(w->active.id->qp, &attr, IBV_QP_STATE) == 0);
		break;
	case 1:
		MUST(ibv_modify_qp(w->passive.id->qp, &attr, IBV_QP_STATE) == 0);
		break;
	default:
		MUST(rdma_disconnect(w->active.id) == 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		wait_for(&op[i]);
		wait_for(&receive[i]);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (unsigned round = 0; round < rounds; round++) {
		connect_both(w);
		for (unsigned n = draw(w, 8); n > 0; n--) {
			move_data(w);
			if (draw(w, 4) == 0) {
				MUST(ibv_dereg_mr(w->active.mr) == 0);
				register_buffer(&w->active);
			}
		}
		if (draw(w, 2))
			end_in_the_middle(w);
		else if (draw(w, 2))
			MUST(rdma_disconnect(draw(w, 2) ? w->active.id : w->passive.id) == 0);
		if (draw(w, 2)) {
			dismiss(&w->active, draw(w, 2));
			dismiss(&w->passive, draw(w, 2));
		} else {
			dismiss(&w->passive, draw(w, 2));
			dismiss(&w->active, draw(w, 2));
		}
	}
	return NULL;
}

/* ---- one QP for all -------------------------------------------------------------------------- */

#define POSTS 300

struct sharer {
	struct worker *w; /* all use its connection */
	uint32_t at;      /* of this one's words in both buffers */
};

/* The send queue may be full of what the others post. */
static void post_word(struct sharer *s, struct op *op, uint32_t word)
{
	struct peer *a = &s->w->active, *b = &s->w->passive;
	struct ibv_sge sge = {
		.addr = (uintptr_t)a->buf + s->at + 4 * word, .length = 4, .lkey = a->mr->lkey};
	struct ibv_send_wr wr = {.wr_id = (uintptr_t)op,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_RDMA_WRITE,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.rdma = {.remote_addr = (uintptr_t)b->buf + s->at + 4 * word,
					   .rkey = b->mr->rkey}},
			   *bad;
	int rc;

	atomic_store(&op->status, PENDING);
	while ((rc = ibv_post_send(a->id->qp, &wr, &bad)) == ENOMEM)
		poll_some();
	MUST(rc == 0);
}

static void *share(void *arg)
{
	struct sharer *s = arg;
	struct op op[2];

	for (uint32_t i = 0; i < POSTS; i++) {
		struct ibv_qp_init_attr init;
		struct ibv_qp_attr attr;
		struct ibv_mr *mr;

		if (i >= 2)
			MUST(wait_for(&op[i % 2]) == IBV_WC_SUCCESS);
		memcpy(s->w->active.buf + s->at + 4 * i, &i, sizeof i);
		post_word(s, &op[i % 2], i);
		MUST(ibv_req_notify_cq(cq, 0) == 0);
		MUST(ibv_resize_cq(cq, CQ_SIZE << i % 2) == 0);
		MUST(ibv_query_qp(s->w->active.id->qp, &attr, IBV_QP_STATE, &init) == 0);
		mr = ibv_reg_mr(pd, s->w->active.buf, BUFFER, 0);
		MUST(mr != NULL && ibv_dereg_mr(mr) == 0);
	}
	MUST(wait_for(&op[0]) == IBV_WC_SUCCESS && wait_for(&op[1]) == IBV_WC_SUCCESS);
	return NULL;
}

/* ---- the tests ------------------------------------------------------------------------------- */

static struct worker *worker_create(unsigned seed)
{
	struct cm_address at = cm_address(CM_V4, 0);
	struct worker *w = calloc(1, sizeof *w);

	MUST(w != NULL);
	w->random.state = seed;
	w->channel = rdma_create_event_channel();
	MUST(w->channel != NULL);
	MUST(rdma_create_id(w->channel, &w->listener, NULL, RDMA_PS_TCP) == 0);
	MUST(rdma_bind_addr(w->listener, cm_sockaddr(&at)) == 0);
	MUST(rdma_listen(w->listener, 4) == 0);
	return w;
}

static void worker_destroy(struct worker *w)
{
	MUST(rdma_destroy_id(w->listener) == 0);
	rdma_destroy_event_channel(w->channel);
	free(w);
}

/* Of librdmacm's own context, where the QPs of its ids are. */
static void share_objects(const struct worker *w)
{
	pd = ibv_alloc_pd(w->listener->verbs);
	cq = ibv_create_cq(w->listener->verbs, CQ_SIZE, NULL, NULL, 0);
	assert_true(pd != NULL && cq != NULL);
}

static void unshare_objects(void)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(cq, 1, &wc), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_connections(void **state)
{
	struct worker *worker[THREADS];
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		worker[i] = worker_create(i + 1);
	share_objects(worker[0]);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, work, worker[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	unshare_objects();
	for (unsigned i = 0; i < THREADS; i++)
		worker_destroy(worker[i]);
}

static void test_one_qp_for_all(void **state)
{
	struct worker *w = worker_create(1);
	struct sharer sharer[THREADS];
	pthread_t thread[THREADS];
	struct op read;

	share_objects(w);
	connect_both(w);
	for (unsigned i = 0; i < THREADS; i++) {
		sharer[i] = (struct sharer){w, i * 4 * POSTS};
		assert_int_equal(pthread_create(&thread[i], NULL, share, &sharer[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	/* What a Read brings, all Writes before it have placed. */
	memset(w->active.buf, 0, 4 * POSTS * THREADS);
	post(w, &read, IBV_WR_RDMA_READ, 4 * POSTS * THREADS);
	assert_int_equal(wait_for(&read), IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < POSTS * THREADS; i++) {
		uint32_t word;

		memcpy(&word, w->active.buf + 4 * i, sizeof word);
		assert_int_equal(word, i % POSTS);
	}
	dismiss(&w->active, false);
	dismiss(&w->passive, false);
	unshare_objects();
	worker_destroy(w);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {CM(test_connections), CM(test_one_qp_for_all)};

	if (argc > 1)
		rounds = (unsigned)strtoul(argv[1], NULL, 10);
	alarm(LIMIT_S);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
