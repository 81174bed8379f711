/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a connected queue pair costs in memory when it is idle: an ordinary program of verbs and
 * rdma_cm, one process for each side. All queue pairs share a CQ and an SRQ, so that the user's
 * queues are as small as they get; each is connected, carries a message each way, and is idle then.
 * Resident memory is read before the first of many and after the last: what librdmacm and this
 * program keep for each is in it. One line of JSON.
 *
 *     qps [-n QPS] [-w] [ADDRESS]    without an address: the side that listens; -w: all stays as it
 * is until a signal comes
 */
#include "base/number.h"
#include "completion.h"
#include "sample.h"

#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT      "7480"
#define FIRST     64 /* what the first ones bring with them is not counted */
#define ROUNDS    40 /* messages on each of these: the port's rings, too, have been used whole */
#define UNDER_WAY 32
#define MESSAGE   64
#define BUFFERS   256
#define CQES      1024

struct side {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	char buffer[BUFFERS + 1][MESSAGE];
	struct rdma_cm_id **id;
	unsigned n, wanted, made, connected, ended, received;
	struct rdma_addrinfo *address;
	bool client;
};

static void die(const char *what)
{
	fprintf(stderr, "qps: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void post_receive(struct side *s, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)s->buffer[i], MESSAGE, s->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;

	errno = ibv_post_srq_recv(s->srq, &wr, &bad);
	if (errno)
		die("ibv_post_srq_recv");
}

/** What all queue pairs share. */
static void prepare(struct side *s, struct ibv_context *verbs)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = BUFFERS, .max_sge = 1}};

	if (s->pd)
		return;
	s->pd = ibv_alloc_pd(verbs);
	s->cq = ibv_create_cq(verbs, CQES, NULL, NULL, 0);
	if (!s->pd || !s->cq)
		die("PD or CQ");
	s->srq = ibv_create_srq(s->pd, &attr);
	s->mr = ibv_reg_mr(s->pd, s->buffer, sizeof s->buffer, IBV_ACCESS_LOCAL_WRITE);
	if (!s->srq || !s->mr)
		die("SRQ or MR");
	for (unsigned i = 0; i < BUFFERS; i++)
		post_receive(s, i);
}

/** prepare() comes first. */
static void make_qp(struct side *s, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {.send_cq = s->cq,
		.recv_cq = s->cq,
		.srq = s->srq,
		.cap = {.max_send_wr = 1, .max_send_sge = 1},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1};

	if (rdma_create_qp(id, s->pd, &attr))
		die("rdma_create_qp");
}

static void send_on(struct side *s, struct ibv_qp *qp)
{
	struct ibv_sge sge = {(uintptr_t)s->buffer[BUFFERS], MESSAGE, s->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = BUFFERS, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};

	completion_post_send(qp, &wr);
}

static struct ibv_qp *qp_of(const struct side *s, uint32_t num)
{
	for (unsigned i = 0; i < s->made; i++)
		if (s->id[i]->qp && s->id[i]->qp->qp_num == num)
			return s->id[i]->qp;
	return NULL;
}

/** Take what has completed. The server answers. */
static void reap(struct side *s)
{
	struct ibv_wc wc[16];
	unsigned n = completion_reap(s->cq, wc, 16);

	for (unsigned i = 0; i < n; i++) {
		if (wc[i].wr_id == BUFFERS)
			continue;
		s->received++;
		post_receive(s, (unsigned)wc[i].wr_id);
		if (!s->client)
			send_on(s, qp_of(s, wc[i].qp_num));
	}
}

static void begin(struct side *s)
{
	struct rdma_cm_id *id;

	if (rdma_create_id(s->channel, &id, NULL, RDMA_PS_TCP) ||
		rdma_resolve_addr(id, NULL, s->address->ai_dst_addr, 2000))
		die("rdma_resolve_addr");
	s->id[s->made++] = id;
}

/** Handle one event of rdma_cm. */
static void on_event(struct side *s)
{
	struct rdma_conn_param param = {.initiator_depth = 1, .responder_resources = 1};
	struct rdma_cm_event *ev, copy;

	if (rdma_get_cm_event(s->channel, &ev))
		die("rdma_get_cm_event");
	copy = *ev;
	rdma_ack_cm_event(ev);
	switch (copy.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(copy.id, 2000))
			die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		prepare(s, copy.id->verbs);
		make_qp(s, copy.id);
		if (rdma_connect(copy.id, &param))
			die("rdma_connect");
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		prepare(s, copy.id->verbs);
		make_qp(s, copy.id);
		s->id[s->made++] = copy.id;
		if (rdma_accept(copy.id, &param))
			die("rdma_accept");
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		s->connected++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		s->ended++;
		break;
	default:
		fprintf(stderr, "qps: %s, %d\n", rdma_event_str(copy.event), copy.status);
		exit(1);
	}
}

/** Until @p n are connected. */
static void connect_up_to(struct side *s, unsigned n)
{
	while (s->connected < n) {
		while (s->client && s->made < n && s->made - s->connected < UNDER_WAY)
			begin(s);
		on_event(s);
	}
}

/** A message each way on each from number @p from on. */
static void talk(struct side *s, unsigned from)
{
	unsigned sent = from, end = s->connected, first = s->wanted;

	s->wanted += end - from;
	while (s->received < s->wanted) {
		if (s->client && sent < end && sent - from - (s->received - first) < UNDER_WAY)
			send_on(s, s->id[sent++]->qp);
		reap(s);
	}
	for (unsigned i = 0; i < 1000; i++)
		reap(s); /* the last answers go out, and their ACKs come */
}

static void open_side(struct side *s, const char *address)
{
	struct rdma_addrinfo hints = {
		.ai_port_space = RDMA_PS_TCP, .ai_flags = address ? 0 : RAI_PASSIVE};

	s->client = address != NULL;
	s->id = calloc(s->n, sizeof *s->id);
	s->channel = rdma_create_event_channel();
	if (!s->id || !s->channel ||
		rdma_getaddrinfo(address ? address : "0.0.0.0", PORT, &hints, &s->address))
		die("rdma_getaddrinfo");
	if (s->client)
		return;
	if (rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP) ||
		rdma_bind_addr(s->listener, s->address->ai_src_addr) ||
		rdma_listen(s->listener, 4 * UNDER_WAY))
		die("rdma_listen");
}

static void close_side(struct side *s)
{
	for (unsigned i = 0; s->client && i < s->made; i++)
		rdma_disconnect(s->id[i]);
	while (s->ended < s->connected)
		on_event(s);
}

static void usage(void)
{
	fprintf(stderr, "usage: qps [-n COUNT] [-w] [ADDRESS], COUNT above %u\n", FIRST);
	exit(2);
}

int main(int argc, char **argv)
{
	static struct side s;
	uint64_t n = 10000;
	bool waits = false;
	size_t before, fresh, used;
	int opt;

	while ((opt = getopt(argc, argv, "n:w")) != -1) {
		if (opt == 'w')
			waits = true;
		else if (opt != 'n' || !number_parse(optarg, FIRST + 1, UINT32_MAX, &n))
			usage();
	}
	if (optind + 1 < argc)
		usage();
	s.n = (unsigned)n;
	open_side(&s, argv[optind]);
	connect_up_to(&s, FIRST);
	for (unsigned i = 0; i < ROUNDS; i++)
		talk(&s, 0);
	before = sample_memory();
	connect_up_to(&s, s.n);
	fresh = sample_memory() - before;
	talk(&s, FIRST);
	used = sample_memory() - before;
	printf("{\"qps\": %u, \"bytes_new\": %zu, \"bytes_used\": %zu}\n", s.n,
		fresh / (s.n - FIRST), used / (s.n - FIRST));
	fflush(stdout);
	if (waits)
		pause();
	close_side(&s);
	return 0;
}
