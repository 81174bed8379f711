/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users of one stack of ours and foreign ends send each other text, in segments of any size, while
 * memory to keep content in comes and goes. The ends are those of foreign_tls_end.c. Then the users
 * take all, and each must have seen what it should have, and nothing is left.
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
#include "support/seeds.h"
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
#define CONNS      3
/** That the peer sends, about. */
#define RECORDS 500
/** By then memory has been looked for, several times. */
#define SOON UINT64_C(100000000)

static struct seeds seeds = {.first = 1, .last = 1000, .step = THOROUGH_STEP(7)};

static struct tls_files files;
static struct tls_config our_config, their_config;
static struct llp_mem *mem;
static struct timer_wheel wheel;
static struct tls_stack *stack;
static uint8_t text[OCTETS_MAX + FOREIGN_RECORD], our_text[OCTETS_MAX];
static uint8_t secrets[2][48]; /**< of the handshake, a client's and a server's */
static int64_t began_at;

/** One connection. */
struct conn {
	struct foreign_tls peer;
	struct foreign_user user;
	struct llp_listener *listener;
	struct tls_end *openssl;
};

/** Some at once. */
static struct run {
	struct prng random;
	unsigned n;
	bool small_buffer; /**< an alert may have had no room */
	const char *wrong;
	const struct conn *whose;
	struct conn conn[CONNS];
} run;

/** OpenSSL for the handshakes, as a client and as a server. */
static struct tls_end ends[CONNS][2];

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
	for (unsigned i = 0; i < 2 * CONNS; i++) {
		struct tls_end *end = &ends[i / 2][i % 2];

		tls_end_init(end, &their_config, i % 2);
		SSL_CTX_set_keylog_callback(end->ctx, on_keylog);
		SSL_CTX_set_session_id_context(end->ctx, (const uint8_t *)"test", 4);
	}
	return 0;
}

static int tear_down(void **state)
{
	tls_stack_destroy(stack);
	for (unsigned i = 0; i < 2 * CONNS; i++)
		tls_end_fini(&ends[i / 2][i % 2]);
	llp_mem_destroy(mem);
	tls_files_close(&files);
	return 0;
}

/* ---- the handshake -------------------------------------------------------------------------- */

static int on_accept(void *user, struct llp *l)
{
	struct foreign_user *u = user;

	u->llp = l;
	llp_set_user(l, &foreign_user_ops, u);
	return 0;
}

static void begin_connection(struct conn *c, uint16_t port)
{
	struct ip_endpoint ours = llp_mem_endpoint(mem, 1, port);
	struct llp_connect_params p = {.remote = llp_mem_endpoint(mem, 0, port)};
	struct foreign_user *u = &c->user;

	if (c->peer.server) {
		llp_mem_peer_listen(c->peer.raw, mem, 0, port);
		assert_int_equal(
			llp_connect(tls_llp_stack(stack), &p, &foreign_user_ops, u, &u->llp), 0);
	} else {
		assert_int_equal(
			llp_listen(tls_llp_stack(stack), &ours, 1, on_accept, u, &c->listener), 0);
		/* Two of three are strangers to each other. */
		llp_mem_peer_connect(c->peer.raw, mem, port % 2 ? 0 : 2, &ours);
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
static unsigned shake_hands(struct tls_end *e, bool server)
{
	unsigned n = 0;

	while (!e->done) {
		bool came = tls_end_work(e);

		n = say(e);
		if (llp_mem_run(mem, STEPS) == 0 && !came && !e->done)
			fail_msg("the handshake stands still: %s", tls_stack_reason(stack));
	}
	return server ? n : 0;
}

/** What they agree on. */
static void draw_terms(struct conn *c)
{
	static const char *const suites[] = {
		"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"};
	struct prng *r = &run.random;
	uint8_t fragment = (uint8_t)(prng_chance(r, 0.3) ? 1 + prng_below(r, 4) : 0);
	SSL *ssl;

	tls_end_renew(c->openssl, c->peer.server);
	c->openssl->done = false;
	ssl = c->openssl->ssl;
	SSL_set_ciphersuites(ssl, suites[prng_below(r, 3)]);
	SSL_set_num_tickets(ssl, prng_below(r, 4));
	c->peer.content_max = FOREIGN_CONTENT;
	if (c->peer.server || !fragment)
		return;
	SSL_set_tlsext_max_fragment_length(ssl, fragment);
	c->peer.content_max = (size_t)256 << fragment;
}

/** Inside of an upcall of @p u another user does something. */
static void do_another(struct foreign_user *u)
{
	struct foreign_user *other = &run.conn[prng_below(&run.random, run.n)].user;

	if (other != u)
		foreign_user_step(other);
}

static void start_one(struct conn *c, struct tls_end both[2], uint16_t port)
{
	struct foreign_tls *p = &c->peer;
	const SSL *ssl;
	unsigned tickets;

	p->random = c->user.random = &run.random;
	p->server = prng_chance(&run.random, 0.5);
	p->text = text;
	p->our_text = our_text;
	c->user.peer = p;
	c->user.inside = do_another;
	c->openssl = &both[p->server];
	p->raw = &c->openssl->raw;
	draw_terms(c);
	begin_connection(c, port);
	tickets = shake_hands(c->openssl, p->server);
	ssl = c->openssl->ssl;
	foreign_tls_begin(p, (uint16_t)SSL_CIPHER_get_protocol_id(SSL_get_current_cipher(ssl)),
		secrets[p->server], secrets[!p->server]);
	p->tx.seq = tickets;
	foreign_user_begin(&c->user);
}

static void run_start(uint64_t seed)
{
	struct prng *r = &run.random;

	run = (struct run){.random.state = seed};
	run.n = prng_chance(r, 0.5) ? 1 : CONNS;
	llp_mem_set_segment(mem, 0);
	llp_mem_set_buffer(mem, 1 << 20);
	llp_mem_set_unread(mem, 0);
	stack->records_max = prng_chance(r, 0.3) ? 5 + prng_below(r, 100) : 0;
	stack->kept.most = 0;
	for (unsigned i = 0; i < run.n; i++)
		start_one(&run.conn[i], ends[i], (uint16_t)(PORT + i));
}

/* ---- text ----------------------------------------------------------------------------------- */

/** How much there is, and the path that it takes. */
static void draw_path(void)
{
	static const size_t segments[] = {3, 50, 1448, 20000};
	struct prng *r = &run.random;
	size_t segment = segments[prng_below(r, 4)];
	size_t octets = segment < 50 ? 2000 : segment < 1000 ? 30000 : OCTETS_MAX;

	for (unsigned i = 0; i < run.n; i++) {
		struct foreign_tls *p = &run.conn[i].peer;

		p->octets = prng_below(r, octets);
		if (p->octets > RECORDS * p->record_max)
			p->octets = RECORDS * p->record_max;
		run.conn[i].user.octets = p->our_octets = prng_below(r, octets);
	}
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
	struct conn *c = &run.conn[prng_below(r, run.n)];

	switch (prng_below(r, 8)) {
	case 0:
		foreign_tls_step(&c->peer);
		break;
	case 1:
		foreign_user_step(&c->user);
		break;
	case 2:
		if (rationed && prng_chance(r, 0.3))
			draw_memory();
		pass_time();
		break;
	default:
		for (uint64_t n = prng_below(r, 60); n != 0 && llp_mem_step(mem); n--)
			;
		foreign_tls_input(&c->peer);
	}
}

static size_t all_done(void)
{
	size_t done = 0;

	for (unsigned i = 0; i < run.n; i++)
		done += run.conn[i].user.sent + run.conn[i].user.got;
	return done;
}

/** Until nothing happens any more. */
static void settle(void)
{
	unsigned more;

	do {
		size_t done = all_done();

		more = llp_mem_run(mem, STEPS);
		for (unsigned i = 0; i < run.n; i++) {
			more += foreign_tls_input(&run.conn[i].peer);
			foreign_user_go_on(&run.conn[i].user);
		}
		for (uint64_t end = wheel.now + SOON; wheel.now < end;)
			pass_time();
		more += all_done() != done;
	} while (more != 0);
}

/** @param c NULL: it is not known whose. */
static void wrong(const struct conn *c, const char *what)
{
	if (run.wrong || !what)
		return;
	run.wrong = what;
	run.whose = c;
}

static bool is_wrong(void)
{
	for (unsigned i = 0; i < run.n; i++) {
		wrong(&run.conn[i], run.conn[i].peer.wrong);
		wrong(&run.conn[i], run.conn[i].user.wrong);
	}
	return run.wrong != NULL;
}

static void run_connections(void)
{
	bool rationed = prng_chance(&run.random, 0.4);

	draw_path();
	for (unsigned n = 0; n < TURNS * run.n && !is_wrong(); n++)
		turn(rationed);
	stack->kept.most = 0;
	for (unsigned i = 0; i < run.n; i++)
		for (unsigned n = 0; n < TURNS && !run.conn[i].peer.ended; n++)
			foreign_tls_step(&run.conn[i].peer);
	if (!is_wrong())
		settle();
}

/* ---- what must have come of it -------------------------------------------------------------- */

static bool is_good(const struct conn *c)
{
	return c->peer.end->error == 0;
}

/** The user had the connection until its peer ended. */
static void judge_user(const struct conn *c)
{
	const struct foreign_user *u = &c->user;

	if (!u->ever_left && !c->peer.end->at_once && u->got != c->peer.sent)
		wrong(c, "the user has not been shown all");
	if (is_good(c) && (!u->eof || u->got != c->peer.sent))
		wrong(c, "the user has not got all");
	if (is_good(c) && u->closed && !u->shut)
		wrong(c, "the user is told of an end that is none");
	if (!is_good(c) && (!u->closed || u->eof))
		wrong(c, "the user is not told of a fault");
	if (u->closed && u->error != c->peer.end->error)
		wrong(c, "the user is told of another fault");
}

static void judge_peer(const struct conn *c)
{
	const struct foreign_tls *p = &c->peer;
	const struct foreign_user *u = &c->user;
	int alert = p->end->alert;

	if (p->alert != alert && !(p->alert == FOREIGN_NONE && (u->shut || run.small_buffer)))
		wrong(c, "the peer gets another alert than it should");
	if (is_good(c) && p->got != u->sent)
		wrong(c, "the peer has not got all");
	if (is_good(c) && u->sent != u->octets)
		wrong(c, "the user has not sent all");
	if (is_good(c) && p->waits_for_update && !u->shut)
		wrong(c, "a KeyUpdate is not answered");
}

/** Both close, and both hear of it. */
static void close_both(struct conn *c)
{
	foreign_user_shut(&c->user);
	settle();
	foreign_tls_close(&c->peer);
	settle();
	if (!c->user.closed || c->user.error != 0)
		wrong(c, "the connection does not end in good order");
}

static void judge(struct conn *c)
{
	const struct foreign_tls *p = &c->peer;

	if (c->user.aborted)
		return;
	if (c->user.released) {
		if (!p->end->at_once && (!p->notified || p->got != c->user.sent || !p->raw->eof))
			wrong(c, "the peer has not got all, and the end");
		return;
	}
	judge_user(c);
	judge_peer(c);
	if (!run.wrong && is_good(c))
		close_both(c);
	if (!run.wrong && is_good(c) && !p->notified)
		wrong(c, "the peer gets no close_notify");
}

static void end_one(struct conn *c)
{
	foreign_tls_close(&c->peer);
	if (c->listener)
		llp_unlisten(tls_llp_stack(stack), c->listener);
	llp_mem_run(mem, STEPS);
	llp_mem_peer_done(c->peer.raw);
	llp_mem_run(mem, STEPS);
	foreign_tls_done(&c->peer);
	if (c->user.llp)
		wrong(c, "the user still has its connection");
}

/** Nothing is left of them. */
static void run_end(void)
{
	for (unsigned i = 0; i < run.n; i++)
		end_one(&run.conn[i]);
	if (!LIST_EMPTY(&stack->conns))
		wrong(NULL, "a connection is left");
	if (stack->kept.held != 0 || stack->nested.count + stack->starved.count != 0)
		wrong(NULL, "memory is left");
	for (uint64_t end = wheel.now + SOON; wheel.now < end;)
		pass_time();
	if (timer_wheel_next(&wheel) != TIMER_NEVER)
		wrong(NULL, "a timer is left");
}

static void explain_one(const struct conn *c)
{
	const struct foreign_tls *p = &c->peer;
	const struct foreign_user *u = &c->user;

	print_error("  peer, a %s, %s: has sent %zu of %zu, got %zu, %u KeyUpdates out, %u in, "
		    "alert %d%s\n",
		p->server ? "server" : "client", p->end->name, p->sent, p->octets, p->got,
		p->renewed, p->updates, p->alert, p->notified ? ", close_notify" : "");
	print_error("  user: has sent %zu of %zu, got %zu, needs %zu%s%s%s%s%s, error %d\n",
		u->sent, u->octets, u->got, u->message, u->ever_left ? ", left some" : "",
		u->shut ? ", shut" : "", u->released ? ", released" : "", u->eof ? ", eof" : "",
		u->closed ? ", closed" : "", u->error);
}

static void explain(uint64_t seed)
{
	print_error("seed %" PRIu64 ", %u connections: %s; %s\n", seed, run.n, run.wrong,
		tls_stack_reason(stack));
	if (run.whose)
		explain_one(run.whose);
	fail();
}

static void all_comes_to_its_end(void **state)
{
	for (uint64_t seed = seeds.first; seed <= seeds.last; seed += seeds.step) {
		run_start(seed);
		run_connections();
		for (unsigned i = 0; i < run.n && !is_wrong(); i++)
			judge(&run.conn[i]);
		if (!is_wrong())
			run_end();
		if (run.wrong)
			explain(seed);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_comes_to_its_end, set_up, tear_down),
	};
	struct prng r = {0};

	if (!seeds_take(&seeds, argc, argv))
		return 2;
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)prng_u64(&r);
	for (size_t i = 0; i < sizeof our_text; i++)
		our_text[i] = (uint8_t)prng_u64(&r);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
