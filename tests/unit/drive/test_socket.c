/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>

#define SA(e) ((struct sockaddr *)&(e))

static void both_families_connect(void **state)
{
	static const struct {
		int family;
		const char *addr;
	} way[] = {{AF_INET, "192.0.2.2"}, {AF_INET6, "2001:db8::2"}};

	for (unsigned i = 0; i < 2; i++) {
		struct sockaddr_storage name, want = endpoint(way[i].addr, PORT);
		socklen_t len = sizeof name;
		struct uiwarp_tcp_info info;
		struct pair p;
		int l, a, b;

		pair_init(&p, NULL);
		l = pair_connect(&p, way[i].family, way[i].addr, &a, &b);
		assert_int_equal(uiwarp_tcp_poll(p.a, a), POLLOUT);
		assert_int_equal(uiwarp_tcp_getpeername(p.a, a, SA(name), &len), 0);
		assert_memory_equal(&name, &want, len);
		assert_int_equal(uiwarp_tcp_info(p.b, b, &info), 0);
		assert_string_equal(info.state, "ESTABLISHED");
		assert_int_equal(uiwarp_tcp_info(p.b, l, &info), 0);
		assert_string_equal(info.state, "LISTEN");
		assert_int_equal(uiwarp_tcp_connection(p.b, 0, NULL, NULL, &info), 0);
		assert_int_equal(uiwarp_tcp_connection(p.b, 1, NULL, NULL, &info), -ENOENT);
		assert_int_equal(uiwarp_tcp_close(p.a, a), 0);
		pair_carry(&p);
		assert_int_equal(uiwarp_tcp_poll(p.b, b), POLLIN | POLLOUT | POLLRDHUP);
		assert_int_equal(uiwarp_tcp_close(p.b, b), 0);
		assert_int_equal(uiwarp_tcp_close(p.b, l), 0);
		pair_run(&p, 61000 * MS);
		assert_int_equal(uiwarp_tcp_connection(p.a, 0, NULL, NULL, NULL), -ENOENT);
		pair_end(&p);
	}
}

static void refused_is_an_error_of_the_socket(void **state)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT), name, after;
	socklen_t len = sizeof name, after_len = sizeof after;
	struct pair p;
	char buf[4];
	int s, err = 0;

	pair_init(&p, NULL);
	s = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_poll(p.a, s), POLLHUP);
	assert_int_equal(uiwarp_tcp_recv(p.a, s, buf, 4, 0), -ENOTCONN);
	assert_int_equal(uiwarp_tcp_send(p.a, s, buf, 4, 0), -ENOTCONN);
	assert_int_equal(uiwarp_tcp_shutdown(p.a, s, SHUT_WR), -ENOTCONN);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(e), sizeof e), -EINPROGRESS);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(e), sizeof e), -EALREADY);
	assert_int_equal(uiwarp_tcp_poll(p.a, s), 0);
	assert_int_equal(uiwarp_tcp_recv(p.a, s, buf, 4, 0), -EAGAIN);
	assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(name), &len), 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(after), &after_len), 0);
	assert_int_equal(after_len, len);
	assert_memory_equal(&after, &name, len);
	assert_int_equal(uiwarp_tcp_poll(p.a, s), POLLIN | POLLOUT | POLLHUP | POLLERR);
	assert_int_equal(uiwarp_tcp_get(p.a, s, UIWARP_TCP_ERROR, &err), 0);
	assert_int_equal(err, ECONNREFUSED);
	assert_int_equal(uiwarp_tcp_get(p.a, s, UIWARP_TCP_ERROR, &err), 0);
	assert_int_equal(err, 0);
	assert_int_equal(uiwarp_tcp_recv(p.a, s, buf, 4, 0), 0);
	assert_int_equal(uiwarp_tcp_send(p.a, s, buf, 4, 0), -EPIPE);
	assert_int_equal(uiwarp_tcp_close(p.a, s), 0);
	pair_end(&p);
}

/** Of a socket that was bound to all addresses, too. */
static void one_that_has_ended_keeps_its_address(void **state)
{
	struct sockaddr_storage any = endpoint("0.0.0.0", PORT), mine = endpoint("192.0.2.1", PORT);
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT), name;
	socklen_t len = sizeof name;
	struct pair p;
	int s;

	pair_init(&p, NULL);
	s = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(any), sizeof any), 0);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(e), sizeof e), -EINPROGRESS);
	pair_carry(&p);
	assert_true(uiwarp_tcp_poll(p.a, s) & POLLERR);
	assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(name), &len), 0);
	assert_memory_equal(&name, &mine, sizeof(struct sockaddr_in));
	assert_int_equal(uiwarp_tcp_close(p.a, s), 0);
	/* What it was bound to is free again. */
	s = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(any), sizeof any), 0);
	assert_int_equal(uiwarp_tcp_close(p.a, s), 0);
	pair_end(&p);
}

static void addresses_are_checked(void **state)
{
	struct sockaddr_storage mine = endpoint("192.0.2.1", PORT), any = endpoint("0.0.0.0", PORT);
	struct sockaddr_storage other = endpoint("192.0.2.7", PORT), v6 = endpoint("::1", PORT);
	struct sockaddr_storage far = endpoint("198.51.100.1", PORT), name;
	socklen_t len = sizeof name;
	struct pair p;
	int s, t;

	pair_init(&p, NULL);
	assert_int_equal(uiwarp_tcp_socket(p.a, AF_UNIX), -EAFNOSUPPORT);
	s = uiwarp_tcp_socket(p.a, AF_INET);
	t = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(s, 0);
	assert_int_equal(t, 1);
	assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(name), &len), -ENOTCONN);
	assert_int_equal(uiwarp_tcp_listen(p.a, s, 1), -EINVAL);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(v6), sizeof v6), -EINVAL);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(mine), 3), -EINVAL);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(other), sizeof other), -EADDRNOTAVAIL);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(mine), sizeof mine), 0);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(mine), sizeof mine), -EINVAL);
	assert_int_equal(uiwarp_tcp_bind(p.a, t, SA(any), sizeof any), -EADDRINUSE);
	assert_int_equal(uiwarp_tcp_connect(p.a, t, SA(far), sizeof far), -ENETUNREACH);
	assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(name), &len), 0);
	assert_memory_equal(&name, &mine, sizeof(struct sockaddr_in));
	assert_int_equal(uiwarp_tcp_accept(p.a, s, NULL, NULL), -EINVAL);
	assert_int_equal(uiwarp_tcp_listen(p.a, s, 1), 0);
	assert_int_equal(uiwarp_tcp_accept(p.a, s, NULL, NULL), -EAGAIN);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(far), sizeof far), -EINVAL);
	assert_int_equal(uiwarp_tcp_close(p.a, s), 0);
	assert_int_equal(uiwarp_tcp_close(p.a, s), -EBADF);
	assert_int_equal(uiwarp_tcp_bind(p.a, t, SA(any), sizeof any), 0);
	assert_int_equal(uiwarp_tcp_socket(p.a, AF_INET), 0); /* the lowest number again */
	uiwarp_tcp_close(p.a, 0);
	uiwarp_tcp_close(p.a, t);
	assert_int_equal(uiwarp_tcp_poll(p.a, t), -EBADF);
	assert_int_equal(uiwarp_tcp_poll(p.a, -1), -EBADF);
	assert_int_equal(uiwarp_tcp_poll(p.a, 1000), -EBADF);
	pair_end(&p);
}

/* A connection that does not fit waits in SYN-RECEIVED; one that was not taken is reset when the
 * listener goes. */
static void the_queue_of_a_listener_is_limited_and_ends_with_it(void **state)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	struct pair p;
	struct uiwarp_tcp_info info;
	char buf[4];
	int l, t, s[3];

	pair_init(&p, NULL);
	l = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_bind(p.b, l, SA(e), sizeof e), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 2), 0);
	for (unsigned i = 0; i < 3; i++) {
		s[i] = uiwarp_tcp_socket(p.a, AF_INET);
		uiwarp_tcp_connect(p.a, s[i], SA(e), sizeof e);
		pair_carry(&p);
	}
	assert_int_equal(uiwarp_tcp_poll(p.b, l), POLLIN);
	assert_int_equal(uiwarp_tcp_connection(p.b, 2, NULL, NULL, &info), 0);
	assert_string_equal(info.state, "SYN-RECEIVED");
	assert_string_equal(info.congestion_control, "cubic");
	assert_int_equal(uiwarp_tcp_connection(p.b, 3, NULL, NULL, &info), -ENOENT);
	t = uiwarp_tcp_accept(p.b, l, NULL, NULL);
	pair_run(&p, 5000 * MS); /* its SYN,ACK comes again, and now there is room */
	assert_int_equal(uiwarp_tcp_connection(p.b, 2, NULL, NULL, &info), 0);
	assert_string_equal(info.state, "ESTABLISHED");
	assert_int_equal(uiwarp_tcp_abort(p.b, t), 0);
	assert_int_equal(uiwarp_tcp_close(p.b, l), 0);
	pair_carry(&p);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(uiwarp_tcp_recv(p.a, s[i], buf, 4, 0), -ECONNRESET);
		assert_int_equal(uiwarp_tcp_close(p.a, s[i]), 0);
	}
	pair_end(&p);
}

/** Let as many as @p n begin a handshake with @p p->b that they do not finish. */
static void begin_handshakes(struct pair *p, int *s, unsigned n)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	uint8_t packet[128];

	for (unsigned i = 0; i < n; i++) {
		size_t len;

		s[i] = uiwarp_tcp_socket(p->a, AF_INET);
		assert_int_equal(uiwarp_tcp_connect(p->a, s[i], SA(e), sizeof e), -EINPROGRESS);
		len = uiwarp_tcp_output(p->a, packet, sizeof packet, NULL);
		assert_int_equal(uiwarp_tcp_input(p->b, packet, len), 0);
		assert_true(uiwarp_tcp_output(p->b, packet, sizeof packet, NULL) > 0);
	}
}

static unsigned count_connections(struct uiwarp_tcp *h)
{
	unsigned n = 0;

	while (uiwarp_tcp_connection(h, n, NULL, NULL, NULL) == 0)
		n++;
	return n;
}

static void to_listen_again_changes_the_limit_of_handshakes(void **state)
{
	const struct uiwarp_tcp_config cfg = {.syn_cookies = UIWARP_TCP_COOKIES_OFF};
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	struct pair p;
	int l, s[60];

	pair_init(&p, &cfg);
	l = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_bind(p.b, l, SA(e), sizeof e), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 12), 0);
	begin_handshakes(&p, s, 20);
	assert_int_equal(count_connections(p.b), 12);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 30), 0);
	begin_handshakes(&p, s + 20, 20);
	assert_int_equal(count_connections(p.b), 30);
	/* Those beyond it go when the next one comes. */
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 10), 0);
	assert_int_equal(count_connections(p.b), 30);
	begin_handshakes(&p, s + 40, 20);
	assert_int_equal(count_connections(p.b), 10);
	for (unsigned i = 0; i < 60; i++)
		uiwarp_tcp_abort(p.a, s[i]);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

static void options_have_their_time(void **state)
{
	struct pair p;
	int l, a, b, v = 0;

	pair_init(&p, NULL);
	l = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_set(p.a, l, UIWARP_TCP_TOS, 0x20), 0);
	assert_int_equal(uiwarp_tcp_get(p.a, l, UIWARP_TCP_TOS, &v), 0);
	assert_int_equal(v, 0x20);
	assert_int_equal(uiwarp_tcp_set(p.a, l, UIWARP_TCP_ERROR, 1), -ENOPROTOOPT);
	uiwarp_tcp_close(p.a, l);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_send(p.a, a, "abc", 3, 0), 3);
	assert_int_equal(uiwarp_tcp_get(p.a, a, UIWARP_TCP_UNACKED, &v), 0);
	assert_int_equal(v, 3);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_get(p.b, b, UIWARP_TCP_UNREAD, &v), 0);
	assert_int_equal(v, 3);
	/* Unread bytes: the peer hears a reset (RFC 9293 section 3.6.1). */
	assert_int_equal(uiwarp_tcp_close(p.b, b), 0);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_recv(p.a, a, &v, 1, 0), -ECONNRESET);
	uiwarp_tcp_close(p.a, a);
	uiwarp_tcp_close(p.b, l);
	pair_end(&p);
}

static int get_v6only(struct uiwarp_tcp *h, int s)
{
	int value = -1;

	assert_int_equal(uiwarp_tcp_get(h, s, UIWARP_TCP_V6ONLY, &value), 0);
	return value;
}

/* ipv6(7): restricted to IPv6; an IPv4 and an IPv6 application can bind to one port. */
static void ipv6_alone_has_no_ipv4(void **state)
{
	struct sockaddr_storage any4 = endpoint("0.0.0.0", PORT), any6 = endpoint("::", PORT);
	struct sockaddr_storage v4 = endpoint("192.0.2.2", PORT),
				v6 = endpoint("2001:db8::2", PORT);
	struct sockaddr_storage mapped = endpoint("::ffff:192.0.2.1", PORT);
	struct pair p;
	int l6, l4, s, t;

	pair_init(&p, NULL);
	l6 = uiwarp_tcp_socket(p.b, AF_INET6);
	l4 = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_set(p.b, l4, UIWARP_TCP_V6ONLY, 1), -ENOPROTOOPT);
	assert_int_equal(get_v6only(p.b, l6), 0);
	assert_int_equal(uiwarp_tcp_set(p.b, l6, UIWARP_TCP_V6ONLY, 1), 0);
	assert_int_equal(uiwarp_tcp_bind(p.b, l6, SA(any6), sizeof any6), 0);
	assert_int_equal(uiwarp_tcp_set(p.b, l6, UIWARP_TCP_V6ONLY, 0), -ENOPROTOOPT);
	assert_int_equal(uiwarp_tcp_bind(p.b, l4, SA(any4), sizeof any4), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l6, 1), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l4, 1), 0);

	s = uiwarp_tcp_socket(p.a, AF_INET6);
	assert_int_equal(uiwarp_tcp_set(p.a, s, UIWARP_TCP_V6ONLY, 1), 0);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(mapped), sizeof mapped), -EINVAL);
	assert_int_equal(uiwarp_tcp_bind(p.a, s, SA(any4), sizeof any4), -EINVAL);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(v4), sizeof v4), -ENETUNREACH);
	assert_int_equal(uiwarp_tcp_connect(p.a, s, SA(v6), sizeof v6), -EINPROGRESS);
	assert_int_equal(uiwarp_tcp_set(p.a, s, UIWARP_TCP_V6ONLY, 0), -ENOPROTOOPT);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_accept(p.b, l4, NULL, NULL), -EAGAIN);
	t = uiwarp_tcp_accept(p.b, l6, NULL, NULL);
	assert_true(t >= 0);
	assert_int_equal(get_v6only(p.b, t), 1);
	uiwarp_tcp_abort(p.a, s);
	uiwarp_tcp_close(p.b, t);
	uiwarp_tcp_close(p.b, l4);
	uiwarp_tcp_close(p.b, l6);
	pair_carry(&p);
	pair_end(&p);
}

/** What @p h sends by @p s has this traffic class. */
static void sends_with_class(struct uiwarp_tcp *h, int s, int tos)
{
	uint8_t packet[128];
	int v = -1;

	assert_int_equal(uiwarp_tcp_get(h, s, UIWARP_TCP_TOS, &v), 0);
	assert_int_equal(v, tos);
	assert_int_equal(uiwarp_tcp_send(h, s, "abc", 3, 0), 3);
	assert_true(uiwarp_tcp_output(h, packet, sizeof packet, NULL) > 40);
	assert_int_equal(packet[1], tos);
}

/** B's SYN,ACK to A's SYN has it. */
static void answers_with_class(struct pair *p, int tos)
{
	uint8_t packet[128];
	size_t n = uiwarp_tcp_output(p->a, packet, sizeof packet, NULL);

	assert_int_equal(uiwarp_tcp_input(p->b, packet, n), 0);
	n = uiwarp_tcp_output(p->b, packet, sizeof packet, NULL);
	assert_true(n >= 40);
	assert_int_equal(packet[1], tos);
	assert_int_equal(uiwarp_tcp_input(p->a, packet, n), 0);
}

/** Also where it is set before listen(). */
static void listeners_answer_with_their_class(void **state)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	struct pair p;
	int l, a;

	pair_init(&p, NULL);
	l = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_set(p.b, l, UIWARP_TCP_TOS, 0x40), 0);
	assert_int_equal(uiwarp_tcp_bind(p.b, l, SA(e), sizeof e), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 1), 0);
	a = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_connect(p.a, a, SA(e), sizeof e), -EINPROGRESS);
	answers_with_class(&p, 0x40);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/** As Linux has it: from the socket that listened, as it was set when the handshake was over. */
static void accepted_sockets_have_its_options(void **state)
{
	struct sockaddr_storage e = endpoint("192.0.2.2", PORT);
	struct pair p;
	int l, a, b, v = 0;

	pair_init(&p, NULL);
	l = uiwarp_tcp_socket(p.b, AF_INET);
	assert_int_equal(uiwarp_tcp_bind(p.b, l, SA(e), sizeof e), 0);
	assert_int_equal(uiwarp_tcp_listen(p.b, l, 1), 0);
	assert_int_equal(uiwarp_tcp_set(p.b, l, UIWARP_TCP_TOS, 0x20), 0);
	assert_int_equal(uiwarp_tcp_set(p.b, l, UIWARP_TCP_SEND_BUFFER, 3000), 0);
	a = uiwarp_tcp_socket(p.a, AF_INET);
	assert_int_equal(uiwarp_tcp_connect(p.a, a, SA(e), sizeof e), -EINPROGRESS);
	answers_with_class(&p, 0x20);
	pair_carry(&p);
	assert_int_equal(uiwarp_tcp_set(p.b, l, UIWARP_TCP_TOS, 0x40), 0);
	b = uiwarp_tcp_accept(p.b, l, NULL, NULL);
	assert_true(b >= 0);
	assert_int_equal(uiwarp_tcp_get(p.b, b, UIWARP_TCP_SEND_BUFFER, &v), 0);
	assert_int_equal(v, 3000);
	sends_with_class(p.b, b, 0x20);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_abort(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/** The ECN bits are TCP's own. */
static void the_traffic_class_may_change(void **state)
{
	struct pair p;
	int l, a, b;

	pair_init(&p, NULL);
	l = pair_connect(&p, AF_INET, "192.0.2.2", &a, &b);
	assert_int_equal(uiwarp_tcp_set(p.a, a, UIWARP_TCP_TOS, 0x23), 0);
	sends_with_class(p.a, a, 0x20);
	uiwarp_tcp_abort(p.a, a);
	uiwarp_tcp_abort(p.b, b);
	uiwarp_tcp_close(p.b, l);
	pair_carry(&p);
	pair_end(&p);
}

/* The peer resets it before it is accepted: who that was is told none the less. */
static void one_that_was_reset_has_its_peer(void **state)
{
	static const char *const addr[] = {"192.0.2.2", "2001:db8::2"};

	for (unsigned i = 0; i < 2; i++) {
		struct sockaddr_storage at = endpoint(addr[i], PORT), here, peer;
		socklen_t here_len = sizeof here, peer_len = sizeof peer;
		struct pair p;
		int l, s, t;

		pair_init(&p, NULL);
		l = uiwarp_tcp_socket(p.b, at.ss_family);
		assert_int_equal(uiwarp_tcp_bind(p.b, l, SA(at), sizeof at), 0);
		assert_int_equal(uiwarp_tcp_listen(p.b, l, 1), 0);
		s = uiwarp_tcp_socket(p.a, at.ss_family);
		uiwarp_tcp_connect(p.a, s, SA(at), sizeof at);
		pair_carry(&p);
		assert_int_equal(uiwarp_tcp_getsockname(p.a, s, SA(here), &here_len), 0);
		assert_int_equal(uiwarp_tcp_abort(p.a, s), 0);
		pair_carry(&p);
		memset(&peer, 0xaa, sizeof peer);
		t = uiwarp_tcp_accept(p.b, l, SA(peer), &peer_len);
		assert_true(t >= 0);
		assert_int_equal(peer_len, here_len);
		assert_memory_equal(&peer, &here, here_len);
		assert_int_equal(uiwarp_tcp_getpeername(p.b, t, SA(peer), &peer_len), -ENOTCONN);
		uiwarp_tcp_close(p.b, t);
		uiwarp_tcp_close(p.b, l);
		pair_end(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_families_connect),
		cmocka_unit_test(refused_is_an_error_of_the_socket),
		cmocka_unit_test(one_that_has_ended_keeps_its_address),
		cmocka_unit_test(addresses_are_checked),
		cmocka_unit_test(the_queue_of_a_listener_is_limited_and_ends_with_it),
		cmocka_unit_test(to_listen_again_changes_the_limit_of_handshakes),
		cmocka_unit_test(options_have_their_time),
		cmocka_unit_test(ipv6_alone_has_no_ipv4),
		cmocka_unit_test(listeners_answer_with_their_class),
		cmocka_unit_test(accepted_sockets_have_its_options),
		cmocka_unit_test(the_traffic_class_may_change),
		cmocka_unit_test(one_that_was_reset_has_its_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
