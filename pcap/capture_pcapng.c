/* SPDX-License-Identifier: BSD-2-Clause */
/* The pcapng format: draft-ietf-opsawg-pcapng. */
#include "pcap/capture_priv.h"

#include <stdlib.h>

#define BLOCK_SECTION   0x0a0d0d0a
#define BLOCK_INTERFACE 1
#define BLOCK_PACKET    2 /* obsolete */
#define BLOCK_SIMPLE    3
#define BLOCK_ENHANCED  6

#define BYTE_ORDER_MAGIC 0x1a2b3c4d

/* Type and length before the body, the length again behind it. */
#define BLOCK_HEAD 8
#define BLOCK_TAIL 4

/* The smallest bodies. */
#define SECTION_LEN   16
#define INTERFACE_LEN 8
#define SIMPLE_LEN    4
#define PACKET_LEN    20 /* both packet blocks */

#define OPTION_TSRESOL  9
#define OPTION_TSOFFSET 14

struct block {
	uint32_t type;
	const uint8_t *body;
	size_t len;
};

/* Byte order is told by the section header, before its own length can be read. */
static bool cap_pcapng_read_order(struct cap_file *c, const uint8_t *p)
{
	uint32_t magic = load_le32(p + BLOCK_HEAD);

	c->swapped = magic == __builtin_bswap32(BYTE_ORDER_MAGIC);
	return c->swapped || magic == BYTE_ORDER_MAGIC;
}

static enum cap_result cap_pcapng_next_block(
	struct cap_file *c, struct block *b, struct cap_error *e)
{
	const uint8_t *p = c->bytes + c->at;
	size_t left = c->len - c->at;
	unsigned long long n = (unsigned long long)c->number;
	uint32_t total;

	if (left == 0)
		return CAP_END;
	if (left < BLOCK_HEAD + 4)
		return cap_bad(e, "cut off after frame %llu", n);
	b->type = cap_load32(c, p);
	/* This type reads the same in both orders. */
	if (b->type == BLOCK_SECTION && !cap_pcapng_read_order(c, p))
		return cap_bad(e, "damaged: a section of no byte order after frame %llu", n);
	total = cap_load32(c, p + 4);
	if (total < BLOCK_HEAD + BLOCK_TAIL || total % 4 != 0)
		return cap_bad(e, "damaged: a block of %u bytes after frame %llu", total, n);
	if (total > left)
		return cap_bad(e, "cut off after frame %llu", n);
	b->body = p + BLOCK_HEAD;
	b->len = total - BLOCK_HEAD - BLOCK_TAIL;
	c->at += total;
	return CAP_FRAME;
}

static void cap_pcapng_read_option(
	struct cap_file *c, struct cap_interface *i, uint16_t code, const uint8_t *p, size_t len)
{
	if (code == OPTION_TSRESOL && len >= 1) {
		unsigned n = p[0] & 0x7f;

		if (p[0] & 0x80) {
			i->units = n < 63 ? UINT64_C(1) << n : 1000000u;
			return;
		}
		for (i->units = 1; n != 0 && i->units < UINT64_C(1000000000000000000); n--)
			i->units *= 10;
	} else if (code == OPTION_TSOFFSET && len >= 8) {
		uint64_t v = load_be64(p);

		i->offset = (int64_t)(c->swapped ? v : __builtin_bswap64(v));
	}
}

static enum cap_result cap_pcapng_read_interface(
	struct cap_file *c, const struct block *b, struct cap_error *e)
{
	struct cap_interface *i;
	size_t at = INTERFACE_LEN;

	if (b->len < INTERFACE_LEN)
		return cap_bad(e, "damaged: an interface block of %zu bytes", b->len);
	if (c->num_interfaces == CAP_INTERFACES_MAX)
		return cap_bad(e, "more than %d interfaces", CAP_INTERFACES_MAX);
	if ((c->num_interfaces & (c->num_interfaces - 1)) == 0) {
		unsigned n = c->num_interfaces == 0 ? 1 : 2 * c->num_interfaces;

		i = realloc(c->interfaces, n * sizeof *i);
		if (!i)
			return cap_bad(e, "out of memory");
		c->interfaces = i;
	}
	i = &c->interfaces[c->num_interfaces++];
	*i = (struct cap_interface){
		.link = cap_load16(c, b->body),
		.snap = cap_load32(c, b->body + 4),
		.units = 1000000u,
	};
	while (b->len - at >= 4) {
		uint16_t code = cap_load16(c, b->body + at);
		size_t len = cap_load16(c, b->body + at + 2);

		at += 4;
		if (code == 0 || b->len - at < len)
			break;
		cap_pcapng_read_option(c, i, code, b->body + at, len);
		len = (len + 3) & ~(size_t)3;
		if (b->len - at < len)
			break;
		at += len;
	}
	return CAP_FRAME;
}

static enum cap_result cap_pcapng_read_packet(
	struct cap_file *c, const struct block *b, struct cap_frame *f, struct cap_error *e)
{
	unsigned long long n = (unsigned long long)c->number + 1;
	uint32_t id, captured;
	const struct cap_interface *i;

	if (b->len < PACKET_LEN)
		return cap_bad(e, "damaged: the block of frame %llu has %zu bytes", n, b->len);
	id = b->type == BLOCK_PACKET ? cap_load16(c, b->body) : cap_load32(c, b->body);
	captured = cap_load32(c, b->body + 12);
	if (id >= c->num_interfaces)
		return cap_bad(e, "damaged: frame %llu is of interface %u, not told of", n, id);
	if (captured > b->len - PACKET_LEN || captured > CAP_FRAME_MAX)
		return cap_bad(e, "damaged: frame %llu would have %u bytes", n, captured);
	i = &c->interfaces[id];
	*f = (struct cap_frame){
		.number = ++c->number,
		.link = i->link,
		.len = cap_load32(c, b->body + 16),
		.captured = captured,
		.bytes = b->body + PACKET_LEN,
	};
	cap_take_time(
		f, i, (uint64_t)cap_load32(c, b->body + 4) << 32 | cap_load32(c, b->body + 8));
	if (f->len < captured)
		f->len = captured;
	return CAP_FRAME;
}

static enum cap_result cap_pcapng_read_simple(
	struct cap_file *c, const struct block *b, struct cap_frame *f, struct cap_error *e)
{
	uint32_t len, captured;

	if (b->len < SIMPLE_LEN || c->num_interfaces == 0)
		return cap_bad(e, "damaged: the block of frame %llu has no interface",
			(unsigned long long)c->number + 1);
	len = captured = cap_load32(c, b->body);
	if (c->interfaces[0].snap != 0 && captured > c->interfaces[0].snap)
		captured = c->interfaces[0].snap;
	if (captured > b->len - SIMPLE_LEN)
		captured = (uint32_t)(b->len - SIMPLE_LEN);
	*f = (struct cap_frame){
		.number = ++c->number,
		.link = c->interfaces[0].link,
		.len = len,
		.captured = captured,
		.bytes = b->body + SIMPLE_LEN,
	};
	return CAP_FRAME;
}

static enum cap_result cap_pcapng_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e)
{
	enum cap_result r;
	struct block b = {0};

	while ((r = cap_pcapng_next_block(c, &b, e)) == CAP_FRAME) {
		switch (b.type) {
		case BLOCK_SECTION:
			if (b.len < SECTION_LEN)
				return cap_bad(e, "damaged: a section header of %zu bytes", b.len);
			c->num_interfaces = 0;
			break;
		case BLOCK_INTERFACE:
			if (cap_pcapng_read_interface(c, &b, e) == CAP_BAD)
				return CAP_BAD;
			break;
		case BLOCK_ENHANCED:
		case BLOCK_PACKET:
			return cap_pcapng_read_packet(c, &b, f, e);
		case BLOCK_SIMPLE:
			return cap_pcapng_read_simple(c, &b, f, e);
		default: /* statistics, names, comments, secrets */
			break;
		}
	}
	return r;
}

int cap_pcapng_start(struct cap_file *c, struct cap_error *e)
{
	if (c->len < 4 || load_le32(c->bytes) != BLOCK_SECTION)
		return 0;
	if (c->len < BLOCK_HEAD + BLOCK_TAIL || !cap_pcapng_read_order(c, c->bytes)) {
		cap_bad(e, "pcapng without a byte order, or cut off in its header");
		return -1;
	}
	c->next = cap_pcapng_next;
	return 1;
}
