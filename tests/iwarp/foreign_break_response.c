/* SPDX-License-Identifier: BSD-2-Clause */
/* Responses that are wrong, or that nobody waits for. */
#include "foreign_break.h"

#include <string.h>

bool foreign_break_no_response(struct foreign_rnic *p)
{
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_READ_RESPONSE);
	uint8_t h[FOREIGN_ATOMIC_RESPONSE_LEN] = {0};
	struct foreign_segment a = foreign_rnic_message(p, FOREIGN_ATOMIC_RESPONSE, 3, h, sizeof h);

	/* None is under way, nor can one be before this comes. */
	if (p->inbounds || p->next != p->world->requests)
		return false;
	p->world->asks_none = true;
	if (world_chance(p->world, 0.5)) {
		foreign_break_expect(
			p, "a Read Response that nobody waits for", RDMA_OPCODE, DDP_STAG, 0);
		foreign_break_segment(p, &s);
	} else {
		foreign_break_expect(p, "an Atomic Response that nobody waits for", DDP_BUFFER,
			RDMA_OPCODE, DDP_MSN);
		foreign_break_segment(p, &a);
	}
	return true;
}

bool foreign_break_response(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	const struct foreign_inbound *in = &p->inbound[0];
	uint8_t h[FOREIGN_ATOMIC_RESPONSE_LEN] = {0};
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_READ_RESPONSE);
	struct foreign_segment a = foreign_rnic_message(p, FOREIGN_ATOMIC_RESPONSE, 3, h, sizeof h);
	bool atomic;

	if (!p->inbounds || !in->request || p->response.open)
		return false;
	atomic = in->request->kind != REQUEST_READ;
	foreign_put32(h, in->id + atomic);
	s.stag = in->stag;
	s.to = in->to;
	s.len = in->len;
	switch (world_below(w, 5)) {
	case 0:
		if (atomic)
			foreign_break_expect(p, "an Atomic Response with a wrong number",
				RDMA_OTHER, RDMA_OPCODE, 0);
		else
			foreign_break_expect(p, "an Atomic Response for a Read", RDMA_OPCODE, 0, 0);
		foreign_break_segment(p, &a);
		return true;
	case 1:
		if (!atomic && !s.len)
			return false;
		s.stag ^= 1;
		foreign_break_expect(
			p, "a Read Response with another STag", DDP_STAG, RDMA_OPCODE, 0);
		break;
	case 2:
		if (!atomic && !s.len)
			return false;
		s.to += world_chance(w, 0.5) ? 1 : UINT64_MAX;
		foreign_break_expect(
			p, "a Read Response beside its place", DDP_BOUNDS, RDMA_OPCODE, 0);
		break;
	case 3:
		s.len += 1 + world_below(w, 20);
		foreign_break_expect(
			p, "a Read Response too long", DDP_BOUNDS, RDMA_OPCODE, DDP_STAG);
		break;
	default:
		if (atomic || !s.len)
			return false;
		s.len = world_below(w, s.len);
		in->request->begun = true;
		memcpy(in->request->answer, s.payload, s.len); /* may be there */
		foreign_break_expect(p, "a Read Response too short", RDMA_OTHER, 0, 0);
		break;
	}
	if (atomic)
		p->deed = "a Read Response for an Atomic";
	foreign_break_segment(p, &s);
	return true;
}

bool foreign_break_open_response(struct foreign_rnic *p)
{
	const struct foreign_message *m = &p->response;
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_READ_RESPONSE);

	if (!m->open || !p->inbound[0].request)
		return false;
	s.stag = m->stag;
	s.to = m->to + m->sent;
	s.len = m->len - m->sent + 1;
	foreign_break_expect(p, "a Read Response too long", DDP_BOUNDS, 0, 0);
	foreign_break_segment(p, &s);
	return true;
}
