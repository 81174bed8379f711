/* SPDX-License-Identifier: BSD-2-Clause */
/** A connection asks the peer's port mapper first: what it makes of each answer, and of none. */
#include "raw.h"

#include "rnic/qp.h"

#include <errno.h>

#define MAPPED   33781
#define CONNECTS 8

struct world {
	struct pair pair;
	struct iwpm *mapper;
	struct iwpm_message sent; /**< the last message of a's mapper */
	unsigned n_sent;
	struct llp_mem_peer at_port, at_mapped; /**< who listens at b's host */
	enum rnic_failure_mapper blamed;        /**< of the last failure */
	/* Of the tests of order: a's connects, and the request of each. */
	struct rnic_ep *ep[CONNECTS];
	struct rnic_qp *qp[CONNECTS];
	struct iwpm_message asked[CONNECTS];
	unsigned n_asked;
	char arrived[CONNECTS + 1];
};

static void world_send(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now)
{
	struct world *w = ctx;

	assert_true(iwpm_message_get(&w->sent, data, len));
	w->n_sent++;
}

static void world_failed(void *arg, const struct rnic_failure *f)
{
	((struct world *)arg)->blamed = f->mapper;
}

static void world_start(struct world *w, bool required)
{
	struct rnic_config cfg = {.mpa = {.revision = 2, .crc = MPA_CRC_PREFERRED},
		.start_timeout_ms = 5000,
		.mapper_required = required};
	struct pair *p = &w->pair;

	memset(w, 0, sizeof *w);
	pair_engine_init(p);
	assert_int_equal(iwpm_create(&(struct iwpm_config){.wheel = &p->engine.wheel,
					     .random = {pair_random, p},
					     .client_port = 50000,
					     .send = world_send,
					     .ctx = w},
				 &w->mapper),
		0);
	cfg.mapper = w->mapper;
	pair_rnic(p, &p->a, 0, &cfg);
	rnic_set_failure_handler(p->a.rnic, world_failed, w);
	cfg.mapper = NULL;
	pair_rnic(p, &p->b, 1, &cfg);
	pair_side(&p->a);
	pair_side(&p->b);
}

/** a connects to b's port; plain peers listen there and at the mapped one. */
static void world_connect(struct world *w, bool required)
{
	world_start(w, required);
	llp_mem_peer_listen(&w->at_port, w->pair.mem, 1, PAIR_PORT);
	llp_mem_peer_listen(&w->at_mapped, w->pair.mem, 1, MAPPED);
	raw_connect(&w->pair, 4, 4);
	assert_int_equal(w->n_sent, 1);
	assert_int_equal(w->sent.type, IWPM_REQUEST);
	assert_int_equal(w->sent.accepting.port, PAIR_PORT);
	assert_null(w->at_port.llp);
}

static void world_end(struct world *w)
{
	llp_mem_peer_done(&w->at_port);
	llp_mem_peer_done(&w->at_mapped);
	pair_advance(&w->pair, 1);
	pair_fini(&w->pair);
	iwpm_destroy(w->mapper);
}

/** The mapper of the host that was asked answers @p m. The engine is locked. */
static void world_answer_locked(
	struct world *w, struct iwpm_message m, enum iwpm_type type, uint16_t port)
{
	struct ip_endpoint from = {.addr = m.accepting.addr, .port = IWPM_PORT};
	struct ip_endpoint to = {.addr = m.connecting.addr, .port = 50000};
	uint8_t data[IWPM_MESSAGE_MAX];
	size_t len;

	m.type = type;
	m.accepting.port = port;
	len = iwpm_message_put(&m, data);
	iwpm_input(w->mapper, &from, &to, data, len, w->pair.engine.now);
}

static void world_answer_to(
	struct world *w, struct iwpm_message m, enum iwpm_type type, uint16_t port)
{
	engine_lock(&w->pair.engine);
	world_answer_locked(w, m, type, port);
	engine_unlock(&w->pair.engine);
}

/** b's port mapper answers the last request. */
static void world_answer(struct world *w, enum iwpm_type type, uint16_t port)
{
	world_answer_to(w, w->sent, type, port);
	pair_advance(&w->pair, 1);
}

static void world_absent(struct world *w)
{
	struct ip_endpoint to = {.addr = w->sent.accepting.addr, .port = IWPM_PORT};
	struct engine *e = &w->pair.engine;

	engine_lock(e);
	iwpm_unreachable(w->mapper, &to, NULL, 0, e->now);
	engine_unlock(e);
	pair_advance(&w->pair, 1);
}

static void expect_established(struct world *w, struct llp_mem_peer *peer)
{
	struct ip_endpoint local, remote;

	assert_non_null(peer->llp);
	raw_reply(&w->pair, peer, 0x40, 2, "\0\4\0\4", 4);
	assert_int_equal(pair_last(&w->pair.a)->type, RNIC_EP_ESTABLISHED);
	rnic_ep_addresses(w->pair.a.ep, &local, &remote);
	assert_int_equal(remote.port, PAIR_PORT);
	assert_int_not_equal(local.port, 0);
}

static void expect_failed(struct world *w, enum rnic_ep_event_type type, int status)
{
	assert_int_equal(pair_last(&w->pair.a)->type, type);
	assert_int_equal(pair_last(&w->pair.a)->status, status);
	assert_null(w->at_port.llp);
	assert_null(w->at_mapped.llp);
	assert_int_equal(rnic_qp_get_state(w->pair.a.qp), RNIC_QP_INIT);
}

/** The program goes on seeing the port that it asked for. */
static void it_connects_to_the_mapped_port(void **state)
{
	struct world w;

	for (unsigned required = 0; required < 2; required++) {
		world_connect(&w, required);
		world_answer(&w, IWPM_ACCEPT, MAPPED);
		assert_null(w.at_port.llp);
		expect_established(&w, &w.at_mapped);
		assert_int_equal(w.sent.type, IWPM_ACK);
		world_end(&w);
	}
}

static void a_port_may_be_mapped_to_itself(void **state)
{
	struct world w;

	world_connect(&w, true);
	world_answer(&w, IWPM_ACCEPT, PAIR_PORT);
	expect_established(&w, &w.at_port);
	world_end(&w);
}

/** As the kernel's iw_cm does: the port as it is. */
static void without_a_mapping_it_connects_to_the_port(void **state)
{
	struct world w;

	world_connect(&w, false);
	world_answer(&w, IWPM_REJECT, PAIR_PORT);
	expect_established(&w, &w.at_port);
	world_end(&w);
	world_connect(&w, false);
	world_absent(&w);
	expect_established(&w, &w.at_port);
	world_end(&w);
}

/** A host without a port mapper costs less than 50 ms, once; then nothing. */
static void silence_costs_little(void **state)
{
	struct ip_endpoint to;
	struct rnic_conn_param cp;
	struct world w;

	world_connect(&w, false);
	pair_advance(&w.pair, 35);
	assert_null(w.at_port.llp);
	pair_advance(&w.pair, 14);
	expect_established(&w, &w.at_port);
	llp_shutdown(w.at_port.llp);
	pair_advance(&w.pair, 10);
	llp_mem_peer_done(&w.at_port);
	/* The next one asks side by side. */
	memset(&w.at_port, 0, sizeof w.at_port);
	llp_mem_peer_listen(&w.at_port, w.pair.mem, 1, PAIR_PORT);
	rnic_ep_destroy(w.pair.a.ep);
	assert_int_equal(rnic_qp_destroy(w.pair.a.qp), 0);
	w.pair.a.qp = pair_qp(&w.pair.a, w.pair.a.cq, NULL);
	cp = (struct rnic_conn_param){.qp = w.pair.a.qp, .ird = 4, .ord = 4};
	to = llp_mem_endpoint(w.pair.mem, 1, PAIR_PORT);
	assert_int_equal(rnic_ep_create(w.pair.a.rnic, pair_ep_event, &w.pair.a, &w.pair.a.ep), 0);
	assert_int_equal(rnic_ep_resolve(w.pair.a.ep, &to, 0), 0);
	w.n_sent = 0;
	assert_int_equal(rnic_ep_connect(w.pair.a.ep, &cp), 0);
	pair_run(&w.pair);
	assert_int_equal(w.n_sent, 1);
	expect_established(&w, &w.at_port);
	/* Nobody waits for the answer any more. */
	world_answer(&w, IWPM_ACCEPT, MAPPED);
	assert_null(w.at_mapped.llp);
	assert_int_equal(w.n_sent, 1);
	world_end(&w);
}

/** On a long way the answer comes after the attempt at the port has begun: it is given up. */
static void a_late_answer_counts(void **state)
{
	struct ip_endpoint local, remote;
	struct world w;

	world_connect(&w, false);
	pair_advance(&w.pair, 60);
	assert_non_null(w.at_port.llp);
	world_answer(&w, IWPM_ACCEPT, MAPPED);
	assert_int_equal(w.at_port.error, -ECONNRESET);
	expect_established(&w, &w.at_mapped);
	/* From the port that the peer was told. */
	rnic_ep_addresses(w.pair.a.ep, &local, &remote);
	assert_int_equal(local.port, w.sent.connecting.port);
	world_end(&w);
	/* Unless it says the same. */
	world_connect(&w, false);
	pair_advance(&w.pair, 60);
	world_answer(&w, IWPM_ACCEPT, PAIR_PORT);
	expect_established(&w, &w.at_port);
	world_end(&w);
	/* Or nothing new. */
	world_connect(&w, false);
	pair_advance(&w.pair, 60);
	world_answer(&w, IWPM_REJECT, PAIR_PORT);
	expect_established(&w, &w.at_port);
	world_end(&w);
}

static void a_mapped_port_may_refuse(void **state)
{
	struct world w;

	world_connect(&w, false);
	world_answer(&w, IWPM_ACCEPT, MAPPED + 1);
	pair_advance(&w.pair, 500);
	expect_failed(&w, RNIC_EP_REJECTED, -ECONNREFUSED);
	world_end(&w);
}

static void required_means_it(void **state)
{
	struct world w;

	world_connect(&w, true);
	world_answer(&w, IWPM_REJECT, PAIR_PORT);
	expect_failed(&w, RNIC_EP_REJECTED, -ECONNREFUSED);
	assert_int_equal(w.blamed, RNIC_MAPPER_REJECTS);
	world_end(&w);
	world_connect(&w, true);
	world_absent(&w);
	expect_failed(&w, RNIC_EP_REJECTED, -ECONNREFUSED);
	assert_int_equal(w.blamed, RNIC_MAPPER_ABSENT);
	world_end(&w);
	world_connect(&w, true);
	pair_advance(&w.pair, 4900);
	assert_int_equal(pair_count(&w.pair.a, RNIC_EP_UNREACHABLE), 0);
	pair_advance(&w.pair, 200);
	expect_failed(&w, RNIC_EP_UNREACHABLE, -ETIMEDOUT);
	assert_int_equal(w.blamed, RNIC_MAPPER_SILENT);
	world_end(&w);
}

/** Our own ports are not mapped. */
static void it_does_not_ask_itself(void **state)
{
	struct world w;
	struct ip_endpoint to;
	struct rnic_conn_param cp;

	world_start(&w, true);
	cp = (struct rnic_conn_param){.qp = w.pair.a.qp};
	to = llp_mem_endpoint(w.pair.mem, 0, PAIR_PORT);
	llp_mem_peer_listen(&w.at_port, w.pair.mem, 0, PAIR_PORT);
	assert_int_equal(rnic_ep_resolve(w.pair.a.ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(w.pair.a.ep, &cp), 0);
	pair_run(&w.pair);
	assert_int_equal(w.n_sent, 0);
	assert_non_null(w.at_port.llp);
	world_end(&w);
}

/** Whoever ends it while it waits. */
static void it_may_end_while_it_waits(void **state)
{
	struct world w;

	world_connect(&w, false);
	rnic_ep_destroy(w.pair.a.ep);
	w.pair.a.ep = NULL;
	pair_advance(&w.pair, 60);
	assert_null(w.at_port.llp);
	world_end(&w);
	world_connect(&w, false);
	assert_int_equal(rnic_qp_destroy(w.pair.a.qp), 0);
	w.pair.a.qp = NULL;
	assert_int_equal(pair_last(&w.pair.a)->type, RNIC_EP_CONNECT_ERROR);
	pair_advance(&w.pair, 60);
	assert_null(w.at_port.llp);
	world_end(&w);
	/* The whole device: what it left is freed with it. */
	world_connect(&w, false);
	world_end(&w);
}

/* ---- the order of connects ---------------------------------------------------------------- */

static void order_start(struct world *w, bool required)
{
	world_start(w, required);
	pair_listen(&w->pair, 0);
}

/** One more connect to @p host, now. It has a letter as private data. */
static void order_connect_to(struct world *w, unsigned host)
{
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, host, PAIR_PORT);
	struct side *a = &w->pair.a;
	char letter = (char)('a' + w->n_asked);
	struct rnic_conn_param cp = {.ird = 4, .ord = 4, .private_data = &letter, .private_len = 1};
	struct rnic_ep **ep = &w->ep[w->n_asked];

	assert_true(w->n_asked < CONNECTS);
	cp.qp = w->qp[w->n_asked] = pair_qp(a, a->cq, NULL);
	assert_int_equal(rnic_ep_create(a->rnic, pair_ep_event, a, ep), 0);
	assert_int_equal(rnic_ep_resolve(*ep, &to, 0), 0);
	assert_int_equal(rnic_ep_connect(*ep, &cp), 0);
	w->asked[w->n_asked] = w->sent;
	assert_int_equal(w->sent.type, IWPM_REQUEST);
	assert_true(ip_addr_equal(&w->sent.accepting.addr, &to.addr));
	w->n_asked++;
}

static void order_connect(struct world *w, unsigned n)
{
	while (n--)
		order_connect_to(w, 1);
}

/** The letters of the connects that have come to b, in the order in which they came. */
static const char *order_arrived(struct world *w)
{
	unsigned n = 0;

	pair_run(&w->pair);
	for (unsigned i = 0; i < w->pair.b.n_ep_events; i++) {
		const struct ep_record *r = &w->pair.b.ep_events[i];

		assert_int_equal(r->type, RNIC_EP_CONNECT_REQUEST);
		assert_int_equal(r->private_len, 1);
		w->arrived[n++] = (char)r->private_data[0];
	}
	w->arrived[n] = '\0';
	w->pair.b.request = NULL; /* they go with their listener */
	return w->arrived;
}

static void order_end(struct world *w)
{
	for (unsigned i = 0; i < w->n_asked; i++) {
		if (w->ep[i])
			rnic_ep_destroy(w->ep[i]);
		if (w->qp[i])
			assert_int_equal(rnic_qp_destroy(w->qp[i]), 0);
	}
	world_end(w);
}

static void order_is_kept_in_silence(void **state)
{
	struct world w;

	order_start(&w, false);
	order_connect(&w, 4);
	pair_advance(&w.pair, 20);
	order_connect(&w, 2);
	pair_advance(&w.pair, 18);
	assert_string_equal(order_arrived(&w), "");
	/* What the host did to the first is enough: the others do not wait 40 ms each. */
	pair_advance(&w.pair, 3);
	order_connect(&w, 2);
	assert_string_equal(order_arrived(&w), "abcdefgh");
	order_end(&w);
}

static void order_is_kept_whatever_is_answered_first(void **state)
{
	static const enum iwpm_type answers[] = {IWPM_ACCEPT, IWPM_REJECT};
	struct world w;

	for (unsigned i = 0; i < 2; i++) {
		order_start(&w, false);
		order_connect(&w, 3);
		world_answer_to(&w, w.asked[2], IWPM_ACCEPT, PAIR_PORT);
		world_answer_to(&w, w.asked[1], answers[i], PAIR_PORT);
		assert_string_equal(order_arrived(&w), "");
		/* The first one's request was lost. The host has a mapper: it is waited for. */
		pair_advance(&w.pair, 500);
		order_connect(&w, 2);
		world_answer_to(&w, w.asked[4], IWPM_ACCEPT, PAIR_PORT);
		assert_string_equal(order_arrived(&w), "");
		world_answer_to(&w, w.asked[0], answers[1 - i], PAIR_PORT);
		assert_string_equal(order_arrived(&w), "abc");
		/* The fourth is not answered at all: nobody waits for ever. */
		pair_advance(&w.pair, 2900);
		assert_string_equal(order_arrived(&w), "abc");
		pair_advance(&w.pair, 1200);
		assert_string_equal(order_arrived(&w), "abcde");
		order_end(&w);
	}
}

/** Answers that come late, in one burst: attempts are under way, and begin anew in their order. */
static void order_is_kept_when_answers_are_late(void **state)
{
	struct ip_endpoint at;
	struct world w;

	world_start(&w, false);
	at = llp_mem_endpoint(w.pair.mem, 1, MAPPED);
	assert_int_equal(rnic_ep_bind(w.pair.b.ep, &at, false, false), 0);
	assert_int_equal(rnic_ep_listen(w.pair.b.ep, 0), 0);
	llp_mem_set_silent(w.pair.mem, 1, true);
	order_connect(&w, 4);
	pair_advance(&w.pair, 60);
	llp_mem_set_silent(w.pair.mem, 1, false);
	engine_lock(&w.pair.engine);
	for (unsigned i = 0; i < 4; i++)
		world_answer_locked(&w, w.asked[i], IWPM_ACCEPT, MAPPED);
	engine_unlock(&w.pair.engine);
	assert_string_equal(order_arrived(&w), "abcd");
	order_end(&w);
}

static void who_is_destroyed_holds_nobody_up(void **state)
{
	struct world w;

	order_start(&w, false);
	order_connect(&w, 5);
	for (unsigned i = 1; i < 5; i++)
		world_answer_to(&w, w.asked[i], IWPM_ACCEPT, PAIR_PORT);
	rnic_ep_destroy(w.ep[2]); /* in the middle */
	w.ep[2] = NULL;
	assert_string_equal(order_arrived(&w), "");
	rnic_ep_destroy(w.ep[0]); /* the one that all wait for */
	w.ep[0] = NULL;
	assert_string_equal(order_arrived(&w), "bde");
	order_connect(&w, 2);
	world_answer_to(&w, w.asked[6], IWPM_ACCEPT, PAIR_PORT);
	assert_int_equal(rnic_qp_destroy(w.qp[5]), 0);
	w.qp[5] = NULL;
	assert_string_equal(order_arrived(&w), "bdeg");
	order_end(&w);
}

static void hosts_do_not_wait_for_each_other(void **state)
{
	struct world w;

	order_start(&w, true);
	order_connect_to(&w, 2);
	order_connect(&w, 1);
	order_connect_to(&w, 2);
	order_connect(&w, 1);
	world_answer_to(&w, w.asked[3], IWPM_ACCEPT, PAIR_PORT);
	world_answer_to(&w, w.asked[1], IWPM_ACCEPT, PAIR_PORT);
	assert_string_equal(order_arrived(&w), "bd");
	order_end(&w);
}

/** Hosts limit their ICMP messages: one of them stands for all requests. */
static void one_icmp_error_is_for_all(void **state)
{
	struct ip_endpoint to;
	struct world w;

	for (unsigned required = 0; required < 2; required++) {
		order_start(&w, required);
		order_connect(&w, 4);
		to = (struct ip_endpoint){.addr = w.sent.accepting.addr, .port = IWPM_PORT};
		engine_lock(&w.pair.engine);
		iwpm_unreachable(w.mapper, &to, NULL, 0, w.pair.engine.now);
		engine_unlock(&w.pair.engine);
		assert_string_equal(order_arrived(&w), required ? "" : "abcd");
		assert_int_equal(pair_count(&w.pair.a, RNIC_EP_REJECTED), required ? 4 : 0);
		order_end(&w);
	}
}

/** Without an answer there is no connection, so one is waited for as long as it may come. */
static void order_is_kept_where_an_answer_is_required(void **state)
{
	struct world w;

	order_start(&w, true);
	order_connect(&w, 3);
	pair_advance(&w.pair, 100);
	for (unsigned i = 1; i < 3; i++)
		world_answer_to(&w, w.asked[i], IWPM_ACCEPT, PAIR_PORT);
	pair_advance(&w.pair, 3500);
	assert_string_equal(order_arrived(&w), "");
	world_answer_to(&w, w.asked[0], IWPM_ACCEPT, PAIR_PORT);
	assert_string_equal(order_arrived(&w), "abc");
	/* Who has nothing to hope for any more lets the others pass. */
	order_connect(&w, 3);
	for (unsigned i = 4; i < 6; i++)
		world_answer_to(&w, w.asked[i], IWPM_ACCEPT, PAIR_PORT);
	world_answer_to(&w, w.asked[3], IWPM_REJECT, PAIR_PORT);
	assert_string_equal(order_arrived(&w), "abcef");
	assert_int_equal(w.blamed, RNIC_MAPPER_REJECTS);
	order_end(&w);
}

static void listeners_are_made_known(void **state)
{
	struct ip_endpoint us, from, to;
	uint8_t data[IWPM_MESSAGE_MAX];
	struct iwpm_message m;
	struct world w;
	size_t len;

	world_start(&w, false);
	us = llp_mem_endpoint(w.pair.mem, 0, PAIR_PORT);
	from = llp_mem_endpoint(w.pair.mem, 1, 44444);
	to = (struct ip_endpoint){.addr = us.addr, .port = IWPM_PORT};
	m = (struct iwpm_message){
		.type = IWPM_REQUEST, .accepting = us, .connecting = from, .mapped = from};
	len = iwpm_message_put(&m, data);
	for (unsigned i = 0; i < 3; i++) {
		if (i == 1) {
			assert_int_equal(rnic_ep_bind(w.pair.a.ep, &us, false, false), 0);
			assert_int_equal(rnic_ep_listen(w.pair.a.ep, 4), 0);
		} else if (i == 2) {
			rnic_ep_destroy(w.pair.a.ep);
			w.pair.a.ep = NULL;
		}
		engine_lock(&w.pair.engine);
		iwpm_input(w.mapper, &from, &to, data, len, w.pair.engine.now);
		engine_unlock(&w.pair.engine);
		assert_int_equal(w.sent.type, i == 1 ? IWPM_ACCEPT : IWPM_REJECT);
		assert_int_equal(w.sent.accepting.port, PAIR_PORT);
	}
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_connects_to_the_mapped_port),
		cmocka_unit_test(a_port_may_be_mapped_to_itself),
		cmocka_unit_test(without_a_mapping_it_connects_to_the_port),
		cmocka_unit_test(silence_costs_little),
		cmocka_unit_test(a_late_answer_counts),
		cmocka_unit_test(a_mapped_port_may_refuse),
		cmocka_unit_test(required_means_it),
		cmocka_unit_test(it_does_not_ask_itself),
		cmocka_unit_test(it_may_end_while_it_waits),
		cmocka_unit_test(order_is_kept_in_silence),
		cmocka_unit_test(order_is_kept_whatever_is_answered_first),
		cmocka_unit_test(order_is_kept_when_answers_are_late),
		cmocka_unit_test(who_is_destroyed_holds_nobody_up),
		cmocka_unit_test(hosts_do_not_wait_for_each_other),
		cmocka_unit_test(one_icmp_error_is_for_all),
		cmocka_unit_test(order_is_kept_where_an_answer_is_required),
		cmocka_unit_test(listeners_are_made_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
