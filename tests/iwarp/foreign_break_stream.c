/* SPDX-License-Identifier: BSD-2-Clause */
/* FPDUs that are wrong, and ends of the stream where none may be. */
#include "foreign_break.h"

bool foreign_break_fpdu(struct foreign_rnic *p)
{
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_WRITE);
	enum foreign_flaw flaw = FOREIGN_CRC_FLAW;

	if (world_chance(p->world, 0.7) && foreign_has_marker(&p->tx, 14 + s.len)) {
		flaw = FOREIGN_MARKER_FLAW;
		foreign_break_expect(p, "a wrong marker", MPA_MARKER, 0, 0);
	} else if (p->tx.crc) {
		foreign_break_expect(p, "a wrong CRC", MPA_CRC, 0, 0);
	} else {
		return false;
	}
	p->world->broken = true;
	foreign_rnic_segment(p, &s, flaw);
	foreign_rnic_flush(p);
	return true;
}

bool foreign_break_short(struct foreign_rnic *p)
{
	static uint8_t fpdu[64];
	size_t n = world_below(p->world, 14);

	if (world_chance(p->world, 0.3)) /* tagged would do, untagged not */
		n = 14 + world_below(p->world, 4);
	foreign_break_expect(p, "a segment shorter than its header", RDMA_OTHER, 0, 0);
	p->world->broken = p->has_sent = true;
	foreign_rnic_put(p, fpdu,
		foreign_put_fpdu(
			&p->tx, fpdu, (const uint8_t[18]){1, 0x43}, n, FOREIGN_NO_FLAW, 0));
	foreign_rnic_flush(p);
	return true;
}

static void close_badly(struct foreign_rnic *p)
{
	foreign_rnic_flush(p);
	p->world->broken = p->has_sent = true;
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

bool foreign_break_fin(struct foreign_rnic *p)
{
	static uint8_t fpdu[FOREIGN_FPDU_MAX];
	struct foreign_segment s = foreign_break_tagged(p, FOREIGN_WRITE);
	uint8_t ulpdu[300];
	size_t n;

	if (world_chance(p->world, 0.4)) {
		n = foreign_put_fpdu(
			&p->tx, fpdu, ulpdu, foreign_put_segment(ulpdu, &s), FOREIGN_NO_FLAW, 0);
		foreign_rnic_put(p, fpdu, 1 + world_below(p->world, n - 1));
		foreign_break_expect(p, "the end of the stream in an FPDU", MPA_CLOSED, 0, 0);
	} else if (p->write.open || p->send.open || p->response.open) {
		foreign_break_expect(p, "the end of the stream in a message", MPA_CLOSED, 0, 0);
	} else if (p->inbounds && p->inbound[0].request) {
		foreign_break_expect(p, "the end of the stream before an answer", MPA_CLOSED, 0, 0);
	} else {
		return false;
	}
	close_badly(p);
	return true;
}

bool foreign_break_fin_in_write(struct foreign_rnic *p)
{
	if (!p->write.open || p->send.open)
		return false;
	foreign_rnic_answer_all(p);
	foreign_break_expect(p, "the end of the stream in a Write", MPA_CLOSED, 0, 0);
	close_badly(p);
	return true;
}
