/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * One program of all verbs on two hosts, again and again: each time another allocation of theirs
 * finds no memory, or no packet, until none is left. A verb says so and works when it is called
 * again; a connection that was not made can be made; one that is there stays, and nothing is lost.
 */
#include "rnic/ep.h"
#include "sim/host.h"
#include "sim/path.h"
#include "support/alloc_fault.h"
#include "tcp/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIZE   100000
#define DEPTH  64
#define IOVA   UINT64_C(0x10000000)
#define PORT   7174
#define REMOTE (RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ | RNIC_ACCESS_REMOTE_ATOMIC)
#define RIGHTS (RNIC_ACCESS_LOCAL_WRITE | REMOTE | RNIC_ACCESS_MW_BIND)

struct side {
	struct sim_host *host;
	struct rnic *rnic;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_srq *srq; /**< of b alone */
	struct rnic_mr *mr;
	struct rnic_mw *mw;
	struct rnic_qp *qp;
	struct rnic_ep *ep, *listener;
	uint8_t buf[SIZE];
	bool established, over;
};

static struct sim *s;
static struct side a, b;
static uint64_t turn; /* the number of the allocation that fails */
static struct tls_config tls = {.mode = TLS_REQUIRED};
static bool with_tls;

/**
 * The only reason to fail is that there was no memory; then it works the second time.
 * @p before: allocations that had failed before the call.
 */
static bool shall_try_again(int r, uint64_t before, const char *call)
{
	if (r == -ENOMEM && alloc_fault_failed() != before)
		return true;
	if (r < 0)
		fail_msg("%s: %s, allocation %ju (%#zx)", call, strerror(-r), (uintmax_t)turn,
			alloc_fault_where());
	return false;
}

#define MUST(call)                                                          \
	do {                                                                \
		uint64_t before_ = alloc_fault_failed();                    \
		if (shall_try_again(call, before_, #call))                  \
			shall_try_again(call, alloc_fault_failed(), #call); \
	} while (0)

#define HOLDS(what)                                                                           \
	do {                                                                                  \
		if (!(what))                                                                  \
			fail_msg("not so: %s, allocation %ju (%#zx)", #what, (uintmax_t)turn, \
				alloc_fault_where());                                         \
	} while (0)

/* ---- objects ------------------------------------------------------------------------------- */

static void notified(void *ctx)
{
}

static void qp_create(struct side *x)
{
	struct rnic_qp_init init = {.send_cq = x->cq,
		.recv_cq = x->cq,
		.srq = x->srq,
		.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = 2,
		.max_recv_sge = 2,
		.max_inline = 64};

	MUST(rnic_qp_create(x->pd, &init, &x->qp));
}

static void qp_init(struct side *x)
{
	MUST(rnic_qp_modify(x->qp, RNIC_QP_STATE, &(struct rnic_qp_attr){.state = RNIC_QP_RESET}));
	MUST(rnic_qp_modify(x->qp, RNIC_QP_STATE | RNIC_QP_ACCESS,
		&(struct rnic_qp_attr){.state = RNIC_QP_INIT, .access = REMOTE}));
}

static void objects_create(struct side *x, bool shared)
{
	struct rnic_mr *null;

	MUST(rnic_pd_alloc(x->rnic, &x->pd));
	MUST(rnic_mr_reg(x->pd, x->buf, SIZE, IOVA, RIGHTS, &x->mr));
	MUST(rnic_mr_rereg(x->mr, RNIC_REREG_ACCESS, NULL, NULL, 0, RIGHTS));
	MUST(rnic_mr_alloc_null(x->pd, &null));
	MUST(rnic_mr_dereg(null));
	MUST(rnic_mw_alloc(x->pd, RNIC_MW_TYPE_2, &x->mw));
	MUST(rnic_cq_create(x->rnic, DEPTH, notified, NULL, &x->cq));
	MUST(rnic_cq_keep_times(x->cq));
	MUST(rnic_cq_resize(x->cq, 4 * DEPTH));
	if (shared)
		MUST(rnic_srq_create(x->pd, DEPTH, 2, 0, NULL, &x->srq));
	qp_create(x);
	qp_init(x);
}

static void objects_destroy(struct side *x)
{
	if (x->listener)
		rnic_ep_destroy(x->listener);
	rnic_ep_destroy(x->ep);
	MUST(rnic_qp_destroy(x->qp));
	MUST(rnic_mw_dealloc(x->mw));
	MUST(rnic_mr_dereg(x->mr));
	MUST(rnic_cq_destroy(x->cq));
	if (x->srq)
		MUST(rnic_srq_destroy(x->srq));
	MUST(rnic_pd_dealloc(x->pd));
}

/* ---- connections --------------------------------------------------------------------------- */

static void end_event(const struct rnic_ep_event *ev)
{
	struct side *x = ev->context;

	if (ev->type == RNIC_EP_ESTABLISHED)
		x->established = true;
	else if (ev->type != RNIC_EP_ADDR_RESOLVED)
		x->over = true;
}

static void accept_request(void *ctx)
{
	struct rnic_conn_param cp = {.qp = b.qp, .ird = 4, .ord = 4, .private_data = "here", 4};
	uint64_t before = alloc_fault_failed();
	int r;

	rnic_ep_set_context(b.ep, end_event, &b);
	r = rnic_ep_accept(b.ep, &cp);
	/* It may have gone meanwhile, for want of memory at the other end. */
	if (r == -ENOTCONN && alloc_fault_failed())
		b.over = true;
	else if (shall_try_again(r, before, "accept"))
		MUST(rnic_ep_accept(b.ep, &cp));
}

static void listener_event(const struct rnic_ep_event *ev)
{
	HOLDS(ev->type == RNIC_EP_CONNECT_REQUEST && !b.ep);
	b.ep = ev->request;
	sim_at(s, sim_now(s), accept_request, NULL);
}

static bool is_decided(void *ctx)
{
	return (a.established && b.established) || a.over || b.over;
}

/** What a connection that was not made leaves behind goes away. */
static void connect_anew(void)
{
	rnic_ep_destroy(a.ep);
	if (b.ep)
		rnic_ep_destroy(b.ep);
	a.ep = b.ep = NULL;
	a.established = b.established = a.over = b.over = false;
	qp_init(&a);
	qp_init(&b);
	sim_run(s, 20 * SIM_S, NULL, NULL);
	HOLDS(!b.ep);
}

static bool connect_once(void)
{
	struct ip_endpoint to = {sim_host_address(b.host), PORT};
	struct rnic_conn_param cp = {.qp = a.qp, .ird = 4, .ord = 4, .private_data = "hello", 5};

	MUST(rnic_ep_create(a.rnic, end_event, &a, &a.ep));
	MUST(rnic_ep_resolve(a.ep, &to, SIM_S));
	sim_run(s, 2 * SIM_S, NULL, NULL);
	if (!a.over)
		MUST(rnic_ep_connect(a.ep, &cp));
	sim_run(s, 30 * SIM_S, is_decided, NULL);
	return a.established && b.established && !a.over && !b.over;
}

static void listen_and_connect(void)
{
	struct ip_endpoint at = {sim_host_address(b.host), PORT};

	MUST(rnic_ep_create(b.rnic, listener_event, NULL, &b.listener));
	MUST(rnic_ep_bind(b.listener, &at, false, false));
	MUST(rnic_ep_listen(b.listener, 4));
	if (connect_once())
		return;
	HOLDS(alloc_fault_failed());
	connect_anew();
	HOLDS(connect_once());
}

/* ---- requests ------------------------------------------------------------------------------ */

static struct rdmap_wqe *begin(struct side *x, enum rdmap_wr_op op, uint32_t len)
{
	struct side *to = x == &a ? &b : &a;
	struct rdmap_wqe *w;

	MUST(rnic_sq_begin(x->qp));
	w = rnic_sq_next(x->qp);
	HOLDS(w);
	w->op = op;
	w->flags = RDMAP_WR_SIGNALED;
	w->length = len;
	w->remote_to = IOVA;
	w->remote_stag = rnic_mr_stag(to->mr);
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){IOVA, len, rnic_mr_stag(x->mr)};
	return w;
}

static void commit(struct side *x)
{
	rnic_sq_commit(x->qp);
	rnic_sq_end(x->qp);
}

struct waiting {
	struct side *x;
	unsigned left;
};

static bool collect(void *ctx)
{
	struct waiting *w = ctx;
	struct rnic_wc wc;

	while (w->left && rnic_cq_poll(w->x->cq, 1, &wc) == 1) {
		HOLDS(wc.wc.status == RDMAP_WC_SUCCESS);
		w->left--;
	}
	return !w->left;
}

/** Nothing that is under way on a connection may fail. */
static void complete(struct side *x, unsigned n)
{
	struct waiting w = {x, n};

	HOLDS(sim_run(s, 60 * SIM_S, collect, &w));
	HOLDS(!a.over && !b.over);
}

static void post_recv(struct side *x)
{
	struct rdmap_rqe *e;

	if (x->srq)
		MUST(rnic_srq_begin(x->srq));
	else
		MUST(rnic_rq_begin(x->qp));
	e = x->srq ? rnic_srq_next(x->srq) : rnic_rq_next(x->qp);
	HOLDS(e);
	e->length = SIZE;
	e->num_sge = 1;
	e->sge[0] = (struct rdmap_sge){IOVA, SIZE, rnic_mr_stag(x->mr)};
	if (x->srq) {
		rnic_srq_commit(x->srq);
		rnic_srq_end(x->srq);
	} else {
		rnic_rq_commit(x->qp);
		rnic_rq_end(x->qp);
	}
}

static void fill(struct side *x, uint8_t seed)
{
	for (unsigned i = 0; i < SIZE; i++)
		x->buf[i] = (uint8_t)(seed + i * 7 + i / 256);
}

static void send_one(struct side *x, enum rdmap_wr_op op, uint32_t len, uint32_t stag)
{
	struct side *to = x == &a ? &b : &a;
	struct rdmap_wqe *w;

	post_recv(to);
	fill(x, (uint8_t)op);
	w = begin(x, op, len);
	w->inv_stag = stag;
	commit(x);
	complete(x, 1);
	complete(to, 1);
	HOLDS(!memcmp(a.buf, b.buf, len));
}

static void write_and_read(void)
{
	fill(&a, 1);
	begin(&a, RDMAP_WR_WRITE, SIZE);
	commit(&a);
	complete(&a, 1);
	fill(&a, 2);
	begin(&a, RDMAP_WR_READ, SIZE);
	commit(&a);
	complete(&a, 1);
	HOLDS(!memcmp(a.buf, b.buf, SIZE));
	/* Both ways at once. */
	begin(&a, RDMAP_WR_READ, SIZE);
	commit(&a);
	begin(&b, RDMAP_WR_READ, SIZE / 2);
	commit(&b);
	complete(&a, 1);
	complete(&b, 1);
}

static void atomics(void)
{
	struct rdmap_wqe *w = begin(&a, RDMAP_WR_FETCH_ADD, 8);
	uint64_t before, after;

	memcpy(&before, b.buf, 8);
	w->atomic = (struct rdmap_atomic){5, 0, 0, 0};
	commit(&a);
	complete(&a, 1);
	memcpy(&after, b.buf, 8);
	HOLDS(after == before + 5 && !memcmp(a.buf, &before, 8));
	w = begin(&a, RDMAP_WR_CMP_SWAP, 8);
	w->atomic = (struct rdmap_atomic){7, UINT64_MAX, after, UINT64_MAX};
	commit(&a);
	complete(&a, 1);
	memcpy(&after, b.buf, 8);
	HOLDS(after == 7);
}

/** A window is bound, written through and ended by the peer, and bound and ended here. */
static void windows(void)
{
	for (unsigned i = 0; i < 2; i++) {
		uint32_t stag = rnic_mw_stag(b.mw);
		struct rdmap_wqe *w = begin(&b, RDMAP_WR_BIND_MW, 0);

		stag = (stag & ~0xffu) | ((stag + 1) & 0xff);
		w->inv_stag = rnic_mr_stag(b.mr);
		w->remote_stag = stag;
		w->remote_to = 0;
		w->num_sge = 0;
		w->local_arg[0] = IOVA;
		w->local_arg[1] = SIZE;
		w->local_arg[2] = RNIC_ACCESS_REMOTE_WRITE;
		commit(&b);
		complete(&b, 1);
		w = begin(&a, RDMAP_WR_WRITE, 100);
		w->remote_stag = stag;
		commit(&a);
		complete(&a, 1);
		if (i) {
			w = begin(&b, RDMAP_WR_LOCAL_INV, 0);
			w->num_sge = 0;
			w->inv_stag = stag;
			commit(&b);
			complete(&b, 1);
		} else {
			send_one(&a, RDMAP_WR_SEND_INV, 100, stag);
		}
	}
}

static void requests(void)
{
	/* The first FPDU is a's. */
	write_and_read();
	send_one(&a, RDMAP_WR_SEND, 30000, 0);
	send_one(&b, RDMAP_WR_SEND, 30000, 0);
	send_one(&a, RDMAP_WR_WRITE_IMM, 100, 0);
	atomics();
	windows();
}

static bool is_over(void *ctx)
{
	return a.over && b.over;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static struct sim_host *host(const char *address)
{
	return sim_host_create(s, &(struct sim_host_config){.address = address,
					  .tls = with_tls ? &tls : NULL,
					  .tcp = {.time_wait_ms = 100}});
}

static void begin_hosts(bool v6)
{
	const struct sim_path_config path = {.queue = {.rate = 100000000, .limit = 250000},
		.delay = SIM_MS / 2,
		.loss = {.chance = {.good = 0.02}},
		.reorder = {0.05, 2 * SIM_MS}};
	struct sim_link link;

	s = sim_create(&(struct sim_config){
		.seed = 4, .packets = 2047, .copies = 1023, .no_packet = alloc_fault_now});
	memset(&a, 0, sizeof a);
	memset(&b, 0, sizeof b);
	a.host = host(v6 ? "fd00::1/64" : "10.0.0.1/24");
	b.host = host(v6 ? "fd00::2/64" : "10.0.0.2/24");
	a.rnic = sim_host_rnic(a.host);
	b.rnic = sim_host_rnic(b.host);
	sim_join(a.host, b.host, &path, NULL, &link);
}

static void end_hosts(void)
{
	sim_run(s, 100 * SIM_S, NULL, NULL);
	HOLDS(!tcp_stack_stats(sim_host_tcp(a.host))->connections);
	HOLDS(!tcp_stack_stats(sim_host_tcp(b.host))->connections);
	sim_destroy(s);
}

/** @return how many allocations there were. */
static uint64_t run(bool v6)
{
	int64_t live = alloc_fault_live();
	uint64_t n;

	begin_hosts(v6);
	alloc_fault_at(turn);
	objects_create(&a, false);
	objects_create(&b, true);
	listen_and_connect();
	requests();
	rnic_ep_disconnect(a.ep);
	HOLDS(sim_run(s, 60 * SIM_S, is_over, NULL));
	objects_destroy(&a);
	objects_destroy(&b);
	n = alloc_fault_seen();
	alloc_fault_at(0);
	HOLDS(!with_tls || tls_stack_stats(sim_host_tls(a.host))->handshakes);
	end_hosts();
	HOLDS(alloc_fault_live() == live);
	return n;
}

/** Each allocation once. The first run sees to what is allocated but once in a process. */
static void each_fails(bool v6)
{
	uint64_t n = 1;

	for (turn = 0; turn <= n; turn++)
		n = run(v6);
	print_message("%ju allocations\n", (uintmax_t)n);
}

static void each_fails_v4(void **state)
{
	each_fails(false);
}

static void each_fails_v6(void **state)
{
	each_fails(true);
}

/** What libraries allocate does not fail: OpenSSL's is another's product. */
static void each_fails_tls(void **state)
{
	char *path = tls.psk;
	FILE *f;
	int fd;

	if (!tls_openssl_version())
		skip();
	strcpy(path, "/tmp/out-of-memory-XXXXXX");
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	assert_non_null(f);
	fputs("sim:00112233445566778899aabbccddeeff\n", f);
	fclose(f);
	with_tls = true;
	each_fails(false);
	with_tls = false;
	unlink(path);
}

/* ---- the making of a host ------------------------------------------------------------------ */

static uint64_t no_time(void *ctx)
{
	return sim_now(s);
}

static void no_act(void *ctx)
{
}

static unsigned no_packets(void *ctx, uint64_t now)
{
	return 0;
}

static void no_transmit(void *ctx, struct rte_mbuf *m)
{
	rte_pktmbuf_free(m);
}

struct stacks {
	struct engine engine;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct rnic *rnic;
};

static int stacks_create(struct stacks *x)
{
	struct random_source random = sim_random_source(s);
	struct ip_stack_config ic = {.mac = {2},
		.mtu = 1500,
		.wheel = &x->engine.wheel,
		.pool = s->pool,
		.random = random,
		.transmit = no_transmit};
	struct tcp_stack_config tc = {.wheel = &x->engine.wheel, .pool = s->pool, .random = random};
	struct rnic_config rc = {.engine = &x->engine, .random = random, .mpa = {.revision = 2}};
	int r = ip_stack_create(&ic, sim_now(s), &x->ip);

	if (r)
		return r;
	tc.ip = x->ip;
	r = tcp_stack_create(&tc, sim_now(s), &x->tcp);
	if (r)
		return r;
	rc.net = tcp_llp_stack(x->tcp);
	return rnic_create(&rc, &x->rnic);
}

static void stacks_destroy(struct stacks *x)
{
	if (x->rnic)
		rnic_destroy(x->rnic);
	if (x->tcp)
		tcp_stack_destroy(x->tcp);
	if (x->ip)
		ip_stack_destroy(x->ip);
}

/** What is there already can be taken down again, and nothing else is. */
static void each_fails_of_a_host(void **state)
{
	static const struct engine_ops ops = {.clock = no_time,
		.enter = no_act,
		.leave = no_act,
		.poll = no_packets,
		.flush = no_act,
		.wake = no_act};
	int64_t live = alloc_fault_live();
	uint64_t n = 1;

	s = sim_create(&(struct sim_config){.packets = 1023, .copies = 1023});
	for (turn = 1; turn <= n; turn++) {
		uint64_t before = alloc_fault_failed();
		struct stacks x = {0};
		int r;

		engine_init(&x.engine, &ops, &x);
		alloc_fault_at(turn);
		r = stacks_create(&x);
		HOLDS(r == (alloc_fault_failed() == before ? 0 : -ENOMEM));
		n = alloc_fault_seen() + (r ? 1 : 0);
		alloc_fault_at(0);
		stacks_destroy(&x);
		engine_fini(&x.engine);
		HOLDS(alloc_fault_live() == live);
	}
	assert_true(n > 5);
	sim_destroy(s);
}

/** @param argc 2: that allocation alone, over IPv4; with a third argument over IPv6. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fails_of_a_host),
		cmocka_unit_test(each_fails_v4),
		cmocka_unit_test(each_fails_v6),
		cmocka_unit_test(each_fails_tls),
	};

	if (argc > 1) {
		turn = strtoull(argv[1], NULL, 0);
		run(argc > 2);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
