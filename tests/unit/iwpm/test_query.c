/* SPDX-License-Identifier: BSD-2-Clause */
/** The connecting peer: requests, how often they are repeated, and whose answers are believed. */
#include "world.h"

static const char us[] = "10.0.0.1", peer[] = "10.0.0.2";

/** The answer of the peer's mapper to the last request that was sent. */
static struct iwpm_message answer_to(const struct world *w, enum iwpm_type type, uint16_t port)
{
	struct iwpm_message m = w->sent[w->n_sent - 1].msg;

	m.type = type;
	if (port)
		m.accepting.port = port;
	return m;
}

static void receive(struct world *w, const struct iwpm_message *m)
{
	struct ip_endpoint from = {.addr = m->accepting.addr, .port = IWPM_PORT};
	struct ip_endpoint to = {.addr = m->connecting.addr, .port = WORLD_CLIENT};

	world_receive(w, &from, &to, m);
}

static void an_accept_is_acknowledged_and_told(void **state)
{
	static const char *const ours[] = {"10.0.0.1", "fd00::1"}, *const others[] = {
									   "10.0.0.2", "fd00::2"};

	for (unsigned i = 0; i < 2; i++) {
		struct ip_endpoint from = world_at(ours[i], WORLD_CLIENT);
		struct ip_endpoint to = world_at(others[i], IWPM_PORT);
		struct ip_endpoint cp = world_at(ours[i], 40000), ap = world_at(others[i], 7174);
		struct iwpm_message accept;
		struct world_query q;
		struct world w;

		world_init(&w, false);
		assert_true(world_ask(&w, &q, ours[i], others[i]) == 40 * WORLD_MS);
		assert_int_equal(w.n_sent, 1);
		assert_true(world_same(&w.sent[0].from, &from));
		assert_true(world_same(&w.sent[0].to, &to));
		assert_int_equal(w.sent[0].msg.type, IWPM_REQUEST);
		assert_true(world_same(&w.sent[0].msg.accepting, &ap));
		assert_true(world_same(&w.sent[0].msg.connecting, &cp));
		assert_true(world_same(&w.sent[0].msg.mapped, &cp));
		accept = answer_to(&w, IWPM_ACCEPT, 33781);
		receive(&w, &accept);
		assert_int_equal(w.n_outcomes, 1);
		assert_int_equal(w.outcome[0], IWPM_MAPPED);
		assert_int_equal(q.q.mapped.port, 33781);
		assert_true(ip_addr_equal(&q.q.mapped.addr, &ap.addr));
		assert_int_equal(w.n_sent, 2);
		assert_int_equal(w.sent[1].msg.type, IWPM_ACK);
		assert_int_equal(w.sent[1].msg.accepting.port, 33781);
		assert_true(w.sent[1].msg.handle == accept.handle);
		world_fini(&w);
	}
}

/** The interface of a link-local address is ours to know: no message has it. */
static void a_scope_stays_here(void **state)
{
	const struct ip_endpoint local = world_at("fe80::1", 40000),
				 remote = world_at("fe80::2", 7174);
	struct ip_endpoint from = {.addr = ip_addr_with_scope(&remote.addr, 5), .port = IWPM_PORT};
	struct ip_endpoint to = {.addr = ip_addr_with_scope(&local.addr, 5), .port = WORLD_CLIENT};
	struct ip_endpoint near = {.addr = to.addr, .port = 40000};
	struct ip_endpoint far = {.addr = from.addr, .port = 7174};
	struct world_query q = {.q = {.mapper = NULL}};
	struct iwpm_message accept;
	struct world w;

	world_init(&w, false);
	q.world = &w;
	iwpm_ask(w.mapper, &q.q, &near, &far, world_on_outcome, w.now);
	assert_true(world_same(&w.sent[0].from, &to));
	assert_true(world_same(&w.sent[0].to, &from));
	assert_true(world_same(&w.sent[0].msg.accepting, &remote));
	assert_true(world_same(&w.sent[0].msg.connecting, &local));
	assert_true(world_same(&w.sent[0].msg.mapped, &local));
	accept = w.sent[0].msg;
	accept.type = IWPM_ACCEPT;
	accept.accepting.port = 33781;
	world_receive(&w, &from, &to, &accept);
	assert_int_equal(w.n_outcomes, 1);
	assert_int_equal(w.outcome[0], IWPM_MAPPED);
	assert_int_equal(q.q.mapped.port, 33781);
	assert_true(ip_addr_equal(&q.q.mapped.addr, &from.addr));
	assert_int_equal(w.n_sent, 2);
	world_fini(&w);
}

/** iwpmd repeats its Accept each second until it is acknowledged, ten times. */
static void an_accept_that_is_repeated_is_acknowledged_again(void **state)
{
	struct iwpm_message accept;
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	accept = answer_to(&w, IWPM_ACCEPT, 33781);
	receive(&w, &accept);
	world_run(&w, 9000 * WORLD_MS);
	receive(&w, &accept);
	assert_int_equal(w.n_sent, 3);
	assert_int_equal(w.sent[2].msg.type, IWPM_ACK);
	assert_int_equal(w.n_outcomes, 1);
	world_run(&w, 2000 * WORLD_MS);
	receive(&w, &accept);
	assert_int_equal(w.n_sent, 3);
	assert_int_equal(iwpm_get_stats(w.mapper)->ignored, 1);
	world_fini(&w);
}

static void a_reject_is_told(void **state)
{
	struct iwpm_message reject;
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	reject = answer_to(&w, IWPM_REJECT, 0);
	receive(&w, &reject);
	receive(&w, &reject);
	assert_int_equal(w.n_outcomes, 1);
	assert_int_equal(w.outcome[0], IWPM_REJECTED);
	assert_int_equal(w.n_sent, 1);
	world_fini(&w);
}

/** Neither the host's silence nor the end of the ten seconds is told before a round could read. */
static void standing_still_is_no_silence(void **state)
{
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	w.now += 60000 * WORLD_MS;
	timer_wheel_run(&w.wheel, w.now);
	assert_int_equal(w.n_outcomes, 0);
	assert_int_equal(w.n_sent, 1);
	world_run(&w, WORLD_MS);
	assert_int_equal(w.outcome[0], IWPM_UNANSWERED);
	world_run(&w, 9000 * WORLD_MS);
	assert_int_equal(w.n_outcomes, 1);
	world_run(&w, 2000 * WORLD_MS);
	assert_int_equal(w.outcome[1], IWPM_SILENT);
	world_fini(&w);
}

/** After 40 ms, and then each second for ten, as iwpmd does. */
static void requests_are_repeated(void **state)
{
	struct world_query q;
	struct world w;
	uint64_t began;

	world_init(&w, false);
	began = w.now;
	world_ask(&w, &q, us, peer);
	world_run(&w, 39 * WORLD_MS);
	assert_int_equal(w.n_sent, 1);
	assert_int_equal(w.n_outcomes, 0);
	world_run(&w, 2 * WORLD_MS);
	assert_int_equal(w.n_sent, 2);
	assert_int_equal(w.n_outcomes, 1);
	assert_int_equal(w.outcome[0], IWPM_UNANSWERED);
	world_run(&w, 20000 * WORLD_MS);
	assert_int_equal(w.n_sent, 11);
	for (unsigned i = 2; i < w.n_sent; i++) {
		assert_in_range(w.sent[i].at - began, (i - 1) * 1000 * WORLD_MS,
			(i - 1) * 1000 * WORLD_MS + TIMER_TICK_NS);
		assert_memory_equal(w.sent[i].data, w.sent[0].data, IWPM_MESSAGE_MAX);
	}
	assert_int_equal(w.n_outcomes, 2);
	assert_int_equal(w.outcome[1], IWPM_SILENT);
	assert_int_equal(iwpm_get_stats(w.mapper)->unanswered, 1);
	world_fini(&w);
}

/** Late is not never: the way may be long. */
static void an_answer_may_come_late(void **state)
{
	struct iwpm_message accept;
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	world_run(&w, 150 * WORLD_MS);
	accept = answer_to(&w, IWPM_ACCEPT, 33781);
	receive(&w, &accept);
	assert_int_equal(w.n_outcomes, 2);
	assert_int_equal(w.outcome[1], IWPM_MAPPED);
	world_fini(&w);
}

/** Hosts are remembered: who answered gets 3 s, who did not is not waited for. */
static void what_hosts_did_counts(void **state)
{
	struct iwpm_message accept;
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	accept = answer_to(&w, IWPM_ACCEPT, 0);
	receive(&w, &accept);
	assert_true(world_ask(&w, &q, us, peer) == 3000 * WORLD_MS);
	world_run(&w, 2900 * WORLD_MS);
	assert_int_equal(w.n_outcomes, 1);
	world_run(&w, 200 * WORLD_MS);
	assert_int_equal(w.n_outcomes, 2);
	assert_int_equal(w.outcome[1], IWPM_UNANSWERED);
	iwpm_cancel(&q.q);
	assert_true(world_ask(&w, &q, us, peer) == 0);
	world_run(&w, 3000 * WORLD_MS);
	assert_int_equal(w.n_outcomes, 2);
	/* Asked all the same: it may have one now. */
	accept = answer_to(&w, IWPM_ACCEPT, 33781);
	receive(&w, &accept);
	assert_int_equal(w.outcome[2], IWPM_MAPPED);
	assert_true(world_ask(&w, &q, us, peer) == 3000 * WORLD_MS);
	iwpm_cancel(&q.q);
	world_run(&w, 60000 * WORLD_MS);
	assert_true(world_ask(&w, &q, us, peer) == 40 * WORLD_MS);
	iwpm_cancel(&q.q);
	iwpm_cancel(&q.q);
	world_fini(&w);
}

/** Only the host that was asked may answer, about the endpoint that it has. */
static void strangers_are_not_believed(void **state)
{
	struct ip_endpoint from = world_at(peer, IWPM_PORT), to = world_at(us, WORLD_CLIENT);
	struct ip_endpoint stranger = world_at("10.0.0.3", IWPM_PORT);
	struct ip_endpoint elsewhere = world_at("10.0.0.4", WORLD_CLIENT);
	struct iwpm_message accept, bad;
	struct world_query q;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &q, us, peer);
	accept = bad = answer_to(&w, IWPM_ACCEPT, 33781);
	world_receive(&w, &stranger, &to, &accept);
	world_receive(&w, &from, &elsewhere, &accept);
	bad.handle ^= 1;
	world_receive(&w, &from, &to, &bad);
	bad = accept;
	bad.accepting.port = 0;
	world_receive(&w, &from, &to, &bad);
	bad = accept;
	bad.accepting = world_at("10.0.0.3", 33781); /* would send us to a third host */
	world_receive(&w, &from, &to, &bad);
	bad = accept;
	bad.type = IWPM_REJECT;
	world_receive(&w, &stranger, &to, &bad);
	assert_int_equal(w.n_outcomes, 0);
	assert_int_equal(w.n_sent, 1);
	assert_int_equal(iwpm_get_stats(w.mapper)->ignored, 6);
	/* Any address: the one that was asked for. */
	bad = accept;
	bad.accepting.addr = world_at("0.0.0.0", 0).addr;
	world_receive(&w, &from, &to, &bad);
	assert_int_equal(w.outcome[0], IWPM_MAPPED);
	assert_true(ip_addr_equal(&q.q.mapped.addr, &from.addr));
	world_fini(&w);
}

/** ICMP's "port unreachable", with as much of the request as hosts quote, or with its head. */
static void an_absent_mapper_is_told(void **state)
{
	struct ip_endpoint to = world_at(peer, IWPM_PORT), other = world_at(peer, 9);
	struct ip_endpoint stranger = world_at("10.0.0.3", IWPM_PORT);
	struct world_query a, b;
	struct world w;

	world_init(&w, false);
	world_ask(&w, &a, us, peer);
	world_ask(&w, &b, us, peer);
	iwpm_unreachable(w.mapper, &other, NULL, 0, w.now);
	iwpm_unreachable(w.mapper, &stranger, NULL, 0, w.now);
	iwpm_unreachable(w.mapper, &stranger, w.sent[1].data, IWPM_MESSAGE_MAX, w.now);
	assert_int_equal(w.n_outcomes, 0);
	iwpm_unreachable(w.mapper, &to, w.sent[1].data, IWPM_MESSAGE_MAX, w.now);
	assert_int_equal(w.n_outcomes, 1);
	assert_int_equal(w.outcome[0], IWPM_ABSENT);
	assert_null(b.q.mapper);
	/* The same again is about nothing. */
	iwpm_unreachable(w.mapper, &to, w.sent[1].data, IWPM_MESSAGE_MAX, w.now);
	assert_int_equal(w.n_outcomes, 1);
	iwpm_unreachable(w.mapper, &to, NULL, 0, w.now);
	assert_int_equal(w.n_outcomes, 2);
	assert_null(a.q.mapper);
	iwpm_unreachable(w.mapper, &to, NULL, 0, w.now);
	assert_int_equal(iwpm_get_stats(w.mapper)->unreachable, 2);
	assert_int_equal(iwpm_get_stats(w.mapper)->ignored, 5);
	assert_true(world_ask(&w, &a, us, peer) == 0);
	iwpm_cancel(&a.q);
	world_fini(&w);
}

/** Several at once, answered in another order. */
static void queries_do_not_mix(void **state)
{
	static struct world_query q[WORLD_KEEP / 4];
	struct iwpm_message accept[WORLD_KEEP / 4];
	struct world w;

	world_init(&w, false);
	for (unsigned i = 0; i < WORLD_KEEP / 4; i++) {
		world_ask(&w, &q[i], us, peer);
		accept[i] = answer_to(&w, IWPM_ACCEPT, (uint16_t)(33000 + i));
	}
	for (unsigned i = WORLD_KEEP / 4; i-- > 0;) {
		receive(&w, &accept[i]);
		assert_int_equal(q[i].q.mapped.port, 33000 + i);
	}
	assert_int_equal(w.n_outcomes, WORLD_KEEP / 4);
	world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_accept_is_acknowledged_and_told),
		cmocka_unit_test(a_scope_stays_here),
		cmocka_unit_test(an_accept_that_is_repeated_is_acknowledged_again),
		cmocka_unit_test(a_reject_is_told),
		cmocka_unit_test(requests_are_repeated),
		cmocka_unit_test(standing_still_is_no_silence),
		cmocka_unit_test(an_answer_may_come_late),
		cmocka_unit_test(what_hosts_did_counts),
		cmocka_unit_test(strangers_are_not_believed),
		cmocka_unit_test(an_absent_mapper_is_told),
		cmocka_unit_test(queries_do_not_mix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
