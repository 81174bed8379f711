/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/path.h"

#include "wan/line.h"

#include <stdlib.h>

#define NS_PER_S UINT64_C(1000000000)

/** A frame that the link has not done with. */
struct waiting {
	uint64_t leaves; /**< when its last bit is on the way */
	uint32_t len;
};

struct wan_path {
	struct wan_path_config cfg;
	struct wan_path_ops ops;
	struct prng rng;
	struct wan_loss loss;
	struct wan_line line;
	uint32_t capacity;     /**< as the caller said; the line may hold more */
	struct waiting *queue; /**< before the link; ring of line.capacity */
	uint32_t head, tail;   /**< of the queue, counting freely */
	uint64_t free_at;      /**< when the link has sent all that waits */
	uint64_t free_part;    /**< and the part of a ns after it, in 1 / rate */
	uint64_t latest;       /**< when the last frame comes out, but for those made late */
	uint64_t floor;        /**< the same of a configuration before: no frame comes earlier */
	struct wan_path_stats stats;
};

struct wan_path *wan_path_create(const struct wan_path_config *cfg, const struct wan_path_ops *ops,
	uint32_t capacity, uint64_t seed)
{
	struct wan_path *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	if (!wan_line_init(&p->line, capacity))
		goto fail;
	p->queue = malloc(p->line.capacity * sizeof *p->queue);
	if (!p->queue)
		goto fail;
	p->capacity = capacity;
	p->ops = *ops;
	p->rng.state = seed;
	wan_path_configure(p, cfg);
	return p;
fail:
	wan_path_destroy(p);
	return NULL;
}

void wan_path_destroy(struct wan_path *p)
{
	wan_line_fini(&p->line);
	free(p->queue);
	free(p);
}

/** Would a frame of before have another delay now? */
static bool wan_path_is_retimed(
	const struct wan_path_config *was, const struct wan_path_config *cfg)
{
	return cfg->delay != was->delay || cfg->jitter != was->jitter ||
	       cfg->jitter_reorders != was->jitter_reorders;
}

void wan_path_configure(struct wan_path *p, const struct wan_path_config *cfg)
{
	/* Jitter lets frames overtake each other, a change does not. */
	if (wan_path_is_retimed(&p->cfg, cfg))
		p->floor = wan_line_count(&p->line) != 0 ? p->latest : 0;
	/* A part of a ns was counted in units of the old rate. */
	if (cfg->rate != p->cfg.rate)
		p->free_part = 0;
	p->cfg = *cfg;
	p->loss.cfg = cfg->loss;
	/* Without bursts there is nothing that ends the one of before. */
	if (cfg->loss.enter <= 0)
		p->loss.is_bad = false;
}

const struct wan_path_config *wan_path_config(const struct wan_path *p)
{
	return &p->cfg;
}

/* ---- the link and its queue ----------------------------------------------------------------- */

/** Let go what the link has sent by @p now. */
static void wan_path_queue_advance(struct wan_path *p, uint64_t now)
{
	while (p->head != p->tail) {
		const struct waiting *w = &p->queue[p->head & (p->line.capacity - 1)];

		if (w->leaves > now)
			break;
		p->stats.queue_bytes -= w->len;
		p->head++;
	}
}

static bool wan_path_queue_has_room(const struct wan_path *p, uint64_t now, uint32_t len)
{
	const struct wan_path_config *c = &p->cfg;

	/* Without a rate there is no queue, whatever waits from before. */
	if (c->rate == 0 || p->head == p->tail)
		return true;
	switch (c->queue_unit) {
	case WAN_QUEUE_BYTES:
		return len <= c->queue && p->stats.queue_bytes <= c->queue - len;
	case WAN_QUEUE_FRAMES:
		return p->tail - p->head < c->queue;
	case WAN_QUEUE_TIME:
		return p->free_at <= now || p->free_at - now <= c->queue;
	default:
		return true;
	}
}

/** Put a frame on the link, behind those that wait. @return when its last bit is on the way. */
static uint64_t wan_path_link_send(struct wan_path *p, uint64_t now, uint32_t len)
{
	uint64_t bits = ((uint64_t)len + p->cfg.overhead) * 8;

	/* Without one a frame takes no time, but waits behind those that had one. */
	if (p->cfg.rate == 0)
		return now > p->free_at ? now : p->free_at;
	if (p->free_at < now) {
		p->free_at = now;
		p->free_part = 0;
	}
	if (p->free_at - now > p->stats.queue_ns_max)
		p->stats.queue_ns_max = p->free_at - now;
	/* Parts of a ns are carried on: at 10 Gb/s half of one is a thousandth of a frame. */
	p->free_part += bits * NS_PER_S;
	p->free_at += p->free_part / p->cfg.rate;
	p->free_part %= p->cfg.rate;
	p->queue[p->tail++ & (p->line.capacity - 1)] = (struct waiting){p->free_at, len};
	p->stats.queue_bytes += len;
	if (p->stats.queue_bytes > p->stats.queue_bytes_max)
		p->stats.queue_bytes_max = p->stats.queue_bytes;
	return p->free_at;
}

/* ---- after the link ------------------------------------------------------------------------- */

static uint64_t wan_path_draw_delay(struct wan_path *p)
{
	const struct wan_path_config *c = &p->cfg;
	uint64_t d;

	if (c->jitter == 0)
		return c->delay;
	d = c->delay + prng_below(&p->rng, 2 * c->jitter + 1);
	return d > c->jitter ? d - c->jitter : 0;
}

static void wan_path_put_on_line(struct wan_path *p, void *frame, uint64_t leaves)
{
	uint64_t due = leaves + wan_path_draw_delay(p);

	if (due < p->floor)
		due = p->floor;
	if (prng_chance(&p->rng, p->cfg.reorder)) {
		p->stats.reordered++;
		wan_line_put_anywhere(
			&p->line, frame, due + 1 + prng_below(&p->rng, p->cfg.reorder_by));
		return;
	}
	if (due > p->latest)
		p->latest = due;
	if (p->cfg.jitter_reorders)
		wan_line_put_anywhere(&p->line, frame, due);
	else
		wan_line_put(&p->line, frame, due);
}

static bool wan_path_line_is_full(const struct wan_path *p)
{
	return wan_line_count(&p->line) >= p->capacity;
}

static enum wan_fate wan_path_enqueue(
	struct wan_path *p, uint64_t now, void *frame, uint32_t len, uint32_t header)
{
	uint64_t leaves;
	void *copy;

	if (p->cfg.mtu != 0 && len > (uint64_t)p->cfg.mtu + header)
		return WAN_DROP_MTU;
	wan_path_queue_advance(p, now);
	if (wan_path_line_is_full(p) || p->tail - p->head >= p->capacity)
		return WAN_DROP_MEMORY;
	if (!wan_path_queue_has_room(p, now, len))
		return WAN_DROP_QUEUE;
	/* What is lost on the way has taken its time on the link. */
	leaves = wan_path_link_send(p, now, len);
	if (wan_loss_next(&p->loss, &p->rng))
		return WAN_DROP_LOSS;
	if (prng_chance(&p->rng, p->cfg.corrupt)) {
		p->stats.corrupted++;
		frame = p->ops.corrupt(p->ops.ctx, frame, prng_u64(&p->rng));
	}
	wan_path_put_on_line(p, frame, leaves);
	if (prng_chance(&p->rng, p->cfg.duplicate) && !wan_path_line_is_full(p)) {
		copy = p->ops.clone(p->ops.ctx, frame);
		if (copy) {
			p->stats.duplicated++;
			wan_path_put_on_line(p, copy, leaves);
		}
	}
	return WAN_TAKEN;
}

enum wan_fate wan_path_put(
	struct wan_path *p, uint64_t now, void *frame, uint32_t len, uint32_t header)
{
	enum wan_fate fate = wan_path_enqueue(p, now, frame, len, header);

	p->stats.frames_in++;
	p->stats.bytes_in += len;
	p->stats.fate[fate]++;
	return fate;
}

uint64_t wan_path_next(const struct wan_path *p)
{
	return wan_line_next(&p->line);
}

void *wan_path_take(struct wan_path *p, uint64_t now, uint64_t *due)
{
	void *frame = wan_line_take(&p->line, now, due);

	if (frame) {
		p->stats.frames_out++;
		wan_path_queue_advance(p, now);
	}
	return frame;
}

const struct wan_path_stats *wan_path_get_stats(const struct wan_path *p)
{
	return &p->stats;
}
