/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file records.h
 * Records of the client of tls_memory.h, which the test and not the LLP brings to its server: for
 * the parts of the receiving side (input_priv.h).
 */
#ifndef TESTS_UNIT_TLS_RECORDS_H
#define TESTS_UNIT_TLS_RECORDS_H

#include "tls/input_priv.h"
#include "tls_memory.h"

#define RECORDS_ROOM   300000
#define RECORDS_PIECES 64

struct records {
	uint8_t bytes[RECORDS_ROOM];
	size_t len;
	struct llp_iov v[RECORDS_PIECES];
};

/**
 * Both are connected, anew; what the last call has made is gone. @return the server's end, which
 * the test is inside of: tls_conn_leave().
 */
struct tls_conn *records_begin(void);

/** Seal one more, with so many zeros behind its type. */
void records_add(
	struct records *r, uint8_t type, const uint8_t *content, size_t len, size_t padding);

/** The same, of the next @p len bytes of the stream, from @p at on. */
void records_add_stream(struct records *r, size_t at, size_t len);

/** All of them, the first of which lie in pieces of @p piece octets; 0: in one. */
struct tls_input_bytes records_bytes(struct records *r, size_t piece);

#endif
