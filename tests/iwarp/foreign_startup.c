/* SPDX-License-Identifier: BSD-2-Clause */
/* Request and reply frames: RFC 5044 section 7.1, RFC 6581 sections 6 and 9. */
#include "foreign_rnic.h"

#include <string.h>

#define REQUEST_KEY "MPA ID Req Frame"
#define REPLY_KEY   "MPA ID Rep Frame"
#define FRAME_LEN   20
#define PRIVATE_MAX 512

#define FLAG_MARKERS  0x80
#define FLAG_CRC      0x40
#define FLAG_REJECT   0x20
#define FLAG_ENHANCED 0x10

/** What a frame says. */
struct frame {
	bool crc, markers, reject, enhanced, p2p;
	uint8_t revision, rtr;
	uint16_t ird, ord;
	const uint8_t *data;
	size_t len;
};

static uint16_t least(uint16_t a, uint16_t b)
{
	return a < b ? a : b;
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static size_t put_frame(uint8_t *out, const char *key, const struct frame *f)
{
	size_t words = f->enhanced ? 4 : 0;

	memcpy(out, key, 16);
	out[16] = (uint8_t)((f->markers ? FLAG_MARKERS : 0) | (f->crc ? FLAG_CRC : 0) |
			    (f->reject ? FLAG_REJECT : 0) | (f->enhanced ? FLAG_ENHANCED : 0));
	out[17] = f->revision;
	put16(out + 18, (uint32_t)(words + f->len));
	if (f->enhanced) {
		put16(out + 20, f->ird | (f->p2p ? 0x8000u : 0) |
					(f->rtr & FOREIGN_RTR_SEND ? 0x4000u : 0));
		put16(out + 22, f->ord | (f->rtr & FOREIGN_RTR_WRITE ? 0x8000u : 0) |
					(f->rtr & FOREIGN_RTR_READ ? 0x4000u : 0));
	}
	memcpy(out + FRAME_LEN + words, f->data, f->len);
	return FRAME_LEN + words + f->len;
}

static size_t get_frame(const uint8_t *text, size_t len, struct frame *f)
{
	size_t whole;

	if (len < FRAME_LEN || len < FRAME_LEN + (size_t)get16(text + 18))
		return 0;
	whole = FRAME_LEN + get16(text + 18);
	*f = (struct frame){.crc = text[16] & FLAG_CRC,
		.markers = text[16] & FLAG_MARKERS,
		.reject = text[16] & FLAG_REJECT,
		.enhanced = text[16] & FLAG_ENHANCED,
		.revision = text[17],
		.data = text + FRAME_LEN,
		.len = whole - FRAME_LEN};
	if (!f->enhanced)
		return whole;
	if (f->len < 4)
		return 0;
	f->ird = get16(f->data) & 0x3fff;
	f->ord = get16(f->data + 2) & 0x3fff;
	f->p2p = f->data[0] & 0x80;
	f->rtr = (uint8_t)((f->data[0] & 0x40 ? FOREIGN_RTR_SEND : 0) |
			   (f->data[2] & 0x80 ? FOREIGN_RTR_WRITE : 0) |
			   (f->data[2] & 0x40 ? FOREIGN_RTR_READ : 0));
	f->data += 4;
	f->len -= 4;
	return whole;
}

/* ---- what it sends ----------------------------------------------------------------------------
 */

/** @return octets of a frame that nobody may take. */
static size_t spoil(struct foreign_rnic *p, uint8_t *frame, size_t len)
{
	switch (p->startup_flaw) {
	case FOREIGN_FLAW_KEY:
		frame[world_below(p->world, 16)] ^= 0x20;
		break;
	case FOREIGN_FLAW_ROLE:
		memcpy(frame, p->initiator ? REPLY_KEY : REQUEST_KEY, 16);
		break;
	case FOREIGN_FLAW_REVISION:
		frame[17] = (uint8_t)(3 + world_below(p->world, 253));
		break;
	case FOREIGN_FLAW_LENGTH:
		put16(frame + 18, 513 + world_below(p->world, 60000));
		break;
	case FOREIGN_FLAW_WORDS:
		frame[16] |= FLAG_ENHANCED;
		frame[17] = 2;
		put16(frame + 18, world_below(p->world, 4));
		return FRAME_LEN + 4;
	default:
		break;
	}
	return len;
}

static void send_frame(struct foreign_rnic *p, const char *key, struct frame *f)
{
	uint8_t out[FRAME_LEN + PRIVATE_MAX + 4];
	size_t len;

	f->data = p->world->noise;
	if (world_chance(p->world, 0.6))
		f->len = world_below(p->world,
			world_chance(p->world, 0.3) ? PRIVATE_MAX + 1 - (f->enhanced ? 4 : 0) : 40);
	len = put_frame(out, key, f);
	if (p->startup_flaw)
		len = spoil(p, out, len);
	foreign_rnic_put(p, out, len);
	if (p->startup_flaw == FOREIGN_FLAW_EARLY)
		foreign_rnic_put(p, p->world->noise, 1 + world_below(p->world, 40));
	foreign_rnic_flush(p);
	p->asked = true;
}

static void begin(struct foreign_rnic *p, bool crc)
{
	p->tx = (struct foreign_fpdus){.crc = crc, .markers = p->host_markers};
	p->rx = (struct foreign_fpdus){.crc = crc, .markers = p->markers};
	p->answered = true;
	p->may_send = p->initiator;
}

static void send_request(struct foreign_rnic *p)
{
	struct frame f = {.crc = p->crc,
		.markers = p->markers,
		.enhanced = p->enhanced,
		.revision = p->revision,
		.ird = p->ird,
		.ord = p->ord,
		.p2p = p->enhanced && p->p2p,
		.rtr = p->enhanced && p->p2p ? p->rtr : 0};

	send_frame(p, REQUEST_KEY, &f);
}

static void send_reply(struct foreign_rnic *p)
{
	bool enhanced = p->enhanced && p->host_revision == 2;
	struct frame f = {.crc = p->crc,
		.markers = p->markers,
		.reject = p->rejects,
		.enhanced = enhanced,
		.revision = enhanced ? 2 : 1,
		.ird = p->ird,
		.ord = p->ord,
		.p2p = enhanced && p->host_p2p};

	if (f.p2p)
		f.rtr = p->rtr_expected = p->rtr & p->host_rtr;
	send_frame(p, REPLY_KEY, &f);
	if (!p->rejects && !p->startup_flaw)
		begin(p, p->crc || p->host_crc);
	if (enhanced)
		p->host_ord = least(p->host_ord, p->ird);
}

void foreign_startup_act(struct foreign_rnic *p)
{
	if (!p->tcp.connected || p->asked)
		return;
	if (p->initiator)
		send_request(p);
	else if (p->requested)
		send_reply(p);
}

/* ---- what it gets -----------------------------------------------------------------------------
 */

static void check_private(struct foreign_rnic *p, const struct frame *f)
{
	if (memcmp(f->data, p->world->noise, f->len))
		world_wrong(p->world, "the private data are not the host's");
}

static void take_request(struct foreign_rnic *p, const struct frame *f)
{
	if (f->revision != p->host_revision || f->enhanced != (f->revision == 2))
		world_wrong(p->world, "the host's request is of another revision");
	else if (f->crc != p->host_crc || f->markers != p->host_markers || f->reject)
		world_wrong(p->world, "the flags of the host's request are wrong");
	else if (f->enhanced && (f->ird != p->host_ird || f->ord != p->host_ord))
		world_wrong(p->world, "IRD or ORD of the host's request is wrong");
	else if (f->enhanced &&
		 (f->p2p != p->host_p2p || (f->p2p ? f->rtr != p->host_rtr : f->rtr)))
		world_wrong(p->world, "the RTR types of the host's request are wrong");
	check_private(p, f);
	p->requested = true;
	p->ord = least(p->ord, p->host_ird);
	if (!f->p2p)
		return;
	/* One that both can do. */
	if (!(p->rtr & p->host_rtr))
		p->rtr = p->host_rtr;
}

static uint8_t choose_rtr(struct foreign_rnic *p, uint8_t types)
{
	static const uint8_t each[] = {FOREIGN_RTR_SEND, FOREIGN_RTR_WRITE, FOREIGN_RTR_READ};
	uint8_t type;

	do
		type = each[world_below(p->world, 3)];
	while (!(type & types));
	return type;
}

static void take_reply(struct foreign_rnic *p, const struct frame *f)
{
	bool p2p = p->enhanced && p->p2p;

	if (f->reject)
		return world_wrong(p->world, "the host rejects a good request");
	if (f->revision != p->revision || f->enhanced != p->enhanced || f->p2p != p2p)
		return world_wrong(p->world, "the host's reply does not fit the request");
	if (f->markers != p->host_markers || f->crc != (p->host_crc || p->crc))
		return world_wrong(p->world, "the flags of the host's reply are wrong");
	check_private(p, f);
	begin(p, f->crc);
	if (f->enhanced && f->ord > p->ird)
		return world_wrong(p->world, "the host's ORD is above our IRD");
	p->ord = least(p->ord, f->enhanced ? f->ird : p->host_ird);
	if (f->enhanced) {
		p->host_ird = f->ird;
		p->host_ord = f->ord;
	}
	if (!p2p)
		return;
	if (!f->rtr || f->rtr & ~p->rtr)
		return world_wrong(p->world, "the RTR types of the host's reply are wrong");
	p->rtr_due = choose_rtr(p, f->rtr);
}

size_t foreign_startup_input(struct foreign_rnic *p, const uint8_t *text, size_t len)
{
	const char *key = p->initiator ? REPLY_KEY : REQUEST_KEY;
	struct frame f;
	size_t n = get_frame(text, len, &f);

	if (!n)
		return 0;
	if (memcmp(text, key, 16) || (p->initiator ? p->answered : p->requested))
		world_wrong(p->world, "the host's frame is not the one that is due");
	else if (p->initiator)
		take_reply(p, &f);
	else
		take_request(p, &f);
	return n;
}
