/* SPDX-License-Identifier: BSD-2-Clause */
/** @file input_priv.h What the parts of the receiving side share. */
#ifndef TLS_INPUT_PRIV_H
#define TLS_INPUT_PRIV_H

#include "tls/input.h"

/** Why a record cannot be opened, and what becomes of the connection. */
struct tls_input_fault {
	enum tls_alert alert;
	int error; /**< of closed() */
	const char *reason;
};

/** Bytes that came and are not done with. */
struct tls_input_bytes {
	struct tls_cursor at;
	size_t left;
	const struct tls_input_fault *fault; /**< of the next record; NULL: none is known */
};

/* ---- content, input_content.c ------------------------------------------------------------- */

/**
 * Verified content, in its turn.
 * @return how much of it is done with: all that the user is, and the rest if it can be kept.
 */
size_t tls_input_deliver(struct tls_conn *c, const uint8_t *bytes, size_t len);

/** The user has enough to do with what is kept. */
bool tls_input_is_full(const struct tls_conn *c);

/* ---- records, input_record.c -------------------------------------------------------------- */

/**
 * Open the next record, if it is whole.
 * @param[out] type, len of its content, which is in @p out.
 * @return false: it is not whole, then @p need says how much is needed; or @p b has its fault.
 */
bool tls_input_open(struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, uint8_t *type,
	uint32_t *len, size_t *need);

/** The connection fails by @p fault, when all before that was shown. */
void tls_input_fail(struct tls_conn *c, const struct tls_input_fault *fault);

/** One that is no content. */
void tls_input_control(struct tls_conn *c, uint8_t type, const uint8_t *bytes, size_t len);

/* ---- many of them, input_run.c ------------------------------------------------------------ */

/**
 * Of the records that stay below, open those that have come since, each once, to see what content
 * is in them: it may be less than their octets, or none.
 * @param out room for a record.
 * @return that all are to be opened again: an FPDU may be whole, or something else follows.
 */
bool tls_input_has_come(struct tls_conn *c, const struct tls_input_bytes *b, uint8_t *out);

/** Open records, as many as are whole, and show their content. */
void tls_input_records(
	struct tls_conn *c, struct tls_input_bytes *b, uint8_t *out, size_t all, size_t *need);

#endif
