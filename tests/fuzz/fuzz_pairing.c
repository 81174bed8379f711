/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QPs that connect without rdma_cm (docs/connect.md) opposite hostile hosts: strangers at the port
 * of pairings, and a peer that answers what it likes; while the program does what the input says.
 * Only somebody who knows what the program was told may become the QP's peer.
 */
#include "ddp/ddp_wire.h"
#include "fuzz.h"
#include "mpa/startup.h"
#include "rnic/pairing_service.h"
#include "rnic/qp.h"
#include "unit/rnic/pair.h"

#include <errno.h>

#define PORT      61525
#define STRANGERS 3
#define SENDS_MAX 64
#define KNOWN_MAX 64
#define PSN_OURS  7u
#define PSN_PEER  9u

/** What a host said, as far as it matters. */
struct stranger {
	struct llp_mem_peer peer;
	struct mpa_enframe tx;
	uint32_t msn;
};

struct world {
	struct fuzz *in;
	struct pair pair;
	struct side *us, *them;
	bool active; /**< ours is the lesser pair: it connects */
	struct stranger s[STRANGERS];
	struct rnic_path path;
	bool told; /**< the QP has been told its peer */
	/** Who somebody has said to be, in words that were right. It may be long on its way: what
	 * comes before a RESET may be for what the QP is told after it. */
	uint32_t known[KNOWN_MAX];
	unsigned n_known;
	uint64_t wr_id;
	uint8_t open[SENDS_MAX]; /**< requests, by wr_id, that have not completed */
};

/* ---- the program ------------------------------------------------------------------------- */

static void forget_requests(struct world *w)
{
	memset(w->open, 0, sizeof w->open);
}

static uint64_t open_request(struct world *w)
{
	uint64_t id = w->wr_id++ % SENDS_MAX;

	w->open[id]++;
	return id;
}

/** Each completion is of a request that has none yet. */
static void poll(struct world *w)
{
	struct rnic_wc wc[4];
	int n = rnic_cq_poll(w->us->cq, 4, wc);

	for (int i = 0; i < n; i++) {
		MUST(wc[i].wc.wr_id < SENDS_MAX && w->open[wc[i].wc.wr_id] != 0);
		w->open[wc[i].wc.wr_id]--;
	}
}

static void post_recv(struct world *w)
{
	struct rdmap_rqe *e;

	if (rnic_rq_begin(w->us->qp))
		return;
	e = rnic_rq_next(w->us->qp);
	if (e) {
		e->wr_id = open_request(w);
		e->num_sge = 1;
		e->sge[0] = (struct rdmap_sge){
			(uintptr_t)w->us->buf, fuzz_u8(w->in), rnic_mr_stag(w->us->mr)};
		e->length = e->sge[0].len;
		rnic_rq_commit(w->us->qp);
	}
	rnic_rq_end(w->us->qp);
}

static void post_send(struct world *w)
{
	uint8_t bits = fuzz_u8(w->in);
	struct rdmap_wqe *e;

	if (rnic_sq_begin(w->us->qp))
		return;
	e = rnic_sq_next(w->us->qp);
	if (e) {
		e->wr_id = open_request(w);
		e->op = bits & 3;
		e->flags = RDMAP_WR_SIGNALED;
		e->num_sge = 1;
		e->sge[0] =
			(struct rdmap_sge){(uintptr_t)w->us->buf, bits, rnic_mr_stag(w->us->mr)};
		e->length = e->sge[0].len;
		e->remote_stag = fuzz_u8(w->in);
		rnic_sq_commit(w->us->qp);
	}
	rnic_sq_end(w->us->qp);
}

/** Another peer, QP or PSN than usual, where the input says so. */
static struct rnic_path any_path(struct world *w)
{
	uint8_t bits = fuzz_u8(w->in);
	struct rnic_path path = {.local = llp_mem_endpoint(w->pair.mem, w->us->host, 0).addr,
		.remote = llp_mem_endpoint(w->pair.mem, bits & 1 ? w->us->host : w->them->host, 0)
				  .addr,
		.remote_qp = rnic_qp_num(bits & 2 ? w->us->qp : w->them->qp),
		.rq_psn = PSN_PEER};

	if (bits & 4)
		path.remote_qp = fuzz_u32(w->in) & PAIRING_NUMBER_MASK;
	if (bits & 8)
		path.local = path.remote;
	return path;
}

static void modify(struct world *w)
{
	static const struct {
		enum rnic_qp_state state;
		unsigned mask;
	} steps[] = {{RNIC_QP_RESET, 0}, {RNIC_QP_INIT, 0},
		{RNIC_QP_RTR, RNIC_QP_PATH | RNIC_QP_IRD},
		{RNIC_QP_RTS, RNIC_QP_ORD | RNIC_QP_SQ_PSN | RNIC_QP_PATIENCE}, {RNIC_QP_SQD, 0},
		{RNIC_QP_ERROR, 0}};
	unsigned k = fuzz_u8(w->in) % (sizeof steps / sizeof steps[0]);
	struct rnic_qp_attr attr = {.state = steps[k].state,
		.ird = fuzz_u8(w->in),
		.ord = 4,
		.sq_psn = PSN_OURS,
		.patience = 500 * PAIR_MS};

	if (steps[k].state == RNIC_QP_RTR)
		attr.path = any_path(w);
	if (rnic_qp_modify(w->us->qp, RNIC_QP_STATE | steps[k].mask, &attr) != 0)
		return;
	if (steps[k].state == RNIC_QP_RTR) {
		w->path = attr.path;
		w->told = true;
	}
	if (steps[k].state == RNIC_QP_RESET) {
		forget_requests(w); /* their completions are taken out of the CQ */
		w->told = false;
	}
}

/* ---- the hosts opposite -------------------------------------------------------------------- */

static struct pairing_hello any_hello(struct world *w, bool reply)
{
	uint8_t bits = fuzz_u8(w->in);
	struct pairing_hello h = {.to_qp = rnic_qp_num(w->us->qp),
		.from_qp = w->told ? w->path.remote_qp : rnic_qp_num(w->them->qp),
		.psn = bits & 16 ? PAIRING_NUMBER_MASK : PSN_OURS};

	if (bits & 1)
		h.to_qp = fuzz_u32(w->in) & PAIRING_NUMBER_MASK;
	if (bits & 2)
		h.from_qp = fuzz_u32(w->in) & PAIRING_NUMBER_MASK;
	if (bits & 4)
		h.psn = fuzz_u32(w->in) & PAIRING_NUMBER_MASK;
	if (bits & 8 || (reply && bits & 32))
		h.refusal = bits >> 5;
	return h;
}

static bool is_known(const struct world *w, uint32_t from_qp)
{
	for (unsigned i = 0; i < w->n_known && i < KNOWN_MAX; i++)
		if (w->known[i] == from_qp)
			return true;
	return false;
}

/** Before RTS nobody compares PSNs; after it the wrong one fails the QP. */
static void note_if_right(struct world *w, const struct pairing_hello *h)
{
	if (h->to_qp == rnic_qp_num(w->us->qp) && !h->refusal && !is_known(w, h->from_qp))
		w->known[w->n_known++ % KNOWN_MAX] = h->from_qp;
}

/** A start-up frame that carries a hello, all right but for what the input makes of it. */
static void send_hello(struct world *w, struct stranger *s, bool reply)
{
	struct pairing_hello h = any_hello(w, reply);
	uint8_t data[PAIRING_HELLO_LEN + 1] = {0}, frame[MPA_FRAME_MAX], bits = fuzz_u8(w->in);
	struct mpa_start st = {.revision = bits & 1 ? fuzz_u8(w->in) % 3 : 2,
		.enhanced = true,
		.crc = true,
		.peer_to_peer = !(bits & 2),
		.rtr = bits & 2 ? 0 : 7,
		.ird = fuzz_u8(w->in),
		.ord = fuzz_u8(w->in),
		.reject = reply && h.refusal != 0,
		.private_data = data,
		.private_len = bits & 4 ? fuzz_u8(w->in) % sizeof data : PAIRING_HELLO_LEN};
	int n;

	if (st.revision != 2) {
		st.enhanced = st.peer_to_peer = false;
		st.rtr = 0;
	}
	pairing_put_hello(data, &h);
	if (bits & 8)
		data[fuzz_u8(w->in) % sizeof data] = fuzz_u8(w->in);
	n = mpa_startup_build(reply ? MPA_FRAME_REPLY : MPA_FRAME_REQUEST, &st, frame);
	MUST(n > 0);
	if (pairing_get_hello(data, st.private_len, &h))
		note_if_right(w, &h);
	if (bits & 16)
		n = fuzz_u8(w->in) % n;
	if (n)
		llp_mem_send_raw(s->peer.llp, frame, (size_t)n);
	mpa_enframe_init(&s->tx, true, false);
	s->msn = 1;
}

/** An FPDU with a DDP header of any kind. */
static void send_fpdu(struct world *w, struct stranger *s)
{
	uint8_t op = fuzz_u8(w->in), room[256];
	uint32_t len = fuzz_u8(w->in) % 128u, lead = mpa_enframe_lead(&s->tx);
	uint8_t ulp = RDMAP_CONTROL(op & RDMAP_CONTROL_OPCODE);
	size_t got;
	const uint8_t *p = fuzz_bytes(w->in, len, &got);
	bool tagged = op & 16;
	uint32_t head = tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;

	memset(room, 0, sizeof room);
	if (tagged)
		ddp_put_tagged(room + lead, true, ulp, op, 0);
	else
		ddp_put_untagged(room + lead, true, ulp, 0, op >> 6, s->msn, 0);
	if (!tagged && op >> 6 == 0)
		s->msn++;
	memcpy(room + lead + head, p, got);
	len = head + (uint32_t)got;
	mpa_enframe_finish(&s->tx, room, len);
	llp_mem_send_raw(s->peer.llp, room, mpa_fpdu_len(len));
}

static void send_bytes(struct world *w, struct stranger *s)
{
	size_t got;
	const uint8_t *p = fuzz_bytes(w->in, 1u + fuzz_u8(w->in), &got);

	if (got)
		llp_mem_send_raw(s->peer.llp, p, got);
}

/** Come to our port, or wait for ours at the other's. */
static void appear(struct world *w, struct stranger *s)
{
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, w->us->host, PORT);

	llp_mem_peer_done(&s->peer);
	s->peer = (struct llp_mem_peer){0};
	if (!w->active)
		llp_mem_peer_connect(&s->peer, w->pair.mem, w->them->host, &to);
	else if (s == &w->s[0])
		llp_mem_peer_listen(&s->peer, w->pair.mem, w->them->host, PORT);
	else
		return;
	pair_run(&w->pair);
}

static void hostile(struct world *w, uint8_t op)
{
	struct stranger *s = &w->s[(op >> 4) % STRANGERS];

	if (!s->peer.llp || !s->peer.connected) {
		appear(w, s);
		return;
	}
	switch (op & 7) {
	case 0:
		appear(w, s);
		break;
	case 1:
	case 2:
		send_hello(w, s, w->active);
		break;
	case 3:
	case 4:
		send_fpdu(w, s);
		break;
	case 5:
		send_bytes(w, s);
		break;
	case 6:
		llp_shutdown(s->peer.llp);
		break;
	default:
		llp_mem_fail(s->peer.llp, -ECONNRESET);
	}
}

/* ---- both ---------------------------------------------------------------------------------- */

/** In a few large steps: nothing here depends on the small ones. */
static void pass_time(struct world *w, uint64_t ms)
{
	for (unsigned i = 0; i < 8; i++) {
		w->pair.clock += (1 + ms / 8) * PAIR_MS;
		pair_run(&w->pair);
	}
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	if (op & 8) {
		hostile(w, op);
		return;
	}
	switch (op & 7) {
	case 0:
	case 1:
		modify(w);
		break;
	case 2:
		post_send(w);
		break;
	case 3:
		post_recv(w);
		break;
	case 4:
		pass_time(w, (1u + fuzz_u8(w->in)) * (op & 128 ? 50u : 1u));
		break;
	default:
		pair_run(&w->pair);
		poll(w);
	}
}

static void check(struct world *w)
{
	/* Paired with itself it needs nobody. */
	bool alone = w->told && w->path.remote_qp == rnic_qp_num(w->us->qp);

	if (qp_has_stream(w->us->qp) && !alone)
		MUST(w->told && is_known(w, w->path.remote_qp));
	w->us->n_events = w->us->n_ep_events = 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rnic_config config = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED}, .pairing_port = PORT};
	struct fuzz in = {data, size};
	static struct world w;
	uint8_t bits = fuzz_u8(&in);

	w = (struct world){.in = &in, .active = bits & 1};
	pair_init(&w.pair, &config);
	w.us = w.active ? &w.pair.a : &w.pair.b;
	w.them = w.active ? &w.pair.b : &w.pair.a;
	if (bits & 2)
		llp_mem_set_segment(w.pair.mem, 1u + (bits >> 2));
	/* The other RNIC is never started: the hosts opposite are all ours to play. */
	rnic_pairing_open(w.us->rnic);
	while (in.left) {
		step(&w);
		check(&w);
	}
	for (unsigned i = 0; i < STRANGERS; i++)
		llp_mem_peer_done(&w.s[i].peer);
	pair_run(&w.pair);
	pair_fini(&w.pair);
	return 0;
}
