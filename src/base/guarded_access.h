/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guarded_access.h
 * Loads out of the program's memory for kernels in C, which do more with it than copy (digest.h).
 * By the rule of guarded.h: whoever uses these reads each byte once, and words whole.
 *
 * A fault costs nothing where there is none: each load has an entry in a table, as in Linux, that
 * says where to go on. There `*fault` is set to 1 and the value is anything. The caller looks at it
 * now and then, before it relies on what was loaded.
 *
 * The instructions are x86's and ARMv8's. Elsewhere, and in builds with a sanitizer, these are
 * ordinary loads.
 */
#ifndef BASE_GUARDED_ACCESS_H
#define BASE_GUARDED_ACCESS_H

#include "base/guarded.h"

/** Words of any type at any address. */
struct guarded_word_1 {
	uint8_t v;
} __attribute__((packed, may_alias));
struct guarded_word_2 {
	uint16_t v;
} __attribute__((packed, may_alias));
struct guarded_word_4 {
	uint32_t v;
} __attribute__((packed, may_alias));
struct guarded_word_8 {
	uint64_t v;
} __attribute__((packed, may_alias));

/** Where to go on after the instruction that faulted; both from where they stand. */
struct guarded_entry {
	int32_t insn, resume;
};

#ifdef GUARDED_PLAIN

/* Volatile: by one access, which the compiler neither repeats nor turns into memcpy(). */
#define GUARDED_LOAD_WORD(size, out, from, fault) \
	((void)(fault), (out) = ((const volatile struct guarded_word_##size *)(from))->v)

#else

#if defined(__aarch64__)
#define GUARDED_GO_ON "6: mov %w[flag], #1\n b 5b\n"
#else
#define GUARDED_GO_ON "6: movl $1, %[flag]\n jmp 5b\n"
#endif

/** Behind the loads, which have the labels 1 to 4 and are followed by 5. */
#define GUARDED_RESUME \
	"5:\n"         \
	" .pushsection .text.guarded_resume, \"ax\", %%progbits\n" GUARDED_GO_ON " .popsection\n"
#define GUARDED_ENTRY(label)                               \
	" .pushsection guarded_table, \"a\", %%progbits\n" \
	" .balign 4\n"                                     \
	" .long " label "b - ., 6b - .\n"                  \
	" .popsection\n"

#if defined(__aarch64__)

#define GUARDED_LOAD_8       "ldr %x[v], %[m]"
#define GUARDED_LOAD_4       "ldr %w[v], %[m]"
#define GUARDED_LOAD_2       "ldrh %w[v], %[m]"
#define GUARDED_LOAD_1       "ldrb %w[v], %[m]"
/** The operands of an instruction that loads a vector. */
#define GUARDED_VECTOR(m, v) " %q[" v "], %[" m "]\n"

#else

#define GUARDED_LOAD_8       "movq %[m], %q[v]"
#define GUARDED_LOAD_4       "movl %[m], %k[v]"
#define GUARDED_LOAD_2       "movzwl %[m], %k[v]"
#define GUARDED_LOAD_1       "movzbl %[m], %k[v]"
#define GUARDED_VECTOR(m, v) " %[" m "], %[" v "]\n"

#endif

#define GUARDED_LOAD_WORD(size, out, from, fault)                                         \
	__asm__ volatile("1: " GUARDED_LOAD_##size "\n" GUARDED_RESUME GUARDED_ENTRY("1") \
			 : [v] "=r"(out), [flag] "+r"(*(fault))                           \
			 : [m] "m"(*(const struct guarded_word_##size *)(from)))

/**
 * Load a vector, or four in a row, with @p insn; @p reg is the constraint of their registers, @p w
 * their width.
 */
#define GUARDED_LOAD_VECTOR(insn, reg, w, v, from, fault)                                      \
	__asm__ volatile("1: " insn GUARDED_VECTOR("m", "a") GUARDED_RESUME GUARDED_ENTRY("1") \
			 : [a] "=" reg(*(v)), [flag] "+r"(*(fault))                            \
			 : [m] "m"(*(const uint8_t(*)[w])(from)))
#define GUARDED_LOAD_VECTORS(insn, reg, w, v, from, fault)                                     \
	__asm__ volatile("1: " insn GUARDED_VECTOR("m0", "a") "2: " insn GUARDED_VECTOR("m1",  \
		"b") "3: " insn GUARDED_VECTOR("m2", "c") "4: " insn GUARDED_VECTOR("m3", "d") \
				 GUARDED_RESUME GUARDED_ENTRY("1") GUARDED_ENTRY("2")          \
					 GUARDED_ENTRY("3") GUARDED_ENTRY("4")                 \
			 : [a] "=" reg((v)[0]), [b] "=" reg((v)[1]), [c] "=" reg((v)[2]),      \
			 [d] "=" reg((v)[3]), [flag] "+r"(*(fault))                            \
			 : [m0] "m"(*(const uint8_t(*)[w])(from)),                             \
			 [m1] "m"(*(const uint8_t(*)[w])((from) + (w))),                       \
			 [m2] "m"(*(const uint8_t(*)[w])((from) + 2 * (w))),                   \
			 [m3] "m"(*(const uint8_t(*)[w])((from) + 3 * (w))))

#endif

/** Always: were one called, what the fault is noted in would be in memory, and all that is beside.
 */
#define GUARDED_INLINE static inline __attribute__((always_inline))

GUARDED_INLINE uint64_t guarded_load_8(const void *from, unsigned *fault)
{
	uint64_t v;

	GUARDED_LOAD_WORD(8, v, from, fault);
	return v;
}

GUARDED_INLINE uint64_t guarded_load_4(const void *from, unsigned *fault)
{
	uint32_t v;

	GUARDED_LOAD_WORD(4, v, from, fault);
	return v;
}

GUARDED_INLINE uint64_t guarded_load_2(const void *from, unsigned *fault)
{
	uint32_t v;

	GUARDED_LOAD_WORD(2, v, from, fault);
	return v;
}

GUARDED_INLINE uint64_t guarded_load_1(const void *from, unsigned *fault)
{
	uint32_t v;

	GUARDED_LOAD_WORD(1, v, from, fault);
	return v;
}

/** @p n bytes, fewer than 8, up to where words of 8 begin; the first is the lowest. */
GUARDED_INLINE uint64_t guarded_load_head(const uint8_t *from, size_t n, unsigned *fault)
{
	uint64_t v = 0;
	unsigned at = 0;

	if (n & 1) {
		v = guarded_load_1(from, fault);
		at = 1;
	}
	if (n & 2) {
		v |= guarded_load_2(from + at, fault) << 8 * at;
		at += 2;
	}
	if (n & 4)
		v |= guarded_load_4(from + at, fault) << 8 * at;
	return v;
}

/** @p n bytes, fewer than 8, from where a word of 8 begins. */
GUARDED_INLINE uint64_t guarded_load_tail(const uint8_t *from, size_t n, unsigned *fault)
{
	uint64_t v = 0;
	unsigned at = 0;

	if (n & 4) {
		v = guarded_load_4(from, fault);
		at = 4;
	}
	if (n & 2) {
		v |= guarded_load_2(from + at, fault) << 8 * at;
		at += 2;
	}
	if (n & 1)
		v |= guarded_load_1(from + at, fault) << 8 * at;
	return v;
}

/** @p n bytes inside of one word of 8, of which they touch neither end. */
GUARDED_INLINE uint64_t guarded_load_inner(const uint8_t *from, size_t n, unsigned *fault)
{
	/* A word of 4 does not fit in there, unless it begins in the middle of the 8. */
	size_t head = -(uintptr_t)from & 3;

	if (head >= n)
		head = n != 0 ? (uintptr_t)from & 1 : 0;
	return guarded_load_head(from, head, fault) |
	       guarded_load_tail(from + head, n - head, fault) << 8 * head;
}

#endif
