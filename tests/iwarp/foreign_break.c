/* SPDX-License-Identifier: BSD-2-Clause */
/* Illegal things, one in a run, and the Terminates that they may cause: RFC 5040 sections 4.8 and
 * 7, RFC 5041 section 7, RFC 5044 section 8. */
#include "foreign_break.h"

#include <string.h>

void foreign_break_expect(struct foreign_rnic *p, const char *deed, int a, int b, int c)
{
	p->deed = deed;
	p->must = true;
	p->expects[0] = a;
	p->expects[1] = b ? b : -2;
	p->expects[2] = c ? c : -2;
	p->expects[3] = p->expects[4] = -2;
}

void foreign_break_guilty(struct foreign_rnic *p, const struct foreign_segment *s)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX];

	p->guilty_len = s->tagged ? 14 : 18;
	p->guilty_ulpdu = (uint16_t)foreign_put_segment(ulpdu, s);
	memcpy(p->guilty, ulpdu, p->guilty_len);
}

void foreign_break_segment(struct foreign_rnic *p, const struct foreign_segment *s)
{
	p->reserved = false; /* else another header is quoted */
	foreign_break_guilty(p, s);
	p->world->broken = true;
	foreign_rnic_segment(p, s, FOREIGN_NO_FLAW);
	foreign_rnic_flush(p);
}

struct foreign_segment foreign_break_tagged(struct foreign_rnic *p, uint8_t opcode)
{
	const struct foreign_world *w = p->world;

	return (struct foreign_segment){.tagged = true,
		.last = true,
		.ddp_version = 1,
		.rdmap_version = 1,
		.opcode = opcode,
		.stag = w->stag[AREA_WRITE],
		.to = w->iova[AREA_WRITE] + 100,
		.payload = w->noise + 1000,
		.len = 1 + world_below(p->world, 200)};
}

uint32_t foreign_break_no_stag(struct foreign_rnic *p)
{
	const struct foreign_world *w = p->world;

	/* Its index is right, so that the key is what is looked at; or anything. */
	return world_chance(p->world, 0.5) ? w->stag[AREA_WRITE] ^ (1u << world_below(p->world, 8))
					   : (uint32_t)prng_u64(&p->world->random) | 1;
}

static bool break_opcode(struct foreign_rnic *p)
{
	static const uint8_t on_queue_1[] = {FOREIGN_SEND, FOREIGN_TERMINATE, FOREIGN_IMMEDIATE,
		FOREIGN_ATOMIC_RESPONSE, FOREIGN_WRITE};
	struct foreign_world *w = p->world;
	struct foreign_segment s = foreign_rnic_message(p, FOREIGN_SEND, 1, w->noise, 28);
	struct foreign_segment t = foreign_break_tagged(p, (uint8_t)(12 + world_below(w, 4)));

	switch (world_below(w, 5)) {
	case 0:
		s.opcode = on_queue_1[world_below(w, 5)];
		foreign_break_expect(p, "an opcode on another queue", RDMA_OPCODE, 0, 0);
		foreign_break_segment(p, &s);
		return true;
	case 1:
		foreign_break_expect(p, "an opcode that is reserved", RDMA_OPCODE, 0, 0);
		foreign_break_segment(p, &t);
		return true;
	case 2:
		t.opcode = (uint8_t)(3 + world_below(w, 9));
		foreign_break_expect(p, "an opcode of the other buffer model", RDMA_OPCODE, 0, 0);
		foreign_break_segment(p, &t);
		return true;
	case 3:
		s.qn = 4 + world_below(w, UINT32_MAX - 3);
		foreign_break_expect(p, "a queue that is not there", DDP_QN, 0, 0);
		foreign_break_segment(p, &s);
		return true;
	default:
		t.opcode = FOREIGN_WRITE;
		t.rdmap_version = (uint8_t)(world_chance(w, 0.5) ? 0 : 2 + world_below(w, 2));
		foreign_break_expect(p, "another RDMAP version", RDMA_VERSION, 0, 0);
		foreign_break_segment(p, &t);
		return true;
	}
}

bool foreign_rnic_break(struct foreign_rnic *p)
{
	static bool (*const deeds[])(struct foreign_rnic * p) = {foreign_break_write,
		foreign_break_window, foreign_break_window_read, foreign_break_send,
		foreign_break_open_send, break_opcode, foreign_break_read, foreign_break_depth,
		foreign_break_atomic, foreign_break_no_response, foreign_break_response,
		foreign_break_response, foreign_break_open_response, foreign_break_fpdu,
		foreign_break_fpdu, foreign_break_short, foreign_break_fin,
		foreign_break_fin_in_write};

	if (!p->asked && !p->rejects) {
		if (world_chance(p->world, 0.9))
			return false;
		p->startup_flaw = (enum foreign_startup_flaw)(
			1 + world_below(p->world, FOREIGN_FLAWS - 1 - !p->initiator));
		p->deed = "a start-up frame that is none";
		p->world->broken = true;
		return true;
	}
	if (!p->may_send || p->rtr_due || p->fin || p->gone || p->host_fin)
		return false;
	return deeds[world_below(p->world, sizeof deeds / sizeof *deeds)](p);
}
