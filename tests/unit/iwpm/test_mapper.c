/* SPDX-License-Identifier: BSD-2-Clause */
/** The accepting peer: who is told what about which port, and what is not answered at all. */
#include "iwpm/mapper.h"
#include "world.h"

static struct iwpm_message request(const char *accepting, uint16_t port)
{
	bool v4 = strchr(accepting, '.') != NULL;
	const char *peer = v4 ? "10.0.0.2" : "fd00::2";

	return (struct iwpm_message){.type = IWPM_REQUEST,
		.time = 3,
		.handle = 0x1234,
		.accepting = world_at(accepting, port),
		.connecting = world_at(peer, 40000),
		.mapped = world_at(peer, 50001)};
}

/** Ask from the peer of the same family. @return the type of the answer; -1: there is none. */
static int answer(struct world *w, const char *accepting, uint16_t port)
{
	struct iwpm_message r = request(accepting, port);
	struct ip_endpoint from = {.addr = r.connecting.addr, .port = 44444};
	struct ip_endpoint to = {.addr = r.accepting.addr, .port = IWPM_PORT};
	const struct world_sent *s = &w->sent[0];

	w->n_sent = 0;
	world_receive(w, &from, &to, &r);
	if (!w->n_sent)
		return -1;
	assert_int_equal(w->n_sent, 1);
	assert_true(world_same(&s->from, &to));
	assert_true(world_same(&s->to, &from));
	assert_int_equal(s->len, IWPM_ANSWER_LEN);
	assert_true(s->msg.handle == r.handle);
	assert_int_equal(s->msg.time, r.time);
	assert_true(world_same(&s->msg.accepting, &r.accepting));
	assert_true(world_same(&s->msg.connecting, &r.connecting));
	return s->msg.type;
}

static void listeners_are_on_their_own_ports(void **state)
{
	struct ip_endpoint one = world_at("10.0.0.1", 7174), any4 = world_at("0.0.0.0", 7175);
	struct ip_endpoint any6 = world_at("::", 7176), only6 = world_at("::", 7177);
	struct iwpm_listener l[4] = {{.mapper = NULL}};
	struct world w;

	world_init(&w, false);
	assert_int_equal(answer(&w, "10.0.0.1", 7174), IWPM_REJECT);
	iwpm_listen(w.mapper, &l[0], &one, false);
	iwpm_listen(w.mapper, &l[1], &any4, false);
	iwpm_listen(w.mapper, &l[2], &any6, false);
	iwpm_listen(w.mapper, &l[3], &only6, true);
	assert_int_equal(answer(&w, "10.0.0.1", 7174), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "10.0.0.9", 7174), IWPM_REJECT);
	assert_int_equal(answer(&w, "10.0.0.9", 7175), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "fd00::1", 7175), IWPM_REJECT);
	assert_int_equal(answer(&w, "fd00::1", 7176), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "10.0.0.1", 7176), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "fd00::1", 7177), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "10.0.0.1", 7177), IWPM_REJECT);
	assert_int_equal(answer(&w, "10.0.0.1", 0), IWPM_REJECT);
	for (unsigned i = 0; i < 4; i++) {
		iwpm_unlisten(&l[i]);
		iwpm_unlisten(&l[i]);
	}
	assert_int_equal(answer(&w, "10.0.0.1", 7174), IWPM_REJECT);
	assert_int_equal(iwpm_get_stats(w.mapper)->requests_received, 11);
	assert_int_equal(iwpm_get_stats(w.mapper)->accepts_sent, 5);
	world_fini(&w);
}

/** The port is served from the first listener to the last. */
static void nobody_is_served_without_listeners(void **state)
{
	struct ip_endpoint one = world_at("10.0.0.1", 7174);
	struct iwpm_listener a = {.mapper = NULL}, b = {.mapper = NULL};
	struct world w;

	world_init(&w, false);
	assert_false(w.serving);
	iwpm_listen(w.mapper, &a, &one, false);
	assert_true(w.serving);
	iwpm_listen(w.mapper, &b, &one, false);
	iwpm_unlisten(&a);
	assert_true(w.serving);
	iwpm_unlisten(&b);
	assert_false(w.serving);
	world_fini(&w);
}

/** Each listener and each five seconds try again, and nothing does when there is no listener. */
static void the_port_is_taken_over(void **state)
{
	struct ip_endpoint one = world_at("10.0.0.1", 7174);
	struct iwpm_listener a = {.mapper = NULL}, b = {.mapper = NULL};
	struct world w;

	world_init(&w, false);
	w.port_taken = true;
	iwpm_listen(w.mapper, &a, &one, false);
	assert_int_equal(w.refused, 1);
	world_run(&w, 2 * IWPM_SERVE_AGAIN_NS + WORLD_MS);
	assert_int_equal(w.refused, 3);
	w.port_taken = false;
	world_run(&w, IWPM_SERVE_AGAIN_NS);
	assert_true(w.serving);
	assert_true(timer_wheel_next(&w.wheel) == TIMER_NEVER);
	iwpm_unlisten(&a);
	assert_false(w.serving);
	w.port_taken = true;
	iwpm_listen(w.mapper, &a, &one, false);
	w.port_taken = false;
	iwpm_listen(w.mapper, &b, &one, false);
	assert_true(w.serving);
	assert_true(timer_wheel_next(&w.wheel) == TIMER_NEVER);
	iwpm_unlisten(&a);
	iwpm_unlisten(&b);
	w.port_taken = true;
	iwpm_listen(w.mapper, &a, &one, false);
	iwpm_unlisten(&a);
	world_fini(&w);
}

/** On the kernel's ports there are listeners of whom we do not know. */
static void every_port_may_be_accepted(void **state)
{
	struct world w;

	world_init(&w, true);
	assert_int_equal(answer(&w, "10.0.0.1", 1), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "fd00::1", 65535), IWPM_ACCEPT);
	assert_int_equal(answer(&w, "10.0.0.1", 0), IWPM_REJECT);
	world_fini(&w);
}

/** Each request is answered anew, and nothing is remembered of it: iwpmd asks each second. */
static void requests_may_be_repeated(void **state)
{
	struct ip_endpoint one = world_at("10.0.0.1", 7174);
	struct iwpm_listener l = {.mapper = NULL};
	struct world w;

	world_init(&w, false);
	iwpm_listen(w.mapper, &l, &one, false);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(answer(&w, "10.0.0.1", 7174), IWPM_ACCEPT);
		assert_true(timer_wheel_next(&w.wheel) == TIMER_NEVER);
	}
	iwpm_unlisten(&l);
	world_fini(&w);
}

/** Behind a NAT the peer asks for an address that is not ours: it gets it back. */
static void the_address_that_was_asked_for_comes_back(void **state)
{
	struct ip_endpoint one = world_at("10.0.0.1", 7174), public = world_at("192.0.2.1", 7174);
	struct ip_endpoint from = world_at("10.0.0.2", 44444), to = world_at("10.0.0.1", IWPM_PORT);
	struct iwpm_listener l = {.mapper = NULL};
	struct iwpm_message r = request("192.0.2.1", 7174);
	struct world w;

	world_init(&w, false);
	iwpm_listen(w.mapper, &l, &one, false);
	world_receive(&w, &from, &to, &r);
	assert_int_equal(w.n_sent, 1);
	assert_int_equal(w.sent[0].msg.type, IWPM_ACCEPT);
	assert_true(world_same(&w.sent[0].msg.accepting, &public));
	iwpm_unlisten(&l);
	world_fini(&w);
}

static void what_is_no_request_gets_no_answer(void **state)
{
	struct ip_endpoint from = world_at("10.0.0.2", 44444), to = world_at("10.0.0.1", IWPM_PORT);
	struct ip_endpoint nowhere = world_at("10.0.0.2", 0), from6 = world_at("fd00::2", 44444);
	struct ip_endpoint to6 = world_at("fd00::1", IWPM_PORT);
	struct ip_endpoint client = world_at("10.0.0.1", WORLD_CLIENT);
	struct iwpm_message r = request("10.0.0.1", 7174);
	struct world w;

	world_init(&w, true);
	iwpm_input(w.mapper, &from, &to, (const uint8_t *)"hello", 5, w.now);
	world_receive(&w, &from, &client, &r); /* not where requests are taken */
	world_receive(&w, &nowhere, &to, &r);
	world_receive(&w, &from6, &to6, &r); /* of the other family */
	r.type = IWPM_ACCEPT;
	world_receive(&w, &from, &to, &r);
	r.type = IWPM_REJECT;
	world_receive(&w, &from, &to, &r);
	assert_int_equal(iwpm_get_stats(w.mapper)->ignored, 6);
	r.type = IWPM_ACK;
	world_receive(&w, &from, &to, &r);
	assert_int_equal(w.n_sent, 0);
	assert_int_equal(iwpm_get_stats(w.mapper)->ignored, 6);
	world_fini(&w);
	iwpm_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listeners_are_on_their_own_ports),
		cmocka_unit_test(nobody_is_served_without_listeners),
		cmocka_unit_test(the_port_is_taken_over),
		cmocka_unit_test(every_port_may_be_accepted),
		cmocka_unit_test(requests_may_be_repeated),
		cmocka_unit_test(the_address_that_was_asked_for_comes_back),
		cmocka_unit_test(what_is_no_request_gets_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
