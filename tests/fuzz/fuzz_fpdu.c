/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole RNIC opposite the stream of an initiator, as it is on the wire: two bytes of set-up, the
 * MPA request, FPDUs. The mutator knows FPDUs: it reads those of an input, changes one or their
 * order, and writes them again with good lengths, markers and CRCs, and mostly with the MSNs that
 * are due; so what it changes gets as far as that can.
 */
#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "fuzz.h"
#include "mpa/deframe.h"
#include "mpa/enframe.h"
#include "rdmap/opcode.h"
#include "unit/rnic/pair.h"

#define SETUP_LEN   2
#define STREAM_MOST 16384
#define FPDUS_MOST  48
#define ULPDU_MOST  2048
#define RECVS       12
#define REGION      1000
#define IOVA        0x4000

/** Of libFuzzer: change @p data, which is an input, at most @p room bytes long then. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);

/** The STags that the RNIC always gives out here: random numbers are the same in each run. */
enum { STAG_OPEN, STAG_CLOSED, STAGS };
static uint32_t stags[STAGS];

/* ---- the target -------------------------------------------------------------------------- */

struct world {
	struct pair pair;
	struct side *us;
	struct llp_mem_peer peer;
	struct rnic_ep *request;
	struct rnic_mr *mr[STAGS];
	uint8_t *region[STAGS]; /**< the second is for nobody from outside */
};

static void post_recv(struct world *w, uint64_t id)
{
	pair_post_recv(w->us, w->us->qp, id, (uint32_t)id * 256, 256);
}

static void world_start(struct world *w, uint8_t bits, uint8_t segment)
{
	static const unsigned access[STAGS] = {
		[STAG_OPEN] = RNIC_ACCESS_LOCAL_WRITE | RNIC_ACCESS_REMOTE_WRITE |
			      RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC};
	const struct rnic_qp_attr all = {.access = access[STAG_OPEN]};
	const struct rnic_config cfg = {.mpa = {.revision = 2,
						.crc = MPA_CRC_PREFERRED,
						.rtr = 7,
						.markers = bits & 1,
						.in_order = bits & 2}};

	*w = (struct world){.us = &w->pair.b};
	pair_engine_init(&w->pair);
	pair_rnic(&w->pair, w->us, 1, &cfg);
	pair_side(w->us);
	MUST(!rnic_qp_modify(w->us->qp, RNIC_QP_ACCESS, &all));
	for (unsigned k = 0; k < STAGS; k++) {
		w->region[k] = calloc(1, REGION);
		MUST(w->region[k]);
		MUST(!rnic_mr_reg(w->us->pd, w->region[k], REGION, IOVA, access[k], &w->mr[k]));
		stags[k] = rnic_mr_stag(w->mr[k]);
	}
	for (uint64_t i = 0; i < RECVS; i++)
		post_recv(w, i);
	llp_mem_set_segment(w->pair.mem, segment);
	pair_listen(&w->pair, 2);
}

static void poll(struct world *w)
{
	static const uint8_t closed[REGION];
	struct rnic_wc wc[RECVS];
	int n = rnic_cq_poll(w->us->cq, RECVS, wc);

	MUST(n >= 0);
	for (int i = 0; i < n; i++)
		MUST(wc[i].wc.wr_id < RECVS && wc[i].wc.op >= RDMAP_WC_RECV &&
			(wc[i].wc.status || wc[i].wc.op == RDMAP_WC_RECV_IMM ||
				wc[i].wc.byte_len <= 256));
	MUST(memcmp(w->region[STAG_CLOSED], closed, REGION) == 0);
}

static void world_end(struct world *w)
{
	llp_mem_peer_done(&w->peer);
	pair_run(&w->pair);
	poll(w);
	w->us->n_ep_events = w->us->n_events = 0;
	if (w->request)
		rnic_ep_destroy(w->request);
	MUST(!rnic_qp_destroy(w->us->qp));
	w->us->qp = NULL;
	for (unsigned k = 0; k < STAGS; k++) {
		MUST(!rnic_mr_dereg(w->mr[k]));
		free(w->region[k]);
	}
	pair_fini(&w->pair);
}

/** The whole stream; the program accepts when it is asked. Some of it may overtake the rest. */
static void play(struct world *w, uint8_t bits, const uint8_t *stream, size_t len)
{
	struct rnic_conn_param cp = {.qp = w->us->qp, .ird = 4, .ord = 4};
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, 1, PAIR_PORT);
	size_t start = len < MPA_HEADER_LEN
			       ? len
			       : MPA_HEADER_LEN + (size_t)load_be16(stream + MPA_AT_PD_LENGTH);

	if (start > len)
		start = len;
	llp_mem_peer_connect(&w->peer, w->pair.mem, 0, &to);
	pair_run(&w->pair);
	if (start)
		llp_mem_send_raw(w->peer.llp, stream, start);
	pair_run(&w->pair);
	if (w->us->request) {
		w->request = w->us->request;
		w->us->request = NULL;
		rnic_ep_set_context(w->request, pair_ep_event, w->us);
		rnic_ep_accept(w->request, &cp);
		pair_run(&w->pair);
	}
	for (size_t at = start, n; w->peer.llp && at < len; at += n) {
		n = 512 < len - at ? 512 : len - at;
		llp_mem_send_raw(w->peer.llp, stream + at, n);
	}
	if (w->peer.llp && bits >> 2 & 7)
		llp_mem_ooo(w->peer.llp, bits >> 2 & 7);
	pair_run(&w->pair);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct world w;

	setenv("CMOCKA_TEST_ABORT", "1", 1);
	world_start(&w, 0, 0); /* for the STags */
	world_end(&w);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;

	if (size < SETUP_LEN)
		return 0;
	world_start(&w, data[0], data[1]);
	play(&w, data[0], data + SETUP_LEN, size - SETUP_LEN);
	poll(&w);
	world_end(&w);
	return 0;
}

/* ---- the mutator -------------------------------------------------------------------------- */

struct ulpdu {
	uint32_t len;
	uint8_t bytes[ULPDU_MOST];
};

/** An input, taken apart. */
struct parts {
	uint8_t setup[SETUP_LEN];
	uint8_t start[MPA_FRAME_MAX];
	size_t start_len;
	unsigned n;
	struct ulpdu u[FPDUS_MOST];
};

static bool parts_markers(const struct parts *p)
{
	return p->setup[0] & 1;
}

/** Whole FPDUs, whatever their CRCs; what is behind them is lost. */
static void parts_take_fpdus(struct parts *p, const uint8_t *data, size_t len)
{
	const struct llp_iov v = {.base = data, .len = len};
	struct mpa_cursor c = {.v = &v, .n = 1};
	struct mpa_deframe d;
	struct mpa_fpdu f;

	mpa_deframe_init(&d, false, parts_markers(p));
	while (p->n < FPDUS_MOST && d.at < len) {
		struct ulpdu *u = &p->u[p->n];

		if (mpa_deframe_look(&d, &c, len - d.at, &f) == MPA_DEFRAME_MORE ||
			f.ulpdu.len > ULPDU_MOST)
			break;
		u->len = f.ulpdu.len;
		mpa_cursor_copy(&f.ulpdu.at, u->bytes, u->len);
		p->n++;
		mpa_deframe_pass(&d, &c, &f);
	}
}

static void parts_take(struct parts *p, const uint8_t *data, size_t size)
{
	p->n = 0;
	memset(p->setup, 0, SETUP_LEN);
	memcpy(p->setup, data, size < SETUP_LEN ? size : SETUP_LEN);
	data += size < SETUP_LEN ? size : SETUP_LEN;
	size -= size < SETUP_LEN ? size : SETUP_LEN;
	if (size >= MPA_HEADER_LEN)
		p->start_len = MPA_HEADER_LEN + (size_t)load_be16(data + MPA_AT_PD_LENGTH);
	if (size < MPA_HEADER_LEN || p->start_len > size || p->start_len > MPA_FRAME_MAX) {
		/* None: one that asks for nothing. */
		memset(p->start, 0, sizeof p->start);
		memcpy(p->start, MPA_REQUEST_KEY, MPA_KEY_LEN);
		p->start[MPA_AT_FLAGS] = MPA_FLAG_CRC;
		p->start[MPA_AT_REVISION] = 1;
		p->start_len = MPA_HEADER_LEN;
		return;
	}
	memcpy(p->start, data, p->start_len);
	parts_take_fpdus(p, data + p->start_len, size - p->start_len);
}

/** Put it together again. @return its length. */
static size_t parts_put(const struct parts *p, uint8_t *data, size_t room)
{
	struct mpa_enframe e;
	size_t at = SETUP_LEN + p->start_len;

	if (room < at)
		return 0;
	memcpy(data, p->setup, SETUP_LEN);
	memcpy(data + SETUP_LEN, p->start, p->start_len);
	mpa_enframe_init(&e, true, parts_markers(p));
	for (unsigned i = 0; i < p->n; i++) {
		uint32_t len = p->u[i].len, total = mpa_enframe_len(&e, len);

		if (total > room - at)
			break;
		memcpy(data + at + mpa_enframe_lead(&e), p->u[i].bytes, len);
		mpa_enframe_finish(&e, data + at, len);
		at += total;
	}
	return at;
}

/** The MSNs and offsets that are due, as if nothing were missing. */
static void parts_number(struct parts *p)
{
	uint32_t msn[DDP_QUEUES] = {1, 1, 1, 1}, mo[DDP_QUEUES] = {0};

	for (unsigned i = 0; i < p->n; i++) {
		uint8_t *b = p->u[i].bytes;
		uint32_t qn;

		if (p->u[i].len < DDP_UNTAGGED_LEN || b[DDP_AT_CONTROL] & DDP_CONTROL_TAGGED)
			continue;
		qn = load_be32(b + DDP_AT_QN);
		if (qn >= DDP_QUEUES)
			continue;
		store_be32(b + DDP_AT_MSN, msn[qn]);
		store_be32(b + DDP_AT_MO, mo[qn]);
		mo[qn] += p->u[i].len - DDP_UNTAGGED_LEN;
		if (b[DDP_AT_CONTROL] & DDP_CONTROL_LAST) {
			msn[qn]++;
			mo[qn] = 0;
		}
	}
}

static uint32_t draw(unsigned *seed, uint32_t below)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 8) % below;
}

/** A message of one segment with the header that its opcode wants. */
static void ulpdu_make(struct ulpdu *u, unsigned *seed)
{
	uint8_t opcode = (uint8_t)draw(seed, RDMAP_OP_ATOMIC_RESPONSE + 1);
	const struct rdmap_opcode_info *info = rdmap_opcode_info(opcode);
	uint32_t len = info->min_len == info->max_len ? info->min_len : draw(seed, 300);
	uint32_t head = info->tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN;
	bool last = draw(seed, 4) != 0;

	if (info->tagged)
		ddp_put_tagged(u->bytes, last, RDMAP_CONTROL(opcode), stags[draw(seed, STAGS)],
			IOVA + draw(seed, REGION));
	else
		ddp_put_untagged(u->bytes, last, RDMAP_CONTROL(opcode), stags[0], info->qn, 0, 0);
	u->len = head + len;
	for (uint32_t i = head; i < u->len; i++)
		u->bytes[i] = (uint8_t)draw(seed, 256);
	if (opcode == RDMAP_OP_READ_REQUEST) {
		store_be32(u->bytes + head + RDMAP_AT_SIZE, draw(seed, REGION));
		store_be32(u->bytes + head + RDMAP_AT_SOURCE_STAG, stags[0]);
		store_be64(u->bytes + head + RDMAP_AT_SOURCE_TO, IOVA + draw(seed, 64));
	} else if (opcode == RDMAP_OP_ATOMIC_REQUEST) {
		store_be32(u->bytes + head + RDMAP_AT_ATOMIC_OPCODE, draw(seed, 4));
		store_be32(u->bytes + head + RDMAP_AT_ATOMIC_STAG, stags[0]);
		store_be64(u->bytes + head + RDMAP_AT_ATOMIC_TO, IOVA + draw(seed, 8) * 8);
	}
}

/** One field of the DDP header, or what is behind it. */
static void ulpdu_change(struct ulpdu *u, unsigned *seed)
{
	static const uint64_t offsets[] = {IOVA, IOVA + REGION - 1, IOVA + REGION, 0, UINT64_MAX};
	uint8_t *b = u->bytes;

	if (u->len < DDP_UNTAGGED_LEN) {
		u->len = (uint32_t)fuzz_mutate(b, u->len, 64);
		return;
	}
	switch (draw(seed, 8)) {
	case 0:
		b[DDP_AT_CONTROL] ^= (uint8_t)(1u << draw(seed, 8));
		break;
	case 1:
		b[DDP_AT_ULP] = RDMAP_CONTROL(draw(seed, RDMAP_OPCODES));
		break;
	case 2:
		b[DDP_AT_ULP] ^= (uint8_t)(1u << draw(seed, 8));
		break;
	case 3:
		store_be32(b + DDP_AT_STAG, stags[draw(seed, STAGS)]); /* or RsvdULP */
		break;
	case 4:
		if (b[DDP_AT_CONTROL] & DDP_CONTROL_TAGGED)
			store_be64(b + DDP_AT_TO, offsets[draw(seed, 5)]);
		else
			store_be32(b + DDP_AT_QN, draw(seed, DDP_QUEUES + 1));
		break;
	case 5:
		u->len = draw(seed, u->len + 1);
		break;
	default:
		u->len = DDP_TAGGED_LEN + (uint32_t)fuzz_mutate(b + DDP_TAGGED_LEN,
						  u->len - DDP_TAGGED_LEN,
						  ULPDU_MOST - DDP_TAGGED_LEN);
	}
}

static void parts_change(struct parts *p, unsigned *seed)
{
	unsigned i = p->n ? draw(seed, p->n) : 0, j = p->n ? draw(seed, p->n) : 0;
	static struct ulpdu other;

	switch (p->n ? draw(seed, 8) : 0) {
	case 0:
	case 1: /* one more */
		if (p->n == FPDUS_MOST)
			break;
		memmove(&p->u[i + 1], &p->u[i], (p->n - i) * sizeof p->u[0]);
		ulpdu_make(&p->u[i], seed);
		p->n++;
		break;
	case 2: /* one less */
		p->n--;
		memmove(&p->u[i], &p->u[i + 1], (p->n - i) * sizeof p->u[0]);
		break;
	case 3: /* another order */
		other = p->u[i];
		p->u[i] = p->u[j];
		p->u[j] = other;
		break;
	case 4: /* once more */
		p->u[i] = p->u[j];
		break;
	default:
		ulpdu_change(&p->u[i], seed);
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	static struct parts p;
	size_t most = room < STREAM_MOST ? room : STREAM_MOST, len;
	uint32_t what = draw(&seed, 32);

	if (what == 0 || most < SETUP_LEN + MPA_FRAME_MAX)
		return fuzz_mutate(data, size, room);
	parts_take(&p, data, size);
	if (what == 1)
		fuzz_mutate(p.setup, SETUP_LEN, SETUP_LEN);
	else if (what == 2)
		p.start[draw(&seed, (uint32_t)p.start_len)] ^= (uint8_t)(1u << draw(&seed, 8));
	else
		parts_change(&p, &seed);
	if (draw(&seed, 8))
		parts_number(&p);
	len = parts_put(&p, data, most);
	/* A length, marker, CRC or other byte of the stream that is wrong. */
	if (what == 3 && len > SETUP_LEN)
		data[SETUP_LEN + draw(&seed, (uint32_t)len - SETUP_LEN)] ^=
			(uint8_t)(1u << draw(&seed, 8));
	return len;
}
