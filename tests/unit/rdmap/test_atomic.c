/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"
#include "base/prng.h"
#include "qp.h"
#include "rdmap/atomic_op.h"

#define ZERO8  ZERO4 ZERO4
#define ONES8  "\xff\xff\xff\xff\xff\xff\xff\xff"
#define ATOMIC (LOCAL | RDMAP_ACCESS_REMOTE_ATOMIC)

/* DDP's headers: of a request, a response; the MSN's last byte. */
#define REQUEST(msn)  "\x41\x4a" ZERO4 "\x00\x00\x00\x01\x00\x00\x00" msn ZERO4
#define RESPONSE(msn) "\x41\x4b" ZERO4 "\x00\x00\x00\x03\x00\x00\x00" msn ZERO4
#define FETCH_ADD     "\x00\x00\x00\x00"
#define CMP_SWAP      "\x00\x00\x00\x02"
/* The header: code, identifier, STag 12, TO; then data, mask, compare, compare mask. */
#define HEADER(code, id, to) code "\x00\x00\x00" id "\x00\x00\x00\x0c" ZERO4 "\x00\x00\x00" to
#define ADD(id, to, n)       HEADER(FETCH_ADD, id, to) "\0\0\0\0\0\0\0" n ZERO8 ZERO8 ONES8

/* ---- arithmetic (section 5.1) ------------------------------------------------------------ */

/* The RFC's own pseudocode. */
static uint64_t add_by_bits(uint64_t value, uint64_t data, uint64_t mask)
{
	uint64_t result = 0;
	unsigned carry = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		unsigned sum = carry + (value >> bit & 1) + (data >> bit & 1);

		result |= (uint64_t)(sum & 1) << bit;
		carry = sum >> 1 && !(mask >> bit & 1);
	}
	return result;
}

static void test_add(void **state)
{
	struct prng rng = {.state = 7306};

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t v = prng_u64(&rng), d = prng_u64(&rng), m = prng_u64(&rng);

		if (i % 2)
			m &= prng_u64(&rng) & prng_u64(&rng); /* longer fields */
		assert_int_equal(rdmap_masked_add(v, d, m), add_by_bits(v, d, m));
		assert_int_equal(rdmap_masked_add(v, d, 0), v + d);
	}
	assert_int_equal(rdmap_masked_add(0xff, 1, 0x80), 0);
	assert_int_equal(rdmap_masked_add(0xffffffff, 1, 0x80000000), 0);
	assert_int_equal(rdmap_masked_add(UINT64_MAX, 1, UINT64_C(1) << 63), 0);
}

static void test_swap(void **state)
{
	struct rdmap_atomic a = {.data = 0x1111, .mask = UINT64_MAX, .compare = 5};

	a.compare_mask = UINT64_MAX;
	assert_int_equal(rdmap_masked_swap(5, &a), 0x1111);
	assert_int_equal(rdmap_masked_swap(6, &a), 6);
	a.compare_mask = 0xf;
	assert_int_equal(rdmap_masked_swap(0xf5, &a), 0x1111);
	a.mask = 0xff;
	assert_int_equal(rdmap_masked_swap(0xffff00000000ff05, &a), 0xffff00000000ff11);
	a.compare_mask = 0; /* Swap */
	assert_int_equal(rdmap_masked_swap(0x4242, &a), 0x4211);
}

/* ---- the responder ----------------------------------------------------------------------- */

static struct qp_region *setup(struct qp_net *n)
{
	struct qp_region *g;

	qp_net_init(n);
	n->b->ird = 4;
	qp_net_raw_responder(n);
	g = qp_region_add(n->b, 12, 0, 64, ATOMIC);
	memset(g->mem, 0, 64);
	return g;
}

static uint64_t word(const struct qp_region *g, unsigned at)
{
	uint64_t v;

	memcpy(&v, g->mem + at, sizeof v);
	return v;
}

static void set_word(struct qp_region *g, unsigned at, uint64_t v)
{
	memcpy(g->mem + at, &v, sizeof v);
}

/* Big-endian on the wire, the host's order in memory. */
static void test_respond(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup(&n);
	set_word(g, 8, 0x0102030405060708);
	FEED(&n, REQUEST("\x01") ADD("\x77", "\x08", "\x01"));
	EXPECT(&n, RESPONSE("\x01") "\x00\x00\x00\x77\x01\x02\x03\x04\x05\x06\x07\x08");
	assert_int_equal(word(g, 8), 0x0102030405060709);
	/* compare 0x...09 in the lowest byte, swap in the second byte; the high bits of the code's
	 * word are reserved and ignored */
	FEED(&n, REQUEST("\x02") HEADER(
			 "\xff\xff\xff\xf2", "\x78", "\x08") "\xaa\xaa\xaa\xaa\xaa\xaa\xaa\xaa"
							     "\x00\xff\x00\x00\x00\x00\x00\x00"
							     "\x00\x00\x00\x00\x00\x00\xee\x09"
							     "\x00\x00\x00\x00\x00\x00\x00\xff");
	EXPECT(&n, RESPONSE("\x02") "\x00\x00\x00\x78\x01\x02\x03\x04\x05\x06\x07\x09");
	assert_int_equal(word(g, 8), 0x01aa030405060709);
	FEED(&n, REQUEST("\x03") HEADER(CMP_SWAP, "\x79", "\x08") ONES8 ONES8 ZERO8 ONES8);
	EXPECT(&n, RESPONSE("\x03") "\x00\x00\x00\x79\x01\xaa\x03\x04\x05\x06\x07\x09");
	assert_int_equal(word(g, 8), 0x01aa030405060709); /* the comparison failed */
	assert_int_equal(word(g, 0), 0);
	assert_int_equal(word(g, 16), 0);
	qp_net_done(&n);
}

#define READ_REQUEST(msn)                                                                  \
	"\x41\x41" ZERO4 "\x00\x00\x00\x01\x00\x00\x00" msn ZERO4 "\x00\x00\x00\x99" ZERO8 \
	"\x00\x00\x00\x08\x00\x00\x00\x0c" ZERO8
#define READ_RESPONSE "\xc1\x42\x00\x00\x00\x99" ZERO8

/*
 * Section 7: answers in the order of the requests, Reads among them; a Read after an Atomic sees
 * what the Atomic wrote, and not what the next will. IRD: the fifth is too many.
 */
static void test_order_and_ird(void **state)
{
	struct qp_region *g;
	struct qp_net n;
	uint64_t one = 1;
	uint8_t expect[22];

	g = setup(&n);
	g->access = REMOTE | RDMAP_ACCESS_REMOTE_ATOMIC;
	llp_mem_set_buffer(n.mem, 1);
	FEED(&n, REQUEST("\x01") ADD("\x01", "\x08", "\x01"));
	llp_mem_hold(n.b->m->llp, true); /* the send buffer stays full from here */
	FEED(&n, REQUEST("\x02") ADD("\x02", "\x00", "\x01"));
	FEED(&n, READ_REQUEST("\x03"));
	FEED(&n, REQUEST("\x04") ADD("\x04", "\x00", "\x05"));
	assert_int_equal(n.b->endeds, 0);
	FEED(&n, REQUEST("\x05") ADD("\x05", "\x00", "\x05"));
	assert_int_equal(n.b->endeds, 0);
	assert_int_equal(word(g, 0), 1); /* nothing is done before its turn, which the second had */
	llp_mem_hold(n.b->m->llp, false);
	EXPECT(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT(&n, RESPONSE("\x02") "\x00\x00\x00\x02" ZERO8);
	memcpy(expect, READ_RESPONSE, 14);
	memcpy(expect + 14, &one, 8);
	qp_net_expect(&n, expect, sizeof expect);
	EXPECT(&n, RESPONSE("\x03") "\x00\x00\x00\x04"
				    "\0\0\0\0\0\0\0\x01");
	EXPECT(&n, RESPONSE("\x04") "\x00\x00\x00\x05"
				    "\0\0\0\0\0\0\0\x06");
	assert_int_equal(word(g, 0), 11);
	qp_net_done(&n);

	setup(&n);
	llp_mem_set_buffer(n.mem, 1);
	FEED(&n, REQUEST("\x01") ADD("\x01", "\x08", "\x01"));
	llp_mem_hold(n.b->m->llp, true);
	FEED(&n, REQUEST("\x02") ADD("\x02", "\x00", "\x01"));
	FEED(&n, REQUEST("\x03") ADD("\x03", "\x00", "\x01"));
	FEED(&n, REQUEST("\x04") ADD("\x04", "\x00", "\x01"));
	FEED(&n, REQUEST("\x05") ADD("\x05", "\x00", "\x01"));
	assert_int_equal(n.b->endeds, 0);
	FEED(&n, REQUEST("\x06") ADD("\x06", "\x00", "\x01"));
	assert_int_equal(n.b->endeds, 0);
	FEED(&n, REQUEST("\x07") ADD("\x07", "\x00", "\x01"));
	qp_expect_end(n.b, RDMAP_END_TERMINATE_TX, 0, 1, 2, 2);
	qp_net_done(&n);
}

/*
 * Section 5.3: two streams of an RNIC add to one word by turns, and each sees what the other did.
 */
static void test_two_streams(void **state)
{
	struct qp_region *g[2];
	struct qp_net n[2];
	uint8_t *own;

	for (unsigned i = 0; i < 2; i++) {
		g[i] = setup(&n[i]);
		llp_mem_set_buffer(n[i].mem, 1);
	}
	own = g[1]->mem;
	g[1]->mem = g[0]->mem;
	FEED(&n[0], REQUEST("\x01") ADD("\x01", "\x08", "\x01"));
	FEED(&n[1], REQUEST("\x01") ADD("\x02", "\x08", "\x10"));
	EXPECT(&n[0], RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT(&n[1], RESPONSE("\x01") "\x00\x00\x00\x02\0\0\0\0\0\0\0\x01");
	/* Both have one that waits; the later one's stream gets room first. */
	for (unsigned i = 0; i < 2; i++)
		FEED(&n[i], REQUEST("\x02") ADD("\x03", "\x00", "\x00"));
	for (unsigned i = 0; i < 2; i++)
		llp_mem_hold(n[i].b->m->llp, true);
	for (unsigned i = 0; i < 2; i++)
		FEED(&n[i], REQUEST("\x03") ADD("\x04", "\x00", "\x00"));
	FEED(&n[0], REQUEST("\x04") ADD("\x05", "\x08", "\x02"));
	FEED(&n[1], REQUEST("\x04") ADD("\x06", "\x08", "\x20"));
	assert_int_equal(word(g[0], 8), 0x11);
	for (unsigned i = 2; i-- != 0;) {
		llp_mem_hold(n[i].b->m->llp, false);
		EXPECT(&n[i], RESPONSE("\x02") "\x00\x00\x00\x03" ZERO8);
		EXPECT(&n[i], RESPONSE("\x03") "\x00\x00\x00\x04" ZERO8);
	}
	EXPECT(&n[1], RESPONSE("\x04") "\x00\x00\x00\x06\0\0\0\0\0\0\0\x11");
	EXPECT(&n[0], RESPONSE("\x04") "\x00\x00\x00\x05\0\0\0\0\0\0\0\x31");
	assert_int_equal(word(g[0], 8), 0x33);
	g[1]->mem = own;
	qp_net_done(&n[0]);
	qp_net_done(&n[1]);
}

/* What is wrong with a request; the Terminate quotes DDP's header only (section 8.1, case 2). */
static void wrong(void (*spoil)(struct qp_region *g), const char *request, size_t len,
	const char *terminate, size_t terminate_len)
{
	struct qp_region *g;
	struct qp_net n;
	uint8_t before[64];

	g = setup(&n);
	if (spoil)
		spoil(g);
	memcpy(before, g->mem, sizeof before);
	qp_net_feed(&n, request, len);
	qp_net_expect_terminate(&n, terminate, terminate_len);
	assert_memory_equal(g->mem, before, sizeof before);
	qp_net_done(&n);
}

#define WRONG(spoil, body, terminate)                                                        \
	wrong(spoil, REQUEST("\x01") body, 18 + sizeof(body) - 1, terminate REQUEST("\x01"), \
		sizeof terminate - 1 + 18)

static void no_right(struct qp_region *g)
{
	g->access = REMOTE;
}

static void foreign(struct qp_region *g)
{
	g->foreign = true;
}

static void invalid(struct qp_region *g)
{
	g->invalid = true;
}

static void test_wrong(void **state)
{
	WRONG(NULL, HEADER(FETCH_ADD, "\x01", "\x39") ZERO8 ZERO8 ZERO8 ONES8,
		"\x01\x01\xc0\x00\x00\x46"); /* bounds */
	WRONG(NULL, HEADER(FETCH_ADD, "\x01", "\x04") ZERO8 ZERO8 ZERO8 ONES8,
		"\x02\x07\xc0\x00\x00\x46"); /* alignment, section 8.2 */
	WRONG(NULL, HEADER(CMP_SWAP, "\x01", "\x01") ZERO8 ZERO8 ZERO8 ONES8,
		"\x02\x07\xc0\x00\x00\x46");
	WRONG(NULL, HEADER("\x00\x00\x00\x01", "\x01", "\x08") ZERO8 ZERO8 ZERO8 ONES8,
		"\x02\x06\xc0\x00\x00\x46"); /* Swap of the drafts */
	WRONG(NULL, HEADER("\x00\x00\x00\x0f", "\x01", "\x08") ZERO8 ZERO8 ZERO8 ONES8,
		"\x02\x06\xc0\x00\x00\x46");
	WRONG(no_right, ADD("\x01", "\x08", "\x01"), "\x01\x02\xc0\x00\x00\x46");
	WRONG(foreign, ADD("\x01", "\x08", "\x01"), "\x01\x03\xc0\x00\x00\x46");
	WRONG(invalid, ADD("\x01", "\x08", "\x01"), "\x01\x00\xc0\x00\x00\x46");
	WRONG(NULL, ADD("\x01", "\x08", "\x01") "x", "\x12\x05\xc0\x00\x00\x47");
	WRONG(NULL, HEADER(FETCH_ADD, "\x01", "\x08"), "\x02\xff\xc0\x00\x00\x26");
}

/* Alignment is of the program's address, not of the Tagged Offset. */
static void test_alignment_of_address(void **state)
{
	struct qp_net n;

	setup(&n)->to = 4;
	FEED(&n, REQUEST("\x01") ADD("\x01", "\x04", "\x01"));
	EXPECT(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	FEED(&n, REQUEST("\x02") ADD("\x02", "\x08", "\x01"));
	EXPECT_TERMINATE(&n, "\x02\x07\xc0\x00\x00\x46" REQUEST("\x02"));
	qp_net_done(&n);
}

/* Of three requests, the third waits: something happens to its memory, and it is refused so. */
static void refused_meanwhile(void (*change)(struct qp_region *g), bool moved)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup(&n);
	llp_mem_set_buffer(n.mem, 1);
	FEED(&n, REQUEST("\x01") ADD("\x01", "\x08", "\x01"));
	llp_mem_hold(n.b->m->llp, true);
	FEED(&n, REQUEST("\x02") ADD("\x02", "\x00", "\x01"));
	FEED(&n, REQUEST("\x03") ADD("\x03", "\x08", "\x01"));
	change(g);
	llp_mem_hold(n.b->m->llp, false);
	EXPECT(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT(&n, RESPONSE("\x02") "\x00\x00\x00\x02" ZERO8);
	if (!moved)
		EXPECT_TERMINATE(&n, "\x01\x00\xc0\x00\x00\x46" REQUEST("\x03"));
	else
		EXPECT_TERMINATE(&n, "\x02\x07\xc0\x00\x00\x46" REQUEST("\x03"));
	assert_int_equal(word(g, 0), 1);
	assert_int_equal(word(g, 8), 1);
	qp_net_done(&n);
}

static void invalidate(struct qp_region *g)
{
	g->invalid = true;
}

static void test_invalidated_meanwhile(void **state)
{
	refused_meanwhile(invalidate, false);
}

/* The same STag and Tagged Offsets, over other memory: nothing happens at an unaligned address. */
static void move(struct qp_region *g)
{
	g->to += 4;
}

static void test_moved_meanwhile(void **state)
{
	refused_meanwhile(move, true);
}

/* ---- the requester ----------------------------------------------------------------------- */

static struct qp_region *setup_requester(struct qp_net *n)
{
	qp_net_init(n);
	n->a->ord = 2;
	qp_net_raw_initiator(n);
	return qp_region_add(n->a, 7, 0x1000, 32, LOCAL);
}

static struct rdmap_wqe *atomic_wqe(
	struct qp *q, uint64_t wr_id, enum rdmap_wr_op op, const struct qp_region *g, uint32_t at)
{
	struct rdmap_wqe *w = qp_wqe(q, wr_id, op, RDMAP_WR_SIGNALED);

	w->remote_stag = 12;
	w->remote_to = 8;
	w->atomic = (struct rdmap_atomic){
		.data = 0x1122334455667788, .mask = 0xf0, .compare = 0x99, .compare_mask = 0x3};
	qp_wqe_sge(w, g, at, 8);
	qp_post(q);
	return w;
}

static void test_request(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	atomic_wqe(n.a, 2, RDMAP_WR_CMP_SWAP, g, 9); /* the sink needs no alignment */
	atomic_wqe(n.a, 3, RDMAP_WR_FETCH_ADD, g, 24);
	qp_run(n.a);
	EXPECT(&n,
		REQUEST("\x01") HEADER(FETCH_ADD, "\x01", "\x08") "\x11\x22\x33\x44\x55\x66\x77\x88"
								  "\0\0\0\0\0\0\0\xf0" ZERO8 ONES8);
	EXPECT(&n,
		REQUEST("\x02") HEADER(CMP_SWAP, "\x02", "\x08") "\x11\x22\x33\x44\x55\x66\x77\x88"
								 "\0\0\0\0\0\0\0\xf0"
								 "\0\0\0\0\0\0\0\x99"
								 "\0\0\0\0\0\0\0\x03");
	qp_net_expect_nothing(&n); /* ORD */
	FEED(&n, RESPONSE("\x01") "\x00\x00\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08");
	qp_expect_wc(n.a, 1, RDMAP_WC_SUCCESS, RDMAP_WC_FETCH_ADD, 8);
	assert_int_equal(word(g, 0), 0x0102030405060708);
	EXPECT(&n,
		REQUEST("\x03") HEADER(FETCH_ADD, "\x03", "\x08") "\x11\x22\x33\x44\x55\x66\x77\x88"
								  "\0\0\0\0\0\0\0\xf0" ZERO8 ONES8);
	FEED(&n, RESPONSE("\x02") "\x00\x00\x00\x02\xaa\xbb\xcc\xdd\xee\xff\x00\x11");
	qp_expect_wc(n.a, 2, RDMAP_WC_SUCCESS, RDMAP_WC_CMP_SWAP, 8);
	assert_int_equal(word(g, 9), 0xaabbccddeeff0011);
	qp_expect_no_wc(n.a);
	qp_net_done(&n);
}

/* The answer to an RTR Read is due before that to an Atomic behind it. */
static void test_response_before_that_of_rtr(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	qp_net_init(&n);
	n.a->ord = 2;
	n.a->rtr = MPA_RTR_READ;
	qp_net_raw_initiator(&n);
	g = qp_region_add(n.a, 7, 0x1000, 8, LOCAL);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	qp_run(n.a);
	qp_net_run(&n);
	llp_mem_peer_consume(&n.peer, n.peer.rx_len);
	FEED(&n, RESPONSE("\x01") "\x00\x00\x00\x02" ZERO8);
	qp_expect_end(n.a, RDMAP_END_TERMINATE_TX, 0, RDMAP_LAYER_RDMA, RDMAP_ETYPE_OPERATION,
		RDMAP_CODE_OPCODE);
	qp_net_done(&n);
}

/* A fence waits for Atomics as for Reads. */
static void test_fence(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	qp_wqe_inline(qp_wqe(n.a, 2, RDMAP_WR_SEND, RDMAP_WR_FENCE | RDMAP_WR_SIGNALED), "x", 1);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	llp_mem_peer_consume(&n.peer, n.peer.rx_len);
	qp_net_expect_nothing(&n);
	FEED(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT(&n, "\x41\x43" ZERO8 "\x00\x00\x00\x01" ZERO4 "x");
	qp_net_done(&n);
}

/* Requests that cannot be sent complete with why; the peer is told of a local error. */
static void local_error(
	void (*post)(struct qp *q, struct qp_region *g), enum rdmap_wc_status status)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	post(n.a, g);
	qp_run(n.a);
	qp_expect_wc(n.a, 1, status, RDMAP_WC_FETCH_ADD, 0);
	EXPECT_TERMINATE(&n, "\x00\x00\x00\x00");
	qp_net_done(&n);
}

static void post_no_ord(struct qp *q, struct qp_region *g)
{
	q->r.ord = 0;
	atomic_wqe(q, 1, RDMAP_WR_FETCH_ADD, g, 0);
}

static void post_short(struct qp *q, struct qp_region *g)
{
	struct rdmap_wqe *w = atomic_wqe(q, 1, RDMAP_WR_FETCH_ADD, g, 0);

	w->length = w->sge[0].len = 7;
}

static void post_outside(struct qp *q, struct qp_region *g)
{
	atomic_wqe(q, 1, RDMAP_WR_FETCH_ADD, g, 25);
}

static void post_not_writable(struct qp *q, struct qp_region *g)
{
	g->access = 0;
	atomic_wqe(q, 1, RDMAP_WR_FETCH_ADD, g, 0);
}

static void test_local_errors(void **state)
{
	local_error(post_no_ord, RDMAP_WC_LOC_QP_OP_ERR);
	local_error(post_short, RDMAP_WC_LOC_LEN_ERR);
	local_error(post_outside, RDMAP_WC_LOC_PROT_ERR);
	local_error(post_not_writable, RDMAP_WC_LOC_PROT_ERR);
}

/* Wrong answers to the first of: Atomic, Read. */
static void wrong_response(const char *response, size_t len, const char *terminate,
	size_t terminate_len, enum rdmap_wc_status status)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	qp_wqe_sge(qp_wqe(n.a, 2, RDMAP_WR_READ, 0), g, 16, 8);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	llp_mem_peer_consume(&n.peer, n.peer.rx_len);
	if (status == RDMAP_WC_LOC_PROT_ERR)
		g->invalid = true;
	qp_net_feed(&n, response, len);
	qp_net_expect_terminate(&n, terminate, terminate_len);
	qp_expect_wc(n.a, 1, status, RDMAP_WC_FETCH_ADD, 0);
	qp_net_done(&n);
}

#define WRONG_RESPONSE(response, terminate, status) \
	wrong_response(response, sizeof(response) - 1, terminate, sizeof(terminate) - 1, status)

static void test_wrong_response(void **state)
{
	WRONG_RESPONSE(RESPONSE("\x01") "\x00\x00\x00\x02" ZERO8, /* another's identifier */
		"\x02\xff\xc0\x00\x00\x1e" RESPONSE("\x01"), RDMAP_WC_WR_FLUSH_ERR);
	WRONG_RESPONSE(RESPONSE("\x01") "\x00\x00\x00\x01" ZERO4,
		"\x02\xff\xc0\x00\x00\x1a" RESPONSE("\x01"), RDMAP_WC_WR_FLUSH_ERR);
	WRONG_RESPONSE(RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8 "x",
		"\x12\x05\xc0\x00\x00\x1f" RESPONSE("\x01"), RDMAP_WC_WR_FLUSH_ERR);
	WRONG_RESPONSE(RESPONSE("\x02") "\x00\x00\x00\x01" ZERO8,
		"\x12\x03\xc0\x00\x00\x1e" RESPONSE("\x02"), RDMAP_WC_WR_FLUSH_ERR);
	/* a Read Response while the Atomic's is due */
	WRONG_RESPONSE("\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x10" ZERO8,
		"\x02\x06\xc0\x00\x00\x16"
		"\xc1\x42\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x10\x10",
		RDMAP_WC_WR_FLUSH_ERR);
	/* our own memory has gone */
	WRONG_RESPONSE(RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8, "\x00\x00\x00\x00",
		RDMAP_WC_LOC_PROT_ERR);
}

/* An answer to nothing: queue 3 has no buffer. One before a Read's: the wrong opcode. */
static void test_unasked(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	setup_requester(&n);
	FEED(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT_TERMINATE(&n, "\x12\x02\xc0\x00\x00\x1e" RESPONSE("\x01"));
	qp_net_done(&n);

	g = setup_requester(&n);
	qp_wqe_sge(qp_wqe(n.a, 1, RDMAP_WR_READ, 0), g, 16, 8);
	qp_post(n.a);
	qp_run(n.a);
	qp_net_run(&n);
	llp_mem_peer_consume(&n.peer, n.peer.rx_len);
	FEED(&n, RESPONSE("\x01") "\x00\x00\x00\x01" ZERO8);
	EXPECT_TERMINATE(&n, "\x02\x06\xc0\x00\x00\x1e" RESPONSE("\x01"));
	qp_net_done(&n);
}

/* The peer's Terminate names the request by queue and MSN. */
static void test_refused(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	atomic_wqe(n.a, 2, RDMAP_WR_CMP_SWAP, g, 8);
	qp_run(n.a);
	FEED(&n, "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x01" ZERO4
		 "\x01\x02\xc0\x00\x00\x46" REQUEST("\x02"));
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 1, 2);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_FETCH_ADD, 0);
	qp_expect_wc(n.a, 2, RDMAP_WC_REM_ACCESS_ERR, RDMAP_WC_CMP_SWAP, 0);
	qp_net_done(&n);
}

/* Linux siw knows none of this: its Terminate quotes nothing, and has its nibbles exchanged. */
static void test_refused_by_siw(void **state)
{
	struct qp_region *g;
	struct qp_net n;

	g = setup_requester(&n);
	atomic_wqe(n.a, 1, RDMAP_WR_FETCH_ADD, g, 0);
	qp_run(n.a);
	FEED(&n, "\x41\x47" ZERO4 "\x00\x00\x00\x02\x00\x00\x00\x01" ZERO4 "\x20\x06\x00\x00");
	qp_expect_end(n.a, RDMAP_END_TERMINATE_RX, 0, 0, 2, 6);
	assert_true(n.a->end.swapped);
	qp_expect_wc(n.a, 1, RDMAP_WC_WR_FLUSH_ERR, RDMAP_WC_FETCH_ADD, 0);
	qp_net_run(&n);
	assert_true(n.peer.eof);
	qp_net_done(&n);
}

/* ---- both -------------------------------------------------------------------------------- */

/* Through the whole stream, mixed with Reads: every value once, in order. */
static void test_both(void **state)
{
	struct qp_region *from, *to;
	struct qp_net n;

	qp_net_init(&n);
	qp_net_connect(&n);
	to = qp_region_add(n.a, 7, 0, 8 * 64, LOCAL);
	from = qp_region_add(n.b, 12, 0, 8, REMOTE | RDMAP_ACCESS_REMOTE_ATOMIC);
	memset(from->mem, 0, 8);
	for (unsigned i = 0; i < 60; i++) {
		bool read = i % 3 == 2;
		struct rdmap_wqe *w = qp_wqe(
			n.a, i, read ? RDMAP_WR_READ : RDMAP_WR_FETCH_ADD, RDMAP_WR_SIGNALED);

		w->remote_stag = 12;
		w->atomic.data = 1;
		if (read)
			memset(&w->atomic, 0, sizeof w->atomic);
		qp_wqe_sge(w, to, 8 * i, 8);
		qp_post(n.a);
	}
	qp_run(n.a);
	qp_net_run(&n);
	for (unsigned i = 0, sum = 0; i < 60; i++) {
		bool read = i % 3 == 2;

		qp_expect_wc(
			n.a, i, RDMAP_WC_SUCCESS, read ? RDMAP_WC_READ : RDMAP_WC_FETCH_ADD, 8);
		assert_int_equal(word(to, 8 * i), sum);
		sum += !read;
	}
	assert_int_equal(word(from, 0), 40);
	qp_net_done(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_swap),
		cmocka_unit_test(test_respond),
		cmocka_unit_test(test_order_and_ird),
		cmocka_unit_test(test_two_streams),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_alignment_of_address),
		cmocka_unit_test(test_invalidated_meanwhile),
		cmocka_unit_test(test_moved_meanwhile),
		cmocka_unit_test(test_request),
		cmocka_unit_test(test_response_before_that_of_rtr),
		cmocka_unit_test(test_fence),
		cmocka_unit_test(test_local_errors),
		cmocka_unit_test(test_wrong_response),
		cmocka_unit_test(test_unasked),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_by_siw),
		cmocka_unit_test(test_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
