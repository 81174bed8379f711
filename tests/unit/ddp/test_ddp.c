/* SPDX-License-Identifier: BSD-2-Clause */
#include "ddp/ddp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* ULPDUs of Linux siw: a Send of 16 bytes and the head of a Read Response. */
static const uint8_t siw_send[] = {0x41, 0x43, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x55, 0xc2, 0x99, 0x14, 0x53, 0x70,
	0xd7, 0x96, 0x9c, 0x00, 0x00, 0x00, 0x00, 0x40};
static const uint8_t siw_response[] = {0xc1, 0x42, 0xe3, 0x0c, 0x37, 0x00, 0x00, 0x00, 0x55, 0xa7,
	0x39, 0xca, 0x15, 0x50, 0x72, 0x64, 0x6d, 0x61};

static const uint8_t control_bits[] = {0xfd, 0x40, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

/* A ULPDU in pieces of at most n bytes, each its own allocation. */
struct pieces {
	struct llp_iov v[64];
	unsigned n;
	struct mpa_ulpdu u;
};

static void cut(struct pieces *p, const uint8_t *bytes, size_t len, size_t n)
{
	p->n = 0;
	for (size_t at = 0; at < len; at += n) {
		size_t some = len - at < n ? len - at : n;
		uint8_t *copy = malloc(some);

		memcpy(copy, bytes + at, some);
		p->v[p->n++] = (struct llp_iov){.base = copy, .len = some};
	}
	p->u = (struct mpa_ulpdu){.at = {.v = p->v, .n = p->n}, .len = (uint32_t)len};
}

static void uncut(struct pieces *p)
{
	for (unsigned i = 0; i < p->n; i++)
		free((void *)(uintptr_t)p->v[i].base);
}

static void test_parse_untagged(void **state)
{
	for (size_t n = 1; n <= sizeof siw_send; n++) {
		uint8_t payload[16], header[DDP_HEADER_MAX];
		struct ddp_segment s;
		struct pieces p;

		cut(&p, siw_send, sizeof siw_send, n);
		assert_int_equal(ddp_parse(&s, &p.u), DDP_OK);
		assert_false(s.tagged);
		assert_true(s.last);
		assert_int_equal(s.ulp, 0x43);
		assert_int_equal(s.ulp32, 0);
		assert_int_equal(s.qn, 0);
		assert_int_equal(s.msn, 1);
		assert_int_equal(s.mo, 0);
		assert_int_equal(s.len, 16);
		ddp_place(&s, payload, 10);
		ddp_place(&s, payload + 10, 6);
		assert_memory_equal(payload, siw_send + 18, 16);
		ddp_copy_header(&s, header);
		assert_memory_equal(header, siw_send, 18);
		uncut(&p);
	}
}

static void test_parse_tagged(void **state)
{
	for (size_t n = 1; n <= sizeof siw_response; n++) {
		struct ddp_segment s;
		struct pieces p;
		uint8_t payload[4];

		cut(&p, siw_response, sizeof siw_response, n);
		assert_int_equal(ddp_parse(&s, &p.u), DDP_OK);
		assert_true(s.tagged);
		assert_true(s.last);
		assert_int_equal(s.ulp, 0x42);
		assert_int_equal(s.stag, 0xe30c3700);
		assert_true(s.to == 0x55a739ca1550);
		assert_int_equal(s.len, 4);
		ddp_place(&s, payload, 4);
		assert_memory_equal(payload, "rdma", 4);
		uncut(&p);
	}
}

/* Reserved bits are not checked; T and L are told apart. */
static void test_parse_control(void **state)
{
	struct ddp_segment s;
	struct pieces p;
	uint8_t b[sizeof control_bits];

	memcpy(b, control_bits, sizeof b);
	cut(&p, b, sizeof b, 64);
	assert_int_equal(ddp_parse(&s, &p.u), DDP_OK);
	assert_true(s.tagged && s.last);
	assert_int_equal(s.len, 0);
	uncut(&p);
	b[0] = 0x81;
	cut(&p, b, sizeof b, 64);
	assert_int_equal(ddp_parse(&s, &p.u), DDP_OK);
	assert_true(s.tagged && !s.last);
	uncut(&p);
}

static void test_parse_version(void **state)
{
	for (uint8_t version = 0; version < 4; version++) {
		uint8_t b[18] = {0};
		struct ddp_segment s;
		struct pieces p;

		b[0] = 0xc0 | version;
		cut(&p, b, sizeof b, 64);
		assert_int_equal(
			ddp_parse(&s, &p.u), version == 1 ? DDP_OK : DDP_ERROR_TAGGED_VERSION);
		uncut(&p);
		b[0] = 0x40 | version;
		cut(&p, b, sizeof b, 64);
		assert_int_equal(
			ddp_parse(&s, &p.u), version == 1 ? DDP_OK : DDP_ERROR_UNTAGGED_VERSION);
		uncut(&p);
	}
}

static void test_parse_short(void **state)
{
	static const uint8_t tagged[14] = {0xc1, 0x40}, untagged[18] = {0x41, 0x43};

	for (size_t len = 1; len <= 18; len++) {
		struct ddp_segment s;
		struct pieces p;

		cut(&p, untagged, len, 64);
		assert_int_equal(ddp_parse(&s, &p.u), len < 18 ? DDP_ERROR_SHORT : DDP_OK);
		uncut(&p);
	}
	for (size_t len = 1; len <= 14; len++) {
		struct ddp_segment s;
		struct pieces p;

		cut(&p, tagged, len, 64);
		assert_int_equal(ddp_parse(&s, &p.u), len < 14 ? DDP_ERROR_SHORT : DDP_OK);
		uncut(&p);
	}
}

static void test_parse_empty(void **state)
{
	static const uint8_t crc[4];
	const struct llp_iov v = {.base = crc, .len = sizeof crc};
	const struct mpa_ulpdu u = {.at = {.v = &v, .n = 1}, .len = 0};
	struct ddp_segment s;

	assert_int_equal(ddp_parse(&s, &u), DDP_ERROR_SHORT);
}

static enum ddp_error check(const struct ddp *d, uint32_t qn, uint32_t msn, uint32_t mo)
{
	struct ddp_segment s = {.qn = qn, .msn = msn, .mo = mo, .len = 10};

	return ddp_check_untagged(d, &s);
}

static void test_check_untagged(void **state)
{
	struct ddp d;

	ddp_init(&d);
	assert_int_equal(check(&d, 0, 1, 0), DDP_OK);
	assert_int_equal(check(&d, 1, 1, 0), DDP_OK);
	assert_int_equal(check(&d, 2, 1, 0), DDP_OK);
	assert_int_equal(check(&d, 4, 1, 0), DDP_ERROR_INVALID_QN);
	assert_int_equal(check(&d, UINT32_MAX, 1, 0), DDP_ERROR_INVALID_QN);
	assert_int_equal(check(&d, 0, 0, 0), DDP_ERROR_MSN_RANGE);
	assert_int_equal(check(&d, 0, 2, 0), DDP_ERROR_MSN_RANGE);
	assert_int_equal(check(&d, 0, 1, 1), DDP_ERROR_INVALID_MO);
	d.rx[0].mo = UINT32_MAX - 9;
	assert_int_equal(check(&d, 0, 1, UINT32_MAX - 9), DDP_ERROR_TOO_LONG);
	d.rx[0].mo = UINT32_MAX - 10;
	assert_int_equal(check(&d, 0, 1, UINT32_MAX - 10), DDP_OK);
}

static void test_check_room(void **state)
{
	struct ddp_segment s = {.mo = 10, .len = 20};

	assert_int_equal(ddp_check_room(&s, 30), DDP_OK);
	assert_int_equal(ddp_check_room(&s, 29), DDP_ERROR_TOO_LONG);
	assert_int_equal(ddp_check_room(&s, 10), DDP_ERROR_TOO_LONG);
	assert_int_equal(ddp_check_room(&s, 9), DDP_ERROR_INVALID_MO);
}

/* Queues move independently; MSNs wrap to 0 (RFC 5041 section 4.3). */
static void test_advance(void **state)
{
	struct ddp_segment s = {.qn = 0, .len = 100};
	struct ddp d;

	ddp_init(&d);
	d.rx[0].msn = UINT32_MAX;
	ddp_advance(&d, &s);
	assert_int_equal(d.rx[0].msn, UINT32_MAX);
	assert_int_equal(d.rx[0].mo, 100);
	assert_false(ddp_at_boundary(&d));
	assert_int_equal(check(&d, 1, 1, 0), DDP_OK);
	s.last = true;
	ddp_advance(&d, &s);
	assert_int_equal(d.rx[0].msn, 0);
	assert_int_equal(d.rx[0].mo, 0);
	assert_true(ddp_at_boundary(&d));
	/* It knows not which tagged segments are of one message. */
	s.tagged = true;
	s.last = false;
	ddp_advance(&d, &s);
	assert_true(ddp_at_boundary(&d));
	assert_int_equal(d.rx[0].mo, 0);
}

static void test_tagged_error(void **state)
{
	assert_int_equal(ddp_tagged_error(0), DDP_OK);
	assert_int_equal(ddp_tagged_error(-ENOENT), 0x100);
	assert_int_equal(ddp_tagged_error(-ERANGE), 0x101);
	assert_int_equal(ddp_tagged_error(-EPERM), 0x102);
	assert_int_equal(ddp_tagged_error(-EOVERFLOW), 0x103);
	assert_int_equal(ddp_tagged_error(-EACCES), 0x100);
}

static void test_put(void **state)
{
	uint8_t p[DDP_HEADER_MAX];

	ddp_put_untagged(p, true, 0x43, 0, 0, 1, 0);
	assert_memory_equal(p, siw_send, 18);
	ddp_put_untagged(p, false, 0x44, 0x01020304, 2, 0x0a0b0c0d, 0x11121314);
	assert_memory_equal(p,
		"\x01\x44\x01\x02\x03\x04\x00\x00\x00\x02\x0a\x0b\x0c\x0d"
		"\x11\x12\x13\x14",
		18);
	ddp_put_tagged(p, true, 0x42, 0xe30c3700, 0x55a739ca1550);
	assert_memory_equal(p, siw_response, 14);
	ddp_put_tagged(p, false, 0x40, 1, 0);
	assert_memory_equal(p, "\x81\x40\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_untagged),
		cmocka_unit_test(test_parse_tagged),
		cmocka_unit_test(test_parse_control),
		cmocka_unit_test(test_parse_version),
		cmocka_unit_test(test_parse_short),
		cmocka_unit_test(test_parse_empty),
		cmocka_unit_test(test_check_untagged),
		cmocka_unit_test(test_check_room),
		cmocka_unit_test(test_advance),
		cmocka_unit_test(test_tagged_error),
		cmocka_unit_test(test_put),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
