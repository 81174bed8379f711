/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim/rdma_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT   7174
#define DEPTH  64
#define REMOTE (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC)

static void must(int r, const char *what)
{
	if (r < 0) {
		fprintf(stderr, "rdma_pair: %s: %s\n", what, strerror(-r));
		abort();
	}
}

static void side_tell(void *ctx)
{
	struct rdma_side *side = ctx;

	side->told = false;
	if (side->changed)
		side->changed(side->ctx);
}

/** Callbacks of the RNIC may not call back into it. */
static void side_changed(void *ctx)
{
	struct rdma_side *side = ctx;
	struct sim *s = sim_host_sim(side->host);

	if (side->told)
		return;
	side->told = true;
	sim_at(s, sim_now(s), side_tell, side);
}

static void side_accept(void *ctx);

static void side_event(const struct rnic_ep_event *ev)
{
	struct rdma_side *side = ev->context;
	struct sim *s = sim_host_sim(side->host);

	switch (ev->type) {
	case RNIC_EP_CONNECT_REQUEST:
		side->request = ev->request;
		sim_at(s, sim_now(s), side_accept, side);
		break;
	case RNIC_EP_ESTABLISHED:
		side->established = true;
		side_changed(side);
		break;
	case RNIC_EP_DISCONNECTED:
		side->disconnected = true;
		side->status = ev->status;
		side_changed(side);
		break;
	case RNIC_EP_ADDR_RESOLVED:
		break;
	default:
		side->failed = true;
		side_changed(side);
	}
}

static void side_accept(void *ctx)
{
	struct rdma_side *side = ctx;
	struct rnic_conn_param cp = {.qp = side->qp, .ird = 4, .ord = 4};

	rnic_ep_set_context(side->request, side_event, side);
	must(rnic_ep_accept(side->request, &cp), "accept");
}

static void side_create(struct rdma_side *d, size_t size)
{
	struct rnic *r = sim_host_rnic(d->host);
	struct rnic_qp_init init = {.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.sq_sig_all = true};

	d->buf = calloc(1, size);
	must(d->buf ? 0 : -12, "buffer");
	must(rnic_pd_alloc(r, &d->pd), "pd");
	must(rnic_mr_reg(d->pd, d->buf, size, RDMA_IOVA, RNIC_ACCESS_LOCAL_WRITE | REMOTE, &d->mr),
		"mr");
	must(rnic_cq_create(r, 4 * DEPTH, side_changed, d, &d->cq), "cq");
	init.send_cq = init.recv_cq = d->cq;
	must(rnic_qp_create(d->pd, &init, &d->qp), "qp");
	must(rnic_qp_modify(d->qp, RNIC_QP_STATE | RNIC_QP_ACCESS,
		     &(struct rnic_qp_attr){.state = RNIC_QP_INIT, .access = REMOTE}),
		"modify");
	must(rnic_ep_create(r, side_event, d, &d->ep), "ep");
}

void rdma_pair_create_on(
	struct rdma_pair *p, struct sim_host *a, struct sim_host *b, uint16_t port, size_t size)
{
	*p = (struct rdma_pair){.sim = sim_host_sim(a), .size = size, .port = port};
	p->a.host = a;
	p->b.host = b;
	side_create(&p->a, size);
	side_create(&p->b, size);
}

void rdma_pair_create(struct rdma_pair *p, struct sim *s, const struct sim_path_config *path,
	bool v6, size_t size)
{
	struct sim_host *a = sim_host_create(
		s, &(struct sim_host_config){.address = v6 ? "fd00::1/64" : "10.0.0.1/24"});
	struct sim_host *b = sim_host_create(
		s, &(struct sim_host_config){.address = v6 ? "fd00::2/64" : "10.0.0.2/24"});

	rdma_pair_create_on(p, a, b, PORT, size);
	sim_join(a, b, path, NULL, &p->link);
}

void rdma_pair_listen(struct rdma_pair *p)
{
	struct ip_endpoint at = {sim_host_address(p->b.host), p->port};

	must(rnic_ep_bind(p->b.ep, &at, false, false), "bind");
	must(rnic_ep_listen(p->b.ep, 4), "listen");
}

void rdma_pair_connect_only(struct rdma_pair *p)
{
	struct ip_endpoint to = {sim_host_address(p->b.host), p->port};
	struct rnic_conn_param cp = {.qp = p->a.qp, .ird = 4, .ord = 4};

	must(rnic_ep_resolve(p->a.ep, &to, 0), "resolve");
	must(rnic_ep_connect(p->a.ep, &cp), "connect");
}

void rdma_pair_start(struct rdma_pair *p)
{
	rdma_pair_listen(p);
	rdma_pair_connect_only(p);
}

static bool have_connection(void *ctx)
{
	struct rdma_pair *p = ctx;

	return (p->a.established && p->b.established) || p->a.failed;
}

bool rdma_pair_connect(struct rdma_pair *p, uint64_t limit)
{
	rdma_pair_start(p);
	return sim_run(p->sim, limit, have_connection, p) && !p->a.failed;
}

void rdma_arm(struct rdma_side *side)
{
	must(rnic_cq_arm(side->cq, false), "arm");
}

struct rdmap_wqe *rdma_begin(struct rdma_pair *p, struct rdma_side *from, enum rdmap_wr_op op,
	size_t local, size_t remote, uint32_t len)
{
	struct rdma_side *to = from == &p->a ? &p->b : &p->a;
	struct rdmap_wqe *w;

	must(rnic_sq_begin(from->qp), "post_send");
	w = rnic_sq_next(from->qp);
	must(w ? 0 : -12, "send queue full");
	w->op = op;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->remote_to = RDMA_IOVA + remote;
	w->remote_stag = rnic_mr_stag(to->mr);
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){RDMA_IOVA + local, len, rnic_mr_stag(from->mr)};
	return w;
}

void rdma_commit(struct rdma_side *from)
{
	rnic_sq_commit(from->qp);
	rnic_sq_end(from->qp);
}

void rdma_post(struct rdma_pair *p, struct rdma_side *from, enum rdmap_wr_op op, size_t local,
	size_t remote, uint32_t len)
{
	rdma_begin(p, from, op, local, remote, len);
	rdma_commit(from);
}

void rdma_post_recv(struct rdma_side *side, size_t offset, uint32_t len)
{
	struct rdmap_rqe *w;

	must(rnic_rq_begin(side->qp), "post_recv");
	w = rnic_rq_next(side->qp);
	must(w ? 0 : -12, "receive queue full");
	w->length = len;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){RDMA_IOVA + offset, len, rnic_mr_stag(side->mr)};
	rnic_rq_commit(side->qp);
	rnic_rq_end(side->qp);
}

struct waiting {
	struct rdma_side *side;
	unsigned left;
	bool bad;
};

static bool collect(void *ctx)
{
	struct waiting *w = ctx;
	struct rnic_wc wc;

	while (w->left && rnic_cq_poll(w->side->cq, 1, &wc) == 1) {
		w->left--;
		if (wc.wc.status != RDMAP_WC_SUCCESS)
			w->bad = true;
	}
	return !w->left || w->bad;
}

bool rdma_complete(struct rdma_pair *p, struct rdma_side *side, unsigned n, uint64_t limit)
{
	struct waiting w = {.side = side, .left = n};

	return sim_run(p->sim, limit, collect, &w) && !w.bad;
}

void rdma_fill(uint8_t *p, size_t n, uint32_t seed)
{
	while (n--) {
		seed = seed * 1664525 + 1013904223;
		*p++ = (uint8_t)(seed >> 24);
	}
}

bool rdma_write_and_read_back(struct rdma_pair *p, uint32_t len, uint64_t limit)
{
	rdma_fill(p->a.buf, len, 1);
	rdma_post(p, &p->a, RDMAP_WR_WRITE, 0, 0, len);
	rdma_post(p, &p->a, RDMAP_WR_READ, len, 0, len);
	return rdma_complete(p, &p->a, 2, limit) && memcmp(p->a.buf, p->b.buf, len) == 0 &&
	       memcmp(p->a.buf + len, p->b.buf, len) == 0;
}

static void side_destroy(struct rdma_side *d)
{
	rnic_ep_destroy(d->ep);
	if (d->request)
		rnic_ep_destroy(d->request);
	if (d->qp)
		must(rnic_qp_destroy(d->qp), "destroy qp");
	must(rnic_cq_destroy(d->cq), "destroy cq");
	must(rnic_mr_dereg(d->mr), "dereg");
	must(rnic_pd_dealloc(d->pd), "dealloc pd");
	free(d->buf);
}

void rdma_pair_destroy(struct rdma_pair *p)
{
	side_destroy(&p->a);
	side_destroy(&p->b);
}
