/* SPDX-License-Identifier: BSD-2-Clause */
#include "foreign_message.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX (4u << 20)

void foreign_rnic_start(struct foreign_rnic *p, struct foreign_world *w)
{
	*p = (struct foreign_rnic){.world = w, .terminate = -1, .out = malloc(OUT_MAX)};
	assert(p->out);
	p->initiator = world_chance(w, 0.5);
	p->markers = world_chance(w, 0.4);
	p->crc = world_chance(w, 0.6);
	p->revision = world_chance(w, 0.75) ? 2 : 1;
	p->enhanced = p->revision == 2;
	p->p2p = world_chance(w, 0.5);
	p->rtr = (uint8_t)(1 + world_below(w, 7));
	p->ird = (uint16_t)world_below(w, 9);
	p->ord = (uint16_t)world_below(w, 9);
	p->ulpdu_max = 128 + world_below(w, world_chance(w, 0.8) ? 1400 : 9000);
	p->cuts = world_chance(w, 0.35) ? 0.5 : 0;
	p->reserved = world_chance(w, 0.1);
	for (unsigned i = 0; i < FOREIGN_CODES; i++)
		p->expects[i] = -2;
	for (unsigned i = 0; i < 4; i++)
		p->tx_msn[i] = p->rx_msn[i] = 1;
}

void foreign_rnic_end(struct foreign_rnic *p)
{
	llp_mem_peer_done(&p->tcp);
	free(p->out);
}

/* ---- to TCP -----------------------------------------------------------------------------------
 */

/** In one segment, or in several. */
void foreign_rnic_flush(struct foreign_rnic *p)
{
	size_t at = 0, n;

	for (; p->tcp.llp && at < p->out_len; at += n) {
		n = p->out_len - at;
		if (world_chance(p->world, p->cuts))
			n = 1 + world_below(p->world, n);
		llp_mem_send_raw(p->tcp.llp, p->out + at, n);
	}
	p->out_len = 0;
}

void foreign_rnic_put(struct foreign_rnic *p, const void *octets, size_t len)
{
	assert(len <= OUT_MAX - p->out_len);
	if (!p->fin)
		memcpy(p->out + p->out_len, octets, len);
	p->out_len += p->fin ? 0 : len;
	if (!world_chance(p->world, p->cuts))
		foreign_rnic_flush(p);
}

static void show(const struct foreign_rnic *p, const char *way, const struct foreign_segment *s)
{
	if (!p->world->trace)
		return;
	if (s->tagged)
		printf("%s op %x%s stag %08x to %llx len %u\n", way, s->opcode, s->last ? " L" : "",
			s->stag, (unsigned long long)s->to, s->len);
	else
		printf("%s op %x%s qn %u msn %u mo %u ulp32 %08x len %u\n", way, s->opcode,
			s->last ? " L" : "", s->qn, s->msn, s->mo, s->ulp32, s->len);
}

void foreign_rnic_segment(
	struct foreign_rnic *p, const struct foreign_segment *s, enum foreign_flaw flaw)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX], fpdu[FOREIGN_FPDU_MAX];
	struct foreign_segment sent = *s;
	size_t len;

	if (p->reserved) {
		sent.reserved = (uint8_t)world_below(p->world, 16);
		sent.rdmap_reserved = (uint8_t)world_below(p->world, 4);
	}
	show(p, "<", &sent);
	len = foreign_put_segment(ulpdu, &sent);
	len = foreign_put_fpdu(
		&p->tx, fpdu, ulpdu, len, flaw, (uint32_t)prng_u64(&p->world->random));
	foreign_rnic_put(p, fpdu, len);
	p->has_sent = true;
}

struct foreign_segment foreign_rnic_message(const struct foreign_rnic *p, uint8_t opcode,
	uint32_t qn, const void *payload, uint32_t len)
{
	return (struct foreign_segment){.last = true,
		.ddp_version = 1,
		.rdmap_version = 1,
		.opcode = opcode,
		.qn = qn,
		.msn = qn < 4 ? p->tx_msn[qn] : 1,
		.payload = payload,
		.len = len};
}

void foreign_rnic_untagged(
	struct foreign_rnic *p, uint8_t opcode, uint32_t qn, const void *header, uint32_t len)
{
	struct foreign_segment s = foreign_rnic_message(p, opcode, qn, header, len);

	foreign_rnic_segment(p, &s, FOREIGN_NO_FLAW);
	p->tx_msn[qn]++;
}

/* ---- RTR --------------------------------------------------------------------------------------
 */

/** RFC 6581 section 9.2: an empty message that its program knows nothing of. */
static void send_rtr(struct foreign_rnic *p)
{
	struct foreign_segment write = {
		.tagged = true, .last = true, .ddp_version = 1, .rdmap_version = 1};
	struct foreign_outbound o = {0};
	uint8_t header[FOREIGN_READ_LEN];
	uint8_t type = p->rtr_due;

	p->rtr_due = 0;
	o.stag = write.stag = (uint32_t)prng_u64(&p->world->random);
	o.to = write.to = prng_u64(&p->world->random);
	foreign_read_put(header, &o, o.stag, o.to);
	if (type == FOREIGN_RTR_WRITE)
		foreign_rnic_segment(p, &write, FOREIGN_NO_FLAW);
	else if (type == FOREIGN_RTR_SEND)
		foreign_rnic_untagged(p, FOREIGN_SEND, 0, NULL, 0);
	else
		foreign_rnic_untagged(p, FOREIGN_READ_REQUEST, 1, header, sizeof header);
	if (type == FOREIGN_RTR_READ) {
		p->rtr_read = true;
		*foreign_outbound_add(p) = o;
	}
}

/* ---- what it does -----------------------------------------------------------------------------
 */

/** Something to open the host's direction by (RFC 5044 section 7.1.2 rule 4). */
static void send_first(struct foreign_rnic *p)
{
	const struct foreign_segment empty = {
		.tagged = true, .last = true, .ddp_version = 1, .rdmap_version = 1};

	foreign_rnic_segment(p, &empty, FOREIGN_NO_FLAW);
}

static void finish(struct foreign_rnic *p)
{
	if (p->write.open)
		foreign_write_part(p);
	if (p->send.open)
		foreign_send_part(p);
	if (p->response.open)
		foreign_response_part(p);
	else if (p->inbounds)
		foreign_response_begin(p);
	if (!p->has_sent)
		send_first(p);
	foreign_rnic_flush(p);
}

unsigned foreign_rnic_round_up(unsigned n)
{
	while (n & (n - 1))
		n++;
	return n;
}

/**
 * RFC 5040 section 6.1; an RTR Read does not count. Linux's siw, which knows neither markers nor
 * revision 1, has as many under way as the next power of two.
 */
static bool may_ask(const struct foreign_rnic *p)
{
	bool siw = p->enhanced && !p->markers && p->ird & 1;
	unsigned most = siw ? foreign_rnic_round_up(p->ord) : p->ord;

	/* Behind a request that was illegal the numbers of others would be, too. */
	return !p->world->broken && p->outbounds < most + p->rtr_read;
}

static void begin_something(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;
	uint32_t room;

	switch (world_below(w, 7)) {
	case 0:
	case 1:
		if (!p->write.open)
			foreign_write_begin(p);
		break;
	case 2:
	case 3:
		if (foreign_send_has_room(p, &room))
			foreign_send_begin(p, room);
		break;
	case 4:
		if (foreign_send_has_room(p, &room))
			foreign_immediate_send(p);
		break;
	case 5:
		if (may_ask(p))
			foreign_read_ask(p);
		break;
	default:
		if (may_ask(p))
			foreign_atomic_ask(p);
		break;
	}
}

static void go_on(struct foreign_rnic *p)
{
	struct foreign_world *w = p->world;

	if (p->write.open && world_chance(w, 0.4))
		foreign_write_part(p);
	else if (p->send.open && world_chance(w, 0.5))
		foreign_send_part(p);
	else if (p->response.open && world_chance(w, 0.7))
		foreign_response_part(p);
	else if (p->inbounds && !p->response.open && world_chance(w, 0.3))
		foreign_response_begin(p);
	else if (!p->host_fin)
		begin_something(p);
	if (world_chance(w, 0.2))
		foreign_rnic_flush(p);
}

void foreign_rnic_act(struct foreign_rnic *p)
{
	foreign_startup_act(p);
	if (!p->may_send || p->fin || p->gone || p->startup_flaw)
		return;
	if (p->rtr_due && (p->calm || world_chance(p->world, 0.3)))
		send_rtr(p);
	else if (p->rtr_due)
		return;
	if (p->calm)
		finish(p);
	else
		go_on(p);
}

bool foreign_rnic_is_idle(const struct foreign_rnic *p)
{
	return !p->write.open && !p->send.open && !p->response.open && !p->inbounds &&
	       (!p->outbounds || p->host_fin) && !p->rtr_due && !p->out_len;
}

void foreign_rnic_close(struct foreign_rnic *p)
{
	if (!p->answered || p->fin || p->gone || p->write.open || p->send.open ||
		p->response.open || p->rtr_due || (!p->has_sent && !p->host_fin))
		return;
	foreign_rnic_flush(p);
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

void foreign_rnic_abort(struct foreign_rnic *p)
{
	p->gone = true;
	if (p->tcp.llp)
		llp_abort(p->tcp.llp);
	p->tcp.llp = NULL;
	p->out_len = 0;
}

void foreign_rnic_terminate(struct foreign_rnic *p)
{
	/* Local catastrophic, with nothing quoted. */
	static const uint8_t header[4] = {0};

	foreign_rnic_untagged(p, FOREIGN_TERMINATE, 2, header, sizeof header);
	foreign_rnic_flush(p);
	p->fin = true;
	if (p->tcp.llp)
		llp_shutdown(p->tcp.llp);
}

/* ---- what comes -------------------------------------------------------------------------------
 */

void foreign_rnic_input(struct foreign_rnic *p)
{
	static uint8_t ulpdu[FOREIGN_ULPDU_MAX];
	struct foreign_segment s;
	const char *wrong = NULL;
	size_t n, len;

	while (p->tcp.rx_len && !p->world->wrong) {
		bool full = p->answered;

		if (full)
			n = foreign_get_fpdu(&p->rx, p->tcp.rx, p->tcp.rx_len, ulpdu, &len, &wrong);
		else
			n = foreign_startup_input(p, p->tcp.rx, p->tcp.rx_len);
		if (!n)
			break;
		if (wrong)
			return world_wrong(p->world, wrong);
		llp_mem_peer_consume(&p->tcp, n);
		if (full && !foreign_get_segment(ulpdu, len, &s))
			return world_wrong(p->world, "a segment of the host is too short");
		if (full) {
			show(p, ">", &s);
			foreign_check_segment(p, &s, len);
		}
	}
	if (p->tcp.eof && !p->host_fin) {
		p->host_fin = true;
		if (p->tcp.rx_len)
			world_wrong(p->world, "the host closes in the middle of an FPDU");
	}
}
