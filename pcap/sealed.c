/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/sealed.h"

#ifdef PCAP_TLS

#include "base/bytes.h"
#include "pcap/connection.h"
#include "tls/record.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

/* Hellos (RFC 8446 sections 4.1.2 and 4.1.3): type, length, legacy version, random, session ID. */
#define SEALED_CLIENT_HELLO  1
#define SEALED_SERVER_HELLO  2
#define SEALED_AT_RANDOM     (TLS_HEADER_LEN + TLS_MESSAGE_HEADER_LEN + 2)
#define SEALED_AT_SESSION_ID (SEALED_AT_RANDOM + KEYLOG_RANDOM_LEN)

/** In a record's version, which begins with 3: TLS 1.3 writes what was before it. */
#define SEALED_MINOR_MAX 4

/** Records behind a hole whose number is looked for. */
#define SEALED_NEAR 4096

/**
 * Octets that tries may cost which open nothing: in the whole capture; of a connection, for each
 * octet of it that was captured; and at most. A try costs as much as its record, and more: to make
 * keys, or only to begin.
 */
#define SEALED_CREDIT       (4u << 20)
#define SEALED_CREDIT_EACH  32
#define SEALED_CREDIT_MAX   (64u << 20)
#define SEALED_COST_OF_KEYS 4096
#define SEALED_COST_OF_TRY  256

/** Changes of keys in one hole that are looked behind. */
#define SEALED_UPDATES 4

/** Records that wait for a secret which is not written yet. */
#define SEALED_WAITS 64

/** Content of a record, as long as the stream needs it. */
struct sealed_content {
	struct sealed_content *next;
	size_t len;
	uint8_t bytes[];
};

/** One direction. */
struct sealed_side {
	struct tls_direction keys;
	uint8_t secret[TLS_SECRET_MAX];
	bool open;   /**< a record of the application was opened */
	bool astray; /**< where records begin is not known */
	/* The record in hand. */
	uint8_t *record; /**< room for the longest */
	uint32_t have;
	bool unseen, lost;   /**< some of it is not in the capture; and no frame has that */
	struct piece begins; /**< at its first octet */
	uint32_t ends_with;  /**< the sequence number behind the latest octet of it */
	/** Since the last that was opened: records that were not, and octets of no known record. */
	uint64_t closed, passed;
	struct sealed_content *oldest, **newest;
	unsigned contents;
	size_t content_octets;
};

struct sealed {
	struct connection *c;
	const struct stream *client;
	struct keylog *log;
	uint8_t random[KEYLOG_RANDOM_LEN]; /**< of the ClientHello, if it was there */
	bool has_random;
	unsigned waits;                /**< records without secrets */
	bool tried;                    /**< there was a record to open, and a secret */
	const struct tls_suite *suite; /**< NULL: not known */
	uint64_t credit;               /**< what tries may cost (SEALED_CREDIT_EACH) */
	struct sealed_side side[2];
};

bool sealed_is_available(void)
{
	return true;
}

bool sealed_begins(const struct piece *p)
{
	return p->bytes && p->bytes[0] == TLS_HANDSHAKE && (p->len < 2 || p->bytes[1] == 3);
}

static bool sealed_may_begin(const uint8_t *header)
{
	uint32_t body = load_be16(header + TLS_AT_LENGTH);

	return header[0] >= TLS_CHANGE_CIPHER_SPEC && header[0] <= TLS_APPLICATION_DATA &&
	       header[1] == 3 && body != 0 && body <= TLS_CIPHERTEXT_MAX;
}

bool sealed_seems(const uint8_t *text, size_t len)
{
	return len >= TLS_HEADER_LEN && sealed_may_begin(text) && text[2] <= SEALED_MINOR_MAX;
}

bool sealed_is_client_hello(const struct packet *p)
{
	const uint8_t *h = p->text;

	return p->captured >= SEALED_AT_RANDOM && h[0] == TLS_HANDSHAKE && h[1] == 3 &&
	       h[TLS_HEADER_LEN] == SEALED_CLIENT_HELLO && h[SEALED_AT_RANDOM - 2] == 3 &&
	       h[SEALED_AT_RANDOM - 1] == 3;
}

struct sealed *sealed_new(struct connection *c, const struct stream *client, struct keylog *log)
{
	struct sealed *x = calloc(1, sizeof *x);

	if (!x)
		return NULL;
	x->c = c;
	x->client = client;
	x->log = log;
	for (unsigned i = 0; i < 2; i++) {
		x->side[i].newest = &x->side[i].oldest;
		x->side[i].record = malloc(TLS_HEADER_LEN + TLS_CIPHERTEXT_MAX);
		if (!x->side[i].record) {
			sealed_free(x);
			return NULL;
		}
	}
	return x;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/** In which order the secrets are: those of the client first. */
static unsigned sealed_is_server(const struct sealed *x, const struct stream *s)
{
	return s != x->client;
}

/** What its own octets do not pay for the capture lends. */
static bool sealed_spend(struct sealed *x, uint32_t cost)
{
	struct connection_shared *shared = x->c->shared;
	uint64_t own = x->credit < cost ? x->credit : cost;

	if (cost - own > SEALED_CREDIT - shared->lent)
		return false;
	x->credit -= own;
	shared->lent += cost - own;
	shared->tried += cost;
	return true;
}

/** It was not in vain. */
static void sealed_earn(struct sealed *x, uint32_t cost)
{
	struct connection_shared *shared = x->c->shared;
	uint64_t back = shared->lent < cost ? shared->lent : cost;

	shared->lent -= back;
	x->credit += cost - back;
	shared->tried -= cost;
}

/** The record in hand, if this is its key and number. @return false: it does not open. */
static bool sealed_try(
	struct sealed *x, struct sealed_side *d, uint64_t seq, uint8_t *out, uint32_t *len)
{
	uint32_t body = load_be16(d->record + TLS_AT_LENGTH);
	struct llp_iov v = {.base = d->record + TLS_HEADER_LEN, .len = body};
	struct tls_cursor at = {&v, 0};
	bool good;

	if (body <= TLS_TAG_LEN || !sealed_spend(x, SEALED_COST_OF_TRY + body))
		return false;
	d->keys.seq = seq;
	ERR_set_mark();
	good = tls_record_open(&d->keys, d->record, &at, body, out, len);
	ERR_pop_to_mark();
	if (good)
		sealed_earn(x, SEALED_COST_OF_TRY + body);
	return good;
}

/** How many numbers on from the expected one the record in hand may have. */
static uint64_t sealed_ahead(const struct sealed_side *d)
{
	uint64_t n = d->closed + d->passed / (TLS_RECORD_OVERHEAD + 1);

	return n < SEALED_NEAR ? n : SEALED_NEAR;
}

/** Is it the one with number @p seq, or one behind a hole there? */
static bool sealed_try_from(
	struct sealed *x, struct sealed_side *d, uint64_t seq, uint8_t *out, uint32_t *len)
{
	uint64_t most = sealed_ahead(d);

	for (uint64_t i = 0; i <= most; i++)
		if (sealed_try(x, d, seq + i, out, len))
			return true;
	return false;
}

static bool sealed_try_secret(struct sealed *x, struct sealed_side *d,
	const struct tls_suite *suite, const uint8_t *secret, uint8_t *out, uint32_t *len)
{
	return sealed_spend(x, SEALED_COST_OF_KEYS) &&
	       tls_direction_key(&d->keys, suite, secret, false) &&
	       sealed_try_from(x, d, 0, out, len);
}

static const struct keylog_secrets *sealed_secrets(const struct sealed *x)
{
	return x->has_random ? keylog_find(x->log, x->random) : NULL;
}

/** Is it a record of the application, the first or one behind a hole, sealed with this? */
static bool sealed_try_suites(struct sealed *x, struct stream *s,
	const struct keylog_secrets *secrets, uint8_t *out, uint32_t *len)
{
	static const uint16_t suites[] = {0x1301, 0x1302, 0x1303};
	struct sealed_side *d = &x->side[stream_side(s)];
	unsigned server = sealed_is_server(x, s);

	for (unsigned i = 0; i < sizeof suites / sizeof suites[0]; i++) {
		const struct tls_suite *suite = tls_suite_find(suites[i]);

		if ((x->suite && suite != x->suite) || suite->secret_len != secrets->len[server])
			continue;
		if (!sealed_try_secret(x, d, suite, secrets->secret[server], out, len))
			continue;
		memcpy(d->secret, secrets->secret[server], sizeof d->secret);
		x->suite = suite;
		return true;
	}
	return false;
}

/** Is it one with any of the secrets? They may be written meanwhile. */
static bool sealed_try_first(struct sealed *x, struct stream *s, uint8_t *out, uint32_t *len)
{
	const struct keylog_secrets *secrets;

	keylog_refresh(x->log);
	for (secrets = sealed_secrets(x); secrets; secrets = keylog_next(x->log, secrets)) {
		x->tried = true;
		if (sealed_try_suites(x, s, secrets, out, len))
			return true;
	}
	return false;
}

/**
 * Is it sealed with later keys, as the first or behind a hole? A hole may have as many changes as
 * records. The present keys stay if not.
 */
static bool sealed_try_later(struct sealed *x, struct sealed_side *d, uint8_t *out, uint32_t *len)
{
	const struct tls_suite *suite = d->keys.suite;
	uint64_t updates = 1 + sealed_ahead(d);
	uint8_t later[TLS_SECRET_MAX];

	memcpy(later, d->secret, sizeof later);
	for (unsigned i = 0; i < updates && i < SEALED_UPDATES; i++) {
		if (!sealed_spend(x, SEALED_COST_OF_KEYS) || !tls_suite_next_secret(suite, later))
			break;
		if (sealed_try_secret(x, d, suite, later, out, len)) {
			memcpy(d->secret, later, sizeof later);
			return true;
		}
	}
	(void)tls_direction_key(&d->keys, suite, d->secret, false);
	return false;
}

static bool sealed_open(struct sealed *x, struct stream *s, uint8_t *out, uint32_t *len)
{
	struct sealed_side *d = &x->side[stream_side(s)];
	uint64_t seq = d->keys.seq;

	if (!d->open)
		return sealed_try_first(x, s, out, len);
	if (sealed_try_from(x, d, seq, out, len) || sealed_try_later(x, d, out, len))
		return true;
	d->keys.seq = seq;
	return false;
}

/* ---- content -------------------------------------------------------------------------------- */

/** What the stream does not need any more is freed: it has as many pieces as it says. */
static void sealed_forget(struct sealed_side *d, unsigned pieces)
{
	while (d->contents > pieces) {
		struct sealed_content *old = d->oldest;

		d->oldest = old->next;
		if (!d->oldest)
			d->newest = &d->oldest;
		d->contents--;
		d->content_octets -= sizeof *old + old->len;
		free(old);
	}
}

static void sealed_keep(struct sealed_side *d, struct sealed_content *t)
{
	t->next = NULL;
	*d->newest = t;
	d->newest = &t->next;
	d->contents++;
	d->content_octets += sizeof *t + t->len;
}

/** The record in hand as a piece of text; its content lies in @p bytes. */
static struct piece sealed_piece(const struct sealed_side *d, const uint8_t *bytes, uint32_t len)
{
	struct piece p = d->begins;

	p.bytes = bytes;
	p.len = len;
	p.more = d->ends_with - p.seq - len;
	p.lost = !bytes && d->lost;
	return p;
}

/**
 * It cannot be opened, or is not there. How much of MPA's text that is nobody knows: it may be of
 * TLS itself, or have padding (RFC 8446 section 5.4).
 */
static void sealed_pass(struct sealed_side *d, struct stream *s)
{
	struct piece p = sealed_piece(d, NULL, d->ends_with - d->begins.seq);

	p.unmeasured = true;
	p.closed = !d->unseen;
	if (d->open)
		stream_take_text(s, &p);
}

/** RFC 8446 section 5.4: without padding and type. @return the type. */
static uint8_t sealed_strip(const uint8_t *text, uint32_t *len)
{
	while (*len != 0 && text[*len - 1] == 0)
		(*len)--;
	return *len != 0 ? text[--*len] : 0;
}

/** The record in hand, of the application as it seems, is whole. */
static void sealed_take_content(struct sealed *x, struct stream *s)
{
	struct sealed_side *d = &x->side[stream_side(s)];
	uint32_t body = load_be16(d->record + TLS_AT_LENGTH), len;
	struct sealed_content *t = NULL;
	struct piece p;

	sealed_forget(d, s->n);
	if (!d->unseen)
		t = malloc(sizeof *t + body);
	if (!t || !sealed_open(x, s, t->bytes, &len)) {
		free(t);
		d->closed++;
		sealed_pass(d, s);
		return;
	}
	/* What the application has sent first may have been before it. */
	if (!d->open && d->keys.seq > 1)
		s->whole = false;
	d->open = true;
	d->passed = d->closed = 0;
	t->len = body;
	if (sealed_strip(t->bytes, &len) != TLS_APPLICATION_DATA || len == 0) {
		free(t);
		return;
	}
	sealed_keep(d, t);
	p = sealed_piece(d, t->bytes, len);
	stream_take_text(s, &p);
}

/** The record in hand, of a handshake in the clear, is whole. */
static void sealed_take_hello(struct sealed *x, struct stream *s)
{
	const struct sealed_side *d = &x->side[stream_side(s)];
	const uint8_t *p = d->record, *suite;

	if (d->unseen || d->have <= SEALED_AT_SESSION_ID)
		return;
	if (p[TLS_HEADER_LEN] == SEALED_CLIENT_HELLO && s == x->client) {
		memcpy(x->random, p + SEALED_AT_RANDOM, sizeof x->random);
		x->has_random = true;
	}
	suite = p + SEALED_AT_SESSION_ID + 1 + p[SEALED_AT_SESSION_ID];
	if (p[TLS_HEADER_LEN] == SEALED_SERVER_HELLO && suite + 2 <= p + d->have)
		x->suite = tls_suite_find(load_be16(suite));
}

/* ---- records -------------------------------------------------------------------------------- */

/** Without secrets it might as well be something else; but a log may be behind the wire. */
static void sealed_lacks_secrets(struct sealed *x)
{
	if (!x->has_random || !x->log->path || ++x->waits >= SEALED_WAITS)
		x->c->not_mpa = true;
}

static void sealed_take_record(struct sealed *x, struct stream *s)
{
	struct sealed_side *d = &x->side[stream_side(s)];

	if (d->record[0] == TLS_APPLICATION_DATA)
		sealed_take_content(x, s);
	else if (d->record[0] == TLS_HANDSHAKE)
		sealed_take_hello(x, s);
	d->have = 0;
	d->unseen = d->lost = false;
	if (d->record[0] == TLS_APPLICATION_DATA && x->c->id == 0 && !sealed_secrets(x))
		sealed_lacks_secrets(x);
}

static void sealed_go_astray(struct sealed_side *d, struct stream *s)
{
	d->passed += d->ends_with - d->begins.seq;
	sealed_pass(d, s);
	d->astray = true;
	d->have = 0;
	d->unseen = d->lost = false;
}

/** @return octets that the record in hand has when it is whole, or its header alone. */
static uint32_t sealed_whole(const struct sealed_side *d)
{
	return d->have < TLS_HEADER_LEN ? TLS_HEADER_LEN
					: TLS_HEADER_LEN + load_be16(d->record + TLS_AT_LENGTH);
}

/** Add the next octets of @p p to the record in hand. @return how many. */
static uint32_t sealed_add(struct sealed_side *d, const struct piece *p, uint32_t at)
{
	uint32_t len = sealed_whole(d) - d->have;

	if (len > p->len - at)
		len = p->len - at;
	if (d->have == 0) {
		d->begins = *p;
		d->begins.seq += at;
		d->begins.first = p->first && at == 0;
	}
	if (p->bytes)
		memcpy(d->record + d->have, p->bytes + at, len);
	else
		d->unseen = true, d->lost |= p->lost;
	d->have += len;
	d->begins.last = p->last && at + len == p->len;
	d->ends_with = p->seq + at + len;
	return len;
}

void sealed_text(struct sealed *x, struct stream *s, const struct piece *p)
{
	struct sealed_side *d = &x->side[stream_side(s)];
	uint32_t at = 0;

	if (p->bytes)
		x->credit += (uint64_t)p->len * SEALED_CREDIT_EACH;
	if (x->credit > SEALED_CREDIT_MAX)
		x->credit = SEALED_CREDIT_MAX;
	if (d->astray && (!p->bytes || !p->first || p->len < TLS_HEADER_LEN ||
				 !sealed_may_begin(p->bytes))) {
		d->passed += p->len;
		return;
	}
	d->astray = false;
	while (at < p->len && !x->c->not_mpa && !d->astray) {
		at += sealed_add(d, p, at);
		if (d->have < TLS_HEADER_LEN && !d->unseen)
			continue;
		/* A header that is not there says no length. */
		if ((d->have <= TLS_HEADER_LEN && d->unseen) || !sealed_may_begin(d->record))
			sealed_go_astray(d, s);
		else if (d->have == sealed_whole(d))
			sealed_take_record(x, s);
	}
	if (d->astray)
		d->passed += p->len - at;
}

/* ---- life ----------------------------------------------------------------------------------- */

bool sealed_has_opened(const struct sealed *x, const struct stream *s)
{
	return x->side[stream_side(s)].open;
}

enum sealed_why sealed_why(const struct connection *c)
{
	const struct sealed *x = c->sealed;

	if (!x)
		return c->headless ? SEALED_NO_HELLO : SEALED_NOT;
	if (!x->has_random)
		return SEALED_NO_HELLO;
	if (!sealed_secrets(x))
		return SEALED_NO_SECRETS;
	if (x->side[0].open || x->side[1].open)
		return SEALED_NO_START;
	return x->tried ? SEALED_NO_KEY : SEALED_NO_RECORD;
}

size_t sealed_memory(const struct sealed *x)
{
	size_t n = sizeof *x + 2 * (TLS_HEADER_LEN + TLS_CIPHERTEXT_MAX);

	return n + x->side[0].content_octets + x->side[1].content_octets;
}

void sealed_free(struct sealed *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < 2; i++) {
		sealed_forget(&x->side[i], 0);
		tls_direction_clear(&x->side[i].keys);
		free(x->side[i].record);
	}
	free(x);
}

#else

bool sealed_is_available(void)
{
	return false;
}

bool sealed_begins(const struct piece *p)
{
	return false;
}

bool sealed_seems(const uint8_t *text, size_t len)
{
	return false;
}

bool sealed_is_client_hello(const struct packet *p)
{
	return false;
}

struct sealed *sealed_new(struct connection *c, const struct stream *client, struct keylog *log)
{
	return NULL;
}

void sealed_text(struct sealed *x, struct stream *s, const struct piece *p)
{
}

bool sealed_has_opened(const struct sealed *x, const struct stream *s)
{
	return false;
}

enum sealed_why sealed_why(const struct connection *c)
{
	return SEALED_NOT;
}

size_t sealed_memory(const struct sealed *x)
{
	return 0;
}

void sealed_free(struct sealed *x)
{
}

#endif
