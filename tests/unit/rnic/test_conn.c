/* SPDX-License-Identifier: BSD-2-Clause */
/** The start-up of connections: what is negotiated, deadlines, and peers that talk nonsense. */
#include "rnic/conn.h"

#include "pair.h"
#include "raw.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

static int setup_peer_to_peer(void **state)
{
	static struct pair p;
	const struct rnic_config cfg = {.mpa = {.revision = 2,
						.crc = true,
						.peer_to_peer = true,
						.rtr = MPA_RTR_WRITE | MPA_RTR_READ}};

	pair_init(&p, &cfg);
	*state = &p;
	return 0;
}

static void depths(struct pair *p, struct side *s, uint16_t ird, uint16_t ord)
{
	struct rnic_qp_attr attr;
	struct rnic_qp_init init;

	pair_run(p);
	rnic_qp_query(s->qp, &attr, &init);
	assert_int_equal(attr.ird, ird);
	assert_int_equal(attr.ord, ord);
}

/* ---- negotiation among ourselves --------------------------------------------------------- */

struct depth_case {
	uint16_t a_ird, a_ord, b_ird, b_ord; /* wanted */
	uint16_t req_ird, req_ord;           /* what b is told it may use */
	uint16_t got_a_ird, got_a_ord, got_b_ird, got_b_ord;
};

static void negotiate(const struct depth_case *d)
{
	struct pair p;
	struct rnic_conn_param cp = {.ird = d->a_ird, .ord = d->a_ord};

	pair_init(&p, NULL);
	cp.qp = p.a.qp;
	pair_request(&p, &cp);
	assert_int_equal(pair_last(&p.b)->ird, d->req_ird);
	assert_int_equal(pair_last(&p.b)->ord, d->req_ord);
	cp = (struct rnic_conn_param){.qp = p.b.qp, .ird = d->b_ird, .ord = d->b_ord};
	assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
	depths(&p, &p.a, d->got_a_ird, d->got_a_ord);
	depths(&p, &p.b, d->got_b_ird, d->got_b_ord);
	assert_int_equal(pair_last(&p.a)->type, RNIC_EP_ESTABLISHED);
	assert_int_equal(pair_last(&p.a)->ird, d->got_a_ird);
	assert_int_equal(pair_last(&p.a)->ord, d->got_a_ord);
	assert_int_equal(pair_last(&p.b)->ird, d->got_b_ird);
	assert_int_equal(pair_last(&p.b)->ord, d->got_b_ord);
	pair_fini(&p);
}

/** RFC 6581 section 9.1: each ORD at most the other's IRD. */
static void depths_fit_each_other(void **state)
{
	static const struct depth_case t[] = {
		{4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
		{1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
		{128, 128, 128, 128, 128, 128, 128, 128, 128, 128},
		/* The responder wants more Reads than the initiator takes. */
		{2, 4, 4, 16, 4, 2, 2, 4, 4, 2},
		/* The initiator wants more than the responder offered: it takes them. */
		{4, 16, 2, 4, 16, 4, 4, 16, 16, 4},
		{0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{0, 5, 3, 3, 5, 0, 0, 5, 5, 0},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++)
		negotiate(&t[i]);
}

static void revision_1_tells_no_depths(void **state)
{
	const struct rnic_config cfg = {.mpa = {.revision = 1, .crc = true}};
	struct pair p;
	struct rnic_conn_param cp = {.ird = 3, .ord = 5};

	pair_init(&p, &cfg);
	cp.qp = p.a.qp;
	pair_request(&p, &cp);
	/* Not told: whatever the device can. */
	assert_int_equal(pair_last(&p.b)->ird, 128);
	assert_int_equal(pair_last(&p.b)->ord, 128);
	cp = (struct rnic_conn_param){.qp = p.b.qp, .ird = 7, .ord = 9};
	assert_int_equal(rnic_ep_accept(p.b.request, &cp), 0);
	depths(&p, &p.a, 3, 5);
	depths(&p, &p.b, 7, 9);
	pair_fini(&p);
}

/** RFC 6581 section 9.3: the responder is established when the RTR frame has come. */
static void ready_to_receive(void **state)
{
	struct pair *p = *state;
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4};

	pair_request(p, NULL);
	p->quiet = true;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 0);
	p->quiet = false;
	pair_run(p);
	assert_int_equal(pair_count(&p->a, RNIC_EP_ESTABLISHED), 1);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 1);
	/* And now the responder may speak first. */
	pair_post_recv(&p->a, p->a.qp, 1, 0, 8);
	pair_post(&p->b, p->b.qp, 2, RDMAP_WR_SEND, 0, 8, 0, 0);
	pair_expect(p, &p->a, 1, RDMAP_WC_SUCCESS);
	/* The deadline is off. */
	pair_advance(p, 11000);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 0);
}

static void an_rtr_that_never_comes(void **state)
{
	struct pair *p = *state;
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4};

	pair_request(p, NULL);
	llp_mem_set_silent(p->mem, 0, true);
	pair_post_recv(&p->b, p->b.qp, 1, 0, 8);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_advance(p, 9900);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	pair_advance(p, 200);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&p->b)->status, -ETIMEDOUT);
	pair_expect(p, &p->b, 1, RDMAP_WC_WR_FLUSH_ERR);
}

/* Accept, from a peer whose RTR frame is on its way for good. */
static void accept_without_rtr(struct pair *p)
{
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4};

	pair_request(p, NULL);
	llp_mem_set_silent(p->mem, 0, true);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
}

static void an_rtr_that_stood_still_too(void **state)
{
	struct pair *p = *state;

	accept_without_rtr(p);
	pair_advance(p, 9900);
	pair_stand_still(p, 60000);
	pair_advance(p, 9900);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	pair_advance(p, 200);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->b)->status, -ETIMEDOUT);
}

static void an_rtr_on_a_machine_that_stops_again_and_again(void **state)
{
	struct pair *p = *state;

	accept_without_rtr(p);
	for (unsigned i = 0; i < 3; i++)
		pair_stand_still(p, 60000);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_RTS);
	pair_stand_still(p, 60000);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(pair_last(&p->b)->status, -ETIMEDOUT);
}

/* ---- initiator: what peers may answer ---------------------------------------------------- */

static void request_on_the_wire(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_conn_param cp = {
		.qp = p->a.qp, .ird = 3, .ord = 2, .private_data = "hi", .private_len = 2};
	/* C and S, revision 2, six bytes: IRD 3, ORD 2, "hi". */
	static const uint8_t want[] = {'M', 'P', 'A', ' ', 'I', 'D', ' ', 'R', 'e', 'q', ' ', 'F',
		'r', 'a', 'm', 'e', 0x50, 2, 0, 6, 0, 3, 0, 2, 'h', 'i'};

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	assert_int_equal(rnic_ep_resolve(p->a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(p->a.ep, &cp), 0);
	pair_run(p);
	assert_int_equal(peer.rx_len, sizeof want);
	assert_memory_equal(peer.rx, want, sizeof want);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

/** The reply's IRD limits our ORD, its ORD raises our IRD; all ones leave them alone. */
static void a_reply_with_other_depths(void **state)
{
	static const struct {
		uint8_t words[4];
		uint16_t ird, ord;
	} t[] = {
		{{0x00, 0x02, 0x00, 0x04}, 4, 2},
		{{0x00, 0x00, 0x00, 0x00}, 4, 0},
		{{0x00, 0x04, 0x00, 0x09}, 9, 4},
		{{0x00, 0x04, 0x00, 0x80}, 128, 4},
		{{0x3f, 0xff, 0x3f, 0xff}, 4, 4},
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct llp_mem_peer peer;
		struct pair p;

		pair_init(&p, NULL);
		llp_mem_peer_listen(&peer, p.mem, 1, PAIR_PORT);
		raw_connect(&p, 4, 4);
		raw_reply(&p, &peer, 0x50, 2, t[i].words, 4);
		assert_int_equal(pair_last(&p.a)->type, RNIC_EP_ESTABLISHED);
		depths(&p, &p.a, t[i].ird, t[i].ord);
		llp_mem_peer_done(&peer);
		pair_run(&p);
		pair_fini(&p);
	}
}

static void more_reads_than_we_can_take(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	raw_reply(p, &peer, 0x50, 2, "\x00\x04\x00\x81", 4); /* ORD 129 */
	raw_expect_terminate(&peer, MPA_ERROR_INSUFFICIENT_IRD);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->a)->status, -EPROTO);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_ERROR);
	llp_mem_peer_done(&peer);
}

static void no_common_rtr(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	/* Posted early: it is not for this peer any more. */
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_RTR}),
		0);
	assert_int_equal(rnic_qp_modify(p->a.qp, RNIC_QP_STATE,
				 &(struct rnic_qp_attr){.state = RNIC_QP_RTS}),
		0);
	pair_post(&p->a, p->a.qp, 1, RDMAP_WR_SEND, 0, 8, 0, 0);
	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	raw_reply(p, &peer, 0x50, 2, "\xc0\x04\x00\x04", 4); /* A and B: Send only */
	raw_expect_terminate(&peer, MPA_ERROR_NO_RTR);
	pair_expect(p, &p->a, 1, RDMAP_WC_WR_FLUSH_ERR);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	llp_mem_peer_done(&peer);
}

static void sends_the_rtr_asked_for(void **state)
{
	static const struct {
		const char *words;
		uint8_t opcode;
	} t[] = {
		{"\x80\x04\x80\x04", 0}, /* Write */
		{"\x80\x04\x40\x04", 1}, /* Read Request */
		{"\x80\x04\xc0\x04", 0}, /* either: Write */
	};

	for (unsigned i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct llp_mem_peer peer;
		struct pair *p;

		setup_peer_to_peer(state);
		p = *state;
		llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
		raw_connect(p, 4, 4);
		raw_reply(p, &peer, 0x50, 2, t[i].words, 4);
		assert_int_equal(pair_last(&p->a)->type, RNIC_EP_ESTABLISHED);
		assert_true(peer.rx_len >= 20);
		assert_int_equal(peer.rx[3] & 0x0f, t[i].opcode);
		llp_mem_peer_done(&peer);
		pair_run(p);
		pair_fini(p);
	}
}

static void a_reply_of_nonsense(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	llp_mem_send_raw(peer.llp, "HTTP/1.1 400 Bad Request", 24);
	pair_run(p);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->a)->status, -EPROTO);
	assert_int_equal(rnic_qp_get_state(p->a.qp), RNIC_QP_INIT);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

static void a_peer_that_stood_still_too(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;
	unsigned n;

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	n = p->a.n_ep_events;
	pair_advance(p, 9900);
	pair_stand_still(p, 60000);
	pair_advance(p, 9900);
	assert_int_equal(p->a.n_ep_events, n);
	pair_advance(p, 200);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	llp_mem_peer_done(&peer);
}

static void a_machine_that_stops_again_and_again(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;
	unsigned n;

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	n = p->a.n_ep_events;
	for (unsigned i = 0; i < 3; i++)
		pair_stand_still(p, 60000);
	assert_int_equal(p->a.n_ep_events, n);
	pair_stand_still(p, 60000);
	assert_int_equal(p->a.n_ep_events, n + 1);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	llp_mem_peer_done(&peer);
}

static void a_peer_that_never_replies(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;
	unsigned n;

	llp_mem_peer_listen(&peer, p->mem, 1, PAIR_PORT);
	raw_connect(p, 4, 4);
	n = p->a.n_ep_events;
	pair_advance(p, 9900);
	assert_int_equal(p->a.n_ep_events, n);
	pair_advance(p, 200);
	assert_int_equal(p->a.n_ep_events, n + 1);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
	assert_int_equal(peer.error, -ECONNRESET);
	llp_mem_peer_done(&peer);
}

static void a_host_that_is_not_there(void **state)
{
	struct pair *p = *state;

	llp_mem_set_silent(p->mem, 1, true);
	raw_connect(p, 4, 4);
	pair_advance(p, 10100);
	assert_int_equal(pair_last(&p->a)->type, RNIC_EP_UNREACHABLE);
	assert_int_equal(pair_last(&p->a)->status, -ETIMEDOUT);
}

/* ---- responder: what peers may ask ------------------------------------------------------- */

static void a_request_that_never_comes(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer quiet, half;

	pair_listen(p, 4);
	raw_ask(p, &quiet, NULL, 0);
	raw_ask(p, &half, REQ_KEY, 10);
	pair_advance(p, 9900);
	assert_false(quiet.closed);
	assert_false(half.closed);
	pair_advance(p, 200);
	assert_int_equal(quiet.error, -ECONNRESET);
	assert_int_equal(half.error, -ECONNRESET);
	assert_int_equal(p->b.n_ep_events, 0);
	llp_mem_peer_done(&quiet);
	llp_mem_peer_done(&half);
}

static void a_request_of_nonsense(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 4);
	raw_ask(p, &peer, "GET / HTTP/1.1\r\n\r\n............", 30);
	assert_true(peer.eof || peer.closed);
	assert_int_equal(p->b.n_ep_events, 0);
	llp_mem_peer_done(&peer);
	pair_run(p);
	/* The listener is not impressed. */
	raw_ask(p, &peer, REQ_KEY "\x40\x01\x00\x00", 20);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 1);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

static void a_request_that_hangs_up(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 4);
	raw_ask(p, &peer, NULL, 0);
	llp_mem_peer_done(&peer);
	pair_run(p);
	assert_int_equal(p->b.n_ep_events, 0);
	assert_int_equal(llp_mem_open_count(p->mem), 0);
}

static void accept_raw(struct pair *p, uint16_t ird, uint16_t ord)
{
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = ird, .ord = ord};

	assert_non_null(p->b.request);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	pair_run(p);
}

/** "The responder MUST respond ... by setting the IRD to 0x3FFF", and the ORD likewise. */
static void unknown_depths_are_answered_in_kind(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 4);
	raw_ask(p, &peer, REQ_KEY "\x50\x02\x00\x04\x3f\xff\x3f\xff", 24);
	accept_raw(p, 3, 5);
	assert_int_equal(peer.rx_len, 24);
	assert_memory_equal(peer.rx, REP_KEY "\x50\x02\x00\x04\x3f\xff\x3f\xff", 24);
	depths(p, &p->b, 3, 5);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

static void a_read_as_rtr_needs_an_ird(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 4);
	raw_ask(p, &peer, REQ_KEY "\x50\x02\x00\x04\x80\x00\x40\x00", 24);
	accept_raw(p, 0, 0);
	assert_int_equal(peer.rx_len, 24);
	assert_memory_equal(peer.rx, REP_KEY "\x50\x02\x00\x04\x80\x01\x40\x00", 24);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 0);
	llp_mem_peer_done(&peer);
	pair_run(p);
	/* It went away before it was ready. */
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
}

/**
 * RFC 5041 section 3, item 10: a stream that failed takes its connection along, though the peer
 * does nothing for it: it neither reads our Terminate nor closes.
 */
static void a_failed_stream_leaves_no_connection(void **state)
{
	static const uint8_t wrong[24] = {0, 18}; /* its CRC, for one */
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 4);
	raw_ask(p, &peer, REQ_KEY "\x00\x01\x00\x00", 20);
	accept_raw(p, 4, 4);
	assert_int_equal(llp_mem_open_count(p->mem), 2);
	llp_mem_send_raw(peer.llp, wrong, sizeof wrong);
	pair_run(p);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_DISCONNECTED);
	assert_int_equal(llp_mem_open_count(p->mem), 1); /* the peer's own */
	llp_mem_peer_done(&peer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(depths_fit_each_other),
		cmocka_unit_test(revision_1_tells_no_depths),
		cmocka_unit_test_setup_teardown(
			ready_to_receive, setup_peer_to_peer, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_rtr_that_never_comes, setup_peer_to_peer, pair_teardown),
		cmocka_unit_test_setup_teardown(
			an_rtr_that_stood_still_too, setup_peer_to_peer, pair_teardown),
		cmocka_unit_test_setup_teardown(an_rtr_on_a_machine_that_stops_again_and_again,
			setup_peer_to_peer, pair_teardown),
		cmocka_unit_test_setup_teardown(
			request_on_the_wire, pair_setup_apart, pair_teardown),
		cmocka_unit_test(a_reply_with_other_depths),
		cmocka_unit_test_setup_teardown(
			more_reads_than_we_can_take, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(no_common_rtr, setup_peer_to_peer, pair_teardown),
		cmocka_unit_test(sends_the_rtr_asked_for),
		cmocka_unit_test_setup_teardown(
			a_reply_of_nonsense, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_peer_that_never_replies, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_peer_that_stood_still_too, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_machine_that_stops_again_and_again, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_host_that_is_not_there, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_that_never_comes, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_of_nonsense, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_that_hangs_up, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_failed_stream_leaves_no_connection, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			unknown_depths_are_answered_in_kind, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_read_as_rtr_needs_an_ird, setup_peer_to_peer, pair_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
