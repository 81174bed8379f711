/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file input.h
 * The receiving side: from the bytes of the LLP below to content that the user sees.
 *
 * Records are read where they lie and written, opened, to memory of the stack, many after each
 * other. So content is shown in one piece, whatever the segments, and only after it was verified;
 * and packets that are shared with their sender stay as they are. What the user leaves is kept in
 * memory of the connection. If there is none, those records stay below and are opened again later
 * (starved.h).
 */
#ifndef TLS_INPUT_H
#define TLS_INPUT_H

#include "tls/conn.h"

/** As llp's readable(). */
size_t tls_input(
	struct tls_conn *c, const struct llp_iov *v, unsigned n, size_t total, size_t *need);

/** Show again what the user has left, if it wants to see it. */
void tls_input_show_kept(struct tls_conn *c);

/** The LLP's stream has ended, or has ended before and more of it was read now. */
void tls_input_eof(struct tls_conn *c);

/** Likewise, but records of it wait until the user takes what is kept. */
void tls_input_eof_waits(struct tls_conn *c);

#endif
