/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include "base/clock_id.h"
#include "dpdk-port/port_private.h"
#include "host/net_priv.h"
#include "ip/stack.h"
#include "rnic/ep.h"
#include "sample.h"

#include <err.h>
#include <rte_cycles.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT 7482
#define SIZE (1u << 20)

void pair_must(int r, const char *what)
{
	if (r < 0)
		errx(1, "%s: %s", what, strerror(-r));
}

/* ---- two ends ----------------------------------------------------------------------------- */

static void pair_on_transmit(void *end, struct rte_mbuf *m)
{
	struct pair_end *d = end;

	d->handed = rte_rdtsc();
	d->frames++;
	port_tx(d->net->port, m);
}

static void pair_on_event(const struct rnic_ep_event *ev)
{
	struct pair_end *d = ev->context;

	switch (ev->type) {
	case RNIC_EP_CONNECT_REQUEST:
		d->request = ev->request;
		d->asked = true;
		break;
	case RNIC_EP_ESTABLISHED:
		d->established = true;
		break;
	case RNIC_EP_ADDR_RESOLVED:
		break;
	default:
		errx(1, "event %d", ev->type);
	}
}

static void pair_on_completion(void *ctx)
{
}

static void pair_set(struct config *c, const char *setting)
{
	struct config_error e = {.text = ""};

	if (config_set(c, "benchmark", setting, &e))
		errx(1, "%s", e.text);
}

static void pair_open_net(struct pair_end *d, const char *role, const char *socket, uint64_t mtu,
	const char *const settings[])
{
	struct config_error e = {.text = ""};
	struct config c;
	char set[5][256];
	bool server = strcmp(role, "server") == 0;

	snprintf(set[0], sizeof set[0],
		"port=net_memif%d,role=%s,socket=%s,socket-abstract=no,bsize=%s", !server, role,
		socket, mtu > 1500 ? "16384" : "2048");
	snprintf(set[1], sizeof set[1], "address=10.77.0.%d/24", server ? 1 : 2);
	snprintf(set[2], sizeof set[2], "mtu=%u", (unsigned)mtu);
	snprintf(set[3], sizeof set[3], "log=error");
	snprintf(set[4], sizeof set[4], "telemetry=on");
	config_init(&c);
	for (unsigned i = 0; i < 5; i++)
		pair_set(&c, set[i]);
	for (; *settings; settings++)
		pair_set(&c, *settings);
	if (net_open(&c, &d->net, &e))
		errx(1, "%s", e.text);
	d->net->ip->cfg.transmit = pair_on_transmit;
	d->net->ip->cfg.transmit_ctx = d;
}

static void pair_open_qp(struct pair_end *d)
{
	const unsigned access = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ;
	struct rnic_config cfg = {.engine = net_engine(d->net),
		.net = net_llp(d->net),
		.random = net_random,
		.log = net_log(d->net),
		.mpa = net_config(d->net)->mpa};
	struct rnic_qp_init init = {.max_send_wr = PAIR_DEPTH,
		.max_recv_wr = PAIR_DEPTH,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.sq_sig_all = true};

	d->memory = aligned_alloc(4096, SIZE);
	if (!d->memory)
		err(1, "memory");
	memset(d->memory, 1, SIZE);
	pair_must(rnic_create(&cfg, &d->rnic), "RNIC");
	pair_must(rnic_pd_alloc(d->rnic, &d->pd), "PD");
	pair_must(rnic_mr_reg(d->pd, d->memory, SIZE, 0, RNIC_ACCESS_LOCAL_WRITE | access, &d->mr),
		"MR");
	pair_must(rnic_cq_create(d->rnic, 4 * PAIR_DEPTH, pair_on_completion, d, &d->cq), "CQ");
	init.send_cq = init.recv_cq = d->cq;
	pair_must(rnic_qp_create(d->pd, &init, &d->qp), "QP");
	pair_must(rnic_qp_modify(d->qp, RNIC_QP_STATE | RNIC_QP_ACCESS,
			  &(struct rnic_qp_attr){.state = RNIC_QP_INIT, .access = access}),
		"QP to INIT");
	pair_must(rnic_ep_create(d->rnic, pair_on_event, d, &d->ep), "endpoint");
}

/** @return true when it has a link, by which frames go. */
static bool pair_watch(struct pair_end *d)
{
	return ENGINE_LOCKED(net_engine(d->net), port_watch(d->net->port));
}

void pair_drive(struct pair_end *d)
{
	engine_drive(net_engine(d->net));
}

static void pair_join(struct pair_end *a, struct pair_end *b)
{
	struct ip_endpoint at = {.port = PORT};
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};
	bool both;

	pair_must(ip_addr_parse("10.77.0.1", &at.addr), "address");
	do {
		usleep(20000);
		both = pair_watch(a);
		both = pair_watch(b) && both;
	} while (!both);
	pair_must(rnic_ep_bind(b->ep, &at, false, false), "bind");
	pair_must(rnic_ep_listen(b->ep, 4), "listen");
	pair_must(rnic_ep_resolve(a->ep, &at, 0), "resolve");
	cp.qp = a->qp;
	pair_must(rnic_ep_connect(a->ep, &cp), "connect");
	cp.qp = b->qp;
	while (!a->established || !b->established) {
		pair_drive(a);
		pair_drive(b);
		if (!b->asked)
			continue;
		b->asked = false;
		rnic_ep_set_context(b->request, pair_on_event, b);
		pair_must(rnic_ep_accept(b->request, &cp), "accept");
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

static void pair_fill(
	struct pair_end *from, const struct pair_end *to, enum rdmap_wr_op op, uint32_t len)
{
	struct rdmap_wqe *w = rnic_sq_next(from->qp);

	if (!w)
		errx(1, "the send queue is full");
	w->op = op;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->remote_stag = rnic_mr_stag(to->mr);
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){0, len, rnic_mr_stag(from->mr)};
	rnic_sq_commit(from->qp);
}

void pair_post(struct pair_end *from, const struct pair_end *to, enum rdmap_wr_op op, uint32_t len,
	unsigned n)
{
	pair_must(rnic_sq_begin(from->qp), "post");
	while (n--)
		pair_fill(from, to, op, len);
	rnic_sq_end(from->qp);
}

void pair_receive(struct pair_end *d)
{
	struct rdmap_rqe *w;

	pair_must(rnic_rq_begin(d->qp), "receive");
	w = rnic_rq_next(d->qp);
	if (!w)
		errx(1, "the receive queue is full");
	w->length = 8;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){64, 8, rnic_mr_stag(d->mr)};
	rnic_rq_commit(d->qp);
	rnic_rq_end(d->qp);
}

unsigned pair_reap(struct pair_end *d, int n)
{
	struct rnic_wc wc[PAIR_LIST];

	n = rnic_cq_poll(d->cq, n, wc);
	pair_must(n, "poll");
	for (int i = 0; i < n; i++)
		if (wc[i].wc.status != RDMAP_WC_SUCCESS)
			errx(1, "completion: %d", wc[i].wc.status);
	return (unsigned)n;
}

uint64_t pair_stream(
	struct pair_end *a, struct pair_end *b, unsigned n, uint32_t len, unsigned list)
{
	unsigned posted = 0, done = 0, depth = len > 4096 ? 4 : PAIR_DEPTH;
	uint64_t begin = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);

	while (done < n) {
		for (; posted < n && posted - done + list <= depth; posted += list)
			pair_post(a, b, RDMAP_WR_WRITE, len, list);
		for (unsigned got = PAIR_LIST; got == PAIR_LIST; done += got)
			got = pair_reap(a, PAIR_LIST);
		pair_drive(b);
	}
	return clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

void pair_open(struct pair_end *a, struct pair_end *b, uint64_t mtu, const char *const settings[])
{
	char directory[] = "/tmp/uiws.XXXXXX", socket[64];

	if (!mkdtemp(directory))
		err(1, "%s", directory);
	snprintf(socket, sizeof socket, "%s/m", directory);
	pair_open_net(b, "server", socket, mtu, settings);
	pair_open_net(a, "client", socket, mtu, settings);
	pair_open_qp(a);
	pair_open_qp(b);
	pair_join(a, b);
	unlink(socket);
	rmdir(directory);
}
