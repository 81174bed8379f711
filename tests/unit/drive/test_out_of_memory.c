/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's end when there is no memory to save what is unread before it. */
#include "pair.h"

#include "support/alloc_fault.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

/** A sends "abc" and its end, for which B has no memory, not even to answer. @return B's listener.
 */
static int end_without_memory(struct pair *p, int *a, int *b)
{
	uint8_t fin[128];
	size_t len;
	int l;

	pair_init(p, NULL);
	l = pair_connect(p, AF_INET, "192.0.2.2", a, b);
	assert_int_equal(uiwarp_tcp_send(p->a, *a, "abc", 3, 0), 3);
	pair_carry(p);
	assert_int_equal(uiwarp_tcp_shutdown(p->a, *a, SHUT_WR), 0);
	len = uiwarp_tcp_output(p->a, fin, sizeof fin, NULL);
	alloc_fault_chance(1, 1);
	assert_int_equal(uiwarp_tcp_input(p->b, fin, len), 0);
	alloc_fault_chance(0, 1);
	assert_int_equal(uiwarp_tcp_poll(p->b, *b), POLLIN | POLLOUT | POLLRDHUP);
	return l;
}

static void close_all(struct pair *p, int l, int a, int b)
{
	uiwarp_tcp_close(p->a, a);
	uiwarp_tcp_close(p->b, b);
	uiwarp_tcp_close(p->b, l);
	pair_run(p, 61000 * MS);
	pair_end(p);
}

static void what_is_unread_waits_in_the_connection(void **state)
{
	struct pair p;
	char buf[8];
	int a, b, l = end_without_memory(&p, &a, &b);

	/* Also if that would end now, by itself. */
	assert_int_equal(uiwarp_tcp_shutdown(p.b, b, SHUT_WR), 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), 3);
	assert_memory_equal(buf, "abc", 3);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), 0);
	close_all(&p, l, a, b);
}

/* Bytes are missing: that is no end in order. */
static void a_reset_that_takes_it_is_told_of(void **state)
{
	struct pair p;
	char buf[8];
	int a, b, l = end_without_memory(&p, &a, &b);

	assert_int_equal(uiwarp_tcp_abort(p.a, a), 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), -ECONNRESET);
	assert_int_equal(uiwarp_tcp_recv(p.b, b, buf, sizeof buf, 0), 0);
	close_all(&p, l, a, b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_unread_waits_in_the_connection),
		cmocka_unit_test(a_reset_that_takes_it_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
