/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and Atomics that the host may not answer, or not so many. */
#include "foreign_break.h"

/**
 * A request is judged when its answer has its turn. As long as the host has others to send or to be
 * answered, that may be behind what comes later, and is legal.
 */
static bool may_ask_badly(const struct foreign_rnic *p)
{
	return p->outbounds < p->ord && !p->inbounds && p->next == p->world->requests;
}

/** Of a Read Request: from where, and how much. */
static void ask_for(uint8_t *header, uint32_t len, uint32_t stag, uint64_t to)
{
	foreign_put32(header + 12, len);
	foreign_put32(header + 16, stag);
	foreign_put64(header + 20, to);
}

bool foreign_break_read(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint8_t h[FOREIGN_READ_LEN + 8] = {0};
	struct foreign_segment s =
		foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, FOREIGN_READ_LEN);
	uint32_t stag = w->stag[AREA_READ], len = 2 + world_below(w, 1000);
	uint64_t to = w->iova[AREA_READ];

	if (!may_ask_badly(p))
		return false;
	switch (world_below(w, 7)) {
	case 0:
		stag = foreign_break_no_stag(p);
		foreign_break_expect(p, "a Read with a bad STag", RDMA_STAG, 0, 0);
		break;
	case 1:
		to += AREA_LEN - len + 1;
		foreign_break_expect(p, "a Read beyond its region", RDMA_BOUNDS, 0, 0);
		break;
	case 2:
		len = UINT32_MAX;
		foreign_break_expect(p, "a Read of 4 GiB", RDMA_BOUNDS, RDMA_WRAP, 0);
		break;
	case 3:
		to = UINT64_MAX - world_below(w, len - 1);
		foreign_break_expect(p, "a Read that wraps", RDMA_WRAP, RDMA_BOUNDS, 0);
		break;
	case 4:
		stag = w->stag[AREA_WRITE];
		to = w->iova[AREA_WRITE];
		foreign_break_expect(p, "a Read without the right", RDMA_ACCESS, 0, 0);
		break;
	case 5:
		stag = w->stag[AREA_OTHER];
		to = w->iova[AREA_OTHER];
		foreign_break_expect(
			p, "a Read of another protection domain", RDMA_STREAM, RDMA_STAG, 0);
		break;
	default:
		s.len += world_chance(w, 0.5) ? 1 + world_below(w, 8) : UINT32_MAX;
		foreign_break_expect(
			p, "a Read Request of another length", RDMA_OTHER, DDP_LONG, 0);
		break;
	}
	ask_for(h, len, stag, to);
	foreign_break_segment(p, &s);
	return true;
}

bool foreign_break_window_read(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	unsigned i = world_below(w, WINDOWS);
	const struct window *window = &w->window[i];
	uint8_t h[FOREIGN_READ_LEN] = {0};
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, sizeof h);
	uint64_t to = window->base;

	if (p->outbounds >= p->ord || window->state != WINDOW_BOUND)
		return false;
	if (window_area(i) == AREA_WRITE) {
		foreign_break_expect(p, "a Read of a window to write", RDMA_ACCESS, RDMA_STAG, 0);
	} else {
		to += WINDOW_LEN - 6;
		foreign_break_expect(p, "a Read beyond its window", RDMA_BOUNDS, 0, 0);
	}
	ask_for(h, 7, window->stag, to);
	foreign_break_segment(p, &s);
	return true;
}

bool foreign_break_atomic(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint8_t h[FOREIGN_ATOMIC_LEN] = {0};
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_ATOMIC_REQUEST, 1, h, sizeof h);
	uint32_t stag = w->stag[AREA_ATOMIC], code = 0;
	uint64_t to = w->iova[AREA_ATOMIC];

	if (!may_ask_badly(p))
		return false;
	switch (world_below(w, 5)) {
	case 0:
		stag = foreign_break_no_stag(p);
		foreign_break_expect(p, "an Atomic with a bad STag", RDMA_STAG, 0, 0);
		break;
	case 1:
		to += 1 + world_below(w, 7);
		foreign_break_expect(p, "an Atomic that is not aligned", RDMA_STREAM_CATASTROPHIC,
			RDMA_OTHER, RDMA_BOUNDS);
		break;
	case 2:
		code = world_chance(w, 0.5) ? 1 : 3 + world_below(w, 13);
		foreign_break_expect(p, "an Atomic of no kind", RDMA_OPCODE, 0, 0);
		break;
	case 3:
		stag = w->stag[AREA_WRITE];
		to = w->iova[AREA_WRITE];
		foreign_break_expect(p, "an Atomic without the right", RDMA_ACCESS, 0, 0);
		break;
	default:
		to += AREA_LEN;
		foreign_break_expect(p, "an Atomic beyond its region", RDMA_BOUNDS, 0, 0);
		break;
	}
	foreign_put32(h, code);
	foreign_put32(h + 8, stag);
	foreign_put64(h + 12, to);
	foreign_break_segment(p, &s);
	return true;
}

bool foreign_break_depth(struct foreign_rnic *p)
{
	uint8_t h[FOREIGN_READ_LEN] = {0};
	struct foreign_segment s;

	/* All in one segment, else it answers some before it sees the rest. */
	if (p->outbounds || !p->world->whole || !p->has_sent)
		return false;
	foreign_rnic_flush(p);
	p->cuts = 1;
	p->reserved = false;
	for (unsigned i = 0; i <= foreign_rnic_round_up(p->host_ird); i++) {
		s = foreign_rnic_message(p, FOREIGN_READ_REQUEST, 1, h, sizeof h);
		foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
		p->tx_msn[1]++;
	}
	p->cuts = 0;
	foreign_break_expect(p, "too many Reads", DDP_BUFFER, 0, 0);
	foreign_break_guilty(p, &s);
	p->world->broken = true;
	foreign_rnic_flush(p);
	return true;
}
