/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * RDMA under ESP between two whole hosts: over paths that lose, reorder, duplicate and damage,
 * where all arrives and what was dropped is counted by its reason; keys that change in the middle;
 * and somebody who sends in the clear.
 */
#include "base/bytes.h"
#include "sim/headers.h"
#include "sim/rdma_writes.h"
#include "sim/tap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE (2u << 20)
#define GBIT UINT64_C(1000000000)

/* An SA, with its SPI and what else it has; a policy. */
#define SA                                                                                     \
	"ip xfrm state add src %s dst %s proto esp spi 0x%x reqid 1 aead 'rfc4106(gcm(aes))' " \
	"0x%08x1112131415161718191a1b1c1d1e1f20 128 %s\n"
#define SA_APART                                                                     \
	"ip xfrm state add src %s dst %s proto esp spi 0x%x reqid 1 enc 'cbc(aes)' " \
	"0x%08x1112131415161718191a1b1c auth-trunc 'hmac(sha1)' "                    \
	"0x2112131415161718191a1b1c1d1e1f2021222324 96 %s\n"
#define POLICY "ip xfrm policy add src %s dst %s dir %s tmpl %s\n"

static char path[64];
static struct rdma_pair pair;
static struct sim *s;

struct esp_case {
	const char *name;
	bool v6;
	const char *sa, *tmpl; /* NULL: transport mode */
	struct sim_path_config path;
	bool apart; /* encryption and integrity are two algorithms */
	/* Which counters of b must have moved; others must not. */
	bool replays, forged, late;
};

static const char *addr_of(bool v6, unsigned i)
{
	static const char *const text[2][2] = {{"10.0.0.1", "10.0.0.2"}, {"fd00::1", "fd00::2"}};

	return text[v6][i];
}

/** Both hosts have one file: each knows which SAs are its own. @param from, to generations. */
static void write_file(const struct esp_case *c, unsigned from, unsigned to)
{
	const char *a = addr_of(c->v6, 0), *b = addr_of(c->v6, 1);
	char ab[200], ba[200];
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (unsigned i = from; i <= to; i++) {
		fprintf(f, c->apart ? SA_APART : SA, a, b, 0x1000 + i, i, c->sa);
		fprintf(f, c->apart ? SA_APART : SA, b, a, 0x2000 + i, i + 77, c->sa);
	}
	snprintf(ab, sizeof ab, "proto esp mode transport");
	snprintf(ba, sizeof ba, "proto esp mode transport");
	if (c->tmpl) {
		snprintf(ab, sizeof ab, "src %s dst %s proto esp mode %s", a, b, c->tmpl);
		snprintf(ba, sizeof ba, "src %s dst %s proto esp mode %s", b, a, c->tmpl);
	}
	fprintf(f, POLICY POLICY POLICY POLICY, a, b, "out", ab, a, b, "in", ab, b, a, "out", ba, b,
		a, "in", ba);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

static int set_up(void **state)
{
	int fd;

	strcpy(path, "/tmp/esp-test-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	return unlink(path);
}

/** @param a_is_clear host a has no IPsec. */
static void begin(const struct esp_case *c, bool a_is_clear, uint64_t seed)
{
	char address[2][32];
	struct sim_host_config h = {.ipsec = a_is_clear ? NULL : path, .address = address[0]};
	struct sim_host *a, *b;

	for (unsigned i = 0; i < 2; i++)
		snprintf(
			address[i], sizeof address[i], "%s/%u", addr_of(c->v6, i), c->v6 ? 64 : 24);
	s = sim_create(&(struct sim_config){.seed = seed});
	a = sim_host_create(s, &h);
	h.address = address[1];
	h.ipsec = path;
	b = sim_host_create(s, &h);
	rdma_pair_create_on(&pair, a, b, 7174, SIZE);
	sim_join(a, b, &c->path, NULL, &pair.link);
}

static void end(void)
{
	rdma_pair_destroy(&pair);
	sim_run(s, 150 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static const struct esp_stats *stats(const struct rdma_side *side)
{
	return esp_boundary_stats(sim_host_esp(side->host));
}

/* ---- bad paths --------------------------------------------------------------------------- */

/* What a path may do, all of it. */
#define EVERYTHING                                                                                \
	{                                                                                         \
		.queue = {.rate = GBIT / 5}, .delay = 5 * SIM_MS, .loss = {.chance.good = 0.005}, \
		.reorder = {0.01, 3 * SIM_MS}, .duplicate = 0.01, .corrupt = 0.005                \
	}

static const struct esp_case cases[] = {
	{.name = "clean", .sa = "", .path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "loss, tunnel v6 in UDP",
		.v6 = true,
		.sa = "mode tunnel replay-window 128 encap espinudp 4500 4500 0.0.0.0",
		.tmpl = "tunnel",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{.name = "reorder, ESN, a wide window",
		.sa = "replay-window 4096 flag esn",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .reorder = {0.02, SIM_MS / 2}}},
	{.name = "reorder, a narrow window",
		.sa = "replay-window 32",
		.late = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .reorder = {0.02, 5 * SIM_MS}}},
	{.name = "duplicate",
		.v6 = true,
		.sa = "replay-window 1024",
		.replays = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .duplicate = 0.02}},
	{.name = "corrupt",
		.sa = "mode tunnel replay-window 1024 flag esn",
		.tmpl = "tunnel",
		.forged = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .corrupt = 0.01}},
	{.name = "everything, AES-CBC with HMAC-SHA1",
		.sa = "mode tunnel replay-window 4096 flag esn",
		.tmpl = "tunnel",
		.apart = true,
		.replays = true,
		.forged = true,
		.path = EVERYTHING},
	{.name = "everything",
		.sa = "replay-window 4096",
		.replays = true,
		.forged = true,
		.path = EVERYTHING},
};

/** Write there, and read it back. */
static void exchange(void)
{
	assert_true(rdma_write_and_read_back(&pair, SIZE / 2, 120 * SIM_S));
}

/** TCP, where nothing but ESP, or UDP with it, is expected. */
static void look_for_tcp(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct sim_headers h;

	if (sim_headers_find(m, &h) && h.is_tcp)
		++*(unsigned *)ctx;
}

static void all_arrives(void **state)
{
	const struct esp_case *c = *state;
	const struct esp_stats *of[2];
	unsigned clear = 0;

	write_file(c, 0, 0);
	begin(c, false, 42);
	sim_link_prepend(&pair.link, sim_tap_create(s, look_for_tcp, &clear),
		sim_tap_create(s, look_for_tcp, &clear));
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	exchange();
	of[0] = stats(&pair.a);
	of[1] = stats(&pair.b);
	assert_int_equal(clear, 0);
	assert_true(of[1]->rx_packets > SIZE / 2 / 1500);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(of[i]->rx_clear + of[i]->rx_mismatch + of[i]->rx_bad_padding, 0);
		assert_int_equal(of[i]->rx_failed + of[i]->tx_failed + of[i]->tx_no_sa, 0);
	}
	assert_int_equal(of[0]->rx_replay + of[1]->rx_replay > 0, c->replays);
	assert_int_equal(of[0]->rx_late + of[1]->rx_late > 0, c->late);
	assert_int_equal(of[0]->rx_bad_icv + of[1]->rx_bad_icv > 0, c->forged);
	rnic_ep_disconnect(pair.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_true(pair.a.disconnected && pair.b.disconnected);
	end();
}

/** The path MTU goes down below what ESP makes of the MSS: TCP finds it, and nothing is lost. */
static void a_smaller_mtu_is_found(void **state)
{
	struct esp_case c = {.sa = "", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS}};

	write_file(&c, 0, 0);
	begin(&c, false, 3);
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	exchange();
	sim_mtu_config(pair.link.ab.mtu)->mtu = sim_mtu_config(pair.link.ba.mtu)->mtu = 1300;
	exchange();
	exchange();
	end();
}

/* ---- keys -------------------------------------------------------------------------------- */

/** What a tool does while the hosts talk. */
struct rekey {
	const struct esp_case *c;
	struct rdma_side *first, *then;
	unsigned from, to;
};

static void look(void *ctx)
{
	esp_boundary_look(ctx, sim_now(s));
}

static void rekey(void *ctx)
{
	struct rekey *r = ctx;

	write_file(r->c, r->from, r->to);
	sim_host_call(r->first->host, look, sim_host_esp(r->first->host));
	sim_host_call(r->then->host, look, sim_host_esp(r->then->host));
}

static void keys_change_in_the_middle(void **state)
{
	const struct esp_case c = {
		.sa = "replay-window 4096", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS}};
	struct rekey steps[10];
	unsigned done[8] = {0};
	uint64_t old;

	write_file(&c, 0, 0);
	begin(&c, false, 7);
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	/* Each generation comes in beside the last one, which then goes. */
	for (unsigned i = 0; i < 10; i++) {
		steps[i] = (struct rekey){&c, i & 4 ? &pair.a : &pair.b, i & 4 ? &pair.b : &pair.a,
			(i + 1) / 2, i / 2 + 1};
		sim_at(s, sim_now(s) + (i + 1) * 150 * SIM_MS, rekey, &steps[i]);
	}
	assert_true(rdma_writes_run(&pair, 2, SIM_S, done));
	assert_int_equal(stats(&pair.a)->reloads, 10);
	assert_int_equal(stats(&pair.b)->reloads, 10);
	assert_int_equal(stats(&pair.a)->reloads_failed + stats(&pair.b)->reloads_failed, 0);
	assert_int_equal(stats(&pair.a)->sas_in, 1);
	/* A file that is wrong changes nothing. */
	old = stats(&pair.b)->rx_packets;
	{
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs("ip xfrm state add nothing\n", f);
		assert_int_equal(fclose(f), 0);
	}
	sim_host_call(pair.b.host, look, sim_host_esp(pair.b.host));
	assert_int_equal(stats(&pair.b)->reloads_failed, 1);
	exchange();
	assert_true(stats(&pair.b)->rx_packets > old);
	end();
}

/** RFC 5042 section 5.4.5: that there are no SAs does not end the stream. */
static void a_stream_outlives_its_sas(void **state)
{
	const struct esp_case c = {
		.sa = "replay-window 64", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS}};
	struct rekey gone = {&c, &pair.a, &pair.b, 1, 0}, back = {&c, &pair.b, &pair.a, 1, 1};
	unsigned done[8] = {0};

	write_file(&c, 0, 0);
	begin(&c, false, 9);
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	sim_at(s, sim_now(s) + 100 * SIM_MS, rekey, &gone);
	sim_at(s, sim_now(s) + 10 * SIM_S, rekey, &back);
	assert_true(rdma_writes_run(&pair, 2, 60 * SIM_S, done));
	assert_true(stats(&pair.a)->tx_no_sa + stats(&pair.b)->tx_no_sa > 0);
	assert_int_equal(stats(&pair.a)->sas_in, 1);
	exchange();
	end();
}

/* ---- in the clear ------------------------------------------------------------------------ */

static void who_is_in_the_clear_gets_nowhere(void **state)
{
	const struct esp_case c = {.sa = "", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS}};

	write_file(&c, 0, 0);
	begin(&c, true, 5);
	assert_false(rdma_pair_connect(&pair, 5 * SIM_S));
	assert_true(stats(&pair.b)->rx_clear > 0);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.b.host))->segments_in, 0);
	end();
}

int main(void)
{
	struct CMUnitTest tests[sizeof cases / sizeof cases[0] + 4];
	size_t n = 0;

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		tests[n++] = (struct CMUnitTest){.name = cases[i].name,
			.test_func = all_arrives,
			.initial_state = (void *)(uintptr_t)&cases[i]};
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_smaller_mtu_is_found);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(keys_change_in_the_middle);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(a_stream_outlives_its_sas);
	tests[n++] = (struct CMUnitTest)cmocka_unit_test(who_is_in_the_clear_gets_nowhere);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
