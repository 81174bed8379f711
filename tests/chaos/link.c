/* SPDX-License-Identifier: BSD-2-Clause */
#include "link.h"

#include "payload.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Receives for the messages of a window, and for acknowledgements. */
#define LINK_RECEIVES (2 * LINK_WINDOW)
/* In the ids of receives: the opcode of what has failed is undefined. */
#define LINK_RECEIVE_ID ((uint64_t)1 << 63)
/* A link has worked when so many messages have come, and each kind of request has succeeded. */
#define LINK_WORKS 40

/* The parts of a link's memory. What peers read comes first, what they write next. */
#define LINK_AT_SOURCE  0
#define LINK_AT_WRITTEN (LINK_AT_SOURCE + LINK_SIZE)
#define LINK_AT_WORDS   (LINK_AT_WRITTEN + LINK_WINDOW * LINK_SIZE)
#define LINK_AT_SEND    (LINK_AT_WORDS + 4096)
#define LINK_AT_RECV    (LINK_AT_SEND + LINK_QUEUE * LINK_SIZE)
#define LINK_MEMORY     (LINK_AT_RECV + LINK_RECEIVES * LINK_SIZE)

enum link_kind {
	LINK_DATA = 0x6c696e6b,
	LINK_WRITTEN, /* it tells of a Write before it */
	LINK_ACK,
};

/* The head of each message. */
struct link_message {
	uint64_t spoken; /* its number among all */
	uint64_t number; /* among those that need an acknowledgement */
	uint64_t seen;   /* how many of the peer's have come */
	uint32_t kind;
	uint32_t len; /* of the payload behind, or of the Write */
	uint64_t sum; /* of the above */
};

void link_wrong(const struct link *l, const char *fmt, ...)
{
	va_list ap;

	printf("wrong: link %u: ", l ? l->number : 0);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	exit(1);
}

static uint64_t link_random(struct link *l, uint64_t below)
{
	l->random += 0x9e3779b97f4a7c15u;
	return payload_mix(l->random) % below;
}

static uint64_t link_sum(const struct link_message *m)
{
	uint64_t sum = m->spoken;

	sum = payload_mix(sum ^ m->number);
	sum = payload_mix(sum ^ m->seen);
	return payload_mix(sum ^ ((uint64_t)m->kind << 32 | m->len));
}

/* What message @p number of the one with @p nonce holds. */
static uint64_t link_seed(uint64_t nonce, uint64_t number)
{
	return payload_mix(nonce ^ payload_mix(number));
}

/* ---- objects ------------------------------------------------------------------------------ */

/*
 * Far below where the kernel puts mappings by itself: when it is unmapped nothing else comes to
 * its place, which the peer could then write to.
 */
static uint8_t *link_map(unsigned number)
{
	uint8_t *place = (uint8_t *)0x100000000000 + (uint64_t)(number % 1024) * 0x10000000;

	place = mmap(place, LINK_MEMORY, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	return place == MAP_FAILED ? NULL : place;
}

static void link_receive(struct link *l)
{
	uint64_t slot = l->recv_posted % LINK_RECEIVES;
	struct ibv_sge sge = {.addr = (uintptr_t)l->memory + LINK_AT_RECV + slot * LINK_SIZE,
		.length = LINK_SIZE,
		.lkey = l->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = LINK_RECEIVE_ID | l->recv_posted,
				   .sg_list = &sge,
				   .num_sge = 1},
			   *bad;
	int rc = ibv_post_recv(l->id->qp, &wr, &bad);

	if (rc)
		link_wrong(l, "ibv_post_recv: %s", strerror(rc));
	l->recv_posted++;
}

static bool link_lacks(const struct link *l, const char *what)
{
	printf("lacks: link %u: %s: %s\n", l->number, what, strerror(errno));
	return false;
}

bool link_open(struct link *l, struct rdma_cm_id *id, struct ibv_comp_channel *channel)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = {.max_send_wr = LINK_QUEUE,
			.max_recv_wr = LINK_RECEIVES,
			.max_send_sge = 1,
			.max_recv_sge = 1}};

	l->id = id;
	id->context = l;
	l->memory = link_map(l->number);
	if (!l->memory)
		return link_lacks(l, "mmap");
	l->pd = ibv_alloc_pd(id->verbs);
	if (!l->pd)
		return link_lacks(l, "ibv_alloc_pd");
	l->cq = ibv_create_cq(id->verbs, LINK_QUEUE + LINK_RECEIVES, l, channel, 0);
	if (!l->cq)
		return link_lacks(l, "ibv_create_cq");
	l->mr = ibv_reg_mr(l->pd, l->memory, LINK_MEMORY,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_ATOMIC);
	if (!l->mr)
		return link_lacks(l, "ibv_reg_mr");
	attr.send_cq = attr.recv_cq = l->cq;
	if (rdma_create_qp(id, l->pd, &attr))
		return link_lacks(l, "rdma_create_qp");
	if (ibv_req_notify_cq(l->cq, 0))
		return link_lacks(l, "ibv_req_notify_cq");
	payload_fill(l->memory + LINK_AT_SOURCE, LINK_SIZE, l->here.nonce, 0);
	l->here.addr = (uintptr_t)l->memory;
	l->here.rkey = l->mr->rkey;
	l->here.unmaps = l->may_unmap;
	while (l->recv_posted < LINK_RECEIVES)
		link_receive(l);
	return true;
}

bool link_greeted(struct link *l, const struct rdma_conn_param *conn)
{
	if (conn->private_data_len < sizeof l->there)
		return false;
	memcpy(&l->there, conn->private_data, sizeof l->there);
	l->peer_unmaps = l->there.unmaps;
	l->greeted = true;
	return true;
}

void link_unmap(struct link *l)
{
	/* Either all, or what the peer reads and writes alone. */
	munmap(l->memory, link_random(l, 2) ? LINK_MEMORY : LINK_AT_SEND);
	l->unmapped = true;
}

void link_close(struct link *l)
{
	int rc = 0;

	if (l->deliberate == LINK_LEAKS)
		return;
	if (l->id->qp)
		rdma_destroy_qp(l->id);
	if (l->mr)
		rc |= ibv_dereg_mr(l->mr);
	if (l->cq)
		rc |= ibv_destroy_cq(l->cq);
	if (l->pd)
		rc |= ibv_dealloc_pd(l->pd);
	rc |= rdma_destroy_id(l->id);
	if (rc)
		link_wrong(l, "its objects cannot be destroyed: %d", rc);
	if (l->memory)
		munmap(l->memory, LINK_MEMORY);
}

/* ---- posting ------------------------------------------------------------------------------ */

static uint8_t *link_slot(const struct link *l, uint64_t request)
{
	return l->memory + LINK_AT_SEND + request % LINK_QUEUE * LINK_SIZE;
}

static void link_post(struct link *l, struct ibv_send_wr *wr, uint32_t len, struct link_request r)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)link_slot(l, l->posted), .length = len, .lkey = l->mr->lkey};
	struct ibv_send_wr *bad;
	int rc;

	wr->wr_id = l->posted;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	rc = ibv_post_send(l->id->qp, wr, &bad);
	if (rc)
		link_wrong(l, "ibv_post_send: %s", strerror(rc));
	r.len = len;
	l->request[l->posted % LINK_QUEUE] = r;
	l->posted++;
}

static void link_send(struct link *l, enum link_kind kind, uint32_t len)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct link_message m = {.spoken = l->spoken++,
		.number = l->sent,
		.seen = l->received,
		.kind = kind,
		.len = len};
	uint8_t *slot = link_slot(l, l->posted);
	uint32_t behind = kind == LINK_DATA ? len : 0;

	m.sum = link_sum(&m);
	memcpy(slot, &m, sizeof m);
	payload_fill(slot + sizeof m, behind, link_seed(l->here.nonce, l->sent), 0);
	if (l->deliberate == LINK_FLIPS_BIT && behind && l->sent > LINK_WORKS)
		slot[sizeof m + behind / 2] ^= 1;
	if (kind != LINK_ACK)
		l->sent++;
	l->told = l->received;
	link_post(l, &wr, (uint32_t)sizeof m + behind, (struct link_request){.op = IBV_WC_SEND});
}

static void link_write(struct link *l, uint32_t len)
{
	uint64_t place = LINK_AT_WRITTEN + l->sent % LINK_WINDOW * LINK_SIZE;
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = {.remote_addr = l->there.addr + place, .rkey = l->there.rkey}};

	payload_fill(link_slot(l, l->posted), len, link_seed(l->here.nonce, l->sent), 0);
	link_post(l, &wr, len, (struct link_request){.op = IBV_WC_RDMA_WRITE});
	link_send(l, LINK_WRITTEN, len);
}

static void link_read(struct link *l, uint32_t len)
{
	uint64_t first = link_random(l, (LINK_SIZE - len) / 8 + 1);
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ,
		.wr.rdma = {.remote_addr = l->there.addr + LINK_AT_SOURCE + 8 * first,
			.rkey = l->there.rkey}};

	memset(link_slot(l, l->posted), 0, len);
	link_post(l, &wr, len, (struct link_request){.op = IBV_WC_RDMA_READ, .first = first});
}

static void link_atomic(struct link *l, bool swap)
{
	struct link_request r = {.op = swap ? IBV_WC_COMP_SWAP : IBV_WC_FETCH_ADD,
		.first = swap ? l->swapped++ : l->added++};
	struct ibv_send_wr wr = {
		.opcode = swap ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic = {.remote_addr = l->there.addr + LINK_AT_WORDS + (swap ? 8 : 0),
			.rkey = l->there.rkey,
			.compare_add = swap ? r.first : 1,
			.swap = r.first + 1}};

	link_post(l, &wr, 8, r);
}

/* The next request: of any kind, so that each comes between all others. */
static void link_next(struct link *l)
{
	bool window = l->sent - l->acked < LINK_WINDOW;
	uint32_t room = LINK_SIZE - (uint32_t)sizeof(struct link_message);
	/* Short ones as often as long ones. */
	uint32_t len = (uint32_t)(8 + link_random(l, (uint64_t)64 << link_random(l, 9))) & ~7u;

	len = len > room ? room & ~7u : len;
	switch (link_random(l, 6)) {
	case 0:
	case 1:
		if (window)
			link_send(l, LINK_DATA, len);
		break;
	case 2:
		if (window)
			link_write(l, len);
		break;
	case 3:
		link_read(l, len);
		break;
	default:
		link_atomic(l, link_random(l, 2));
		break;
	}
}

static void link_fill(struct link *l)
{
	/* A Write takes two. */
	while (l->state == LINK_UP && !l->unmapped && l->posted - l->done < LINK_QUEUE - 2)
		if (l->received - l->told >= LINK_WINDOW / 2)
			link_send(l, LINK_ACK, 0);
		else
			link_next(l);
}

/* ---- completions -------------------------------------------------------------------------- */

static bool link_may_fail_with(const struct link *l, enum ibv_wc_status status)
{
	if (status == IBV_WC_WR_FLUSH_ERR)
		return true;
	if (l->may_unmap && status == IBV_WC_LOC_PROT_ERR)
		return true;
	return (l->may_unmap || l->peer_unmaps) &&
	       (status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_OP_ERR);
}

static void link_failed(struct link *l, const struct ibv_wc *wc, const char *queue)
{
	if (!link_may_fail_with(l, wc->status))
		link_wrong(l, "%s request %ju ended with \"%s\"", queue, (uintmax_t)wc->wr_id,
			ibv_wc_status_str(wc->status));
	l->flushed++;
	link_end(l);
}

static void link_sent(struct link *l, const struct ibv_wc *wc)
{
	const struct link_request *r = &l->request[wc->wr_id % LINK_QUEUE];
	const uint8_t *slot = link_slot(l, wc->wr_id);
	uint64_t before;
	size_t at;

	if (wc->wr_id != l->done || l->done == l->posted)
		link_wrong(l, "completion of request %ju, not %ju", (uintmax_t)wc->wr_id,
			(uintmax_t)l->done);
	l->done++;
	if (wc->status != IBV_WC_SUCCESS) {
		l->failed_send = true;
		link_failed(l, wc, "send");
		return;
	}
	if (l->failed_send)
		link_wrong(l, "request %ju succeeded behind one that failed", (uintmax_t)wc->wr_id);
	if (wc->opcode != r->op)
		link_wrong(l, "request %ju of kind %u is told as %d", (uintmax_t)wc->wr_id, r->op,
			wc->opcode);
	l->ops[r->op]++;
	if (l->unmapped)
		return;
	if (r->op == IBV_WC_RDMA_READ) {
		at = payload_wrong(slot, r->len, l->there.nonce, r->first);
		if (at != r->len)
			link_wrong(l, "Read of %u bytes: wrong at %zu", r->len, at);
	} else if (r->op == IBV_WC_FETCH_ADD || r->op == IBV_WC_COMP_SWAP) {
		memcpy(&before, slot, 8);
		if (before != r->first)
			link_wrong(l, "%s found %ju, not %ju",
				r->op == IBV_WC_FETCH_ADD ? "FetchAdd" : "CmpSwap",
				(uintmax_t)before, (uintmax_t)r->first);
	}
}

static void link_check_payload(struct link *l, const struct link_message *m, const uint8_t *behind)
{
	const uint8_t *at = m->kind == LINK_DATA ? behind
						 : l->memory + LINK_AT_WRITTEN +
							   m->number % LINK_WINDOW * LINK_SIZE;
	size_t wrong = payload_wrong(at, m->len, link_seed(l->there.nonce, m->number), 0);

	if (wrong != m->len)
		link_wrong(l, "%s %ju of %u bytes: wrong at %zu",
			m->kind == LINK_DATA ? "Send" : "Write", (uintmax_t)m->number, m->len,
			wrong);
}

static void link_take(struct link *l, const struct ibv_wc *wc)
{
	const uint8_t *slot =
		l->memory + LINK_AT_RECV + wc->wr_id % LINK_RECEIVES * (uint64_t)LINK_SIZE;
	struct link_message m;
	uint32_t behind;

	if (wc->byte_len < sizeof m)
		link_wrong(l, "a message of %u bytes", wc->byte_len);
	memcpy(&m, slot, sizeof m);
	behind = m.kind == LINK_DATA ? m.len : 0;
	if (m.sum != link_sum(&m) || wc->byte_len != sizeof m + behind || m.len > LINK_SIZE)
		link_wrong(l, "the head of message %ju is damaged", (uintmax_t)l->heard);
	if (m.spoken != l->heard || m.number != l->received)
		link_wrong(l, "message %ju (%ju) came, not %ju (%ju)", (uintmax_t)m.spoken,
			(uintmax_t)m.number, (uintmax_t)l->heard, (uintmax_t)l->received);
	if (m.seen < l->acked || m.seen > l->sent)
		link_wrong(l, "%ju messages are acknowledged, %ju were sent", (uintmax_t)m.seen,
			(uintmax_t)l->sent);
	l->heard++;
	l->acked = m.seen;
	if (m.kind == LINK_ACK)
		return;
	link_check_payload(l, &m, slot + sizeof m);
	l->received++;
}

static void link_received(struct link *l, const struct ibv_wc *wc)
{
	if (wc->wr_id != l->recv_done || l->recv_done == l->recv_posted)
		link_wrong(l, "completion of receive %ju, not %ju", (uintmax_t)wc->wr_id,
			(uintmax_t)l->recv_done);
	l->recv_done++;
	if (wc->status != IBV_WC_SUCCESS) {
		l->failed_recv = true;
		link_failed(l, wc, "receive");
		return;
	}
	if (l->failed_recv)
		link_wrong(l, "receive %ju succeeded behind one that failed", (uintmax_t)wc->wr_id);
	if (wc->opcode != IBV_WC_RECV)
		link_wrong(l, "receive %ju is told as %d", (uintmax_t)wc->wr_id, wc->opcode);
	if (l->unmapped)
		return;
	link_take(l, wc);
	if (l->state < LINK_ENDING)
		link_receive(l);
}

static void link_tell_works(struct link *l)
{
	if (l->works || l->received < LINK_WORKS || !l->ops[IBV_WC_RDMA_READ] ||
		!l->ops[IBV_WC_RDMA_WRITE] || !l->ops[IBV_WC_FETCH_ADD] ||
		!l->ops[IBV_WC_COMP_SWAP])
		return;
	l->works = true;
	printf("works %u\n", l->number);
}

void link_run(struct link *l)
{
	struct ibv_wc wc[16];
	int n;

	/* A reply's private data comes by an event: messages may be there before it is read. */
	if (!l->cq || (l->state == LINK_CONNECTING && !l->greeted))
		return;
	while ((n = ibv_poll_cq(l->cq, 16, wc)) > 0) {
		l->silent_ms = 0;
		for (int i = 0; i < n; i++)
			if (l->deliberate == LINK_LOSES_COMPLETION && l->done == LINK_WORKS) {
				l->deliberate = LINK_SOUND;
				continue;
			} else if (wc[i].wr_id & LINK_RECEIVE_ID) {
				wc[i].wr_id &= ~LINK_RECEIVE_ID;
				link_received(l, &wc[i]);
			} else {
				link_sent(l, &wc[i]);
			}
		link_fill(l);
	}
	if (n < 0)
		link_wrong(l, "ibv_poll_cq: %d", n);
	link_fill(l);
	link_tell_works(l);
}

void link_end(struct link *l)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (l->state == LINK_ENDING)
		return;
	l->state = LINK_ENDING;
	l->silent_ms = 0;
	/* Either brings the QP to ERROR. A connection that never was has no event of its end. */
	if (l->established)
		rdma_disconnect(l->id);
	else if (l->id->qp)
		ibv_modify_qp(l->id->qp, &attr, IBV_QP_STATE);
}

bool link_is_over(const struct link *l)
{
	return l->state == LINK_ENDING && l->done == l->posted && l->recv_done == l->recv_posted &&
	       (l->disconnected || !l->established);
}
