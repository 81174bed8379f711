/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/rnic.h"

#include "pair.h"
#include "rnic/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void what_can_be_created(void **state)
{
	struct pair p;
	struct rnic_config good = {.mpa = {.revision = 2}}, bad[8];
	struct rnic *r;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, NULL);
	good.engine = &p.engine;
	good.net = llp_mem_stack(p.mem, 0);
	good.random = (struct random_source){.fill = pair_random, .ctx = &p};
	for (unsigned i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].engine = NULL;
	bad[1].net = NULL;
	bad[2].random.fill = NULL;
	bad[3].mpa.revision = 0;
	bad[4].mpa.revision = 3;
	bad[5].limits.max_mw = (1 << 21) + 1;
	bad[6].limits.max_ird = 0x3fff;
	bad[7].limits.max_sge_read = 2;
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(rnic_create(&bad[i], &r), -EINVAL);
	good.limits.max_ird = 0x3ffe;
	assert_int_equal(rnic_create(&good, &r), 0);
	assert_int_equal(rnic_get_limits(r)->max_ird, 0x3ffe);
	assert_int_equal(rnic_get_limits(r)->max_ord, 128);
	assert_ptr_equal(rnic_engine(r), &p.engine);
	rnic_destroy(r);
	pair_fini(&p);
}

static void default_limits(void **state)
{
	struct pair p;
	const struct rnic_limits *l;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, NULL);
	l = rnic_get_limits(p.a.rnic);
	assert_int_equal(l->max_qp, 65536);
	assert_int_equal(l->max_qp_wr, 16384);
	assert_int_equal(l->max_sge, 16);
	assert_int_equal(l->max_sge_read, 1);
	assert_int_equal(l->max_mr, 1 << 20);
	assert_int_equal(l->max_mw, 1 << 20);
	assert_int_equal(l->max_ird, 128);
	assert_int_equal(l->max_ord, 128);
	assert_int_equal(l->max_message, 0x7fffffff);
	pair_fini(&p);
}

/** The largest queues that are promised can really be made. */
static void limits_are_true(void **state)
{
	struct pair p;
	const struct rnic_limits *l;
	struct rnic_qp_init init;
	struct rnic_srq *srq;
	struct rnic_qp *qp;
	struct rnic_cq *cq;

	pair_init(&p, NULL);
	l = rnic_get_limits(p.a.rnic);
	assert_int_equal(rnic_cq_create(p.a.rnic, l->max_cqe, NULL, NULL, &cq), 0);
	assert_int_equal(rnic_cq_size(cq), l->max_cqe);
	assert_int_equal(rnic_srq_create(p.a.pd, l->max_srq_wr, l->max_sge, 0, NULL, &srq), 0);
	init = (struct rnic_qp_init){.send_cq = cq,
		.recv_cq = cq,
		.max_send_wr = l->max_qp_wr,
		.max_recv_wr = l->max_qp_wr,
		.max_send_sge = l->max_sge,
		.max_recv_sge = l->max_sge,
		.max_inline = l->max_inline};
	assert_int_equal(rnic_qp_create(p.a.pd, &init, &qp), 0);
	assert_int_equal(init.max_send_wr, l->max_qp_wr);
	assert_int_equal(init.max_recv_wr, l->max_qp_wr);
	assert_int_equal(init.max_send_sge, l->max_sge);
	assert_int_equal(init.max_inline, l->max_inline);
	assert_int_equal(rnic_qp_destroy(qp), 0);
	assert_int_equal(rnic_srq_destroy(srq), 0);
	assert_int_equal(rnic_cq_destroy(cq), 0);
	pair_fini(&p);
}

static void count_event(void *arg, const struct rnic_event *ev)
{
	unsigned *n = arg;

	++*n;
}

static void the_port_goes_and_comes_and_goes(void **state)
{
	unsigned n = 0;
	struct pair p;

	pair_engine_init(&p);
	pair_rnic(&p, &p.a, 0, NULL);
	assert_true(p.a.rnic->port_up);
	engine_lock(&p.engine);
	rnic_port_changed(p.a.rnic, true);
	assert_int_equal(p.a.n_events, 0);
	rnic_port_changed(p.a.rnic, false);
	rnic_port_changed(p.a.rnic, false);
	engine_unlock(&p.engine);
	assert_false(p.a.rnic->port_up);
	assert_int_equal(p.a.n_events, 1);
	assert_int_equal(p.a.events[0].type, RNIC_EVENT_PORT_DOWN);
	engine_lock(&p.engine);
	rnic_lost(p.a.rnic);
	engine_unlock(&p.engine);
	assert_int_equal(p.a.n_events, 2);
	assert_int_equal(p.a.events[1].type, RNIC_EVENT_DEVICE_FATAL);
	rnic_set_event_handler(p.a.rnic, NULL, NULL);
	engine_lock(&p.engine);
	rnic_port_changed(p.a.rnic, true);
	engine_unlock(&p.engine);
	assert_int_equal(p.a.n_events, 2);
	/* A later handler is told the state. */
	rnic_set_event_handler(p.a.rnic, count_event, &n);
	assert_int_equal(n, 1);
	engine_lock(&p.engine);
	rnic_port_changed(p.a.rnic, false);
	engine_unlock(&p.engine);
	assert_int_equal(n, 2);
	rnic_set_event_handler(p.a.rnic, count_event, &n);
	assert_int_equal(n, 4);
	pair_fini(&p);
}

static void on_line(void *ctx, enum log_level level, const char *text)
{
	strncat(ctx, text, 100);
}

/** A program that exits without a word: all is torn down, and said. */
static void what_is_left_is_torn_down(void **state)
{
	char log[1000] = "";
	struct log_sink sink = {on_line, log, LOG_LEVEL_INFO};
	struct rnic_config cfg = {.mpa = {.revision = 2}, .log = &sink};
	struct rnic_srq *srq;
	struct pair p;

	pair_init(&p, &cfg);
	pair_connect(&p);
	assert_non_null(strstr(log, "listening on 10.0.0.2 port 7174"));
	assert_int_equal(rnic_srq_create(p.b.pd, 1, 1, 0, NULL, &srq), 0);
	pair_qp(&p.b, p.b.cq, srq);
	log[0] = '\0';
	rnic_destroy(p.b.rnic);
	/* Two endpoints, two QPs, SRQ, CQ, MR, PD. */
	assert_non_null(strstr(log, "8 objects"));
	free(p.b.buf);
	p.b = (struct side){0};
	pair_run(&p);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_DISCONNECTED);
	log[0] = '\0';
	pair_fini(&p);
	assert_string_equal(log, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_can_be_created),
		cmocka_unit_test(default_limits),
		cmocka_unit_test(limits_are_true),
		cmocka_unit_test(the_port_goes_and_comes_and_goes),
		cmocka_unit_test(what_is_left_is_torn_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
