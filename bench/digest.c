/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a pass over payload costs: each kernel of base/digest.h beside the copy, the CRC and the sum
 * one after the other. All take turns within one run, as the machine's speed changes; medians.
 */
#include "base/digest_priv.h"
#include "base/guarded.h"
#include "ip/cksum.h"
#include "mpa/crc.h"
#include "sample.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFERS  64 /* in turn: they fill the second cache, not the first */
#define STRIDE   9728
#define CASES    64
#define TURNS    2001
#define SKEW_MAX 64

enum job { COPY, CRC, SUM, THREE, ADD_CRC, ADD_BOTH, COPY_CRC, COPY_BOTH };

struct bench_case {
	const char *kernel, *what;
	const struct digest_kernel *k;
	enum job job;
	double ns[TURNS];
};

static struct bench_case cases[CASES];
static unsigned n_cases;
static uint8_t *source, *target;
static volatile uint64_t sink;

static void bench_do(const struct bench_case *c, uint8_t *to, const uint8_t *from, size_t len)
{
	struct digest d = {.crc = DIGEST_CRC_START};

	switch (c->job) {
	case COPY:
		guarded_copy_from(to, from, len);
		break;
	case CRC:
		d.crc = mpa_crc_add(MPA_CRC_START, from, len);
		break;
	case SUM:
		d.sum = cksum_bytes(from, len);
		break;
	case THREE:
		guarded_copy_from(to, from, len);
		d.crc = mpa_crc_add(MPA_CRC_START, to, len);
		d.sum = cksum_bytes(to, len);
		break;
	case ADD_CRC:
		digest_add_by(c->k, &d, DIGEST_CRC, from, len);
		break;
	case ADD_BOTH:
		digest_add_by(c->k, &d, DIGEST_BOTH, from, len);
		break;
	case COPY_CRC:
		digest_copy_from_by(c->k, &d, DIGEST_CRC, to, from, len);
		break;
	case COPY_BOTH:
		digest_copy_from_by(c->k, &d, DIGEST_BOTH, to, from, len);
		break;
	}
	sink += d.crc + d.sum;
}

static void bench_add(
	const char *kernel, const struct digest_kernel *k, const char *what, enum job job)
{
	if (n_cases == CASES)
		abort();
	cases[n_cases++] = (struct bench_case){kernel, what, k, job, {0}};
}

static void bench_run(size_t len, size_t skew)
{
	for (unsigned turn = 0; turn < TURNS; turn++) {
		for (unsigned i = 0; i < n_cases; i++) {
			uint64_t begin = sample_now_ns();

			for (size_t b = 0; b < BUFFERS; b++)
				bench_do(&cases[i], target + b * STRIDE, source + b * STRIDE + skew,
					len);
			cases[i].ns[turn] = (double)(sample_now_ns() - begin) / BUFFERS;
		}
	}
	for (unsigned i = 0; i < n_cases; i++) {
		double ns = sample_median(cases[i].ns, TURNS);

		printf("%6zu  %-10s %-22s %8.1f ns  %6.1f GB/s\n", len, cases[i].kernel,
			cases[i].what, ns, (double)len / ns);
	}
}

int main(int argc, char **argv)
{
	static const size_t usual[] = {64, 1462, 8962};
	size_t skew = 0;
	int opt;

	while ((opt = getopt(argc, argv, "a:")) != -1) {
		if (opt != 'a') {
			fprintf(stderr, "usage: digest [-a OFFSET] [LENGTH ...]\n");
			return 2;
		}
		skew = strtoul(optarg, NULL, 0) % SKEW_MAX;
	}
	source = aligned_alloc(4096, (size_t)BUFFERS * STRIDE + 4096);
	target = aligned_alloc(4096, (size_t)BUFFERS * STRIDE + 4096);
	if (!source || !target)
		return 1;
	for (size_t i = 0; i < (size_t)BUFFERS * STRIDE + 4096; i++)
		source[i] = (uint8_t)(i * 7 + i / 251);
	memset(target, 0, (size_t)BUFFERS * STRIDE + 4096);
	bench_add("separate", NULL, "copy", COPY);
	bench_add("separate", NULL, "CRC", CRC);
	bench_add("separate", NULL, "sum", SUM);
	bench_add("separate", NULL, "copy, CRC, sum", THREE);
	for (const struct digest_kernel *const *k = digest_kernels; *k; k++) {
		if (!(*k)->usable())
			continue;
		bench_add((*k)->name, *k, "CRC", ADD_CRC);
		bench_add((*k)->name, *k, "CRC+sum", ADD_BOTH);
		bench_add((*k)->name, *k, "copy+CRC", COPY_CRC);
		bench_add((*k)->name, *k, "copy+CRC+sum", COPY_BOTH);
	}
	printf("# %s", argv[0]);
	for (int i = 1; i < argc; i++)
		printf(" %s", argv[i]);
	printf("\n# medians of %d turns over %d buffers\n", TURNS, BUFFERS);
	if (optind == argc) {
		for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
			bench_run(usual[i], skew);
	}
	for (; optind < argc; optind++) {
		size_t len = strtoul(argv[optind], NULL, 0);

		if (len == 0 || len > STRIDE - SKEW_MAX) {
			fprintf(stderr, "digest: a length is 1 to %d\n", STRIDE - SKEW_MAX);
			return 2;
		}
		bench_run(len, skew);
	}
	return 0;
}
