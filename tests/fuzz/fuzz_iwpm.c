/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port mapper under hostile datagrams and ICMP errors, while it asks and is asked. Nobody but
 * the host that was asked may answer, no query is told of twice, and one datagram causes one at
 * most.
 */
#include "base/bytes.h"
#include "base/container_of.h"
#include "fuzz.h"
#include "iwpm/mapper.h"

#define MS       UINT64_C(1000000)
#define QUERIES  4
#define CLIENT   50000
#define RUNS_MAX 20000

struct asking {
	struct iwpm_query q;
	struct world *w;
	bool open, late;
	uint64_t handle;
};

struct world {
	struct fuzz *in;
	struct iwpm *mapper;
	struct timer_wheel wheel;
	uint64_t now, random;
	struct iwpm_listener listener[2];
	struct asking asking[QUERIES];
	struct ip_endpoint from; /**< of the datagram that is being received */
	unsigned sent;
};

static struct ip_endpoint at(bool v6, unsigned host, uint16_t port)
{
	const uint8_t v4[4] = {10, 0, 0, (uint8_t)host};
	struct ip_endpoint e = {.addr = {{0xfd, [15] = (uint8_t)host}}, .port = port};

	if (!v6)
		e.addr = ip_addr_from_v4(v4);
	return e;
}

static void fill(void *ctx, void *buf, size_t len)
{
	struct world *w = ctx;

	w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	for (size_t i = 0; i < len; i++)
		((uint8_t *)buf)[i] = (uint8_t)(w->random >> (8 * (i % 8)));
}

static void send(void *ctx, const struct ip_endpoint *from, const struct ip_endpoint *to,
	const void *data, size_t len, uint64_t now)
{
	struct world *w = ctx;
	struct iwpm_message m;

	MUST(len == IWPM_ANSWER_LEN || len == IWPM_MESSAGE_MAX);
	MUST(from->port == IWPM_PORT || from->port == CLIENT);
	MUST(ip_addr_is_v4(&from->addr) == ip_addr_is_v4(&to->addr));
	MUST(iwpm_message_get(&m, data, len));
	/* An answer goes to who asked, and is not longer than the question. */
	if (m.type != IWPM_REQUEST)
		MUST(len == IWPM_ANSWER_LEN && ip_addr_equal(&to->addr, &w->from.addr) &&
			to->port == w->from.port);
	w->sent++;
}

static void told(struct iwpm_query *q, enum iwpm_outcome outcome)
{
	struct asking *a = container_of(q, struct asking, q);

	MUST(a->open);
	if (outcome == IWPM_UNANSWERED) {
		MUST(!a->late && q->mapper);
		a->late = true;
		return;
	}
	MUST(!q->mapper);
	if (outcome == IWPM_MAPPED)
		MUST(q->mapped.port && ip_addr_equal(&q->mapped.addr, &q->remote.addr));
	if (outcome == IWPM_MAPPED || outcome == IWPM_REJECTED)
		MUST(ip_addr_equal(&a->w->from.addr, &q->remote.addr));
	a->open = false;
}

static void ask(struct world *w, uint8_t bits)
{
	struct asking *a = &w->asking[bits >> 4 & (QUERIES - 1)];
	bool v6 = bits & 2;
	struct ip_endpoint local = at(v6, 1, 40000), remote = at(v6, 2 + (bits & 1), 7174);

	if (a->open) {
		iwpm_cancel(&a->q);
		MUST(!a->q.mapper);
	}
	a->open = true;
	a->late = iwpm_ask(w->mapper, &a->q, &local, &remote, told, w->now) == 0;
	a->handle = a->q.handle;
}

/** @param how bit 0: with the handle of a query. */
static void receive(struct world *w, uint8_t how)
{
	uint8_t data[256];
	size_t got, want = fuzz_u8(w->in);
	const uint8_t *p = fuzz_bytes(w->in, want, &got);
	struct ip_endpoint to;
	bool v6;

	memcpy(data, p, got);
	v6 = got && (data[0] & 15) == 6;
	if (how & 1 && got >= 16)
		store_be64(data + 8, w->asking[how >> 1 & (QUERIES - 1)].handle);
	w->from = at(v6 ^ (how >> 4 & 1), how & 8 ? 3 : 2, how & 16 ? 0 : 44444);
	to = at(v6, 1, how & 2 ? CLIENT : IWPM_PORT);
	w->sent = 0;
	iwpm_input(w->mapper, &w->from, &to, data, got, w->now);
	MUST(w->sent <= 1);
}

static void unreachable(struct world *w, uint8_t bits)
{
	struct ip_endpoint to = at(bits & 2, 2 + (bits >> 2 & 1), bits & 8 ? 9 : IWPM_PORT);
	size_t got;
	const uint8_t *p = fuzz_bytes(w->in, bits & 1 ? 0 : 64, &got);

	iwpm_unreachable(w->mapper, &to, p, got, w->now);
}

static void listen(struct world *w, uint8_t bits)
{
	struct iwpm_listener *l = &w->listener[bits & 1];
	struct ip_endpoint local = at(bits & 2, 1, 7174);

	if (bits & 4)
		memset(local.addr.b + (bits & 2 ? 0 : 12), 0, bits & 2 ? 16 : 4);
	iwpm_unlisten(l);
	if (!(bits & 8))
		iwpm_listen(w->mapper, l, &local, bits & 16);
}

static void run(struct world *w, uint64_t ns)
{
	uint64_t end = w->now + ns;

	for (unsigned n = 0; timer_wheel_next(&w->wheel) <= end; n++) {
		MUST(n < RUNS_MAX);
		w->now = timer_wheel_next(&w->wheel);
		timer_wheel_run(&w->wheel, w->now);
	}
	w->now = end;
	timer_wheel_run(&w->wheel, end);
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op & 7) {
	case 1:
		listen(w, fuzz_u8(w->in));
		break;
	case 2:
		ask(w, fuzz_u8(w->in));
		break;
	case 3:
		unreachable(w, fuzz_u8(w->in));
		break;
	case 4:
		iwpm_cancel(&w->asking[op >> 3 & (QUERIES - 1)].q);
		w->asking[op >> 3 & (QUERIES - 1)].open = false;
		break;
	case 5:
		run(w, MS << fuzz_u8(w->in) % 14);
		break;
	default:
		receive(w, op >> 3);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	static struct world w;

	w = (struct world){.in = &in, .now = 1000 * MS};
	timer_wheel_init(&w.wheel, w.now);
	MUST(!iwpm_create(&(struct iwpm_config){.wheel = &w.wheel,
				  .random = {fill, &w},
				  .client_port = CLIENT,
				  .accept_all = fuzz_u8(&in) & 1,
				  .send = send,
				  .ctx = &w},
		&w.mapper));
	for (unsigned i = 0; i < QUERIES; i++)
		w.asking[i].w = &w;
	while (in.left)
		step(&w);
	run(&w, 11000 * MS);
	for (unsigned i = 0; i < QUERIES; i++)
		MUST(!w.asking[i].open && !w.asking[i].q.mapper);
	iwpm_unlisten(&w.listener[0]);
	iwpm_unlisten(&w.listener[1]);
	MUST(timer_wheel_next(&w.wheel) == TIMER_NEVER);
	iwpm_destroy(w.mapper);
	return 0;
}
