/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel of digest.h, written once. Each digest_*.c includes it after it has said by macros
 * with which instructions:
 *
 * DIGEST(name)        what its functions are called. It has DIGEST(usable), DIGEST(word), which is
 *                     the CRC by 8 bytes, and DIGEST(part), by fewer than 8. DIGEST(kernel) is made
 * DIGEST_LABEL        its name in words
 * DIGEST_TARGET       what they are compiled for
 * DIGEST_WIDTH        bytes of a vector, 0: none. Else also:
 * DIGEST_VECTOR       its type
 * DIGEST_LOAD, DIGEST_STORE            unaligned
 * DIGEST_INSN, DIGEST_REGS             the same instruction, for guarded_access.h
 * DIGEST_SEED(crc)    a vector with the CRC at its front
 * DIGEST_KEY(lo, hi)  each 16 bytes of a vector are these two words
 * DIGEST_FOLD(x, k, y)  the lower halves of each 16 bytes of x and k multiplied without carry,
 *                     the upper ones, and y, all added (xor)
 * DIGEST_AHEAD_1, DIGEST_AHEAD_4  keys: moves a vector's worth of the CRC by one, or four, vectors
 * DIGEST(reduce)      the CRC of a vector that all before was folded into
 * DIGEST_SUMS         what sums are kept in, zeroed: DIGEST(sum_vector) adds; DIGEST(sum_end)
 *
 * The CRC is the remainder of all bytes as one polynomial, so bytes may be multiplied by what
 * takes them to a later place and be added there ("Fast CRC computation for generic polynomials
 * using PCLMULQDQ instruction", Intel, 2009). The key that moves by n bits is, bit-reflected, x^(n
 * + 31) mod P for the lower half and x^(n - 33) mod P for the upper.
 */
#include "base/guarded_access.h"

#include <string.h>

#define DIGEST_INLINE DIGEST_TARGET static inline __attribute__((always_inline))

/** Where it is, and what of it is wanted: all known at compile time but the place. */
struct DIGEST(pass) {
	const uint8_t *from;
	uint8_t *to;
	size_t len;
	uint32_t crc;
	uint64_t sum;
	unsigned fault;
	bool copy, want_crc, want_sum;
};

DIGEST_INLINE bool DIGEST(faulted)(const struct DIGEST(pass) * p)
{
	return p->copy && __builtin_expect(p->fault, 0);
}

/** @p n bytes of @p v, fewer than 8, with the lowest first. */
DIGEST_INLINE void DIGEST(store_part)(uint8_t *to, uint64_t v, size_t n)
{
	if (n & 4) {
		memcpy(to, &v, 4);
		to += 4;
		v >>= 32;
	}
	if (n & 2) {
		memcpy(to, &v, 2);
		to += 2;
		v >>= 16;
	}
	if (n & 1)
		memcpy(to, &v, 1);
}

/** Ours, not the program's: where words begin does not matter, nor what is read twice. */
DIGEST_INLINE uint64_t DIGEST(load_part)(const uint8_t *from, size_t n)
{
	uint64_t v = 0;
	uint32_t w;

	if (n >= 4) {
		memcpy(&w, from + n - 4, 4);
		v = (uint64_t)w << 8 * (n - 4);
		memcpy(&w, from, 4);
		return v | w;
	}
	if (n & 2) {
		uint16_t h;

		memcpy(&h, from + (n & 1), 2);
		v = (uint64_t)h << 8 * (n & 1);
	}
	return n & 1 ? v | *from : v;
}

DIGEST_INLINE void DIGEST(take_part)(struct DIGEST(pass) * p, uint64_t v, size_t n)
{
	if (p->want_crc)
		p->crc = DIGEST(part)(p->crc, v, n);
	if (p->want_sum)
		p->sum += (v & UINT32_MAX) + (v >> 32);
	if (p->copy) {
		DIGEST(store_part)(p->to, v, n);
		p->to += n;
	}
	p->from += n;
	p->len -= n;
}

/** Words of 8 bytes; of the program's they begin here. */
DIGEST_INLINE void DIGEST(take_words)(struct DIGEST(pass) * p)
{
	for (; p->len >= 8 && !DIGEST(faulted)(p); p->len -= 8, p->from += 8) {
		uint64_t v;

		if (p->copy) {
			v = guarded_load_8(p->from, &p->fault);
			memcpy(p->to, &v, 8);
			p->to += 8;
		} else {
			memcpy(&v, p->from, 8);
		}
		if (p->want_crc)
			p->crc = DIGEST(word)(p->crc, v);
		if (p->want_sum)
			p->sum += (v & UINT32_MAX) + (v >> 32);
	}
}

#if DIGEST_WIDTH != 0

DIGEST_INLINE void DIGEST(take_1)(struct DIGEST(pass) * p, DIGEST_VECTOR *v, DIGEST_SUMS *sums)
{
	if (p->copy) {
#ifdef GUARDED_PLAIN
		*v = DIGEST_LOAD(p->from);
#else
		GUARDED_LOAD_VECTOR(DIGEST_INSN, DIGEST_REGS, DIGEST_WIDTH, v, p->from, &p->fault);
#endif
		DIGEST_STORE(p->to, *v);
		p->to += DIGEST_WIDTH;
	} else {
		*v = DIGEST_LOAD(p->from);
	}
	if (p->want_sum)
		DIGEST(sum_vector)(sums, *v);
	p->from += DIGEST_WIDTH;
	p->len -= DIGEST_WIDTH;
}

/*
 * Four are written out here and below, not counted: what a loop counts by, gcc keeps in memory, and
 * goes there for each vector.
 */
DIGEST_INLINE void DIGEST(load_4)(DIGEST_VECTOR v[4], const uint8_t *from)
{
	v[0] = DIGEST_LOAD(from);
	v[1] = DIGEST_LOAD(from + DIGEST_WIDTH);
	v[2] = DIGEST_LOAD(from + 2 * DIGEST_WIDTH);
	v[3] = DIGEST_LOAD(from + 3 * DIGEST_WIDTH);
}

DIGEST_INLINE void DIGEST(take_4)(struct DIGEST(pass) * p, DIGEST_VECTOR v[4], DIGEST_SUMS sums[2])
{
	if (p->copy) {
#ifdef GUARDED_PLAIN
		DIGEST(load_4)(v, p->from);
#else
		GUARDED_LOAD_VECTORS(DIGEST_INSN, DIGEST_REGS, DIGEST_WIDTH, v, p->from, &p->fault);
#endif
		DIGEST_STORE(p->to, v[0]);
		DIGEST_STORE(p->to + DIGEST_WIDTH, v[1]);
		DIGEST_STORE(p->to + 2 * DIGEST_WIDTH, v[2]);
		DIGEST_STORE(p->to + 3 * DIGEST_WIDTH, v[3]);
		p->to += 4 * DIGEST_WIDTH;
	} else {
		DIGEST(load_4)(v, p->from);
	}
	if (p->want_sum) {
		DIGEST(sum_vector)(&sums[0], v[0]);
		DIGEST(sum_vector)(&sums[1], v[1]);
		DIGEST(sum_vector)(&sums[0], v[2]);
		DIGEST(sum_vector)(&sums[1], v[3]);
	}
	p->from += 4 * DIGEST_WIDTH;
	p->len -= 4 * DIGEST_WIDTH;
}

/** Four vectors at a time, that their multiplications need not wait for each other. */
DIGEST_INLINE DIGEST_VECTOR DIGEST(take_fours)(struct DIGEST(pass) * p, DIGEST_SUMS sums[2])
{
	DIGEST_VECTOR x[4], y[4];

	DIGEST(take_4)(p, x, sums);
	if (p->want_crc)
		x[0] = DIGEST_XOR(x[0], DIGEST_SEED(p->crc));
	while (p->len >= 4 * DIGEST_WIDTH && !DIGEST(faulted)(p)) {
		DIGEST(take_4)(p, y, sums);
		if (p->want_crc) {
			x[0] = DIGEST_FOLD(x[0], DIGEST_AHEAD_4, y[0]);
			x[1] = DIGEST_FOLD(x[1], DIGEST_AHEAD_4, y[1]);
			x[2] = DIGEST_FOLD(x[2], DIGEST_AHEAD_4, y[2]);
			x[3] = DIGEST_FOLD(x[3], DIGEST_AHEAD_4, y[3]);
		}
	}
	if (p->want_crc) {
		x[1] = DIGEST_FOLD(x[0], DIGEST_AHEAD_1, x[1]);
		x[2] = DIGEST_FOLD(x[1], DIGEST_AHEAD_1, x[2]);
		x[3] = DIGEST_FOLD(x[2], DIGEST_AHEAD_1, x[3]);
	}
	return x[3];
}

/** At least one vector. */
DIGEST_INLINE void DIGEST(take_vectors)(struct DIGEST(pass) * p)
{
	DIGEST_SUMS sums[2] = {0};
	DIGEST_VECTOR x, y;

	if (p->len >= 4 * DIGEST_WIDTH) {
		x = DIGEST(take_fours)(p, sums);
	} else {
		DIGEST(take_1)(p, &x, &sums[0]);
		if (p->want_crc)
			x = DIGEST_XOR(x, DIGEST_SEED(p->crc));
	}
	while (p->len >= DIGEST_WIDTH && !DIGEST(faulted)(p)) {
		DIGEST(take_1)(p, &y, &sums[0]);
		if (p->want_crc)
			x = DIGEST_FOLD(x, DIGEST_AHEAD_1, y);
	}
	if (p->want_crc)
		p->crc = DIGEST(reduce)(x);
	if (p->want_sum)
		p->sum += DIGEST(sum_end)(sums);
}

#endif

DIGEST_INLINE void DIGEST(take_middle)(struct DIGEST(pass) * p)
{
#if DIGEST_WIDTH != 0
	if (p->len >= 2 * DIGEST_WIDTH)
		DIGEST(take_vectors)(p);
#endif
	DIGEST(take_words)(p);
}

/** The program's bytes up to where a word of 8 begins. @return how many. */
DIGEST_INLINE size_t DIGEST(take_head)(struct DIGEST(pass) * p)
{
	size_t n = -(uintptr_t)p->from & 7;

	if (n > p->len) {
		n = p->len;
		DIGEST(take_part)(p, guarded_load_inner(p->from, n, &p->fault), n);
	} else if (n != 0) {
		DIGEST(take_part)(p, guarded_load_head(p->from, n, &p->fault), n);
	}
	return n;
}

DIGEST_INLINE bool DIGEST(run)(uint32_t *crc, uint64_t *sum, uint8_t *to, const uint8_t *from,
	size_t len, bool copy, enum digest_what what)
{
	struct DIGEST(pass) p = {.from = from,
		.to = to,
		.len = len,
		.crc = *crc,
		.copy = copy,
		.want_crc = what & DIGEST_CRC,
		.want_sum = what & DIGEST_SUM};
	uint64_t head_sum;
	size_t head = copy ? DIGEST(take_head)(&p) : 0;

	head_sum = p.sum;
	p.sum = 0;
	DIGEST(take_middle)(&p);
	if (p.len != 0) {
		uint64_t v = copy ? guarded_load_tail(p.from, p.len, &p.fault)
				  : DIGEST(load_part)(p.from, p.len);

		DIGEST(take_part)(&p, v, p.len);
	}
	if (what & DIGEST_CRC)
		*crc = p.crc;
	if (what & DIGEST_SUM)
		*sum = head_sum + digest_shift(p.sum, head & 1);
	return !p.fault;
}

#define DIGEST_RUN(name, copy, what)                                                           \
	DIGEST_TARGET static bool DIGEST(name)(                                                \
		uint32_t * crc, uint64_t * sum, uint8_t * to, const uint8_t *from, size_t len) \
	{                                                                                      \
		return DIGEST(run)(crc, sum, to, from, len, copy, what);                       \
	}

DIGEST_RUN(add_crc, false, DIGEST_CRC)
DIGEST_RUN(add_sum, false, DIGEST_SUM)
DIGEST_RUN(add_both, false, DIGEST_BOTH)
DIGEST_RUN(copy_crc, true, DIGEST_CRC)
DIGEST_RUN(copy_sum, true, DIGEST_SUM)
DIGEST_RUN(copy_both, true, DIGEST_BOTH)
#undef DIGEST_RUN

const struct digest_kernel DIGEST(kernel) = {
	.name = DIGEST_LABEL,
	.usable = DIGEST(usable),
	.add = {[DIGEST_CRC] = DIGEST(add_crc),
		[DIGEST_SUM] = DIGEST(add_sum),
		[DIGEST_BOTH] = DIGEST(add_both)},
	.copy = {[DIGEST_CRC] = DIGEST(copy_crc),
		[DIGEST_SUM] = DIGEST(copy_sum),
		[DIGEST_BOTH] = DIGEST(copy_both)},
};

/* For the next, in the same unit perhaps. */
#undef DIGEST
#undef DIGEST_LABEL
#undef DIGEST_TARGET
#undef DIGEST_WIDTH
#undef DIGEST_VECTOR
#undef DIGEST_LOAD
#undef DIGEST_STORE
#undef DIGEST_INSN
#undef DIGEST_REGS
#undef DIGEST_SEED
#undef DIGEST_XOR
#undef DIGEST_KEY
#undef DIGEST_AHEAD_1
#undef DIGEST_AHEAD_4
#undef DIGEST_FOLD
#undef DIGEST_SUMS
#undef DIGEST_INLINE
