/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file handshake.h
 * The handshake (RFC 8446 section 4), by OpenSSL, between bytes that came and bytes to be sent. It
 * exists until it is done, and leaves the two application traffic secrets and the suite.
 *
 * Bytes are taken up to the end of a record, and then OpenSSL is asked. So what follows the last
 * record of the handshake is never taken. At most TLS_HANDSHAKE_MAX bytes are taken.
 *
 * Before the peer is known it costs at most 64 KiB, so what OpenSSL would take more memory for is
 * refused: it makes room for as much as a message says that it is going to be. See TLS_HELLO_MAX,
 * TLS_CERTIFICATES_MAX and TLS_LAST_RECORDS_MAX.
 */
#ifndef TLS_HANDSHAKE_H
#define TLS_HANDSHAKE_H

#include "tls/credentials.h"
#include "tls/suite.h"

#define TLS_HANDSHAKE_MAX 65536
/** A ClientHello or ServerHello: the messages that come in the clear, from anybody. */
#define TLS_HELLO_MAX 16384
/** A record behind the peer's certificates: CertificateVerify and Finished are short. */
#define TLS_LAST_RECORDS_MAX 4096

enum tls_handshake_state { TLS_HANDSHAKE_MORE, TLS_HANDSHAKE_DONE, TLS_HANDSHAKE_FAILED };

struct tls_handshake {
	struct tls_verifier verifier; /**< SSL's application data */
	struct tls_credentials *credentials;
	SSL *ssl;
	BIO *out; /**< of ssl */
	enum tls_handshake_state state;
	uint8_t header[TLS_HEADER_LEN]; /**< of the present record */
	uint8_t *record;                /**< it, once its header is whole; NULL */
	uint32_t record_len;            /**< bytes of it that have come */
	uint32_t taken;
	uint8_t message[TLS_MESSAGE_HEADER_LEN]; /**< header of the present one, in the clear */
	uint8_t message_len;                     /**< bytes of it that have come */
	uint32_t message_left;                   /**< of its body */
	const struct tls_suite *suite;           /**< once it is done */
	bool have_client, have_server;
	struct tls_secret_pool *pool;
	struct tls_secrets *secrets; /**< of @p pool, and its user's from when that takes them */
	uint32_t content_max;        /**< of a record, once it is done */
	/** Done: a server's tickets, which it has protected with its application's keys. */
	uint64_t tickets;
	char reason[256]; /**< why it has failed */
};

/**
 * Begin. A client has bytes to send at once, and resumes a session with the server if it has one.
 * @param remote the peer, for the check of its name.
 * @param now as time(2) has it, for that of its certificate.
 * @return NULL: no memory.
 */
struct tls_handshake *tls_handshake_create(struct tls_credentials_source *source,
	const struct ip_endpoint *remote, bool server, int64_t now);

/** A server, before any bytes: the peer's certificate must have its address, as a server's must. */
static inline void tls_handshake_demand_addr(struct tls_handshake *h)
{
	h->verifier.wants_addr = true;
}

/** Wipe and free. NULL is allowed. */
void tls_handshake_free(struct tls_handshake *h);

/**
 * Take bytes that came.
 * @return how many of them; less than @p len if it is done, or has failed, before the end.
 */
size_t tls_handshake_input(struct tls_handshake *h, const uint8_t *bytes, size_t len);

/** Is there a use for tickets, after a client's handshake? */
bool tls_handshake_wants_tickets(const struct tls_handshake *h);

/** A whole record with a ticket, as it came. All records before it were shown, too. */
void tls_handshake_take_ticket(struct tls_handshake *h, const uint8_t *record, uint32_t len);

/** Has it resumed a session? */
static inline bool tls_handshake_has_resumed(const struct tls_handshake *h)
{
	return !h->credentials->psk && SSL_session_reused(h->ssl) == 1;
}

/** Bytes that wait to be sent; also an alert, after a failure. */
static inline size_t tls_handshake_pending(struct tls_handshake *h)
{
	return BIO_ctrl_pending(h->out);
}

/** Take @p len of them, which must be there. */
void tls_handshake_output(struct tls_handshake *h, uint8_t *to, size_t len);

#endif
