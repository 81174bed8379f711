/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/guarded.h"

#include <stdatomic.h>
#include <string.h>

#ifdef GUARDED_PLAIN

bool guarded_copy(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	return true;
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

/* 0: copied; -1: it faulted. The wide one wants AVX, and len of 128 at least. */
int guarded_narrow(void *to, const void *from, size_t len);
int guarded_wide(void *to, const void *from, size_t len);

extern const char guarded_begin[], guarded_end[], guarded_failed[];

/*
 * Every instruction that touches memory of others lies between guarded_begin and guarded_end, and
 * none there uses the stack or a register that belongs to the caller: so guarded_failed may return
 * for any of them.
 *
 * rdi: to, rsi: from, rdx: length. What is left over at the end is copied again with what is
 * before it. Lengths that are rare and short are left to the processor.
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

#define COPY(name, move, size, a, b, c, d, last)      \
	" .p2align 5\n"                                \
	#name ":\n"                                    \
	" .cfi_startproc\n"                            \
	" cmp $4*" size ", %rdx\n"                     \
	" jb 3f\n"                                     \
	" lea -4*" size "(%rdi,%rdx), %rcx\n"          \
	" lea -4*" size "(%rsi,%rdx), %r8\n"           \
	" jmp 2f\n"                                    \
	"1:" BLOCK(move, size, a, b, c, d)            \
	" add $4*" size ", %rsi\n"                     \
	" add $4*" size ", %rdi\n"                     \
	"2: cmp %rcx, %rdi\n"                          \
	" jb 1b\n"                                     \
	" mov %rcx, %rdi\n"                            \
	" mov %r8, %rsi\n"                             \
	BLOCK(move, size, a, b, c, d)              \
	last                                           \
	" xor %eax, %eax\n"                            \
	" ret\n"

__asm__(" .pushsection .text.guarded, \"ax\", @progbits\n"
	" .hidden guarded_begin, guarded_end, guarded_failed\n"
	" .hidden guarded_narrow, guarded_wide, guarded_exchange\n"
	" .globl guarded_begin, guarded_end, guarded_failed\n"
	" .globl guarded_narrow, guarded_wide, guarded_exchange\n"
	" .type guarded_narrow, @function\n"
	" .type guarded_wide, @function\n"
	" .type guarded_exchange, @function\n"
	"guarded_begin:\n"

	COPY(guarded_wide, "vmovups", "32", "%ymm0", "%ymm1", "%ymm2", "%ymm3", " vzeroupper\n")
	"3: jmp guarded_narrow\n"
	" .cfi_endproc\n"
	" .size guarded_wide, . - guarded_wide\n"

	COPY(guarded_narrow, "movups", "16", "%xmm0", "%xmm1", "%xmm2", "%xmm3", "")
	"3: cmp $32, %rdx\n"
	" jbe 4f\n"
	" movups 16(%rsi), %xmm0\n"
	" movups -32(%rsi,%rdx), %xmm1\n"
	" movups %xmm0, 16(%rdi)\n"
	" movups %xmm1, -32(%rdi,%rdx)\n"
	"4: cmp $16, %rdx\n"
	" jb 5f\n"
	" movups (%rsi), %xmm0\n"
	" movups -16(%rsi,%rdx), %xmm1\n"
	" movups %xmm0, (%rdi)\n"
	" movups %xmm1, -16(%rdi,%rdx)\n"
	" xor %eax, %eax\n"
	" ret\n"
	"5: cmp $8, %rdx\n"
	" jb 6f\n"
	" mov (%rsi), %rax\n"
	" mov -8(%rsi,%rdx), %rcx\n"
	" mov %rax, (%rdi)\n"
	" mov %rcx, -8(%rdi,%rdx)\n"
	" xor %eax, %eax\n"
	" ret\n"
	"6: mov %rdx, %rcx\n"
	" rep movsb\n"
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

bool guarded_copy(void *to, const void *from, size_t len)
{
	if (len >= 128 && __builtin_cpu_supports("avx"))
		return guarded_wide(to, from, len) == 0;
	return guarded_narrow(to, from, len) == 0;
}

uintptr_t guarded_resume(uintptr_t pc)
{
	if (pc < (uintptr_t)guarded_begin || pc >= (uintptr_t)guarded_end)
		return 0;
	return (uintptr_t)guarded_failed;
}

#endif
