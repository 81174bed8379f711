/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static struct uiwarp_tcp *start(
	const struct uiwarp_tcp_config *cfg, uint64_t seed, const char *v4, const char *v6)
{
	struct uiwarp_tcp_config c = cfg ? *cfg : (struct uiwarp_tcp_config){0};
	struct uiwarp_tcp *h;

	c.seed = seed;
	c.packets = c.packets ? c.packets : 1024;
	assert_int_equal(uiwarp_tcp_create(&c, 1000 * MS, &h), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, v4), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, v6), 0);
	return h;
}

void pair_init(struct pair *p, const struct uiwarp_tcp_config *cfg)
{
	*p = (struct pair){0};
	p->a = start(cfg, 1, "192.0.2.1/24", "2001:db8::1/64");
	p->b = start(cfg, 2, "192.0.2.2/24", "2001:db8::2/64");
}

void pair_end(struct pair *p)
{
	pair_carry(p);
	assert_int_equal(uiwarp_tcp_packets_in_use(p->a), 0);
	assert_int_equal(uiwarp_tcp_packets_in_use(p->b), 0);
	uiwarp_tcp_destroy(p->a);
	uiwarp_tcp_destroy(p->b);
}

static bool carry(struct pair *p, struct uiwarp_tcp *from, struct uiwarp_tcp *to)
{
	uint8_t buf[9216];
	size_t n = uiwarp_tcp_output(from, buf, sizeof buf, NULL);

	if (!n)
		return false;
	assert_true(n <= sizeof buf);
	p->carried++;
	if (!p->lose)
		assert_int_equal(uiwarp_tcp_input(to, buf, n), 0);
	return true;
}

void pair_carry(struct pair *p)
{
	while (carry(p, p->a, p->b) || carry(p, p->b, p->a))
		;
}

void pair_run(struct pair *p, uint64_t ns)
{
	uint64_t end = uiwarp_tcp_now(p->a) + ns;

	for (;;) {
		uint64_t a = uiwarp_tcp_next(p->a), b = uiwarp_tcp_next(p->b);
		uint64_t next = a < b ? a : b;

		next = next < end ? next : end;
		uiwarp_tcp_advance(p->a, next);
		uiwarp_tcp_advance(p->b, next);
		pair_carry(p);
		if (next == end)
			return;
	}
}

struct sockaddr_storage endpoint(const char *addr, uint16_t port)
{
	struct sockaddr_storage s = {0};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};

	if (inet_pton(AF_INET, addr, &v4.sin_addr) == 1) {
		memcpy(&s, &v4, sizeof v4);
	} else {
		assert_int_equal(inet_pton(AF_INET6, addr, &v6.sin6_addr), 1);
		memcpy(&s, &v6, sizeof v6);
	}
	return s;
}

int pair_connect(struct pair *p, int family, const char *addr, int *at_a, int *at_b)
{
	struct sockaddr_storage e = endpoint(addr, PORT);
	int l = uiwarp_tcp_socket(p->b, family);

	assert_true(l >= 0);
	assert_int_equal(uiwarp_tcp_bind(p->b, l, (struct sockaddr *)&e, sizeof e), 0);
	assert_int_equal(uiwarp_tcp_listen(p->b, l, 4), 0);
	*at_a = uiwarp_tcp_socket(p->a, family);
	assert_true(*at_a >= 0);
	assert_int_equal(
		uiwarp_tcp_connect(p->a, *at_a, (struct sockaddr *)&e, sizeof e), -EINPROGRESS);
	pair_carry(p);
	*at_b = uiwarp_tcp_accept(p->b, l, NULL, NULL);
	assert_true(*at_b >= 0);
	return l;
}
