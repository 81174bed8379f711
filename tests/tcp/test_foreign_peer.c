/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host under test and a foreign peer send each other text over a path that loses up to three
 * packets of ten, and close. Then the path is whole and the peer kind, and all must come to its
 * end.
 *
 * usage: test_foreign_peer [FROM:TO | SEED]    (one SEED: and prints each packet)
 */
#include "drive/uiwarp_tcp.h"
#include "foreign_peer.h"
#include "support/seeds.h"
#include "support/thorough.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS  UINT64_C(1000000)
#define SEC UINT64_C(1000000000)

#define START      (1000 * SEC)
#define OCTETS_MAX 500000u
#define PACKET_MAX 65535
/** Three time-outs at their longest (RFC 6298 section 2.5), and some, as for tests/vopr. */
#define PATIENCE (200 * SEC)

static struct seeds seeds = {.first = 1, .last = 2500, .step = THOROUGH_STEP(10)};
/** The text of either side, by sequence number. */
static uint8_t host_text[1 + OCTETS_MAX], peer_text[1 + OCTETS_MAX];

/** One connection. */
struct foreign_run {
	struct prng random;
	struct foreign_path path;
	struct foreign_peer peer;
	struct uiwarp_tcp *host;
	int listener, fd;             /**< -1 */
	uint32_t host_octets, octets; /**< of text, from the host and from the peer */
	uint32_t written, read;
	bool shut, ended;             /**< the host's user has closed its side; has seen the end */
	uint64_t whole_at, window_at; /**< when the path is whole; when the peer's window changes */
	const char *wrong;
};

static struct foreign_run run;

static void wrong(const char *what)
{
	if (!run.wrong)
		run.wrong = what;
}

static void show(char way, const uint8_t *packet, size_t len)
{
	struct seg_base base = {run.peer.base.ack, run.peer.base.seq};
	struct seg_path path;
	struct seg s;
	char text[200];

	if (!seeds_are_one(&seeds) || seg_parse_packet(packet, len, &path, &s))
		return;
	if (way == '<')
		base = run.peer.base;
	seg_format(&s, &base, text, sizeof text);
	print_message(
		"%12.6f %c %s\n", (double)(uiwarp_tcp_now(run.host) - START) / 1e9, way, text);
}

/* ---- the host ------------------------------------------------------------------------------- */

static void host_start(uint64_t seed)
{
	static const char *const congestion_control[] = {"cubic", "newreno", "bbr"};
	const struct uiwarp_tcp_config cfg = {
		.seed = seed,
		.packets = 2048,
		.congestion_control = congestion_control[prng_below(&run.random, 3)],
	};
	bool v6 = prng_chance(&run.random, 0.5);
	struct seg_path *p = &run.peer.to_host;

	*p = (struct seg_path){.family = v6 ? AF_INET6 : AF_INET, .sport = 40000, .dport = 5000};
	inet_pton(p->family, v6 ? "2001:db8::2" : "192.0.2.2", p->src);
	inet_pton(p->family, v6 ? "2001:db8::1" : "192.0.2.1", p->dst);
	assert_int_equal(uiwarp_tcp_create(&cfg, START, &run.host), 0);
	assert_int_equal(uiwarp_tcp_add_address(run.host, "192.0.2.1/24"), 0);
	assert_int_equal(uiwarp_tcp_add_address(run.host, "2001:db8::1/64"), 0);
}

static void host_listen(void)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(5000)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(5000)};
	bool is_v6 = run.peer.to_host.family == AF_INET6;

	run.listener = uiwarp_tcp_socket(run.host, run.peer.to_host.family);
	assert_true(run.listener >= 0);
	assert_int_equal(uiwarp_tcp_bind(run.host, run.listener,
				 is_v6 ? (const void *)&v6 : (const void *)&v4,
				 is_v6 ? sizeof v6 : sizeof v4),
		0);
	assert_int_equal(uiwarp_tcp_listen(run.host, run.listener, 8), 0);
}

static void user_write(void)
{
	while (run.written < run.host_octets) {
		uint32_t n = 1 + (uint32_t)prng_below(&run.random, 3000);
		uint32_t left = run.host_octets - run.written;
		ssize_t r = uiwarp_tcp_send(
			run.host, run.fd, host_text + 1 + run.written, n < left ? n : left, 0);

		if (r == -EAGAIN)
			return;
		if (r <= 0)
			return wrong("the user cannot send");
		run.written += (uint32_t)r;
	}
	if (!run.shut && uiwarp_tcp_shutdown(run.host, run.fd, SHUT_WR))
		wrong("the user cannot close");
	run.shut = true;
}

static void user_read(size_t most)
{
	static uint8_t text[PACKET_MAX];
	ssize_t r;

	do {
		r = uiwarp_tcp_recv(run.host, run.fd, text, most, 0);
		if (r == -EAGAIN)
			return;
		if (r < 0)
			return wrong("the user cannot receive");
		if ((size_t)r > run.octets - run.read)
			return wrong("the user gets more than the peer sent");
		if (memcmp(text, peer_text + 1 + run.read, (size_t)r))
			return wrong("the user gets other text than the peer sent");
		run.read += (uint32_t)r;
	} while (r && run.path.whole);
	if (!r && run.read != run.octets)
		wrong("the user sees the end too early");
	run.ended = !r;
}

/** The user reads now and then, and little; when the path is whole, all at once. */
static void user(void)
{
	if (run.fd < 0)
		run.fd = uiwarp_tcp_accept(run.host, run.listener, NULL, NULL);
	if (run.fd < 0)
		return;
	user_write();
	if (run.ended)
		return;
	if (run.path.whole)
		user_read(PACKET_MAX);
	else if (prng_chance(&run.random, 0.2))
		user_read(1 + prng_below(&run.random, 50000));
}

/* ---- what happens next ---------------------------------------------------------------------- */

static void take_output(void)
{
	static uint8_t packet[PACKET_MAX];
	size_t len;

	while ((len = uiwarp_tcp_output(run.host, packet, sizeof packet, NULL))) {
		show('>', packet, len);
		foreign_path_send(&run.path, uiwarp_tcp_now(run.host), false, packet, len);
	}
}

static void deliver(struct foreign_packet *p)
{
	if (p->to_host) {
		show('<', p->bytes, p->len);
		uiwarp_tcp_input(run.host, p->bytes, p->len);
	} else {
		foreign_peer_input(&run.peer, uiwarp_tcp_now(run.host), p->bytes, p->len);
	}
	free(p);
}

static void make_whole(uint64_t now)
{
	run.path.whole = run.peer.calm = true;
	/* If it does not say that its window is open, the host has to ask. */
	foreign_peer_window(&run.peer, now, prng_chance(&run.random, 0.5));
	run.whole_at = run.window_at = UINT64_MAX;
}

static void change_window(uint64_t now)
{
	foreign_peer_window(&run.peer, now, prng_chance(&run.random, 0.6));
	run.window_at = now + prng_below(&run.random, 2 * SEC);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/** The next thing happens, or @p end comes. */
static void step(uint64_t end)
{
	uint64_t now = sooner(uiwarp_tcp_next(run.host), foreign_path_next(&run.path));
	struct foreign_packet *packet;

	now = sooner(sooner(now, run.peer.rto_at), sooner(run.window_at, run.whole_at));
	now = sooner(now, end);
	now = later(now, uiwarp_tcp_now(run.host));
	uiwarp_tcp_advance(run.host, now);
	take_output();
	packet = foreign_path_take(&run.path, now);
	if (packet)
		deliver(packet);
	else if (run.whole_at <= now)
		make_whole(now);
	else if (run.window_at <= now)
		change_window(now);
	else if (run.peer.rto_at <= now)
		foreign_peer_timeout(&run.peer, now);
	user();
	take_output();
	wrong(run.peer.wrong);
}

/* ---- a connection from its SYN to its end --------------------------------------------------- */

/** The ISN that the host answers the peer's SYN with, were it to come now. */
static uint32_t ask_isn(void)
{
	struct seg_path path;
	struct seg syn_ack, rst;
	uint8_t packet[200];

	uiwarp_tcp_input(run.host, packet, foreign_peer_syn(&run.peer, packet));
	assert_null(seg_parse_packet(
		packet, uiwarp_tcp_output(run.host, packet, sizeof packet, NULL), &path, &syn_ack));
	assert_null(seg_parse_text("R 1", &run.peer.base, &rst));
	uiwarp_tcp_input(run.host, packet, seg_build(&rst, &run.peer.to_host, NULL, packet));
	return syn_ack.seq;
}

/** It is a clock of 4 us (RFC 9293 section 3.4.1): in most runs the host's numbers wrap, too. */
static void wait_for_wrap(void)
{
	uint32_t left = -ask_isn() - (uint32_t)prng_below(&run.random, 100000);

	if (prng_chance(&run.random, 0.7))
		uiwarp_tcp_advance(run.host, START + UINT64_C(4000) * left);
}

static void run_start(uint64_t seed)
{
	struct prng *r = &run.random;

	run = (struct foreign_run){
		.random.state = seed, .fd = -1, .whole_at = UINT64_MAX, .window_at = UINT64_MAX};
	run.host_octets = (uint32_t)prng_below(r, prng_chance(r, 0.7) ? OCTETS_MAX : 3000);
	run.octets = (uint32_t)prng_below(r, prng_chance(r, 0.6) ? OCTETS_MAX : 3000);
	foreign_peer_start(&run.peer, r, run.host_octets, run.octets);
	run.peer.path = &run.path;
	run.peer.text = peer_text;
	run.peer.host_text = host_text;
	run.path = (struct foreign_path){.random = r, .whole = true, .doubles = 0.02};
	run.path.delay = MS * (1 + prng_below(r, 30));
	if (prng_chance(r, 0.7))
		run.path.loss = 0.01 * (double)prng_below(r, 31);
	if (prng_chance(r, 0.5))
		run.path.jitter = MS * prng_below(r, 20);
	host_start(seed);
	host_listen();
	wait_for_wrap();
}

static bool run_is_done(void)
{
	return run.ended && foreign_peer_done(&run.peer);
}

static void run_open(void)
{
	uint64_t end = uiwarp_tcp_now(run.host) + PATIENCE;
	uint8_t packet[100];

	foreign_path_send(&run.path, uiwarp_tcp_now(run.host), true, packet,
		foreign_peer_syn(&run.peer, packet));
	while (!run.wrong && run.fd < 0) {
		step(end);
		if (uiwarp_tcp_now(run.host) >= end)
			wrong("there is no connection");
	}
}

/** Until all has arrived. */
static void run_connection(void)
{
	uint64_t begun = uiwarp_tcp_now(run.host), end;

	run.path.whole = false;
	run.window_at = begun;
	run.whole_at =
		begun + prng_below(&run.random, prng_chance(&run.random, 0.5) ? 4 * SEC : 40 * SEC);
	end = run.whole_at + PATIENCE;
	while (!run.wrong && !run_is_done()) {
		step(end);
		if (run.peer.reset)
			wrong("the host resets");
		else if (uiwarp_tcp_now(run.host) >= end)
			wrong("not all has arrived");
	}
}

/** The user closes, and nothing is left of the connection. */
static void run_end(void)
{
	uint64_t end = uiwarp_tcp_now(run.host) + 1000 * SEC;

	if (!run.path.whole)
		make_whole(uiwarp_tcp_now(run.host));
	uiwarp_tcp_close(run.host, run.fd);
	uiwarp_tcp_close(run.host, run.listener);
	run.fd = run.listener = -1;
	while (!run.wrong && uiwarp_tcp_now(run.host) < end)
		step(end);
	if (!uiwarp_tcp_connection(run.host, 0, NULL, NULL, NULL))
		wrong("a connection lives on");
	if (uiwarp_tcp_packets_in_use(run.host))
		wrong("packets are missing");
	if (uiwarp_tcp_next(run.host) != UIWARP_TCP_NEVER)
		wrong("a timer lives on");
}

static void explain(uint64_t seed)
{
	const struct foreign_peer *p = &run.peer;
	struct uiwarp_tcp_info i = {0};

	uiwarp_tcp_connection(run.host, 0, NULL, NULL, &i);
	print_error("seed %" PRIu64 ": %s, at %.3f s\n", seed, run.wrong,
		(double)(uiwarp_tcp_now(run.host) - START) / 1e9);
	print_error("  peer: has %u of %u, %u of %u acknowledged; %s%s%s%s%s\n", p->rcv_nxt,
		p->rcv_end, p->snd_una, p->snd_end, p->timestamps ? "time stamps, " : "",
		p->sack ? "SACK, " : "", p->takes_back ? "takes its window back, " : "",
		p->reneges ? "reneges, " : "", p->takes_parts ? "takes parts" : "");
	print_error("  host: %s, flight %u, lost %u, window %u, %" PRIu64
		    " time-outs, RTO %.3f s\n",
		i.state, i.flight, i.lost, i.snd_wnd, i.timeouts, (double)i.rto / 1e9);
	fail();
}

static void test_all_arrives_once(void **state)
{
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed += seeds.step) {
		run_start(seed);
		run_open();
		run_connection();
		if (!run.wrong)
			run_end();
		if (run.wrong)
			explain(seed);
		foreign_path_end(&run.path);
		foreign_peer_end(&run.peer);
		uiwarp_tcp_destroy(run.host);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrives_once),
	};
	struct prng r = {0};

	if (!seeds_take(&seeds, argc, argv))
		return 2;
	for (unsigned i = 1; i <= OCTETS_MAX; i++) {
		host_text[i] = (uint8_t)prng_u64(&r);
		peer_text[i] = (uint8_t)prng_u64(&r);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
