/* SPDX-License-Identifier: BSD-2-Clause */
/* DDP headers (RFC 5041 section 4) and the arithmetic of messages. */
#include "ddp/ddp.h"
#include "proofs/prove.h"

#define SEGMENT_MOST (DDP_HEADER_MAX + 2)

/* What is read matters here: any bytes in a copy. Whole headers in one piece are not copied. */
bool guarded_copy(void *to, const void *from, size_t len)
{
	assert(__CPROVER_w_ok(to, len) && __CPROVER_r_ok(from, len));
	return true;
}

/* All lies in one piece here; pieces are for mpa_deframe.c. */
bool mpa_cursor_copy_pieces(struct mpa_cursor *c, void *out, size_t len)
{
	assert(false);
	return true;
}

/* A ULPDU of @len bytes that ends where @memory does. */
static struct mpa_ulpdu ulpdu_of(struct llp_iov *v, const uint8_t *memory, uint32_t len)
{
	*v = (struct llp_iov){.base = memory + SEGMENT_MOST - len, .len = len};
	return (struct mpa_ulpdu){.at = {.v = v, .n = 1}, .len = len};
}

/* Any bytes: nothing but them is read, and header and payload are all of them. */
void proof_ddp_any_bytes(void)
{
	uint8_t memory[SEGMENT_MOST], copy[DDP_HEADER_MAX];
	uint32_t len = nondet_u32();
	struct mpa_ulpdu u;
	struct ddp_segment s;
	struct llp_iov v;
	enum ddp_error error;

	assume(len > 0 && len <= SEGMENT_MOST);
	u = ulpdu_of(&v, memory, len);
	error = ddp_parse(&s, &u);
	if (error == DDP_ERROR_SHORT) {
		assert(len < DDP_UNTAGGED_LEN);
		return;
	}
	assert(s.header_len + s.len == len);
	assert((error == DDP_OK) == ((v.base[0] & DDP_CONTROL_VERSION) == DDP_VERSION));
	ddp_copy_header(&s, copy);
}

/* Any tagged header: as it went in; and written again, the same bytes. */
void proof_ddp_tagged(void)
{
	uint8_t memory[SEGMENT_MOST], again[DDP_TAGGED_LEN];
	uint8_t *p = memory + SEGMENT_MOST - DDP_TAGGED_LEN;
	uint64_t to = nondet_u64();
	uint32_t stag = nondet_u32();
	uint8_t ulp = nondet_u8();
	bool last = nondet_bool();
	struct llp_iov v;
	struct mpa_ulpdu u = ulpdu_of(&v, memory, DDP_TAGGED_LEN);
	struct ddp_segment s;

	ddp_put_tagged(p, last, ulp, stag, to);
	assert(ddp_parse(&s, &u) == DDP_OK);
	assert(s.tagged && s.last == last && s.ulp == ulp && s.stag == stag && s.to == to);
	assert(s.len == 0);
	ddp_put_tagged(again, s.last, s.ulp, s.stag, s.to);
	assert(memcmp(again, p, sizeof again) == 0);
}

void proof_ddp_untagged(void)
{
	uint8_t memory[SEGMENT_MOST], again[DDP_UNTAGGED_LEN];
	uint8_t *p = memory + SEGMENT_MOST - DDP_UNTAGGED_LEN;
	uint32_t ulp32 = nondet_u32(), qn = nondet_u32(), msn = nondet_u32(), mo = nondet_u32();
	uint8_t ulp = nondet_u8();
	bool last = nondet_bool();
	struct llp_iov v;
	struct mpa_ulpdu u = ulpdu_of(&v, memory, DDP_UNTAGGED_LEN);
	struct ddp_segment s;

	ddp_put_untagged(p, last, ulp, ulp32, qn, msn, mo);
	assert(ddp_parse(&s, &u) == DDP_OK);
	assert(!s.tagged && s.last == last && s.ulp == ulp && s.ulp32 == ulp32);
	assert(s.qn == qn && s.msn == msn && s.mo == mo && s.len == 0);
	ddp_put_untagged(again, s.last, s.ulp, s.ulp32, s.qn, s.msn, s.mo);
	assert(memcmp(again, p, sizeof again) == 0);
}

/* Any segment of any message that passes the checks: no offset wraps, no buffer is left. */
void proof_ddp_message(void)
{
	struct ddp d = {0};
	struct ddp_segment s = {.qn = nondet_u32(),
		.msn = nondet_u32(),
		.mo = nondet_u32(),
		.len = nondet_u32(),
		.last = nondet_bool()};
	uint32_t room = nondet_u32();

	for (unsigned i = 0; i < DDP_QUEUES; i++)
		d.rx[i] = (struct ddp_queue){.msn = nondet_u32(), .mo = nondet_u32()};
	if (ddp_check_untagged(&d, &s) != DDP_OK)
		return;
	assert((uint64_t)s.mo + s.len <= UINT32_MAX);
	if (ddp_check_room(&s, room) == DDP_OK)
		assert((uint64_t)s.mo + s.len <= room);
	ddp_advance(&d, &s);
	if (s.last)
		assert(d.rx[s.qn].msn == (uint32_t)(s.msn + 1) && d.rx[s.qn].mo == 0);
	else
		assert(d.rx[s.qn].msn == s.msn && d.rx[s.qn].mo == s.mo + s.len);
}
