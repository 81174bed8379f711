/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a message costs our stack, stage by stage, without a second core: two stacks in one process
 * on the two ends of a memif, driven by one thread in turn. So no cache line travels between cores,
 * and a busy machine shows in the tail alone. One line of JSON, in ns:
 *
 *     post_wire  from the post of an 8-byte Send to the frame in the driver's hands
 *     post       to the return from the post
 *     complete   of the peer's poll that finds the frame and returns its completion
 *     own        of the sender's own poll, which finds the Send done
 *     write_8    of an 8-byte Write, both ends together, posted one by one
 *     lists_8    the same, in lists of 16
 *     packet     of a full packet of 1 MiB Writes, both ends together
 *
 *     stages [-n SENDS] [-m MTU]
 */
#include "base/number.h"
#include "dpdk-port/port_private.h"
#include "host/net_priv.h"
#include "rnic/ep.h"
#include "sample.h"

#include <err.h>
#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PORT     7482
#define SIZE     (1u << 20)
#define DEPTH    128
#define LIST     16
#define WRITES_8 (1u << 16)
#define WRITES_M 256
#define TURNS    9

struct end {
	struct net *net;
	struct rnic *rnic;
	struct rnic_pd *pd;
	struct rnic_cq *cq;
	struct rnic_qp *qp;
	struct rnic_mr *mr;
	struct rnic_ep *ep, *request;
	uint8_t *memory;
	bool asked, established;
	uint64_t handed; /**< cycles, when the driver last got a frame */
	uint64_t frames;
};

enum stage { POST_WIRE, POST, COMPLETE, OWN, STAGES };

static const char *const stage_names[STAGES] = {"post_wire", "post", "complete", "own"};

static void must(int r, const char *what)
{
	if (r < 0)
		errx(1, "%s: %s", what, strerror(-r));
}

/* ---- two ends ----------------------------------------------------------------------------- */

static uint16_t on_transmit(
	uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *ctx)
{
	struct end *d = ctx;

	d->handed = rte_rdtsc();
	d->frames += n;
	return n;
}

static void on_event(const struct rnic_ep_event *ev)
{
	struct end *d = ev->context;

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

static void on_completion(void *ctx)
{
}

static void end_open_net(struct end *d, const char *role, const char *socket, uint64_t mtu)
{
	struct config_error e = {""};
	struct config c;
	char set[4][256];
	bool server = strcmp(role, "server") == 0;

	snprintf(set[0], sizeof set[0],
		"port=net_memif%d,role=%s,socket=%s,socket-abstract=no,bsize=%s", !server, role,
		socket, mtu > 1500 ? "16384" : "2048");
	snprintf(set[1], sizeof set[1], "address=10.77.0.%d/24", server ? 1 : 2);
	snprintf(set[2], sizeof set[2], "mtu=%u", (unsigned)mtu);
	snprintf(set[3], sizeof set[3], "log=error");
	config_init(&c);
	for (unsigned i = 0; i < 4; i++)
		if (config_set(&c, set[i], &e))
			errx(1, "%s: %s", set[i], e.text);
	if (net_open(&c, &d->net, &e))
		errx(1, "%s", e.text);
	if (!rte_eth_add_tx_callback(d->net->port->id, 0, on_transmit, d))
		errx(1, "this DPDK has no callbacks");
}

static void end_open_qp(struct end *d)
{
	const unsigned access = RNIC_ACCESS_REMOTE_WRITE | RNIC_ACCESS_REMOTE_READ;
	struct rnic_config cfg = {.engine = net_engine(d->net),
		.net = net_llp(d->net),
		.random = net_random,
		.log = net_log(d->net),
		.mpa = net_config(d->net)->mpa};
	struct rnic_qp_init init = {.max_send_wr = DEPTH,
		.max_recv_wr = DEPTH,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.sq_sig_all = true};

	d->memory = aligned_alloc(4096, SIZE);
	if (!d->memory)
		err(1, "memory");
	memset(d->memory, 1, SIZE);
	must(rnic_create(&cfg, &d->rnic), "RNIC");
	must(rnic_pd_alloc(d->rnic, &d->pd), "PD");
	must(rnic_mr_reg(d->pd, d->memory, SIZE, 0, RNIC_ACCESS_LOCAL_WRITE | access, &d->mr),
		"MR");
	must(rnic_cq_create(d->rnic, 4 * DEPTH, on_completion, d, &d->cq), "CQ");
	init.send_cq = init.recv_cq = d->cq;
	must(rnic_qp_create(d->pd, &init, &d->qp), "QP");
	must(rnic_qp_modify(d->qp, RNIC_QP_STATE | RNIC_QP_ACCESS,
		     &(struct rnic_qp_attr){.state = RNIC_QP_INIT, .access = access}),
		"QP to INIT");
	must(rnic_ep_create(d->rnic, on_event, d, &d->ep), "endpoint");
}

static void end_watch(struct end *d)
{
	engine_lock(net_engine(d->net));
	port_watch(d->net->port);
	engine_unlock(net_engine(d->net));
}

static void drive(struct end *d)
{
	engine_drive(net_engine(d->net));
}

static void join_ends(struct end *a, struct end *b)
{
	struct ip_endpoint at = {.port = PORT};
	struct rnic_conn_param cp = {.ird = 4, .ord = 4};

	must(ip_addr_parse("10.77.0.1", &at.addr), "address");
	while (!net_has_link(a->net) || !net_has_link(b->net)) {
		end_watch(a);
		end_watch(b);
		usleep(20000);
	}
	must(rnic_ep_bind(b->ep, &at, false, false), "bind");
	must(rnic_ep_listen(b->ep, 4), "listen");
	must(rnic_ep_resolve(a->ep, &at, 0), "resolve");
	cp.qp = a->qp;
	must(rnic_ep_connect(a->ep, &cp), "connect");
	cp.qp = b->qp;
	while (!a->established || !b->established) {
		drive(a);
		drive(b);
		if (!b->asked)
			continue;
		b->asked = false;
		rnic_ep_set_context(b->request, on_event, b);
		must(rnic_ep_accept(b->request, &cp), "accept");
	}
}

/* ---- requests ----------------------------------------------------------------------------- */

static void fill(struct end *from, const struct end *to, enum rdmap_wr_op op, uint32_t len)
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

/** @p n requests as one list. */
static void post(
	struct end *from, const struct end *to, enum rdmap_wr_op op, uint32_t len, unsigned n)
{
	must(rnic_sq_begin(from->qp), "post");
	while (n--)
		fill(from, to, op, len);
	rnic_sq_end(from->qp);
}

static void post_receive(struct end *d)
{
	struct rdmap_rqe *w;

	must(rnic_rq_begin(d->qp), "receive");
	w = rnic_rq_next(d->qp);
	if (!w)
		errx(1, "the receive queue is full");
	w->length = 8;
	w->num_sge = 1;
	w->sge[0] = (struct rdmap_sge){64, 8, rnic_mr_stag(d->mr)};
	rnic_rq_commit(d->qp);
	rnic_rq_end(d->qp);
}

static unsigned reap(struct end *d, int n)
{
	struct rnic_wc wc[LIST];

	n = rnic_cq_poll(d->cq, n, wc);
	must(n, "poll");
	for (int i = 0; i < n; i++)
		if (wc[i].wc.status != RDMAP_WC_SUCCESS)
			errx(1, "completion: %d", wc[i].wc.status);
	return (unsigned)n;
}

/* ---- measurements ------------------------------------------------------------------------- */

/** A Send from one end to the other. @return false: it waited for others, and tells nothing. */
static bool send_once(struct end *from, struct end *to, uint64_t *t[STAGES], size_t i)
{
	uint64_t begin, posted, own, look;

	post_receive(to);
	begin = rte_rdtsc();
	post(from, to, RDMAP_WR_SEND, 8, 1);
	posted = rte_rdtsc();
	while (!reap(from, 1))
		;
	own = rte_rdtsc();
	if (from->handed < begin || from->handed > posted) {
		while (!reap(to, 1))
			;
		return false;
	}
	look = rte_rdtsc();
	while (!reap(to, 1))
		;
	t[COMPLETE][i] = rte_rdtsc() - look;
	t[POST_WIRE][i] = from->handed - begin;
	t[POST][i] = posted - begin;
	t[OWN][i] = own - posted;
	return true;
}

static void measure_sends(struct end *a, struct end *b, size_t n, double ns)
{
	uint64_t *t[STAGES];
	size_t got = 0;

	for (unsigned s = 0; s < STAGES; s++)
		if (!(t[s] = calloc(n, sizeof **t)))
			err(1, "samples");
	for (size_t i = 0; i < 1000; i++)
		send_once(i % 2 ? a : b, i % 2 ? b : a, t, 0);
	for (size_t i = 0; got < n && i < 4 * n; i++)
		got += send_once(i % 2 ? a : b, i % 2 ? b : a, t, got);
	printf("{\"sends\": %zu, ", got);
	for (unsigned s = 0; s < STAGES; s++) {
		sample_sort(t[s], got);
		printf("\"%s\": %.1f, \"%s_p10\": %.1f, ", stage_names[s],
			(double)t[s][got / 2] * ns, stage_names[s], (double)t[s][got / 10] * ns);
		free(t[s]);
	}
}

/** @p n Writes of @p len bytes, in lists. @return ns of CPU time, for both ends. */
static uint64_t stream(struct end *a, struct end *b, unsigned n, uint32_t len, unsigned list)
{
	unsigned posted = 0, done = 0, depth = len > 4096 ? 4 : DEPTH;
	uint64_t begin = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (done < n) {
		for (; posted < n && posted - done + list <= depth; posted += list)
			post(a, b, RDMAP_WR_WRITE, len, list);
		for (unsigned got = LIST; got == LIST; done += got)
			got = reap(a, LIST);
		drive(b);
	}
	return sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
}

/** The median cost of one of @p n, in ns; @p packets: of a packet instead. */
static double measure_stream(
	struct end *a, struct end *b, unsigned n, uint32_t len, unsigned list, bool packets)
{
	double v[TURNS];

	stream(a, b, n, len, list);
	for (unsigned i = 0; i < TURNS; i++) {
		uint64_t frames = a->frames;
		uint64_t ns = stream(a, b, n, len, list);

		v[i] = (double)ns / (double)(packets ? a->frames - frames : n);
	}
	return sample_median(v, TURNS);
}

int main(int argc, char **argv)
{
	static struct end a, b;
	char directory[] = "/tmp/uiws.XXXXXX", socket[64];
	uint64_t n = 100000, mtu = 1500;
	bool bad = false;
	double ns;
	int opt;

	while ((opt = getopt(argc, argv, "n:m:")) != -1)
		bad |= opt == 'n'   ? !number_parse(optarg, 1, 10000000, &n)
		       : opt == 'm' ? !number_parse(optarg, 1280, 9000, &mtu)
				    : true;
	if (bad || optind != argc) {
		fprintf(stderr, "usage: stages [-n SENDS] [-m MTU]\n");
		return 2;
	}
	if (!mkdtemp(directory))
		err(1, "%s", directory);
	snprintf(socket, sizeof socket, "%s/m", directory);
	end_open_net(&b, "server", socket, mtu);
	end_open_net(&a, "client", socket, mtu);
	end_open_qp(&a);
	end_open_qp(&b);
	join_ends(&a, &b);
	unlink(socket);
	rmdir(directory);
	ns = 1e9 / (double)rte_get_tsc_hz();
	measure_sends(&a, &b, n, ns);
	printf("\"write_8\": %.1f, ", measure_stream(&a, &b, WRITES_8, 8, 1, false));
	printf("\"lists_8\": %.1f, ", measure_stream(&a, &b, WRITES_8, 8, LIST, false));
	printf("\"packet\": %.1f}\n", measure_stream(&a, &b, WRITES_M, SIZE, 1, true));
	return 0;
}
