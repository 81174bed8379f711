/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * TCP segmentation offload between two whole hosts: the NIC cuts chains (sim/nic.h), and on the
 * wire is the same, bit for bit and at the same time, as without it. Each segment begins with an
 * FPDU and ends with one, and of bulk each is one; checksums and CRCs are good; and so it is with
 * what is sent again. The same of payload that is sent from the program's memory.
 */
#include "base/bytes.h"
#include "mpa/crc.h"
#include "mpa/mpa_wire.h"
#include "sim/headers.h"
#include "sim/rdma_pair.h"
#include "sim/tap.h"
#include "tcp/seq.h"
#include "tcp/tcp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define GBIT UINT64_C(1000000000)
#define SIZE (512u << 10)
#define MOST 20000
#define ROOM 2048

struct seen {
	uint64_t at;
	uint32_t len, crc;
};

/** A direction of a run. */
struct way {
	struct seen packet[MOST];
	unsigned n, fpdus, full, again;
	bool no_crc;
	bool begun;   /**< the first text has come */
	uint32_t end; /**< the highest sequence number behind a text */
	uint32_t longest;
};

struct stage {
	const char *name;
	bool v6;
	bool gather; /**< what is compared is not TSO, but payload that is sent where it lies */
	struct sim_path_config path;
};

static struct way ways[2][2]; /* with and without; there and back */

/* ---- what is on the wire ----------------------------------------------------------------------
 */

static bool is_startup(const uint8_t *text, uint32_t len)
{
	return len >= MPA_HEADER_LEN && (memcmp(text, MPA_REQUEST_KEY, MPA_KEY_LEN) == 0 ||
						memcmp(text, MPA_REPLY_KEY, MPA_KEY_LEN) == 0);
}

/** @return FPDUs in a text, all of them whole and with a good CRC, or without one. */
static unsigned assert_fpdus(const uint8_t *text, uint32_t len, bool crc)
{
	unsigned n = 0;

	for (uint32_t at = 0; at < len; n++) {
		uint32_t ulpdu, body;

		if (len - at < MPA_FPDU_HEADER_LEN)
			fail_msg("%u bytes are left behind the last FPDU", len - at);
		ulpdu = load_be16(text + at);
		body = mpa_fpdu_body(ulpdu);
		if (!ulpdu || len - at < body + MPA_CRC_LEN)
			fail_msg("an FPDU of %u bytes, and %u are left", ulpdu, len - at);
		assert_int_equal(load_le32(text + at + body),
			crc ? mpa_crc_end(mpa_crc_add(MPA_CRC_START, text + at, body)) : 0);
		at += body + MPA_CRC_LEN;
	}
	return n;
}

static void look_at_text(struct way *w, const struct sim_headers *h)
{
	uint32_t seq = load_be32(h->frame + h->l4 + TCP_OFF_SEQ), len = h->end - h->text;
	unsigned n = assert_fpdus(h->frame + h->text, len, !w->no_crc);

	w->again += w->begun && seq_lt(seq, w->end);
	if (!w->begun || seq_gt(seq + len, w->end))
		w->end = seq + len;
	w->begun = true;
	w->fpdus += n;
	if (len > w->longest)
		w->longest = len;
	w->full += n == 1 && len > 1400;
}

/** All that a host sends. */
static void note(void *ctx, struct rte_mbuf *m, uint64_t now)
{
	static uint8_t bytes[RTE_PKTMBUF_HEADROOM + ROOM];
	struct rte_mbuf flat = {.buf_addr = bytes,
		.data_len = (uint16_t)m->pkt_len,
		.pkt_len = m->pkt_len,
		.nb_segs = 1};
	struct way *w = ctx;
	struct sim_headers h;
	const void *p;

	assert_true(w->n < MOST && m->pkt_len <= ROOM);
	p = rte_pktmbuf_read(m, 0, m->pkt_len, bytes);
	if (p != bytes)
		memcpy(bytes, p, m->pkt_len);
	w->packet[w->n++] =
		(struct seen){now, m->pkt_len, mpa_crc_add(MPA_CRC_START, bytes, m->pkt_len)};
	if (!sim_headers_find(&flat, &h) || !h.is_tcp)
		return;
	assert_true(sim_headers_are_sound(&h));
	if (h.end > h.text && !is_startup(h.frame + h.text, h.end - h.text))
		look_at_text(w, &h);
}

/* ---- a run ------------------------------------------------------------------------------------
 */

/** Bulk both ways, and small messages. */
static void transfer(struct rdma_pair *p)
{
	for (uint32_t i = 0; i < SIZE; i++)
		p->a.buf[i] = (uint8_t)(i * 7 + i / 251);
	for (unsigned i = 0; i < 4; i++)
		rdma_post(p, &p->a, RDMAP_WR_WRITE, i * SIZE / 8, i * SIZE / 8, SIZE / 8);
	rdma_post(p, &p->a, RDMAP_WR_READ, SIZE / 2, 0, SIZE / 2);
	assert_true(rdma_complete(p, &p->a, 5, 120 * SIM_S));
	for (unsigned i = 0; i < 32; i++)
		rdma_post(p, &p->a, RDMAP_WR_WRITE, i, SIZE / 2 + i, 1 + i % 8);
	assert_true(rdma_complete(p, &p->a, 32, 120 * SIM_S));
	assert_memory_equal(p->a.buf, p->b.buf, SIZE / 2);
	assert_memory_equal(p->a.buf + SIZE / 2, p->a.buf, SIZE / 2);
}

static struct sim_host *host(
	struct sim *s, const struct stage *stage, const char *v4, const char *v6, bool with)
{
	struct sim_host_config c = {.address = stage->v6 ? v6 : v4,
		.tso = with || stage->gather,
		.gather = with && stage->gather,
		.no_offload = !with && !stage->gather};

	if (stage->gather)
		c.rnic.mpa = (struct mpa_config){
			.revision = 2, .crc = MPA_CRC_OFF, .rtr = MPA_RTR_WRITE | MPA_RTR_READ};
	return sim_host_create(s, &c);
}

static void assert_chains(const struct sim_host *h)
{
	const struct sim_nic_stats *n = sim_nic_get_stats(sim_host_nic(h));

	assert_true(n->chains > 20);
	assert_true(n->segments > 2 * n->chains);
}

static void assert_gathered(const struct sim_host *h, bool with)
{
	const struct sim_nic_stats *n = sim_nic_get_stats(sim_host_nic(h));

	assert_true(with ? n->gathered > SIZE / 2 / 1500 - 20 : n->gathered == 0);
}

static void run(const struct stage *stage, bool with, struct way *w)
{
	struct sim *s = sim_create(&(struct sim_config){.seed = 1071});
	struct rdma_pair p;

	memset(w, 0, 2 * sizeof *w);
	w[0].no_crc = w[1].no_crc = stage->gather;
	rdma_pair_create_on(&p, host(s, stage, "10.0.0.1/24", "fd00::1/64", with),
		host(s, stage, "10.0.0.2/24", "fd00::2/64", with), 7174, SIZE);
	sim_join(p.a.host, p.b.host, &stage->path, NULL, &p.link);
	sim_link_prepend(&p.link, sim_tap_create(s, note, &w[0]), sim_tap_create(s, note, &w[1]));
	assert_true(rdma_pair_connect(&p, 30 * SIM_S));
	transfer(&p);
	rnic_ep_disconnect(p.a.ep);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	if (stage->gather) {
		assert_gathered(p.a.host, with);
		assert_gathered(p.b.host, with);
	} else if (with) {
		assert_chains(p.a.host);
		assert_chains(p.b.host);
	}
	rdma_pair_destroy(&p);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	sim_destroy(s);
}

static void assert_same(const struct way *a, const struct way *b)
{
	for (unsigned i = 0; i < a->n && i < b->n; i++)
		if (a->packet[i].at != b->packet[i].at || a->packet[i].len != b->packet[i].len ||
			a->packet[i].crc != b->packet[i].crc)
			fail_msg("packet %u of %u differs: %u and %u bytes", i, a->n,
				a->packet[i].len, b->packet[i].len);
	assert_int_equal(a->n, b->n);
}

static void on_the_wire_is_the_same(void **state)
{
	const struct stage *stage = *state;

	run(stage, true, ways[0]);
	run(stage, false, ways[1]);
	for (unsigned i = 0; i < 2; i++) {
		const struct way *w = &ways[0][i];

		assert_true(w->full >= SIZE / 2 / w->longest - 4); /* of each Write, not the last */
		assert_true(w->fpdus > w->full);
		assert_int_equal(w->again > 0, stage->path.loss.chance.good > 0);
		assert_same(w, &ways[1][i]);
	}
}

static const struct stage stages[] = {
	{.name = "clean", .path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "clean v6",
		.v6 = true,
		.path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "loss",
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.03}}},
	{.name = "loss v6",
		.v6 = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.03}}},
	{.name = "gather",
		.gather = true,
		.path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "gather v6",
		.gather = true,
		.v6 = true,
		.path = {.queue = {.rate = 10 * GBIT}, .delay = 10 * SIM_US}},
	{.name = "gather, loss",
		.gather = true,
		.path = {.queue = {.rate = GBIT}, .delay = SIM_MS, .loss = {.chance.good = 0.03}}},
};

int main(void)
{
	struct CMUnitTest tests[sizeof stages / sizeof stages[0]];
	size_t n = sizeof stages / sizeof stages[0];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = stages[i].name,
			.test_func = on_the_wire_is_the_same,
			.initial_state = (void *)&stages[i]};
	return _cmocka_run_group_tests("tso", tests, n, NULL, NULL);
}
