/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rdmap_stub.h
 * What lies around RDMAP in its proofs: an MPA that has room for one FPDU and keeps it, a QP whose
 * STags are good or not, and a stream that ends at the first error. Nothing of it is of a length
 * that RDMAP does not ask for.
 */
#ifndef PROOFS_RDMAP_STUB_H
#define PROOFS_RDMAP_STUB_H

#include "proofs/prove.h"
#include "rdmap/rdmap_priv.h"

/** The largest of the messages here, an Atomic Request, and some bytes that are too many. */
#define STUB_FPDU_MOST (DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQUEST_LEN + 4)

static uint8_t stub_fpdu[STUB_FPDU_MOST]; /**< ends where the memory does */
static uint32_t stub_fpdu_len;
static uint64_t stub_memory;
static bool stub_failed;

uint8_t *mpa_reserve(struct mpa *m, uint32_t len, bool join)
{
	assert(len <= STUB_FPDU_MOST);
	stub_fpdu_len = len;
	return stub_fpdu + STUB_FPDU_MOST - len;
}

void mpa_commit(struct mpa *m)
{
}

void mpa_cancel(struct mpa *m)
{
}

void mpa_push(struct mpa *m)
{
}

void mpa_shutdown(struct mpa *m)
{
}

void mpa_drop_input(struct mpa *m)
{
}

bool guarded_copy(void *to, const void *from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
	return true;
}

/** All lies in one piece here; pieces are for mpa_deframe.c. */
bool mpa_cursor_copy_pieces(struct mpa_cursor *c, void *out, size_t len)
{
	assert(false);
	return true;
}

bool guarded_copy_from(void *to, const void *from, size_t len)
{
	return guarded_copy(to, from, len);
}

int guarded_exchange(uint64_t *target, uint64_t *expected, uint64_t desired)
{
	*target = desired;
	return 1;
}

static int stub_stag_check(
	void *user, uint32_t stag, uint64_t to, uint32_t len, unsigned access, uint8_t **mem)
{
	*mem = (uint8_t *)&stub_memory;
	return 0;
}

static const struct rdmap_ops stub_ops = {.stag_check = stub_stag_check};

/** What was put into the last FPDU, as the peer gets it. */
static inline struct mpa_ulpdu stub_ulpdu(struct llp_iov *v)
{
	*v = (struct llp_iov){
		.base = stub_fpdu + STUB_FPDU_MOST - stub_fpdu_len, .len = stub_fpdu_len};
	return (struct mpa_ulpdu){.at = {.v = v, .n = 1}, .len = stub_fpdu_len};
}

#endif
