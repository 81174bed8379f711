/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connected queue pair costs in memory when it is idle, as bench/qps measures it: blocks of
 * the heap, librdmacm's among them, of both ends of a connection. A TCP connection is in a pool of
 * its own; test_conn.c of TCP holds its size.
 */
#include "cm_fixture.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

/** An end with one request to send, a shared CQ and a shared SRQ. */
#define END_MOST 2650
#define PAIRS    128
/** Larger ones are tables and pools, which grow by leaps. */
#define BLOCK_MOST 4096

/* ---- the count ----------------------------------------------------------------------------- */

/* glibc's own, behind the names that this program takes for itself. */
/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);
/* NOLINTEND(bugprone-reserved-identifier) */

#define EXPORTED __attribute__((visibility("default")))

static _Atomic size_t live;

/** With what malloc() needs for itself. */
static size_t block_size(void *p)
{
	size_t size = p ? malloc_usable_size(p) + sizeof(size_t) : 0;

	return size <= BLOCK_MOST ? size : 0;
}

static void *taken(void *p)
{
	atomic_fetch_add(&live, block_size(p));
	return p;
}

EXPORTED void *malloc(size_t size)
{
	return taken(__libc_malloc(size));
}

EXPORTED void *calloc(size_t n, size_t size)
{
	return taken(__libc_calloc(n, size));
}

EXPORTED void *realloc(void *p, size_t size)
{
	size_t before = block_size(p);
	void *to = __libc_realloc(p, size);

	if (to || !size)
		atomic_fetch_sub(&live, before);
	return taken(to);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
	return taken(__libc_memalign(alignment, size));
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = taken(__libc_memalign(alignment, size));
	return *out ? 0 : ENOMEM;
}

EXPORTED void free(void *p)
{
	atomic_fetch_sub(&live, block_size(p));
	__libc_free(p);
}

/* ---- the connections ----------------------------------------------------------------------- */

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;

static void make_shared(struct ibv_context *verbs)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 64, .max_sge = 1}};

	if (pd)
		return;
	pd = ibv_alloc_pd(verbs);
	cq = ibv_create_cq(verbs, 1024, NULL, NULL, 0);
	srq = ibv_create_srq(pd, &attr);
	assert_true(pd && cq && srq);
}

/** make_shared() comes first. */
static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC};

	assert_int_equal(rdma_create_qp(id, pd, &attr), 0);
}

static struct rdma_cm_id *ask(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct rdma_cm_id *id = cm_routed(CM_V4, cm_port(listener));

	make_shared(id->verbs);
	make_qp(id);
	assert_int_equal(rdma_connect(id, &param), 0);
	return id;
}

static void make_pair(struct cm_pair *p, struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct rdma_cm_event *ev;

	p->active = ask(listener);
	ev = cm_next(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
	p->passive = ev->id;
	assert_int_equal(rdma_ack_cm_event(ev), 0);
	make_qp(p->passive);
	assert_int_equal(rdma_accept(p->passive, &param), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(rdma_get_cm_event(cm_channel, &ev), 0);
		assert_int_equal(ev->event, RDMA_CM_EVENT_ESTABLISHED);
		assert_int_equal(rdma_ack_cm_event(ev), 0);
	}
}

static void an_idle_end_costs_little(void **state)
{
	static struct cm_pair pairs[2 * PAIRS];
	struct rdma_cm_id *listener = cm_listener(0);
	size_t before, each;

	for (unsigned i = 0; i < PAIRS; i++)
		make_pair(&pairs[i], listener);
	before = atomic_load(&live);
	for (unsigned i = PAIRS; i < 2 * PAIRS; i++)
		make_pair(&pairs[i], listener);
	each = (atomic_load(&live) - before) / PAIRS / 2;
	print_message("%zu bytes an end\n", each);
	assert_in_range(each, 1000, END_MOST);
	for (unsigned i = 0; i < 2 * PAIRS; i++)
		cm_end(&pairs[i]);
	cm_destroy(listener);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CM(an_idle_end_costs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
