/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/sa.h"

#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>

#define SPI_MIN 256

const char *esp_verdict_name(enum esp_verdict v)
{
	static const char *const names[ESP_VERDICTS] = {
		[ESP_OK] = "ok",
		[ESP_DUMMY] = "dummy",
		[ESP_REPLAY] = "replay",
		[ESP_LATE] = "late",
		[ESP_BAD_ICV] = "bad ICV",
		[ESP_SHORT] = "short",
		[ESP_BAD_PADDING] = "bad padding",
		[ESP_BAD_HEADER] = "bad header",
		[ESP_FRAGMENT] = "fragment",
		[ESP_ENDED] = "SA ended",
		[ESP_NO_ROOM] = "no room",
		[ESP_FAILED] = "cipher failed",
	};

	return names[v];
}

static bool esp_sa_config_ok(const struct esp_sa_config *c)
{
	if (c->spi < SPI_MIN || (!c->esn && c->sequence > UINT32_MAX))
		return false;
	if (!c->outbound && (c->window != 0 || c->esn) &&
		(c->window < ESP_WINDOW_MIN || c->window > ESP_WINDOW_MAX))
		return false;
	return !c->tunnel || ip_addr_is_v4(&c->src) == ip_addr_is_v4(&c->dst);
}

int esp_sa_create(const struct esp_sa_config *c, struct esp_sa **out)
{
	struct esp_sa *sa;
	int rc;

	if (!esp_sa_config_ok(c))
		return -EINVAL;
	sa = calloc(1, sizeof *sa);
	if (!sa)
		return -ENOMEM;
	rc = esp_cipher_create(&c->cipher, c->outbound, &sa->cipher);
	if (rc) {
		free(sa);
		return rc;
	}
	sa->config = *c;
	sa->config.cipher.key = sa->config.cipher.auth_key = sa->config.cipher.salt = NULL;
	sa->shape = esp_shape_of(c->cipher.encryption, c->cipher.integrity);
	sa->sequence = sa->recent.first = sa->recent.previous = c->sequence;
	if (!c->outbound) {
		esp_window_init(&sa->window, c->window, c->esn);
		esp_window_seen(&sa->window, c->sequence);
	}
	*out = sa;
	return 0;
}

void esp_sa_destroy(struct esp_sa *sa)
{
	if (!sa)
		return;
	esp_cipher_destroy(sa->cipher);
	free(sa);
}

static size_t esp_sa_padding(const struct esp_sa *sa, size_t len)
{
	return -(len + ESP_TRAILER_LEN) % sa->shape.align;
}

size_t esp_sa_overhead(const struct esp_sa *sa, size_t len)
{
	return esp_sa_front(sa) + esp_sa_padding(sa, len) + ESP_TRAILER_LEN + sa->shape.icv_len;
}

/** Has it had its time, or would @p len octets more be more than the SA is for? */
static bool esp_sa_over_limit(const struct esp_sa *sa, size_t len)
{
	const struct esp_sa_config *c = &sa->config;

	return sa->expired || (c->max_packets && sa->packets >= c->max_packets) ||
	       (c->max_octets && (sa->octets >= c->max_octets || len > c->max_octets - sa->octets));
}

/** @return its length (RFC 4106 section 5). */
static size_t esp_sa_aad(const struct esp_sa *sa, uint64_t sequence, uint8_t aad[ESP_AAD_ROOM])
{
	uint32_t spi = __builtin_bswap32(sa->config.spi);
	uint32_t low = __builtin_bswap32((uint32_t)sequence);

	if (!sa->config.esn) {
		store_words(aad, spi, low, 0, 0);
		return 8;
	}
	store_words(aad, spi, __builtin_bswap32((uint32_t)(sequence >> 32)), low, 0);
	return ESP_AAD_MAX;
}

/** What the IV is, or is made of. */
static void esp_sa_put_iv(const struct esp_sa *sa, uint8_t *iv)
{
	if (sa->shape.iv_len == 0)
		return;
	memset(iv, 0, sa->shape.iv_len);
	store_be64(iv, sa->config.iv_base + sa->sequence);
}

/** @return the last sequence number that is not of late. */
static uint64_t esp_sa_not_recent(const struct esp_sa *sa, uint64_t now)
{
	uint64_t ago = esp_sa_age(sa->recent.since, now);

	if (ago < ESP_RECENT_NS)
		return sa->recent.previous;
	return ago < 2 * ESP_RECENT_NS ? sa->recent.first : sa->sequence;
}

bool esp_sa_sent(const struct esp_sa *sa, const uint8_t *esp, size_t len, uint64_t now)
{
	uint32_t ago = (uint32_t)sa->sequence - load_be32(esp + ESP_SEQUENCE);

	if (ago >= sa->sequence - esp_sa_not_recent(sa, now))
		return false;
	if (ago < ESP_WINDOW_MAX)
		return true;
	/* That of AES-CBC is encrypted. */
	return sa->config.cipher.encryption == ESP_AES_GCM && len >= esp_sa_front(sa) &&
	       load_be64(esp + ESP_IV) == sa->config.iv_base + (sa->sequence - ago);
}

enum esp_verdict esp_sa_seal(struct esp_sa *sa, struct esp_buffer *b, uint8_t next)
{
	size_t payload = b->len, padding = esp_sa_padding(sa, payload), front = esp_sa_front(sa);
	uint8_t aad[ESP_AAD_ROOM], *from = esp_buffer_from(b), *at = from + payload;
	struct esp_cipher_packet p;

	if (sa->sequence == (sa->config.esn ? UINT64_MAX : UINT32_MAX) ||
		esp_sa_over_limit(sa, payload))
		return ESP_ENDED;
	if (b->headroom < front || b->tailroom < esp_sa_overhead(sa, payload) - front)
		return ESP_NO_ROOM;
	for (size_t i = 0; i < padding; i++)
		*at++ = (uint8_t)(i + 1);
	*at++ = (uint8_t)padding;
	*at++ = next;
	sa->sequence++;
	esp_buffer_push(b, front);
	store_be32(b->data + ESP_SPI, sa->config.spi);
	store_be32(b->data + ESP_SEQUENCE, (uint32_t)sa->sequence);
	esp_sa_put_iv(sa, b->data + ESP_IV);
	p = (struct esp_cipher_packet){.iv = b->data + ESP_IV,
		.aad = aad,
		.aad_len = esp_sa_aad(sa, sa->sequence, aad),
		.from = from,
		.text = b->data + front,
		.text_len = payload + padding + ESP_TRAILER_LEN,
		.icv = b->data + b->len + padding + ESP_TRAILER_LEN};
	esp_buffer_put(b, padding + ESP_TRAILER_LEN + sa->shape.icv_len);
	if (!esp_cipher_seal(sa->cipher, &p))
		return ESP_FAILED;
	sa->packets++;
	sa->octets += payload;
	return ESP_OK;
}

/** The end of the decrypted text: padding, its length, next header. */
static enum esp_verdict esp_sa_open_trailer(struct esp_buffer *b, uint8_t *next)
{
	const uint8_t *end = b->data + b->len;
	size_t padding = end[-2];

	*next = end[-1];
	esp_buffer_trim(b, ESP_TRAILER_LEN);
	if (padding > b->len)
		return ESP_BAD_PADDING;
	esp_buffer_trim(b, padding);
	for (size_t i = 0; i < padding; i++)
		if (b->data[b->len + i] != (uint8_t)(i + 1))
			return ESP_BAD_PADDING;
	return *next == ESP_NEXT_DUMMY ? ESP_DUMMY : ESP_OK;
}

enum esp_verdict esp_sa_open(struct esp_sa *sa, struct esp_buffer *b, uint8_t *next)
{
	size_t front = esp_sa_front(sa), icv_len = sa->shape.icv_len;
	uint8_t aad[ESP_AAD_ROOM];
	struct esp_cipher_packet p;
	enum esp_verdict v;
	uint64_t sequence;

	if (sa->expired)
		return ESP_ENDED;
	if (b->len < front + ESP_TRAILER_LEN + icv_len ||
		(b->len - front - icv_len) % sa->shape.align != 0)
		return ESP_SHORT;
	sequence = esp_window_sequence(&sa->window, load_be32(b->data + ESP_SEQUENCE));
	switch (esp_window_check(&sa->window, sequence)) {
	case ESP_WINDOW_REPLAY:
		return ESP_REPLAY;
	case ESP_WINDOW_LATE:
		return ESP_LATE;
	default:
		break;
	}
	p = (struct esp_cipher_packet){.iv = b->data + ESP_IV,
		.aad = aad,
		.aad_len = esp_sa_aad(sa, sequence, aad),
		.from = b->data + front,
		.text = b->data + front,
		.text_len = b->len - front - icv_len,
		.icv = b->data + b->len - icv_len};
	if (!esp_cipher_open(sa->cipher, &p))
		return ESP_BAD_ICV;
	esp_window_accept(&sa->window, sequence);
	esp_buffer_trim(b, icv_len);
	esp_buffer_pull(b, front);
	v = esp_sa_open_trailer(b, next);
	/* A limit must not be reached by what somebody else sent, so only now. */
	if (v != ESP_BAD_PADDING && esp_sa_over_limit(sa, b->len))
		return ESP_ENDED;
	if (v == ESP_OK) {
		sa->packets++;
		sa->octets += b->len;
	}
	return v;
}
