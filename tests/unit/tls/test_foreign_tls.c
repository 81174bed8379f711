/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A user of ours and a foreign end send each other text, in segments of any size, while memory to
 * keep content in comes and goes. The end is one of those of foreign_tls_end.c. Then the user takes
 * all, and each must have seen what it should have, and nothing is left.
 *
 * usage: test_tls_foreign_tls [FROM:TO | SEED]
 */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "foreign_tls.h"
#include "foreign_user.h"
#include "support/thorough.h"
#include "support/tls_end.h"
#include "support/tls_files.h"
#include "tls/conn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT       4791
#define STEPS      10000000
#define OCTETS_MAX 300000
#define TURNS      4000
/** That the peer sends, about. */
#define RECORDS 500
/** By then memory has been looked for, several times. */
#define SOON UINT64_C(100000000)

static uint64_t first_seed = 1, last_seed = 1000, seed_step = THOROUGH_STEP(7);

static struct tls_files files;
static struct tls_config our_config, their_config;
static struct llp_mem *mem;
static struct timer_wheel wheel;
static struct tls_stack *stack;
static struct tls_end ends[2]; /**< OpenSSL for the handshake: a client, a server */
static uint8_t text[OCTETS_MAX + FOREIGN_RECORD], our_text[OCTETS_MAX];
static uint8_t secrets[2][48]; /**< of the handshake, a client's and a server's */
static int64_t began_at;

/** One connection. */
static struct run {
	struct prng random;
	struct foreign_tls peer;
	struct foreign_user user;
	struct llp_listener *listener;
	bool small_buffer; /**< an alert may have had no room */
	const char *wrong;
} run;

/* ---- what all have in common ---------------------------------------------------------------- */

static int64_t the_time(void)
{
	return began_at;
}

static void fill(void *ctx, void *to, size_t len)
{
	memset(to, 0x5a, len);
}

static void on_keylog(const SSL *ssl, const char *line)
{
	unsigned which = strncmp(line, "SERVER_TRAFFIC_SECRET_0 ", 24) == 0;
	const char *hex = strrchr(line, ' ');
	size_t len;

	if (which || strncmp(line, "CLIENT_TRAFFIC_SECRET_0 ", 24) == 0)
		assert_int_equal(OPENSSL_hexstr2buf_ex(secrets[which], sizeof secrets[which], &len,
					 hex + 1, '\0'),
			1);
}

static int set_up(void **state)
{
	struct tls_stack_config cfg = {
		.wheel = &wheel, .tls = &our_config, .random = {fill, NULL}, .time = the_time};
	struct tls_error e;

	began_at = tls_files_time();
	tls_files_open_two(&files, &their_config, &our_config);
	mem = llp_mem_create();
	timer_wheel_init(&wheel, 0);
	cfg.below = llp_mem_stack(mem, 1);
	assert_int_equal(tls_stack_create(&cfg, &stack, &e), 0);
	for (unsigned i = 0; i < 2; i++) {
		tls_end_init(&ends[i], &their_config, i);
		SSL_CTX_set_keylog_callback(ends[i].ctx, on_keylog);
		SSL_CTX_set_session_id_context(ends[i].ctx, (const uint8_t *)"test", 4);
	}
	return 0;
}

static int tear_down(void **state)
{
	tls_stack_destroy(stack);
	tls_end_fini(&ends[0]);
	tls_end_fini(&ends[1]);
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/* ---- the handshake -------------------------------------------------------------------------- */

static int on_accept(void *user, struct llp *l)
{
	run.user.llp = l;
	llp_set_user(l, &foreign_user_ops, &run.user);
	return 0;
}

static void begin_connection(struct tls_end *e)
{
	struct ip_endpoint ours = llp_mem_endpoint(mem, 1, PORT);
	struct llp_connect_params p = {.remote = llp_mem_endpoint(mem, 0, PORT)};

	if (run.peer.server) {
		llp_mem_peer_listen(&e->raw, mem, 0, PORT);
		assert_int_equal(llp_connect(tls_llp_stack(stack), &p, &foreign_user_ops, &run.user,
					 &run.user.llp),
			0);
	} else {
		assert_int_equal(
			llp_listen(tls_llp_stack(stack), &ours, 1, on_accept, NULL, &run.listener),
			0);
		llp_mem_peer_connect(&e->raw, mem, 0, &ours);
	}
	llp_mem_run(mem, STEPS);
}

/** Send what OpenSSL has to say. @return how many records that is. */
static unsigned say(struct tls_end *e)
{
	static uint8_t bytes[65536];
	size_t len = tls_end_take(e, bytes, sizeof bytes);
	unsigned n = 0;

	for (size_t at = 0; at < len; n++)
		at += FOREIGN_HEADER + (size_t)(bytes[at + 3] << 8 | bytes[at + 4]);
	if (len != 0)
		llp_mem_send_raw(e->raw.llp, bytes, len);
	return n;
}

/** @return how many tickets the peer has sent, which is a server then. */
static unsigned shake_hands(struct tls_end *e)
{
	unsigned n = 0;

	while (!e->done) {
		bool came = tls_end_work(e);

		n = say(e);
		if (llp_mem_run(mem, STEPS) == 0 && !came && !e->done)
			fail_msg("the handshake stands still: %s", tls_stack_reason(stack));
	}
	return run.peer.server ? n : 0;
}

/** What they agree on. */
static void draw_terms(struct tls_end *e)
{
	static const char *const suites[] = {
		"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"};
	struct prng *r = &run.random;
	uint8_t fragment = (uint8_t)(prng_chance(r, 0.3) ? 1 + prng_below(r, 4) : 0);

	tls_end_renew(e, run.peer.server);
	e->done = false;
	e->alert = -1;
	SSL_set_ciphersuites(e->ssl, suites[prng_below(r, 3)]);
	SSL_set_num_tickets(e->ssl, prng_below(r, 4));
	run.peer.content_max = FOREIGN_CONTENT;
	if (run.peer.server || !fragment)
		return;
	SSL_set_tlsext_max_fragment_length(e->ssl, fragment);
	run.peer.content_max = (size_t)256 << fragment;
}

static void run_start(uint64_t seed)
{
	struct prng *r = &run.random;
	struct tls_end *e;
	unsigned tickets;

	run = (struct run){.random.state = seed};
	run.peer.random = run.user.random = r;
	run.peer.server = prng_chance(r, 0.5);
	run.peer.text = text;
	run.peer.our_text = our_text;
	run.user.peer = &run.peer;
	e = &ends[run.peer.server];
	run.peer.raw = &e->raw;
	draw_terms(e);
	llp_mem_set_segment(mem, 0);
	llp_mem_set_buffer(mem, 1 << 20);
	llp_mem_set_unread(mem, 0);
	stack->records_max = prng_chance(r, 0.3) ? 5 + prng_below(r, 100) : 0;
	stack->kept.most = 0;
	begin_connection(e);
	tickets = shake_hands(e);
	foreign_tls_begin(&run.peer,
		(uint16_t)SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(e->ssl)),
		secrets[run.peer.server], secrets[!run.peer.server]);
	run.peer.tx.seq = tickets;
	foreign_user_begin(&run.user);
}

/* ---- text ----------------------------------------------------------------------------------- */

/** How much there is, and the path that it takes. */
static void draw_path(void)
{
	static const size_t segments[] = {3, 50, 1448, 20000};
	struct prng *r = &run.random;
	size_t segment = segments[prng_below(r, 4)];
	size_t octets = segment < 50 ? 2000 : segment < 1000 ? 30000 : OCTETS_MAX;

	run.peer.octets = prng_below(r, octets);
	if (run.peer.octets > RECORDS * run.peer.record_max)
		run.peer.octets = RECORDS * run.peer.record_max;
	run.user.octets = run.peer.our_octets = prng_below(r, octets);
	run.small_buffer = prng_chance(r, 0.3);
	llp_mem_set_random_segment(mem, segment, (uint32_t)prng_u64(r));
	llp_mem_set_buffer(mem, run.small_buffer ? 20000 : 1 << 20);
	llp_mem_set_unread(mem, prng_chance(r, 0.3) ? 150000 : 0);
}

static void draw_memory(void)
{
	static const size_t most[] = {0, 1, 20000, 200000};

	stack->kept.most = most[prng_below(&run.random, 4)];
}

static void pass_time(void)
{
	timer_wheel_run(&wheel, wheel.now + SOON / 5);
}

static void turn(bool rationed)
{
	struct prng *r = &run.random;

	switch (prng_below(r, 8)) {
	case 0:
		foreign_tls_step(&run.peer);
		break;
	case 1:
		foreign_user_step(&run.user);
		break;
	case 2:
		if (rationed && prng_chance(r, 0.3))
			draw_memory();
		pass_time();
		break;
	default:
		for (uint64_t n = prng_below(r, 60); n != 0 && llp_mem_step(mem); n--)
			;
		foreign_tls_input(&run.peer);
	}
}

/** Until nothing happens any more. */
static void settle(void)
{
	unsigned more;

	do {
		size_t done = run.user.sent + run.user.got;

		more = llp_mem_run(mem, STEPS);
		more += foreign_tls_input(&run.peer);
		foreign_user_go_on(&run.user);
		for (uint64_t end = wheel.now + SOON; wheel.now < end;)
			pass_time();
		more += run.user.sent + run.user.got != done;
	} while (more != 0);
}

static const char *first_wrong(void)
{
	return run.peer.wrong ? run.peer.wrong : run.user.wrong;
}

static void run_connection(void)
{
	bool rationed = prng_chance(&run.random, 0.4);

	draw_path();
	for (unsigned n = 0; n < TURNS && !first_wrong(); n++)
		turn(rationed);
	stack->kept.most = 0;
	for (unsigned n = 0; n < TURNS && !first_wrong() && !run.peer.ended; n++)
		foreign_tls_step(&run.peer);
	if (!first_wrong())
		settle();
}

/* ---- what must have come of it -------------------------------------------------------------- */

static void wrong(const char *what)
{
	if (!run.wrong)
		run.wrong = what;
}

static bool is_good(void)
{
	return run.peer.end->error == 0;
}

/** The user had the connection until its peer ended. */
static void judge_user(void)
{
	const struct foreign_user *u = &run.user;

	if (!u->ever_left && !run.peer.end->at_once && u->got != run.peer.sent)
		wrong("the user has not been shown all");
	if (is_good() && (!u->eof || u->got != run.peer.sent))
		wrong("the user has not got all");
	if (is_good() && u->closed && !u->shut)
		wrong("the user is told of an end that is none");
	if (!is_good() && (!u->closed || u->eof))
		wrong("the user is not told of a fault");
	if (u->closed && u->error != run.peer.end->error)
		wrong("the user is told of another fault");
}

static void judge_peer(void)
{
	const struct foreign_tls *p = &run.peer;
	int alert = p->end->alert;

	if (p->alert != alert && !(p->alert == FOREIGN_NONE && (run.user.shut || run.small_buffer)))
		wrong("the peer gets another alert than it should");
	if (is_good() && p->got != run.user.sent)
		wrong("the peer has not got all");
	if (is_good() && run.user.sent != run.user.octets)
		wrong("the user has not sent all");
	if (is_good() && p->waits_for_update && !run.user.shut)
		wrong("a KeyUpdate is not answered");
}

/** Both close, and both hear of it. */
static void close_both(void)
{
	foreign_user_shut(&run.user);
	settle();
	foreign_tls_close(&run.peer);
	settle();
	if (!run.user.closed || run.user.error != 0)
		wrong("the connection does not end in good order");
}

static void judge(void)
{
	if (run.user.aborted)
		return;
	if (run.user.released) {
		if (!run.peer.end->at_once &&
			(!run.peer.notified || run.peer.got != run.user.sent || !run.peer.raw->eof))
			wrong("the peer has not got all, and the end");
		return;
	}
	judge_user();
	judge_peer();
	if (!run.wrong && is_good())
		close_both();
	if (!run.wrong && is_good() && !run.peer.notified)
		wrong("the peer gets no close_notify");
}

/** Nothing is left of the connection. */
static void run_end(void)
{
	foreign_tls_close(&run.peer);
	if (run.listener)
		llp_unlisten(tls_llp_stack(stack), run.listener);
	llp_mem_run(mem, STEPS);
	llp_mem_peer_done(run.peer.raw);
	llp_mem_run(mem, STEPS);
	foreign_tls_done(&run.peer);
	if (run.user.llp)
		wrong("the user still has its connection");
	if (!LIST_EMPTY(&stack->conns))
		wrong("a connection is left");
	if (stack->kept.held != 0 || stack->nested.count + stack->starved.count != 0)
		wrong("memory is left");
	for (uint64_t end = wheel.now + SOON; wheel.now < end;)
		pass_time();
	if (timer_wheel_next(&wheel) != TIMER_NEVER)
		wrong("a timer is left");
}

static void explain(uint64_t seed)
{
	const struct foreign_tls *p = &run.peer;
	const struct foreign_user *u = &run.user;

	print_error("seed %" PRIu64 ": %s\n", seed, run.wrong);
	print_error("  peer, a %s, %s: has sent %zu of %zu, got %zu, %u KeyUpdates out, %u in, "
		    "alert %d%s\n",
		p->server ? "server" : "client", p->end->name, p->sent, p->octets, p->got,
		p->renewed, p->updates, p->alert, p->notified ? ", close_notify" : "");
	print_error("  user: has sent %zu of %zu, got %zu, needs %zu%s%s%s%s%s, error %d: %s\n",
		u->sent, u->octets, u->got, u->message, u->ever_left ? ", left some" : "",
		u->shut ? ", shut" : "", u->released ? ", released" : "", u->eof ? ", eof" : "",
		u->closed ? ", closed" : "", u->error, tls_stack_reason(stack));
	fail();
}

static void all_comes_to_its_end(void **state)
{
	for (uint64_t seed = first_seed; seed <= last_seed; seed += seed_step) {
		run_start(seed);
		run_connection();
		wrong(first_wrong());
		if (!run.wrong)
			judge();
		wrong(first_wrong());
		if (!run.wrong)
			run_end();
		if (run.wrong)
			explain(seed);
	}
}

static bool take_seeds(const char *from)
{
	char *end;

	first_seed = last_seed = strtoull(from, &end, 10);
	if (*end == ':')
		last_seed = strtoull(end + 1, &end, 10);
	seed_step = 1;
	return !*end && first_seed <= last_seed;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_comes_to_its_end, set_up, tear_down),
	};
	struct prng r = {0};

	if (argc > 2 || (argc == 2 && !take_seeds(argv[1]))) {
		fprintf(stderr, "usage: %s [FROM:TO | SEED]\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)prng_u64(&r);
	for (size_t i = 0; i < sizeof our_text; i++)
		our_text[i] = (uint8_t)prng_u64(&r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
