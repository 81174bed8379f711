/* SPDX-License-Identifier: BSD-2-Clause */
/** Attempts to connect: which revision, which RTR type, older peers, peers that need time. */
#include "raw.h"

#include "rnic/qp.h"

#include <errno.h>

static void start(struct pair *p, struct llp_mem_peer *peer, const struct mpa_config *mpa)
{
	const struct rnic_config cfg = {.mpa = *mpa};

	pair_init(p, &cfg);
	llp_mem_peer_listen(peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
}

static void start_protected(struct pair *p, struct llp_mem_peer *peer)
{
	const struct rnic_config cfg = {.mpa = {.revision = 2, .rtr = 7}};

	pair_init(p, &cfg);
	llp_mem_set_protecting(p->mem);
	llp_mem_peer_listen(peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
}

static void finish(struct pair *p, struct llp_mem_peer *peer)
{
	llp_mem_peer_done(peer);
	pair_advance(p, 1);
	pair_fini(p);
}

static const struct mpa_config enhanced = {.revision = 2, .crc = MPA_CRC_PREFERRED, .rtr = 7};

/* ---- older peers: RFC 6581 section 10 ---------------------------------------------------- */

enum how { BY_FIN, BY_RST, BY_REJECT };

static void refuse(struct pair *p, struct llp_mem_peer *peer, enum how how)
{
	if (how != BY_REJECT)
		llp_mem_peer_consume(peer, peer->rx_len);
	switch (how) {
	case BY_FIN:
		llp_shutdown(peer->llp);
		break;
	case BY_RST:
		llp_abort(peer->llp);
		peer->llp = NULL;
		break;
	case BY_REJECT:
		raw_reply(p, peer, 0x60, 1, "", 0);
		break;
	}
	pair_run(p);
}

/** Each way to say no to revision 2 gets a fresh connection and a request of revision 1. */
static void an_older_peer_is_asked_again(void **state)
{
	for (enum how how = BY_FIN; how <= BY_REJECT; how++) {
		static const uint8_t again[] = REQ_KEY "\x40\x01\x00\x00";
		struct llp_mem_peer peer;
		struct pair p;

		start(&p, &peer, &enhanced);
		assert_int_equal(peer.rx[17], 2);
		refuse(&p, &peer, how);
		assert_int_equal(pair_count(&p.a, RNIC_EP_REJECTED), 0);
		pair_advance(&p, 1);
		assert_int_equal(peer.rx_len, 20);
		assert_memory_equal(peer.rx, again, 20);
		raw_reply(&p, &peer, 0x40, 1, "ok", 2);
		assert_int_equal(pair_last(&p.a)->type, RNIC_EP_ESTABLISHED);
		assert_int_equal(pair_last(&p.a)->private_len, 2);
		finish(&p, &peer);
	}
}

/** ... but only once, and the program hears of the second refusal. */
static void and_only_once(void **state)
{
	for (enum how how = BY_FIN; how <= BY_REJECT; how++) {
		struct llp_mem_peer peer;
		struct pair p;

		start(&p, &peer, &enhanced);
		refuse(&p, &peer, BY_FIN);
		pair_advance(&p, 1);
		assert_int_equal(peer.rx_len, 20);
		refuse(&p, &peer, how);
		assert_int_equal(pair_last(&p.a)->type, RNIC_EP_REJECTED);
		assert_int_equal(
			pair_last(&p.a)->status, how == BY_REJECT ? -ECONNREFUSED : -ECONNRESET);
		assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_INIT);
		finish(&p, &peer);
	}
}

/** Anybody on the path can cut a stream, and only the peer can end it in good order, or answer. */
static void under_protection_only_the_peer_gets_revision_1(void **state)
{
	for (enum how how = BY_FIN; how <= BY_REJECT; how++) {
		struct llp_mem_peer peer;
		struct pair p;

		start_protected(&p, &peer);
		assert_int_equal(peer.rx[17], 2);
		refuse(&p, &peer, how);
		pair_advance(&p, 1);
		assert_int_equal(pair_count(&p.a, RNIC_EP_REJECTED), how == BY_RST);
		if (how == BY_RST) {
			assert_int_equal(pair_last(&p.a)->status, -ECONNRESET);
			assert_null(peer.llp);
		} else {
			assert_int_equal(peer.rx_len, 20);
			assert_int_equal(peer.rx[17], 1);
		}
		finish(&p, &peer);
	}
}

/** A peer of revision 2 that rejects means it: its data go to the program. */
static void a_reject_in_revision_2_is_final(void **state)
{
	struct llp_mem_peer peer;
	struct pair p;

	start(&p, &peer, &enhanced);
	raw_reply(&p, &peer, 0x70, 2, "\x00\x02\x00\x03why", 7);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_REJECTED);
	assert_int_equal(pair_last(&p.a)->status, -ECONNREFUSED);
	assert_int_equal(pair_last(&p.a)->private_len, 3);
	assert_memory_equal(pair_last(&p.a)->private_data, "why", 3);
	/* RFC 6581 section 9.1: the responder's depths are told for a reject too. */
	assert_int_equal(pair_last(&p.a)->ird, 3);
	assert_int_equal(pair_last(&p.a)->ord, 2);
	finish(&p, &peer);
}

static void revision_1_is_not_tried_twice(void **state)
{
	const struct mpa_config old = {.revision = 1, .crc = MPA_CRC_PREFERRED};
	struct llp_mem_peer peer;
	struct pair p;

	start(&p, &peer, &old);
	refuse(&p, &peer, BY_RST);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_REJECTED);
	assert_int_equal(pair_last(&p.a)->status, -ECONNRESET);
	finish(&p, &peer);
}

/** Both tries share the deadline. */
static void one_deadline_for_both(void **state)
{
	struct llp_mem_peer peer;
	struct pair p;
	unsigned n;

	start(&p, &peer, &enhanced);
	pair_advance(&p, 6000);
	refuse(&p, &peer, BY_RST);
	pair_advance(&p, 3900);
	n = p.a.n_ep_events;
	assert_int_equal(pair_count(&p.a, RNIC_EP_UNREACHABLE), 0);
	pair_advance(&p, 200);
	assert_int_equal(p.a.n_ep_events, n + 1);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&p.a)->status, -ETIMEDOUT);
	finish(&p, &peer);
}

/** The endpoint may go away between the tries. */
static void destroyed_between_the_tries(void **state)
{
	struct llp_mem_peer peer;
	struct pair p;

	start(&p, &peer, &enhanced);
	llp_mem_peer_consume(&peer, peer.rx_len);
	llp_shutdown(peer.llp);
	llp_mem_run(p.mem, 100); /* not yet the engine's timers */
	assert_true(peer.closed);
	rnic_ep_destroy(p.a.ep);
	p.a.ep = NULL;
	pair_advance(&p, 10);
	assert_int_equal(peer.rx_len, 0);
	finish(&p, &peer);
}

/* ---- CRCs -------------------------------------------------------------------------------- */

/** RFC 6581 section 9.3: a Terminate of layer 2, type 0, code 5. */
static void a_peer_without_crcs_that_are_required(void **state)
{
	const struct mpa_config strict = {.revision = 2, .crc = MPA_CRC_REQUIRED};
	struct llp_mem_peer peer;
	struct pair p;

	start(&p, &peer, &strict);
	raw_reply(&p, &peer, 0x10, 2, "\x00\x04\x00\x04", 4);
	raw_expect_terminate(&peer, MPA_ERROR_CATASTROPHIC);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p.a)->status, -EPROTO);
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_ERROR);
	finish(&p, &peer);
}

/* ---- ready to receive -------------------------------------------------------------------- */

#define WRITE MPA_RTR_WRITE
#define READ  MPA_RTR_READ
#define SEND  MPA_RTR_SEND

static void the_best_rtr_first(void **state)
{
	static const struct {
		uint8_t order[3];
		const char *words; /* of the reply */
		uint8_t opcode;    /* of our first FPDU */
	} t[] = {
		{{0}, "\xc0\x04\xc0\x04", 0}, /* any: Write */
		{{0}, "\xc0\x04\x40\x04", 1}, /* Send or Read: Read */
		{{0}, "\xc0\x04\x00\x04", 3}, /* Send */
		{{READ, WRITE, SEND}, "\xc0\x04\xc0\x04", 1},
		{{READ, WRITE, SEND}, "\xc0\x04\x80\x04", 0},
		{{SEND, READ, WRITE}, "\xc0\x04\xc0\x04", 3},
		{{SEND, READ, WRITE}, "\x80\x04\xc0\x04", 1},
		{{SEND}, "\x80\x04\xc0\x04", 0}, /* the rest as usual */
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct mpa_config cfg = enhanced;
		struct llp_mem_peer peer;
		struct pair p;

		cfg.peer_to_peer = true;
		memcpy(cfg.rtr_order, t[i].order, 3);
		start(&p, &peer, &cfg);
		assert_int_equal(peer.rx[20] & 0xc0, 0xc0);
		assert_int_equal(peer.rx[22] & 0xc0, 0xc0);
		raw_reply(&p, &peer, 0x50, 2, t[i].words, 4);
		assert_int_equal(pair_last(&p.a)->type, RNIC_EP_ESTABLISHED);
		assert_true(peer.rx_len >= 20);
		assert_int_equal(peer.rx[3] & 0x0f, t[i].opcode);
		finish(&p, &peer);
	}
}

/** RFC 6581 section 9.2: what of the request we take, and something at least. */
static void the_reply_names_what_we_take(void **state)
{
	static const struct {
		uint8_t ours, asked, named;
	} t[] = {
		{WRITE | READ | SEND, WRITE | READ, WRITE | READ},
		{WRITE | READ | SEND, SEND, SEND},
		{WRITE | READ, WRITE | READ | SEND, WRITE | READ},
		{WRITE, READ, WRITE},
		{0, READ, READ}, /* rtr = none asks for none, but takes any */
		{0, 0, WRITE | READ | SEND},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct rnic_config cfg = {
			.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED, .rtr = t[i].ours}};
		uint8_t request[24] = REQ_KEY "\x50\x02\x00\x04\x80\x04\x00\x04";
		struct rnic_conn_param cp = {.ird = 4, .ord = 4};
		struct llp_mem_peer peer;
		struct pair p;

		request[20] |= t[i].asked & SEND ? 0x40 : 0;
		request[22] |=
			(uint8_t)((t[i].asked & WRITE ? 0x80 : 0) | (t[i].asked & READ ? 0x40 : 0));
		pair_init(&p, &cfg);
		pair_listen(&p, 4);
		raw_ask(&p, &peer, request, 24);
		cp.qp = p.b.qp;
		assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
		pair_run(&p);
		assert_int_equal(peer.rx_len, 24);
		assert_int_equal(peer.rx[20] & 0xc0, 0x80 | (t[i].named & SEND ? 0x40 : 0));
		assert_int_equal(peer.rx[22] & 0xc0,
			(t[i].named & WRITE ? 0x80 : 0) | (t[i].named & READ ? 0x40 : 0));
		finish(&p, &peer);
	}
}

/** RFC 6581 section 9: the initiator cannot go on with our reply. It was never connected. */
static void a_terminate_for_an_rtr(void **state)
{
	for (uint8_t code = MPA_ERROR_CATASTROPHIC; code <= MPA_ERROR_NO_RTR; code++) {
		static const uint8_t request[24] = REQ_KEY "\x10\x02\x00\x04\x80\x04\x80\x04";
		uint8_t terminate[2 + 18 + 4 + 4] = "\x00\x16\x41\x47\0\0\0\0\0\0\0\x02\0\0\0\x01";
		const struct rnic_config cfg = {.mpa = {.revision = 2, .rtr = 7}};
		struct rnic_conn_param cp = {.ird = 4, .ord = 4};
		struct llp_mem_peer peer;
		struct pair p;

		terminate[20] = 0x20;
		terminate[21] = code;
		pair_init(&p, &cfg);
		pair_listen(&p, 4);
		raw_ask(&p, &peer, request, 24);
		cp.qp = p.b.qp;
		assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
		pair_post(&p.b, p.b.qp, 1, RDMAP_WR_SEND, 0, 16, 0, 0);
		pair_run(&p);
		assert_int_equal(peer.rx_len, 24);
		llp_mem_send_raw(peer.llp, terminate, sizeof terminate);
		pair_run(&p);
		assert_int_equal(pair_count(&p.b, RNIC_EP_ESTABLISHED), 0);
		assert_int_equal(pair_count(&p.b, RNIC_EP_DISCONNECTED), 0);
		assert_int_equal(pair_last(&p.b)->type, RNIC_EP_CONNECT_ERROR);
		pair_expect(&p, &p.b, 1, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(peer.rx_len, 24); /* nothing was sent */
		assert_true(peer.eof);
		finish(&p, &peer);
	}
}

/** A peer that begins peer-to-peer with a Write as its RTR frame, and was accepted. */
static void raw_accepted(struct pair *p, struct llp_mem_peer *peer, const struct rnic_config *cfg)
{
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};

	pair_init(p, cfg);
	pair_listen(p, 4);
	raw_ask(p, peer, REQ_KEY "\x10\x02\x00\x04\x80\x04\x80\x04", 24);
	cp.qp = p->b.qp;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
}

/** Nor was one whose first message is wrong, though its FPDU is good: it is no RTR frame. */
static void a_wrong_message_for_an_rtr(void **state)
{
	/* Writes: to an STag that is none, of another RDMAP version; and an opcode that is none. */
	static const uint8_t control[][2] = {{0xc1, 0x40}, {0xc1, 0x80}, {0xc1, 0x4f}};

	for (unsigned i = 0; i < sizeof control / sizeof *control; i++) {
		uint8_t wrong[2 + 14 + 8 + 4] = {0, 22, control[i][0], control[i][1], 0xde, 0xad};
		const struct rnic_config cfg = {.mpa = {.revision = 2, .rtr = 7}};
		struct llp_mem_peer peer;
		struct pair p;

		raw_accepted(&p, &peer, &cfg);
		pair_post(&p.b, p.b.qp, 1, RDMAP_WR_SEND, 0, 16, 0, 0);
		pair_run(&p);
		llp_mem_peer_consume(&peer, 24); /* the reply */
		llp_mem_send_raw(peer.llp, wrong, sizeof wrong);
		pair_run(&p);
		assert_int_equal(pair_count(&p.b, RNIC_EP_ESTABLISHED), 0);
		assert_int_equal(pair_count(&p.b, RNIC_EP_DISCONNECTED), 0);
		assert_int_equal(pair_last(&p.b)->type, RNIC_EP_CONNECT_ERROR);
		assert_int_equal(pair_last(&p.b)->status, -EPROTO);
		pair_expect(&p, &p.b, 1, RDMAP_WC_WR_FLUSH_ERR);
		assert_int_equal(peer.rx[2 + 1] & 0x0f, RDMAP_OP_TERMINATE);
		assert_true(peer.eof);
		finish(&p, &peer);
	}
}

/** One that waits for its receive is right: a program may post that when it is established. */
static void a_message_for_an_rtr_waits(void **state)
{
	static const uint8_t send[2 + 18 + 4 + 4] = {0, 22, 0x41, 0x43, [15] = 1};
	const struct rnic_config cfg = {
		.mpa = {.revision = 2, .rtr = 7, .in_order = true}, .rnr_timeout_ms = 1000};
	struct llp_mem_peer peer;
	struct pair p;

	raw_accepted(&p, &peer, &cfg);
	llp_mem_send_raw(peer.llp, send, sizeof send);
	pair_run(&p);
	assert_int_equal(pair_last(&p.b)->type, RNIC_EP_ESTABLISHED);
	pair_post_recv(&p.b, p.b.qp, 1, 0, 8);
	pair_expect(&p, &p.b, 1, RDMAP_WC_SUCCESS);
	assert_int_equal(pair_count(&p.b, RNIC_EP_ESTABLISHED), 1);
	finish(&p, &peer);
}

/** The answer to a Read that is an RTR is a message, and cuts none of ours (RFC 5041 section 5.3).
 */
static void an_rtr_read_is_answered_between_messages(void **state)
{
	const struct rnic_config cfg = {
		.mpa = {.revision = 2, .crc = MPA_CRC_OFF, .peer_to_peer = true, .rtr = 7}};
	/* An empty Read Request, with its sink at STag 0x11. */
	static const uint8_t rtr[52] = {0, 46, 0x41, 0x41, [11] = 1, [15] = 1, [23] = 0x11};
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};
	unsigned answers = 0, opcode = 16;
	struct llp_mem_peer peer;
	struct pair p;

	pair_init(&p, &cfg);
	llp_mem_set_buffer(p.mem, 8192);
	pair_listen(&p, 4);
	raw_ask(&p, &peer, REQ_KEY "\x10\x02\x00\x04\x80\x04\x40\x04", 24);
	cp.qp = p.b.qp;
	assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
	pair_run(&p);
	pair_post(&p.b, p.b.qp, 1, RDMAP_WR_WRITE, 0, 30000, 0x1000, 0x2200);
	pair_run(&p);
	llp_mem_peer_consume(&peer, 24); /* the reply */
	llp_mem_send_raw(peer.llp, rtr, sizeof rtr);
	pair_run(&p);
	for (uint32_t at = 0; at < peer.rx_len;) {
		unsigned len = load_be16(peer.rx + at), now = peer.rx[at + 3] & 0x0f;

		answers += now == RDMAP_OP_READ_RESPONSE;
		assert_true(opcode == 16 || now == opcode); /* of the message that has begun */
		opcode = peer.rx[at + 2] & 0x40 ? 16 : now;
		at += ((2 + len + 3) & ~3u) + 4;
	}
	assert_int_equal(answers, 1);
	finish(&p, &peer);
}

/* ---- depths in private data -------------------------------------------------------------- */

/** A request of revision 1 from SMB Direct: its depths are used, its data are the program's. */
static void depths_before_rfc_6581(void **state)
{
	const struct rnic_config cfg = {
		.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED, .legacy = MPA_LEGACY_ALWAYS}};
	struct rnic_conn_param cp = {.ird = 4, .ord = 16};
	struct rnic_qp_attr attr;
	struct rnic_qp_init init;
	struct llp_mem_peer peer;
	struct pair p;

	pair_init(&p, &cfg);
	pair_listen(&p, 4);
	raw_ask(&p, &peer, REQ_KEY "\x40\x01\x00\x08\0\0\0\x03\0\0\0\x09", 28);
	assert_int_equal(pair_last(&p.b)->ird, 9);
	assert_int_equal(pair_last(&p.b)->ord, 3);
	assert_int_equal(pair_last(&p.b)->private_len, 8);
	assert_memory_equal(pair_last(&p.b)->private_data, "\0\0\0\x03\0\0\0\x09", 8);
	cp.qp = p.b.qp;
	assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
	pair_run(&p);
	assert_memory_equal(peer.rx, REP_KEY "\x40\x01\x00\x00", 20);
	rnic_qp_query(p.b.qp, &attr, &init);
	assert_int_equal(attr.ird, 9);
	assert_int_equal(attr.ord, 3);
	finish(&p, &peer);
}

/** The same bytes at another port are the program's alone. */
static void eight_bytes_of_somebody_else(void **state)
{
	struct llp_mem_peer peer;
	struct pair p;

	pair_init(&p, NULL);
	pair_listen(&p, 4);
	raw_ask(&p, &peer, REQ_KEY "\x40\x01\x00\x08\0\0\0\x03\0\0\0\x09", 28);
	assert_int_equal(pair_last(&p.b)->ird, 128);
	assert_int_equal(pair_last(&p.b)->ord, 128);
	finish(&p, &peer);
}

/* ---- a peer that needs time -------------------------------------------------------------- */

static const struct mpa_config settling = {.revision = 2,
	.crc = MPA_CRC_PREFERRED,
	.peer_to_peer = true,
	.rtr = WRITE,
	.settle_ms = 10};

static void the_first_fpdu_waits(void **state)
{
	struct llp_mem_peer peer;
	struct pair p;

	start(&p, &peer, &settling);
	raw_reply(&p, &peer, 0x50, 2, "\x80\x04\x80\x04hello", 9);
	pair_advance(&p, 9);
	assert_int_equal(peer.rx_len, 0);
	assert_int_equal(pair_count(&p.a, RNIC_EP_ESTABLISHED), 0);
	pair_advance(&p, 2);
	assert_int_equal(peer.rx_len, 20); /* the empty Write */
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_ESTABLISHED);
	assert_int_equal(pair_last(&p.a)->private_len, 5);
	assert_memory_equal(pair_last(&p.a)->private_data, "hello", 5);
	/* No deadline is left. */
	pair_advance(&p, 11000);
	assert_int_equal(rnic_qp_get_state(p.a.qp), RNIC_QP_RTS);
	finish(&p, &peer);
}

static void gone_while_it_settles(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		struct llp_mem_peer peer;
		struct pair p;

		start(&p, &peer, &settling);
		raw_reply(&p, &peer, 0x50, 2, "\x80\x04\x80\x04", 4);
		if (i < 2) {
			refuse(&p, &peer, i == 0 ? BY_FIN : BY_RST);
			assert_int_equal(pair_last(&p.a)->type, RNIC_EP_REJECTED);
			assert_int_equal(pair_last(&p.a)->status, -ECONNRESET);
		} else {
			rnic_ep_destroy(p.a.ep);
			p.a.ep = NULL;
		}
		pair_advance(&p, 20);
		assert_int_equal(peer.rx_len, 0);
		assert_int_equal(pair_count(&p.a, RNIC_EP_ESTABLISHED), 0);
		finish(&p, &peer);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_older_peer_is_asked_again),
		cmocka_unit_test(and_only_once),
		cmocka_unit_test(under_protection_only_the_peer_gets_revision_1),
		cmocka_unit_test(a_reject_in_revision_2_is_final),
		cmocka_unit_test(revision_1_is_not_tried_twice),
		cmocka_unit_test(one_deadline_for_both),
		cmocka_unit_test(destroyed_between_the_tries),
		cmocka_unit_test(a_peer_without_crcs_that_are_required),
		cmocka_unit_test(the_best_rtr_first),
		cmocka_unit_test(the_reply_names_what_we_take),
		cmocka_unit_test(a_terminate_for_an_rtr),
		cmocka_unit_test(a_wrong_message_for_an_rtr),
		cmocka_unit_test(a_message_for_an_rtr_waits),
		cmocka_unit_test(an_rtr_read_is_answered_between_messages),
		cmocka_unit_test(depths_before_rfc_6581),
		cmocka_unit_test(eight_bytes_of_somebody_else),
		cmocka_unit_test(the_first_fpdu_waits),
		cmocka_unit_test(gone_while_it_settles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
