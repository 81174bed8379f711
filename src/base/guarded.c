/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guarded.h"

#include "base/guarded_access.h"
#include "base/guarded_priv.h"

#include <stdatomic.h>

/** Bytes from @p p to where it is aligned to @p align. */
static size_t guarded_lead_to(const void *p, size_t align)
{
	return -(uintptr_t)p & (align - 1);
}

#ifdef GUARDED_PLAIN

/* Volatile: by one access each, which the compiler neither repeats nor turns into memcpy(). */
static void guarded_move_word(uint8_t *to, const uint8_t *from, size_t size)
{
	switch (size) {
	case 8:
		((volatile struct guarded_word_8 *)to)->v =
			((const volatile struct guarded_word_8 *)from)->v;
		break;
	case 4:
		((volatile struct guarded_word_4 *)to)->v =
			((const volatile struct guarded_word_4 *)from)->v;
		break;
	case 2:
		((volatile struct guarded_word_2 *)to)->v =
			((const volatile struct guarded_word_2 *)from)->v;
		break;
	default:
		*(volatile uint8_t *)to = *(const volatile uint8_t *)from;
	}
}

static bool guarded_copy_words(uint8_t *to, const uint8_t *from, size_t len, size_t lead)
{
	size_t size = 1;

	while (len != 0) {
		if (size < 8 && size <= len && (lead & size) == 0) {
			size *= 2; /* aligned to that already */
			continue;
		}
		while (size > len)
			size /= 2;
		guarded_move_word(to, from, size);
		to += size;
		from += size;
		len -= size;
		lead &= ~size;
	}
	return true;
}

bool guarded_copy(void *to, const void *from, size_t len)
{
	return guarded_copy_words(to, from, len, guarded_lead_to(to, sizeof(uint64_t)));
}

bool guarded_copy_from(void *to, const void *from, size_t len)
{
	return guarded_copy_words(to, from, len, guarded_lead_to(from, sizeof(uint64_t)));
}

int guarded_exchange(uint64_t *target, uint64_t *expected, uint64_t desired)
{
	return atomic_compare_exchange_strong((_Atomic uint64_t *)target, expected, desired);
}

uintptr_t guarded_resume(uintptr_t pc)
{
	(void)pc;
	return 0;
}

#else

extern const char guarded_failed[];

#if defined(__x86_64__) /* ARMv8's are in guarded_arm64.c */

/*
 * Every instruction that touches memory of others lies between guarded_begin and guarded_end, and
 * none there uses the stack or a register that belongs to the caller: so guarded_failed may return
 * for any of them.
 *
 * rdi: to, rsi: from, rdx: length, rcx: lead. Each byte is loaded once and stored once, in
 * ascending order: single words up to where vectors are aligned, vectors, single words. An aligned
 * vector lies in one cache line, so other processors see no half of a line before the other.
 */
/* clang-format off */
#define BLOCK(move, size, a, b, c, d)                 \
	" " move " (%rsi), " a "\n"                    \
	" " move " " size "(%rsi), " b "\n"            \
	" " move " 2*" size "(%rsi), " c "\n"          \
	" " move " 3*" size "(%rsi), " d "\n"          \
	" " move " " a ", (%rdi)\n"                    \
	" " move " " b ", " size "(%rdi)\n"            \
	" " move " " c ", 2*" size "(%rdi)\n"          \
	" " move " " d ", 3*" size "(%rdi)\n"

#define PASS(size)                                    \
	" add $" size ", %rsi\n"                       \
	" add $" size ", %rdi\n"                       \
	" sub $" size ", %rdx\n"

#define MOVE(move, size, a)                           \
	" " move " (%rsi), " a "\n"                    \
	" " move " " a ", (%rdi)\n"                    \
	PASS(size)

/* Before the vectors, if the lead asks for it; where there is less left, that is the end. */
#define HEAD(move, size, a)                           \
	" test $" size ", %cl\n"                       \
	" jz 1f\n"                                     \
	" cmp $" size ", %rdx\n"                       \
	" jb .Lguarded_words\n"                        \
	MOVE(move, size, a)                            \
	"1:\n"

#define TAIL(move, size, a)                           \
	" test $" size ", %dl\n"                       \
	" jz 1f\n"                                     \
	MOVE(move, size, a)                            \
	"1:\n"

#define BLOCKS(move, size, a, b, c, d)                \
	" jmp 2f\n"                                    \
	" .p2align 4\n"                                \
	"1:" BLOCK(move, size, a, b, c, d)            \
	PASS("4*" size)                                \
	"2: cmp $4*" size ", %rdx\n"                   \
	" jae 1b\n"                                    \
	" jmp 2f\n"                                    \
	"1:" MOVE(move, size, a)                      \
	"2: cmp $" size ", %rdx\n"                     \
	" jae 1b\n"

__asm__(" .pushsection .text.guarded, \"ax\", @progbits\n"
	" .hidden guarded_begin, guarded_end, guarded_failed\n"
	" .hidden guarded_narrow, guarded_wide, guarded_exchange\n"
	" .globl guarded_begin, guarded_end, guarded_failed\n"
	" .globl guarded_narrow, guarded_wide, guarded_exchange\n"
	" .type guarded_narrow, @function\n"
	" .type guarded_wide, @function\n"
	" .type guarded_exchange, @function\n"
	"guarded_begin:\n"

	" .p2align 5\n"
	"guarded_wide:\n"
	" .cfi_startproc\n"
	" test %ecx, %ecx\n"
	" jz 3f\n"
	HEAD("movb", "1", "%al")
	HEAD("movw", "2", "%ax")
	HEAD("movl", "4", "%eax")
	HEAD("movq", "8", "%rax")
	HEAD("movups", "16", "%xmm0")
	"3:\n"
	BLOCKS("vmovups", "32", "%ymm0", "%ymm1", "%ymm2", "%ymm3")
	" vzeroupper\n"
	" jmp .Lguarded_vectors\n"
	" .cfi_endproc\n"
	" .size guarded_wide, . - guarded_wide\n"

	" .p2align 5\n"
	"guarded_narrow:\n"
	" .cfi_startproc\n"
	" test %ecx, %ecx\n"
	" jz .Lguarded_vectors\n"
	HEAD("movb", "1", "%al")
	HEAD("movw", "2", "%ax")
	HEAD("movl", "4", "%eax")
	HEAD("movq", "8", "%rax")
	".Lguarded_vectors:\n"
	BLOCKS("movups", "16", "%xmm0", "%xmm1", "%xmm2", "%xmm3")
	".Lguarded_words:\n"
	TAIL("movq", "8", "%rax")
	TAIL("movl", "4", "%eax")
	TAIL("movw", "2", "%ax")
	TAIL("movb", "1", "%al")
	" xor %eax, %eax\n"
	" ret\n"
	" .cfi_endproc\n"
	" .size guarded_narrow, . - guarded_narrow\n"

	/* rdi: target, rsi: expected, which is the caller's own, rdx: desired */
	" .p2align 4\n"
	"guarded_exchange:\n"
	" .cfi_startproc\n"
	" mov (%rsi), %rax\n"
	" lock cmpxchg %rdx, (%rdi)\n"
	" jne 1f\n"
	" mov $1, %eax\n"
	" ret\n"
	"1: mov %rax, (%rsi)\n"
	" xor %eax, %eax\n"
	" ret\n"
	"guarded_end:\n"
	"guarded_failed:\n"
	" mov $-1, %eax\n"
	" ret\n"
	" .cfi_endproc\n"
	" .size guarded_exchange, . - guarded_exchange\n"
	" .popsection\n");
/* clang-format on */

/** @p theirs: the side that belongs to the program. */
static bool guarded_copy_bytes(void *to, const void *from, size_t len, const void *theirs)
{
	if (len >= GUARDED_WIDE_MIN && __builtin_cpu_supports("avx"))
		return guarded_wide(to, from, len, guarded_lead_to(theirs, GUARDED_WIDE_ALIGN)) ==
		       0;
	return guarded_narrow(to, from, len, guarded_lead_to(theirs, GUARDED_NARROW_ALIGN)) == 0;
}

bool guarded_copy(void *to, const void *from, size_t len)
{
	return guarded_copy_bytes(to, from, len, to);
}

bool guarded_copy_from(void *to, const void *from, size_t len)
{
	return guarded_copy_bytes(to, from, len, from);
}

#else

bool guarded_copy(void *to, const void *from, size_t len)
{
	size_t last = ((uintptr_t)to + len - 1) % GUARDED_LAST + 1;
	size_t rest = len > last ? len - last : 0;
	uint8_t *end = (uint8_t *)to + rest;

	return guarded_narrow(to, from, rest, guarded_lead_to(to, GUARDED_NARROW_ALIGN)) == 0 &&
	       guarded_last(end, (const uint8_t *)from + rest, len - rest,
		       guarded_lead_to(end, GUARDED_LAST)) == 0;
}

/* What is read needs no order. */
bool guarded_copy_from(void *to, const void *from, size_t len)
{
	return guarded_narrow(to, from, len, guarded_lead_to(from, GUARDED_NARROW_ALIGN)) == 0;
}

#endif

/* The linker's, around what guarded_access.h put there; NULL if nothing uses that. */
extern const struct guarded_entry __start_guarded_table[]
	__attribute__((weak, visibility("hidden")));
extern const struct guarded_entry __stop_guarded_table[]
	__attribute__((weak, visibility("hidden")));

uintptr_t guarded_resume(uintptr_t pc)
{
	if (pc >= (uintptr_t)guarded_begin && pc < (uintptr_t)guarded_end)
		return (uintptr_t)guarded_failed;
	for (const struct guarded_entry *e = __start_guarded_table; e != __stop_guarded_table;
		e++) {
		if (pc == (uintptr_t)&e->insn + (uintptr_t)(intptr_t)e->insn)
			return (uintptr_t)&e->resume + (uintptr_t)(intptr_t)e->resume;
	}
	return 0;
}

#endif
