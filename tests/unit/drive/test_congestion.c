/* SPDX-License-Identifier: BSD-2-Clause */
/* Each socket's own choice of congestion control, and what the library tells of it. */
#include "pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static void is_with(struct uiwarp_tcp *h, int s, const char *want)
{
	struct uiwarp_tcp_info info;

	assert_int_equal(uiwarp_tcp_info(h, s, &info), 0);
	assert_string_equal(info.congestion_control, want);
}

/** A new socket of A's that connects, with @p name or with what comes by itself. */
static int begin(struct pair *p, const char *name)
{
	char passed[16] = "";
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	int s = uiwarp_tcp_socket(p->a, AF_INET);

	if (name) {
		memcpy(passed, name, strlen(name));
		assert_int_equal(uiwarp_tcp_set_congestion_control(p->a, s, passed), 0);
		passed[0] = 0; /* it was copied */
	}
	assert_int_equal(
		uiwarp_tcp_connect(p->a, s, (struct sockaddr *)&e, sizeof e), -EINPROGRESS);
	return s;
}

/** A socket of B's, bound; it does not listen. */
static int bound(struct pair *p)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	int s = uiwarp_tcp_socket(p->b, AF_INET);

	assert_int_equal(uiwarp_tcp_bind(p->b, s, (struct sockaddr *)&e, sizeof e), 0);
	return s;
}

static void a_socket_begins_with_its_own(void **state)
{
	char all[] = "newreno";
	const struct uiwarp_tcp_config cfg = {.congestion_control = all};
	struct pair p;
	int l, b, s[2];

	pair_init(&p, &cfg);
	l = bound(&p);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 4), 0);
	all[0] = 0; /* it was copied */
	s[0] = begin(&p, "bbr");
	s[1] = begin(&p, NULL);
	is_with(p.a, s[0], "bbr"); /* in SYN-SENT */
	is_with(p.a, s[1], "newreno");
	pair_carry(&p);
	is_with(p.a, s[0], "bbr");
	is_with(p.a, s[1], "newreno");
	b = uiwarp_tcp_accept(p.b, l, NULL, NULL);
	is_with(p.b, b, "newreno"); /* each end has its own */
	for (int i = 0; i < 2; i++)
		assert_int_equal(uiwarp_tcp_abort(p.a, s[i]), 0);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

static void a_listener_hands_it_on(void **state)
{
	struct pair p;
	int l, a[2], b[2];

	pair_init(&p, NULL);
	l = bound(&p);
	is_with(p.b, l, "cubic");
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, l, "bbr"), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 4), 0);
	for (int i = 0; i < 2; i++) {
		a[i] = begin(&p, NULL);
		pair_carry(&p);
		b[i] = uiwarp_tcp_accept(p.b, l, NULL, NULL);
		assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, l, "newreno"), 0);
		is_with(p.b, l, "newreno");
	}
	is_with(p.b, b[0], "bbr");
	is_with(p.b, b[1], "newreno");
	for (int i = 0; i < 2; i++)
		assert_int_equal(uiwarp_tcp_abort(p.a, a[i]), 0);
	pair_carry(&p);
	is_with(p.b, b[0], "bbr"); /* had, by now */
	for (int i = 0; i < 2; i++)
		uiwarp_tcp_close(p.b, b[i]);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

static void a_connection_goes_on_with_another(void **state)
{
	static const uint8_t text[20000];
	struct uiwarp_tcp_info before, after;
	struct pair p;
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_send(p.a, a, text, sizeof text, 0), sizeof text);
	pair_run(&p, 100 * MS);
	uiwarp_tcp_info(p.a, a, &before);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.a, a, "bbr"), 0);
	uiwarp_tcp_info(p.a, a, &after);
	assert_string_equal(after.congestion_control, "bbr");
	assert_int_equal(after.cwnd, before.cwnd);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.a, a, NULL), 0);
	is_with(p.a, a, "cubic");
	assert_int_equal(uiwarp_tcp_abort(p.b, b), 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.a, a, "bbr"), -ENOTCONN);
	is_with(p.a, a, "cubic");
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

static void other_names_change_nothing(void **state)
{
	struct pair p;
	int l, a, b, s;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	s = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, s, "vegas"), -EINVAL);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, l, "vegas"), -EINVAL);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, b, ""), -EINVAL);
	is_with(p.b, s, "cubic");
	is_with(p.b, l, "cubic");
	is_with(p.b, b, "cubic");
	uiwarp_tcp_close(p.b, s);
	assert_int_equal(uiwarp_tcp_set_congestion_control(p.b, s, "bbr"), -EBADF);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	uiwarp_tcp_close(p.b, b);
	pair_end(&p);
}

/** What A has sent arrives 10 ms later, and what B answers at once. */
static void round_trip(struct pair *p)
{
	uint64_t then = uiwarp_tcp_now(p->a) + 10 * MS;

	uiwarp_tcp_advance(p->a, then);
	uiwarp_tcp_advance(p->b, then);
	pair_carry(p);
}

/* A connects within one round trip and sends four segments within another. */
static void rates_and_buffers_are_told(void **state)
{
	static const uint8_t text[9000];
	const struct uiwarp_tcp_config cfg = {.send_buffer = 100000, .receive_buffer = 200000};
	struct uiwarp_tcp_info info;
	struct pair p;
	int l, a, b;

	pair_init(&p, &cfg);
	l = bound(&p);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 1), 0);
	a = begin(&p, NULL);
	uiwarp_tcp_info(p.a, a, &info);
	assert_int_equal(info.pacing_rate, 0);
	round_trip(&p);
	b = uiwarp_tcp_accept(p.b, l, NULL, NULL);
	uiwarp_tcp_info(p.a, a, &info);
	assert_int_equal(info.send_buffer, 100000);
	assert_int_equal(info.receive_buffer, 200000);
	assert_int_equal(info.delivery_rate, 0);
	assert_int_equal(uiwarp_tcp_send(p.a, a, text, 4 * info.emss, 0), 4 * info.emss);
	round_trip(&p);
	uiwarp_tcp_info(p.a, a, &info);
	assert_int_equal(info.flight, 0);
	assert_in_range(info.delivery_rate, 399 * info.emss, 401 * info.emss);
	assert_int_equal(info.pacing_rate, info.cwnd * 2000 * MS / info.srtt); /* slow start */
	uiwarp_tcp_abort(p.a, a);
	pair_carry(&p);
	uiwarp_tcp_close(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_begins_with_its_own),
		cmocka_unit_test(a_listener_hands_it_on),
		cmocka_unit_test(a_connection_goes_on_with_another),
		cmocka_unit_test(other_names_change_nothing),
		cmocka_unit_test(rates_and_buffers_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
