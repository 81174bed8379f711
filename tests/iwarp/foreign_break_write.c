/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes to where the peer may not write. */
#include "foreign_break.h"

bool foreign_break_write(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_WRITE);

	switch (world_below(w, 7)) {
	case 0:
		s.stag = foreign_break_no_stag(p);
		foreign_break_expect(p, "a Write with a bad STag", DDP_STAG, 0, 0);
		break;
	case 1:
		s.to = w->iova[AREA_WRITE] + AREA_LEN - s.len + 1 + world_below(w, 3000);
		foreign_break_expect(p, "a Write beyond its region", DDP_BOUNDS, 0, 0);
		break;
	case 2:
		s.to = w->iova[AREA_WRITE] - 1 - world_below(w, 3000);
		foreign_break_expect(p, "a Write before its region", DDP_BOUNDS, DDP_WRAP, 0);
		break;
	case 3:
		s.len = 2 + world_below(w, 100);
		s.to = UINT64_MAX - world_below(w, s.len - 1);
		foreign_break_expect(p, "a Write that wraps", DDP_WRAP, DDP_BOUNDS, 0);
		break;
	case 4:
		s.stag = w->stag[AREA_READ];
		s.to = w->iova[AREA_READ];
		foreign_break_expect(p, "a Write without the right", DDP_STAG, RDMA_ACCESS, 0);
		break;
	case 5:
		s.stag = w->stag[AREA_OTHER];
		s.to = w->iova[AREA_OTHER];
		foreign_break_expect(
			p, "a Write to another protection domain", DDP_STREAM, DDP_STAG, 0);
		break;
	default:
		s.ddp_version = (uint8_t)(2 * world_below(w, 2));
		foreign_break_expect(p, "a Write of another DDP version", DDP_VERSION_T, 0, 0);
		break;
	}
	foreign_break_segment(p, &s);
	return true;
}

static unsigned ended_window(const struct foreign_world *w)
{
	unsigned i = 0;

	while (i < WINDOWS - 1 && !(w->window[i].state == WINDOW_FREE && w->window[i].used))
		i++;
	return i;
}

bool foreign_break_window(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	unsigned i = world_chance(w, 0.5) ? ended_window(w) : world_below(w, WINDOWS);
	const struct window *window = &w->window[i];
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_WRITE);

	s.stag = window->stag;
	s.to = window->base;
	if (window->state == WINDOW_FREE && window->used) {
		foreign_break_expect(p, "a Write to a window that has ended", DDP_STAG, 0, 0);
	} else if (window->state != WINDOW_BOUND) {
		return false;
	} else if (window_area(i) == AREA_READ) {
		foreign_break_expect(p, "a Write to a window to read", DDP_STAG, RDMA_ACCESS, 0);
	} else {
		s.to += WINDOW_LEN - s.len + 1;
		foreign_break_expect(p, "a Write beyond its window", DDP_BOUNDS, 0, 0);
	}
	foreign_break_segment(p, &s);
	return true;
}
