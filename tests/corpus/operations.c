/* SPDX-License-Identifier: BSD-2-Clause */
/* All operations, in each way in which a connection may be negotiated, and over bad paths. */
#include "corpus/corpus.h"
#include "corpus/stage.h"

#include "rdmap/rdmap_wire.h"

#include <string.h>

#define PORT 7174

/* Small, so that small captures show messages of several FPDUs. */
#define MTU  600
#define MANY 700

enum { RTR_NONE, RTR_SEND = MPA_RTR_SEND, RTR_WRITE = MPA_RTR_WRITE, RTR_READ = MPA_RTR_READ };

struct shot {
	const char *name;
	uint8_t revision, rtr;
	bool crc, markers_to_a, markers_to_b;
	bool bulk; /* Writes that a bad path can harm, and a Send; not one of each */
	struct stage_config stage;
};

/* ---- work ----------------------------------------------------------------------------------- */

struct work {
	struct stage *g;
	unsigned asked[2], received[2]; /* completions due, of a and b */
};

static struct rdma_side *side(struct work *w, unsigned who)
{
	return who ? &w->g->p.b : &w->g->p.a;
}

static struct rdmap_wqe *begin(
	struct work *w, unsigned who, enum rdmap_wr_op op, unsigned flags, uint32_t len)
{
	struct rdmap_wqe *e;

	if (op == RDMAP_WR_SEND || op == RDMAP_WR_SEND_INV || op == RDMAP_WR_WRITE_IMM) {
		rdma_post_recv(side(w, !who), 4096, 2048);
		w->received[!who]++;
	}
	w->asked[who]++;
	/* What comes from the peer goes where nothing is sent from. */
	e = rdma_begin(&w->g->p, side(w, who), op,
		op == RDMAP_WR_READ || op == RDMAP_WR_FETCH_ADD || op == RDMAP_WR_CMP_SWAP ? 2048
											   : 0,
		op == RDMAP_WR_WRITE || op == RDMAP_WR_WRITE_IMM ? 6144 : 0, len);
	e->flags |= (uint8_t)flags;
	return e;
}

static void post(struct work *w, unsigned who, enum rdmap_wr_op op, unsigned flags, uint32_t len)
{
	begin(w, who, op, flags, len);
	rdma_commit(side(w, who));
}

static void post_inv(struct work *w, unsigned flags, uint32_t len, const struct rnic_mr *mr)
{
	begin(w, 0, RDMAP_WR_SEND_INV, flags, len)->inv_stag = rnic_mr_stag(mr);
	rdma_commit(side(w, 0));
}

static void post_imm(struct work *w, unsigned flags, uint32_t len)
{
	static const uint8_t imm[4] = {0xfe, 0xed, 0xf0, 0x0d};
	struct rdmap_wqe *e = begin(w, 0, RDMAP_WR_WRITE_IMM, flags, len);

	memcpy(&e->imm, imm, sizeof imm);
	rdma_commit(side(w, 0));
}

static void post_atomic(struct work *w, enum rdmap_wr_op op, const struct rdmap_atomic *args)
{
	begin(w, 0, op, 0, RDMAP_ATOMIC_LEN)->atomic = *args;
	rdma_commit(side(w, 0));
}

static void finish(struct work *w)
{
	for (unsigned who = 0; who < 2; who++) {
		unsigned n = w->asked[who] + w->received[who];

		stage_must(!n || rdma_complete(&w->g->p, side(w, who), n, STAGE_LIMIT),
			"work did not complete");
		w->asked[who] = w->received[who] = 0;
	}
}

/* ---- all operations ------------------------------------------------------------------------- */

static void all_operations(struct stage *g)
{
	static const uint32_t lengths[] = {0, 13, MANY};
	struct work w = {.g = g};
	struct rnic_mr *mr[2];

	for (unsigned i = 0; i < 2; i++)
		stage_must(!rnic_mr_reg(g->p.b.pd, g->p.b.buf, 64, 0x1000,
				   RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE, &mr[i]),
			"no region");
	for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		post(&w, 0, RDMAP_WR_SEND, 0, lengths[i]);
		post(&w, 0, RDMAP_WR_WRITE, 0, lengths[i]);
		post(&w, 0, RDMAP_WR_READ, 0, lengths[i]);
		finish(&w);
	}
	post(&w, 0, RDMAP_WR_SEND, RDMAP_WR_SOLICITED, 20);
	post_inv(&w, 0, 21, mr[0]);
	post_inv(&w, RDMAP_WR_SOLICITED, 22, mr[1]);
	post_imm(&w, 0, 500);
	post_imm(&w, RDMAP_WR_SOLICITED, 0);
	finish(&w);
	post_atomic(&w, RDMAP_WR_FETCH_ADD, &(struct rdmap_atomic){.data = 1});
	post_atomic(&w, RDMAP_WR_CMP_SWAP,
		&(struct rdmap_atomic){.data = 2, .mask = UINT64_MAX, .compare_mask = UINT64_MAX});
	post_atomic(&w, RDMAP_WR_CMP_SWAP, &(struct rdmap_atomic){.data = 3, .mask = UINT64_MAX});
	finish(&w);
	post(&w, 1, RDMAP_WR_SEND, 0, 30);
	post(&w, 1, RDMAP_WR_WRITE, 0, MANY);
	post(&w, 1, RDMAP_WR_READ, 0, 31);
	finish(&w);
	for (unsigned i = 0; i < 2; i++)
		stage_must(!rnic_mr_dereg(mr[i]), "a region stays");
}

static void bulk(struct stage *g)
{
	struct work w = {.g = g};

	for (unsigned i = 0; i < 12; i++)
		post(&w, 0, RDMAP_WR_WRITE, 0, MANY);
	post(&w, 0, RDMAP_WR_SEND, 0, MANY);
	post(&w, 0, RDMAP_WR_READ, 0, 100);
	finish(&w);
}

/* ---- the captures --------------------------------------------------------------------------- */

#define WAY(text, rev, how, with_crc, with_markers)                            \
	{                                                                      \
		text, rev, how, .crc = with_crc, .markers_to_a = with_markers, \
				.markers_to_b = with_markers                   \
	}
#define WAYS(text, rev, how)                                                          \
	WAY(text "-nocrc", rev, how, false, false), WAY(text, rev, how, true, false), \
		WAY(text "-markers-nocrc", rev, how, false, true),                    \
		WAY(text "-markers", rev, how, true, true)
#define BAD(text, ...)                                                                 \
	{                                                                              \
		text, 2, RTR_NONE, .crc = true, .bulk = true, .stage = { __VA_ARGS__ } \
	}
#define LINE .queue.rate = 100000000, .delay = 2 * SIM_MS

static const struct shot shots[] = {
	WAYS("ops-rev1", 1, RTR_NONE),
	WAYS("ops-rev2", 2, RTR_NONE),
	WAYS("ops-rtr-send", 2, RTR_SEND),
	WAYS("ops-rtr-write", 2, RTR_WRITE),
	WAYS("ops-rtr-read", 2, RTR_READ),
	{"ops-markers-to-responder", 2, RTR_NONE, .crc = true, .markers_to_b = true},
	{"ops-markers-to-initiator", 2, RTR_NONE, .crc = true, .markers_to_a = true},
	{"ops-ipv6", 2, RTR_NONE, .crc = true, .stage.v6 = true},
	BAD("path-loss", .path = {LINE, .loss.chance.good = 0.1}, .seed = 3),
	BAD("path-loss-at-sender", .path = {LINE, .loss.chance.good = 0.1}, .seed = 3,
		.at_sender = true),
	BAD("path-reordering", .path = {LINE, .reorder = {0.2, SIM_MS}}, .seed = 2),
	BAD("path-duplicates", .path = {LINE, .duplicate = 0.2}, .seed = 2),
	BAD("path-not-captured", .left_out = 12),
	{"path-markers-loss", 2, RTR_NONE, .markers_to_a = true, .markers_to_b = true, .bulk = true,
		.stage = {.path = {LINE, .loss.chance.good = 0.1}, .seed = 3}},
};

static struct mpa_config mpa_of(const struct shot *t, bool markers)
{
	return (struct mpa_config){
		.revision = t->revision,
		.crc = t->crc ? MPA_CRC_PREFERRED : MPA_CRC_OFF,
		.markers = markers,
		.peer_to_peer = t->rtr != RTR_NONE,
		.rtr = t->rtr,
	};
}

static void shoot(const struct shot *t, const char *path)
{
	struct stage_config cfg = t->stage;
	struct stage g;

	cfg.a = mpa_of(t, t->markers_to_a);
	cfg.b = mpa_of(t, t->markers_to_b);
	cfg.b.revision = 2;
	cfg.mtu = cfg.v6 ? 1280 : MTU; /* RFC 8200 section 5 */
	stage_open(&g, path, &cfg);
	stage_pair(&g, PORT);
	stage_must(rdma_pair_connect(&g.p, STAGE_LIMIT), "no connection");
	if (t->bulk)
		bulk(&g);
	else
		all_operations(&g);
	stage_pair_end(&g);
	stage_close(&g);
}

unsigned corpus_operations(const char *directory, const char *only)
{
	char path[4096];
	unsigned made = 0;

	for (unsigned i = 0; i < sizeof shots / sizeof shots[0]; i++) {
		if (!corpus_wants(directory, only, shots[i].name, path))
			continue;
		shoot(&shots[i], path);
		made++;
	}
	return made;
}
