/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cap_maker.h"

#include "ddp/ddp_wire.h"
#include "mpa/crc.h"
#include "mpa/mpa_wire.h"
#include "pcap/packet.h"
#include "rdmap/rdmap_wire.h"

#include <stdlib.h>

#define ETHERNET 14
#define IPV4     20
#define TCP      20

static uint8_t *room(struct cap_maker *m, size_t len)
{
	if (m->size - m->len < len) {
		m->size = 2 * m->size + len;
		m->bytes = realloc(m->bytes, m->size);
		if (m->bytes == NULL)
			abort();
	}
	m->len += len;
	return memset(m->bytes + m->len - len, 0, len);
}

void cap_maker_init(struct cap_maker *m)
{
	uint8_t *p;

	*m = (struct cap_maker){.seq = {1000, 5000}, .crc = true};
	p = room(m, 24);
	store_le32(p, 0xa1b23c4d);
	store_le32(p + 4, 2 | 4 << 16);
	store_le32(p + 16, 262144);
	store_le32(p + 20, 1);
}

void cap_maker_free(struct cap_maker *m)
{
	free(m->bytes);
	m->bytes = NULL;
}

/* By its definition in RFC 9293 section 3.1, a word at a time. */
static uint16_t tcp_sum(const uint8_t *ip, const uint8_t *tcp, size_t len)
{
	uint32_t sum = 6 + (uint32_t)len;

	for (unsigned i = 12; i < 20; i += 2)
		sum += load_be16(ip + i);
	for (size_t i = 0; i < len; i++)
		sum += (uint32_t)tcp[i] << (i % 2 == 0 ? 8 : 0);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

void cap_maker_packet(struct cap_maker *m, unsigned side, uint32_t seq, uint32_t ack, uint8_t flags,
	const void *text, size_t len)
{
	static const uint16_t ports[] = {40000, 7174};
	uint32_t total = (uint32_t)(ETHERNET + IPV4 + TCP + len);
	uint32_t here = m->snap != 0 && m->snap < total ? m->snap : total;
	uint8_t *p = room(m, 16 + total);

	store_le32(p, 1);
	store_le32(p + 4, (uint32_t)++m->frames * 1000);
	store_le32(p + 8, here);
	store_le32(p + 12, total);
	p += 16;
	store_be16(p + 12, 0x0800);
	p += ETHERNET;
	p[0] = 0x45;
	store_be16(p + 2, (uint16_t)(total - ETHERNET));
	p[8] = 64;
	p[9] = 6;
	store_be32(p + 12, 0x0a000001 + side);
	store_be32(p + 16, 0x0a000001 + !side);
	p += IPV4;
	store_be16(p, ports[side]);
	store_be16(p + 2, ports[!side]);
	store_be32(p + 4, seq);
	store_be32(p + 8, ack);
	p[12] = 0x50;
	p[13] = flags;
	store_be16(p + 14, 65535);
	if (len != 0)
		memcpy(p + TCP, text, len);
	if (m->sums)
		store_be16(p + 16, tcp_sum(p - IPV4, p, TCP + len));
	m->len -= total - here;
}

void cap_maker_handshake(struct cap_maker *m)
{
	cap_maker_packet(m, 0, m->seq[0]++, 0, PACKET_SYN, NULL, 0);
	cap_maker_packet(m, 1, m->seq[1]++, m->seq[0], PACKET_SYN | PACKET_ACK, NULL, 0);
	cap_maker_packet(m, 0, m->seq[0], m->seq[1], PACKET_ACK, NULL, 0);
}

void cap_maker_text(struct cap_maker *m, unsigned side, const void *text, size_t len)
{
	cap_maker_packet(m, side, m->seq[side], m->seq[!side], PACKET_ACK | PACKET_PSH, text, len);
	m->seq[side] += (uint32_t)len;
}

static void start_frame(struct cap_maker *m, unsigned side, const char *key)
{
	uint8_t p[MPA_HEADER_LEN + MPA_ENHANCED_LEN] = {0};

	memcpy(p, key, MPA_KEY_LEN);
	p[MPA_AT_FLAGS] = MPA_FLAG_ENHANCED | (m->crc ? MPA_FLAG_CRC : 0) |
			  (m->markers ? MPA_FLAG_MARKERS : 0);
	p[MPA_AT_REVISION] = 2;
	store_be16(p + MPA_AT_PD_LENGTH, MPA_ENHANCED_LEN);
	store_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_IRD, 4);
	store_be16(p + MPA_AT_PRIVATE_DATA + MPA_AT_ORD, 4);
	cap_maker_text(m, side, p, sizeof p);
}

void cap_maker_request(struct cap_maker *m)
{
	start_frame(m, 0, MPA_REQUEST_KEY);
}

void cap_maker_reply(struct cap_maker *m)
{
	start_frame(m, 1, MPA_REPLY_KEY);
}

void cap_maker_start(struct cap_maker *m)
{
	cap_maker_handshake(m);
	cap_maker_request(m);
	cap_maker_reply(m);
}

/* Octet by octet, unlike the code under test: a marker wherever 512 divides. */
size_t cap_maker_frame(
	struct cap_maker *m, unsigned side, const void *ulpdu, size_t len, uint8_t *out)
{
	size_t body = mpa_fpdu_body((uint32_t)len), n = 0;
	uint64_t header = m->at[side];

	if (m->markers && header % 512 == 0)
		header += 4;
	for (size_t i = 0; i < body; i++) {
		uint64_t at = m->at[side] + n;

		if (m->markers && at % 512 == 0) {
			store_be32(out + n, at < header ? 0 : (uint32_t)(at - header));
			n += 4;
		}
		if (i < 2)
			out[n++] = (uint8_t)(len >> (8 - 8 * i));
		else
			out[n++] = i - 2 < len ? ((const uint8_t *)ulpdu)[i - 2] : 0;
	}
	if (m->markers && (m->at[side] + n) % 512 == 0) {
		store_be32(out + n, (uint32_t)(m->at[side] + n - header));
		n += 4;
	}
	store_le32(out + n, m->crc ? mpa_crc_end(mpa_crc_add(MPA_CRC_START, out, n)) : 0);
	m->at[side] += n + 4;
	return n + 4;
}

void cap_maker_fpdu(struct cap_maker *m, unsigned side, const void *ulpdu, size_t len)
{
	uint8_t *out = malloc(2 * len + 600);
	size_t n;

	if (out == NULL)
		abort();
	n = cap_maker_frame(m, side, ulpdu, len, out);
	cap_maker_text(m, side, out, n);
	free(out);
}

void cap_maker_send(struct cap_maker *m, unsigned side, uint32_t msn, size_t len)
{
	uint8_t *p = calloc(1, DDP_UNTAGGED_LEN + len);

	if (p == NULL)
		abort();
	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_SEND), 0, RDMAP_QN_SEND, msn, 0);
	memset(p + DDP_UNTAGGED_LEN, 'a', len);
	cap_maker_fpdu(m, side, p, DDP_UNTAGGED_LEN + len);
	free(p);
}

static void tagged(
	struct cap_maker *m, unsigned side, uint8_t opcode, uint32_t stag, uint64_t to, size_t len)
{
	uint8_t *p = calloc(1, DDP_TAGGED_LEN + len);

	if (p == NULL)
		abort();
	ddp_put_tagged(p, true, RDMAP_CONTROL(opcode), stag, to);
	memset(p + DDP_TAGGED_LEN, 'w', len);
	cap_maker_fpdu(m, side, p, DDP_TAGGED_LEN + len);
	free(p);
}

void cap_maker_write(struct cap_maker *m, unsigned side, size_t len)
{
	tagged(m, side, RDMAP_OP_WRITE, 0x33, 0x200, len);
}

void cap_maker_read_response(struct cap_maker *m, unsigned side, uint64_t to, size_t len)
{
	tagged(m, side, RDMAP_OP_READ_RESPONSE, 0x11, to, len);
}

void cap_maker_read_request(struct cap_maker *m, unsigned side, uint32_t msn, uint32_t size)
{
	uint8_t p[DDP_UNTAGGED_LEN + RDMAP_READ_HEADER_LEN] = {0}, *h = p + DDP_UNTAGGED_LEN;

	ddp_put_untagged(p, true, RDMAP_CONTROL(RDMAP_OP_READ_REQUEST), 0, RDMAP_QN_READ, msn, 0);
	store_be32(h + RDMAP_AT_SINK_STAG, 0x11);
	store_be64(h + RDMAP_AT_SINK_TO, 0x100);
	store_be32(h + RDMAP_AT_SIZE, size);
	store_be32(h + RDMAP_AT_SOURCE_STAG, 0x22);
	cap_maker_fpdu(m, side, p, sizeof p);
}

void cap_maker_fin(struct cap_maker *m, unsigned side)
{
	cap_maker_packet(m, side, m->seq[side]++, m->seq[!side], PACKET_FIN | PACKET_ACK, NULL, 0);
	cap_maker_packet(m, !side, m->seq[!side], m->seq[side], PACKET_ACK, NULL, 0);
}
