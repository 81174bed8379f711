/* SPDX-License-Identifier: BSD-2-Clause */
/** What goes through a connected QP: every operation, every error, what completes and how. */
#include "pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static uint64_t addr(const struct side *s, uint32_t at)
{
	return (uintptr_t)s->buf + at;
}

static int setup(void **state)
{
	static struct pair pair;

	pair_init(&pair, NULL);
	pair_connect(&pair);
	*state = &pair;
	return 0;
}

static int teardown(void **state)
{
	pair_fini(*state);
	return 0;
}

static void send_arrives(void **state)
{
	struct pair *p = *state;
	struct rnic_wc wc;

	strcpy((char *)p->a.buf, "over the wire");
	pair_post_recv(&p->b, p->b.qp, 7, 100, 64);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 14, 0, 0);
	wc = pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(wc.wc.op, RDMAP_WC_SEND);
	assert_int_equal(wc.qp_num, rnic_qp_num(p->a.qp));
	wc = pair_expect(p, &p->b, 7, RDMAP_WC_SUCCESS);
	assert_int_equal(wc.wc.op, RDMAP_WC_RECV);
	assert_int_equal(wc.wc.byte_len, 14);
	assert_int_equal(wc.qp_num, rnic_qp_num(p->b.qp));
	assert_string_equal((char *)p->b.buf + 100, "over the wire");
}

static void write_and_read(void **state)
{
	struct pair *p = *state;

	for (unsigned i = 0; i < 20000; i++)
		p->a.buf[i] = (uint8_t)(i * 7);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_WRITE, 0, 20000, addr(&p->b, 50),
		rnic_mr_stag(p->b.mr));
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_READ, 30000, 20000, addr(&p->b, 50),
		rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	assert_memory_equal(p->b.buf + 50, p->a.buf, 20000);
	assert_memory_equal(p->a.buf + 30000, p->a.buf, 20000);
	pair_expect_none(p, &p->b);
}

/** A responder sends too, from its own first post on. */
static void both_ways(void **state)
{
	struct pair *p = *state;

	/* The initiator speaks first (RFC 5044 section 7.1.2 rule 4): until then this waits. */
	pair_post_recv(&p->a, p->a.qp, 1, 0, 64);
	pair_post(&p->b, p->b.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect_none(p, &p->b);
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_WRITE, 0, 1, addr(&p->b, 0), rnic_mr_stag(p->b.mr));
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	pair_expect(p, &p->b, 2, RDMAP_WC_SUCCESS);
}

static void send_with_invalidate(void **state)
{
	struct pair *p = *state;
	uint32_t stag = rnic_mr_stag(p->b.mr);
	struct rnic_mr *other;
	struct rnic_wc wc;

	/* The receive buffer must stay valid, so another region is given up. */
	assert_int_equal(rnic_mr_reg(p->b.pd, p->b.buf, 100, 0,
				 RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, &other),
		0);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 64);
	pair_post(&p->a, p->a.qp, 2, RDMAP_WR_SEND_INV, 0, 4, 0, rnic_mr_stag(other));
	pair_expect(p, &p->a, 2, RDMAP_WC_SUCCESS);
	wc = pair_expect(p, &p->b, 1, RDMAP_WC_SUCCESS);
	assert_true(wc.wc.flags & RDMAP_WC_WITH_INV);
	assert_int_equal(wc.wc.inv_stag, rnic_mr_stag(other));
	/* The other still works, this one does not. */
	pair_post(&p->a, p->a.qp, 3, RDMAP_WR_WRITE, 0, 4, addr(&p->b, 0), stag);
	pair_expect(p, &p->a, 3, RDMAP_WC_SUCCESS);
	pair_post(&p->a, p->a.qp, 4, RDMAP_WR_WRITE, 0, 4, 0, rnic_mr_stag(other));
	pair_expect(p, &p->a, 4, RDMAP_WC_SUCCESS); /* gone before the Terminate comes back */
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_mr_dereg(other), 0);
}

static void inline_data(void **state)
{
	struct pair *p = *state;
	struct rdmap_wqe *w;

	assert_int_equal(rnic_sq_begin(p->a.qp), 0);
	w = rnic_sq_next(p->a.qp);
	w->wr_id = 5;
	w->op = RDMAP_WR_WRITE;
	w->flags = RDMAP_WR_SIGNALED | RDMAP_WR_INLINE;
	w->length = 6;
	w->remote_to = addr(&p->b, 9);
	w->remote_stag = rnic_mr_stag(p->b.mr);
	memcpy(rdmap_wqe_inline(w), "inline", 6);
	rnic_sq_commit(p->a.qp);
	rnic_sq_end(p->a.qp);
	pair_expect(p, &p->a, 5, RDMAP_WC_SUCCESS);
	assert_memory_equal(p->b.buf + 9, "inline", 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(send_arrives, setup, teardown),
		cmocka_unit_test_setup_teardown(write_and_read, setup, teardown),
		cmocka_unit_test_setup_teardown(both_ways, setup, teardown),
		cmocka_unit_test_setup_teardown(send_with_invalidate, setup, teardown),
		cmocka_unit_test_setup_teardown(inline_data, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
