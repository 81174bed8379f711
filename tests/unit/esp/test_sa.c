/* SPDX-License-Identifier: BSD-2-Clause */
/* SAs: a known packet, octet by octet; each reason to drop one; sequence numbers and limits. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "base/bytes.h"
#include "esp/sa.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>

#define ROOM    2048
#define FRONT   64
#define SPI     0x1234abcdu
#define TCP     6
#define LEN_MAX 200
/** Before the text, with AES-GCM. */
#define HEAD (ESP_IV + ESP_GCM_IV_LEN)

static const uint8_t key[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static const uint8_t salt[ESP_SALT_LEN] = {0xa, 0xb, 0xc, 0xd};
static const uint8_t auth_key[ESP_AUTH_KEY_MAX] = {0xa, 0xb, 0xc};

static const struct esp_sa_config usual = {.spi = SPI,
	.cipher = {.key = key, .key_len = 16, .salt = salt},
	.window = 64,
	.iv_base = UINT64_C(0xfffffffffffffff0)};

static struct gcm gcm;
static const struct gcm *used; /**< NULL: OpenSSL's cipher */

/** Encryption and an HMAC, each by itself. */
static const struct {
	enum esp_encryption encryption;
	enum esp_integrity integrity;
	size_t key_len;
} apart[] = {
	{ESP_AES_CBC, ESP_HMAC_SHA1_96, 16},
	{ESP_AES_CBC, ESP_HMAC_SHA256_128, 32},
	{ESP_NULL, ESP_HMAC_SHA1_96, 0},
	{ESP_NULL, ESP_HMAC_SHA256_128, 0},
};

static struct esp_sa_config with(unsigned i, bool esn)
{
	struct esp_sa_config c = usual;

	c.cipher.encryption = apart[i].encryption;
	c.cipher.integrity = apart[i].integrity;
	c.cipher.key_len = apart[i].key_len;
	c.cipher.auth_key = auth_key;
	c.esn = esn;
	return c;
}

static struct esp_sa *sa_of(struct esp_sa_config c, bool outbound)
{
	struct esp_sa *sa;

	c.cipher.gcm = used;
	c.outbound = outbound;
	assert_int_equal(esp_sa_create(&c, &sa), 0);
	assert_null(sa->config.cipher.key);
	return sa;
}

static struct esp_buffer buffer_of(uint8_t room[ROOM], const void *text, size_t len)
{
	memset(room, 0x5a, ROOM);
	if (len)
		memcpy(room + FRONT, text, len);
	return (struct esp_buffer){.data = room + FRONT,
		.len = len,
		.headroom = FRONT,
		.tailroom = ROOM - FRONT - len};
}

static void fill(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = (uint8_t)(i * 7 + 1);
}

/* ---- a known packet ------------------------------------------------------------------------ */

static void hex(const char *text, uint8_t *out, size_t len)
{
	assert_int_equal(strlen(text), 2 * len);
	for (size_t i = 0; i < len; i++) {
		unsigned v;

		assert_int_equal(sscanf(text + 2 * i, "%2x", &v), 1);
		out[i] = (uint8_t)v;
	}
}

/* draft-mcgrew-gcm-test-01: a whole ESP packet, extended sequence numbers, tunnel mode's IPv4. */
#define KNOWN_CLEAR 72
static const char known_key[] = "4c80cdefbb5d10da906ac73c3613a634";
static const char known_clear[] = "45000048699a000080114db7c0a80102c0a801010a9bf15638d3010000010000"
				  "00000000045f736970045f756470037369700963796265726369747902646b00"
				  "0021000101020201";
static const char known_text[] = "fecf537e729d5b07dc30df528dd22b768d1b98736696a6fd348509fa13ceac34"
				 "cfa2436f14a3f3cf65925bf1f4a13c5d15b21e1884f5ff6247aeabb786b93bce"
				 "61bc17d768fd9732459018148f6cbe722fd04796562dfdb4";

static void known_packet(void **state)
{
	struct esp_sa_config c = usual;
	uint8_t room[ROOM], known[16], known_salt[ESP_SALT_LEN], clear[KNOWN_CLEAR], text[88],
		next = 0;
	struct esp_sa *out, *in;
	struct esp_buffer b;

	hex(known_key, known, sizeof known);
	hex(known_clear, clear, sizeof clear);
	hex(known_text, text, sizeof text);
	c.cipher.key = known;
	c.spi = 0x4321;
	c.esn = true;
	hex("2e443b68", known_salt, sizeof known_salt);
	c.cipher.salt = known_salt;
	c.sequence = UINT64_C(0x8765432100000000) - 1;
	c.iv_base = UINT64_C(0x4956ed7e3b244cfe) - (c.sequence + 1);
	out = sa_of(c, true);
	in = sa_of(c, false);
	/* Its trailer is 01 02 02 01: two octets of padding, and ICMP. */
	b = buffer_of(room, clear, KNOWN_CLEAR - 4);
	assert_int_equal(esp_sa_seal(out, &b, 1), ESP_OK);
	assert_int_equal(b.len, HEAD + sizeof text);
	assert_int_equal(load_be32(b.data + ESP_SPI), 0x4321);
	assert_int_equal(load_be32(b.data + ESP_SEQUENCE), 0);
	assert_int_equal(load_be64(b.data + ESP_IV), UINT64_C(0x4956ed7e3b244cfe));
	assert_memory_equal(b.data + HEAD, text, sizeof text);
	assert_int_equal(esp_sa_open(in, &b, &next), ESP_OK);
	assert_int_equal(next, 1);
	assert_int_equal(b.len, KNOWN_CLEAR - 4);
	assert_memory_equal(b.data, clear, b.len);
	esp_sa_destroy(out);
	esp_sa_destroy(in);
}

/* ---- there and back ------------------------------------------------------------------------ */

static void there_and_back(struct esp_sa_config c)
{
	struct esp_sa *out = sa_of(c, true), *in = sa_of(c, false);
	uint8_t room[ROOM], text[LEN_MAX], next;

	fill(text, sizeof text);
	for (size_t len = 0; len <= LEN_MAX; len++) {
		struct esp_buffer b = buffer_of(room, text, len);

		assert_int_equal(esp_sa_seal(out, &b, TCP), ESP_OK);
		assert_int_equal(b.len, len + esp_sa_overhead(out, len));
		assert_int_equal(
			(b.len - esp_sa_front(out) - out->shape.icv_len) % out->shape.align, 0);
		assert_ptr_equal(b.data, room + FRONT - esp_sa_front(out));
		/* Nothing before and behind it was written to. */
		assert_int_equal(b.data[-1], 0x5a);
		assert_int_equal(b.data[b.len], 0x5a);
		assert_int_equal(b.headroom + b.len + b.tailroom, ROOM);
		assert_int_equal(load_be32(b.data + ESP_SEQUENCE), len + 1);
		assert_int_equal(esp_sa_open(in, &b, &next), ESP_OK);
		assert_int_equal(next, TCP);
		assert_int_equal(b.len, len);
		assert_ptr_equal(b.data, room + FRONT);
		assert_memory_equal(b.data, text, len);
		assert_int_equal(b.headroom + b.len + b.tailroom, ROOM);
	}
	assert_int_equal(in->packets, LEN_MAX + 1);
	assert_int_equal(in->octets, out->octets);
	esp_sa_destroy(out);
	esp_sa_destroy(in);
}

static void every_length(void **state)
{
	struct esp_sa_config c = usual;

	there_and_back(c);
	c.esn = true;
	there_and_back(c);
	c.cipher.key_len = 32;
	there_and_back(c);
	c.esn = false;
	there_and_back(c);
	for (unsigned i = 0; i < sizeof apart / sizeof apart[0]; i++) {
		there_and_back(with(i, false));
		there_and_back(with(i, true));
	}
}

/* ---- encryption and an HMAC, by another way ------------------------------------------------ */

/** What the ICV is to be, of the packet without it. */
static void hmac(const struct esp_sa_config *c, const struct esp_buffer *b, uint32_t high,
	uint8_t out[EVP_MAX_MD_SIZE])
{
	uint8_t all[ROOM];
	size_t len = b->len;
	unsigned n;

	memcpy(all, b->data, len);
	if (c->esn) {
		store_be32(all + len, high);
		len += 4;
	}
	assert_non_null(HMAC(c->cipher.integrity == ESP_HMAC_SHA1_96 ? EVP_sha1() : EVP_sha256(),
		c->cipher.auth_key, (int)esp_auth_key_len(c->cipher.integrity), all, len, out, &n));
}

static void decrypt(const struct esp_sa_config *c, const uint8_t *iv, const uint8_t *text,
	size_t len, uint8_t *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	int n;

	if (c->cipher.encryption == ESP_NULL) {
		memcpy(out, text, len);
	} else {
		assert_int_equal(
			EVP_DecryptInit_ex(ctx,
				c->cipher.key_len == 32 ? EVP_aes_256_cbc() : EVP_aes_128_cbc(),
				NULL, c->cipher.key, iv),
			1);
		EVP_CIPHER_CTX_set_padding(ctx, 0);
		assert_int_equal(EVP_DecryptUpdate(ctx, out, &n, text, (int)len), 1);
	}
	EVP_CIPHER_CTX_free(ctx);
}

static void apart_is_as_openssl_has_it(void **state)
{
	for (unsigned i = 0; i < 2 * sizeof apart / sizeof apart[0]; i++) {
		struct esp_sa_config c = with(i / 2, i % 2);
		uint8_t room[ROOM], text[LEN_MAX], clear[ROOM], last[ESP_CBC_BLOCK_LEN] = {0};
		uint8_t want[EVP_MAX_MD_SIZE];
		struct esp_sa *out;

		if (c.esn)
			c.sequence = UINT64_C(0x123456789);
		out = sa_of(c, true);
		fill(text, sizeof text);
		for (size_t len = 0; len < 40; len++) {
			struct esp_buffer b = buffer_of(room, text, len);
			size_t front = esp_sa_front(out), icv_len = out->shape.icv_len, inside;

			assert_int_equal(esp_sa_seal(out, &b, TCP), ESP_OK);
			assert_int_equal(front, c.cipher.encryption == ESP_NULL ? 8 : 24);
			b.len -= icv_len;
			hmac(&c, &b, (uint32_t)(out->sequence >> 32), want);
			assert_memory_equal(b.data + b.len, want, icv_len);
			inside = b.len - front;
			decrypt(&c, b.data + ESP_IV, b.data + front, inside, clear);
			assert_memory_equal(clear, text, len);
			assert_int_equal(clear[inside - 1], TCP);
			assert_int_equal(clear[inside - 2], inside - 2 - len);
			if (c.cipher.encryption != ESP_AES_CBC)
				continue;
			/* No IV tells of the next one. */
			for (size_t at = 0; at < sizeof last; at += 4)
				assert_memory_not_equal(b.data + ESP_IV + at, last + at, 4);
			memcpy(last, b.data + ESP_IV, sizeof last);
		}
		esp_sa_destroy(out);
	}
}

static void apart_notices_each_changed_octet(void **state)
{
	for (unsigned i = 0; i < sizeof apart / sizeof apart[0]; i++) {
		struct esp_sa *out = sa_of(with(i, true), true);
		struct esp_sa *in = sa_of(with(i, true), false);
		uint8_t room[ROOM], text[LEN_MAX], next;

		fill(text, sizeof text);
		for (size_t at = ESP_SEQUENCE; at < 40 + esp_sa_overhead(out, 40); at++) {
			struct esp_buffer b = buffer_of(room, text, 40);

			assert_int_equal(esp_sa_seal(out, &b, TCP), ESP_OK);
			b.data[at] ^= 0x10;
			assert_int_equal(esp_sa_open(in, &b, &next), ESP_BAD_ICV);
		}
		esp_sa_destroy(out);
		esp_sa_destroy(in);
	}
}

/* ---- what is dropped ----------------------------------------------------------------------- */

struct pair {
	struct esp_sa *out, *in;
	uint8_t room[ROOM], text[LEN_MAX];
};

static void pair_open(struct pair *p)
{
	p->out = sa_of(usual, true);
	p->in = sa_of(usual, false);
	fill(p->text, sizeof p->text);
}

static void pair_close(struct pair *p)
{
	esp_sa_destroy(p->out);
	esp_sa_destroy(p->in);
}

static struct esp_buffer sealed(struct pair *p, size_t len)
{
	struct esp_buffer b = buffer_of(p->room, p->text, len);

	assert_int_equal(esp_sa_seal(p->out, &b, TCP), ESP_OK);
	return b;
}

static void each_changed_octet_is_noticed(void **state)
{
	struct pair p;
	uint8_t next;

	pair_open(&p);
	for (size_t at = 0; at < 40 + esp_sa_overhead(p.out, 40); at++) {
		struct esp_buffer b = sealed(&p, 40);

		b.data[at] ^= 0x10;
		/* The SPI is what the SA was found by, and is authenticated as the SA has it. */
		assert_int_equal(
			esp_sa_open(p.in, &b, &next), at < ESP_SEQUENCE ? ESP_OK : ESP_BAD_ICV);
	}
	pair_close(&p);
}

/** A forged number far ahead must not move the window: the packets behind it would be late. */
static void window_moves_by_proof_only(void **state)
{
	struct esp_buffer b;
	struct pair p;
	uint8_t next;

	pair_open(&p);
	b = sealed(&p, 40);
	store_be32(b.data + ESP_SEQUENCE, 1000000);
	assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_BAD_ICV);
	assert_int_equal(p.in->window.top, 0);
	b = sealed(&p, 40);
	assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_OK);
	assert_int_equal(p.in->window.top, 2);
	pair_close(&p);
}

static void replayed_and_late(void **state)
{
	uint8_t copy[256], next;
	struct esp_buffer b;
	struct pair p;
	size_t len;

	pair_open(&p);
	b = sealed(&p, 40);
	len = b.len;
	memcpy(copy, b.data, len);
	assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_OK);
	for (unsigned i = 0; i < usual.window; i++) {
		b = buffer_of(p.room, copy, len);
		assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_REPLAY);
		b = sealed(&p, 40);
		assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_OK);
	}
	b = buffer_of(p.room, copy, len);
	assert_int_equal(esp_sa_open(p.in, &b, &next), ESP_LATE);
	pair_close(&p);
}

static void each_length_that_is_cut(void **state)
{
	struct pair p;
	uint8_t next;

	pair_open(&p);
	for (size_t cut = 1; cut <= 20 + esp_sa_overhead(p.out, 20); cut++) {
		struct esp_buffer b = sealed(&p, 20);
		size_t least = HEAD + ESP_ALIGN + ESP_GCM_ICV_LEN;
		enum esp_verdict want;

		esp_buffer_trim(&b, cut);
		want = b.len < least || b.len % ESP_ALIGN ? ESP_SHORT : ESP_BAD_ICV;
		assert_int_equal(esp_sa_open(p.in, &b, &next), want);
	}
	pair_close(&p);
}

/** An authentic packet with this text, made without the code that is tested. */
static struct esp_buffer authentic(
	uint8_t room[ROOM], uint32_t sequence, const uint8_t *text, size_t len)
{
	struct esp_buffer b = buffer_of(room, text, len);
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	uint8_t nonce[12] = {0xa, 0xb, 0xc, 0xd}, *head = b.data - HEAD;
	int n;

	store_be32(head, SPI);
	store_be32(head + 4, sequence);
	store_be64(head + 8, sequence);
	memcpy(nonce + 4, head + 8, 8);
	assert_int_equal(EVP_EncryptInit_ex(ctx, EVP_aes_128_gcm(), NULL, key, nonce), 1);
	assert_int_equal(EVP_EncryptUpdate(ctx, NULL, &n, head, 8), 1);
	assert_int_equal(EVP_EncryptUpdate(ctx, b.data, &n, b.data, (int)len), 1);
	assert_int_equal(EVP_EncryptFinal_ex(ctx, b.data + len, &n), 1);
	assert_int_equal(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, 16, b.data + len), 1);
	EVP_CIPHER_CTX_free(ctx);
	esp_buffer_push(&b, HEAD);
	esp_buffer_put(&b, ESP_GCM_ICV_LEN);
	return b;
}

static void padding_of_a_peer(void **state)
{
	static const struct {
		uint8_t text[8];
		enum esp_verdict want;
		size_t len;
	} row[] = {
		/* Padding that would begin in the IV, which is 1 here. */
		{{2, 3, 4, 5, 6, 7, 7, TCP}, ESP_BAD_PADDING, 0},
		{{9, 8, 7, 6, 5, 4, 0, TCP}, ESP_OK, 6},
		{{9, 8, 7, 6, 5, 1, 1, TCP}, ESP_OK, 5},
		{{1, 2, 3, 4, 5, 6, 6, TCP}, ESP_OK, 0},
		{{9, 8, 7, 6, 5, 4, 7, TCP}, ESP_BAD_PADDING, 0},
		{{9, 8, 7, 6, 5, 4, 255, TCP}, ESP_BAD_PADDING, 0},
		{{9, 8, 7, 6, 5, 2, 1, TCP}, ESP_BAD_PADDING, 0},
		{{9, 8, 7, 0, 0, 0, 3, TCP}, ESP_BAD_PADDING, 0},
		{{9, 8, 7, 6, 1, 2, 2, ESP_NEXT_DUMMY}, ESP_DUMMY, 0},
	};
	struct esp_sa *in = sa_of(usual, false);
	uint8_t room[ROOM], next;

	for (unsigned i = 0; i < sizeof row / sizeof row[0]; i++) {
		struct esp_buffer b = authentic(room, i + 1, row[i].text, 8);

		assert_int_equal(esp_sa_open(in, &b, &next), row[i].want);
		if (row[i].want == ESP_OK) {
			assert_int_equal(b.len, row[i].len);
			assert_memory_equal(b.data, row[i].text, row[i].len);
			assert_int_equal(next, TCP);
		}
	}
	esp_sa_destroy(in);
}

/* ---- the end of an SA ---------------------------------------------------------------------- */

static void sequence_numbers_never_return(void **state)
{
	struct esp_sa_config c = usual;
	uint8_t room[ROOM];
	struct esp_buffer b;
	struct esp_sa *sa;

	c.sequence = UINT32_MAX - 1;
	sa = sa_of(c, true);
	b = buffer_of(room, key, 8);
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_OK);
	assert_int_equal(load_be32(b.data + ESP_SEQUENCE), UINT32_MAX);
	b = buffer_of(room, key, 8);
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_ENDED);
	assert_memory_equal(b.data, key, 8);
	esp_sa_destroy(sa);
	c.esn = true;
	sa = sa_of(c, true);
	for (unsigned i = 0; i < 3; i++) {
		b = buffer_of(room, key, 8);
		assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_OK);
		assert_int_equal(load_be32(b.data + ESP_SEQUENCE), UINT32_MAX + i);
	}
	esp_sa_destroy(sa);
	c.sequence = UINT64_MAX;
	sa = sa_of(c, true);
	b = buffer_of(room, key, 8);
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_ENDED);
	esp_sa_destroy(sa);
}

static void limits_end_both_directions(void **state)
{
	struct esp_sa_config c = usual;
	struct esp_sa *out, *in, *free_of_limits = sa_of(usual, true);
	uint8_t room[ROOM], next;

	c.max_packets = 3;
	c.max_octets = 100;
	out = sa_of(c, true);
	in = sa_of(c, false);
	for (unsigned i = 0; i < 5; i++) {
		struct esp_buffer b = buffer_of(room, key, 8);

		assert_int_equal(esp_sa_seal(out, &b, TCP), i < 3 ? ESP_OK : ESP_ENDED);
		b = buffer_of(room, key, 8);
		assert_int_equal(esp_sa_seal(free_of_limits, &b, TCP), ESP_OK);
		assert_int_equal(esp_sa_open(in, &b, &next), i < 3 ? ESP_OK : ESP_ENDED);
	}
	esp_sa_destroy(out);
	esp_sa_destroy(in);
	esp_sa_destroy(free_of_limits);
	c.max_packets = 0;
	out = sa_of(c, true);
	for (unsigned i = 0; i < 5; i++) {
		struct esp_buffer b = buffer_of(room, room, 30);

		assert_int_equal(esp_sa_seal(out, &b, TCP), i < 3 ? ESP_OK : ESP_ENDED);
	}
	esp_sa_destroy(out);
}

/** RFC 4301 section 4.4.2.1: by time, too. */
static void time_ends_both_directions(void **state)
{
	struct esp_sa_config c = usual;
	struct esp_sa *out, *in;
	uint8_t room[ROOM], next;

	c.began = 1000;
	c.max_ns = 500;
	out = sa_of(c, true);
	in = sa_of(c, false);
	/* Packets have the time of their round, which may have begun before the SA was read. */
	for (uint64_t now = 999; now < 1502; now = now == 999 ? 1498 : now + 1) {
		struct esp_buffer b = buffer_of(room, key, 8);

		esp_sa_pass_time(out, now);
		assert_int_equal(esp_sa_seal(out, &b, TCP), now < 1500 ? ESP_OK : ESP_ENDED);
	}
	/* With more time it goes on; the other end has not. */
	out->config.max_ns = UINT64_MAX;
	for (uint64_t now = 1498; now < 1502; now++) {
		struct esp_buffer b = buffer_of(room, key, 8);

		esp_sa_pass_time(out, now);
		assert_int_equal(esp_sa_seal(out, &b, TCP), ESP_OK);
		esp_sa_pass_time(in, now);
		assert_int_equal(esp_sa_open(in, &b, &next), now < 1500 ? ESP_OK : ESP_ENDED);
	}
	assert_int_equal(in->window.top, 5);
	esp_sa_destroy(out);
	esp_sa_destroy(in);
}

static void no_room(void **state)
{
	struct esp_sa *sa = sa_of(usual, true);
	uint8_t room[ROOM];
	struct esp_buffer b = buffer_of(room, key, 8);

	b.headroom = HEAD - 1;
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_NO_ROOM);
	b.headroom = HEAD;
	b.tailroom = esp_sa_overhead(sa, 8) - HEAD - 1;
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_NO_ROOM);
	assert_int_equal(sa->sequence, 0);
	b.tailroom++;
	assert_int_equal(esp_sa_seal(sa, &b, TCP), ESP_OK);
	assert_int_equal(b.headroom, 0);
	assert_int_equal(b.tailroom, 0);
	esp_sa_destroy(sa);
}

static void bad_configurations(void **state)
{
	struct esp_sa_config c = usual;
	struct esp_sa *sa = NULL;

	c.spi = 255;
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	c = usual;
	c.window = ESP_WINDOW_MIN - 1;
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	c.window = ESP_WINDOW_MAX + 1;
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	c = usual;
	c.sequence = UINT64_C(1) << 32;
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	c = usual;
	c.cipher.key_len = 24;
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	c = usual;
	c.tunnel = true;
	c.src = ip_addr_from_v4(key);
	assert_int_equal(esp_sa_create(&c, &sa), -EINVAL);
	assert_null(sa);
	esp_sa_destroy(NULL);
	for (enum esp_verdict v = 0; v < ESP_VERDICTS; v++)
		assert_non_null(esp_verdict_name(v));
}

static int with_openssl(void **state)
{
	used = NULL;
	return 0;
}

static int with_ipsec_mb(void **state)
{
	used = gcm_init(&gcm) ? &gcm : NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_packet),
		cmocka_unit_test(every_length),
		cmocka_unit_test(apart_is_as_openssl_has_it),
		cmocka_unit_test(apart_notices_each_changed_octet),
		cmocka_unit_test(each_changed_octet_is_noticed),
		cmocka_unit_test(window_moves_by_proof_only),
		cmocka_unit_test(replayed_and_late),
		cmocka_unit_test(each_length_that_is_cut),
		cmocka_unit_test(padding_of_a_peer),
		cmocka_unit_test(sequence_numbers_never_return),
		cmocka_unit_test(limits_end_both_directions),
		cmocka_unit_test(time_ends_both_directions),
		cmocka_unit_test(no_room),
		cmocka_unit_test(bad_configurations),
	};

	return cmocka_run_group_tests_name("OpenSSL", tests, with_openssl, NULL) +
	       cmocka_run_group_tests_name("libipsec-mb", tests, with_ipsec_mb, NULL);
}
