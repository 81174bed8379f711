/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/ep_priv.h"

#include "pair.h"
#include "rnic/qp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#define REQUEST "MPA ID Req Frame\x40\x01\x00\x00"

static void ask_from(unsigned host, struct pair *p, struct llp_mem_peer *peer, bool request)
{
	struct ip_endpoint to = llp_mem_endpoint(p->mem, 1, PAIR_PORT);

	llp_mem_peer_connect(peer, p->mem, host, &to);
	pair_run(p);
	if (request && peer->llp)
		llp_mem_send_raw(peer->llp, REQUEST, 20);
	pair_run(p);
}

static void ask(struct pair *p, struct llp_mem_peer *peer, bool request)
{
	ask_from(0, p, peer, request);
}

/** Answered by an MPA Reply with the R bit, and no more. */
static bool is_rejected(const struct llp_mem_peer *peer)
{
	return peer->eof && peer->rx_len >= 20 && !memcmp(peer->rx, "MPA ID Rep Frame", 16) &&
	       (peer->rx[16] & 0x20);
}

static void listen_and_its_errors(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint at = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_ep *ep;

	assert_int_equal(rnic_ep_listen(p->b.ep, 1), -EINVAL);
	assert_int_equal(rnic_ep_bind(p->b.ep, &at, true, false), 0);
	assert_int_equal(rnic_ep_listen(p->b.ep, 1), 0);
	assert_int_equal(rnic_ep_listen(p->b.ep, 1), -EINVAL);
	assert_int_equal(rnic_ep_resolve(p->b.ep, &at, 0), -EINVAL);
	assert_int_equal(rnic_ep_disconnect(p->b.ep), -ENOTCONN);
	assert_int_equal(rnic_ep_create(p->b.rnic, pair_ep_event, &p->b, &ep), 0);
	assert_int_equal(rnic_ep_bind(ep, &at, true, false), 0);
	assert_int_equal(rnic_ep_listen(ep, 1), -EADDRINUSE);
	rnic_ep_destroy(ep);
}

/** Up to listening one may think again about how it is bound. */
static void bound_anew(void **state)
{
	struct pair *p = *state;
	struct ip_endpoint at = llp_mem_endpoint(p->mem, 1, PAIR_PORT);
	struct rnic_ep *ep;

	assert_int_equal(rnic_ep_create(p->b.rnic, pair_ep_event, &p->b, &ep), 0);
	assert_int_equal(rnic_ep_rebind(p->b.ep, true, false), -EINVAL);
	assert_int_equal(rnic_ep_bind(p->b.ep, &at, false, false), 0);
	assert_int_equal(rnic_ep_bind(ep, &at, true, false), -EADDRINUSE);
	assert_int_equal(rnic_ep_rebind(p->b.ep, true, false), 0);
	assert_int_equal(rnic_ep_bind(ep, &at, true, false), 0);
	/* Not alone any more: it stays as it was, with its port. */
	assert_int_equal(rnic_ep_rebind(ep, false, false), -EADDRINUSE);
	rnic_ep_destroy(p->b.ep);
	assert_int_equal(rnic_ep_rebind(ep, false, false), 0);
	assert_int_equal(rnic_ep_listen(ep, 1), 0);
	assert_int_equal(rnic_ep_rebind(ep, true, false), -EINVAL);
	p->b.ep = ep;
}

/** The listener's own handler and context speak for a request until somebody adopts it. */
static void the_backlog_is_kept(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer[4];
	struct rnic_ep *first;
	struct rnic_conn_param cp = {.qp = p->b.qp};

	pair_listen(p, 2);
	ask(p, &peer[0], true);
	first = p->b.request;
	ask(p, &peer[1], true);
	ask(p, &peer[2], true);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 2);
	assert_true(is_rejected(&peer[2]));
	/* One adopted makes room for one, answered or not. */
	rnic_ep_set_context(first, pair_ep_event, &p->b);
	ask(p, &peer[3], true);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 3);
	assert_int_equal(rnic_ep_accept(first, &cp), 0);
	for (unsigned i = 0; i < 4; i++)
		llp_mem_peer_done(&peer[i]);
	pair_run(p);
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 1);
	rnic_ep_destroy(first);
}

/** A program that does not look hears of each peer's first request, though one has filled it. */
static void the_backlog_is_shared(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer[5];
	struct rnic_ep *mine;

	pair_listen(p, 1);
	ask_from(2, p, &peer[0], true);
	ask_from(2, p, &peer[1], true);
	assert_true(is_rejected(&peer[1]));
	ask_from(0, p, &peer[2], true);
	assert_false(peer[2].closed || peer[2].eof);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 2);
	mine = p->b.request;
	/* One for each, and no more than as many again for all together. */
	ask_from(0, p, &peer[3], true);
	assert_true(is_rejected(&peer[3]));
	ask_from(1, p, &peer[4], true);
	assert_true(is_rejected(&peer[4]));
	rnic_ep_set_context(mine, pair_ep_event, &p->b);
	llp_mem_peer_done(&peer[4]);
	ask_from(1, p, &peer[4], true);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 3);
	rnic_ep_destroy(mine);
	p->b.request = NULL;
	for (unsigned i = 0; i < 5; i++)
		llp_mem_peer_done(&peer[i]);
	pair_run(p);
}

/** What the program cannot take is answered, and does not count. */
static void a_request_that_is_refused_makes_room(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 1);
	p->b.refuses = true;
	for (unsigned i = 1; i < 4; i++) {
		ask(p, &peer, true);
		assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), i);
		assert_true(is_rejected(&peer));
		llp_mem_peer_done(&peer);
	}
	p->b.refuses = false;
	ask(p, &peer, true);
	assert_false(peer.closed || peer.eof);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

static void a_request_that_went_away_makes_room(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer, more;

	pair_listen(p, 1);
	for (unsigned i = 1; i < 4; i++) {
		ask(p, &peer, true);
		assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), i);
		llp_mem_peer_done(&peer);
		pair_run(p);
		/* But only once the program has seen it: before, it counts. */
		ask(p, &more, true);
		assert_true(is_rejected(&more));
		llp_mem_peer_done(&more);
		rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
		assert_int_equal(rnic_ep_reject(p->b.request, NULL, 0), -ENOTCONN);
		rnic_ep_destroy(p->b.request);
		p->b.request = NULL;
	}
	assert_int_equal(pair_count(&p->b, RNIC_EP_DISCONNECTED), 0);
}

static void destroying_a_listener(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer silent, asked, adopted, late;
	struct rnic_conn_param cp = {.qp = p->b.qp};

	pair_listen(p, 0);
	ask(p, &silent, false);
	ask(p, &adopted, true);
	rnic_ep_set_context(p->b.request, pair_ep_event, &p->b);
	{
		struct rnic_ep *mine = p->b.request;

		ask(p, &asked, true);
		p->b.request = mine;
	}
	rnic_ep_destroy(p->b.ep);
	p->b.ep = NULL;
	pair_run(p);
	assert_int_equal(silent.error, -ECONNRESET);
	assert_true(is_rejected(&asked));
	assert_false(adopted.closed);
	ask(p, &late, false);
	assert_int_equal(late.error, -ECONNREFUSED);
	/* What was adopted lives on. */
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 1);
	llp_mem_peer_done(&silent);
	llp_mem_peer_done(&asked);
	llp_mem_peer_done(&late);
	llp_mem_peer_done(&adopted);
	pair_run(p);
}

static void a_request_destroyed_is_rejected(void **state)
{
	struct pair *p = *state;
	struct llp_mem_peer peer;

	pair_listen(p, 1);
	ask(p, &peer, true);
	rnic_ep_destroy(p->b.request);
	p->b.request = NULL;
	pair_run(p);
	assert_true(is_rejected(&peer));
	llp_mem_peer_done(&peer);
	ask(p, &peer, true);
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 2);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

static void wildcard_takes_ipv4_unless_told_not_to(void **state)
{
	for (unsigned v6only = 0; v6only < 2; v6only++) {
		struct ip_endpoint any = {.port = PAIR_PORT};
		struct llp_mem_peer peer;
		struct pair *p;

		pair_setup_apart(state);
		p = *state;
		assert_int_equal(rnic_ep_bind(p->b.ep, &any, false, v6only), 0);
		assert_int_equal(rnic_ep_listen(p->b.ep, 1), 0);
		ask(p, &peer, true);
		assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), !v6only);
		assert_int_equal(peer.error, v6only ? -ECONNREFUSED : 0);
		llp_mem_peer_done(&peer);
		pair_run(p);
		pair_teardown(state);
	}
}

/** Peers that connect and say nothing do not fill the memory. */
static void silent_peers_are_bounded(void **state)
{
	struct rnic_config cfg = {.mpa.revision = 2, .limits.max_listen_backlog = 3};
	struct llp_mem_peer peer[4];
	struct pair p;

	pair_init(&p, &cfg);
	pair_listen(&p, 0);
	for (unsigned i = 0; i < 4; i++)
		ask(&p, &peer[i], false);
	/* The oldest went for the last, which may have something to say. */
	assert_true(peer[0].closed);
	for (unsigned i = 1; i < 4; i++)
		assert_false(peer[i].closed);
	for (unsigned i = 0; i < 4; i++)
		llp_mem_peer_done(&peer[i]);
	pair_run(&p);
	/* Gone, they leave their places. */
	ask(&p, &peer[0], true);
	assert_int_equal(pair_count(&p.b, RNIC_EP_CONNECT_REQUEST), 1);
	llp_mem_peer_done(&peer[0]);
	pair_run(&p);
	pair_fini(&p);
}

/** One peer may have fewer than there may be in all: then it is its own oldest. */
static void one_peer_is_bounded(void **state)
{
	struct rnic_config cfg = {
		.mpa.revision = 2, .max_startups = 10, .max_startups_per_peer = 2};
	struct llp_mem_peer peer[3];
	struct pair p;

	pair_init(&p, &cfg);
	pair_listen(&p, 0);
	for (unsigned i = 0; i < 3; i++)
		ask(&p, &peer[i], false);
	assert_true(peer[0].closed);
	assert_false(peer[1].closed || peer[2].closed);
	for (unsigned i = 0; i < 3; i++)
		llp_mem_peer_done(&peer[i]);
	pair_run(&p);
	pair_fini(&p);
}

/** A request in pieces: what has come of it is kept in few bytes, and in no packet. */
static void a_request_in_pieces(void **state)
{
	static const char request[] = "MPA ID Req Frame\x40\x01\x00\x04yes!";
	struct pair *p = *state;
	struct llp_mem_peer peer;
	size_t held;

	pair_listen(p, 1);
	ask(p, &peer, false);
	for (unsigned i = 0; i < sizeof request - 1; i++) {
		assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 0);
		llp_mem_send_raw(peer.llp, request + i, 1);
		pair_run(p);
		assert_int_equal(llp_mem_pending(peer.llp, &held), 0);
		assert_int_equal(held, 0);
	}
	assert_int_equal(pair_count(&p->b, RNIC_EP_CONNECT_REQUEST), 1);
	assert_int_equal(pair_last(&p->b)->private_len, 4);
	assert_memory_equal(pair_last(&p->b)->private_data, "yes!", 4);
	llp_mem_peer_done(&peer);
	pair_run(p);
}

/** What a stranger can have us keep, beside TCP's connection. */
static void a_start_up_is_small(void **state)
{
	assert_true(sizeof(struct conn) + sizeof(struct peer_entry) + MPA_FRAME_MAX <= 1024);
}

/** An error leaves the request as it was: it can still be accepted. */
static void accept_may_be_tried_again(void **state)
{
	static const uint8_t data[513];
	struct pair *p = *state;
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 1, .ord = 1};

	pair_request(p, NULL);
	cp.private_data = data;
	cp.private_len = 509;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), -EINVAL);
	assert_int_equal(rnic_ep_reject(p->b.request, data, 513), -EINVAL);
	cp.private_len = 508;
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), -EINVAL);
	pair_run(p);
	assert_int_equal(pair_last(&p->a)->private_len, 508);
}

/** The LLP has an end to tell of when it is asked for what came behind the request. */
static void accept_finds_the_connection_over(void **state)
{
	struct pair *p = *state;
	struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 1, .ord = 1};
	struct rnic_ep *request;

	pair_request(p, NULL);
	request = p->b.request;
	p->quiet = true;
	llp_mem_fail(mpa_llp(&request->conn->mpa), -ECONNRESET);
	assert_int_equal(rnic_ep_accept(request, &cp), 0);
	assert_int_equal(pair_count(&p->b, RNIC_EP_ESTABLISHED), 0);
	assert_int_equal(pair_last(&p->b)->type, RNIC_EP_CONNECT_ERROR);
	assert_int_equal(pair_last(&p->b)->status, -ECONNRESET);
	assert_int_equal(rnic_qp_get_state(p->b.qp), RNIC_QP_ERROR);
	assert_int_equal(rnic_ep_disconnect(request), -ENOTCONN);
	rnic_ep_destroy(request);
	p->b.request = NULL;
	p->quiet = false;
	pair_run(p); /* the initiator tries again, in revision 1 */
}

/** rdma_set_option(RDMA_OPTION_ID_TOS), on a listener or on the request. */
static void the_type_of_service_is_that_of_accept(void **state)
{
	struct pair *p = *state;
	const struct rnic_conn_param cp = {.qp = p->b.qp, .ird = 4, .ord = 4, .tos = 0x68};

	pair_request(p, NULL);
	assert_int_equal(rnic_ep_accept(p->b.request, &cp), 0);
	assert_int_equal(llp_mem_tos(mpa_llp(&p->b.qp->conn->mpa)), 0x68);
	/* The program hears who comes, and judges that. */
	assert_false(llp_mem_demanded(mpa_llp(&p->b.qp->conn->mpa)));
}

static void depths_for_the_program(void **state)
{
	assert_int_equal(ep_depth(5, 128), 5);
	assert_int_equal(ep_depth(0, 128), 0);
	assert_int_equal(ep_depth(129, 128), 128);
	assert_int_equal(ep_depth(MPA_DEPTH_UNKNOWN, 128), 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			listen_and_its_errors, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(bound_anew, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			the_backlog_is_kept, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			the_backlog_is_shared, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_that_is_refused_makes_room, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_that_went_away_makes_room, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			destroying_a_listener, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			a_request_destroyed_is_rejected, pair_setup_apart, pair_teardown),
		cmocka_unit_test(wildcard_takes_ipv4_unless_told_not_to),
		cmocka_unit_test(silent_peers_are_bounded),
		cmocka_unit_test(one_peer_is_bounded),
		cmocka_unit_test_setup_teardown(
			a_request_in_pieces, pair_setup_apart, pair_teardown),
		cmocka_unit_test(a_start_up_is_small),
		cmocka_unit_test_setup_teardown(
			accept_may_be_tried_again, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			accept_finds_the_connection_over, pair_setup_apart, pair_teardown),
		cmocka_unit_test_setup_teardown(
			the_type_of_service_is_that_of_accept, pair_setup_apart, pair_teardown),
		cmocka_unit_test(depths_for_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
