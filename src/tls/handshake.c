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

	if (!hex)
		return;
	if (strncmp(line, client, sizeof client - 1) == 0)
		h->have_client = tls_handshake_read_secret(hex + 1, h->client_secret) != 0;
	else if (strncmp(line, server, sizeof server - 1) == 0)
		h->have_server = tls_handshake_read_secret(hex + 1, h->server_secret) != 0;
}

/* ---- steps ------------------------------------------------------------------------------- */

static void tls_handshake_fail(struct tls_handshake *h, const char *reason)
{
	h->state = TLS_HANDSHAKE_FAILED;
	snprintf(h->reason, sizeof h->reason, "%s", reason);
}

/** Why OpenSSL does not go on, in its words, which people look for. */
static void tls_handshake_explain(struct tls_handshake *h)
{
	long verified = SSL_get_verify_result(h->ssl);
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	if (verified != X509_V_OK) {
		h->state = TLS_HANDSHAKE_FAILED;
		snprintf(h->reason, sizeof h->reason, "the peer's certificate: %s",
			X509_verify_cert_error_string(verified));
	} else {
		tls_handshake_fail(h, reason ? reason : "no reason given");
	}
}

static void tls_handshake_finish(struct tls_handshake *h)
{
	const SSL_CIPHER *cipher = SSL_get_current_cipher(h->ssl);

	h->suite = cipher ? tls_suite_find(SSL_CIPHER_get_protocol_id(cipher)) : NULL;
	if (!h->suite || !h->have_client || !h->have_server ||
		SSL_version(h->ssl) != TLS1_3_VERSION)
		tls_handshake_fail(h, "OpenSSL gives no secrets");
	else if (h->credentials->psk && !SSL_session_reused(h->ssl))
		tls_handshake_fail(h, "the peer does not know our pre-shared key");
	else
		h->state = TLS_HANDSHAKE_DONE;
}

static void tls_handshake_step(struct tls_handshake *h)
{
	int rc;

	ERR_set_mark();
	rc = SSL_do_handshake(h->ssl);
	if (rc == 1)
		tls_handshake_finish(h);
	else if (SSL_get_error(h->ssl, rc) != SSL_ERROR_WANT_READ)
		tls_handshake_explain(h);
	ERR_pop_to_mark();
}

/* ---- input ------------------------------------------------------------------------------- */

static size_t tls_handshake_take_header(struct tls_handshake *h, const uint8_t *bytes, size_t len)
{
	size_t n = TLS_HEADER_LEN - h->header_len;

	if (n > len)
		n = len;
	memcpy(h->header + h->header_len, bytes, n);
	h->header_len = (uint8_t)(h->header_len + n);
	if (h->header_len == TLS_HEADER_LEN) {
		h->body_left = load_be16(h->header + TLS_AT_LENGTH);
		if (BIO_write(h->in, h->header, TLS_HEADER_LEN) != TLS_HEADER_LEN)
			tls_handshake_fail(h, "no memory");
	}
	return n;
}

static size_t tls_handshake_take_body(struct tls_handshake *h, const uint8_t *bytes, size_t len)
{
	size_t n = h->body_left < len ? h->body_left : len;

	if (n != 0 && BIO_write(h->in, bytes, (int)n) != (int)n)
		tls_handshake_fail(h, "no memory");
	h->body_left -= (uint32_t)n;
	return n;
}

size_t tls_handshake_input(struct tls_handshake *h, const uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len && h->state == TLS_HANDSHAKE_MORE) {
		size_t n;

		if (h->header_len < TLS_HEADER_LEN)
			n = tls_handshake_take_header(h, bytes + done, len - done);
		else
			n = tls_handshake_take_body(h, bytes + done, len - done);
		done += n;
		if (h->state != TLS_HANDSHAKE_MORE)
			break;
		/* A length that no record has is OpenSSL's to complain about. */
		if (h->header_len == TLS_HEADER_LEN &&
			(h->body_left == 0 || h->body_left > TLS_CIPHERTEXT_MAX)) {
			h->header_len = 0;
			tls_handshake_step(h);
		}
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

/* ---- life -------------------------------------------------------------------------------- */

struct tls_handshake *tls_handshake_create(
	struct tls_credentials_source *source, const struct ip_addr *remote, bool server)
{
	struct tls_handshake *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->verifier = (struct tls_verifier){.config = source->config,
		.remote = *remote,
		.server = server,
		.secret = tls_handshake_take_secret,
		.keylog = source->keylog};
	h->credentials = tls_credentials_get(source);
	h->ssl = SSL_new(h->credentials->ctx);
	h->in = BIO_new(BIO_s_mem());
	h->out = BIO_new(BIO_s_mem());
	if (!h->ssl || !h->in || !h->out) {
		BIO_free(h->in);
		BIO_free(h->out);
		h->in = h->out = NULL;
		tls_handshake_free(h);
		return NULL;
	}
	SSL_set_bio(h->ssl, h->in, h->out);
	SSL_set_app_data(h->ssl, &h->verifier);
	if (server) {
		SSL_set_accept_state(h->ssl);
	} else {
		SSL_set_connect_state(h->ssl);
		tls_handshake_step(h);
	}
	return h;
}

void tls_handshake_free(struct tls_handshake *h)
{
	if (!h)
		return;
	SSL_free(h->ssl);
	tls_credentials_put(h->credentials);
	OPENSSL_cleanse(h, sizeof *h);
	free(h);
}
