/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file credentials.h
 * Who we are and whom we believe: the files of tls_config as OpenSSL wants them. They are read
 * again when they have changed. Connections that exist keep what they began with.
 */
#ifndef TLS_CREDENTIALS_H
#define TLS_CREDENTIALS_H

#include "base/secret_file.h"
#include "tls/library.h"
#include "tls/psk.h"
#include "tls/secret_pool.h"
#include "tls/session.h"
#include "tls/tls.h"
#include "tls/verified.h"

#include <openssl/ssl.h>

#define TLS_CREDENTIAL_FILES 4
/** A peer's chain of certificates, as a message: several of the longest keys fit. */
#define TLS_CERTIFICATES_MAX 16384

/** A set that is in use. */
struct tls_credentials {
	struct tls_library library; /**< of @p ctx and all that it makes */
	SSL_CTX *ctx;
	struct tls_psk_list *psk; /**< NULL: certificates */
	struct tls_verified_list verified;
	struct tls_session_list sessions;
	struct tls_session_given given;
	unsigned users;
};

struct tls_credentials_source {
	const struct tls_config *config;
	const struct log_sink *log;
	struct tls_credentials *now;
	struct secret_file_stamp stamp[TLS_CREDENTIAL_FILES]; /**< as they were last tried */
	struct tls_secret_pool secrets; /**< of handshakes, and then of their connections */
	struct tls_error refused;       /**< why they were, the last time; it is told once */
	int keylog;                     /**< a descriptor, or -1 */
	uint64_t reloads;
	int64_t tried_at; /**< when they were, as time(2) has it */
};

/** What the callbacks of a connection's SSL find as its application data. */
struct tls_verifier {
	const struct tls_config *config;
	struct tls_verified_list *verified; /**< with the CAs of the connection's credentials */
	struct tls_session_list *sessions;  /**< for the connection's server */
	struct tls_session_given *given;    /**< for the connection's client */
	struct ip_endpoint remote;
	bool server;
	bool wants_addr;       /**< without tls_peer_name, the name is @p remote's address */
	int64_t now;           /**< when the handshake began, as time(2) has it */
	bool has_certificates; /**< out: the peer's have come */
	/** Secrets of this connection, as a line of a key log. */
	void (*secret)(struct tls_verifier *v, const char *line);
	int keylog;
};

/**
 * Read them for the first time. @p config and @p log stay.
 * @return 0, or a negative errno with a sentence in @p e.
 */
int tls_credentials_open(struct tls_credentials_source *s, const struct tls_config *config,
	const struct log_sink *log, struct tls_error *e);
void tls_credentials_close(struct tls_credentials_source *s);

/**
 * The present set, for a new connection. If files have changed and are good, it is made of them; if
 * they are not, the last good one stays, the log says so, and they are tried again once in a
 * second.
 * @param now as time(2) has it.
 */
struct tls_credentials *tls_credentials_get(struct tls_credentials_source *s, int64_t now);

/**
 * Is the peer still believed that a session is with? It was when the session began, with the same
 * credentials, and its certificate and those up to the CA must not have expired since. And that
 * may have been for a listener that takes other names, or from another address.
 */
bool tls_credentials_believe_session(const struct tls_verifier *v, const SSL_SESSION *session);

/** Give it back. */
void tls_credentials_put(struct tls_credentials *c);

#endif
