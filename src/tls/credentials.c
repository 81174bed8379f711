/* SPDX-License-Identifier: BSD-2-Clause */
#include "tls/credentials.h"

#include "base/log_write.h"
#include "base/own_file.h"
#include "tls/peer_name.h"
#include "tls/pem.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* RFC 8446 section 4.2.11: a key of psk.h belongs to SHA-256. */
#define TLS_SUITES_CERTIFICATE \
	"TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
#define TLS_SUITES_PSK "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"

/** The ALPN identifier, as ALPN has it (RFC 7301 section 3.1). */
static const uint8_t tls_alpn[] = {5, 'i', 'w', 'a', 'r', 'p'};

/** OpenSSL's context of sessions: of ours there is one. */
static const uint8_t tls_session_context[] = {'i', 'w', 'a', 'r', 'p'};
/** How long a session may be resumed. Every resumption gives another. */
#define TLS_SESSION_SECONDS 3600

static int tls_credentials_complain(
	struct tls_error *e, const char *what, const char *path, const char *why)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	snprintf(e->text, sizeof e->text, "%s \"%.300s\": %s", what, path,
		why      ? why
		: reason ? reason
			 : "OpenSSL does not take it");
	return -EINVAL;
}

/* ---- callbacks --------------------------------------------------------------------------- */

static struct tls_verifier *tls_verifier_of(const SSL *ssl)
{
	return SSL_get_app_data(ssl);
}

static bool tls_credentials_name_fits(const struct tls_verifier *v, X509 *certificate)
{
	if (*v->config->peer_name != '\0')
		return tls_peer_name_matches(certificate, v->config->peer_name);
	return !v->wants_addr || tls_peer_name_has_addr(certificate, &v->remote.addr);
}

/** Does it lead to our CA? @return enum of X509_V_.... */
static int tls_credentials_verify_chain(const struct tls_verifier *v, X509_STORE_CTX *store)
{
	X509 *certificate = X509_STORE_CTX_get0_cert(store);

	if (tls_verified_has(v->verified, certificate, !v->server, v->now))
		return X509_V_OK;
	X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(store), v->now);
	if (X509_verify_cert(store) != 1)
		return X509_STORE_CTX_get_error(store);
	tls_verified_add(v->verified, certificate, !v->server, X509_STORE_CTX_get0_chain(store));
	return X509_V_OK;
}

/** @return enum of X509_V_.... */
static int tls_credentials_judge(const struct tls_verifier *v, X509_STORE_CTX *store)
{
	int error;

	/* A peer that does not know the key may not show a certificate instead. */
	if (*v->config->psk != '\0')
		return X509_V_ERR_CERT_UNTRUSTED;
	if (v->config->verify == TLS_VERIFY_NONE)
		return X509_V_OK;
	error = tls_credentials_verify_chain(v, store);
	if (error != X509_V_OK)
		return error;
	if (!tls_credentials_name_fits(v, X509_STORE_CTX_get0_cert(store)))
		return X509_V_ERR_HOSTNAME_MISMATCH;
	return X509_V_OK;
}

/** What was shown beside the peer's own certificate is not kept: it may be anything, and large. */
static void tls_credentials_drop_others(X509_STORE_CTX *store)
{
	STACK_OF(X509) *shown = X509_STORE_CTX_get0_untrusted(store);

	while (sk_X509_num(shown) > 1)
		X509_free(sk_X509_pop(shown));
}

static int tls_credentials_verify(X509_STORE_CTX *store, void *unused)
{
	const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls_verifier *v = tls_verifier_of(ssl);
	int error = tls_credentials_judge(v, store);

	v->has_certificates = true;
	tls_credentials_drop_others(store);
	X509_STORE_CTX_set_error(store, error);
	return error == X509_V_OK;
}

bool tls_credentials_believe_session(const struct tls_verifier *v, const SSL_SESSION *session)
{
	X509 *certificate = SSL_SESSION_get0_peer((SSL_SESSION *)(uintptr_t)session);

	if (v->config->verify == TLS_VERIFY_NONE)
		return true;
	return certificate && tls_verified_has(v->verified, certificate, !v->server, v->now) &&
	       tls_credentials_name_fits(v, certificate);
}

/** A client has a ticket of ours. If there is anything against it, certificates are shown anew. */
static SSL_SESSION *tls_credentials_take_ticket(
	SSL *ssl, const unsigned char *name, int len, int *keep)
{
	const struct tls_verifier *v = tls_verifier_of(ssl);
	SSL_SESSION *session = tls_session_find_given(v->given, name, (unsigned)len);

	*keep = 1;
	return session && tls_credentials_believe_session(v, session) ? session : NULL;
}

/** We have given a client a ticket, or a server us. @return 1: the session is ours now. */
static int tls_credentials_keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_verifier *v = tls_verifier_of(ssl);

	if (v->server)
		tls_session_give(v->given, session);
	else
		tls_session_put(v->sessions, &v->remote, session);
	return 1;
}

/** RFC 7301 section 3.2: who offers others alone takes us for somebody else. */
static int tls_credentials_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
	const unsigned char *in, unsigned in_len, void *unused)
{
	unsigned char *chosen;

	if (SSL_select_next_proto(&chosen, out_len, tls_alpn, sizeof tls_alpn, in, in_len) !=
		OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

static void tls_credentials_keylog(const SSL *ssl, const char *line)
{
	struct tls_verifier *v = tls_verifier_of(ssl);
	char whole[512];
	int n;

	v->secret(v, line);
	if (v->keylog < 0)
		return;
	n = snprintf(whole, sizeof whole, "%s\n", line);
	/* A log with a hole is what a full disk gives, and a FIFO whose reader is slow. */
	if (n > 0 && n < (int)sizeof whole)
		log_write(v->keylog, whole, (size_t)n);
	OPENSSL_cleanse(whole, sizeof whole);
}

/* ---- files ------------------------------------------------------------------------------- */

static int tls_credentials_load_key(SSL_CTX *ctx, const char *path, struct tls_error *e)
{
	char buffer[BUFSIZ];
	const char *why;
	EVP_PKEY *key;
	int rc;
	FILE *f = secret_file_open(path, "tls_key", &rc, e->text, sizeof e->text);

	if (!f)
		return rc;
	setvbuf(f, buffer, _IOFBF, sizeof buffer);
	key = PEM_read_PrivateKey(f, NULL, tls_pem_no_password, NULL);
	why = key ? NULL : secret_file_end(f);
	fclose(f);
	OPENSSL_cleanse(buffer, sizeof buffer);
	if (why) {
		snprintf(e->text, sizeof e->text, "tls_key \"%.300s\": %s", path, why);
		return secret_file_error(why);
	}
	if (!key)
		return tls_credentials_complain(
			e, "tls_key", path, "it has no private key in PEM without a password");
	if (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1)
		rc = tls_credentials_complain(
			e, "tls_key", path, "it is not the key of tls_certificate");
	else
		rc = 0;
	EVP_PKEY_free(key);
	return rc;
}

/**
 * What we show, once for all handshakes: our certificate and those between it and the CA, from both
 * files, but not the CA's own, which the peer has and would have to parse.
 */
static void tls_credentials_build_chain(SSL_CTX *ctx)
{
	SSL_CTX_set_mode(ctx, SSL_MODE_NO_AUTO_CHAIN);
	/* If there is no chain to a CA that we know: what the file has. */
	(void)SSL_CTX_build_cert_chain(
		ctx, SSL_BUILD_CHAIN_FLAG_UNTRUSTED | SSL_BUILD_CHAIN_FLAG_NO_ROOT |
			     SSL_BUILD_CHAIN_FLAG_IGNORE_ERROR | SSL_BUILD_CHAIN_FLAG_CLEAR_ERROR);
}

typedef bool (*tls_credentials_taker)(SSL_CTX *ctx, OSSL_LIB_CTX *library, BIO *in);

/** Read a file of certificates, and have @p take put them where they belong. */
static int tls_credentials_load_certificates(struct tls_credentials *c, const char *what,
	const char *path, tls_credentials_taker take, struct tls_error *e)
{
	const char *why;
	int rc;
	BIO *in = tls_pem_read(path, &rc, &why);

	if (!in) {
		snprintf(e->text, sizeof e->text, "%s \"%.300s\": %s", what, path, why);
		return rc;
	}
	ERR_set_mark();
	if (take(c->ctx, c->library.context, in)) {
		rc = 0;
		ERR_pop_to_mark();
	} else {
		rc = tls_credentials_complain(e, what, path,
			tls_pem_is_blamed() ? "it has no whole certificate in PEM" : NULL);
		ERR_clear_last_mark();
	}
	BIO_free(in);
	return rc;
}

static int tls_credentials_load(
	struct tls_credentials *c, const struct tls_config *config, struct tls_error *e)
{
	int rc = tls_credentials_load_certificates(
		c, "tls_certificate", config->certificate, tls_pem_use_chain, e);

	if (rc == 0 && *config->ca != '\0')
		rc = tls_credentials_load_certificates(c, "tls_ca", config->ca, tls_pem_believe, e);
	if (rc != 0)
		return rc;
	tls_credentials_build_chain(c->ctx);
	return tls_credentials_load_key(c->ctx, config->key, e);
}

/** The rules that do not depend on who we are. */
static bool tls_credentials_rules(SSL_CTX *ctx, bool psk)
{
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
	/* RFC 8879, which OpenSSL 3.2 begins with: room is made for what a stranger says is there.
	 */
	SSL_CTX_set_options(
		ctx, SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | SSL_OP_NO_TX_CERTIFICATE_COMPRESSION);
#endif
	/* A ticket that holds the session would be made by encoding it, decoding it and encoding it
	 * again, and its certificate with it. */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_max_cert_list(ctx, TLS_CERTIFICATES_MAX);
	/* Sessions are kept by us, if at all. Their keys are good for as long as the credentials.
	 */
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_BOTH | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(ctx, tls_credentials_keep_session);
	SSL_CTX_sess_set_get_cb(ctx, tls_credentials_take_ticket);
	SSL_CTX_set_timeout(ctx, TLS_SESSION_SECONDS);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(ctx, tls_credentials_verify, NULL);
	SSL_CTX_set_alpn_select_cb(ctx, tls_credentials_alpn, NULL);
	SSL_CTX_set_keylog_callback(ctx, tls_credentials_keylog);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1 &&
	       SSL_CTX_set_num_tickets(ctx, psk ? 0 : 1) == 1 &&
	       SSL_CTX_set_session_id_context(
		       ctx, tls_session_context, sizeof tls_session_context) == 1 &&
	       SSL_CTX_set_max_early_data(ctx, 0) == 1 &&
	       SSL_CTX_set_ciphersuites(ctx, psk ? TLS_SUITES_PSK : TLS_SUITES_CERTIFICATE) == 1 &&
	       SSL_CTX_set_alpn_protos(ctx, tls_alpn, sizeof tls_alpn) == 0;
}

static void tls_credentials_free(struct tls_credentials *c)
{
	tls_session_clear(&c->sessions);
	tls_session_clear_given(&c->given);
	SSL_CTX_free(c->ctx);
	tls_psk_free(c->psk);
	tls_library_close(&c->library);
	free(c);
}

static int tls_credentials_make(
	const struct tls_config *config, struct tls_credentials **out, struct tls_error *e)
{
	struct tls_credentials *c = calloc(1, sizeof *c);
	bool psk = *config->psk != '\0';
	int rc;

	if (c) {
		tls_library_open(&c->library);
		c->ctx = SSL_CTX_new_ex(c->library.context, NULL, TLS_method());
	}
	if (!c || !c->ctx || !tls_credentials_rules(c->ctx, psk)) {
		snprintf(e->text, sizeof e->text, "tls: OpenSSL does not start");
		rc = -ENOMEM;
	} else if (psk) {
		rc = tls_psk_read(config->psk, &c->psk, e);
		if (!rc && !tls_psk_use(c->psk, c->ctx)) {
			snprintf(e->text, sizeof e->text, "tls: no memory");
			rc = -ENOMEM;
		}
	} else {
		if (config->verify == TLS_VERIFY_NONE)
			/* A peer without a certificate is as good as any. */
			SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
		rc = tls_credentials_load(c, config, e);
	}
	if (rc) {
		if (c)
			tls_credentials_free(c);
		return rc;
	}
	c->users = 1;
	*out = c;
	return 0;
}

/* ---- when they change -------------------------------------------------------------------- */

static void tls_credentials_stamp(
	const struct tls_config *c, struct secret_file_stamp stamp[TLS_CREDENTIAL_FILES])
{
	const char *path[TLS_CREDENTIAL_FILES] = {c->certificate, c->key, c->ca, c->psk};

	for (unsigned i = 0; i < TLS_CREDENTIAL_FILES; i++)
		secret_file_stamp_take(&stamp[i], path[i]);
}

/**
 * Are they worth a try? What was refused is, in another second, as it is: a file that could not be
 * opened can be later, and OpenSSL without memory says of a good key that it is too small.
 */
static bool tls_credentials_changed(struct tls_credentials_source *s, int64_t now)
{
	struct secret_file_stamp stamp[TLS_CREDENTIAL_FILES];
	bool changed = s->refused.text[0] != '\0' && now != s->tried_at;

	tls_credentials_stamp(s->config, stamp);
	for (unsigned i = 0; i < TLS_CREDENTIAL_FILES; i++)
		changed = changed || secret_file_stamp_differs(&stamp[i], &s->stamp[i]);
	memcpy(s->stamp, stamp, sizeof stamp);
	s->tried_at = now;
	return changed;
}

struct tls_credentials *tls_credentials_get(struct tls_credentials_source *s, int64_t now)
{
	struct tls_credentials *fresh;
	struct tls_error e = {""};
	int rc;

	if (tls_credentials_changed(s, now)) {
		ERR_set_mark();
		rc = tls_credentials_make(s->config, &fresh, &e);
		if (rc == 0) {
			s->refused.text[0] = '\0';
			tls_credentials_put(s->now);
			s->now = fresh;
			s->reloads++;
			log_printf(s->log, LOG_LEVEL_INFO,
				"tls: certificates or keys have changed and were read again");
		} else {
			if (secret_file_is_news(s->refused.text, sizeof s->refused.text, e.text))
				log_printf(s->log, LOG_LEVEL_WARNING,
					"tls: the changed files are not used: %s", e.text);
		}
		ERR_pop_to_mark();
	}
	s->now->users++;
	return s->now;
}

void tls_credentials_put(struct tls_credentials *c)
{
	if (c && --c->users == 0)
		tls_credentials_free(c);
}

/* ---- open and close ---------------------------------------------------------------------- */

static int tls_credentials_open_keylog(struct tls_credentials_source *s, struct tls_error *e)
{
	const char *path = s->config->keylog, *why;
	struct stat st;
	int rc = 0;

	if (*path == '\0')
		return 0;
	s->keylog = own_file_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW, 0600);
	if (s->keylog < 0) {
		rc = s->keylog;
		why = own_file_strerror(rc);
	} else if (fstat(s->keylog, &st) == 0 && (S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode))) {
		why = st.st_uid == geteuid() ? secret_file_exposed(&st) : "it is somebody else's";
		rc = why ? -EACCES : 0;
	}
	if (rc != 0) {
		snprintf(e->text, sizeof e->text, "tls_keylog \"%.300s\": %s", path, why);
		return rc;
	}
	log_printf(s->log, LOG_LEVEL_WARNING,
		"tls: tls_keylog is set: who can read \"%.300s\" can read all connections", path);
	return 0;
}

int tls_credentials_open(struct tls_credentials_source *s, const struct tls_config *config,
	const struct log_sink *log, struct tls_error *e)
{
	int rc;

	*s = (struct tls_credentials_source){.config = config, .log = log, .keylog = -1};
	tls_secret_pool_init(&s->secrets, sizeof(struct tls_secrets));
	/* Programs may use verbs while they end. */
	if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
		snprintf(e->text, sizeof e->text, "tls: OpenSSL does not start");
		return -ENOMEM;
	}
	ERR_set_mark();
	tls_credentials_stamp(config, s->stamp);
	rc = tls_credentials_make(config, &s->now, e);
	ERR_pop_to_mark();
	if (!rc)
		rc = tls_credentials_open_keylog(s, e);
	if (!rc && config->verify == TLS_VERIFY_NONE && *config->psk == '\0')
		log_printf(log, LOG_LEVEL_WARNING,
			"tls: tls_verify = none: whoever can reach us is believed, also who is in "
			"the middle");
	if (rc)
		tls_credentials_close(s);
	return rc;
}

void tls_credentials_close(struct tls_credentials_source *s)
{
	tls_credentials_put(s->now);
	s->now = NULL;
	tls_secret_pool_fini(&s->secrets);
	if (s->keylog >= 0)
		close(s->keylog);
	s->keylog = -1;
}
