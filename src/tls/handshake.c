/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/handshake.h"

#include "base/bytes.h"
#include "base/container_of.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

/* ---- secrets ----------------------------------------------------------------------------- */

/** Hexadecimal digits to bytes. @return how many; 0: something else, or too many. */
static size_t tls_handshake_read_secret(const char *hex, uint8_t out[TLS_SECRET_MAX])
{
	size_t len = strlen(hex);

	if (len % 2 != 0 || len / 2 > TLS_SECRET_MAX)
		return 0;
	for (size_t i = 0; i < len / 2; i++) {
		int high = OPENSSL_hexchar2int((unsigned char)hex[2 * i]);
		int low = OPENSSL_hexchar2int((unsigned char)hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return 0;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return len / 2;
}

/** A line of a key log: LABEL RANDOM SECRET. It is the documented way to the traffic secrets. */
static void tls_handshake_take_secret(struct tls_verifier *v, const char *line)
{
	struct tls_handshake *h = container_of(v, struct tls_handshake, verifier);
	static const char client[] = "CLIENT_TRAFFIC_SECRET_0 ";
	static const char server[] = "SERVER_TRAFFIC_SECRET_0 ";
	const char *hex = strrchr(line, ' ');
	struct tls_secrets *s = h->secrets;

	if (!hex || !s)
		return;
	if (strncmp(line, client, sizeof client - 1) == 0)
		h->have_client = tls_handshake_read_secret(hex + 1, v->server ? s->rx : s->tx) != 0;
	else if (strncmp(line, server, sizeof server - 1) == 0)
		h->have_server = tls_handshake_read_secret(hex + 1, v->server ? s->tx : s->rx) != 0;
}

/* ---- steps ------------------------------------------------------------------------------- */

static void tls_handshake_fail(struct tls_handshake *h, const char *reason)
{
	h->state = TLS_HANDSHAKE_FAILED;
	snprintf(h->reason, sizeof h->reason, "%s", reason);
}

/** An alert that has come is an error of OpenSSL's, in words that name SSL 3. */
static bool tls_handshake_is_alert(unsigned long error)
{
	return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

/** Where OpenSSL blames what it came to in the end. @return NULL: not of a pre-shared key. */
static const char *tls_handshake_psk_reason(const struct tls_handshake *h, unsigned long error)
{
	if (!h->credentials->psk || ERR_GET_LIB(error) != ERR_LIB_SSL)
		return NULL;
	switch (ERR_GET_REASON(error)) {
	case SSL_R_BINDER_DOES_NOT_VERIFY:
		return "the peer's pre-shared key is not ours of that identity";
	case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
		return "the peer offers no pre-shared key whose identity we have";
	default:
		return NULL;
	}
}

/** Why OpenSSL does not go on, mostly in its words, which people look for. */
static void tls_handshake_explain(struct tls_handshake *h)
{
	long verified = SSL_get_verify_result(h->ssl);
	unsigned long error = ERR_peek_last_error();
	const char *reason = tls_handshake_psk_reason(h, error);

	h->state = TLS_HANDSHAKE_FAILED;
	if (verified != X509_V_OK) {
		snprintf(h->reason, sizeof h->reason, "the peer's certificate: %s",
			X509_verify_cert_error_string(verified));
	} else if (tls_handshake_is_alert(error)) {
		snprintf(h->reason, sizeof h->reason, "the peer sent the alert \"%s\"",
			SSL_alert_desc_string_long(ERR_GET_REASON(error) - SSL_AD_REASON_OFFSET));
	} else {
		if (!reason)
			reason = ERR_reason_error_string(error);
		tls_handshake_fail(h, reason ? reason : "no reason given");
	}
}

/**
 * RFC 6066 section 4: what a client asks for OpenSSL's server agrees to by itself, and a session
 * that is resumed has it, too.
 */
static uint32_t tls_handshake_content_max(const struct tls_handshake *h)
{
	uint8_t code = SSL_SESSION_get_max_fragment_length(SSL_get0_session(h->ssl));

	return code >= TLSEXT_max_fragment_length_512 && code <= TLSEXT_max_fragment_length_4096
		       ? UINT32_C(256) << code
		       : TLS_CONTENT_MAX;
}

static void tls_handshake_finish(struct tls_handshake *h)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(h->ssl);

	h->content_max = tls_handshake_content_max(h);
	h->suite = cipher ? tls_suite_find(SSL_CIPHER_get_protocol_id(cipher)) : NULL;
	if (!h->suite || !h->have_client || !h->have_server ||
		SSL_version(h->ssl) != TLS1_3_VERSION)
		tls_handshake_fail(h, "OpenSSL gives no secrets");
	else if (h->credentials->psk && !SSL_session_reused(h->ssl))
		tls_handshake_fail(h, "the peer does not know our pre-shared key");
	else
		h->state = TLS_HANDSHAKE_DONE;
}

/** Records of what waits to be sent behind the first @p before bytes of it. */
static uint64_t tls_handshake_count_records(struct tls_handshake *h, size_t before)
{
	const uint8_t *bytes;
	long len = BIO_get_mem_data(h->out, &bytes);
	uint64_t n = 0;

	for (size_t at = before; at + TLS_HEADER_LEN <= (size_t)len; n++)
		at += TLS_HEADER_LEN + load_be16(bytes + at + TLS_AT_LENGTH);
	return n;
}

static void tls_handshake_step(struct tls_handshake *h)
{
	size_t before = tls_handshake_pending(h);
	int rc;

	ERR_set_mark();
	rc = SSL_do_handshake(h->ssl);
	if (rc == 1)
		tls_handshake_finish(h);
	if (rc == 1 && h->verifier.server)
		/* Its part of the handshake was over when the client's Finished came. */
		h->tickets = tls_handshake_count_records(h, before);
	if (rc != 1 && SSL_get_error(h->ssl, rc) != SSL_ERROR_WANT_READ)
		tls_handshake_explain(h);
	ERR_pop_to_mark();
}

/** Give up, and tell the peer in the clear: there are no keys yet. */
static void tls_handshake_refuse(struct tls_handshake *h, enum tls_alert alert, const char *reason)
{
	const uint8_t record[] = {TLS_ALERT, TLS_LEGACY_VERSION >> 8, TLS_LEGACY_VERSION & 0xff, 0,
		TLS_ALERT_LEN, TLS_ALERT_FATAL, (uint8_t)alert};

	(void)BIO_write(h->out, record, sizeof record);
	tls_handshake_fail(h, reason);
}

/* ---- input ------------------------------------------------------------------------------- */

/** Messages in the clear: look at their headers. @return false: one says too much. */
static bool tls_handshake_check_hello(struct tls_handshake *h, const uint8_t *bytes, uint32_t len)
{
	while (len != 0) {
		if (h->message_len < TLS_MESSAGE_HEADER_LEN) {
			h->message[h->message_len++] = *bytes++;
			len--;
			if (h->message_len < TLS_MESSAGE_HEADER_LEN)
				continue;
			h->message_left = tls_message_body_len(h->message);
			if (h->message_left > TLS_HELLO_MAX)
				return false;
		} else {
			uint32_t n = h->message_left < len ? h->message_left : len;

			bytes += n;
			len -= n;
			h->message_left -= n;
		}
		if (h->message_left == 0)
			h->message_len = 0;
	}
	return true;
}

/** Show OpenSSL so many bytes of the record. It reads them where they lie, and all of them. */
static void tls_handshake_show(struct tls_handshake *h, const uint8_t *record, uint32_t len)
{
	BIO *in = BIO_new_mem_buf(record, (int)len);

	if (!in) {
		tls_handshake_fail(h, "no memory");
		return;
	}
	BIO_set_mem_eof_return(in, -1); /* more comes */
	SSL_set0_rbio(h->ssl, in);
	tls_handshake_step(h);
}

static uint32_t tls_handshake_body_len(const struct tls_handshake *h)
{
	return load_be16(h->header + TLS_AT_LENGTH);
}

/** The header is whole. */
static void tls_handshake_begin_record(struct tls_handshake *h)
{
	uint32_t body = tls_handshake_body_len(h);

	if (h->header[0] < TLS_CHANGE_CIPHER_SPEC || h->header[0] > TLS_APPLICATION_DATA) {
		tls_handshake_refuse(
			h, TLS_ALERT_UNEXPECTED_MESSAGE, "the peer does not speak TLS");
	} else if (body > TLS_CIPHERTEXT_MAX) {
		tls_handshake_show(h, h->header, TLS_HEADER_LEN); /* its to complain about */
		/* Before it is known to be TLS 1.3 OpenSSL would wait for a little more than that.
		 */
		if (h->state == TLS_HANDSHAKE_MORE)
			tls_handshake_refuse(
				h, TLS_ALERT_RECORD_OVERFLOW, "a record that is too long");
	} else if (h->verifier.has_certificates && body > TLS_LAST_RECORDS_MAX) {
		tls_handshake_fail(h, "a record behind the peer's certificates is too long");
	} else {
		h->record = OPENSSL_malloc(TLS_HEADER_LEN + body);
		if (h->record)
			memcpy(h->record, h->header, TLS_HEADER_LEN);
		else
			tls_handshake_fail(h, "no memory");
	}
}

/** The record is whole. */
static void tls_handshake_end_record(struct tls_handshake *h)
{
	const uint8_t *body = h->record + TLS_HEADER_LEN;

	if (h->header[0] == TLS_HANDSHAKE &&
		!tls_handshake_check_hello(h, body, tls_handshake_body_len(h)))
		tls_handshake_refuse(h, TLS_ALERT_ILLEGAL_PARAMETER,
			"a hello of the peer is longer than 16 KiB");
	else
		tls_handshake_show(h, h->record, h->record_len);
	OPENSSL_free(h->record);
	h->record = NULL;
	h->record_len = 0;
}

/** Take bytes of one record. @return how many. */
static size_t tls_handshake_take(struct tls_handshake *h, const uint8_t *bytes, size_t len)
{
	uint32_t have = h->record_len, whole = TLS_HEADER_LEN;

	if (h->record)
		whole += tls_handshake_body_len(h);
	if (len > whole - have)
		len = whole - have;
	memcpy((h->record ? h->record : h->header) + have, bytes, len);
	h->record_len += (uint32_t)len;
	if (h->record_len == TLS_HEADER_LEN && !h->record)
		tls_handshake_begin_record(h);
	if (h->record && h->record_len == TLS_HEADER_LEN + tls_handshake_body_len(h))
		tls_handshake_end_record(h);
	return len;
}

size_t tls_handshake_input(struct tls_handshake *h, const uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len && h->state == TLS_HANDSHAKE_MORE) {
		size_t n = tls_handshake_take(h, bytes + done, len - done);

		done += n;
		h->taken += (uint32_t)n;
		if (h->state == TLS_HANDSHAKE_MORE && h->taken >= TLS_HANDSHAKE_MAX)
			tls_handshake_fail(h, "the peer's part is longer than 64 KiB");
	}
	return done;
}

void tls_handshake_output(struct tls_handshake *h, uint8_t *to, size_t len)
{
	(void)BIO_read(h->out, to, (int)len);
}

/* ---- tickets ------------------------------------------------------------------------------ */

bool tls_handshake_wants_tickets(const struct tls_handshake *h)
{
	return !h->verifier.server && !h->credentials->psk;
}

void tls_handshake_take_ticket(struct tls_handshake *h, const uint8_t *record, uint32_t len)
{
	BIO *in = BIO_new_mem_buf(record, (int)len);
	uint8_t nothing;

	if (!in)
		return;
	BIO_set_mem_eof_return(in, -1);
	SSL_set0_rbio(h->ssl, in);
	ERR_set_mark();
	(void)SSL_read(h->ssl, &nothing, sizeof nothing);
	ERR_pop_to_mark();
}

/** Offer a session that the server has given us a ticket for, if its certificate is still good. */
static void tls_handshake_offer_session(struct tls_handshake *h)
{
	SSL_SESSION *session = tls_session_take(&h->credentials->sessions, &h->verifier.remote);

	if (session && tls_credentials_believe_session(&h->verifier, session))
		(void)SSL_set_session(h->ssl, session);
	SSL_SESSION_free(session);
}

/* ---- life -------------------------------------------------------------------------------- */

struct tls_handshake *tls_handshake_create(struct tls_credentials_source *source,
	const struct ip_endpoint *remote, bool server, int64_t now)
{
	struct tls_handshake *h = calloc(1, sizeof *h);
	BIO *in;

	if (!h)
		return NULL;
	h->credentials = tls_credentials_get(source, now);
	h->verifier = (struct tls_verifier){.config = source->config,
		.verified = &h->credentials->verified,
		.sessions = &h->credentials->sessions,
		.given = &h->credentials->given,
		.remote = *remote,
		.server = server,
		.wants_addr = !server,
		.now = now,
		.secret = tls_handshake_take_secret,
		.keylog = source->keylog};
	h->pool = &source->secrets;
	h->secrets = tls_secret_pool_get(h->pool);
	h->ssl = SSL_new(h->credentials->ctx);
	in = BIO_new(BIO_s_mem());
	h->out = BIO_new(BIO_s_mem());
	if (!h->secrets || !h->ssl || !in || !h->out) {
		BIO_free(in);
		BIO_free(h->out);
		h->out = NULL;
		tls_handshake_free(h);
		return NULL;
	}
	SSL_set_bio(h->ssl, in, h->out);
	SSL_set_app_data(h->ssl, &h->verifier);
	if (server) {
		SSL_set_accept_state(h->ssl);
	} else {
		SSL_set_connect_state(h->ssl);
		tls_handshake_offer_session(h);
		tls_handshake_step(h);
	}
	return h;
}

void tls_handshake_free(struct tls_handshake *h)
{
	if (!h)
		return;
	/* The connection goes on. OpenSSL would take it for cut off, and its session for spoiled.
	 */
	if (h->state == TLS_HANDSHAKE_DONE)
		SSL_set_shutdown(h->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(h->ssl);
	tls_credentials_put(h->credentials);
	tls_secret_pool_put(h->pool, h->secrets);
	OPENSSL_free(h->record);
	free(h);
}
