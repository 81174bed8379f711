/* SPDX-License-Identifier: BSD-2-Clause */
/** @file digest_priv.h The kernels of digest.h, for itself, its test and its benchmark. */
#ifndef BASE_DIGEST_PRIV_H
#define BASE_DIGEST_PRIV_H

#include "base/digest.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

/** A kernel is given no more at a time: some sum in lanes of 32 bits. */
#define DIGEST_RUN_MAX ((size_t)1 << 20)

/**
 * Take @p len bytes.
 * @param[in,out] crc of all before. @param[out] sum of these, as if they began at an even place.
 * @param to NULL unless it copies; then @p from is the program's.
 * @return false: @p from is not there.
 */
typedef bool digest_run_fn(
	uint32_t *crc, uint64_t *sum, uint8_t *to, const uint8_t *from, size_t len);

/** By what is wanted (enum digest_what). */
struct digest_kernel {
	const char *name;
	bool (*usable)(void); /**< has this processor the instructions? */
	digest_run_fn *add[DIGEST_BOTH + 1];
	digest_run_fn *copy[DIGEST_BOTH + 1];
};

extern const struct digest_kernel digest_portable_kernel;
#if defined(__x86_64__)
extern const struct digest_kernel digest_sse42_kernel, digest_pclmul_kernel, digest_avx2_kernel,
	digest_avx512_kernel;
#elif defined(__aarch64__)
extern const struct digest_kernel digest_armv8_kernel;
#endif

/* Has this processor the instructions? Asked each time, of what the start-up code found out: so
 * there is no variable to set, and no resolver that would run before a sanitizer is ready. */
#if defined(__x86_64__)
static inline bool digest_avx512_usable(void)
{
	return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512vnni") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}

static inline bool digest_avx2_usable(void)
{
	return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2");
}

static inline bool digest_pclmul_usable(void)
{
	return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2");
}

static inline bool digest_sse42_usable(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__aarch64__)
static inline bool digest_armv8_usable(void)
{
	const unsigned long want = 1 << 7 | 1 << 4; /* HWCAP_CRC32, HWCAP_PMULL */

	return (getauxval(AT_HWCAP) & want) == want;
}
#endif

/** All that were built, the best first; NULL behind the last. */
extern const struct digest_kernel *const digest_kernels[];

/** As the public ones, with one kernel. */
void digest_add_by(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	const void *bytes, size_t len);
bool digest_copy_from_by(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	void *to, const void *from, size_t len);

#endif
