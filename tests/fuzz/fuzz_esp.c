/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ESP under hostile packets: random ones, changed ones of ours, authentic ones with any padding and
 * any next header. What comes out is exactly what went in, each packet at most once, and nothing
 * outside of the buffer is touched.
 */
#include "base/bytes.h"
#include "esp/packet.h"
#include "fuzz.h"

#define STEPS_MAX  500
#define PACKET_MAX 1600
#define SPI        0x1000
#define GCM_FRONT  (ESP_IV + ESP_GCM_IV_LEN)

static const uint8_t key[32] = {7, 3, 5}, salt[ESP_SALT_LEN];
static struct gcm gcm;
static bool has_gcm;

struct world {
	struct fuzz *in;
	struct esp_sa *out, *back;
	bool v4, tunnel, udp;
};

/** A buffer of its own size, so that the sanitizer sees each octet too many. */
struct place {
	uint8_t *memory;
	struct esp_buffer b;
};

static struct place place_of(const uint8_t *text, size_t len)
{
	size_t size = ESP_HEADROOM + len + ESP_TAILROOM;
	struct place p = {.memory = malloc(size)};

	MUST(p.memory);
	p.b = (struct esp_buffer){.data = p.memory + ESP_HEADROOM,
		.len = len,
		.headroom = ESP_HEADROOM,
		.tailroom = ESP_TAILROOM};
	if (len)
		memcpy(p.b.data, text, len);
	return p;
}

static void outer(struct world *w, struct esp_buffer *b)
{
	uint8_t *h = b->data;

	if (w->v4 && b->len >= 20) {
		h[0] = 0x45;
		store_be16(h + 2, (uint16_t)b->len);
		store_be16(h + 6, 0);
	} else if (!w->v4 && b->len >= 40) {
		h[0] = 0x60;
		store_be16(h + 4, (uint16_t)(b->len - 40));
	}
}

static size_t esp_at(const struct world *w)
{
	return (w->v4 ? 20 : 40) + (w->udp ? 8 : 0);
}

/** Any octets, with a header that IP would have let pass. */
static void stranger(struct world *w, uint8_t bits)
{
	size_t len;
	const uint8_t *text = fuzz_bytes(w->in, fuzz_u16(w->in) % PACKET_MAX, &len);
	struct place p = place_of(text, len);
	size_t at = bits & 0x20 ? fuzz_u8(w->in) : esp_at(w);

	if (bits & 0x10)
		outer(w, &p.b);
	/* Nobody knows the key: whatever is decrypted here was sealed by us. */
	MUST(esp_decapsulate(w->back, &p.b, at) != ESP_OK);
	free(p.memory);
}

/** A packet of ours, which may be changed on its way and comes twice. */
static void friend(struct world *w, uint8_t bits)
{
	size_t len, sealed;
	const uint8_t *text = fuzz_bytes(w->in, fuzz_u16(w->in) % PACKET_MAX, &len);
	struct place p = place_of(text, len);
	uint8_t *before, *wire;
	bool changed = false;

	outer(w, &p.b);
	before = malloc(len + 1);
	MUST(before);
	memcpy(before, p.b.data, len);
	if (esp_encapsulate(w->out, &p.b) != ESP_OK) {
		free(before);
		free(p.memory);
		return;
	}
	sealed = p.b.len;
	wire = malloc(sealed);
	MUST(wire);
	memcpy(wire, p.b.data, sealed);
	if (bits & 0x10) {
		uint8_t by = fuzz_u8(w->in);

		p.b.data[fuzz_u16(w->in) % sealed] ^= by;
		changed = by != 0;
	}
	if (esp_decapsulate(w->back, &p.b, esp_at(w)) == ESP_OK && !changed) {
		MUST(p.b.len == len);
		/* The header's checksum is made again. */
		if (w->tunnel || !w->v4)
			MUST(memcmp(p.b.data, before, len) == 0);
		else
			MUST(memcmp(p.b.data + 20, before + 20, len - 20) == 0);
		free(p.memory);
		p = place_of(wire, sealed);
		MUST(esp_decapsulate(w->back, &p.b, esp_at(w)) == ESP_REPLAY);
	}
	free(wire);
	free(before);
	free(p.memory);
}

/** Authentic text of a peer that is mad. */
static void mad_peer(struct world *w, uint8_t bits)
{
	struct esp_sa_config c = {.spi = SPI,
		.cipher = {.key = key, .key_len = 16, .salt = salt},
		.window = 32,
		.esn = w->out->config.esn};
	size_t len;
	const uint8_t *text = fuzz_bytes(w->in, fuzz_u8(w->in) & ~3u, &len);
	uint8_t room[GCM_FRONT + 256 + ESP_GCM_ICV_LEN], aad[ESP_AAD_MAX] = {0}, next;
	struct esp_buffer b = {.data = room, .len = GCM_FRONT + len + ESP_GCM_ICV_LEN};
	struct esp_cipher *cipher;
	struct esp_sa *sa;

	store_be32(room, SPI);
	store_be32(room + ESP_SEQUENCE, 1);
	store_be64(room + ESP_IV, bits);
	memcpy(room + GCM_FRONT, text, len);
	store_be32(aad, SPI);
	store_be32(aad + (c.esn ? 8 : 4), 1);
	MUST(!esp_cipher_create(&c.cipher, true, &cipher));
	MUST(esp_cipher_seal(cipher, &(struct esp_cipher_packet){.iv = room + ESP_IV,
					     .aad = aad,
					     .aad_len = c.esn ? 12 : 8,
					     .from = room + GCM_FRONT,
					     .text = room + GCM_FRONT,
					     .text_len = len,
					     .icv = room + GCM_FRONT + len}));
	esp_cipher_destroy(cipher);
	MUST(!esp_sa_create(&c, &sa));
	switch (esp_sa_open(sa, &b, &next)) {
	case ESP_OK:
	case ESP_DUMMY:
		MUST(b.len <= len - ESP_TRAILER_LEN);
		MUST(memcmp(b.data, text, b.len) == 0);
		break;
	case ESP_SHORT:
		MUST(len < ESP_TRAILER_LEN || len % ESP_ALIGN);
		break;
	default:
		MUST(sa->window.top == 1);
	}
	esp_sa_destroy(sa);
}

static void world_start(struct world *w, struct fuzz *in)
{
	uint8_t bits = fuzz_u8(in);
	uint16_t more = fuzz_u16(in);
	struct esp_sa_config c = {.spi = SPI,
		.cipher = {.key = key,
			.key_len = bits & 1 ? 32 : 16,
			.salt = salt,
			.auth_key = key},
		.esn = bits & 2,
		.window = 32 + more % (4096 - 31),
		.tunnel = bits & 4,
		.udp = bits & 8,
		.outbound = true};
	uint8_t address[16] = {0x20, 1};

	w->in = in;
	w->v4 = bits & 16;
	w->tunnel = c.tunnel;
	w->udp = c.udp;
	c.sequence = bits & 32 ? UINT32_MAX - 20 : 0;
	if (more & 0x8000) {
		c.cipher.encryption = more & 0x4000 ? ESP_NULL : ESP_AES_CBC;
		c.cipher.integrity = more & 0x2000 ? ESP_HMAC_SHA1_96 : ESP_HMAC_SHA256_128;
		c.cipher.key_len = more & 0x4000 ? 0 : c.cipher.key_len;
	}
	c.src = c.dst = w->v4 ? ip_addr_from_v4(address) : ip_addr_from_v6(address);
	c.cipher.gcm = has_gcm && bits & 64 ? &gcm : NULL;
	MUST(!esp_sa_create(&c, &w->out));
	c.outbound = false;
	c.cipher.gcm = has_gcm && bits & 128 ? &gcm : NULL;
	MUST(!esp_sa_create(&c, &w->back));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	has_gcm = gcm_init(&gcm);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz in = {data, size};
	struct world w;

	world_start(&w, &in);
	for (unsigned i = 0; in.left != 0 && i < STEPS_MAX; i++) {
		uint8_t op = fuzz_u8(&in);

		if ((op & 3) == 0)
			stranger(&w, op);
		else if ((op & 3) == 1)
			mad_peer(&w, op);
		else
			friend(&w, op);
	}
	esp_sa_destroy(w.out);
	esp_sa_destroy(w.back);
	return 0;
}
