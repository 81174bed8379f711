/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/packet.h"

#include "ip/cksum.h"
#include "ip/ipv4_wire.h"
#include "ip/ipv6_wire.h"
#include "ip/udp_wire.h"

#define TTL 64

/** Where ESP is not known to be yet: as RFC 4303 section 3.1.1 wants it. */
#define ESP_AT_ANY SIZE_MAX

/** The headers of a packet that are before ESP, or before the UDP header that is before it. */
struct esp_headers {
	size_t len;
	size_t next_field; /**< where the protocol behind them is named */
};

static bool esp_is_v4(const struct esp_buffer *b)
{
	return b->data[0] >> 4 == 4;
}

/* ---- headers ------------------------------------------------------------------------------- */

/** @param at as of esp_headers_find(). */
static enum esp_verdict esp_headers_v4(const struct esp_buffer *b, size_t at, struct esp_headers *h)
{
	if (b->len < IPV4_LEN)
		return ESP_BAD_HEADER;
	h->len = (b->data[IPV4_VERSION_IHL] & 15) * 4U;
	h->next_field = IPV4_PROTOCOL;
	if (h->len < IPV4_LEN || h->len > b->len || (at != ESP_AT_ANY && at != h->len) ||
		load_be16(b->data + IPV4_TOTAL_LENGTH) != b->len)
		return ESP_BAD_HEADER;
	if (load_be16(b->data + IPV4_FRAGMENT) & (IPV4_MF | IPV4_OFFSET_MASK))
		return ESP_FRAGMENT;
	return ESP_OK;
}

/** RFC 6946: a translator made it for a whole packet. @p left: octets from it on. */
static bool esp_fragment_is_atomic(const uint8_t *fragment, size_t left)
{
	return left >= IPV6_FRAGMENT_LEN &&
	       !(load_be16(fragment + IPV6_FRAGMENT_OFFSET) &
		       (IPV6_FRAGMENT_OFFSET_MASK | IPV6_FRAGMENT_MORE));
}

/**
 * RFC 4303 section 3.1.1: hop-by-hop, routing and fragment headers, and the destination options
 * that the hops of a routing header read, are before ESP. Other destination options are behind it;
 * but those of a peer may be before it.
 */
static enum esp_verdict esp_headers_v6(const struct esp_buffer *b, size_t at, struct esp_headers *h)
{
	struct esp_headers all = {.len = IPV6_LEN, .next_field = IPV6_NEXT_HEADER};

	if (b->len < IPV6_LEN || load_be16(b->data + IPV6_PAYLOAD_LENGTH) != b->len - IPV6_LEN)
		return ESP_BAD_HEADER;
	*h = all;
	while (all.len != at) {
		uint8_t kind = b->data[all.next_field];
		const uint8_t *header = b->data + all.len;
		size_t left = b->len - all.len, len;

		if (kind == IPV6_NH_FRAGMENT && !esp_fragment_is_atomic(header, left))
			return ESP_FRAGMENT;
		if (kind != IPV6_NH_HOP_BY_HOP && kind != IPV6_NH_ROUTING &&
			kind != IPV6_NH_DEST_OPTIONS && kind != IPV6_NH_FRAGMENT)
			return at == ESP_AT_ANY ? ESP_OK : ESP_BAD_HEADER;
		if (left < 8)
			return ESP_BAD_HEADER;
		len = kind == IPV6_NH_FRAGMENT ? IPV6_FRAGMENT_LEN
					       : (header[IPV6_EXT_LENGTH] + 1U) * 8;
		if (left < len)
			return ESP_BAD_HEADER;
		all.next_field = all.len + IPV6_EXT_NEXT;
		all.len += len;
		if (kind != IPV6_NH_DEST_OPTIONS)
			*h = all;
	}
	*h = all;
	return ESP_OK;
}

/** @param at where they end; ESP_AT_ANY: where ESP is to be put. */
static enum esp_verdict esp_headers_find(
	const struct esp_buffer *b, size_t at, struct esp_headers *h)
{
	if (b->len == 0)
		return ESP_BAD_HEADER;
	if (esp_is_v4(b))
		return esp_headers_v4(b, at, h);
	return b->data[0] >> 4 == 6 ? esp_headers_v6(b, at, h) : ESP_BAD_HEADER;
}

static void esp_cksum_v4(uint8_t *h)
{
	cksum_store(h + IPV4_CKSUM, 0);
	cksum_store(h + IPV4_CKSUM,
		(uint16_t)~cksum_fold(cksum_bytes(h, (h[IPV4_VERSION_IHL] & 15) * 4U)));
}

/** A word of a header changes, and its checksum with it (RFC 1624). */
static void esp_headers_change(uint8_t *h, size_t at, uint16_t value)
{
	uint16_t was = load_be16(h + at), field;

	memcpy(&field, h + IPV4_CKSUM, sizeof field);
	cksum_store(h + IPV4_CKSUM,
		(uint16_t)~cksum_fold((uint64_t)(uint16_t)~field + cksum_word((uint16_t)~was) +
				      cksum_word(value)));
	store_be16(h + at, value);
}

/** The packet has a new length, and perhaps another protocol: tell its header. */
static void esp_headers_finish(struct esp_buffer *b, size_t next_field, uint8_t next)
{
	uint8_t *h = b->data;

	if (!esp_is_v4(b)) {
		h[next_field] = next;
		store_be16(h + IPV6_PAYLOAD_LENGTH, (uint16_t)(b->len - IPV6_LEN));
		return;
	}
	esp_headers_change(h, IPV4_TOTAL_LENGTH, (uint16_t)b->len);
	esp_headers_change(h, IPV4_TTL, (uint16_t)(h[IPV4_TTL] << 8 | next));
}

/**
 * To a lower place. By pieces as ipv4_store() writes them: what it wrote has not left the processor
 * yet.
 */
static void esp_headers_copy(uint8_t *to, const uint8_t *from, size_t len)
{
	if (len != IPV4_LEN) {
		memmove(to, from, len);
		return;
	}
	memmove(to, from, 16);
	memmove(to + 16, from + 16, 4);
}

static uint8_t esp_tos(const uint8_t *h)
{
	return h[0] >> 4 == 4 ? h[IPV4_TOS]
			      : (uint8_t)(load_be16(h + IPV6_VERSION_CLASS_FLOW) >> 4);
}

/** Before the ESP packet @p b: a header without options, whose length is yet to be written. */
static void esp_headers_push(
	struct esp_buffer *b, const struct ip_addr *src, const struct ip_addr *dst, uint8_t tos)
{
	bool v4 = ip_addr_is_v4(src);
	uint8_t *h;

	esp_buffer_push(b, v4 ? IPV4_LEN : IPV6_LEN);
	h = b->data;
	if (v4) {
		memset(h, 0, IPV4_LEN);
		store_be16(h + IPV4_VERSION_IHL, 0x4500 | tos);
		store_be32(h + IPV4_ID, IPV4_DF);
		h[IPV4_TTL] = TTL;
		memcpy(h + IPV4_SRC, src->b + 12, 4);
		memcpy(h + IPV4_DST, dst->b + 12, 4);
		esp_cksum_v4(h);
	} else {
		store_be32(h + IPV6_VERSION_CLASS_FLOW, UINT32_C(6) << 28 | (uint32_t)tos << 20);
		h[IPV6_HOP_LIMIT] = TTL;
		memcpy(h + IPV6_SRC, src->b, 16);
		memcpy(h + IPV6_DST, dst->b, 16);
	}
}

/* ---- UDP ----------------------------------------------------------------------------------- */

static void esp_udp_push(const struct esp_sa *sa, struct esp_buffer *b)
{
	esp_buffer_push(b, UDP_LEN);
	store_be16(b->data + UDP_SRC_PORT, sa->config.udp_src);
	store_be16(b->data + UDP_DST_PORT, sa->config.udp_dst);
	store_be16(b->data + UDP_LENGTH, (uint16_t)b->len);
	/* RFC 3948 section 2.1. */
	store_be16(b->data + UDP_CKSUM, 0);
}

/** RFC 8200 section 8.1: over IPv6 there must be a checksum. @p at is of the UDP header. */
static void esp_udp_cksum(struct esp_buffer *b, size_t at)
{
	uint8_t *h = b->data + at;
	size_t len = b->len - at;
	uint64_t sum = cksum_bytes(b->data + IPV6_SRC, 32);
	uint16_t field;

	sum = cksum_pseudo(sum, ESP_NEXT_UDP, (uint16_t)len) + cksum_bytes(h, len);
	field = (uint16_t)~cksum_fold(sum);
	cksum_store(h + UDP_CKSUM, field ? field : UINT16_MAX);
}

enum esp_udp_kind esp_udp_kind(const uint8_t *data, size_t len)
{
	if (len == 1 && data[0] == ESP_UDP_KEEPALIVE_OCTET)
		return ESP_UDP_KEEPALIVE;
	if (len < ESP_UDP_MARKER_LEN)
		return ESP_UDP_NOTHING;
	return load_be32(data) == 0 ? ESP_UDP_IKE : ESP_UDP_ESP;
}

/* ---- out ----------------------------------------------------------------------------------- */

static size_t esp_outer_len(const struct esp_sa_config *c)
{
	size_t ip = ip_addr_is_v4(&c->src) ? IPV4_LEN : IPV6_LEN;

	return (c->tunnel ? ip : 0) + (c->udp ? UDP_LEN : 0);
}

size_t esp_room(const struct esp_sa_config *c, bool v4, size_t mtu)
{
	const struct esp_shape s = esp_shape_of(c->cipher.encryption, c->cipher.integrity);
	/* Transport mode: the header is before ESP. */
	size_t clear = c->tunnel ? 0 : v4 ? IPV4_LEN : IPV6_LEN;
	size_t fixed = clear + esp_outer_len(c) + ESP_IV + s.iv_len + s.icv_len;

	if (mtu < fixed + s.align)
		return 0;
	return clear + (mtu - fixed) / s.align * s.align - ESP_TRAILER_LEN;
}

/** ESP behind the first @p clear octets, which stay as they are, and UDP before it. */
static enum esp_verdict esp_cover(
	struct esp_sa *sa, struct esp_buffer *b, size_t clear, uint8_t next)
{
	size_t front = esp_sa_front(sa) + esp_outer_len(&sa->config);
	size_t back = esp_sa_overhead(sa, b->len - clear) - esp_sa_front(sa);
	enum esp_verdict v;

	if (b->headroom < front || b->tailroom < back || b->len > UINT16_MAX - front - back)
		return ESP_NO_ROOM;
	esp_headers_copy(b->data - front, esp_buffer_from(b), clear);
	esp_buffer_pull(b, clear);
	if (b->from)
		b->from += clear;
	v = esp_sa_seal(sa, b, next);
	if (v == ESP_OK && sa->config.udp)
		esp_udp_push(sa, b);
	return v;
}

static enum esp_verdict esp_cover_transport(struct esp_sa *sa, struct esp_buffer *b, uint8_t outer)
{
	const struct esp_buffer from = {.data = esp_buffer_from(b), .len = b->len};
	struct esp_headers h;
	enum esp_verdict v = esp_headers_find(&from, ESP_AT_ANY, &h);

	if (v == ESP_OK)
		v = esp_cover(sa, b, h.len, from.data[h.next_field]);
	if (v != ESP_OK)
		return v;
	esp_buffer_push(b, h.len);
	esp_headers_finish(b, h.next_field, outer);
	if (sa->config.udp && !esp_is_v4(b))
		esp_udp_cksum(b, h.len);
	return ESP_OK;
}

static enum esp_verdict esp_cover_tunnel(struct esp_sa *sa, struct esp_buffer *b, uint8_t outer)
{
	const struct esp_sa_config *c = &sa->config;
	const struct esp_buffer from = {.data = esp_buffer_from(b), .len = b->len};
	bool v4 = ip_addr_is_v4(&c->src);
	enum esp_verdict v;
	uint8_t tos;

	if (b->len < IPV4_LEN)
		return ESP_BAD_HEADER;
	tos = esp_tos(from.data);
	v = esp_cover(sa, b, 0, esp_is_v4(&from) ? ESP_NEXT_IPV4 : ESP_NEXT_IPV6);
	if (v != ESP_OK)
		return v;
	esp_headers_push(b, &c->src, &c->dst, tos);
	esp_headers_finish(b, v4 ? IPV4_PROTOCOL : IPV6_NEXT_HEADER, outer);
	if (c->udp && !v4)
		esp_udp_cksum(b, IPV6_LEN);
	return ESP_OK;
}

enum esp_verdict esp_encapsulate(struct esp_sa *sa, struct esp_buffer *b)
{
	uint8_t outer = sa->config.udp ? ESP_NEXT_UDP : ESP_PROTO;
	enum esp_verdict v = sa->config.tunnel ? esp_cover_tunnel(sa, b, outer)
					       : esp_cover_transport(sa, b, outer);

	sa->verdict[v]++;
	return v;
}

/* ---- in ------------------------------------------------------------------------------------ */

/**
 * RFC 6040 section 4.2: the tunnel's congestion is the packet's. A checksum that was wrong before
 * the tunnel is wrong behind it.
 * @return false: drop it.
 */
static bool esp_ecn_mark(struct esp_buffer *b, uint8_t outer)
{
	uint8_t inner = esp_tos(b->data) & IP_ECN_MASK, change;

	outer &= IP_ECN_MASK;
	if (outer == IP_ECN_CE)
		change = inner ^ IP_ECN_CE;
	else if (outer == IP_ECN_ECT1 && inner == IP_ECN_ECT0)
		change = inner ^ IP_ECN_ECT1;
	else
		return true;
	if (inner == IP_ECN_NOT_ECT)
		return false;
	if (change == 0)
		return true;
	if (esp_is_v4(b))
		esp_headers_change(
			b->data, IPV4_VERSION_IHL, load_be16(b->data + IPV4_VERSION_IHL) ^ change);
	else
		b->data[1] ^= (uint8_t)(change << 4);
	return true;
}

static bool esp_inner_ok(const struct esp_buffer *b, uint8_t next)
{
	if (next == ESP_NEXT_IPV4)
		return b->len >= IPV4_LEN && esp_is_v4(b) &&
		       (b->data[IPV4_VERSION_IHL] & 15) * 4U >= IPV4_LEN &&
		       (b->data[IPV4_VERSION_IHL] & 15) * 4U <= b->len;
	return next == ESP_NEXT_IPV6 && b->len >= IPV6_LEN && b->data[0] >> 4 == 6;
}

static enum esp_verdict esp_uncover(struct esp_sa *sa, struct esp_buffer *b, size_t at)
{
	size_t udp = sa->config.udp ? UDP_LEN : 0;
	const uint8_t *headers = b->data;
	struct esp_headers h;
	enum esp_verdict v;
	uint8_t tos, next;

	if (at > b->len || at < udp)
		return ESP_BAD_HEADER;
	v = esp_headers_find(b, at - udp, &h);
	if (v != ESP_OK)
		return v;
	if (headers[h.next_field] != (udp ? ESP_NEXT_UDP : ESP_PROTO))
		return ESP_BAD_HEADER;
	tos = esp_tos(headers);
	esp_buffer_pull(b, at);
	v = esp_sa_open(sa, b, &next);
	if (v != ESP_OK)
		return v;
	if (sa->config.tunnel)
		return esp_inner_ok(b, next) && esp_ecn_mark(b, tos) ? ESP_OK : ESP_BAD_HEADER;
	memmove(b->data - h.len, headers, h.len);
	esp_buffer_push(b, h.len);
	esp_headers_finish(b, h.next_field, next);
	return ESP_OK;
}

enum esp_verdict esp_decapsulate(struct esp_sa *sa, struct esp_buffer *b, size_t at)
{
	enum esp_verdict v = esp_uncover(sa, b, at);

	sa->verdict[v]++;
	return v;
}
