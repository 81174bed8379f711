/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "tcp/half.h"
#include "tcp/listen.h"

static struct host h;
static struct tcp_listener *l;

static void start(void)
{
	const struct ip_endpoint to = {addr(LOCAL), PORT};

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 8);
	l = tcp_listener_find(h.tcp, &to);
}

/** A handshake with REMOTE's port @p rport. */
static struct tcp_half *add(uint16_t rport)
{
	const struct tcp_embryo e = {
		.id = {.local = addr(LOCAL), .remote = addr(REMOTE), .lport = PORT, .rport = rport},
		.irs = 1000,
		.iss = 2000};

	assert_int_equal(tcp_half_add(l, &e), 0);
	return tcp_half_find(&h.tcp->halves, &e.id);
}

/* In the table and in the listener's list, oldest first, wherever one is taken out. */
static void test_lists(void **state)
{
	struct tcp_half *a, *b, *c;

	start();
	a = add(1);
	b = add(2);
	c = add(3);
	assert_int_equal(h.tcp->halves.count, 3);
	assert_ptr_equal(l->halves.oldest, a);
	tcp_half_drop(b);
	assert_ptr_equal(a->next, c);
	tcp_half_unlink(a);
	assert_ptr_equal(l->halves.oldest, c);
	assert_null(tcp_half_find(&h.tcp->halves, &a->e.id));
	tcp_half_relink(a); /* the youngest now */
	assert_ptr_equal(c->next, a);
	assert_ptr_equal(tcp_half_find(&h.tcp->halves, &a->e.id), a);
	tcp_half_drop(a);
	tcp_half_drop(c);
	assert_int_equal(l->halves.count, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

/* At 0, 1, 3, 7 and 15 s, and at 31 s it is forgotten. */
static void test_answers_end(void **state)
{
	start();
	add(1);
	for (unsigned s = 0; s < 30; s++)
		host_advance(&h, 1000 * MS);
	assert_int_equal(ip_double_pending(&h.ip), 5);
	assert_int_equal(h.tcp->halves.count, 1);
	host_advance(&h, 2000 * MS);
	assert_int_equal(h.tcp->halves.count, 0);
	ip_double_drain(&h.ip);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_answers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
