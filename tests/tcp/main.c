/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs the scripts of one file, each in every way that it leaves open. */
#include "script.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START     (1000 * SEC)
#define ISN_END   300u
#define CASES_MAX 10240

struct script_case {
	const struct script_test *test;
	const struct script_row *row;
	unsigned way;
	char name[120];
};

static struct uiwarp_tcp *start_host(const struct script_test *t)
{
	struct uiwarp_tcp_config cfg = t->config ? *t->config : (struct uiwarp_tcp_config){0};
	struct uiwarp_tcp *h;

	cfg.seed = 7;
	cfg.packets = cfg.packets ? cfg.packets : 1024;
	assert_int_equal(uiwarp_tcp_create(&cfg, START, &h), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, "192.0.2.1/24"), 0);
	assert_int_equal(uiwarp_tcp_add_address(h, "2001:db8::1/64"), 0);
	return h;
}

static void start(struct script *s, const struct script_case *c)
{
	bool v6 = (c->way & V6) != 0;

	*s = (struct script){.test = c->test,
		.row = c->row,
		.way = c->way,
		.fd = -1,
		.listener = -1,
		.win = 65535,
		.read = 1,
		.written = 1,
		.base.ack = 1000,
		.ts_clock = 5000,
		.file = __FILE__,
		.line = __LINE__};
	s->to_peer =
		(struct seg_path){.family = v6 ? AF_INET6 : AF_INET, .sport = PORT, .dport = RPORT};
	inet_pton(s->to_peer.family, v6 ? "2001:db8::1" : "192.0.2.1", s->to_peer.src);
	inet_pton(s->to_peer.family, v6 ? "2001:db8::2" : "192.0.2.2", s->to_peer.dst);
	s->h = start_host(c->test);
}

/**
 * The ISN is a clock of 4 us plus a secret (RFC 9293 section 3.4.1): after how long is it near its
 * end? Another host with the same secret tells.
 */
static uint64_t until_wrap(const struct script_case *c, bool active)
{
	struct script probe;
	uint32_t isn;

	start(&probe, c);
	if (active) {
		connects(&probe);
		isn = script_next(&probe)->seq;
	} else {
		listens(&probe);
		script_peer(&probe, "S 0 <%s>", offer(&probe));
		isn = script_next(&probe)->seq;
	}
	uiwarp_tcp_destroy(probe.h);
	return (uint64_t)(-ISN_END - isn) * 4 * US;
}

static int setup(void **state)
{
	const struct script_case *c = *state;
	struct script *s = malloc(sizeof *s);

	assert_non_null(s);
	start(s, c);
	if (c->way & WRAP) {
		s->base.ack = -ISN_END + 100;
		s->ts_clock = -ISN_END;
		s->to_wrap[0] = until_wrap(c, false);
		s->to_wrap[1] = until_wrap(c, true);
	}
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct script *s = *state;

	uiwarp_tcp_destroy(s->h);
	free(s);
	return 0;
}

/** Whatever the script left behind ends by itself, and every packet comes home. */
static void finish(struct script *s)
{
	uint8_t packet[64];

	script_nothing(s);
	for (int fd = 0; fd < 64; fd++)
		uiwarp_tcp_abort(s->h, fd);
	uiwarp_tcp_advance(s->h, uiwarp_tcp_now(s->h) + 1000 * SEC);
	while (uiwarp_tcp_output(s->h, packet, sizeof packet, NULL))
		;
	if (!uiwarp_tcp_connection(s->h, 0, NULL, NULL, NULL))
		script_fail(s, "a connection lives on");
	if (uiwarp_tcp_packets_in_use(s->h))
		script_fail(s, "%u packets are missing", uiwarp_tcp_packets_in_use(s->h));
	if (uiwarp_tcp_next(s->h) != UIWARP_TCP_NEVER)
		script_fail(s, "a timer lives on");
}

static void run(void **state)
{
	struct script *s = *state;

	s->test->run(s);
	finish(s);
}

static void set_name(struct script_case *c)
{
	static const char *const name[] = {"v6", "ts", "sack", "ws", "wrap"};
	int len = snprintf(c->name, sizeof c->name, "%s%s%s", c->test->name, c->row ? ": " : "",
		c->row ? c->row->name : "");

	for (unsigned i = 0; i < 5; i++)
		if (c->way & 1u << i & c->test->open)
			len += snprintf(
				c->name + len, sizeof c->name - (size_t)len, "+%s", name[i]);
}

static unsigned add_cases(
	struct script_case *c, const struct script_test *t, const struct script_row *row)
{
	unsigned n = 0;

	for (unsigned way = 0; way <= ALL_WAYS; way++) {
		if ((way & ~t->open) != (t->on & ~t->open))
			continue;
		c[n] = (struct script_case){.test = t, .row = row, .way = way};
		set_name(&c[n++]);
	}
	return n;
}

int main(void)
{
	static struct script_case cases[CASES_MAX];
	static struct CMUnitTest tests[CASES_MAX];
	unsigned n = 0;

	for (const struct script_test *t = script_tests; t->name; t++) {
		const struct script_row *row = t->rows;

		do {
			if (n + ALL_WAYS + 1 > CASES_MAX)
				return 99;
			n += add_cases(cases + n, t, row);
		} while (row && (++row)->name);
	}
	for (unsigned i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){cases[i].name, run, setup, teardown, &cases[i]};
	return _cmocka_run_group_tests("scripts", tests, n, NULL, NULL);
}
