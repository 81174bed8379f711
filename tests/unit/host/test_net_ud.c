/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams of UD queue pairs over both kinds of port, and from where they are taken. */
#include <arpa/inet.h>
#include <rte_mbuf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* After the four that it needs. */
#include <cmocka.h>

#include "host/net_priv.h"
#include "host/net_ud_port.h"
#include "net_ud_fixture.h"

/* A port of our own, to itself; both families. */
static void test_port(void **state)
{
	static const char *const set[] = {"port=net_null0,no-rx=1", "address=10.0.0.1/24",
		"address=fd00::1/64", "memory=16", "log=error"};
	static const uint8_t text[UD_DATAGRAM_MAX];
	struct net *n = start(set, 5);

	assert_int_equal(net_ud(n)->max_message, 1024);
	open_at(n, 61525);
	assert_int_equal(say(n, "10.0.0.1", "10.0.0.1", 61525, "over IPv4", 9), 0);
	expect(n, "10.0.0.1", "10.0.0.1", "over IPv4");
	assert_int_equal(say(n, "fd00::1", "fd00::1", 61525, "over IPv6", 9), 0);
	expect(n, "fd00::1", "fd00::1", "over IPv6");
	/* Nobody has that address, and none of ours is this. */
	assert_int_equal(say(n, "10.0.0.1", "192.0.2.1", 61525, "x", 1), -ENETUNREACH);
	assert_int_equal(say(n, "10.0.0.9", "10.0.0.2", 61525, "x", 1), -EADDRNOTAVAIL);
	assert_int_equal(say(n, "10.0.0.1", "10.0.0.1", 61525, text, sizeof text), -EMSGSIZE);
	net_ud(n)->prepare(net_ud(n)->ctx, &(struct ip_addr){.b = {0xfd, [15] = 9}});
	finish(n);
}

/* Nobody takes what the port has been given: buffers stay for others, and nothing is lost. */
static void test_slow_port(void **state)
{
	static const char *const set[] = {
		"port=net_ring5", "address=10.0.0.1/24", "memory=16", "log=error"};
	struct net *n = start(set, 4);
	unsigned buffers = port_pool(n->port)->size, sent = 0;

	open_at(n, 61525);
	while (sent < 20000 && !say(n, "10.0.0.1", "239.1.2.3", 61525, "x", 1))
		sent++;
	/* The port's own ring has room for 1023. */
	assert_in_range(sent, buffers / 8, 1023 + buffers / 8);
	assert_true(rte_mempool_in_use_count(port_pool(n->port)) < buffers / 2);
	for (unsigned more = 0; more < 5000; more++)
		while (say(n, "10.0.0.1", "239.1.2.3", 61525, "x", 1))
			(void)engine_drive(net_engine(n));
	assert_int_equal(port_get_stats(n->port)->tx_dropped, 0);
	finish(n);
}

static bool lets_in(struct net *n, const char *local, const char *remote)
{
	const struct ud_path path = {.local = addr(local), .remote = addr(remote)};

	return net_ud_lets_in(n, &path);
}

static bool has_gid(struct net *n, const char *local)
{
	const struct ip_addr a = addr(local);

	return net_ud(n)->has_gid(net_ud(n)->ctx, &a);
}

/** @param local NULL: none of ours is for that peer. */
static void sends_from(struct net *n, const char *remote, const char *local)
{
	const struct ip_addr to = addr(remote), want = addr(local ? local : "::");
	struct ip_addr a = addr("::");
	int rc = net_ud(n)->gid_source(net_ud(n)->ctx, &to, &a);

	assert_int_equal(rc, local ? 0 : -EADDRNOTAVAIL);
	assert_true(ip_addr_equal(&a, &want));
}

/* A host may have more addresses than are GIDs, and prefer those. */
static void test_gid_source(void **state)
{
	static const char *const set[] = {"port=net_null0,no-rx=1", "address=fd00::1/64",
		"address=fd01::1/64", "address=10.0.0.1/24", "memory=16", "log=error"};
	struct net *n = start(set, 6);

	sends_from(n, "fd01::9", "fd01::1");
	sends_from(n, "fd00::9", "fd00::1");
	sends_from(n, "2001:db8::9", "fd00::1");
	sends_from(n, "192.0.2.9", "10.0.0.1");
	sends_from(n, "fe80::9", NULL);
	sends_from(n, "127.0.0.2", NULL);
	net_close(n);
}

/* No router passes on what is link-local: it is of the subnet, whatever prefixes that has. */
static void test_link_local(void **state)
{
	static const char *const set[] = {"port=net_null0,no-rx=1", "address=fd00::1/64",
		"mac=02:00:00:00:00:01", "memory=16", "log=error"};
	struct net *n = start(set, 5);

	open_at(n, 61525);
	/* Ours, but no GID. */
	assert_false(has_gid(n, "fe80::ff:fe00:1"));
	assert_true(has_gid(n, "fd00::1"));
	assert_true(lets_in(n, "fe80::ff:fe00:1", "fe80::2"));
	assert_true(lets_in(n, "fd00::1", "fe80::2"));
	assert_true(lets_in(n, "ff02::99", "fe80::2"));
	assert_true(lets_in(n, "fe80::ff:fe00:1", "fd00::2"));
	assert_true(lets_in(n, "fd00::1", "fd00::2"));
	assert_int_equal(net_ud(n)->refused, 0);
	assert_false(lets_in(n, "fd00::1", "fd00:0:0:1::2"));
	assert_false(lets_in(n, "ff02::99", "fd00:0:0:1::2"));
	assert_int_equal(say(n, "fe80::ff:fe00:1", "fe80::ff:fe00:1", 61525, "near", 4), 0);
	expect(n, "fe80::ff:fe00:1", "fe80::ff:fe00:1", "near");
	assert_true(got.path.own);
	finish(n);
}

static void stranger_says(int fd, uint16_t port, const char *text)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_port = htons(port)};
	int tos = 0x20, ttl = 7;

	assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TOS, &tos, sizeof tos), 0);
	assert_int_equal(setsockopt(fd, IPPROTO_IP, IP_TTL, &ttl, sizeof ttl), 0);
	inet_pton(AF_INET, "127.0.0.1", &sin.sin_addr);
	assert_int_equal(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&sin, sizeof sin),
		strlen(text));
}

/* What comes from another subnet is dropped: a later one, from ours, is the first that is seen. */
static void test_subnet(void **state)
{
	static const char *const set[] = {"port=kernel", "address=127.0.0.1/31", "log=error"};
	uint16_t port, other;
	struct net *n = start_kernel(set, 3, &port);
	int far = stranger("127.9.9.9", &other);

	stranger_says(far, port, "far");
	assert_int_equal(say(n, "127.0.0.1", "127.0.0.1", port, "near", 4), 0);
	expect(n, "127.0.0.1", "127.0.0.1", "near");
	assert_int_equal(net_ud(n)->refused, 1);
	close(far);
	finish(n);
}

static void test_on(void **state)
{
	static const char *const set[] = {
		"port=kernel", "address=127.0.0.1/31", "ud=on", "log=error"};
	uint16_t port, other;
	struct net *n = start_kernel(set, 4, &port);
	int far = stranger("127.9.9.9", &other);

	stranger_says(far, port, "far");
	expect(n, "127.9.9.9", "127.0.0.1", "far");
	assert_int_equal(net_ud(n)->refused, 0);
	close(far);
	finish(n);
}

static void test_off(void **state)
{
	static const char *const off[] = {
		"port=kernel", "address=127.0.0.1/8", "ud=off", "log=error"};
	static const char *const cm[] = {
		"port=kernel", "address=127.0.0.1/8", "connect_mode=rdma_cm", "log=error"};
	struct net *n = start(off, 4);

	assert_null(net_ud(n));
	net_close(n);
	n = start(cm, 4);
	assert_null(net_ud(n));
	net_close(n);
}

/** A file that nobody else may read. @p path is a template of mkstemp(). */
static void write_secret(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/** There is no TLS for datagrams: where it is required there are none, unless IPsec has them. */
static void test_tls(void **state)
{
	static const struct {
		const char *tls, *ud;
		bool ipsec, there;
		const char *remark;
	} t[] = {
		{"tls=required", "ud=subnet", false, false, "there are no UD queue pairs"},
		{"tls=required", "ud=on", false, false, "there are no UD queue pairs"},
		{"tls=required", "ud=subnet", true, true, NULL},
		{"tls=required", "ud=off", false, false, NULL},
		{"tls=on", "ud=subnet", false, true, "UD queue pairs go in the clear"},
		{"tls=on", "ud=subnet", true, true, NULL},
		{"tls=on", "ud=off", false, false, NULL},
	};
	char psk[] = "/tmp/uiwarp-psk.XXXXXX", sas[] = "/tmp/uiwarp-sas.XXXXXX";
	char set_psk[64], set_sas[64];

	if (!tls_is_available())
		skip();
	write_secret(psk, "node:00112233445566778899aabbccddeeff\n");
	write_secret(sas, "ip xfrm policy setdefault in accept out accept\n");
	snprintf(set_psk, sizeof set_psk, "tls_psk=%s", psk);
	snprintf(set_sas, sizeof set_sas, "ipsec=%s", sas);
	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		const char *set[] = {"port=net_null0,no-rx=1", "address=10.0.0.1/24", "memory=16",
			"log=error", t[i].tls, t[i].ud, set_psk, set_sas};
		struct net *n = start(set, t[i].ipsec ? 8 : 7);
		const char *remark = net_ud_remark(n);

		assert_int_equal(net_ud(n) != NULL, t[i].there);
		assert_int_equal(remark != NULL, t[i].remark != NULL);
		if (remark)
			assert_non_null(strstr(remark, t[i].remark));
		net_close(n);
	}
	unlink(psk);
	unlink(sas);
}

/** In the clear, nobody is told anything. */
static void test_no_tls(void **state)
{
	static const char *const set[] = {
		"port=net_null0,no-rx=1", "address=10.0.0.1/24", "memory=16", "log=error"};
	struct net *n = start(set, 4);

	assert_non_null(net_ud(n));
	assert_null(net_ud_remark(n));
	net_close(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subnet),
		cmocka_unit_test(test_gid_source),
		cmocka_unit_test(test_link_local),
		cmocka_unit_test(test_on),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_tls),
		cmocka_unit_test(test_no_tls),
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_slow_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
