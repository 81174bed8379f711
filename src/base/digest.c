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

/**
 * Asked each time, of what the start-up code found out: two tests that are always predicted. So
 * there is no variable to set, and no resolver that would run before a sanitizer is ready.
 */
static inline const struct digest_kernel *digest_best(void)
{
	const struct digest_kernel *const *k = digest_kernels;

	while (!(*k)->usable())
		k++;
	return *k;
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
