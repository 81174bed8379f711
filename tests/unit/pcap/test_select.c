/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static uint64_t opened[8];
static unsigned num_opened, num_closed;

static void on_opened(void *user, struct connection *c)
{
	assert_string_equal(user, "user");
	opened[num_opened++] = c->id;
}

static void on_closed(void *user, struct connection *c, enum connection_end how, uint64_t frame)
{
	num_closed++;
}

static void on_fpdu(void *user, struct connection *c, struct stream *s, const struct stream_fpdu *f)
{
}

static const struct connection_ops ops = {
	.opened = on_opened, .fpdu = on_fpdu, .closed = on_closed};

/* Four connections, 10.0.0.N with fd00::N. */
static void run(struct select *s)
{
	struct connection_shared shared = {.connections = 0};

	s->ops = &ops;
	s->user = "user";
	num_opened = num_closed = 0;
	for (unsigned i = 1; i <= 4; i++) {
		struct ip_endpoint end[2];
		struct connection *c;
		char text[32];

		snprintf(text, sizeof text, "10.0.0.%u", i);
		assert_int_equal(ip_addr_parse(text, &end[0].addr), 0);
		snprintf(text, sizeof text, "fd00::%u", i);
		assert_int_equal(ip_addr_parse(text, &end[1].addr), 0);
		end[0].port = end[1].port = 1;
		c = connection_new(&select_ops, s, end, &shared);
		assert_non_null(c);
		connection_join(c);
		connection_end(c, CONNECTION_CLOSED, 1);
	}
	assert_int_equal(s->connections, num_opened);
	assert_int_equal(num_closed, num_opened);
}

static void add(struct select *s, const char *net)
{
	struct select_net *n = &s->nets[s->num_nets++];

	assert_int_equal(ip_addr_parse_cidr(net, &n->addr, &n->prefix), 0);
}

static void test_all(void **state)
{
	struct select s = {.num_ids = 0};

	run(&s);
	assert_int_equal(num_opened, 4);
}

static void test_by_id(void **state)
{
	struct select s = {.ids = {4, 2, 9}, .num_ids = 3};

	run(&s);
	assert_int_equal(num_opened, 2);
	assert_int_equal(opened[0], 2);
	assert_int_equal(opened[1], 4);
}

static void test_by_host(void **state)
{
	struct select s = {.num_ids = 0};

	add(&s, "10.0.0.3");
	add(&s, "fd00::1");
	run(&s);
	assert_int_equal(num_opened, 2);
	assert_int_equal(opened[0], 1);
	assert_int_equal(opened[1], 3);
}

static void test_by_both(void **state)
{
	struct select s = {.ids = {1, 2}, .num_ids = 2};

	add(&s, "10.0.0.2/31");
	run(&s);
	assert_int_equal(num_opened, 1);
	assert_int_equal(opened[0], 2);
}

static void test_time(void **state)
{
	struct select_time t;

	assert_true(select_parse_time("12", &t));
	assert_int_equal(t.ns, 12 * SECOND);
	assert_false(t.since_1970);
	assert_true(select_parse_time("@1700000000.000000001", &t));
	assert_int_equal(t.ns, 1700000000 * SECOND + 1);
	assert_true(t.since_1970);
	assert_true(select_parse_time("0.5", &t));
	assert_int_equal(t.ns, SECOND / 2);
	assert_false(select_parse_time("", &t));
	assert_false(select_parse_time("@", &t));
	assert_false(select_parse_time("-1", &t));
	assert_false(select_parse_time("1s", &t));
	assert_false(select_parse_time("1.0000000001", &t));
	assert_false(select_parse_time("99999999999", &t));
}

static void test_span(void **state)
{
	struct select_span span = {.from = {.given = false}};

	assert_true(select_holds(&span, 10, 0));
	assert_true(select_parse_time("1", &span.from));
	assert_true(select_parse_time("@20", &span.to));
	assert_false(select_holds(&span, 10 * SECOND, 11 * SECOND - 1));
	assert_true(select_holds(&span, 10 * SECOND, 11 * SECOND));
	assert_true(select_holds(&span, 10 * SECOND, 20 * SECOND));
	assert_false(select_holds(&span, 10 * SECOND, 20 * SECOND + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_by_host),
		cmocka_unit_test(test_by_both),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_span),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
