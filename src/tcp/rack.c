/* SPDX-License-Identifier: BSD-2-Clause */
#include "tcp/rack.h"

/** RFC 8985 section 6.2, step 4: recoveries without a D-SACK until the window is small again. */
#define REO_WND_PERSIST 16

void tcp_rack_init(struct tcp_rack *k, uint32_t una)
{
	*k = (struct tcp_rack){.fack = una, .reo_wnd_mult = 1};
}

void tcp_rack_delivered(
	struct tcp_rack *k, const struct tcp_delivery *d, uint32_t snd_una, uint64_t now)
{
	const struct tcp_record *r = &d->newest;

	k->fack = d->fack;
	if (k->in_dsack_round && seq_geq(snd_una, k->dsack_round))
		k->in_dsack_round = false;
	if (d->reordered)
		k->reordering_seen = true;
	if (!d->any)
		return;
	k->rtt = now - r->sent_at;
	if (tcp_sent_after(r->sent_at, tcp_record_end(r), k->xmit_ts, k->end_seq)) {
		k->xmit_ts = r->sent_at;
		k->end_seq = tcp_record_end(r);
	}
}

void tcp_rack_dsack(struct tcp_rack *k, uint32_t snd_nxt)
{
	if (k->in_dsack_round)
		return;
	k->in_dsack_round = true;
	k->dsack_round = snd_nxt;
	if (k->reo_wnd_mult < UINT8_MAX)
		k->reo_wnd_mult++;
	k->reo_wnd_persist = REO_WND_PERSIST;
}

void tcp_rack_recovered(struct tcp_rack *k)
{
	if (k->reo_wnd_persist)
		k->reo_wnd_persist--;
	if (!k->reo_wnd_persist)
		k->reo_wnd_mult = 1;
}

uint64_t tcp_rack_reo_wnd(const struct tcp_rack *k, uint64_t min_rtt, uint64_t srtt,
	bool in_recovery, uint32_t segs_sacked)
{
	if (!k->reordering_seen && (in_recovery || segs_sacked >= TCP_DUP_THRESH))
		return 0;
	return u64_min(k->reo_wnd_mult * min_rtt / 4, srtt);
}

struct tcp_rack_loss tcp_rack_detect(
	const struct tcp_rack *k, struct tcp_sendq *q, uint64_t reo_wnd, uint64_t now)
{
	struct tcp_rack_loss found = {0};

	while (q->flight.n) {
		uint32_t i = tcp_sendq_oldest(q);
		const struct tcp_record *r = tcp_sendq_at(q, i);
		uint64_t due = r->sent_at + k->rtt + reo_wnd;

		if (!tcp_sent_after(k->xmit_ts, k->end_seq, r->sent_at, tcp_record_end(r)))
			break;
		if (due > now) {
			found.next = due;
			break;
		}
		if (r->flags & TCP_REC_REXMIT)
			found.relost = r->sent_at;
		found.lost += tcp_sendq_lose(q, i);
	}
	return found;
}

uint32_t tcp_rack_timeout(
	const struct tcp_rack *k, struct tcp_sendq *q, uint64_t reo_wnd, uint64_t now)
{
	uint32_t lost = q->nxt ? tcp_sendq_lose(q, 0) : 0;

	while (q->flight.n) {
		uint32_t i = tcp_sendq_oldest(q);

		if (tcp_sendq_at(q, i)->sent_at + k->rtt + reo_wnd > now)
			break;
		lost += tcp_sendq_lose(q, i);
	}
	return lost;
}
