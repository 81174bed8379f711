/* SPDX-License-Identifier: BSD-2-Clause */
#include "rnic/pairing_service.h"

#include "base/container_of.h"
#include "base/peer_set.h"
#include "rnic/ep_priv.h"
#include "rnic/qp.h"

#include <errno.h>
#include <stdlib.h>

/** A request that came before its QP was ready. */
struct held {
	LIST_ENTRY(held) link;
	struct pairing_service *service;
	struct rnic_ep *ep;
	struct pairing_hello hello;
	struct peer_charge charge;
	struct timer timer;
};

struct pairing_service {
	struct rnic *rnic;
	struct rnic_ep *listener;
	LIST_HEAD(, held) held;
	struct peer_set peers; /**< of those that are held */
};

/* ---- refusing ---------------------------------------------------------------------------- */

static void pairing_service_refuse(
	struct rnic_ep *ep, enum pairing_refusal why, const struct pairing_hello *hello)
{
	struct pairing_hello answer = {
		.refusal = (uint8_t)why, .to_qp = hello->from_qp, .from_qp = hello->to_qp};
	uint8_t data[PAIRING_HELLO_LEN];

	pairing_put_hello(data, &answer);
	/* When it cannot be told, it is reset. */
	(void)ep_reject(ep, data, sizeof data);
	ep_free(ep);
}

/* ---- holding ----------------------------------------------------------------------------- */

/** @return its endpoint, which is the caller's now. */
static struct rnic_ep *pairing_service_let_go(struct held *h)
{
	struct pairing_service *s = h->service;
	struct rnic_ep *ep = h->ep;

	timer_stop(&s->rnic->engine->wheel, &h->timer);
	LIST_REMOVE(h, link);
	peer_set_remove(&s->peers, &h->charge);
	free(h);
	return ep;
}

static void pairing_service_give_up(struct held *h, enum pairing_refusal why)
{
	struct pairing_hello hello = h->hello;

	pairing_service_refuse(pairing_service_let_go(h), why, &hello);
}

static void pairing_service_hold_on(struct held *h)
{
	struct engine *e = h->ep->rnic->engine;

	timer_start(&e->wheel, &h->timer, e->now + PAIRING_HOLD_MS * UINT64_C(1000000));
}

static void pairing_service_on_too_long(struct timer *t, uint64_t now)
{
	struct held *h = container_of(t, struct held, timer);

	if (timer_stood_still(t, now))
		pairing_service_hold_on(h);
	else
		pairing_service_give_up(h, PAIRING_NOT_READY);
}

/** Of a request that is held nothing is told but its beginning. */
static void pairing_service_on_held(const struct rnic_ep_event *ev)
{
}

/** One peer that asks too often must not keep the others out. */
static void pairing_service_make_room(struct pairing_service *s, const struct ip_addr *peer)
{
	struct peer_charge *charge = peer_set_in_the_way(&s->peers, peer, PAIRING_HELD_MAX, 0);

	if (charge)
		pairing_service_give_up(container_of(charge, struct held, charge), PAIRING_BUSY);
}

/** @return NULL: no memory. */
static struct held *pairing_service_new_held(
	struct pairing_service *s, struct rnic_ep *ep, const struct pairing_hello *hello)
{
	struct held *h = malloc(sizeof *h);

	if (!h)
		return NULL;
	*h = (struct held){.service = s, .ep = ep, .hello = *hello};
	if (peer_set_add(&s->peers, &h->charge, &ep->remote.addr)) {
		free(h);
		return NULL;
	}
	return h;
}

static void pairing_service_hold(
	struct pairing_service *s, struct rnic_ep *ep, const struct pairing_hello *hello)
{
	struct held *h;

	pairing_service_make_room(s, &ep->remote.addr);
	h = pairing_service_new_held(s, ep, hello);
	if (!h) {
		pairing_service_refuse(ep, PAIRING_BUSY, hello);
		return;
	}
	ep_adopt(ep, pairing_service_on_held, h);
	/* It does not count in the listener any more: here it does. */
	ep_leave_listener(ep);
	timer_init(&h->timer, pairing_service_on_too_long);
	pairing_service_hold_on(h);
	LIST_INSERT_HEAD(&s->held, h, link);
}

/* ---- requests ---------------------------------------------------------------------------- */

static enum pairing_refusal pairing_service_judge(
	struct rnic *r, const struct rnic_ep *request, const struct pairing_hello *hello)
{
	struct rnic_qp *qp = rnic_qp_find(r, hello->to_qp);

	if (!qp)
		return PAIRING_NO_QP;
	if (qp->pairing)
		return pairing_judge(qp->pairing, request, hello);
	return qp->conn ? PAIRING_NO_QP : PAIRING_NOT_READY;
}

static void pairing_service_take(
	struct pairing_service *s, struct rnic_ep *ep, const struct pairing_hello *hello)
{
	enum pairing_refusal why = pairing_service_judge(s->rnic, ep, hello);
	const struct rnic_qp *qp;

	switch (why) {
	case PAIRING_TAKEN:
		qp = rnic_qp_find(s->rnic, hello->to_qp);
		pairing_answer(qp->pairing, ep, hello);
		break;
	case PAIRING_NOT_READY:
		pairing_service_hold(s, ep, hello);
		break;
	default:
		pairing_service_refuse(ep, why, hello);
	}
}

static void pairing_service_on_request(const struct rnic_ep_event *ev)
{
	struct pairing_service *s = ev->context;
	struct pairing_hello hello = {0};

	if (ev->type != RNIC_EP_CONNECT_REQUEST)
		return;
	if (!pairing_get_hello(ev->private_data, ev->private_len, &hello) || hello.refusal)
		pairing_service_refuse(ev->request, PAIRING_ILL, &(struct pairing_hello){0});
	else
		pairing_service_take(s, ev->request, &hello);
}

void pairing_service_claim(struct pairing *p)
{
	struct pairing_service *s = p->qp->rnic->pairing;
	struct held *h = LIST_FIRST(&s->held);

	while (h) {
		struct held *next = LIST_NEXT(h, link);
		struct pairing_hello hello = h->hello;

		/* One that has to wait still does so for the rest of its time, and in its turn. */
		if (hello.to_qp == p->qp->num &&
			pairing_service_judge(s->rnic, h->ep, &hello) != PAIRING_NOT_READY)
			pairing_service_take(s, pairing_service_let_go(h), &hello);
		h = next;
	}
}

/* ---- life -------------------------------------------------------------------------------- */

static int pairing_service_bind(struct pairing_service *s, uint32_t space)
{
	struct ip_endpoint any = {.port = (uint16_t)(s->rnic->pairing_port + space)};
	int rc;

	s->listener = ep_new(s->rnic, pairing_service_on_request, s);
	if (!s->listener)
		return -ENOMEM;
	s->listener->paired = true;
	rc = ep_bind(s->listener, &any, false, false);
	if (!rc)
		return 0;
	ep_free(s->listener);
	s->listener = NULL;
	return rc;
}

/** @return NULL: no memory. */
static struct pairing_service *pairing_service_new(struct rnic *r)
{
	struct pairing_service *s = calloc(1, sizeof *s);
	struct siphash_key key;

	if (!s)
		return NULL;
	s->rnic = r;
	r->random.fill(r->random.ctx, &key, sizeof key);
	if (peer_set_init(&s->peers, PAIRING_HELD_MAX, &key)) {
		free(s);
		return NULL;
	}
	return s;
}

/** Reserve the first free port of @p spaces from @p space on. @return the space, or -errno. */
static int pairing_service_create(struct rnic *r, uint32_t space, uint32_t spaces)
{
	int rc = -EADDRINUSE;

	r->pairing = pairing_service_new(r);
	if (!r->pairing)
		return -ENOMEM;
	for (; rc == -EADDRINUSE && spaces && space + r->pairing_port <= UINT16_MAX; spaces--)
		rc = pairing_service_bind(r->pairing, space++);
	if (!rc)
		return (int)space - 1;
	pairing_service_close(r);
	return rc;
}

void pairing_service_settle(struct rnic *r)
{
	int space;

	if (r->has_qp_space || !r->pairing_port)
		return;
	r->has_qp_space = true;
	space = pairing_service_create(r, 0, RNIC_QP_SPACES);
	r->qp_space = space < 0 ? 0 : (uint32_t)space;
}

int pairing_service_open(struct rnic *r)
{
	int rc = 0;

	if (!r->pairing_port)
		return -EOPNOTSUPP;
	pairing_service_settle(r);
	if (!r->pairing)
		rc = pairing_service_create(r, r->qp_space, 1);
	if (rc >= 0 && r->pairing->listener->state == EP_BOUND)
		rc = ep_listen(r->pairing->listener, 0);
	if (rc < 0)
		log_printf(r->log, LOG_LEVEL_ERROR,
			"rnic: port %u is not free for the pairing of QPs",
			r->pairing_port + r->qp_space);
	return rc < 0 ? rc : 0;
}

void pairing_service_close(struct rnic *r)
{
	struct pairing_service *s = r->pairing;

	if (!s)
		return;
	while (!LIST_EMPTY(&s->held))
		ep_free(pairing_service_let_go(LIST_FIRST(&s->held)));
	if (s->listener)
		ep_free(s->listener);
	peer_set_fini(&s->peers);
	r->pairing = NULL;
	free(s);
}

int rnic_pairing_open(struct rnic *r)
{
	return ENGINE_LOCKED(r->engine, pairing_service_open(r));
}
