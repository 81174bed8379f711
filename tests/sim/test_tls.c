/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * RDMA under TLS between two whole hosts: over paths that lose, reorder, duplicate, damage and cut
 * anew, where all arrives; and past somebody in the middle who forges, where nothing false does.
 */
#include "base/bytes.h"
#include "sim/coalesce.h"
#include "sim/corrupt.h"
#include "sim/headers.h"
#include "sim/rdma_writes.h"
#include "sim/split.h"
#include "sim/tap.h"
#include "tcp/tcp_wire.h"
#include "tls/tls_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE (2u << 20)
#define GBIT UINT64_C(1000000000)

static struct tls_config config = {.mode = TLS_REQUIRED};
static struct rdma_pair pair;
static struct sim *s;

static int set_up(void **state)
{
	FILE *f;
	int fd;

	strcpy(config.psk, "/tmp/tls-test-XXXXXX");
	fd = mkstemp(config.psk);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f || fputs("sim:00112233445566778899aabbccddeeff\n", f) < 0)
		return -1;
	return fclose(f);
}

static int tear_down(void **state)
{
	return unlink(config.psk);
}

static void begin(const struct sim_path_config *path, bool v6, uint64_t seed)
{
	struct sim_host_config h = {.tls = &config, .address = v6 ? "fd00::1/64" : "10.0.0.1/24"};
	struct sim_host *a, *b;

	s = sim_create(&(struct sim_config){.seed = seed});
	a = sim_host_create(s, &h);
	h.address = v6 ? "fd00::2/64" : "10.0.0.2/24";
	b = sim_host_create(s, &h);
	rdma_pair_create_on(&pair, a, b, 7174, SIZE);
	sim_join(a, b, path, NULL, &pair.link);
}

static void end(void)
{
	rdma_pair_destroy(&pair);
	sim_run(s, 150 * SIM_S, NULL, NULL);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.a.host))->connections, 0);
	assert_int_equal(tcp_stack_stats(sim_host_tcp(pair.b.host))->connections, 0);
	sim_destroy(s);
}

/* ---- bad paths --------------------------------------------------------------------------- */

struct path {
	const char *name;
	bool v6, resegmented;
	struct sim_path_config path;
};

static const struct path paths[] = {
	{.name = "clean", .path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "loss v6",
		.v6 = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
	{.name = "bursts of loss",
		.path = {.queue = {.rate = GBIT},
			.delay = SIM_MS,
			.loss = {.chance = {.enter = 0.001, .leave = 0.1, .bad = 0.5}}}},
	{.name = "reorder",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .reorder = {0.02, SIM_MS / 2}}},
	{.name = "duplicate",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .duplicate = 0.02}},
	{.name = "corrupt", .path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .corrupt = 0.005}},
	{.name = "everything",
		.path = {.queue = {.rate = GBIT / 5},
			.delay = 5 * SIM_MS,
			.loss = {.chance.good = 0.005},
			.reorder = {0.01, 3 * SIM_MS},
			.duplicate = 0.005,
			.corrupt = 0.002}},
	{.name = "resegmented, loss",
		.resegmented = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.01}}},
};

/** Write there, read it back, and send a message each way. */
static void exchange(void)
{
	assert_true(rdma_write_and_read_back(&pair, SIZE / 2, 120 * SIM_S));
	rdma_post_recv(&pair.b, SIZE / 2, SIZE / 4);
	rdma_post_recv(&pair.a, SIZE / 2, SIZE / 4);
	rdma_post(&pair, &pair.a, RDMAP_WR_SEND, 0, 0, SIZE / 4);
	assert_true(rdma_complete(&pair, &pair.b, 1, 120 * SIM_S));
	assert_memory_equal(pair.a.buf, pair.b.buf + SIZE / 2, SIZE / 4);
	assert_true(rdma_complete(&pair, &pair.a, 1, 120 * SIM_S));
	rdma_post(&pair, &pair.b, RDMAP_WR_SEND, SIZE / 2, 0, 0);
	assert_true(rdma_complete(&pair, &pair.a, 1, 120 * SIM_S));
}

static void all_arrives(void **state)
{
	const struct path *path = *state;
	const struct tls_stats *stats;

	begin(&path->path, path->v6, 42);
	if (path->resegmented) {
		sim_link_prepend(&pair.link, sim_coalesce_create(s, 1400, 20 * SIM_US),
			sim_coalesce_create(s, 1400, 20 * SIM_US));
		sim_link_prepend(&pair.link, sim_split_create(s, 601), sim_split_create(s, 601));
	}
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	stats = tls_stack_stats(sim_host_tls(pair.b.host));
	exchange();
	rnic_ep_disconnect(pair.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_true(pair.a.disconnected && pair.b.disconnected);
	assert_int_equal(stats->handshakes, 1);
	assert_int_equal(stats->handshakes_failed + stats->records_bad + stats->truncated, 0);
	end();
}

/* ---- what is on the wire ----------------------------------------------------------------- */

/** TCP segments with text: how many, and how many of them are exactly one protected record. */
struct records {
	unsigned segments, whole;
};

static void look_at_records(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	struct records *r = ctx;
	struct sim_headers h;
	uint8_t copy[TLS_HEADER_LEN];
	const uint8_t *p;

	if (!sim_headers_find(m, &h) || !h.is_tcp || h.end - h.text < sizeof copy)
		return;
	p = rte_pktmbuf_read(m, h.text, sizeof copy, copy);
	r->segments++;
	r->whole += p[0] == TLS_APPLICATION_DATA &&
		    h.end - h.text - TLS_HEADER_LEN == load_be16(p + TLS_AT_LENGTH);
}

/** Once they are known, records follow the path's MTU as FPDUs do in the clear. */
static void a_record_is_a_segment(void **state)
{
	const struct sim_path_config good = {.queue = {.rate = GBIT}, .delay = 5 * SIM_MS};
	struct records r = {0};

	begin(&good, false, 3);
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	sim_link_prepend(&pair.link, sim_tap_create(s, look_at_records, &r), NULL);
	exchange();
	assert_true(r.segments > 1000);
	assert_true(r.whole * 100 > r.segments * 99);
	sim_mtu_config(pair.link.ab.mtu)->mtu = sim_mtu_config(pair.link.ba.mtu)->mtu = 1300;
	for (int i = 0; i < 20; i++) {
		exchange();
		sim_run(s, SIM_S, NULL, NULL);
	}
	r = (struct records){0};
	exchange();
	assert_true(r.whole * 100 > r.segments * 99);
	end();
}

/* ---- somebody in the middle -------------------------------------------------------------- */

/** Flips a bit of a segment's text, and makes its checksum fit. */
static void forge_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_some *x = sim_some_of(e);
	struct sim_headers h;

	if (sim_headers_find(m, &h) && h.is_tcp && h.end > h.text && sim_some_chance(x)) {
		uint64_t at;

		x->count++;
		m = sim_packet_own(e->sim, m);
		assert_non_null(m);
		assert_true(sim_headers_find(m, &h));
		at = h.text + prng_u64(&x->rng) % (h.end - h.text);
		h.frame[at] ^= (uint8_t)(1 << (prng_u64(&x->rng) & 7));
		sim_headers_checksum(&h);
	}
	sim_pass(e, m);
}

static const struct sim_element_ops forge_ops = {forge_input, sim_element_free};

/** No byte of @p buf that is neither zero, as it was, nor what was sent for its place. */
static void expect_nothing_false(const uint8_t *buf, const uint8_t *sent)
{
	for (size_t i = 0; i < SIZE; i++)
		if (buf[i] != 0 && buf[i] != sent[i])
			fail_msg("byte %zu was forged", i);
}

/** A bit of what passes is another one, and its checksum fits: the connection ends, and nothing is
 * placed. */
static void what_is_forged_ends_it(void **state)
{
	const struct sim_path_config good = {.queue = {.rate = GBIT}, .delay = SIM_MS};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sim_some *forger;

		begin(&good, false, seed);
		assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
		forger = sim_some_create(s, &forge_ops, 0.005);
		sim_link_prepend(&pair.link, &forger->element, NULL);
		rdma_fill(pair.a.buf, SIZE, (uint32_t)seed);
		rdma_post(&pair, &pair.a, RDMAP_WR_WRITE, 0, 0, SIZE);
		rdma_post(&pair, &pair.a, RDMAP_WR_READ, 0, 0, 1);
		assert_false(rdma_complete(&pair, &pair.a, 2, 600 * SIM_S));
		assert_true(forger->count != 0);
		sim_run(s, 60 * SIM_S, NULL, NULL);
		assert_true(pair.a.disconnected && pair.b.disconnected);
		assert_int_equal(tls_stack_stats(sim_host_tls(pair.b.host))->records_bad, 1);
		expect_nothing_false(pair.b.buf, pair.a.buf);
		forger->p = 0;
		end();
	}
}

/** The same within the handshake: there is no connection, and nobody waits for ever. */
static void a_forged_handshake_is_no_connection(void **state)
{
	const struct sim_path_config good = {.queue = {.rate = GBIT}, .delay = SIM_MS};

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sim_some *forger;

		begin(&good, false, seed);
		forger = sim_some_create(s, &forge_ops, 1);
		sim_link_prepend(&pair.link, seed % 2 ? &forger->element : NULL,
			seed % 2 ? NULL : &forger->element);
		assert_false(rdma_pair_connect(&pair, 300 * SIM_S));
		assert_true(forger->count != 0);
		assert_true(pair.a.failed);
		assert_false(pair.a.established || pair.b.established);
		end();
	}
}

/** Ends the stream behind the text that it happens to, and nothing follows. */
static void cut_input(struct sim_element *e, struct rte_mbuf *m)
{
	struct sim_some *x = sim_some_of(e);
	struct sim_headers h;

	if (!sim_headers_find(m, &h) || !h.is_tcp || h.end == h.text) {
		sim_pass(e, m);
		return;
	}
	if (x->count == 0 && sim_some_chance(x)) {
		x->count++;
		m = sim_packet_own(e->sim, m);
		assert_non_null(m);
		assert_true(sim_headers_find(m, &h));
		h.frame[h.l4 + TCP_OFF_FLAGS] |= TCP_FIN;
		sim_headers_checksum(&h);
		sim_pass(e, m);
	} else if (x->count != 0) {
		rte_pktmbuf_free(m);
	} else {
		sim_pass(e, m);
	}
}

static const struct sim_element_ops cut_ops = {cut_input, sim_element_free};

/** A FIN of somebody else's is no orderly end: the program is told. */
static void a_forged_end_is_an_error(void **state)
{
	const struct sim_path_config good = {.queue = {.rate = GBIT}, .delay = SIM_MS};
	struct sim_some *cutter;

	begin(&good, false, 5);
	assert_true(rdma_pair_connect(&pair, 30 * SIM_S));
	exchange();
	cutter = sim_some_create(s, &cut_ops, 1);
	sim_link_prepend(&pair.link, &cutter->element, NULL);
	rdma_post_recv(&pair.b, 0, 100);
	rdma_post(&pair, &pair.a, RDMAP_WR_SEND, 0, 0, 100);
	assert_true(rdma_complete(&pair, &pair.b, 1, 10 * SIM_S));
	sim_run(s, 10 * SIM_S, NULL, NULL);
	assert_int_equal(cutter->count, 1);
	assert_true(pair.b.disconnected);
	assert_int_equal(pair.b.status, -ECONNRESET);
	assert_int_equal(tls_stack_stats(sim_host_tls(pair.b.host))->truncated, 1);
	end();
}

/* ---- a crowd ----------------------------------------------------------------------------- */

/** More than may be at their start-up. */
#define STRANGERS 1200

struct stranger {
	struct llp *llp;
	bool ended;
};

static struct stranger strangers[STRANGERS];

/** Nothing, a byte, or a record without its end. */
static void stranger_connected(void *user)
{
	static const uint8_t hello[100] = {TLS_HANDSHAKE, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};
	static const size_t lens[] = {0, 1, sizeof hello};
	struct stranger *x = user;
	size_t len = lens[(x - strangers) % 3];
	void *room;

	if (len == 0)
		return;
	room = llp_reserve(x->llp, (uint32_t)len, false);
	assert_non_null(room);
	memcpy(room, hello, len);
	llp_commit(x->llp, (uint32_t)len);
	llp_push(x->llp);
}

static size_t stranger_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	return total;
}

static void stranger_eof(void *user)
{
	((struct stranger *)user)->ended = true;
}

static void stranger_closed(void *user, int error)
{
	struct stranger *x = user;

	x->llp = NULL;
	x->ended = true;
}

static const struct llp_user_ops stranger_ops = {.connected = stranger_connected,
	.readable = stranger_readable,
	.eof = stranger_eof,
	.closed = stranger_closed};

static void stranger_comes(void *ctx)
{
	struct stranger *x = ctx;
	const struct llp_connect_params p = {.remote = {sim_host_address(pair.b.host), 7174}};

	assert_int_equal(llp_connect(tcp_llp_stack(sim_host_tcp(pair.a.host)), &p, &stranger_ops, x,
				 &x->llp),
		0);
}

static void stranger_goes(void *ctx)
{
	struct stranger *x = ctx;

	if (x->llp)
		llp_abort(x->llp);
	x->llp = NULL;
}

/** Handshakes that are begun and not gone on with: the oldest give way, and all end in time. */
static void half_handshakes_end(void **state)
{
	const struct sim_path_config good = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US};
	unsigned ended = 0;

	memset(strangers, 0, sizeof strangers);
	begin(&good, false, 6);
	rdma_pair_listen(&pair);
	for (unsigned i = 0; i < STRANGERS; i++) {
		sim_host_call(pair.a.host, stranger_comes, &strangers[i]);
		sim_run(s, 50 * SIM_US, NULL, NULL);
	}
	sim_run(s, 100 * SIM_MS, NULL, NULL);
	for (unsigned i = 0; i < STRANGERS; i++)
		ended += strangers[i].ended;
	assert_in_range(ended, 1, STRANGERS - 1);
	assert_true(strangers[0].ended);
	assert_false(strangers[STRANGERS - 1].ended);
	rdma_pair_connect_only(&pair);
	sim_run(s, SIM_S, NULL, NULL);
	assert_true(pair.a.established && pair.b.established);
	exchange();
	sim_run(s, 11 * SIM_S, NULL, NULL);
	for (unsigned i = 0; i < STRANGERS; i++)
		assert_true(strangers[i].ended);
	exchange();
	assert_int_equal(tls_stack_stats(sim_host_tls(pair.b.host))->handshakes, 1);
	for (unsigned i = 0; i < STRANGERS; i++)
		sim_host_call(pair.a.host, stranger_goes, &strangers[i]);
	end();
}

#define N_PATHS (sizeof paths / sizeof paths[0])

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_a_segment),
		cmocka_unit_test(what_is_forged_ends_it),
		cmocka_unit_test(a_forged_handshake_is_no_connection),
		cmocka_unit_test(a_forged_end_is_an_error),
		cmocka_unit_test(half_handshakes_end),
	};
	struct CMUnitTest on_paths[N_PATHS];

	for (size_t i = 0; i < N_PATHS; i++)
		on_paths[i] = (struct CMUnitTest){.name = paths[i].name,
			.test_func = all_arrives,
			.initial_state = (void *)(uintptr_t)&paths[i]};
	return cmocka_run_group_tests(tests, set_up, tear_down) +
	       _cmocka_run_group_tests("paths", on_paths, N_PATHS, set_up, tear_down);
}
