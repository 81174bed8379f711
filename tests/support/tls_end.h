/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tls_end.h
 * A foreign end of TLS: OpenSSL alone, on a raw connection of the LLP in memory. What it sends can
 * be held back, changed and cut before it goes out.
 */
#ifndef TESTS_SUPPORT_TLS_END_H
#define TESTS_SUPPORT_TLS_END_H

#include "support/llp_mem.h"
#include "tls/tls.h"

#include <openssl/ssl.h>

struct tls_end {
	struct llp_mem_peer raw;
	SSL_CTX *ctx;
	SSL *ssl;
	bool done;     /**< the handshake is */
	bool closed;   /**< a close_notify came */
	int alert;     /**< of the peer: the last fatal one, or -1 */
	uint8_t *text; /**< what was decrypted */
	size_t text_len, text_room;
};

/** Prepare it. @param c whose certificate it has; an empty path: none. */
void tls_end_init(struct tls_end *e, const struct tls_config *c, bool server);

/** Before anything was said: begin anew, as some of what is set for @p e's ctx counts only then. */
void tls_end_renew(struct tls_end *e, bool server);

/** Do what can be done with what came; what is to be sent waits. @return true: something was. */
bool tls_end_work(struct tls_end *e);

/** Take the next bytes to be sent. @return how many. */
size_t tls_end_take(struct tls_end *e, uint8_t *to, size_t room);

/** Send all that is to be sent, and take what comes, until nothing happens any more. */
void tls_end_run(struct tls_end *e, struct llp_mem *m);

/** Encrypt a record of @p len bytes. */
void tls_end_write(struct tls_end *e, const void *bytes, size_t len);

void tls_end_fini(struct tls_end *e);

#endif
