/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fuzz.h
 * The fuzzer's bytes as a program: each target takes operations and their arguments off the front,
 * so that every input means something and small changes of it stay small changes.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Called once by libFuzzer, before the first input. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/** One input. @return 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** libFuzzer's own mutation of @p size bytes. @return their new number, at most @p max_size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define FUZZ_WRITTEN(p, len) __msan_unpoison(p, len)
#endif
#endif
#ifndef FUZZ_WRITTEN
/** Bytes that code has written which is not instrumented. */
#define FUZZ_WRITTEN(p, len) ((void)(p), (void)(len))
#endif

/** LLVMFuzzerMutate(), of which MemorySanitizer sees nothing. */
static inline size_t fuzz_mutate(uint8_t *data, size_t size, size_t max_size)
{
	size_t len = LLVMFuzzerMutate(data, size, max_size);

	FUZZ_WRITTEN(&len, sizeof len);
	FUZZ_WRITTEN(data, len);
	return len;
}

/** An invariant, kept in every kind of build; abort() is what libFuzzer counts as a crash. */
#define MUST(x)                                                                 \
	do {                                                                    \
		if (!(x)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
			abort();                                                \
		}                                                               \
	} while (0)

struct fuzz {
	const uint8_t *at;
	size_t left;
};

/** Past the end there are zeros. */
static inline uint8_t fuzz_u8(struct fuzz *f)
{
	if (!f->left)
		return 0;
	f->left--;
	return *f->at++;
}

static inline uint16_t fuzz_u16(struct fuzz *f)
{
	uint16_t high = fuzz_u8(f);

	return (uint16_t)(high << 8 | fuzz_u8(f));
}

static inline uint32_t fuzz_u32(struct fuzz *f)
{
	uint32_t high = fuzz_u16(f);

	return high << 16 | fuzz_u16(f);
}

static inline uint64_t fuzz_u64(struct fuzz *f)
{
	uint64_t high = fuzz_u32(f);

	return high << 32 | fuzz_u32(f);
}

/** Up to @p want bytes. @param[out] got how many. */
static inline const uint8_t *fuzz_bytes(struct fuzz *f, size_t want, size_t *got)
{
	const uint8_t *p = f->at;

	*got = want < f->left ? want : f->left;
	f->at += *got;
	f->left -= *got;
	return p;
}

/** Read every byte, in a way that no compiler leaves out: the address sanitizer looks on. */
static inline void fuzz_touch(const void *p, size_t len)
{
	const volatile uint8_t *at = p;

	while (len--)
		(void)*at++;
}

#endif
