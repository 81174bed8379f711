/* SPDX-License-Identifier: BSD-2-Clause */
/* Where FPDUs begin, in any bytes, in any pieces: nothing but those bytes is read. */
#include "mpa/deframe.h"
#include "proofs/prove.h"

#define FPDU_MOST   12
#define PIECES_MOST 2

/* What is read matters here, not what is made of it: any bytes in a copy. */
uint32_t mpa_crc_add(uint32_t crc, const void *bytes, size_t len)
{
	assert(false); /* nothing here wants it */
	return crc;
}

bool guarded_copy(void *to, const void *from, size_t len)
{
	assert(__CPROVER_w_ok(to, len) && __CPROVER_r_ok(from, len));
	return true;
}

/*
 * Any @len bytes in up to PIECES_MOST pieces. Each ends where its memory does, so that one byte too
 * far is seen. (Memory of any size, from malloc(), would be much harder to prove.)
 */
static unsigned nondet_pieces(struct llp_iov *v, uint8_t memory[PIECES_MOST][FPDU_MOST], size_t len)
{
	unsigned n = 0;

	for (; n < PIECES_MOST && len != 0; n++) {
		v[n].len = n == PIECES_MOST - 1 ? len : nondet_size();
		assume(v[n].len != 0 && v[n].len <= len);
		v[n].base = memory[n] + FPDU_MOST - v[n].len;
		len -= v[n].len;
	}
	return n;
}

/* Any markers in any part of a stream: what they point to lies in it. */
void proof_deframe_find(void)
{
	struct mpa_deframe d = {.markers = true};
	uint8_t memory[PIECES_MOST][FPDU_MOST];
	uint64_t at = nondet_u64(), start;
	size_t len = nondet_size();
	struct llp_iov v[PIECES_MOST + 1];
	struct mpa_cursor c = {.v = v};

	assume(at <= UINT64_MAX - UINT32_MAX && len <= FPDU_MOST);
	c.n = nondet_pieces(v, memory, len);
	if (mpa_deframe_find(&d, at, &c, len, &start))
		assert(start >= at && start < at + len);
}
