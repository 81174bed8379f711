/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "records.h"

#include <string.h>

struct tls_conn *records_begin(void)
{
	struct tls_conn *c;

	if (client.stack) {
		tls_user_close(&client);
		tls_user_close(&server);
	}
	begin(0);
	c = tls_conn_of(server.llp);
	tls_conn_enter(c);
	return c;
}

void records_add(
	struct records *r, uint8_t type, const uint8_t *content, size_t len, size_t padding)
{
	uint8_t *record = r->bytes + r->len, *text = record + TLS_HEADER_LEN;
	uint32_t inner = (uint32_t)(len + padding);

	assert_true(inner + TLS_RECORD_OVERHEAD <= sizeof r->bytes - r->len);
	memset(text, 0, inner);
	memcpy(text, content, len);
	/* To tls_record_seal() the last of the zeros is the type. */
	if (padding != 0)
		text[len] = type;
	assert_true(tls_record_seal(
		&tls_conn_of(client.llp)->tx, record, padding != 0 ? 0 : type, inner));
	r->len += inner + TLS_RECORD_OVERHEAD;
}

void records_add_stream(struct records *r, size_t at, size_t len)
{
	uint8_t content[TLS_CONTENT_MAX];

	for (size_t i = 0; i < len; i++)
		content[i] = tls_user_byte(at + i);
	records_add(r, TLS_APPLICATION_DATA, content, len, 0);
}

struct tls_input_bytes records_bytes(struct records *r, size_t piece)
{
	size_t at = 0;
	unsigned n = 0;

	for (; piece != 0 && n < RECORDS_PIECES - 1 && at + piece < r->len; at += piece)
		r->v[n++] = (struct llp_iov){.base = r->bytes + at, .len = piece};
	r->v[n] = (struct llp_iov){.base = r->bytes + at, .len = r->len - at};
	return (struct tls_input_bytes){.at = {r->v, 0}, .left = r->len};
}
