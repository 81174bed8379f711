/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * AES-GCM (NIST SP 800-38D) on vectors of two blocks, sixteen blocks at a time: while one batch
 * goes through the rounds of AES, another one's ciphertext is multiplied into the hash, so that
 * both units of the processor are busy.
 *
 * GHASH reads a block's first bit as the highest power. Blocks are turned around, byte by byte, and
 * all powers of the hash key have been multiplied by x: then a product without carries is in its
 * place without a shift, and two multiplications by the upper half of the polynomial reduce it. The
 * products of a batch are added before they are reduced.
 *
 * The time does not depend on keys or text: there is no table and no branch but on lengths.
 */
#include "tls/vaes.h"

#if TLS_VAES

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define VAES_TARGET __attribute__((target("avx2,aes,pclmul,vaes,vpclmulqdq")))
#define VAES_INLINE VAES_TARGET static inline __attribute__((always_inline))

/** VAES and VPCLMULQDQ; PCLMULQDQ and AES-NI. */
#define VAES_CPUID_7_ECX (1u << 9 | 1u << 10)
#define VAES_CPUID_1_ECX (1u << 1 | 1u << 25)

#define VAES_BLOCK   16
#define VAES_VECTOR  32
#define VAES_VECTORS 8
#define VAES_BATCH   ((size_t)VAES_VECTORS * VAES_VECTOR)
/** A batch and the block of lengths. */
#define VAES_POWERS     (VAES_BATCH / VAES_BLOCK + 1)
#define VAES_ROUNDS_MAX 14

/** An expanded key. */
struct tls_vaes_key {
	__m128i round[VAES_ROUNDS_MAX + 1];
	/** Of the hash key, the highest first; behind the last a zero, as they are read by two. */
	__m128i power[VAES_POWERS + 1];
	/** Both halves of each power, added. */
	__m128i across[VAES_POWERS + 1];
};

_Static_assert(sizeof(struct tls_vaes_key) <= sizeof(((struct tls_gcm_key *)0)->expanded),
	"room for our keys");

/** The product of polynomials, not reduced: in the middle what lies across both halves. */
struct tls_vaes_product {
	__m256i low, middle, high;
};

/** A message on its way. */
struct tls_vaes_state {
	__m128i hash;
	__m256i counter; /**< of the next two blocks, turned around */
};

#define VAES_REDUCE 0xc200000000000000

VAES_INLINE __m256i tls_vaes_turn(__m256i v)
{
	const __m128i order = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

	return _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(order));
}

VAES_INLINE __m128i tls_vaes_turn_1(__m128i v)
{
	return _mm256_castsi256_si128(tls_vaes_turn(_mm256_castsi128_si256(v)));
}

/** A load that the compiler does not do a second time: what others may write is read once. */
VAES_INLINE __m256i tls_vaes_load(const uint8_t *from)
{
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)from);

	__asm__("" : "+x"(v));
	return v;
}

VAES_INLINE void tls_vaes_store(uint8_t *to, __m256i v)
{
	_mm256_storeu_si256((__m256i *)(void *)to, v);
}

/* ---- AES --------------------------------------------------------------------------------- */

VAES_INLINE __m256i tls_vaes_round_key(const struct tls_vaes_key *k, unsigned i)
{
	return _mm256_broadcastsi128_si256(k->round[i]);
}

VAES_INLINE __m128i tls_vaes_encrypt_1(const struct tls_vaes_key *k, unsigned rounds, __m128i v)
{
	v = _mm_xor_si128(v, k->round[0]);
	for (unsigned i = 1; i < rounds; i++)
		v = _mm_aesenc_si128(v, k->round[i]);
	return _mm_aesenclast_si128(v, k->round[rounds]);
}

/** The next counters, and the first step of AES on them. */
VAES_INLINE void tls_vaes_count(
	const struct tls_vaes_key *k, struct tls_vaes_state *s, __m256i a[VAES_VECTORS])
{
	const __m256i two = _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2);
	__m256i key = tls_vaes_round_key(k, 0);

#pragma GCC unroll 8
	for (unsigned i = 0; i < VAES_VECTORS; i++) {
		a[i] = _mm256_xor_si256(tls_vaes_turn(s->counter), key);
		s->counter = _mm256_add_epi32(s->counter, two);
	}
}

VAES_INLINE void tls_vaes_round(
	const struct tls_vaes_key *k, unsigned round, __m256i a[VAES_VECTORS])
{
	__m256i key = tls_vaes_round_key(k, round);

#pragma GCC unroll 8
	for (unsigned i = 0; i < VAES_VECTORS; i++)
		a[i] = _mm256_aesenc_epi128(a[i], key);
}

VAES_INLINE void tls_vaes_last_round(
	const struct tls_vaes_key *k, unsigned rounds, __m256i a[VAES_VECTORS])
{
	__m256i key = tls_vaes_round_key(k, rounds);

#pragma GCC unroll 8
	for (unsigned i = 0; i < VAES_VECTORS; i++)
		a[i] = _mm256_aesenclast_epi128(a[i], key);
}

/* ---- GHASH ------------------------------------------------------------------------------- */

/** Add the product of the two blocks of @p x, turned around, with the powers from @p i on. */
VAES_INLINE void tls_vaes_multiply(
	const struct tls_vaes_key *k, struct tls_vaes_product *p, __m256i x, size_t i)
{
	__m256i h = _mm256_loadu_si256((const __m256i *)(const void *)&k->power[i]);
	__m256i both = _mm256_loadu_si256((const __m256i *)(const void *)&k->across[i]);
	__m256i halves = _mm256_xor_si256(x, _mm256_shuffle_epi32(x, 0x4e));

	p->low = _mm256_xor_si256(p->low, _mm256_clmulepi64_epi128(x, h, 0x00));
	p->high = _mm256_xor_si256(p->high, _mm256_clmulepi64_epi128(x, h, 0x11));
	p->middle = _mm256_xor_si256(p->middle, _mm256_clmulepi64_epi128(halves, both, 0x00));
}

VAES_INLINE __m128i tls_vaes_fold(__m256i v)
{
	return _mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

VAES_INLINE __m128i tls_vaes_reduce(const struct tls_vaes_product *p)
{
	const __m128i polynomial = _mm_set_epi64x((long long)VAES_REDUCE, 0);
	__m128i low = tls_vaes_fold(p->low), middle = tls_vaes_fold(p->middle),
		high = tls_vaes_fold(p->high);

	middle = _mm_xor_si128(middle, _mm_xor_si128(low, high));
	middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4e));
	middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(low, polynomial, 0x10));
	high = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4e));
	return _mm_xor_si128(high, _mm_clmulepi64_si128(middle, polynomial, 0x10));
}

/** By the hash key itself. */
VAES_INLINE __m128i tls_vaes_multiply_1(const struct tls_vaes_key *k, __m128i a)
{
	struct tls_vaes_product p = {0};

	tls_vaes_multiply(k, &p, _mm256_zextsi128_si256(a), VAES_POWERS - 1);
	return tls_vaes_reduce(&p);
}

/* ---- keys -------------------------------------------------------------------------------- */

/** A word of the key schedule depends on the one before, and on the one a key's length before. */
VAES_INLINE __m128i tls_vaes_schedule(__m128i before, __m128i assist)
{
	before = _mm_xor_si128(before, _mm_slli_si128(before, 4));
	before = _mm_xor_si128(before, _mm_slli_si128(before, 8));
	return _mm_xor_si128(before, assist);
}

#define VAES_NEXT_128(k, i, constant)                        \
	(k)->round[i] = tls_vaes_schedule((k)->round[i - 1], \
		_mm_shuffle_epi32(_mm_aeskeygenassist_si128((k)->round[i - 1], constant), 0xff))
#define VAES_NEXT_256(k, i, constant, word)                  \
	(k)->round[i] = tls_vaes_schedule((k)->round[i - 2], \
		_mm_shuffle_epi32(_mm_aeskeygenassist_si128((k)->round[i - 1], constant), word))

VAES_TARGET static void tls_vaes_schedule_128(struct tls_vaes_key *k, const uint8_t *key)
{
	k->round[0] = _mm_loadu_si128((const __m128i *)(const void *)key);
	VAES_NEXT_128(k, 1, 0x01);
	VAES_NEXT_128(k, 2, 0x02);
	VAES_NEXT_128(k, 3, 0x04);
	VAES_NEXT_128(k, 4, 0x08);
	VAES_NEXT_128(k, 5, 0x10);
	VAES_NEXT_128(k, 6, 0x20);
	VAES_NEXT_128(k, 7, 0x40);
	VAES_NEXT_128(k, 8, 0x80);
	VAES_NEXT_128(k, 9, 0x1b);
	VAES_NEXT_128(k, 10, 0x36);
}

VAES_TARGET static void tls_vaes_schedule_256(struct tls_vaes_key *k, const uint8_t *key)
{
	k->round[0] = _mm_loadu_si128((const __m128i *)(const void *)key);
	k->round[1] = _mm_loadu_si128((const __m128i *)(const void *)(key + VAES_BLOCK));
	VAES_NEXT_256(k, 2, 0x01, 0xff);
	VAES_NEXT_256(k, 3, 0x00, 0xaa);
	VAES_NEXT_256(k, 4, 0x02, 0xff);
	VAES_NEXT_256(k, 5, 0x00, 0xaa);
	VAES_NEXT_256(k, 6, 0x04, 0xff);
	VAES_NEXT_256(k, 7, 0x00, 0xaa);
	VAES_NEXT_256(k, 8, 0x08, 0xff);
	VAES_NEXT_256(k, 9, 0x00, 0xaa);
	VAES_NEXT_256(k, 10, 0x10, 0xff);
	VAES_NEXT_256(k, 11, 0x00, 0xaa);
	VAES_NEXT_256(k, 12, 0x20, 0xff);
	VAES_NEXT_256(k, 13, 0x00, 0xaa);
	VAES_NEXT_256(k, 14, 0x40, 0xff);
}

/** Multiply by x: what leaves at the top comes back as the polynomial. */
VAES_INLINE __m128i tls_vaes_times_x(__m128i h)
{
	__m128i carry = _mm_srli_epi64(h, 63), top = _mm_shuffle_epi32(_mm_srai_epi32(h, 31), 0xff);
	const __m128i polynomial = _mm_set_epi64x((long long)VAES_REDUCE, 1);

	h = _mm_or_si128(_mm_slli_epi64(h, 1), _mm_slli_si128(carry, 8));
	return _mm_xor_si128(h, _mm_and_si128(top, polynomial));
}

VAES_INLINE void tls_vaes_expand_hash(struct tls_vaes_key *k, unsigned rounds)
{
	__m128i h = tls_vaes_turn_1(tls_vaes_encrypt_1(k, rounds, _mm_setzero_si128()));

	k->power[VAES_POWERS] = k->across[VAES_POWERS] = _mm_setzero_si128();
	h = tls_vaes_times_x(h);
	for (unsigned i = VAES_POWERS; i-- != 0; h = tls_vaes_multiply_1(k, h)) {
		k->power[i] = h;
		k->across[i] = _mm_xor_si128(h, _mm_shuffle_epi32(h, 0x4e));
	}
}

/* ---- messages ---------------------------------------------------------------------------- */

/** Vector @p i of a whole batch of ciphertext. */
VAES_INLINE void tls_vaes_hash(const struct tls_vaes_key *k, struct tls_vaes_state *s,
	struct tls_vaes_product *p, unsigned i, __m256i cipher)
{
	__m256i x = tls_vaes_turn(cipher);

	if (i == 0)
		x = _mm256_xor_si256(x, _mm256_zextsi128_si256(s->hash));
	tls_vaes_multiply(k, p, x, 1 + 2 * i);
}

/**
 * A batch through AES, while another is hashed.
 * @param hashed, cipher the batch to hash, at one of them; both NULL: there is none.
 * @param[out] a what the text is added to.
 */
VAES_INLINE void tls_vaes_batch(const struct tls_vaes_key *k, unsigned rounds,
	struct tls_vaes_state *s, const __m256i *hashed, const uint8_t *cipher,
	__m256i a[VAES_VECTORS])
{
	struct tls_vaes_product p = {0};

	tls_vaes_count(k, s, a);
#pragma GCC unroll 14
	for (unsigned i = 1; i < rounds; i++) {
		tls_vaes_round(k, i, a);
		if (i > VAES_VECTORS)
			continue;
		if (hashed)
			tls_vaes_hash(k, s, &p, i - 1, hashed[i - 1]);
		else if (cipher)
			tls_vaes_hash(
				k, s, &p, i - 1, tls_vaes_load(cipher + (i - 1) * VAES_VECTOR));
	}
	tls_vaes_last_round(k, rounds, a);
	if (hashed || cipher)
		s->hash = tls_vaes_reduce(&p);
}

/** What is left of a message. */
struct tls_vaes_rest {
	uint8_t *out;
	const uint8_t *in;
	size_t len;   /**< less than a batch */
	size_t whole; /**< of the message */
	bool open;    /**< what is read is hashed, and not what is written */
};

/** The last bytes, fewer than a vector, and the block of lengths, with the powers from @p i on. */
VAES_INLINE __m128i tls_vaes_last(const struct tls_vaes_key *k, const struct tls_vaes_rest *r,
	struct tls_vaes_product *p, __m256i a, __m128i hash, size_t i)
{
	_Alignas(VAES_VECTOR) uint8_t last[2 * VAES_VECTOR] = {0}, made[VAES_VECTOR];
	size_t at = r->len - r->len % VAES_VECTOR, len = r->len - at;
	size_t padded = (len + VAES_BLOCK - 1) / VAES_BLOCK * VAES_BLOCK;
	__m128i lengths =
		tls_vaes_turn_1(_mm_set_epi64x(TLS_HEADER_LEN * 8, (long long)(r->whole * 8)));

	memcpy(last, r->in + at, len);
	tls_vaes_store(made, _mm256_xor_si256(tls_vaes_load(last), a));
	memcpy(r->out + at, made, len);
	if (!r->open)
		memcpy(last, made, len);
	memcpy(last + padded, &lengths, sizeof lengths);
	tls_vaes_multiply(k, p,
		_mm256_xor_si256(tls_vaes_turn(tls_vaes_load(last)), _mm256_zextsi128_si256(hash)),
		i);
	if (padded == VAES_VECTOR)
		tls_vaes_multiply(k, p, tls_vaes_turn(tls_vaes_load(last + VAES_VECTOR)), i + 2);
	return tls_vaes_turn_1(tls_vaes_reduce(p));
}

/**
 * @param cipher a batch that is not hashed yet, or NULL.
 * @return the tag, not encrypted.
 */
VAES_INLINE __m128i tls_vaes_finish(const struct tls_vaes_key *k, unsigned rounds,
	struct tls_vaes_state *s, const uint8_t *cipher, const struct tls_vaes_rest *r)
{
	size_t blocks = (r->len + VAES_BLOCK - 1) / VAES_BLOCK, power = VAES_POWERS - 1 - blocks;
	__m256i a[VAES_VECTORS];
	struct tls_vaes_product p = {0};
	__m128i hash;

	tls_vaes_batch(k, rounds, s, NULL, cipher, a);
	hash = s->hash;
	for (size_t i = 0; i < r->len / VAES_VECTOR; i++) {
		__m256i read = tls_vaes_load(r->in + i * VAES_VECTOR);
		__m256i made = _mm256_xor_si256(read, a[i]);

		tls_vaes_store(r->out + i * VAES_VECTOR, made);
		made = tls_vaes_turn(r->open ? read : made);
		made = _mm256_xor_si256(made, _mm256_zextsi128_si256(hash));
		hash = _mm_setzero_si128();
		tls_vaes_multiply(k, &p, made, power);
		power += 2;
	}
	return tls_vaes_last(k, r, &p, a[r->len / VAES_VECTOR], hash, power);
}

/** @return what the tag is added to. */
VAES_INLINE __m128i tls_vaes_begin(const struct tls_vaes_key *k, unsigned rounds,
	struct tls_vaes_state *s, const uint8_t *nonce, const uint8_t *header)
{
	uint8_t block[VAES_BLOCK] = {0};
	__m128i first;

	memcpy(block, header, TLS_HEADER_LEN);
	s->hash = tls_vaes_multiply_1(
		k, tls_vaes_turn_1(_mm_loadu_si128((const __m128i *)(const void *)block)));
	memset(block, 0, sizeof block);
	memcpy(block, nonce, TLS_NONCE_LEN);
	block[VAES_BLOCK - 1] = 1;
	first = _mm_loadu_si128((const __m128i *)(const void *)block);
	s->counter = _mm256_add_epi32(_mm256_broadcastsi128_si256(tls_vaes_turn_1(first)),
		_mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 1));
	return tls_vaes_encrypt_1(k, rounds, first);
}

VAES_INLINE void tls_vaes_put_tag(uint8_t *tag, __m128i mask, __m128i hash)
{
	_mm_storeu_si128((__m128i *)(void *)tag, _mm_xor_si128(mask, hash));
}

/** Each batch is hashed while the next one is encrypted. */
VAES_INLINE void tls_vaes_seal(const struct tls_vaes_key *k, unsigned rounds, uint8_t *out,
	const uint8_t *in, size_t len, const uint8_t *nonce, const uint8_t *header, uint8_t *tag)
{
	const uint8_t *cipher = NULL;
	struct tls_vaes_state s;
	__m256i a[VAES_VECTORS];
	size_t left = len;
	struct tls_vaes_rest rest;
	__m128i mask = tls_vaes_begin(k, rounds, &s, nonce, header);

	for (; left >= VAES_BATCH; left -= VAES_BATCH) {
		if (cipher)
			tls_vaes_batch(k, rounds, &s, NULL, cipher, a);
		else
			tls_vaes_batch(k, rounds, &s, NULL, NULL, a);
#pragma GCC unroll 8
		for (unsigned i = 0; i < VAES_VECTORS; i++)
			tls_vaes_store(out + i * VAES_VECTOR,
				_mm256_xor_si256(a[i], tls_vaes_load(in + i * VAES_VECTOR)));
		cipher = out;
		out += VAES_BATCH;
		in += VAES_BATCH;
	}
	rest = (struct tls_vaes_rest){out, in, left, len, false};
	if (cipher)
		tls_vaes_put_tag(tag, mask, tls_vaes_finish(k, rounds, &s, cipher, &rest));
	else
		tls_vaes_put_tag(tag, mask, tls_vaes_finish(k, rounds, &s, NULL, &rest));
}

/** Each batch is hashed while it is decrypted. */
VAES_INLINE void tls_vaes_open(const struct tls_vaes_key *k, unsigned rounds, uint8_t *out,
	const uint8_t *in, size_t len, const uint8_t *nonce, const uint8_t *header, uint8_t *tag)
{
	struct tls_vaes_state s;
	__m256i a[VAES_VECTORS], cipher[VAES_VECTORS];
	size_t left = len;
	struct tls_vaes_rest rest;
	__m128i mask = tls_vaes_begin(k, rounds, &s, nonce, header);

	for (; left >= VAES_BATCH; left -= VAES_BATCH) {
#pragma GCC unroll 8
		for (unsigned i = 0; i < VAES_VECTORS; i++)
			cipher[i] = tls_vaes_load(in + i * VAES_VECTOR);
		tls_vaes_batch(k, rounds, &s, cipher, NULL, a);
#pragma GCC unroll 8
		for (unsigned i = 0; i < VAES_VECTORS; i++)
			tls_vaes_store(out + i * VAES_VECTOR, _mm256_xor_si256(a[i], cipher[i]));
		out += VAES_BATCH;
		in += VAES_BATCH;
	}
	rest = (struct tls_vaes_rest){out, in, left, len, true};
	tls_vaes_put_tag(tag, mask, tls_vaes_finish(k, rounds, &s, NULL, &rest));
}

#define VAES_CIPHER(bits, rounds)                                                                 \
	VAES_TARGET static void tls_vaes_expand_##bits(const void *key, struct gcm_key_data *to)  \
	{                                                                                         \
		struct tls_vaes_key *k = (struct tls_vaes_key *)(void *)to;                       \
                                                                                                  \
		tls_vaes_schedule_##bits(k, key);                                                 \
		tls_vaes_expand_hash(k, rounds);                                                  \
	}                                                                                         \
	VAES_TARGET static void tls_vaes_seal_##bits(const struct gcm_key_data *k,                \
		struct gcm_context_data *unused, uint8_t *out, const uint8_t *in, uint64_t len,   \
		const uint8_t *nonce, const uint8_t *header, uint64_t header_len, uint8_t *tag,   \
		uint64_t tag_len)                                                                 \
	{                                                                                         \
		tls_vaes_seal((const struct tls_vaes_key *)(const void *)k, rounds, out, in, len, \
			nonce, header, tag);                                                      \
	}                                                                                         \
	VAES_TARGET static void tls_vaes_open_##bits(const struct gcm_key_data *k,                \
		struct gcm_context_data *unused, uint8_t *out, const uint8_t *in, uint64_t len,   \
		const uint8_t *nonce, const uint8_t *header, uint64_t header_len, uint8_t *tag,   \
		uint64_t tag_len)                                                                 \
	{                                                                                         \
		tls_vaes_open((const struct tls_vaes_key *)(const void *)k, rounds, out, in, len, \
			nonce, header, tag);                                                      \
	}

VAES_CIPHER(128, 10)
VAES_CIPHER(256, 14)

bool tls_vaes_init(struct tls_gcm *g)
{
	unsigned a, b, c, d;

	/* Compilers do not know the names of all of these yet. */
	if (!__builtin_cpu_supports("avx2") || __get_cpuid_count(7, 0, &a, &b, &c, &d) != 1 ||
		(c & VAES_CPUID_7_ECX) != VAES_CPUID_7_ECX || __get_cpuid(1, &a, &b, &c, &d) != 1 ||
		(c & VAES_CPUID_1_ECX) != VAES_CPUID_1_ECX)
		return false;
	*g = (struct tls_gcm){.aes128 = {tls_vaes_expand_128, tls_vaes_seal_128, tls_vaes_open_128},
		.aes256 = {tls_vaes_expand_256, tls_vaes_seal_256, tls_vaes_open_256}};
	return true;
}

#else

bool tls_vaes_init(struct tls_gcm *g)
{
	return false;
}

#endif
