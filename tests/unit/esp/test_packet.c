/* SPDX-License-Identifier: BSD-2-Clause */
/* IP packets through SAs: both modes, both versions, extension headers, UDP, congestion marks. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/bytes.h"
#include "esp/packet.h"
#include "support/plain_sum.h"

#include <stdlib.h>
#include <string.h>

#define ROOM  12000
#define FRONT 100
#define TCP   6
#define V4    20
#define V6    40

static const uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const uint8_t gate_v4[2][4] = {{192, 0, 2, 1}, {192, 0, 2, 2}};
static const uint8_t gate_v6[2][16] = {
	{0x20, 1, 0xd, 0xb8, [15] = 1}, {0x20, 1, 0xd, 0xb8, [15] = 2}};

struct pair {
	struct esp_sa *out, *in;
	struct esp_sa_config c;
	uint8_t room[ROOM];
};

static const uint8_t salt[ESP_SALT_LEN], auth_key[ESP_AUTH_KEY_MAX] = {9, 8, 7};

enum how { PLAIN = 0, TUNNEL = 1, OUTER_V6 = 2, IN_UDP = 4, CBC = 8, ALL = 16 };

static void pair_open(struct pair *p, unsigned how)
{
	p->c = (struct esp_sa_config){.spi = 0x1000,
		.cipher = {.key = key, .key_len = 16, .salt = salt},
		.window = 64,
		.outbound = true};
	if (how & TUNNEL) {
		p->c.tunnel = true;
		p->c.src =
			how & OUTER_V6 ? ip_addr_from_v6(gate_v6[0]) : ip_addr_from_v4(gate_v4[0]);
		p->c.dst =
			how & OUTER_V6 ? ip_addr_from_v6(gate_v6[1]) : ip_addr_from_v4(gate_v4[1]);
	}
	if (how & IN_UDP) {
		p->c.udp = true;
		p->c.udp_src = p->c.udp_dst = 4500;
	}
	if (how & CBC) {
		p->c.cipher.encryption = ESP_AES_CBC;
		p->c.cipher.integrity = ESP_HMAC_SHA1_96;
		p->c.cipher.auth_key = auth_key;
	}
	assert_int_equal(esp_sa_create(&p->c, &p->out), 0);
	p->c.outbound = false;
	assert_int_equal(esp_sa_create(&p->c, &p->in), 0);
}

static void pair_close(struct pair *p)
{
	esp_sa_destroy(p->out);
	esp_sa_destroy(p->in);
}

/** A packet with @p extensions behind its header, and @p len octets in all. */
static struct esp_buffer packet(
	struct pair *p, bool v4, const uint8_t *extensions, size_t extensions_len, size_t len)
{
	uint8_t *h = p->room + FRONT;
	size_t head = v4 ? V4 : V6;

	memset(p->room, 0x5a, sizeof p->room);
	memset(h, 0, head);
	for (size_t i = head; i < len; i++)
		h[i] = (uint8_t)(i * 3 + 7);
	if (extensions_len)
		memcpy(h + head, extensions, extensions_len);
	if (v4) {
		h[0] = (uint8_t)(0x45 + extensions_len / 4);
		store_be16(h + 2, (uint16_t)len);
		h[8] = 60;
		h[9] = TCP;
		memcpy(h + 12, (uint8_t[]){10, 0, 0, 1, 10, 0, 0, 2}, 8);
		store_be16(h + 10, (uint16_t)~plain_sum(h, V4 + extensions_len, 0));
	} else {
		h[0] = 0x60;
		store_be16(h + 4, (uint16_t)(len - V6));
		h[6] = TCP;
		h[7] = 60;
		memcpy(h + 8, gate_v6[1], 16);
		memcpy(h + 24, gate_v6[0], 16);
	}
	return (struct esp_buffer){
		.data = h, .len = len, .headroom = FRONT, .tailroom = ROOM - FRONT - len};
}

/** What any host on the way checks of a header. @return where the header ends. */
static size_t check_outer(const struct esp_buffer *b, bool v4, uint8_t proto)
{
	const uint8_t *h = b->data;

	if (v4) {
		assert_int_equal(h[0], 0x45);
		assert_int_equal(load_be16(h + 2), b->len);
		assert_int_equal(h[9], proto);
		assert_int_equal(plain_sum(h, V4, 0), 0xffff);
		return V4;
	}
	assert_int_equal(h[0] >> 4, 6);
	assert_int_equal(load_be16(h + 4), b->len - V6);
	assert_int_equal(h[6], proto);
	return V6;
}

static void check_udp(const struct esp_buffer *b, bool v4, size_t at)
{
	const uint8_t *u = b->data + at;
	uint32_t pseudo = 17 + (uint32_t)(b->len - at);

	assert_int_equal(load_be16(u), 4500);
	assert_int_equal(load_be16(u + 2), 4500);
	assert_int_equal(load_be16(u + 4), b->len - at);
	if (v4) {
		assert_int_equal(load_be16(u + 6), 0);
		return;
	}
	pseudo = plain_sum(b->data + 8, 32, pseudo);
	assert_int_equal(plain_sum(u, b->len - at, pseudo), 0xffff);
}

static void there_and_back(unsigned how, bool v4)
{
	bool outer_v4 = how & TUNNEL ? !(how & OUTER_V6) : v4;
	uint8_t before[1500];
	struct pair p;

	pair_open(&p, how);
	for (size_t len = (v4 ? V4 : V6) + 20; len < 200; len++) {
		struct esp_buffer b = packet(&p, v4, NULL, 0, len);
		size_t at;

		memcpy(before, b.data, len);
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
		at = check_outer(&b, outer_v4, how & IN_UDP ? 17 : 50);
		if (how & IN_UDP) {
			check_udp(&b, outer_v4, at);
			at += 8;
		}
		assert_int_equal(load_be32(b.data + at), 0x1000);
		assert_int_equal(esp_decapsulate(p.in, &b, at), ESP_OK);
		assert_int_equal(b.len, len);
		assert_memory_equal(b.data, before, len);
	}
	assert_int_equal(p.out->verdict[ESP_OK], p.in->verdict[ESP_OK]);
	assert_int_equal(p.in->verdict[ESP_OK], p.in->packets);
	pair_close(&p);
}

static void every_mode(void **state)
{
	for (unsigned how = 0; how < ALL; how++) {
		there_and_back(how, true);
		there_and_back(how, false);
	}
}

/** What is sealed from elsewhere is what it is in place, and stays as it was. */
static void elsewhere(unsigned how, bool v4)
{
	struct pair p, q;

	pair_open(&p, how);
	pair_open(&q, how);
	for (size_t len = (v4 ? V4 : V6) + 20; len < 100; len++) {
		struct esp_buffer b = packet(&p, v4, NULL, 0, len), c = b;
		uint8_t *from = malloc(len + ESP_TRAILER_ROOM);

		assert_non_null(from);
		memcpy(from, b.data, len);
		memset(q.room, 0x5a, sizeof q.room);
		c.data = q.room + FRONT;
		c.from = from;
		assert_int_equal(esp_encapsulate(q.out, &c), ESP_OK);
		assert_memory_equal(from, b.data, len);
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
		assert_int_equal(c.len, b.len);
		assert_ptr_equal(c.data - q.room, b.data - p.room);
		assert_memory_equal(q.room, p.room, FRONT - ESP_HEADROOM);
		assert_memory_equal(c.data, b.data, b.len);
		free(from);
	}
	pair_close(&p);
	pair_close(&q);
}

static void every_mode_from_elsewhere(void **state)
{
	for (unsigned how = 0; how < ALL; how++) {
		elsewhere(how, true);
		elsewhere(how, false);
	}
}

/** What is said of room is true to the octet, for each MTU. */
static void room_is_exact(void **state)
{
	for (unsigned how = 0; how < ALL; how++)
		for (unsigned v4 = 0; v4 < 2; v4++) {
			struct pair p;

			pair_open(&p, how);
			for (size_t mtu = 0; mtu < 1600; mtu++) {
				size_t room = esp_room(&p.out->config, v4, mtu);
				struct esp_buffer b;

				if (mtu >= 200)
					assert_in_range(room, mtu - 126, mtu);
				if (room < (v4 ? V4 : V6))
					continue;
				b = packet(&p, v4, NULL, 0, room);
				assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
				assert_in_range(b.len, mtu - (how & CBC ? 15 : 3), mtu);
				b = packet(&p, v4, NULL, 0, room + 1);
				assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
				assert_true(b.len > mtu);
			}
			pair_close(&p);
		}
}

/* ---- extension headers --------------------------------------------------------------------- */

#define DEST 60
#define RH   43
#define FRAG 44
/** A fragment header of a whole packet. */
#define ATOMIC (0x80 | FRAG)

/** Extension headers of 8 octets each: @p kinds, and then TCP. */
static size_t extensions(const uint8_t *kinds, size_t n, uint8_t *out)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t next = i + 1 < n ? kinds[i + 1] & 0x7f : TCP;
		bool atomic = kinds[i] == ATOMIC;

		memcpy(out + 8 * i, (uint8_t[]){next, 0, !atomic, atomic ? 0 : 4, 0, 0, 0, 0}, 8);
	}
	return 8 * n;
}

static void esp_has_its_place_among_headers(void **state)
{
	static const struct {
		uint8_t kinds[4];
		size_t n, before; /* headers that stay before ESP */
		enum esp_verdict want;
	} row[] = {
		{{0}, 1, 1, ESP_OK},
		{{RH}, 1, 1, ESP_OK},
		{{DEST}, 1, 0, ESP_OK},
		{{0, RH}, 2, 2, ESP_OK},
		{{0, DEST}, 2, 1, ESP_OK},
		{{0, DEST, RH, DEST}, 4, 3, ESP_OK},
		{{FRAG}, 1, 0, ESP_FRAGMENT},
		{{0, RH, FRAG}, 3, 0, ESP_FRAGMENT},
		{{0, RH, ATOMIC}, 3, 3, ESP_OK},
	};
	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		uint8_t ext[64], before[200];
		size_t len = extensions(row[i].kinds, row[i].n, ext), at = V6 + 8 * row[i].before;
		struct esp_buffer b;
		struct pair p;

		pair_open(&p, PLAIN);
		b = packet(&p, false, ext, len, 150);
		b.data[6] = row[i].kinds[0];
		memcpy(before, b.data, b.len);
		assert_int_equal(esp_encapsulate(p.out, &b), row[i].want);
		if (row[i].want == ESP_OK) {
			assert_int_equal(b.data[row[i].before ? at - 8 : 6], 50);
			assert_int_equal(load_be32(b.data + at), 0x1000);
			assert_int_equal(esp_decapsulate(p.in, &b, at), ESP_OK);
			assert_int_equal(b.len, 150);
			assert_memory_equal(b.data, before, 150);
		}
		pair_close(&p);
	}
}

/** A peer may put destination options before ESP, and a translator a fragment header: they stay. */
static void something_before_esp(uint8_t kind, uint8_t length)
{
	uint8_t ext[8];
	struct esp_buffer b;
	struct pair p;

	pair_open(&p, PLAIN);
	b = packet(&p, false, NULL, 0, 120);
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
	extensions(&kind, 1, ext);
	ext[0] = ESP_PROTO;
	ext[1] = length;
	memmove(b.data + V6 + 8, b.data + V6, b.len - V6);
	memcpy(b.data + V6, ext, 8);
	b.data[6] = kind & 0x7f;
	esp_buffer_put(&b, 8);
	store_be16(b.data + 4, (uint16_t)(b.len - V6));
	assert_int_equal(esp_decapsulate(p.in, &b, V6 + 8), ESP_OK);
	assert_int_equal(b.len, 128);
	assert_int_equal(b.data[6], kind & 0x7f);
	assert_int_equal(b.data[V6], TCP);
	assert_int_equal(load_be16(b.data + 4), 88);
	pair_close(&p);
}

static void headers_of_others_before_esp(void **state)
{
	something_before_esp(DEST, 0);
	/* RFC 8200 section 4.5: it is reserved, whatever it says. */
	something_before_esp(ATOMIC, 0);
	something_before_esp(ATOMIC, 255);
}

static void options_of_ipv4_stay_in_the_clear(void **state)
{
	static const uint8_t options[8] = {1, 1, 1, 1, 1, 1, 1, 0};
	uint8_t before[100];
	struct esp_buffer b;
	struct pair p;

	pair_open(&p, PLAIN);
	b = packet(&p, true, options, 8, 100);
	memcpy(before, b.data, b.len);
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
	assert_int_equal(b.data[9], 50);
	assert_memory_equal(b.data + V4, options, 8);
	assert_int_equal(plain_sum(b.data, 28, 0), 0xffff);
	assert_int_equal(esp_decapsulate(p.in, &b, 28), ESP_OK);
	assert_int_equal(b.len, 100);
	assert_memory_equal(b.data, before, 100);
	pair_close(&p);
}

/* ---- tunnels ------------------------------------------------------------------------------- */

/**
 * RFC 6040 section 4.2, by the marks of the inner and the outer header. What was wrong with the
 * inner one before the tunnel is still to be seen behind it.
 */
static void congestion_marks(void **state)
{
	enum { DROP = 4 };
	static const uint8_t want[4][4] = {
		{0, 0, 0, DROP}, {1, 1, 1, 3}, {2, 1, 2, 3}, {3, 3, 3, 3}};

	for (unsigned how = TUNNEL; how < ALL; how += 2)
		for (unsigned i = 0; i < 64; i++) {
			bool v4 = i & 16, outer_v4 = !(how & OUTER_V6);
			uint16_t sum = 0, field = 0;
			uint8_t inner = i & 3, outer = i >> 2 & 3;
			size_t at = (outer_v4 ? V4 : V6) + (how & IN_UDP ? 8 : 0);
			struct esp_buffer b;
			struct pair p;

			pair_open(&p, how);
			b = packet(&p, v4, NULL, 0, 80);
			/* A class of traffic, too, which is copied outwards. */
			if (v4) {
				b.data[1] = 0xb8 | inner;
				store_be16(b.data + 10, 0);
				store_be16(
					b.data + 10, i & 32 ? 0xffff : ~plain_sum(b.data, V4, 0));
				sum = plain_sum(b.data, V4, 0);
				field = load_be16(b.data + 10);
			} else {
				store_be16(b.data, (uint16_t)(0x6000 | (0xb8 | inner) << 4));
			}
			assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
			if (outer_v4) {
				assert_int_equal(b.data[1], 0xb8 | inner);
				b.data[1] = 0xb8 | outer;
			} else {
				assert_int_equal(load_be16(b.data), 0x6000 | (0xb8 | inner) << 4);
				store_be16(b.data, (uint16_t)(0x6000 | (0xb8 | outer) << 4));
			}
			if (want[inner][outer] == DROP) {
				assert_int_equal(esp_decapsulate(p.in, &b, at), ESP_BAD_HEADER);
			} else {
				assert_int_equal(esp_decapsulate(p.in, &b, at), ESP_OK);
				assert_int_equal(v4 ? b.data[1] : load_be16(b.data) >> 4 & 0xff,
					0xb8 | want[inner][outer]);
				if (v4)
					assert_int_equal(plain_sum(b.data, V4, 0), sum);
				if (v4 && want[inner][outer] == inner)
					assert_int_equal(load_be16(b.data + 10), field);
			}
			pair_close(&p);
		}
}

/** Authentic, and still not what the SA is for. */
static void a_tunnel_takes_ip_alone(void **state)
{
	struct esp_buffer b;
	struct pair p;

	pair_open(&p, TUNNEL);
	for (unsigned i = 0; i < 4; i++) {
		static const uint8_t next[] = {TCP, ESP_NEXT_IPV6, ESP_NEXT_IPV4, ESP_NEXT_IPV4};
		static const size_t len[] = {60, 60, 19, 60};

		b = packet(&p, true, NULL, 0, 60);
		b.len = len[i];
		if (i == 3)
			b.data[0] = 0x44; /* a header of 16 octets */
		assert_int_equal(esp_sa_seal(p.out, &b, next[i]), ESP_OK);
		esp_buffer_push(&b, V4);
		memset(b.data, 0, V4);
		b.data[0] = 0x45;
		b.data[9] = ESP_PROTO;
		store_be16(b.data + 2, (uint16_t)b.len);
		assert_int_equal(esp_decapsulate(p.in, &b, V4), ESP_BAD_HEADER);
	}
	assert_int_equal(p.in->verdict[ESP_BAD_HEADER], 4);
	pair_close(&p);
}

/* ---- what is refused ----------------------------------------------------------------------- */

static void bad_headers(void **state)
{
	struct esp_buffer b, was;
	struct pair p;

	pair_open(&p, PLAIN);
	b = packet(&p, true, NULL, 0, 100);
	b.data[0] = 0x44;
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_BAD_HEADER);
	b.data[0] = 0x55;
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_BAD_HEADER);
	b.data[0] = 0x45;
	store_be16(b.data + 2, 99);
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_BAD_HEADER);
	b = packet(&p, true, NULL, 0, 100);
	b.data[6] = 0x20; /* more fragments */
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_FRAGMENT);
	for (size_t len = 0; len < V6; len++) {
		b = packet(&p, len & 1, NULL, 0, V6);
		b.len = len;
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_BAD_HEADER);
	}
	/* Not where the header says. */
	b = packet(&p, true, NULL, 0, 100);
	assert_int_equal(esp_encapsulate(p.out, &b), ESP_OK);
	for (size_t at = 0; at <= b.len + 8; at++) {
		was = b;
		if (at != V4)
			assert_int_equal(esp_decapsulate(p.in, &was, at), ESP_BAD_HEADER);
	}
	/* In UDP, for an SA without. */
	was = b;
	was.data[9] = 17;
	assert_int_equal(esp_decapsulate(p.in, &was, V4), ESP_BAD_HEADER);
	was.data[9] = ESP_PROTO;
	assert_int_equal(esp_decapsulate(p.in, &b, V4), ESP_OK);
	pair_close(&p);
}

static void an_extension_header_that_is_cut(void **state)
{
	uint8_t ext[8], kind = 0;
	struct esp_buffer b;
	struct pair p;

	pair_open(&p, PLAIN);
	for (size_t len = V6; len < V6 + 24; len++) {
		extensions(&kind, 1, ext);
		ext[1] = 2; /* 24 octets */
		b = packet(&p, false, ext, 8, V6 + 8);
		b.data[6] = kind;
		b.len = len;
		store_be16(b.data + 4, (uint16_t)(len - V6));
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_BAD_HEADER);
	}
	pair_close(&p);
}

static void no_room(void **state)
{
	for (unsigned how = 0; how < ALL; how++) {
		struct esp_buffer b, end;
		struct pair p;

		pair_open(&p, how);
		b = packet(&p, true, NULL, 0, 100);
		end = b;
		assert_int_equal(esp_encapsulate(p.out, &end), ESP_OK);
		assert_true((size_t)(b.data - end.data) <= ESP_HEADROOM);
		b = packet(&p, true, NULL, 0, 100);
		b.headroom = (size_t)(b.data - end.data) - 1;
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_NO_ROOM);
		b.headroom = FRONT;
		b.tailroom = ESP_TRAILER_LEN + ESP_GCM_ICV_LEN - 1;
		assert_int_equal(esp_encapsulate(p.out, &b), ESP_NO_ROOM);
		assert_int_equal(p.out->verdict[ESP_NO_ROOM], 2);
		pair_close(&p);
	}
}

static void udp_payloads(void **state)
{
	static const uint8_t esp[8] = {0, 0, 0x10}, ike[8] = {0}, keepalive = 0xff, other = 0xfe;

	assert_int_equal(esp_udp_kind(esp, 8), ESP_UDP_ESP);
	assert_int_equal(esp_udp_kind(ike, 8), ESP_UDP_IKE);
	assert_int_equal(esp_udp_kind(&keepalive, 1), ESP_UDP_KEEPALIVE);
	assert_int_equal(esp_udp_kind(&other, 1), ESP_UDP_NOTHING);
	assert_int_equal(esp_udp_kind(esp, 3), ESP_UDP_NOTHING);
	assert_int_equal(esp_udp_kind(esp, 0), ESP_UDP_NOTHING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mode),
		cmocka_unit_test(every_mode_from_elsewhere),
		cmocka_unit_test(room_is_exact),
		cmocka_unit_test(esp_has_its_place_among_headers),
		cmocka_unit_test(headers_of_others_before_esp),
		cmocka_unit_test(options_of_ipv4_stay_in_the_clear),
		cmocka_unit_test(congestion_marks),
		cmocka_unit_test(a_tunnel_takes_ip_alone),
		cmocka_unit_test(bad_headers),
		cmocka_unit_test(an_extension_header_that_is_cut),
		cmocka_unit_test(no_room),
		cmocka_unit_test(udp_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
