/* SPDX-License-Identifier: BSD-2-Clause */
/* One host against all others: connections that take no data, that never begin, or never end what
 * they send. */
#include "base/bytes.h"
#include "ddp/ddp_wire.h"
#include "mpa/mpa_wire.h"
#include "rdmap/rdmap_wire.h"
#include "rnic/conn.h"
#include "sim/rdma_pair.h"
#include "sim/switch.h"
#include "tcp/conn.h"
#include "tcp/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CROWD_PORT 7000
#define READ_SIZE  (256u << 10)
#define READS      16
#define GREEDY     200
#define HALF       1500
#define SIZE       (1u << 20)
/** An FPDU of many segments, and how much of it the crowd sends. */
#define LONG_ULPDU (62u << 10)
#define LONG_PART  (60u << 10)
/** A fair peer sends so many whole ones. */
#define LONG_SENDS 4
#define QPS        (GREEDY + 2)

/* ---- a network of three hosts around a switch --------------------------------------------- */

static struct sim *s;
static struct sim_host *server, *mob, *honest;

static struct sim_host *crowd_host(
	struct sim_switch *w, const char *v4, const char *v6, const struct sim_host_config *cfg)
{
	struct sim_host_config h = *cfg;
	struct sim_host *host;

	h.address = v6 ? v6 : v4;
	host = sim_host_create(s, &h);
	sim_switch_attach(w, host, sim_host_port(host));
	sim_host_attach(host, sim_switch_element(w));
	return host;
}

static void crowd_begin(bool v6)
{
	/* CRCs off, so that what the crowd sends needs none. */
	const struct mpa_config mpa = {.revision = 2, .rtr = MPA_RTR_WRITE | MPA_RTR_READ};
	struct sim_switch *w;

	s = sim_create(&(struct sim_config){.seed = 11, .packets = 65535});
	w = sim_switch_create(s);
	server = crowd_host(w, "10.0.0.1/24", v6 ? "fd00::1/32" : NULL,
		&(struct sim_host_config){.rnic = {.mpa = mpa, .rnr_timeout_ms = 600000},
			.tcp = {.send_packets = 6000, .receive_packets = 5000}});
	/* Its windows are small, as the sum of what they hold is nothing to the test. */
	mob = crowd_host(w, "10.0.0.2/24", v6 ? "fd00:0:2::2/32" : NULL,
		&(struct sim_host_config){.rnic.mpa = mpa, .tcp.no_window_scale = true});
	honest = crowd_host(w, "10.0.0.3/24", v6 ? "fd00:0:3::3/32" : NULL,
		&(struct sim_host_config){.rnic.mpa = mpa});
}

/* ---- the server --------------------------------------------------------------------------- */

struct service {
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_mr *mr;
	struct rnic_ep *ep, *request[QPS];
	struct rnic_qp *qp[QPS];
	uint8_t *buf;
	unsigned requests, accepted, refused, over, received;
};

static struct service service;

static void service_event(const struct rnic_ep_event *ev);

static void service_nothing(void *ctx)
{
}

/** The crowd has no receives; newcomers have. */
static void service_post_recv(struct rnic_qp *qp)
{
	assert_int_equal(rnic_rq_begin(qp), 0);
	for (unsigned i = 0; i < LONG_SENDS; i++) {
		struct rdmap_rqe *w = rnic_rq_next(qp);

		assert_non_null(w);
		w->length = LONG_ULPDU;
		w->num_sge = 1;
		w->sge[0] = (struct rdmap_sge){RDMA_IOVA, LONG_ULPDU, rnic_mr_stag(service.mr)};
		rnic_rq_commit(qp);
	}
	rnic_rq_end(qp);
}

static bool service_has_all(void *ctx)
{
	const unsigned *expected = ctx;
	struct rnic_wc wc;

	while (rnic_cq_poll(service.cq, 1, &wc) == 1)
		service.received += wc.wc.op >= RDMAP_WC_RECV && wc.wc.status == RDMAP_WC_SUCCESS;
	return service.received == *expected;
}

/** Requests are answered outside of the upcall that tells of them. */
static void service_accept(void *ctx)
{
	unsigned i = (unsigned)(uintptr_t)ctx;
	struct rnic_qp_init init = {.max_send_wr = 1,
		.max_recv_wr = LONG_SENDS,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.send_cq = service.cq,
		.recv_cq = service.cq};
	struct rnic_conn_param cp = {.ird = READS, .ord = 1};

	assert_int_equal(rnic_qp_create(service.pd, &init, &service.qp[i]), 0);
	rnic_qp_modify(service.qp[i], RNIC_QP_STATE | RNIC_QP_ACCESS,
		&(struct rnic_qp_attr){.state = RNIC_QP_INIT, .access = RNIC_ACCESS_REMOTE_READ});
	cp.qp = service.qp[i];
	if (i >= GREEDY)
		service_post_recv(cp.qp);
	rnic_ep_set_context(service.request[i], service_event, NULL);
	if (rnic_ep_accept(service.request[i], &cp))
		service.refused++;
	else
		service.accepted++;
}

static void service_event(const struct rnic_ep_event *ev)
{
	unsigned i = service.requests;

	if (ev->type == RNIC_EP_DISCONNECTED || ev->type == RNIC_EP_CONNECT_ERROR)
		service.over++;
	if (ev->type != RNIC_EP_CONNECT_REQUEST)
		return;
	assert_true(i < QPS);
	service.request[i] = ev->request;
	service.requests++;
	sim_at(s, sim_now(s), service_accept, (void *)(uintptr_t)i);
}

static void service_begin(void)
{
	struct ip_endpoint at = {sim_host_address(server), CROWD_PORT};
	struct rnic *r = sim_host_rnic(server);

	service = (struct service){.buf = calloc(1, READ_SIZE)};
	assert_int_equal(rnic_pd_alloc(r, &service.pd), 0);
	assert_int_equal(rnic_mr_reg(service.pd, service.buf, READ_SIZE, RDMA_IOVA,
				 RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_LOCAL_WRITE, &service.mr),
		0);
	assert_int_equal(rnic_cq_create(r, 8 * GREEDY, service_nothing, NULL, &service.cq), 0);
	assert_int_equal(rnic_ep_create(r, service_event, NULL, &service.ep), 0);
	assert_int_equal(rnic_ep_bind(service.ep, &at, false, false), 0);
	assert_int_equal(rnic_ep_listen(service.ep, 0), 0);
}

static void service_end(void)
{
	rnic_ep_destroy(service.ep);
	for (unsigned i = 0; i < service.requests; i++) {
		rnic_ep_destroy(service.request[i]);
		rnic_qp_destroy(service.qp[i]);
	}
	rnic_cq_destroy(service.cq);
	rnic_mr_dereg(service.mr);
	rnic_pd_dealloc(service.pd);
	free(service.buf);
}

/* ---- the crowd ---------------------------------------------------------------------------- */

struct one {
	struct sim_host *host;
	struct llp *llp;
	void (*ask)(struct one *); /**< what it sends when it is accepted */
	size_t request;            /**< how much of the MPA request it sends */
	uint16_t ulpdu;            /**< of each FPDU that it sends then */
	size_t text, sent;         /**< bytes of these */
	bool asked, ended;
};

static struct one crowd[HALF];

static void one_send(struct one *o, const void *bytes, size_t len)
{
	void *room = llp_reserve(o->llp, (uint32_t)len, false);

	assert_non_null(room);
	memcpy(room, bytes, len);
	llp_commit(o->llp, (uint32_t)len);
	llp_push(o->llp);
}

static void one_connected(void *user)
{
	static const char request[] = MPA_REQUEST_KEY "\x00\x01\x00\x00";
	struct one *o = user;

	if (o->request)
		one_send(o, request, o->request);
}

static void one_ask_for_reads(struct one *o)
{
	for (uint32_t i = 0; i < READS; i++) {
		uint8_t fpdu[2 + DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN + 4] = {0};
		uint8_t *ddp = fpdu + 2, *read = ddp + DDP_UNTAGGED_LEN;

		store_be16(fpdu, DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN);
		ddp[DDP_AT_CONTROL] = DDP_CONTROL_LAST | DDP_VERSION;
		ddp[DDP_AT_ULP] = RDMAP_CONTROL(1); /* Read Request */
		store_be32(ddp + DDP_AT_QN, RDMAP_QN_READ);
		store_be32(ddp + DDP_AT_MSN, i + 1);
		store_be32(read + RDMAP_AT_SINK_STAG, 1);
		store_be32(read + RDMAP_AT_SIZE, READ_SIZE);
		store_be32(read + RDMAP_AT_SOURCE_STAG, rnic_mr_stag(service.mr));
		store_be64(read + RDMAP_AT_SOURCE_TO, RDMA_IOVA);
		one_send(o, fpdu, sizeof fpdu);
	}
}

/** How long an FPDU with a ULPDU of @p ulpdu bytes is. */
static size_t fpdu_len(size_t ulpdu)
{
	return (MPA_FPDU_HEADER_LEN + ulpdu + 3) / 4 * 4 + MPA_CRC_LEN;
}

/** Go on with Sends, each an FPDU, as there is room. */
static void one_go_on(void *user)
{
	struct one *o = user;
	size_t len = fpdu_len(o->ulpdu);

	while (o->sent < o->text) {
		uint8_t head[MPA_FPDU_HEADER_LEN + DDP_UNTAGGED_LEN] = {0};
		uint8_t *ddp = head + MPA_FPDU_HEADER_LEN, *room;
		size_t at = o->sent % len, n = len - at;

		n = n < o->text - o->sent ? n : o->text - o->sent;
		n = n < llp_emss(o->llp) ? n : llp_emss(o->llp);
		room = llp_reserve(o->llp, (uint32_t)n, false);
		if (!room)
			break;
		store_be16(head, o->ulpdu);
		ddp[DDP_AT_CONTROL] = DDP_CONTROL_LAST | DDP_VERSION;
		ddp[DDP_AT_ULP] = RDMAP_CONTROL(RDMAP_OP_SEND);
		store_be32(ddp + DDP_AT_QN, RDMAP_QN_SEND);
		store_be32(ddp + DDP_AT_MSN, (uint32_t)(o->sent / len) + 1);
		memset(room, 0, n);
		if (at == 0)
			memcpy(room, head, n < sizeof head ? n : sizeof head);
		llp_commit(o->llp, (uint32_t)n);
		o->sent += n;
	}
	llp_push(o->llp);
}

static void one_send_fpdus(struct one *o, uint16_t ulpdu, size_t text)
{
	o->ulpdu = ulpdu;
	o->text = text;
	one_go_on(o);
}

static void one_send_part(struct one *o)
{
	one_send_fpdus(o, LONG_ULPDU, LONG_PART);
}

static void one_send_most(struct one *o)
{
	one_send_fpdus(o, LONG_ULPDU, LONG_ULPDU);
}

static void one_send_messages(struct one *o)
{
	one_send_fpdus(o, 1000, LONG_PART);
}

static void one_send_all(struct one *o)
{
	one_send_fpdus(o, LONG_ULPDU, LONG_SENDS * fpdu_len(LONG_ULPDU));
}

/** The reply is read, and nothing after it. */
static size_t one_readable(
	void *user, const struct llp_iov *v, unsigned n, size_t total, size_t *need)
{
	struct one *o = user;

	if (o->asked)
		return 0;
	o->asked = true;
	o->ask(o);
	return total;
}

static void one_over(void *user)
{
	struct one *o = user;

	o->ended = true;
}

static void one_closed(void *user, int error)
{
	struct one *o = user;

	o->llp = NULL;
	o->ended = true;
}

static const struct llp_user_ops one_ops = {
	.connected = one_connected,
	.readable = one_readable,
	.writable = one_go_on,
	.eof = one_over,
	.closed = one_closed,
};

static void one_begin(void *ctx)
{
	struct one *o = ctx;
	const struct llp_connect_params p = {.remote = {sim_host_address(server), CROWD_PORT}};

	assert_int_equal(
		llp_connect(tcp_llp_stack(sim_host_tcp(o->host)), &p, &one_ops, o, &o->llp), 0);
}

static void one_end(void *ctx)
{
	struct one *o = ctx;

	if (o->llp)
		llp_abort(o->llp);
	o->llp = NULL;
}

/** @p n of them connect, one each 50 us, and send @p request bytes of an MPA request. */
static void crowd_come(unsigned n, size_t request, void (*ask)(struct one *))
{
	memset(crowd, 0, sizeof crowd);
	for (unsigned i = 0; i < n; i++) {
		crowd[i] = (struct one){.host = mob, .request = request, .ask = ask};
		sim_host_call(mob, one_begin, &crowd[i]);
		sim_run(s, 50 * SIM_US, NULL, NULL);
	}
}

static void crowd_end(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sim_host_call(mob, one_end, &crowd[i]);
	sim_run(s, SIM_S, NULL, NULL);
	service_end();
	sim_destroy(s);
}

/* ---- newcomers that only want service -------------------------------------------------------- */

/** @p from connects to the server, and all that it does works, each within @p limit. */
static void newcomer_is_served(struct sim_host *from, uint16_t port, uint64_t limit)
{
	static struct rdma_pair pairs[2];
	struct rdma_pair *p = &pairs[port & 1]; /* it may be told of things after its end */

	rdma_pair_create_on(p, from, server, port, SIZE);
	assert_true(rdma_pair_connect(p, limit));
	memset(p->a.buf, 0x5a, SIZE / 2);
	memset(p->b.buf + SIZE / 2, 0xa5, SIZE / 2);
	rdma_post(p, &p->a, RDMAP_WR_WRITE, 0, 0, SIZE / 2);
	rdma_post(p, &p->a, RDMAP_WR_READ, SIZE / 2, SIZE / 2, SIZE / 2);
	assert_true(rdma_complete(p, &p->a, 2, limit));
	assert_memory_equal(p->a.buf, p->b.buf, SIZE);
	rdma_pair_destroy(p);
}

/** The FPDUs of @p from have many segments each, and all of them arrive within @p limit. */
static void long_fpdus_arrive(struct sim_host *from, uint64_t limit)
{
	static struct one ones[2];
	struct one *o = &ones[service.accepted & 1];
	unsigned expected = service.received + LONG_SENDS;

	*o = (struct one){.host = from, .request = MPA_HEADER_LEN, .ask = one_send_all};
	sim_host_call(from, one_begin, o);
	assert_true(sim_run(s, limit, service_has_all, &expected));
	assert_false(o->ended);
	sim_host_call(from, one_end, o);
}

/* ---- tests -------------------------------------------------------------------------------- */

/** Each asks for 4 MiB and reads none of it. */
static void greedy_readers(bool v6)
{
	struct tcp_stack *t;

	crowd_begin(v6);
	service_begin();
	t = sim_host_tcp(server);
	crowd_come(GREEDY, MPA_HEADER_LEN, one_ask_for_reads);
	sim_run(s, 5 * SIM_S, NULL, NULL);
	assert_int_equal(service.accepted, GREEDY);
	assert_int_equal(service.refused, 0);
	for (unsigned i = 0; i < GREEDY; i++)
		assert_true(crowd[i].asked);
	/* What they do not take is not waiting in our packets. */
	assert_in_range(t->tx_held, GREEDY, GREEDY * 16);
	newcomer_is_served(honest, 7174, SIM_S);
	newcomer_is_served(mob, 7175, SIM_S);
	/* Nobody had to go for that: RFC 9293 section 3.8.6.1. */
	sim_run(s, 120 * SIM_S, NULL, NULL);
	assert_int_equal(service.over, 0);
	crowd_end(GREEDY);
}

static void greedy_readers_over_ipv4(void **state)
{
	greedy_readers(false);
}

static void greedy_readers_over_ipv6(void **state)
{
	greedy_readers(true);
}

/**
 * What the crowd sends waits for good: for its end, or for receives. One that is slow, and holds
 * more than any of them, is none of them.
 */
static void unread_text(bool v6, void (*ask)(struct one *))
{
	static struct one slow;
	struct tcp_stack *t;
	unsigned ended = 0, expected;

	crowd_begin(v6);
	service_begin();
	t = sim_host_tcp(server);
	slow = (struct one){.host = honest, .request = MPA_HEADER_LEN, .ask = one_send_most};
	sim_host_call(honest, one_begin, &slow);
	sim_run(s, 10 * SIM_MS, NULL, NULL);
	crowd_come(GREEDY - 1, MPA_HEADER_LEN, ask);
	sim_run(s, 5 * SIM_S, NULL, NULL);
	assert_int_equal(service.accepted, GREEDY);
	long_fpdus_arrive(honest, SIM_S);
	long_fpdus_arrive(mob, SIM_S);
	newcomer_is_served(honest, 7174, SIM_S);
	assert_false(slow.ended);
	service_post_recv(service.qp[0]);
	expected = service.received + 1;
	slow.text = fpdu_len(LONG_ULPDU);
	sim_host_call(honest, one_go_on, &slow);
	assert_true(sim_run(s, SIM_S, service_has_all, &expected));
	/* Only connections without room for their text had to go. */
	for (unsigned i = 0; i < GREEDY; i++)
		ended += crowd[i].ended;
	assert_in_range(ended, 1, GREEDY);
	assert_int_equal(ended, tcp_stack_stats(t)->unread_ended);
	assert_in_range(t->rx_held, t->rx_limit / 8 * 7, t->rx_hard_limit);
	sim_host_call(honest, one_end, &slow);
	crowd_end(GREEDY);
}

/** While there is memory, text may wait. */
static void partial_fpdus_may_wait(void **state)
{
	crowd_begin(false);
	service_begin();
	crowd_come(GREEDY / 2, MPA_HEADER_LEN, one_send_part);
	sim_run(s, 120 * SIM_S, NULL, NULL);
	newcomer_is_served(honest, 7174, SIM_S);
	assert_int_equal(service.accepted, GREEDY / 2);
	assert_int_equal(service.over, 0);
	crowd_end(GREEDY / 2);
}

static void partial_fpdus_over_ipv4(void **state)
{
	unread_text(false, one_send_part);
}

static void partial_fpdus_over_ipv6(void **state)
{
	unread_text(true, one_send_part);
}

/** The application is slow to post receives, as it may be where rnr_timeout is long. */
static void messages_without_receives(void **state)
{
	unread_text(false, one_send_messages);
}

/**
 * What one of them costs in all, without what is shared: docs/tcp.md has the figures. The frame is
 * kept as far as it came.
 */
static void half_request_costs(void **state)
{
	size_t tcp = sizeof(struct tcp_conn) + 3 * sizeof(struct tcp_slot);
	size_t rdma = sizeof(struct conn) + sizeof(struct peer_entry);

	assert_true(tcp <= 1024);
	assert_true(tcp + rdma + MPA_HEADER_LEN <= 1536);
	assert_true(tcp + rdma + MPA_FRAME_MAX <= 2048);
}

/** Requests that are begun and never ended, more than may wait. */
static void half_requests(bool v6)
{
	unsigned ended = 0;
	struct tcp_stack *t;

	crowd_begin(v6);
	service_begin();
	t = sim_host_tcp(server);
	crowd_come(HALF, 10, NULL);
	sim_run(s, 100 * SIM_MS, NULL, NULL);
	/* What has come of them is in no packet. */
	assert_int_equal(t->rx_held, 0);
	newcomer_is_served(honest, 7174, SIM_S);
	newcomer_is_served(mob, 7175, SIM_S);
	for (unsigned i = 0; i < HALF; i++)
		ended += crowd[i].ended;
	assert_in_range(ended, HALF - 1024, HALF - 1000);
	assert_true(crowd[0].ended);         /* the oldest went, */
	assert_false(crowd[HALF - 1].ended); /* not the newest */
	sim_run(s, 11 * SIM_S, NULL, NULL);
	for (unsigned i = 0; i < HALF; i++)
		assert_true(crowd[i].ended); /* their time is over */
	assert_int_equal(service.requests, 0);
	crowd_end(HALF);
}

static void half_requests_over_ipv4(void **state)
{
	half_requests(false);
}

static void half_requests_over_ipv6(void **state)
{
	half_requests(true);
}

/** Connections on which nothing is said at all are the same. */
static void silent_connections(void **state)
{
	crowd_begin(false);
	service_begin();
	crowd_come(HALF, 0, NULL);
	newcomer_is_served(honest, 7174, SIM_S);
	newcomer_is_served(mob, 7175, SIM_S);
	crowd_end(HALF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(greedy_readers_over_ipv4),
		cmocka_unit_test(greedy_readers_over_ipv6),
		cmocka_unit_test(partial_fpdus_over_ipv4),
		cmocka_unit_test(partial_fpdus_over_ipv6),
		cmocka_unit_test(partial_fpdus_may_wait),
		cmocka_unit_test(messages_without_receives),
		cmocka_unit_test(half_request_costs),
		cmocka_unit_test(half_requests_over_ipv4),
		cmocka_unit_test(half_requests_over_ipv6),
		cmocka_unit_test(silent_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
