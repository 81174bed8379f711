/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/digest.h"

#include "base/digest_priv.h"

const struct digest_kernel *const digest_kernels[] = {
#if defined(__x86_64__)
	&digest_avx512_kernel,
	&digest_avx2_kernel,
	&digest_pclmul_kernel,
	&digest_sse42_kernel,
#elif defined(__aarch64__)
	&digest_armv8_kernel,
#endif
	&digest_portable_kernel,
	NULL,
};

/** The first of digest_kernels[] that is usable: tests that are always predicted, and no call. */
static inline const struct digest_kernel *digest_best(void)
{
#if defined(__x86_64__)
	if (digest_avx512_usable())
		return &digest_avx512_kernel;
	if (digest_avx2_usable())
		return &digest_avx2_kernel;
	if (digest_pclmul_usable())
		return &digest_pclmul_kernel;
	if (digest_sse42_usable())
		return &digest_sse42_kernel;
#elif defined(__aarch64__)
	if (digest_armv8_usable())
		return &digest_armv8_kernel;
#endif
	return &digest_portable_kernel;
}

static bool digest_run(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	uint8_t *to, const uint8_t *from, size_t len)
{
	digest_run_fn *run = to ? k->copy[what] : k->add[what];

	while (len != 0) {
		size_t n = len < DIGEST_RUN_MAX ? len : DIGEST_RUN_MAX;
		uint64_t sum = 0;

		if (!run(&d->crc, &sum, to, from, n))
			return false;
		d->sum += digest_shift(sum, d->odd);
		d->odd ^= what & DIGEST_SUM ? n & 1 : 0;
		from += n;
		to = to ? to + n : NULL;
		len -= n;
	}
	return true;
}

void digest_add_by(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	const void *bytes, size_t len)
{
	(void)digest_run(k, d, what, NULL, bytes, len);
}

bool digest_copy_from_by(const struct digest_kernel *k, struct digest *d, enum digest_what what,
	void *to, const void *from, size_t len)
{
	return digest_run(k, d, what, to, from, len);
}

void digest_add(struct digest *d, enum digest_what what, const void *bytes, size_t len)
{
	digest_add_by(digest_best(), d, what, bytes, len);
}

bool digest_copy_from(
	struct digest *d, enum digest_what what, void *to, const void *from, size_t len)
{
	return digest_copy_from_by(digest_best(), d, what, to, from, len);
}
