/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/synq.h"

#include "base/container_of.h"
#include "tcp/control.h"
#include "tcp/listen.h"

#include <errno.h>
#include <stdlib.h>

/**
 * Transmissions of a SYN,ACK without an answer: at 0, 1, 3, 7 and 15 s, given up at 31 s. That is
 * fewer than Linux's six: a genuine peer sends its own SYN again, and a forged source is not to get
 * more packets for one than it must.
 */
#define SYN_ACKS 5
/** When more than half of the listener's places are taken (a flood, or a rush). */
#define SYN_ACKS_PRESSED 2

int tcp_synq_init(struct tcp_synq *t, uint32_t most, const struct siphash_key *key)
{
	uint32_t n = 16;

	while (n < most && n < 1u << 16)
		n *= 2;
	t->bucket = calloc(n, sizeof *t->bucket);
	if (!t->bucket)
		return -ENOMEM;
	t->mask = n - 1;
	t->key = *key;
	if (peer_set_init(&t->peers, most, key)) {
		free(t->bucket);
		t->bucket = NULL;
		return -ENOMEM;
	}
	return 0;
}

void tcp_synq_fini(struct tcp_synq *t)
{
	if (!t->bucket)
		return;
	peer_set_fini(&t->peers);
	free(t->bucket);
	t->bucket = NULL;
}

static struct tcp_synq_entry **tcp_synq_place(const struct tcp_synq *t, const struct tcp_tuple *id)
{
	struct tcp_synq_entry **p = &t->bucket[siphash(&t->key, id, sizeof *id) & t->mask];

	while (*p && memcmp(&(*p)->e.id, id, sizeof *id) != 0)
		p = &(*p)->hash_next;
	return p;
}

struct tcp_synq_entry *tcp_synq_find(const struct tcp_synq *t, const struct tcp_tuple *id)
{
	return t->count ? *tcp_synq_place(t, id) : NULL;
}

static void tcp_synq_send_and_wait(struct tcp_synq_entry *h)
{
	struct tcp_stack *s = h->listener->s;

	tcp_send_syn_ack(h->listener, &h->e, false);
	timer_start(s->cfg.wheel, &h->timer, s->now + (TCP_RTO_INITIAL << h->e.syn_sent_n));
	h->e.syn_sent_n++;
}

static void tcp_synq_on_timer(struct timer *t, uint64_t now)
{
	struct tcp_synq_entry *h = container_of(t, struct tcp_synq_entry, timer);
	struct tcp_listener *l = h->listener;
	bool pressed = l->synq.count > l->synq_limit / 2;

	tcp_set_now(l->s, now);
	if (h->e.syn_sent_n >= (pressed ? SYN_ACKS_PRESSED : SYN_ACKS)) {
		tcp_synq_drop(h);
		return;
	}
	l->s->stats.timeouts++;
	ip_doubt(l->s->cfg.ip, &h->e.id.remote, l->s->now);
	tcp_synq_send_and_wait(h);
}

static void tcp_synq_insert(struct tcp_synq_entry *h)
{
	struct tcp_listener *l = h->listener;
	struct tcp_synq *t = &l->s->synq;

	h->hash_next = NULL;
	*tcp_synq_place(t, &h->e.id) = h;
	t->count++;
	/* Without memory it is one that nobody is charged with. */
	(void)peer_set_add(&t->peers, &h->charge, &h->e.id.remote);
	h->next = NULL;
	h->pprev = l->synq.tail;
	*l->synq.tail = h;
	l->synq.tail = &h->next;
	l->synq.count++;
	l->s->stats.half_open = t->count;
}

int tcp_synq_add(struct tcp_listener *l, const struct tcp_syn_request *e)
{
	struct tcp_synq_entry *h = malloc(sizeof *h);

	if (!h)
		return -ENOMEM;
	*h = (struct tcp_synq_entry){.listener = l, .e = *e};
	timer_init(&h->timer, tcp_synq_on_timer);
	tcp_synq_insert(h);
	h->e.sent_at = l->s->now;
	tcp_synq_send_and_wait(h);
	return 0;
}

void tcp_synq_unlink(struct tcp_synq_entry *h)
{
	struct tcp_listener *l = h->listener;
	struct tcp_synq *t = &l->s->synq;

	timer_stop(l->s->cfg.wheel, &h->timer);
	*tcp_synq_place(t, &h->e.id) = h->hash_next;
	t->count--;
	peer_set_remove(&t->peers, &h->charge);
	*h->pprev = h->next;
	if (h->next)
		h->next->pprev = h->pprev;
	else
		l->synq.tail = h->pprev;
	l->synq.count--;
	l->s->stats.half_open = t->count;
}

void tcp_synq_relink(struct tcp_synq_entry *h)
{
	struct tcp_stack *s = h->listener->s;

	tcp_synq_insert(h);
	timer_start(s->cfg.wheel, &h->timer, s->now + (TCP_RTO_INITIAL << h->e.syn_sent_n));
}

void tcp_synq_drop(struct tcp_synq_entry *h)
{
	tcp_synq_unlink(h);
	free(h);
}
