/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * UD queue pairs under hostile datagrams, most of them with good CRCs. Nothing is written but
 * receives that were posted, each of which completes once, and only for its own QP and Q_Key, or
 * for the group that it is attached to. And endpoints that listen and ask by rdma_cm, under hostile
 * requests and answers.
 */
#include "base/bytes.h"
#include "fuzz.h"
#include "rnic/qp.h"
#include "rnic/sidr.h"
#include "ud/datagram.h"
#include "unit/rnic/pair.h"

#define STEPS_MAX 2000
#define QKEY      0x01020304u
#define ARENA     4096
#define RECV_AT   1024 /* receives lie in 1024 octets from here */
#define RECV_LEN  1024

struct world {
	struct fuzz *in;
	struct pair pair;
	struct side *us;
	struct ud_net net;
	ud_input_fn *input;
	void *user;
	struct rnic_qp *qp;
	struct rnic_mr *mr;
	uint8_t *arena;
	uint8_t room[UD_DATAGRAM_MAX];
	uint64_t posted, completed;
	struct ud_port_user sidr; /**< of the ports that are open */
	unsigned ports, joined;
	struct rnic_ep *asking, *kept;
	uint8_t sent[SIDR_LEN]; /**< the last */
};

/** Its own memory is all that a double needs. */
struct ud_port {
	struct world *w;
};

static uint8_t pattern(uint32_t i)
{
	return (uint8_t)(i * 11 + 3);
}

static int net_open(void *ctx, uint16_t port, uint16_t group_port, ud_input_fn *input, void *user)
{
	struct world *w = ctx;

	w->input = input;
	w->user = user;
	return 0;
}

static void net_nothing(void *ctx)
{
}

static int net_begin(
	void *ctx, const struct ud_path *path, uint16_t port, size_t len, uint8_t **room)
{
	struct world *w = ctx;

	*room = w->room;
	return 0;
}

static void net_commit(void *ctx, uint16_t sum)
{
}

static bool net_flush(void *ctx)
{
	return true;
}

static void net_prepare(void *ctx, const struct ip_addr *remote)
{
}

static int net_join(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct world *w = ctx;

	w->joined++;
	return 0;
}

static void net_leave(void *ctx, const struct ip_addr *group, const struct ip_addr *local)
{
	struct world *w = ctx;

	w->joined--;
}

static int net_port_open(
	void *ctx, uint16_t port, const struct ud_port_user *user, struct ud_port **out)
{
	struct world *w = ctx;

	*out = malloc(sizeof **out);
	MUST(*out);
	(*out)->w = w;
	w->sidr = *user;
	w->ports++;
	return 0;
}

static void net_port_close(struct ud_port *p)
{
	p->w->ports--;
	free(p);
}

static void net_port_send(struct ud_port *p, const struct ip_addr *from,
	const struct ip_endpoint *to, const void *data, size_t len)
{
	MUST(len == SIDR_LEN);
	memcpy(p->w->sent, data, len);
}

/* ---- what may happen ----------------------------------------------------------------------- */

static void post_recv(struct world *w, uint8_t bits)
{
	struct rdmap_rqe *e;
	uint32_t at = fuzz_u16(w->in) % RECV_LEN, len = fuzz_u16(w->in) % (RECV_LEN - at + 1);

	if (rnic_rq_begin(w->qp))
		return;
	e = rnic_rq_next(w->qp);
	if (e) {
		e->wr_id = w->posted++;
		e->num_sge = 2;
		e->sge[0] = (struct rdmap_sge){.addr = (uintptr_t)w->arena + RECV_AT + at,
			.len = bits & 16 ? len : len / 2,
			.stag = rnic_mr_stag(w->mr)};
		e->sge[1] = e->sge[0];
		e->sge[1].addr += e->sge[0].len;
		e->sge[1].len = len - e->sge[0].len;
		e->length = len;
		rnic_rq_commit(w->qp);
	}
	rnic_rq_end(w->qp);
}

/* A few groups, of both families. */
static struct ip_addr group_of(uint8_t bits)
{
	struct ip_addr v6 = {{0xff, 2, [15] = bits & 3}},
		       v4 = {{[10] = 0xff, 0xff, 239, 0, 0, bits & 3}};

	return bits & 4 ? v4 : v6;
}

static void group(struct world *w, uint8_t bits)
{
	const struct ip_addr g = group_of(fuzz_u8(w->in));

	if (bits & 16)
		MUST(!rnic_qp_attach(w->qp, &g));
	else
		(void)rnic_qp_detach(w->qp, &g);
}

static void datagram(struct world *w, uint8_t bits)
{
	bool to_group = (bits & 7) == 6;
	const struct ud_path path = {
		.local = to_group ? group_of(fuzz_u8(w->in)) : (struct ip_addr){{9}},
		.ttl = bits,
		.tos = bits,
		.own = bits & 128};
	size_t got;
	const uint8_t *text = fuzz_bytes(w->in, fuzz_u16(w->in) % UD_DATAGRAM_MAX, &got);
	uint8_t *copy;

	if (bits & 16) { /* as it is */
		copy = malloc(got ? got : 1);
		memcpy(copy, text, got);
	} else {
		struct ud_header h = {.len = (uint16_t)got,
			.to_qp = (to_group ? RNIC_UD_QP_GROUP : rnic_qp_num(w->qp)) ^
				 (bits & 32 ? fuzz_u8(w->in) : 0),
			.from_qp = fuzz_u8(w->in),
			.qkey = QKEY ^ (bits & 64 ? fuzz_u8(w->in) : 0),
			.flags = bits >> 7};
		struct ud_writer out;

		copy = malloc(UD_OVERHEAD + got);
		ud_begin(&out, copy, &h);
		MUST(ud_gather(&out, text, got));
		ud_finish(&out);
		got += UD_OVERHEAD;
	}
	engine_lock(&w->pair.engine);
	w->input(w->user, &path, copy, got);
	engine_unlock(&w->pair.engine);
	free(copy);
}

/** Requests and answers, of few peers and numbers, or anything. A program accepts each other one.
 */
static void sidr(struct world *w, uint8_t bits)
{
	struct ip_endpoint from = llp_mem_endpoint(w->pair.mem, 1, 7000);
	struct ip_endpoint to = llp_mem_endpoint(w->pair.mem, 0, PAIR_PORT);
	const struct rnic_conn_param accept = {.ud_qp = 1, .ud_qkey = QKEY};
	struct sidr_message m = {
		.kind = bits & 16 ? SIDR_REPLY : SIDR_REQUEST, .number = fuzz_u8(w->in)};
	uint8_t *copy = malloc(SIDR_LEN), what = fuzz_u8(w->in);

	MUST(copy);
	if (bits & 16 && what & 1) { /* an answer to what we have asked, perhaps */
		memcpy(&m.number, w->sent + 8, sizeof m.number);
		m.number = __builtin_bswap64(m.number);
		from.port = PAIR_PORT;
	}
	m.status = bits & 16 ? what >> 1 & 1 : 0;
	sidr_put(copy, &m);
	if (bits & 32)
		copy[fuzz_u8(w->in) % SIDR_LEN] ^= fuzz_u8(w->in);
	to.port ^= what >> 7;
	engine_lock(&w->pair.engine);
	if (bits & 64)
		w->sidr.error(w->sidr.ctx, &from, copy, fuzz_u8(w->in) % (SIDR_LEN + 1));
	else
		w->sidr.input(w->sidr.ctx, &from, &to, copy, SIDR_LEN);
	engine_unlock(&w->pair.engine);
	free(copy);
	if (w->us->request) {
		if (w->kept)
			rnic_ep_destroy(w->kept);
		w->kept = w->us->request;
		w->us->request = NULL;
		rnic_ep_set_context(w->kept, pair_ep_event, w->us);
		if (what & 2)
			(void)rnic_ep_accept(w->kept, &accept);
		if (what & 4) {
			rnic_ep_destroy(w->kept);
			w->kept = NULL;
		}
	}
	w->us->n_ep_events = 0;
}

static void poll(struct world *w)
{
	struct rnic_wc wc[8];
	int n;

	while ((n = rnic_cq_poll(w->us->cq, 8, wc)) > 0)
		for (int i = 0; i < n; i++) {
			MUST(wc[i].wc.wr_id == w->completed++);
			MUST(wc[i].wc.status == RDMAP_WC_SUCCESS ||
				wc[i].wc.status == RDMAP_WC_WR_FLUSH_ERR);
			MUST(wc[i].wc.status != RDMAP_WC_SUCCESS ||
				(wc[i].wc.byte_len >= RNIC_UD_GRH_LEN &&
					wc[i].wc.byte_len <= RECV_LEN));
		}
}

static void check_arena(const struct world *w)
{
	for (uint32_t i = 0; i < ARENA; i++)
		if (i < RECV_AT || i >= RECV_AT + RECV_LEN)
			MUST(w->arena[i] == pattern(i));
}

/* ---- start and end ------------------------------------------------------------------------- */

static void go(struct world *w, enum rnic_qp_state state)
{
	const struct rnic_qp_attr attr = {.state = state, .qkey = QKEY};

	(void)rnic_qp_modify(w->qp, RNIC_QP_STATE | RNIC_QP_QKEY, &attr);
}

static void world_start(struct world *w, struct fuzz *in)
{
	struct rnic_qp_init init = {.max_recv_wr = 16, .max_recv_sge = 2, .ud = true};
	struct ip_endpoint at, peer;
	struct rnic_config cfg = {
		.mpa = {.revision = 2}, .pairing_port = 61525, .ud = &w->net, .ud_port = 61525};

	memset(w, 0, sizeof *w);
	w->in = in;
	w->us = &w->pair.a;
	w->net = (struct ud_net){.open = net_open,
		.close = net_nothing,
		.begin = net_begin,
		.commit = net_commit,
		.cancel = net_nothing,
		.flush = net_flush,
		.prepare = net_prepare,
		.join = net_join,
		.leave = net_leave,
		.port_open = net_port_open,
		.port_close = net_port_close,
		.port_send = net_port_send,
		.max_message = UD_MESSAGE_MAX,
		.ctx = w};
	w->arena = malloc(ARENA);
	MUST(w->arena);
	for (uint32_t i = 0; i < ARENA; i++)
		w->arena[i] = pattern(i);
	pair_engine_init(&w->pair);
	pair_rnic(&w->pair, w->us, 0, &cfg);
	at = llp_mem_endpoint(w->pair.mem, 0, PAIR_PORT);
	peer = llp_mem_endpoint(w->pair.mem, 1, PAIR_PORT);
	pair_side(w->us);
	MUST(!rnic_mr_reg(w->us->pd, w->arena + RECV_AT, RECV_LEN, (uintptr_t)w->arena + RECV_AT,
		RNIC_ACCESS_LOCAL_WRITE, &w->mr));
	init.send_cq = init.recv_cq = w->us->cq;
	MUST(!rnic_qp_create(w->us->pd, &init, &w->qp));
	for (enum rnic_qp_state s = RNIC_QP_INIT; s <= RNIC_QP_RTS; s++)
		go(w, s);
	rnic_ep_destroy(w->us->ep);
	MUST(!rnic_ep_create_ud(w->us->rnic, pair_ep_event, w->us, &w->us->ep));
	MUST(!rnic_ep_bind(w->us->ep, &at, false, false));
	MUST(!rnic_ep_listen(w->us->ep, 4));
	MUST(!rnic_ep_create_ud(w->us->rnic, pair_ep_event, w->us, &w->asking));
	MUST(!rnic_ep_resolve(w->asking, &peer, 0));
	MUST(!rnic_ep_connect(w->asking, &(struct rnic_conn_param){.ird = 0}));
	w->us->n_ep_events = 0;
}

static void world_end(struct world *w)
{
	poll(w);
	check_arena(w);
	rnic_ep_destroy(w->asking);
	if (w->kept)
		rnic_ep_destroy(w->kept);
	MUST(!rnic_qp_destroy(w->qp));
	MUST(!rnic_mr_dereg(w->mr));
	pair_fini(&w->pair);
	MUST(w->ports == 0 && w->joined == 0);
	free(w->arena);
}

static void step(struct world *w)
{
	uint8_t op = fuzz_u8(w->in);

	switch (op & 7) {
	case 0:
	case 1:
		post_recv(w, op);
		break;
	case 2:
		poll(w);
		break;
	case 3:
		if (op == 0xf3) {
			go(w, RNIC_QP_ERROR);
			poll(w);
		}
		group(w, op);
		break;
	case 7:
		sidr(w, op);
		break;
	default:
		datagram(w, op);
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

	world_start(&w, &in);
	for (unsigned i = 0; in.left != 0 && i < STEPS_MAX; i++)
		step(&w);
	world_end(&w);
	return 0;
}
