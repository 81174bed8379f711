/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/reassembly.h"

#include <stdlib.h>

/** Pieces that wait, of one direction: when its peer was seen to acknowledge, and when not. */
#define EARLY_MAX       65536
#define EARLY_MAX_BLIND 256
/** Old pieces that are kept at first. */
#define REASSEMBLY_HISTORY_MIN 4

static int32_t cap_reassembly_seq_diff(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b);
}

void cap_reassembly_init(struct cap_reassembly *r, const struct cap_reassembly_ops *ops, void *user,
	struct cap_reassembly_budget *budget)
{
	*r = (struct cap_reassembly){.ops = ops, .user = user, .budget = budget};
}

static void cap_reassembly_forget_early(struct cap_reassembly *r)
{
	r->budget->used -= r->early.n;
	cap_early_clear(&r->early);
}

void cap_reassembly_start(struct cap_reassembly *r, uint32_t seq)
{
	r->known = true;
	r->first = r->next = seq;
	r->passed = 0;
	cap_reassembly_forget_early(r);
}

void cap_reassembly_begin_earlier(struct cap_reassembly *r, uint32_t seq)
{
	if (r->next == r->first)
		r->first = r->next = seq;
}

/* ---- in order ----------------------------------------------------------------------------- */

/* Most connections of a large capture have little text: few pieces are kept at first. */
static void cap_reassembly_remember(struct cap_reassembly *r, const struct piece *p)
{
	if (r->at_old == r->cap_old && r->cap_old != REASSEMBLY_HISTORY) {
		unsigned cap = r->cap_old == 0 ? REASSEMBLY_HISTORY_MIN : 4 * r->cap_old;
		struct piece *more = realloc(r->old, cap * sizeof *more);

		if (!more)
			return; /* less is noticed */
		memset(more + r->cap_old, 0, (cap - r->cap_old) * sizeof *more);
		r->old = more;
		r->cap_old = cap;
	}
	r->old[r->at_old++ % r->cap_old] = *p;
	if (r->at_old == REASSEMBLY_HISTORY)
		r->at_old = 0;
}

static void cap_reassembly_hand_up(struct cap_reassembly *r, const struct piece *p)
{
	r->next += p->len;
	r->passed += p->len;
	if (!cap_reassembly_behind(r))
		r->waits = 0;
	if (p->bytes)
		cap_reassembly_remember(r, p);
	r->ops->text(r->user, p);
}

/* Hand up what waited and is in order now. */
static void cap_reassembly_drain(struct cap_reassembly *r)
{
	while (r->early.n != 0 && cap_early_first(&r->early)->seq == r->next) {
		struct piece p;

		cap_early_take(&r->early, &p);
		r->budget->used--;
		cap_reassembly_hand_up(r, &p);
	}
}

static void cap_reassembly_lose(struct cap_reassembly *r, struct piece lost)
{
	r->counters.holes++;
	r->counters.hole_bytes += lost.len;
	r->waits = 0;
	cap_reassembly_hand_up(r, &lost);
	cap_reassembly_drain(r);
}

/* The hole before the first piece that waits will not be filled. */
static void cap_reassembly_give_up(struct cap_reassembly *r)
{
	const struct piece *e = cap_early_first(&r->early);

	cap_reassembly_lose(r, (struct piece){
				       .len = e->seq - r->next,
				       .seq = r->next,
				       .ack = e->ack,
				       .lost = true,
				       .frame = e->frame,
				       .time = e->time,
			       });
}

/* What comes before @p end is in no frame, as the connection's segment in hand tells. */
static void cap_reassembly_lose_to(struct cap_reassembly *r, uint32_t end)
{
	cap_reassembly_lose(r, (struct piece){
				       .len = end - r->next,
				       .seq = r->next,
				       .lost = true,
				       .frame = r->frame,
				       .time = r->time,
			       });
}

void cap_reassembly_give_up_to(struct cap_reassembly *r, uint32_t end)
{
	if (r->fin && cap_reassembly_seq_diff(r->fin_seq, r->next) >= 0 &&
		cap_reassembly_seq_diff(end, r->fin_seq) > 0)
		end = r->fin_seq;
	while (cap_reassembly_seq_diff(end, r->next) > 0) {
		if (r->early.n != 0 &&
			cap_reassembly_seq_diff(cap_early_first(&r->early)->seq, end) <= 0) {
			cap_reassembly_give_up(r);
			continue;
		}
		cap_reassembly_lose_to(r, end);
	}
}

/* Text was acknowledged that has not come, and another segment has. */
static void cap_reassembly_wait(struct cap_reassembly *r)
{
	if (cap_reassembly_behind(r) && r->early.n != 0 && !r->held &&
		++r->waits > REASSEMBLY_PATIENCE)
		cap_reassembly_give_up(r);
}

void cap_reassembly_flush(struct cap_reassembly *r)
{
	while (r->early.n != 0)
		cap_reassembly_give_up(r);
}

/* ---- sent again --------------------------------------------------------------------------- */

static void cap_reassembly_compare(
	struct cap_reassembly *r, const struct piece *now, const struct piece *before)
{
	uint32_t skip_now = 0, skip_before = 0, n;

	if (!now->bytes || !before->bytes)
		return;
	if (cap_reassembly_seq_diff(before->seq, now->seq) > 0)
		skip_now = before->seq - now->seq;
	else
		skip_before = now->seq - before->seq;
	if (skip_now >= now->len || skip_before >= before->len)
		return;
	n = now->len - skip_now;
	if (n > before->len - skip_before)
		n = before->len - skip_before;
	if (memcmp(now->bytes + skip_now, before->bytes + skip_before, n) == 0)
		return;
	r->counters.conflicts++;
	r->ops->conflict(r->user, now, before);
}

static void cap_reassembly_compare_with_old(struct cap_reassembly *r, const struct piece *now)
{
	/* A keep-alive probe is one octet before the window, of any value (RFC 1122, 4.2.3.6). */
	if (now->len == 1 && now->seq == r->next - 1)
		return;
	for (unsigned i = 0; i < r->cap_old; i++)
		if (r->old[i].len != 0)
			cap_reassembly_compare(r, now, &r->old[i]);
}

/* ---- early -------------------------------------------------------------------------------- */

static void cap_reassembly_trim_front(struct piece *p, uint32_t n)
{
	if (p->bytes)
		p->bytes += n;
	p->seq += n;
	p->len -= n;
	p->first = false;
}

/** Keep those parts of @p p that do not wait already. */
static void cap_reassembly_keep_early(struct cap_reassembly *r, struct piece p)
{
	const struct piece *e = cap_early_find(&r->early, p.seq);

	while (p.len != 0) {
		struct piece part = p;

		if (e && cap_reassembly_seq_diff(e->seq, p.seq) <= 0) {
			uint32_t covered = e->seq + e->len - p.seq;

			cap_reassembly_compare(r, &p, e);
			if (covered >= p.len)
				return;
			cap_reassembly_trim_front(&p, covered);
			e = cap_early_next(e);
			continue;
		}
		if (e && e->seq - p.seq < p.len) {
			part.len = e->seq - p.seq;
			part.last = false;
		}
		if (!cap_early_add(&r->early, &part))
			return;
		r->budget->used++;
		cap_reassembly_trim_front(&p, part.len);
	}
}

static bool cap_reassembly_too_many(const struct cap_reassembly *r)
{
	return r->early.n > (r->acked_set ? EARLY_MAX : EARLY_MAX_BLIND) ||
	       r->budget->used > r->budget->max;
}

/* ---- segments ----------------------------------------------------------------------------- */

/* One part of a segment's text, captured or cut off. */
static void cap_reassembly_take(struct cap_reassembly *r, struct piece p)
{
	int32_t ahead = cap_reassembly_seq_diff(p.seq, r->next);

	if (ahead < 0) {
		uint32_t old = r->next - p.seq;

		cap_reassembly_compare_with_old(r, &p);
		r->counters.again_bytes += old < p.len ? old : p.len;
		if (old >= p.len) {
			r->counters.again++;
			return;
		}
		cap_reassembly_trim_front(&p, old);
		ahead = 0;
	}
	if (ahead == 0) {
		uint32_t room = r->early.n != 0 ? cap_early_first(&r->early)->seq - r->next : p.len;

		if (room < p.len) {
			/* The rest waits already, or lies between what waits. */
			struct piece rest = p;

			cap_reassembly_trim_front(&rest, room);
			p.len = room;
			p.last = false;
			cap_reassembly_keep_early(r, rest);
		}
		cap_reassembly_hand_up(r, &p);
		cap_reassembly_drain(r);
	} else if (ahead < REASSEMBLY_WINDOW_MAX) {
		r->counters.early++;
		cap_reassembly_keep_early(r, p);
		while (r->early.n != 0 && cap_reassembly_too_many(r))
			cap_reassembly_give_up(r);
	}
}

static void cap_reassembly_take_text(
	struct cap_reassembly *r, const struct packet *p, const struct cap_frame *f)
{
	struct piece here = {
		.bytes = p->text,
		.len = p->captured,
		.seq = p->seq,
		.ack = p->ack,
		.first = !p->continues,
		.last = true,
		.damaged = p->sum == PACKET_SUM_WRONG,
		.frame = f->number,
		.time = f->time,
	};

	r->counters.segments += !p->continues;
	r->counters.bytes += p->len;
	if (p->captured == p->len) {
		cap_reassembly_take(r, here);
		return;
	}
	r->counters.cut++;
	r->counters.cut_bytes += p->len - p->captured;
	here.last = false;
	if (here.len != 0)
		cap_reassembly_take(r, here);
	here.bytes = NULL;
	here.first = here.first && p->captured == 0;
	here.last = true;
	here.seq = p->seq + p->captured;
	here.len = p->len - p->captured;
	cap_reassembly_take(r, here);
}

/*
 * Where text has come behind it, a FIN is old, or forged, and its receiver does not take it. That
 * which comes when all before it is there is the one that counts.
 */
static void cap_reassembly_take_fin(struct cap_reassembly *r, uint32_t seq, uint64_t frame)
{
	if (r->fin ? seq != r->next || seq == r->fin_seq
		   : cap_reassembly_seq_diff(seq, r->next) < 0)
		return;
	r->fin = true;
	r->fin_seq = seq;
	r->fin_frame = frame;
}

void cap_reassembly_segment(
	struct cap_reassembly *r, const struct packet *p, const struct cap_frame *f)
{
	if (!r->known) {
		if (p->len == 0 && !(p->flags & PACKET_FIN))
			return;
		cap_reassembly_start(r, p->seq);
	}
	cap_reassembly_wait(r);
	if (p->len != 0)
		cap_reassembly_take_text(r, p, f);
	if (p->flags & PACKET_FIN)
		cap_reassembly_take_fin(r, p->seq + p->len, f->number);
}

/* True if @p seq is further from the next octet than any window, whichever way. */
static bool cap_reassembly_is_off(const struct cap_reassembly *r, uint32_t seq)
{
	return r->known && seq - r->next >= REASSEMBLY_WINDOW_MAX &&
	       r->next - seq >= REASSEMBLY_WINDOW_MAX;
}

unsigned cap_reassembly_far(const struct cap_reassembly *r, uint32_t seq)
{
	bool acked = r->acked_set && r->next - r->acked < REASSEMBLY_WINDOW_MAX;
	uint32_t back = r->next - seq, old = r->acked - seq;

	if (!r->known)
		return 0;
	if (cap_reassembly_is_off(r, seq))
		return REASSEMBLY_FAR;
	if (r->from_syn && back < REASSEMBLY_WINDOW_MAX && back > r->passed + REASSEMBLY_BACK_MAX)
		return REASSEMBLY_FAR_BACK;
	/* What nobody has acknowledged may be in flight, all of it. */
	return acked && old > REASSEMBLY_BACK_MAX && old < REASSEMBLY_WINDOW_MAX
		       ? REASSEMBLY_FAR_OLD
		       : 0;
}

void cap_reassembly_jump(struct cap_reassembly *r, uint32_t seq)
{
	cap_reassembly_flush(r);
	r->fin = false;
	r->acked_set = false;
	if (seq != r->next)
		cap_reassembly_lose_to(r, seq);
}

void cap_reassembly_ack(struct cap_reassembly *r, uint32_t ack)
{
	/* Of an end that was not captured for long the last one says nothing any more. */
	if (!r->acked_set || cap_reassembly_seq_diff(ack, r->acked) > 0 ||
		cap_reassembly_is_off(r, r->acked)) {
		r->acked = ack;
		r->acked_set = true;
	}
	cap_reassembly_wait(r);
}

void cap_reassembly_free(struct cap_reassembly *r)
{
	cap_reassembly_forget_early(r);
	free(r->old);
	r->old = NULL;
	r->at_old = r->cap_old = 0;
}
