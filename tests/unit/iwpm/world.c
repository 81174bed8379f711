/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include "base/container_of.h"

static void world_send(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now)
{
	struct world *w = ctx;
	struct world_sent *s = &w->sent[w->n_sent++];

	assert_true(w->n_sent < WORLD_KEEP);
	assert_true(len <= sizeof s->data);
	assert_true(now == w->now);
	*s = (struct world_sent){.from = *from, .to = *to, .len = len, .at = now};
	memcpy(s->data, data, len);
	assert_true(iwpm_message_get(&s->msg, s->data, len));
}

static bool world_serve(void *ctx, bool on)
{
	struct world *w = ctx;

	assert_int_not_equal(w->serving, on);
	if (on && w->port_taken) {
		w->refused++;
		return false;
	}
	w->serving = on;
	return true;
}

static void world_random(void *ctx, void *buf, size_t len)
{
	struct world *w = ctx;

	w->random = w->random * UINT64_C(6364136223846793005) + 1;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(w->random >> (8 * (i % 8)));
}

void world_init(struct world *w, bool accept_all)
{
	*w = (struct world){.now = 1000000 * WORLD_MS, .random = 7};
	timer_wheel_init(&w->wheel, w->now);
	assert_int_equal(iwpm_create(&(struct iwpm_config){.wheel = &w->wheel,
					     .random = {world_random, w},
					     .client_port = WORLD_CLIENT,
					     .accept_all = accept_all,
					     .send = world_send,
					     .serve = world_serve,
					     .ctx = w},
				 &w->mapper),
		0);
}

void world_fini(struct world *w)
{
	assert_true(timer_wheel_next(&w->wheel) == TIMER_NEVER);
	iwpm_destroy(w->mapper);
}

void world_run(struct world *w, uint64_t ns)
{
	uint64_t end = w->now + ns;

	while (timer_wheel_next(&w->wheel) <= end) {
		w->now = timer_wheel_next(&w->wheel);
		timer_wheel_run(&w->wheel, w->now);
	}
	w->now = end;
	timer_wheel_run(&w->wheel, end);
}

struct ip_endpoint world_at(const char *addr, uint16_t port)
{
	struct ip_endpoint e = {.port = port};

	assert_int_equal(ip_addr_parse(addr, &e.addr), 0);
	return e;
}

bool world_same(const struct ip_endpoint *a, const struct ip_endpoint *b)
{
	return a->port == b->port && ip_addr_equal(&a->addr, &b->addr);
}

void world_receive(struct world *w, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const struct iwpm_message *msg)
{
	uint8_t data[IWPM_MESSAGE_MAX];
	size_t len = iwpm_message_put(msg, data);

	iwpm_input(w->mapper, from, to, data, len, w->now);
}

void world_on_outcome(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct world *w = container_of(q, struct world_query, q)->world;

	assert_true(w->n_outcomes < WORLD_KEEP);
	w->outcome[w->n_outcomes++] = outcome;
}

uint64_t world_ask(struct world *w, struct world_query *q, const char *local, const char *remote)
{
	struct ip_endpoint from = world_at(local, 40000), to = world_at(remote, 7174);

	q->world = w;
	return iwpm_ask(w->mapper, &q->q, &from, &to, world_on_outcome, w->now);
}
