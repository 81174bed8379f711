/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends that are wrong, and what comes in the middle of them. */
#include "foreign_break.h"

/** @return false: no receive waits for a message. */
static bool next_room(const struct foreign_rnic *p, uint32_t *room)
{
	const struct foreign_world *w = p->world;
	const struct receive *r = &w->receive[w->deliveries];

	*room = r->part[0] + r->part[1];
	return w->deliveries < w->receives && !p->send.open;
}

bool foreign_break_send(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_SEND, 0, w->noise, 0);
	uint32_t room;

	if (!next_room(p, &room) && w->waits)
		return false;
	if (w->deliveries >= w->receives && !p->send.open) {
		foreign_break_expect(p, "a Send without a receive", DDP_BUFFER, 0, 0);
		w->posts_none = true;
		foreign_break_segment(p, &s);
		return true;
	}
	if (p->send.open)
		return false;
	s.len = world_below(w, room + 1);
	switch (world_below(w, 6)) {
	case 0:
		s.len = room + 1 + (world_chance(w, 0.5) ? 0 : world_below(w, 200));
		foreign_break_expect(p, "a Send too long", DDP_LONG, 0, 0);
		break;
	case 1:
		s.msn += world_chance(w, 0.5) ? 1 + world_below(w, 1000) : UINT32_MAX;
		foreign_break_expect(p, "a Send with a wrong MSN", DDP_MSN, DDP_BUFFER, 0);
		break;
	case 2:
		s.mo = 1 + world_below(w, room + 100);
		foreign_break_expect(p, "a Send with a wrong MO", DDP_MO, DDP_LONG, 0);
		break;
	case 3:
		s.opcode = FOREIGN_SEND_INV;
		s.ulp32 = world_chance(w, 0.5) ? foreign_break_no_stag(p) : w->stag[AREA_RECV];
		w->delivery[w->deliveries++] = (struct delivery){
			.payload = s.payload, .len = s.len, .late = true, .begun = true};
		foreign_break_expect(p, "a Send that invalidates what it may not", RDMA_INV,
			RDMA_STAG, RDMA_INV_OP);
		break;
	case 4:
		s.opcode = FOREIGN_IMMEDIATE;
		s.len = world_below(w, 2) ? 7 : 9 + world_below(w, 50);
		foreign_break_expect(
			p, "Immediate Data of another length", RDMA_OTHER, DDP_LONG, 0);
		break;
	default:
		s.ddp_version = (uint8_t)(2 * world_below(w, 2));
		foreign_break_expect(p, "a Send of another DDP version", DDP_VERSION_U, 0, 0);
		break;
	}
	foreign_break_segment(p, &s);
	return true;
}

bool foreign_break_open_send(struct foreign_rnic *p)
{
	struct foreign_segment s = foreign_rnic_message(p, p->send.opcode, 0, p->world->noise, 10);

	if (!p->send.open)
		return false;
	s.mo = p->send.sent + (world_chance(p->world, 0.5) ? 1 : UINT32_MAX);
	foreign_break_expect(p, "a Send with a gap", DDP_MO, DDP_LONG, 0);
	if (p->send.sent == 0 || world_chance(p->world, 0.4)) {
		s.mo = p->send.sent;
		s.opcode = FOREIGN_IMMEDIATE;
		s.len = 8;
		foreign_break_expect(p, "Immediate Data in a Send", RDMA_OPCODE, DDP_MO, DDP_MSN);
	}
	foreign_break_segment(p, &s);
	return true;
}
