/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/tls_end.h"

#include <stdlib.h>
#include <string.h>

static void need(bool good)
{
	if (!good)
		abort();
}

static void on_info(const SSL *ssl, int where, int value)
{
	struct tls_end *e = SSL_get_app_data(ssl);

	if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && value >> 8 == 2)
		e->alert = value & 0xff;
}

static int believe(X509_STORE_CTX *store, void *unused)
{
	return 1;
}

void tls_end_init(struct tls_end *e, const struct tls_config *c, bool server)
{
	*e = (struct tls_end){.alert = -1};
	e->ctx = SSL_CTX_new(TLS_method());
	need(e->ctx != NULL);
	if (*c->certificate != '\0') {
		need(SSL_CTX_use_certificate_chain_file(e->ctx, c->certificate) == 1);
		need(SSL_CTX_use_PrivateKey_file(e->ctx, c->key, SSL_FILETYPE_PEM) == 1);
	}
	SSL_CTX_set_verify(e->ctx, server ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_cert_verify_callback(e->ctx, believe, NULL);
	tls_end_renew(e, server);
}

void tls_end_renew(struct tls_end *e, bool server)
{
	SSL_free(e->ssl);
	e->ssl = SSL_new(e->ctx);
	need(e->ssl != NULL);
	SSL_set_bio(e->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_app_data(e->ssl, e);
	SSL_set_info_callback(e->ssl, on_info);
	if (server)
		SSL_set_accept_state(e->ssl);
	else
		SSL_set_connect_state(e->ssl);
}

static bool read_text(struct tls_end *e)
{
	uint8_t bytes[20000];
	int n = SSL_read(e->ssl, bytes, sizeof bytes);

	if (n <= 0) {
		if (SSL_get_error(e->ssl, n) == SSL_ERROR_ZERO_RETURN)
			e->closed = true;
		return false;
	}
	if (e->text_len + (size_t)n > e->text_room) {
		e->text_room = 2 * (e->text_len + (size_t)n);
		e->text = realloc(e->text, e->text_room);
		need(e->text != NULL);
	}
	memcpy(e->text + e->text_len, bytes, (size_t)n);
	e->text_len += (size_t)n;
	return true;
}

bool tls_end_work(struct tls_end *e)
{
	bool any = e->raw.rx_len != 0;

	if (any) {
		need(BIO_write(SSL_get_rbio(e->ssl), e->raw.rx, (int)e->raw.rx_len) ==
			(int)e->raw.rx_len);
		llp_mem_peer_consume(&e->raw, e->raw.rx_len);
	}
	if (!e->done)
		e->done = SSL_do_handshake(e->ssl) == 1;
	while (e->done && read_text(e))
		any = true;
	return any;
}

size_t tls_end_take(struct tls_end *e, uint8_t *to, size_t room)
{
	int n = BIO_read(SSL_get_wbio(e->ssl), to, (int)room);

	return n > 0 ? (size_t)n : 0;
}

void tls_end_run(struct tls_end *e, struct llp_mem *m)
{
	uint8_t bytes[4096];
	bool any;

	do {
		size_t n;

		any = tls_end_work(e);
		while ((n = tls_end_take(e, bytes, sizeof bytes)) != 0) {
			any = true;
			if (e->raw.llp)
				llp_mem_send_raw(e->raw.llp, bytes, n);
		}
		if (llp_mem_run(m, 1000000) != 0)
			any = true;
	} while (any);
}

void tls_end_write(struct tls_end *e, const void *bytes, size_t len)
{
	need(SSL_write(e->ssl, bytes, (int)len) == (int)len);
}

void tls_end_fini(struct tls_end *e)
{
	llp_mem_peer_done(&e->raw);
	SSL_free(e->ssl);
	SSL_CTX_free(e->ctx);
	free(e->text);
}
