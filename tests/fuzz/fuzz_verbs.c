/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs under a hostile program: any argument, in any order, with objects that come and go
 * while they are in use. The device stands on an RNIC in memory, and its queue pairs connect to
 * each other. Pointers are to memory that is there, as C has it, but for what the verbs check
 * themselves: registered memory, and the addresses of scatter/gather elements.
 */
#include "verbs_world.h"

/* ---- completions and events ------------------------------------------------------------------ */

static void completed(uint64_t wr_id)
{
	MUST(wr_id < VERBS_IDS && verbs_world.open[wr_id]);
	verbs_world.open[wr_id] = 0;
}

static void poll(struct ibv_cq *cq)
{
	struct ibv_wc wc[4];
	int n = cq_poll(cq, 4, wc);

	for (int i = 0; i < n; i++)
		completed(wc[i].wr_id);
}

static void poll_extended(struct ibv_cq_ex *ex)
{
	struct ibv_poll_cq_attr a = {0};

	if (!ex->start_poll || ex->start_poll(ex, &a))
		return;
	do {
		completed(ex->wr_id);
		ex->read_opcode(ex);
		ex->read_byte_len(ex);
		ex->read_wc_flags(ex);
		if (ex->read_completion_ts)
			ex->read_completion_ts(ex);
	} while (!ex->next_poll(ex));
	ex->end_poll(ex);
}

static void look(void)
{
	uint8_t how = fuzz_u8(verbs_world.in);
	struct ibv_modify_cq_attr a = {
		.attr_mask = how >> 7 ? fuzz_u8(verbs_world.in) : IBV_CQ_ATTR_MODERATE};
	struct ibv_cq *cq = verbs_world.object[VERBS_CQ][how % VERBS_SLOTS];

	if (!cq)
		return;
	switch (how >> 2 & 7) {
	case 0:
		MUST(cq_request_notify(cq, how >> 5 & 1) >= 0);
		break;
	case 1:
		MUST(cq_resize(cq, (int)fuzz_u16(verbs_world.in) - 100) >= 0);
		break;
	case 2:
		a.moderate.cq_count = fuzz_u16(verbs_world.in);
		a.moderate.cq_period = fuzz_u16(verbs_world.in);
		MUST(cq_modify(cq, &a) >= 0);
		break;
	case 3:
		poll_extended((struct ibv_cq_ex *)(void *)cq);
		break;
	default:
		poll(cq);
	}
}

/** As ibv_ack_async_event() does. */
static void acknowledge(const struct ibv_async_event *ev)
{
	switch (ev->event_type) {
	case IBV_EVENT_CQ_ERR:
		ev->element.cq->async_events_completed++;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ev->element.qp->events_completed++;
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		ev->element.srq->events_completed++;
		break;
	default:
		break;
	}
}

static void events(void)
{
	struct ibv_comp_channel *ch = verbs_any_object(VERBS_CHANNEL);
	struct ibv_async_event ev;
	struct ibv_cq *cq;
	void *context;

	while (!verbs_world.closed && !async_get(verbs_world.context, &ev))
		acknowledge(&ev);
	while (ch && !channel_get_event(ch, &cq, &context)) {
		MUST(context == &verbs_world);
		cq->comp_events_completed++;
	}
}

/* ---- questions
 * ----------------------------------------------------------------------------------- */

/** Answers in structures of any size, with nothing behind them. */
static void ask(void)
{
	uint8_t how = fuzz_u8(verbs_world.in), n = how >> 6;
	size_t size = fuzz_u16(verbs_world.in) % 512u;
	uint8_t *room = malloc(size * (n + 1u) + 1u);
	union ibv_gid gid;
	int type;

	MUST(room);
	if (verbs_world.closed)
		how = 0xff;
	switch (how & 7) {
	case 0:
		MUST(query_device_ex(verbs_world.context, NULL, (void *)room, size) >= 0);
		break;
	case 1:
		MUST(query_port(verbs_world.context, how >> 3 & 3, (void *)room, size) >= 0);
		break;
	case 2:
		query_gid_ex(verbs_world.context, how >> 3 & 3, how >> 5, (void *)room, 0, size);
		break;
	case 3:
		query_gid_table(verbs_world.context, (void *)room, n, 0, size);
		break;
	case 4:
		query_gid(verbs_world.context, how >> 3 & 3, (int8_t)fuzz_u8(verbs_world.in), &gid);
		query_gid_type(verbs_world.context, how >> 3 & 3, fuzz_u32(verbs_world.in), &type);
		break;
	default:
		break;
	}
	free(room);
}

/* ---- run
 * ------------------------------------------------------------------------------------------ */

static void pass_time(void)
{
	uint64_t ms = fuzz_u8(verbs_world.in) * 16u;

	for (unsigned i = 0; i < 4; i++) {
		verbs_world.pair.clock += (1 + ms / 4) * PAIR_MS;
		pair_run(&verbs_world.pair);
	}
}

static void step(void)
{
	static void (*const steps[])(void) = {verbs_create_or_destroy, verbs_create_or_destroy,
		verbs_modify, verbs_query, verbs_post_sends, verbs_post_sends, verbs_post_receives,
		verbs_build, verbs_build, verbs_bind_window, look, look, events, verbs_memory, ask,
		pass_time};
	uint8_t op = fuzz_u8(verbs_world.in);

	if (op == 0xff)
		verbs_world_close();
	else
		steps[op % (sizeof steps / sizeof steps[0])]();
	if (op & 16)
		pair_run(&verbs_world.pair);
}

/** What most programs begin with. */
static void usual_objects(void)
{
	static const enum verbs_kind kinds[] = {VERBS_PD, VERBS_MR, VERBS_CHANNEL, VERBS_CQ,
		VERBS_SRQ, VERBS_MW, VERBS_QP, VERBS_QP};
	struct fuzz nothing = {0}, *in = verbs_world.in;

	verbs_world.in = &nothing;
	for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		verbs_create(kinds[i], i && kinds[i] == kinds[i - 1]);
	verbs_world.in = in;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	setenv("CMOCKA_TEST_ABORT", "1", 1);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};

	verbs_world_init(&in);
	usual_objects();
	while (in.left)
		step();
	events();
	verbs_world_fini();
	return 0;
}
