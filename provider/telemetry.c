/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/telemetry.h"

#include "host/telemetry.h"
#include "rdmap/term_code.h"
#include "rnic/inspect.h"

#include <string.h>

/* ---- /uiwarp/rnic ------------------------------------------------------------------------ */

static void provider_telemetry_term_name(
	struct json_text *j, uint8_t layer, uint8_t etype, uint8_t code)
{
	const struct rdmap_term_code *t = rdmap_term_code(layer, etype, code);

	json_text_number(j, "layer", layer);
	json_text_number(j, "type", etype);
	json_text_number(j, "code", code);
	json_text_string(j, "name", t ? t->name : NULL);
}

static void provider_telemetry_terminates(const struct rnic_term_counts *t, struct json_text *j)
{
	json_text_array(j, "terminates");
	for (unsigned i = 0; i < t->n; i++) {
		const struct rnic_term_count *c = &t->code[i];

		json_text_object(j, NULL);
		provider_telemetry_term_name(j, c->layer, c->etype, c->code);
		json_text_number(j, "sent", c->sent);
		json_text_number(j, "received", c->received);
		json_text_object_end(j);
	}
	json_text_array_end(j);
	json_text_number(j, "other_terminates_sent", t->others_sent);
	json_text_number(j, "other_terminates_received", t->others_received);
	json_text_number(j, "streams_closed", t->closed);
	json_text_number(j, "streams_lost", t->lost);
}

static void provider_telemetry_ud(const struct rnic_ud_stats *s, struct json_text *j)
{
	json_text_object(j, "ud");
	json_text_number(j, "sent", s->sent);
	json_text_number(j, "received", s->received);
	json_text_number(j, "no_way", s->no_way);
	json_text_number(j, "refused", s->refused);
	json_text_number(j, "bad", s->bad);
	json_text_number(j, "no_qp", s->no_qp);
	json_text_number(j, "wrong_qkey", s->wrong_qkey);
	json_text_number(j, "no_receive", s->no_receive);
	json_text_number(j, "too_long", s->too_long);
	json_text_number(j, "groups_refused", s->groups_refused);
	json_text_object_end(j);
}

struct provider_telemetry_counts {
	struct rnic_inspection rnic;
	struct rnic_ud_stats ud;
};

static void provider_telemetry_read_counts(void *ctx, void *copy)
{
	struct provider_telemetry_counts *c = copy;

	rnic_inspect(ctx, &c->rnic);
	c->ud = rnic_ud_get_stats(ctx);
}

static void provider_telemetry_write_counts(void *ctx, const void *copy, struct json_text *j)
{
	const struct provider_telemetry_counts *c = copy;

	json_text_object(j, NULL);
	json_text_number(j, "pds", c->rnic.pds);
	json_text_number(j, "qps", c->rnic.qps);
	json_text_number(j, "cqs", c->rnic.cqs);
	json_text_number(j, "srqs", c->rnic.srqs);
	json_text_number(j, "mrs", c->rnic.mrs);
	json_text_number(j, "mws", c->rnic.mws);
	json_text_bool(j, "port_up", c->rnic.port_up);
	json_text_bool(j, "port_lost", c->rnic.lost);
	json_text_number(j, "startups_replaced", c->rnic.startups_replaced);
	provider_telemetry_terminates(&c->rnic.terminates, j);
	if (rnic_ud_max_message(ctx))
		provider_telemetry_ud(&c->ud, j);
	json_text_object_end(j);
}

static const struct telemetry_reading provider_telemetry_counts = {
	.size = sizeof(struct provider_telemetry_counts),
	.read = provider_telemetry_read_counts,
	.write = provider_telemetry_write_counts,
};
_Static_assert(sizeof(struct provider_telemetry_counts) <= TELEMETRY_READING, "it has room");

/* ---- /uiwarp/qps ------------------------------------------------------------------------- */

static enum walk provider_telemetry_qp_step(void *ctx, void *cursor, void *item)
{
	return rnic_qp_walk(ctx, cursor, item);
}

static void provider_telemetry_endpoint(
	struct json_text *j, const char *key, const struct ip_endpoint *e)
{
	char text[IP_ENDPOINT_STRLEN];

	json_text_string(j, key, ip_endpoint_format(e, text));
}

static void provider_telemetry_qp_stream(const struct rnic_qp_item *q, struct json_text *j)
{
	if (!q->connected)
		return;
	provider_telemetry_endpoint(j, "local", &q->local);
	provider_telemetry_endpoint(j, "remote", &q->remote);
	json_text_string(j, "role", q->responder ? "responder" : "initiator");
	json_text_number(j, "reads_out", q->reads_out);
	json_text_number(j, "reads_in", q->reads_in);
	json_text_number(j, "sends_sent", q->sends_sent);
	json_text_number(j, "requests_sent", q->requests_sent);
	json_text_number(j, "sends_received", q->sends_received);
	json_text_number(j, "requests_received", q->requests_received);
}

static void provider_telemetry_qp_end(const struct rnic_qp_item *q, struct json_text *j)
{
	static const char *const kind[] = {
		[RDMAP_END_CLOSED] = "closed",
		[RDMAP_END_LOST] = "lost",
		[RDMAP_END_TERMINATE_TX] = "terminate sent",
		[RDMAP_END_TERMINATE_RX] = "terminate received",
	};

	if (!q->ended)
		return;
	json_text_object(j, "last_end");
	json_text_string(j, "kind", kind[q->end.kind]);
	if (q->end.kind == RDMAP_END_LOST)
		json_text_string(j, "error", strerror(-q->end.error));
	else if (q->end.kind != RDMAP_END_CLOSED)
		provider_telemetry_term_name(j, q->end.layer, q->end.etype, q->end.code);
	json_text_object_end(j);
}

static void provider_telemetry_qp_format(void *ctx, const void *item, struct json_text *j)
{
	const struct rnic_qp_item *q = item;

	json_text_number(j, "qp", q->num);
	json_text_string(j, "state", rnic_qp_state_name(q->state));
	json_text_number(j, "send_cq", q->send_cq);
	json_text_number(j, "recv_cq", q->recv_cq);
	json_text_bool(j, "srq", q->shared_recv);
	json_text_bool(j, "rdma_cm", !q->paired);
	json_text_number(j, "send_size", q->send_size);
	json_text_number(j, "send_posted", q->send_posted);
	json_text_number(j, "send_started", q->send_started);
	json_text_number(j, "send_completed", q->send_completed);
	json_text_number(j, "recv_size", q->recv_size);
	json_text_number(j, "recv_posted", q->recv_posted);
	json_text_number(j, "recv_completed", q->recv_completed);
	json_text_bool(j, "recv_waits", q->recv_waits);
	json_text_number(j, "ird", q->ird);
	json_text_number(j, "ord", q->ord);
	provider_telemetry_qp_stream(q, j);
	provider_telemetry_qp_end(q, j);
}

static const struct telemetry_list provider_telemetry_qps = {
	.item_size = sizeof(struct rnic_qp_item),
	.step = provider_telemetry_qp_step,
	.format = provider_telemetry_qp_format,
};

/* ---- /uiwarp/cqs and /uiwarp/mrs --------------------------------------------------------- */

static void provider_telemetry_cq_begin(void *ctx)
{
	rnic_cq_walk_begin(ctx);
}

static enum walk provider_telemetry_cq_step(void *ctx, void *cursor, void *item)
{
	return rnic_cq_walk(ctx, item);
}

static void provider_telemetry_cq_format(void *ctx, const void *item, struct json_text *j)
{
	const struct rnic_cq_item *c = item;

	json_text_number(j, "cq", c->num);
	json_text_number(j, "size", c->size);
	json_text_number(j, "depth", c->depth);
	json_text_bool(j, "armed", c->armed);
	json_text_bool(j, "overflowed", c->overflowed);
	json_text_number(j, "withheld", c->withheld);
}

static const struct telemetry_list provider_telemetry_cqs = {
	.item_size = sizeof(struct rnic_cq_item),
	.begin = provider_telemetry_cq_begin,
	.step = provider_telemetry_cq_step,
	.format = provider_telemetry_cq_format,
};

static void provider_telemetry_mr_begin(void *ctx)
{
	rnic_mr_walk_begin(ctx);
}

static enum walk provider_telemetry_mr_step(void *ctx, void *cursor, void *item)
{
	return rnic_mr_walk(ctx, item);
}

static void provider_telemetry_mr_format(void *ctx, const void *item, struct json_text *j)
{
	static const struct {
		unsigned bit;
		const char *name;
	} rights[] = {
		{RNIC_ACCESS_LOCAL_WRITE, "local_write"},
		{RNIC_ACCESS_REMOTE_WRITE, "remote_write"},
		{RNIC_ACCESS_REMOTE_READ, "remote_read"},
		{RNIC_ACCESS_REMOTE_ATOMIC, "remote_atomic"},
		{RNIC_ACCESS_MW_BIND, "mw_bind"},
		{RNIC_ACCESS_ZERO_BASED, "zero_based"},
		{RNIC_ACCESS_ON_DEMAND, "on_demand"},
	};
	const struct rnic_mr_item *m = item;

	/* Without its key: who has the whole STag, and a connection, may use it. */
	json_text_number(j, "index", m->stag >> 8);
	json_text_number(j, "iova", m->iova);
	json_text_number(j, "length", m->length);
	json_text_bool(j, "valid", m->valid);
	json_text_number(j, "windows", m->windows);
	json_text_array(j, "access");
	for (size_t i = 0; i < sizeof rights / sizeof rights[0]; i++)
		if (m->access & rights[i].bit)
			json_text_string(j, NULL, rights[i].name);
	json_text_array_end(j);
}

static const struct telemetry_list provider_telemetry_mrs = {
	.item_size = sizeof(struct rnic_mr_item),
	.begin = provider_telemetry_mr_begin,
	.step = provider_telemetry_mr_step,
	.format = provider_telemetry_mr_format,
};

static const struct telemetry_command provider_telemetry_commands[] = {
	{"/uiwarp/rnic", "numbers of objects, and Terminates by their codes",
		.reading = &provider_telemetry_counts},
	{"/uiwarp/qps", "queue pairs, their queues and streams; in pages",
		.list = &provider_telemetry_qps},
	{"/uiwarp/cqs", "completion queues and how full they are; in pages",
		.list = &provider_telemetry_cqs},
	{"/uiwarp/mrs", "memory regions, without the keys of their STags; in pages",
		.list = &provider_telemetry_mrs},
};

void provider_telemetry_add(struct telemetry *t, struct rnic *r)
{
	if (t)
		telemetry_add(t, provider_telemetry_commands,
			sizeof provider_telemetry_commands / sizeof provider_telemetry_commands[0],
			r);
}
