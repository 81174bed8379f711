/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * Completions, model-checked: all sequences of five work requests, signalled or not, over an LLP
 * with room for all or for some, some of their answers come, then the stream ends in any of its
 * ways. What completed well is a beginning of the queue, exactly as far as a model of a few lines
 * says; every request behind it fails, and the program is told of each, signalled or not.
 */
#include "rdmap/rdmap.h"

#include "base/bytes.h"
#include "base/container_of.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LEN       5
#define RING      8
#define STRIDE    128
#define DEPTH     2 /* ORD: a third Read or Atomic waits for an answer to the first */
#define EMSS      1460
#define WRITE_LEN 2000 /* two segments: the LLP may have room for the first alone */
#define GOOD_STAG 1
#define BAD_STAG  2
#define STAG(i)   (100 + (uint32_t)(i)) /* remote, of request i */
#define AMPLE     99
#define NOBODY    LEN

enum end {
	END_LOST,         /* reset, time-out */
	END_EOF,          /* the peer closes; then its connection is gone */
	END_CRC,          /* an error of the LLP */
	END_BAD_ANSWER,   /* the answer that is due does not fit; a Terminate goes out */
	END_SINK_GONE,    /* the memory of the Read or Atomic that is answered was taken away */
	END_TERMINATE_TX, /* what modify_qp(ERROR) does */
	END_TERMINATE_RX, /* names request `which`, or none */
	END_ABORT,        /* what destroy_qp() does, and time-outs of the RNIC's own */
	END_DRAIN_LOST,   /* SQD, then lost */
	END_RETRY,        /* of queue pairs that connect by themselves */
	END_CLOSE_ABORT,  /* an orderly close that takes too long */
	END_LOCAL_FAULT,  /* request `which` fails here, when it is its turn */
	ENDS
};

struct plan {
	enum rdmap_wr_op op[LEN];
	unsigned signaled; /* mask */
	unsigned room;     /* records that the LLP takes */
	unsigned answers;  /* that come */
	enum end end;
	unsigned which; /* of those ends that concern one request; NOBODY */
};

/* What must come of it. */
struct outcome {
	unsigned good;                 /* requests that succeed */
	unsigned blamed;               /* the one with a cause of its own; NOBODY */
	enum rdmap_wc_status why;      /* that cause */
	unsigned begun;                /* requests of which something went out */
	bool over;                     /* a local fault has ended it */
	unsigned waiting, records, at; /* under way; the LLP's room used; next to start */
	bool done[LEN];
};

struct rig {
	struct llp llp;
	unsigned room;
	uint8_t record[2 * EMSS];
	struct mpa mpa;
	struct rdmap r;
	struct rdmap_sq sq;
	struct rdmap_irqe irq[DEPTH];
	_Alignas(64) uint8_t ring[RING * STRIDE];
	_Alignas(8) uint8_t memory[WRITE_LEN];
	bool sink_gone, bind_fails;
	unsigned answered_atomics;
	struct rdmap_wc wc[2 * LEN];
	unsigned wcs;
};

/* ---- an LLP that takes so many records and sends nothing ---------------------------------- */

static uint32_t llp_rig_emss(const struct llp *l)
{
	return EMSS;
}

static void *llp_rig_reserve(struct llp *l, uint32_t len, bool join)
{
	struct rig *g = container_of(l, struct rig, llp);

	return g->room != 0 && len <= sizeof g->record ? g->record : NULL;
}

static void llp_rig_commit(struct llp *l, uint32_t len, uint32_t sum)
{
	container_of(l, struct rig, llp)->room -= len != 0;
}

static bool llp_rig_took_ooo(const struct llp *l)
{
	return false;
}

static void llp_rig_ignore(struct llp *l)
{
}

static const struct llp_ops llp_rig_ops = {
	.emss = llp_rig_emss,
	.reserve = llp_rig_reserve,
	.commit = llp_rig_commit,
	.push = llp_rig_ignore,
	.resume = llp_rig_ignore,
	.took_ooo = llp_rig_took_ooo,
	.shutdown = llp_rig_ignore,
	.abort = llp_rig_ignore,
	.release = llp_rig_ignore,
};

/* ---- the QP ------------------------------------------------------------------------------- */

static int stag_check(
	void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access, uint8_t **mem)
{
	struct rig *g = user;

	if (stag != GOOD_STAG || (g->sink_gone && access == RDMAP_ACCESS_READ_SINK))
		return -ENOENT;
	*mem = g->memory;
	return 0;
}

static int stag_invalidate(void *user, uint32_t stag, bool remote)
{
	return stag == GOOD_STAG ? 0 : -ENOENT;
}

static int local_op(void *user, struct rdmap_wqe *w)
{
	return w->inv_stag == GOOD_STAG ? RDMAP_WC_SUCCESS : RDMAP_WC_MW_BIND_ERR;
}

static void complete(void *user, const struct rdmap_wc *wc)
{
	struct rig *g = user;

	assert_true(g->wcs < 2 * LEN);
	g->wc[g->wcs++] = *wc;
}

static void operational(void *user)
{
}

static void peer_closed(void *user)
{
	struct rig *g = user;

	rdmap_close(&g->r);
}

static void drained(void *user)
{
}

static void ended(void *user, const struct rdmap_end *e)
{
	struct rig *g = user;

	rdmap_flush_sq(&g->r);
}

static const struct rdmap_ops ops = {
	.stag_check = stag_check,
	.stag_invalidate = stag_invalidate,
	.local_op = local_op,
	.complete = complete,
	.operational = operational,
	.peer_closed = peer_closed,
	.drained = drained,
	.ended = ended,
};

static void rig_init(struct rig *g, unsigned room)
{
	static const struct mpa_config config = {.revision = 2, .crc = MPA_CRC_OFF};

	memset(g, 0, sizeof *g);
	g->llp.ops = &llp_rig_ops;
	g->room = room;
	g->sq = (struct rdmap_sq){.ring = g->ring, .size = RING, .stride = STRIDE};
	rdmap_init(&g->r, &g->sq, &ops, g);
	mpa_init_initiator(&g->mpa, &g->llp, &config, NULL, NULL);
	assert_int_equal(mpa_begin_alone(&g->mpa), 0);
	rdmap_attach(&g->r, &g->mpa, DEPTH, DEPTH, g->irq, 0);
}

static void rig_post(struct rig *g, const struct plan *p, unsigned i)
{
	uint32_t stag = p->end == END_LOCAL_FAULT && p->which == i ? BAD_STAG : GOOD_STAG;
	bool atomic = p->op[i] == RDMAP_WR_FETCH_ADD, writes = p->op[i] == RDMAP_WR_WRITE;
	struct rdmap_wqe *w = rdmap_sq_at(&g->sq, i);

	w->wr_id = i;
	w->op = (uint8_t)p->op[i];
	w->flags = p->signaled >> i & 1 ? RDMAP_WR_SIGNALED : 0;
	w->remote_stag = STAG(i);
	w->length = atomic ? RDMAP_ATOMIC_LEN : writes ? WRITE_LEN : 4;
	w->inv_stag = stag;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){.addr = 0, .len = w->length, .stag = stag};
	if (p->op[i] == RDMAP_WR_BIND_MW || p->op[i] == RDMAP_WR_LOCAL_INV)
		w->length = w->num_sge = 0;
	atomic_store(&g->sq.head, i + 1);
}

static void rig_receive(struct rig *g, const uint8_t *ulpdu, size_t len)
{
	const struct llp_iov v = {.base = ulpdu, .len = len};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = (uint32_t)len};

	g->mpa.ops->ulpdu(g->mpa.user, &u);
	if (g->r.mpa != NULL)
		g->mpa.ops->rx_done(g->mpa.user);
}

/* The answer to the oldest that waits, which stands at the tail. */
static void rig_answer(struct rig *g, bool good)
{
	const struct rdmap_wqe *w = rdmap_sq_at(&g->sq, atomic_load(&g->sq.tail));
	uint8_t b[64] = {0};

	if (w->op == RDMAP_WR_READ) {
		ddp_put_tagged(b, true, RDMAP_CONTROL(RDMAP_OP_READ_RESPONSE),
			good ? GOOD_STAG : BAD_STAG, 0);
		rig_receive(g, b, DDP_TAGGED_LEN + 4);
		return;
	}
	ddp_put_untagged(b, true, RDMAP_CONTROL(RDMAP_OP_ATOMIC_RESPONSE), 0,
		RDMAP_QN_ATOMIC_RESPONSE, ++g->answered_atomics, 0);
	store_be32(b + DDP_UNTAGGED_LEN + RDMAP_AT_ATOMIC_ORIGINAL_ID, w->msn + !good);
	rig_receive(g, b, DDP_UNTAGGED_LEN + RDMAP_ATOMIC_RESPONSE_LEN);
}

/* A Terminate of the peer that quotes request @p which, as far as it was sent; or nothing. */
static void rig_terminate(struct rig *g, unsigned which)
{
	uint8_t b[64] = {0}, *t = b + DDP_UNTAGGED_LEN, *quote = t + 6;
	const struct rdmap_wqe *w = rdmap_sq_at(&g->sq, which % LEN);
	bool tagged = w->op == RDMAP_WR_WRITE;

	ddp_put_untagged(b, true, RDMAP_CONTROL(RDMAP_OP_TERMINATE), 0, RDMAP_QN_TERMINATE, 1, 0);
	if (which == NOBODY) {
		t[RDMAP_AT_TERM_TYPE] = RDMAP_LAYER_LLP << 4 | RDMAP_ETYPE_MPA;
		t[RDMAP_AT_TERM_CODE] = MPA_ERROR_CRC;
		rig_receive(g, b, DDP_UNTAGGED_LEN + RDMAP_TERM_HEADER_LEN);
		return;
	}
	t[RDMAP_AT_TERM_TYPE] = RDMAP_LAYER_RDMA << 4 | RDMAP_ETYPE_PROTECTION;
	t[RDMAP_AT_TERM_HDRCT] = RDMAP_HDRCT_M | RDMAP_HDRCT_D;
	if (tagged) {
		store_be16(t + RDMAP_TERM_HEADER_LEN, (uint16_t)g->r.mulpdu);
		ddp_put_tagged(quote, false, RDMAP_CONTROL(RDMAP_OP_WRITE), STAG(which), 0);
	} else {
		ddp_put_untagged(quote, true, RDMAP_CONTROL(RDMAP_OP_SEND), 0,
			w->op == RDMAP_WR_SEND ? RDMAP_QN_SEND : RDMAP_QN_READ, w->msn, 0);
	}
	rig_receive(g, b, (size_t)(quote - b) + (tagged ? DDP_TAGGED_LEN : DDP_UNTAGGED_LEN));
}

static void rig_end(struct rig *g, const struct plan *p)
{
	switch (p->end) {
	case END_DRAIN_LOST:
		rdmap_sq_suspend(&g->r);
		g->llp.user_ops->closed(g->llp.user, -ETIMEDOUT);
		break;
	case END_LOST:
		g->llp.user_ops->closed(g->llp.user, -ECONNRESET);
		break;
	case END_EOF:
		g->llp.user_ops->eof(g->llp.user);
		g->llp.user_ops->closed(g->llp.user, 0);
		break;
	case END_CRC:
		g->mpa.ops->error(g->mpa.user, MPA_ERROR_CRC, "bad");
		break;
	case END_SINK_GONE:
	case END_BAD_ANSWER:
		g->sink_gone = p->end == END_SINK_GONE;
		rig_answer(g, g->sink_gone);
		break;
	case END_TERMINATE_RX:
		rig_terminate(g, p->which);
		break;
	case END_TERMINATE_TX:
		rdmap_terminate(&g->r, RDMAP_LAYER_RDMA, RDMAP_ETYPE_CATASTROPHIC, 0);
		break;
	case END_CLOSE_ABORT:
		rdmap_close(&g->r);
		/* fall through */
	default:
		rdmap_abort(&g->r);
		if (p->end == END_RETRY)
			rdmap_fail_oldest(&g->r, RDMAP_WC_RETRY_EXC_ERR);
		rdmap_flush_sq(&g->r);
	}
}

/* ---- the model ---------------------------------------------------------------------------- */

static bool waits(enum rdmap_wr_op op)
{
	return op == RDMAP_WR_READ || op == RDMAP_WR_FETCH_ADD;
}

static bool is_local(enum rdmap_wr_op op)
{
	return op == RDMAP_WR_BIND_MW || op == RDMAP_WR_LOCAL_INV;
}

static enum rdmap_wc_status fault_of(enum rdmap_wr_op op)
{
	return op == RDMAP_WR_BIND_MW ? RDMAP_WC_MW_BIND_ERR : RDMAP_WC_LOC_PROT_ERR;
}

/* Start what may start, as far as there is room. */
static void model_start(struct outcome *o, const struct plan *p)
{
	for (; o->at < LEN && !o->over; o->at++) {
		enum rdmap_wr_op op = p->op[o->at];
		unsigned records = op == RDMAP_WR_WRITE ? 2 : !is_local(op);
		unsigned some = p->room - o->records < records ? p->room - o->records : records;
		bool faulty = p->end == END_LOCAL_FAULT && p->which == o->at;

		if (waits(op) && o->waiting == DEPTH)
			return;
		/* A Write's or Send's memory is looked at when there is room for it. */
		if (faulty && (some != 0 || is_local(op) || waits(op))) {
			o->over = true;
			o->blamed = o->at;
			o->why = fault_of(op);
			return;
		}
		o->records += some;
		o->begun = o->at + (some != 0 || is_local(op));
		if (some != records)
			return;
		o->waiting += waits(op);
		o->done[o->at] = !waits(op);
	}
}

static void model_count(struct outcome *o)
{
	while (o->good < LEN && o->done[o->good])
		o->good++;
}

static void model_answer(struct outcome *o, const struct plan *p)
{
	model_count(o);
	o->done[o->good] = true;
	o->waiting--;
	model_start(o, p);
}

/* The end, if it can happen so. @return false: it cannot. */
static bool model_end(struct outcome *o, const struct plan *p)
{
	model_count(o);
	switch (p->end) {
	case END_LOCAL_FAULT:
		return o->over;
	case END_SINK_GONE:
	case END_BAD_ANSWER:
		if (o->waiting == 0)
			return false;
		if (p->end == END_SINK_GONE) {
			o->blamed = o->good;
			o->why = RDMAP_WC_LOC_PROT_ERR;
		}
		return true;
	case END_RETRY:
		if (o->good == LEN)
			return false;
		o->blamed = o->good;
		o->why = RDMAP_WC_RETRY_EXC_ERR;
		return true;
	case END_TERMINATE_RX:
		if (p->which == NOBODY)
			return true;
		if (p->which >= o->begun || is_local(p->op[p->which]))
			return false;
		if (p->which >= o->good) {
			o->blamed = p->which;
			o->why = RDMAP_WC_REM_ACCESS_ERR;
		}
		return true;
	default:
		return true;
	}
}

/* ---- one run ------------------------------------------------------------------------------ */

static void expect(const struct rig *g, const struct plan *p, const struct outcome *o)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LEN; i++) {
		bool good = i < o->good;
		enum rdmap_wc_status status = good             ? RDMAP_WC_SUCCESS
					      : i == o->blamed ? o->why
							       : RDMAP_WC_WR_FLUSH_ERR;

		if (good && !(p->signaled >> i & 1))
			continue;
		if (n == g->wcs || g->wc[n].wr_id != i || g->wc[n].status != status)
			fail_msg("end %d (%u), answers %u, room %u, signalled 0x%x, ops %d %d %d "
				 "%d %d: request %u should complete with %d, %u is %s%d",
				p->end, p->which, p->answers, p->room, p->signaled, p->op[0],
				p->op[1], p->op[2], p->op[3], p->op[4], i, status,
				n == g->wcs ? 0u : (unsigned)g->wc[n].wr_id,
				n == g->wcs ? "not there: " : "",
				n == g->wcs ? 0 : g->wc[n].status);
		n++;
	}
	assert_int_equal(g->wcs, n);
	assert_int_equal(atomic_load(&g->sq.tail), LEN);
}

/* @return false: such a run there is not. */
static bool run(const struct plan *p)
{
	struct outcome o = {.blamed = NOBODY};
	static struct rig g;

	model_start(&o, p);
	for (unsigned i = 0; i < p->answers; i++) {
		if (o.waiting == 0 || o.over)
			return false;
		model_answer(&o, p);
	}
	if (!model_end(&o, p))
		return false;

	rig_init(&g, p->room);
	for (unsigned i = 0; i < LEN; i++)
		rig_post(&g, p, i);
	rdmap_run(&g.r);
	for (unsigned i = 0; i < p->answers; i++)
		rig_answer(&g, true);
	if (p->end != END_LOCAL_FAULT)
		rig_end(&g, p);
	expect(&g, p, &o);
	return true;
}

static unsigned run_ends(struct plan *p)
{
	unsigned n = 0;

	for (p->end = 0; p->end < ENDS; p->end++) {
		bool of_one = p->end == END_TERMINATE_RX || p->end == END_LOCAL_FAULT;

		for (p->which = of_one ? 0 : NOBODY; p->which <= NOBODY; p->which++)
			n += run(p);
	}
	return n;
}

/* All sequences of @p ops, with each of @p masks of signalled ones. */
static unsigned run_all(
	const enum rdmap_wr_op *ops_of, unsigned n_ops, const uint8_t *masks, unsigned n_masks)
{
	static const unsigned rooms[] = {AMPLE, 3};
	unsigned sequences = 1, n = 0;

	for (unsigned i = 0; i < LEN; i++)
		sequences *= n_ops;
	for (unsigned s = 0; s < sequences * n_masks * 2; s++) {
		struct plan p = {.signaled = masks[s / 2 % n_masks], .room = rooms[s % 2]};
		unsigned k = s / 2 / n_masks;

		for (unsigned i = 0; i < LEN; i++, k /= n_ops)
			p.op[i] = ops_of[k % n_ops];
		for (p.answers = 0; p.answers <= LEN; p.answers++)
			n += run_ends(&p);
	}
	return n;
}

static void test_each_signalled_or_not(void **state)
{
	static const enum rdmap_wr_op kinds[] = {RDMAP_WR_WRITE, RDMAP_WR_READ, RDMAP_WR_LOCAL_INV};
	uint8_t masks[1 << LEN];

	for (unsigned i = 0; i < 1 << LEN; i++)
		masks[i] = (uint8_t)i;
	assert_true(run_all(kinds, 3, masks, 1 << LEN) > 100000);
}

static void test_each_operation(void **state)
{
	static const enum rdmap_wr_op kinds[] = {
		RDMAP_WR_WRITE, RDMAP_WR_SEND, RDMAP_WR_READ, RDMAP_WR_FETCH_ADD, RDMAP_WR_BIND_MW};
	static const uint8_t masks[] = {0x1f, 0x0a};

	assert_true(run_all(kinds, 5, masks, 2) > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_signalled_or_not),
		cmocka_unit_test(test_each_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
