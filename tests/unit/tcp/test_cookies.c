/* SPDX-License-Identifier: BSD-2-Clause */
/* RFC 4987 section 3.6: the function, and handshakes that rest on it. */
#include "host.h"

#include "tcp/cookies.h"
#include "tcp/ecn.h"

#include <errno.h>
#include <malloc.h>
#include <rte_mbuf.h>

#define ALL_OPTIONS (TCP_HAS_MSS | TCP_HAS_TS | TCP_HAS_WSCALE | TCP_HAS_SACK_PERMITTED)

static struct host h;

/* ---- the function -------------------------------------------------------------------------- */

static void fill(void *ctx, void *buf, size_t len)
{
	static uint8_t x;

	for (uint8_t *p = buf; len--; p++)
		*p = x += 57;
}

static const struct random_source source = {.fill = fill};

static struct tcp_tuple tuple(void)
{
	return (struct tcp_tuple){addr(LOCAL), addr(REMOTE), PORT, RPORT};
}

static void test_opens_what_it_made(void **state)
{
	static const struct {
		uint16_t mss, back;
	} cases[] = {{1460, 1460}, {1459, 1440}, {8960, 8960}, {65535, 8960}, {8959, 8940},
		{536, 536}, {1, 216}, {1400, 1360}};
	struct tcp_tuple id = tuple();
	struct tcp_cookies k;

	tcp_cookies_init(&k, &source);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint64_t now = 7 * TCP_COOKIE_STEP * (i + 1);
		uint32_t iss = tcp_cookie_make(&k, &source, &id, 1000, cases[i].mss, now);

		assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, now), cases[i].back);
	}
}

static void test_opens_nothing_else(void **state)
{
	struct tcp_tuple id = tuple(), other = id;
	uint64_t now = 9 * TCP_COOKIE_STEP;
	struct tcp_cookies k, another;
	unsigned hits = 0;
	uint32_t iss;

	tcp_cookies_init(&k, &source);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, 12345, now), 0);
	iss = tcp_cookie_make(&k, &source, &id, 1000, 1460, now);
	assert_int_equal(tcp_cookie_check(&k, &id, 1001, iss, now), 0);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss + 8, now), 0);
	other.rport++;
	assert_int_equal(tcp_cookie_check(&k, &other, 1000, iss, now), 0);
	tcp_cookies_init(&another, &source);
	tcp_cookie_make(&another, &source, &id, 1000, 1460, now);
	assert_int_equal(tcp_cookie_check(&another, &id, 1000, iss, now), 0);
	/* Of all guesses with the right step, 8 in 2^24 are good. */
	for (uint32_t guess = 0; guess < 1u << 24; guess++)
		hits += tcp_cookie_check(&k, &id, 1000, (iss & 0xff000000) | guess, now) != 0;
	assert_in_range(hits, 1, 8);
}

/** A cookie says when it was made; neither before our time began nor with a secret that never was.
 */
static void test_opens_none_of_another_time(void **state)
{
	const uint64_t period = TCP_COOKIE_STEP * TCP_COOKIE_STEPS_PER_SECRET;
	struct tcp_tuple id = tuple();
	struct tcp_cookies k;
	uint32_t iss;

	tcp_cookies_init(&k, &source);
	iss = tcp_cookie_make(&k, &source, &id, 1000, 1460, 0);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, 0), 1460);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss - (1u << 24), 0), 0);
	tcp_cookies_init(&k, &source);
	iss = tcp_cookie_make(&k, &source, &id, 1000, 1460, 4 * period);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, 4 * period), 1460);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss - (1u << 24), 4 * period), 0);
}

static void test_ages(void **state)
{
	struct tcp_tuple id = tuple();
	uint64_t now = 9 * TCP_COOKIE_STEP + TCP_COOKIE_STEP / 2;
	struct tcp_cookies k;
	uint32_t iss;

	tcp_cookies_init(&k, &source);
	assert_false(tcp_cookies_about(&k, now));
	iss = tcp_cookie_make(&k, &source, &id, 1000, 1460, now);
	assert_true(tcp_cookies_about(&k, now + TCP_COOKIE_STEP));
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, now + TCP_COOKIE_STEP), 1460);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, now + 2 * TCP_COOKIE_STEP), 0);
	/* Also when cookies go on being made. */
	tcp_cookie_make(&k, &source, &id, 1, 1460, now + 2 * TCP_COOKIE_STEP);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, now + 2 * TCP_COOKIE_STEP), 0);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, now + 257 * TCP_COOKIE_STEP), 0);
}

static void test_secret_changes(void **state)
{
	const uint64_t period = TCP_COOKIE_STEP * TCP_COOKIE_STEPS_PER_SECRET;
	struct tcp_tuple id = tuple();
	uint64_t last = 4 * period - 1; /* the end of a secret's time */
	struct siphash_key first;
	struct tcp_cookies k;
	uint32_t iss;

	tcp_cookies_init(&k, &source);
	iss = tcp_cookie_make(&k, &source, &id, 1000, 1460, last);
	first = k.secret[1];
	tcp_cookie_make(&k, &source, &id, 1, 1460, last + 2);
	assert_memory_not_equal(&k.secret[0], &first, sizeof first);
	assert_int_equal(tcp_cookie_check(&k, &id, 1000, iss, last + 2), 1460);
	tcp_cookie_make(&k, &source, &id, 1, 1460, last + 2 + period);
	assert_memory_not_equal(&k.secret[1], &first, sizeof first);
}

static void test_stamp(void **state)
{
	for (uint32_t tsval = 0xffffff00; tsval != 0x100; tsval++) {
		for (unsigned v = 0; v < 64; v++) {
			struct tcp_cookie_options o = {.ecn = v & 1, .wscale = (uint8_t)(v >> 2)},
						  back;
			uint32_t stamp;

			o.has = v & 2 ? TCP_HAS_SACK_PERMITTED : 0;
			if (o.wscale <= 14)
				o.has |= TCP_HAS_WSCALE;
			else
				o.wscale = 0;
			stamp = tcp_cookie_stamp(tsval, &o);
			assert_true(seq_leq(stamp, tsval) && tsval - stamp < 128);
			assert_true(tcp_cookie_unstamp(stamp, tsval + 100, &back));
			assert_int_equal(back.has, o.has);
			assert_int_equal(back.wscale, o.wscale);
			assert_int_equal(back.ecn, o.ecn);
		}
	}
}

static void test_stamp_must_be_ours(void **state)
{
	struct tcp_cookie_options o;

	assert_false(tcp_cookie_unstamp(1001, 1000, &o));
	assert_false(tcp_cookie_unstamp(1000, 1000 + 200000, &o));
	assert_true(tcp_cookie_unstamp(1000, 1000 + 128000, &o));
}

/* ---- handshakes ---------------------------------------------------------------------------- */

static const struct tcp_stack_config always = {.syn_cookies = TCP_COOKIES_ALWAYS};

static void shake(struct peer *p, const struct tcp_stack_config *cfg, unsigned options)
{
	host_init(&h, LOCAL, cfg);
	peer_accepted(p, &h, options);
}

static void test_options_survive(void **state)
{
	struct tcp_conn *c;
	struct peer p;

	shake(&p, &always, ALL_OPTIONS);
	c = tcp_conn_of(h.app.llp);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_sent, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_received, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	assert_true(c->ts_on && c->sack_on && c->wscale_on);
	assert_int_equal(c->snd_wscale, 7);
	assert_int_equal(c->peer_mss, 1460);
	assert_int_equal(c->snd_wnd, 65535 << 7);
	p.wnd = 500;
	peer_send(&p, 0, "text", 4);
	assert_int_equal(h.app.n_got, 4);
	app_send(&h.app, "back", 4);
	host_end(&h);
}

static void test_without_timestamps_the_rest_is_refused(void **state)
{
	const struct tcp_segment syn = {.seq = 1000,
		.flags = TCP_SYN | TCP_ECE | TCP_CWR,
		.wnd = 5000,
		.mss = 1300,
		.wscale = 3,
		.has = ALL_OPTIONS & ~TCP_HAS_TS};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct tcp_conn *c;
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.has, TCP_HAS_MSS);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	assert_int_equal(h.app.accepted, 1);
	c = tcp_conn_of(h.app.llp);
	assert_false(c->ts_on || c->sack_on || c->wscale_on || c->ecn.on);
	assert_int_equal(c->peer_mss, 1220);
	assert_int_equal(c->snd_wnd, 5000);
	host_end(&h);
}

static void test_ecn_survives(void **state)
{
	const struct tcp_segment syn = {
		.seq = 1000, .flags = TCP_SYN | TCP_ECE | TCP_CWR, .has = TCP_HAS_TS, .tsval = 5};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000, .seq = 1001, .ts = true, .tsval = 6};
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK | TCP_ECE);
	p.tsecr = a.h.tsval;
	p.ack = a.h.seq + 1;
	peer_send(&p, 0, NULL, 0);
	assert_true(tcp_conn_of(h.app.llp)->ecn.on);
	assert_int_equal(tcp_conn_of(h.app.llp)->peer_mss, 536);
	host_end(&h);
}

/** Its ACK was lost: the first text brings it. */
static void test_text_completes_the_handshake(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	/* The second segment comes first: no reset, it would end what begins. */
	peer_send_at(&p, TCP_ACK, 1004, a.h.seq + 1, "def", 3);
	host_expect_none(&h);
	peer_send_at(&p, TCP_ACK | TCP_FIN, 1001, a.h.seq + 1, "abc", 3);
	assert_int_equal(h.app.connected, 1);
	assert_int_equal(h.app.n_got, 3);
	assert_int_equal(h.app.eof, 1);
	host_end(&h);
}

static void test_wrong_ack_is_reset(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;
	uint32_t iss;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	iss = a.h.seq;
	peer_send_at(&p, TCP_ACK, 1001, iss + 100, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_failed, 1);
	host_advance(&h, 129000 * MS); /* too old */
	peer_send_at(&p, TCP_ACK, 1001, iss + 1, NULL, 0);
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_failed, 1); /* not even tried */
	assert_int_equal(h.app.accepted, 0);
	host_end(&h);
}

/** A cookie that is ours beside a time stamp that is not tells no options, and so nothing. */
static void test_cookie_with_a_foreign_stamp(void **state)
{
	struct tcp_segment s = {.seq = 1000,
		.flags = TCP_SYN,
		.wnd = 5000,
		.has = ALL_OPTIONS,
		.mss = 1460,
		.tsval = 7};
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	host_hear(&h, PORT, &s, NULL);
	host_expect(&h, &a);
	s = (struct tcp_segment){.seq = 1001,
		.ack = a.h.seq + 1,
		.flags = TCP_ACK,
		.wnd = 5000,
		.has = TCP_HAS_TS,
		.tsval = 8,
		.tsecr = a.h.tsval - (1u << 30)};
	host_hear(&h, PORT, &s, NULL);
	assert_int_equal(h.app.accepted, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->syn_cookies_failed, 1);
	s.tsecr = a.h.tsval;
	host_expect(&h, &a);
	assert_int_equal(a.h.flags, TCP_RST);
	host_hear(&h, PORT, &s, NULL);
	assert_int_equal(h.app.accepted, 1);
	host_round(&h);
	host_end(&h);
}

/** A peer that sends time stamps though we do not is taken without. */
static void test_cookie_with_a_stamp_that_was_not_agreed_upon(void **state)
{
	const struct tcp_stack_config cfg = {
		.syn_cookies = TCP_COOKIES_ALWAYS, .no_timestamps = true};
	struct tcp_segment s = {.seq = 1000,
		.flags = TCP_SYN,
		.wnd = 5000,
		.has = ALL_OPTIONS,
		.mss = 1460,
		.tsval = 7};
	struct tcp_conn *c;
	struct heard a;

	host_init(&h, LOCAL, &cfg);
	host_listen(&h, 8);
	host_hear(&h, PORT, &s, NULL);
	host_expect(&h, &a);
	assert_int_equal(a.h.has, TCP_HAS_MSS);
	s = (struct tcp_segment){.seq = 1001,
		.ack = a.h.seq + 1,
		.flags = TCP_ACK,
		.wnd = 5000,
		.has = TCP_HAS_TS,
		.tsval = 8,
		.tsecr = 9};
	host_hear(&h, PORT, &s, NULL);
	assert_int_equal(h.app.accepted, 1);
	c = tcp_conn_of(h.app.llp);
	assert_false(c->ts_on || c->sack_on || c->wscale_on);
	host_round(&h);
	host_end(&h);
}

static void test_replayed_cookie_is_one_connection(void **state)
{
	struct peer p;

	shake(&p, &always, TCP_HAS_MSS);
	for (int i = 0; i < 10; i++)
		peer_send_at(&p, TCP_ACK, p.seq, p.ack, NULL, 0);
	assert_int_equal(h.app.accepted, 1);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 1);
	host_end(&h);
}

static void test_accept_again(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 8);
	h.app.refuse = -EAGAIN;
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, NULL, 0);
	host_expect_none(&h);
	h.app.refuse = 0;
	peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 1, "abc", 3);
	assert_int_equal(h.app.accepted, 2);
	assert_int_equal(h.app.n_got, 3);
	host_end(&h);
}

static void test_no_cookie_below_the_old_sequence(void **state)
{
	const struct tcp_segment syn = {.seq = 90000, .flags = TCP_SYN, .wnd = 5000};
	unsigned answers = 0;
	struct tcp_conn *c;
	struct peer p;
	struct heard a;

	/* A SYN for a pair in TIME-WAIT: the new ISN must lie above the old numbers. */
	for (uint32_t i = 0; i < 32; i++) {
		uint32_t above;

		shake(&p, &always, 0);
		c = tcp_conn_of(h.app.llp);
		llp_shutdown(h.app.llp);
		ip_double_drain(&h.ip);
		p.ack++;
		peer_send(&p, TCP_FIN, NULL, 0);
		host_expect(&h, &a);
		above = c->snd_nxt += i << 27; /* wherever they were */
		host_hear(&h, PORT, &syn, NULL);
		if (ip_double_pending(&h.ip)) {
			host_expect(&h, &a);
			assert_int_equal(a.h.flags, TCP_SYN | TCP_ACK);
			assert_true(seq_gt(a.h.seq, above));
			answers++;
		} else {
			assert_int_equal(tcp_stack_stats(h.tcp)->accept_overflows, 1);
		}
		host_end(&h);
	}
	assert_in_range(answers, 1, 31);
}

/* ---- the flood ----------------------------------------------------------------------------- */

#define FLOOD 1000000

static void flood(unsigned n)
{
	const struct ip_addr dst = addr(LOCAL);
	const struct tcp_segment forged = {.dport = PORT, .flags = TCP_SYN, .wnd = 1024};

	for (unsigned i = 0; i < n; i++) {
		struct tcp_segment s = forged;
		struct rte_mbuf *m = rte_pktmbuf_alloc(h.pool), *answer;
		struct ip_addr src = addr("198.18.0.0");

		assert_non_null(m);
		src.b[13] = (uint8_t)(i >> 16);
		src.b[14] = (uint8_t)(i >> 8);
		src.b[15] = (uint8_t)i;
		s.sport = (uint16_t)(1024 + i % 50000);
		s.seq = i * 2654435761u;
		m->pkt_len = m->data_len =
			(uint16_t)tcp_wire_emit(&s, rte_pktmbuf_mtod(m, uint8_t *));
		ip_double_deliver(&h.ip, &src, &dst, m, h.now);
		/* Never more than one answer, and it has no options but our MSS. */
		answer = ip_double_take(&h.ip);
		assert_non_null(answer);
		assert_true(answer->pkt_len <= TCP_HEADER_LEN + 4);
		rte_pktmbuf_free(answer);
		assert_int_equal(ip_double_pending(&h.ip), 0);
	}
}

static void test_flood_shuts_nobody_out(void **state)
{
	const struct tcp_segment syn = {.seq = 1000,
		.flags = TCP_SYN | TCP_ECE | TCP_CWR,
		.wnd = 65535,
		.has = ALL_OPTIONS,
		.mss = 8960,
		.wscale = 14,
		.tsval = 7};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000, .seq = 1001, .ts = true, .tsval = 8};
	struct tcp_conn *c;
	struct heard a;
	size_t before;

	host_init(&h, LOCAL, NULL);
	host_listen(&h, 128);
	flood(1000); /* the places are taken */
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 128);
	before = mallinfo2().uordblks;
	flood(FLOOD / 2);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	flood(FLOOD / 2);
	/* Memory does not grow; only cookies, and one answer each, were the cost. */
	assert_int_equal(mallinfo2().uordblks, before);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 128);
	assert_int_equal(tcp_stack_stats(h.tcp)->connections, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->segments_out, FLOOD + 1001);
	p.ack = a.h.seq + 1;
	p.tsecr = a.h.tsval;
	peer_send(&p, 0, "genuine", 7);
	assert_int_equal(h.app.accepted, 1);
	assert_int_equal(h.app.n_got, 7);
	c = tcp_conn_of(h.app.llp);
	assert_true(c->ts_on && c->sack_on && c->wscale_on && c->ecn.on);
	assert_int_equal(c->snd_wscale, 14);
	assert_int_equal(c->peer_mss, 8960);
	ip_double_drain(&h.ip);
	/* Those that took a place get a second SYN,ACK only, while so many wait. */
	host_advance(&h, 3100 * MS);
	assert_in_range(ip_double_pending(&h.ip), 0, 128 * 2);
	assert_in_range(tcp_stack_stats(h.tcp)->half_open, 0, 64);
	host_advance(&h, 30000 * MS);
	assert_int_equal(tcp_stack_stats(h.tcp)->half_open, 0);
	host_end(&h);
}

/** A flood of ACKs gets one reset each, and no connection. */
static void test_flood_of_acks(void **state)
{
	const struct tcp_segment syn = {.seq = 1000, .flags = TCP_SYN, .wnd = 5000};
	struct peer p = {.h = &h, .lport = PORT, .wnd = 5000};
	struct heard a;

	host_init(&h, LOCAL, &always);
	host_listen(&h, 128);
	host_hear(&h, PORT, &syn, NULL);
	host_expect(&h, &a);
	for (uint32_t i = 1; i <= 100000; i++) {
		peer_send_at(&p, TCP_ACK, 1001, a.h.seq + 2 + i * 7919, NULL, 0);
		ip_double_drain(&h.ip);
	}
	assert_int_equal(h.app.accepted, 0);
	assert_int_equal(tcp_stack_stats(h.tcp)->segments_out, 100001);
	host_end(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opens_none_of_another_time),
		cmocka_unit_test(test_opens_what_it_made),
		cmocka_unit_test(test_opens_nothing_else),
		cmocka_unit_test(test_ages),
		cmocka_unit_test(test_secret_changes),
		cmocka_unit_test(test_stamp),
		cmocka_unit_test(test_stamp_must_be_ours),
		cmocka_unit_test(test_options_survive),
		cmocka_unit_test(test_without_timestamps_the_rest_is_refused),
		cmocka_unit_test(test_ecn_survives),
		cmocka_unit_test(test_text_completes_the_handshake),
		cmocka_unit_test(test_wrong_ack_is_reset),
		cmocka_unit_test(test_cookie_with_a_foreign_stamp),
		cmocka_unit_test(test_cookie_with_a_stamp_that_was_not_agreed_upon),
		cmocka_unit_test(test_replayed_cookie_is_one_connection),
		cmocka_unit_test(test_accept_again),
		cmocka_unit_test(test_no_cookie_below_the_old_sequence),
		cmocka_unit_test(test_flood_shuts_nobody_out),
		cmocka_unit_test(test_flood_of_acks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
