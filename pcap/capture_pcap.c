/* SPDX-License-Identifier: BSD-2-Clause */
/* The pcap format: draft-ietf-opsawg-pcap. */
#include "pcap/capture_priv.h"

#define AT_SNAP 16
#define AT_LINK 20

#define AT_SECONDS  0
#define AT_FRACTION 4
#define AT_CAPTURED 8
#define AT_LEN      12

#define MAGIC_US 0xa1b2c3d4
#define MAGIC_NS 0xa1b23c4d

/* The upper bits of the link type field tell of a frame check sequence. */
#define LINK_MASK 0xffff

static enum cap_result cap_pcap_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e)
{
	const uint8_t *p = c->bytes + c->at;
	size_t left = c->len - c->at;
	uint32_t captured;

	if (left == 0)
		return CAP_END;
	if (left < CAP_PCAP_RECORD)
		return cap_bad(e, "cut off after frame %llu", (unsigned long long)c->number);
	captured = cap_load32(c, p + AT_CAPTURED);
	if (captured > CAP_FRAME_MAX)
		return cap_bad(e, "damaged: frame %llu would have %u bytes",
			(unsigned long long)c->number + 1, captured);
	if (left - CAP_PCAP_RECORD < captured)
		return cap_bad(e, "cut off in frame %llu", (unsigned long long)c->number + 1);
	*f = (struct cap_frame){
		.number = ++c->number,
		.time = (uint64_t)cap_load32(c, p + AT_SECONDS) * 1000000000u +
			cap_load32(c, p + AT_FRACTION) * cap_unit(&c->one),
		.unit = cap_unit(&c->one),
		.link = c->one.link,
		.len = cap_load32(c, p + AT_LEN),
		.captured = captured,
		.bytes = p + CAP_PCAP_RECORD,
	};
	if (f->len < captured)
		f->len = captured;
	c->at += CAP_PCAP_RECORD + captured;
	return CAP_FRAME;
}

int cap_pcap_start(struct cap_file *c, struct cap_error *e)
{
	uint32_t magic;

	if (c->len < 4)
		return 0;
	magic = load_le32(c->bytes);
	c->swapped = magic == __builtin_bswap32(MAGIC_US) || magic == __builtin_bswap32(MAGIC_NS);
	magic = cap_load32(c, c->bytes);
	if (magic != MAGIC_US && magic != MAGIC_NS)
		return 0;
	if (c->len < CAP_PCAP_HEADER) {
		cap_bad(e, "cut off in the file's header");
		return -1;
	}
	c->one.units = magic == MAGIC_NS ? 1000000000u : 1000000u;
	c->one.link = cap_load32(c, c->bytes + AT_LINK) & LINK_MASK;
	c->at = CAP_PCAP_HEADER;
	c->next = cap_pcap_next;
	return 1;
}

void cap_pcap_file_header(uint8_t header[CAP_PCAP_HEADER], uint32_t snap, uint32_t link)
{
	memset(header, 0, CAP_PCAP_HEADER);
	store_le32(header, MAGIC_NS);
	store_le32(header + 4, 2 | 4 << 16); /* version 2.4 */
	store_le32(header + AT_SNAP, snap);
	store_le32(header + AT_LINK, link);
}

void cap_pcap_record(uint8_t record[CAP_PCAP_RECORD], const struct cap_frame *f)
{
	store_le32(record + AT_SECONDS, (uint32_t)(f->time / 1000000000u));
	store_le32(record + AT_FRACTION, (uint32_t)(f->time % 1000000000u));
	store_le32(record + AT_CAPTURED, f->captured);
	store_le32(record + AT_LEN, f->len);
}
