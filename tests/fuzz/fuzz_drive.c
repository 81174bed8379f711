/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libuiwarp-tcp (drive/): two hosts under calls and packets in any order. The network carries,
 * drops, repeats, keeps back, mangles and invents packets; the program calls anything with any
 * socket. As long as no packet was mangled or invented, what is read is what was sent.
 */
#include "drive/uiwarp_tcp.h"
#include "fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#define HOSTS   2
#define SOCKETS 8 /* numbers that the input chooses from */
#define KEPT    4
#define ROOM    2048
#define SECOND  UINT64_C(1000000000)

struct kept {
	size_t len;
	uint8_t bytes[ROOM];
};

struct world {
	struct fuzz *in;
	struct uiwarp_tcp *h[HOSTS];
	struct kept kept[HOSTS][KEPT]; /**< on their way to that host, when the input says so */
	/** Bytes of each socket's stream; a number that is free again begins anew. */
	size_t sent[HOSTS][SOCKETS], read[HOSTS][SOCKETS];
	bool forged;
};

static struct world w;

static uint8_t pattern(size_t at)
{
	return (uint8_t)(at * 7 + (at >> 8));
}

/** Errors are those of Linux. */
static bool is_result(long rc)
{
	return rc > -4096;
}

/* ---- the network
 * --------------------------------------------------------------------------------- */

static void deliver(unsigned to, const struct kept *k)
{
	int rc = uiwarp_tcp_input(w.h[to], k->bytes, k->len);

	MUST(rc == 0 || rc == -EMSGSIZE || rc == -ENOBUFS);
}

static void mangle(struct kept *k)
{
	uint8_t n = 1 + fuzz_u8(w.in) % 4;

	w.forged = true;
	while (n--)
		k->bytes[fuzz_u16(w.in) % k->len] = fuzz_u8(w.in);
}

/** One packet of @p from to the other. @return false: there is none. */
static bool carry_one(unsigned from, uint8_t how)
{
	struct kept k;

	k.len = uiwarp_tcp_output(w.h[from], k.bytes, sizeof k.bytes, NULL);
	if (!k.len)
		return false;
	MUST(k.len <= sizeof k.bytes);
	switch (how & 15) {
	case 1:
		return true;
	case 2:
		deliver(!from, &k);
		break;
	case 3:
		w.kept[!from][how >> 6] = k;
		return true;
	case 4:
		mangle(&k);
		break;
	default:
		break;
	}
	deliver(!from, &k);
	return true;
}

static void carry_all(void)
{
	unsigned n = 1000;

	while (n-- && (carry_one(0, 0) || carry_one(1, 0)))
		;
}

static void carry(unsigned from)
{
	uint8_t how = fuzz_u8(w.in);

	if (how == 0)
		carry_all();
	else
		carry_one(from, how);
}

static void deliver_kept(unsigned to)
{
	struct kept *k = &w.kept[to][fuzz_u8(w.in) % KEPT];

	if (k->len)
		deliver(to, k);
}

static void invent(unsigned to)
{
	struct kept k = {.len = 1 + fuzz_u8(w.in)};
	size_t got;
	const uint8_t *p = fuzz_bytes(w.in, k.len, &got);

	memcpy(k.bytes, p, got);
	w.forged = true;
	deliver(to, &k);
}

static void pass_time(void)
{
	uint64_t by = UINT64_C(1) << fuzz_u8(w.in) % 40;

	for (unsigned i = 0; i < HOSTS; i++)
		uiwarp_tcp_advance(w.h[i], uiwarp_tcp_now(w.h[i]) + by);
}

/* ---- the program
 * --------------------------------------------------------------------------------- */

static struct sockaddr_storage any_endpoint(unsigned host, int family)
{
	static const char *const v4[] = {"192.0.2.1", "192.0.2.2"}, *const v6[] = {"2001:db8::1",
									    "2001:db8::2"};
	struct sockaddr_storage s = {0};
	struct sockaddr_in *a = (void *)&s;
	struct sockaddr_in6 *b = (void *)&s;
	uint8_t how = fuzz_u8(w.in);

	if (how == 0xff) {
		size_t got;
		const uint8_t *p = fuzz_bytes(w.in, 28, &got);

		memcpy(&s, p, got);
	} else if (family == AF_INET) {
		a->sin_family = AF_INET;
		a->sin_port = htons(how & 128 ? 0 : 7 + (how & 3));
		if (!(how & 64))
			MUST(inet_pton(AF_INET, v4[host], &a->sin_addr) == 1);
	} else {
		b->sin6_family = AF_INET6;
		b->sin6_port = htons(how & 128 ? 0 : 7 + (how & 3));
		if (!(how & 64))
			MUST(inet_pton(AF_INET6, v6[host], &b->sin6_addr) == 1);
	}
	return s;
}

static void begin(unsigned host, int s)
{
	if (s < 0 || s >= SOCKETS)
		return;
	w.sent[host][s] = w.read[host][s] = 0;
}

static void call_new(unsigned host, int s)
{
	uint8_t how = fuzz_u8(w.in);
	struct sockaddr_storage e;
	socklen_t len = how & 64 ? how % 32 : sizeof e;
	int family = how & 4 ? AF_INET6 : AF_INET, rc;

	switch (how & 3) {
	case 0:
		rc = uiwarp_tcp_socket(w.h[host], how == 0xf8 ? how : family);
		begin(host, rc);
		break;
	case 1:
		e = any_endpoint(host, family);
		rc = uiwarp_tcp_bind(w.h[host], s, (void *)&e, len);
		break;
	case 2:
		rc = uiwarp_tcp_listen(w.h[host], s, (int8_t)fuzz_u8(w.in));
		break;
	default:
		e = any_endpoint(!host, family);
		rc = uiwarp_tcp_connect(w.h[host], s, (void *)&e, len);
		MUST(rc < 0);
		if (rc == -EINPROGRESS)
			begin(host, s);
	}
	MUST(is_result(rc));
}

static void call_accept(unsigned host, int s)
{
	struct sockaddr_storage e;
	socklen_t len = fuzz_u8(w.in) % (sizeof e + 1);
	int rc = uiwarp_tcp_accept(w.h[host], s, len ? (void *)&e : NULL, len ? &len : NULL);

	MUST(is_result(rc));
	begin(host, rc);
}

static void call_send(unsigned host, int s)
{
	static uint8_t buf[65536];
	size_t len = fuzz_u16(w.in), at = s >= 0 && s < SOCKETS ? w.sent[host][s] : 0;
	ssize_t n;

	for (size_t i = 0; i < len; i++)
		buf[i] = pattern(at + i);
	n = uiwarp_tcp_send(w.h[host], s, buf, len, fuzz_u8(w.in) & 1 ? MSG_MORE : 0);
	MUST(is_result(n) && n <= (ssize_t)len);
	if (n > 0 && s < SOCKETS)
		w.sent[host][s] += (size_t)n;
}

static void call_recv(unsigned host, int s)
{
	uint8_t how = fuzz_u8(w.in), *buf;
	size_t len = how & 1 ? how : fuzz_u16(w.in);
	int flags = how & 2 ? MSG_PEEK : 0, unread = 0;
	ssize_t n;

	buf = malloc(len + 1);
	MUST(buf);
	(void)uiwarp_tcp_get(w.h[host], s, UIWARP_TCP_UNREAD, &unread);
	n = uiwarp_tcp_recv(w.h[host], s, buf, len, flags);
	MUST(is_result(n) && n <= (ssize_t)len && n <= unread);
	for (ssize_t i = 0; i < n && s < SOCKETS && !w.forged; i++)
		MUST(buf[i] == pattern(w.read[host][s] + (size_t)i));
	if (n > 0 && s < SOCKETS && !flags)
		w.read[host][s] += (size_t)n;
	free(buf);
}

static void call_end(unsigned host, int s)
{
	uint8_t how = fuzz_u8(w.in);
	int rc;

	switch (how & 3) {
	case 0:
		rc = uiwarp_tcp_close(w.h[host], s);
		break;
	case 1:
		rc = uiwarp_tcp_abort(w.h[host], s);
		break;
	default:
		rc = uiwarp_tcp_shutdown(w.h[host], s, (how >> 2) % 4);
	}
	MUST(rc <= 0 && is_result(rc));
}

static void call_option(unsigned host, int s)
{
	static const char *const names[] = {"cubic", "newreno", "bbr", NULL, "", "vegas"};
	uint8_t how = fuzz_u8(w.in);
	int value = 0;

	if (how & 64)
		MUST(is_result(uiwarp_tcp_set(w.h[host], s, how & 7, (int)fuzz_u32(w.in))));
	else if (how & 32)
		MUST(is_result(uiwarp_tcp_set_congestion_control(w.h[host], s, names[how % 6])));
	else
		MUST(is_result(uiwarp_tcp_get(w.h[host], s, how & 7, &value)));
}

static void call_look(unsigned host, int s)
{
	struct sockaddr_storage local, remote;
	socklen_t len = fuzz_u8(w.in) % (sizeof local + 1);
	struct uiwarp_tcp_info info;

	MUST(is_result(uiwarp_tcp_poll(w.h[host], s)));
	MUST(is_result(uiwarp_tcp_getsockname(w.h[host], s, (void *)&local, &len)));
	len = sizeof remote;
	MUST(is_result(uiwarp_tcp_getpeername(w.h[host], s, (void *)&remote, &len)));
	if (!uiwarp_tcp_info(w.h[host], s, &info))
		MUST(memchr(info.state, 0, sizeof info.state));
	for (unsigned i = 0; i < 3; i++)
		if (uiwarp_tcp_connection(w.h[host], i, &local, &remote, &info))
			break;
}

/* ---- run
 * ------------------------------------------------------------------------------------------- */

static void step(void)
{
	static void (*const calls[])(unsigned, int) = {call_new, call_new, call_accept, call_send,
		call_recv, call_end, call_option, call_look};
	uint8_t op = fuzz_u8(w.in), what = fuzz_u8(w.in);
	unsigned host = op & 1;
	int s = what < 0xf0 ? what % SOCKETS : (int8_t)what * (what & 1 ? 1 : 1000);

	switch (op >> 1 & 15) {
	case 8:
	case 9:
		carry(host);
		break;
	case 10:
		deliver_kept(host);
		break;
	case 11:
		invent(host);
		break;
	case 12:
		pass_time();
		break;
	default:
		if ((op >> 1 & 15) > 12)
			carry_all();
		else
			calls[op >> 1 & 7](host, s);
	}
}

static struct uiwarp_tcp *new_host(const struct uiwarp_tcp_config *cfg, unsigned i)
{
	static const char *const v4[] = {"192.0.2.1/24", "192.0.2.2/24"}, *const v6[] = {
										  "2001:db8::1/64",
										  "2001:db8::2/64"};
	struct uiwarp_tcp_config c = *cfg;
	struct uiwarp_tcp *h;

	c.seed = i + 1;
	MUST(!uiwarp_tcp_create(&c, SECOND, &h));
	MUST(!uiwarp_tcp_add_address(h, v4[i]) && !uiwarp_tcp_add_address(h, v6[i]));
	return h;
}

static void close_all(unsigned host)
{
	/* Those that the input knows, and those that were made beyond. */
	for (int s = 0; s < 4096; s++)
		uiwarp_tcp_abort(w.h[host], s);
}

/** All that is left ends by itself, in so long. */
static void settle(void)
{
	for (unsigned i = 0; i < 20; i++) {
		carry_all();
		for (unsigned k = 0; k < HOSTS; k++)
			uiwarp_tcp_advance(w.h[k], uiwarp_tcp_now(w.h[k]) + 20 * SECOND);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const cc[] = {NULL, "newreno", "bbr", "cubic"};
	struct fuzz in = {data, size};
	uint8_t bits = fuzz_u8(&in);
	/* More may be unread than TCP shows at a time. */
	const struct uiwarp_tcp_config cfg = {.packets = 1024,
		.congestion_control = cc[bits & 3],
		.syn_cookies = bits >> 2 & 1,
		.ecn = bits & 8 ? UIWARP_TCP_ECN_ON : UIWARP_TCP_ECN_ACCEPT,
		.no_sack = bits & 16,
		.no_timestamps = bits & 32,
		.no_window_scale = bits & 64,
		.keepalive_ms = bits & 128 ? 1000 : 0};

	memset(&w, 0, sizeof w);
	w.in = &in;
	for (unsigned i = 0; i < HOSTS; i++)
		w.h[i] = new_host(&cfg, i);
	while (in.left)
		step();
	for (unsigned i = 0; i < HOSTS; i++)
		close_all(i);
	settle();
	for (unsigned i = 0; i < HOSTS; i++) {
		MUST(uiwarp_tcp_packets_in_use(w.h[i]) == 0);
		uiwarp_tcp_destroy(w.h[i]);
	}
	return 0;
}
