/* SPDX-License-Identifier: BSD-2-Clause */
/* What guarded.c has for x86-64, for ARMv8. */
#include "base/guarded.h"

#if defined(__aarch64__) && !defined(GUARDED_PLAIN)

/*
 * x0: to, x1: from, x2: length, x3: lead. As in guarded.c, each byte is loaded once and stored
 * once, in ascending order. Other processors may see the stores in another order, but none of
 * guarded_last() before what was stored ahead of it, by this copy or one before.
 */
/* clang-format off */
#define PASS(size)                                    \
	" add x1, x1, #" size "\n"                     \
	" add x0, x0, #" size "\n"                     \
	" sub x2, x2, #" size "\n"

#define MOVE(suffix, size, a)                         \
	" ldr" suffix " " a ", [x1]\n"                 \
	" str" suffix " " a ", [x0]\n"                 \
	PASS(size)

/* Before the rest, if the lead asks for it; where there is less left, that is the end. */
#define HEAD(before, end, suffix, bit, size, a)       \
	" tbz x3, #" bit ", 1f\n"                      \
	" cmp x2, #" size "\n"                         \
	" b.lo " end "\n"                              \
	before MOVE(suffix, size, a)                   \
	"1:\n"

#define TAIL(before, suffix, bit, size, a)            \
	" tbz x2, #" bit ", 1f\n"                      \
	before MOVE(suffix, size, a)                   \
	"1:\n"

/* What is put before each store of the last word. */
#define BARRIER " dmb ishst\n"

__asm__(" .pushsection .text.guarded, \"ax\", %progbits\n"
	" .hidden guarded_begin, guarded_end, guarded_failed\n"
	" .hidden guarded_narrow, guarded_last, guarded_exchange\n"
	" .globl guarded_begin, guarded_end, guarded_failed\n"
	" .globl guarded_narrow, guarded_last, guarded_exchange\n"
	" .type guarded_narrow, %function\n"
	" .type guarded_last, %function\n"
	" .type guarded_exchange, %function\n"
	"guarded_begin:\n"

	" .p2align 5\n"
	"guarded_narrow:\n"
	" .cfi_startproc\n"
	" cbz x3, 2f\n"
	HEAD("", ".Lguarded_words", "b", "0", "1", "w4")
	HEAD("", ".Lguarded_words", "h", "1", "2", "w4")
	HEAD("", ".Lguarded_words", "", "2", "4", "w4")
	HEAD("", ".Lguarded_words", "", "3", "8", "x4")
	" b 2f\n"
	" .p2align 4\n"
	"1: ldp q0, q1, [x1]\n"
	" ldp q2, q3, [x1, #32]\n"
	" stp q0, q1, [x0]\n"
	" stp q2, q3, [x0, #32]\n"
	PASS("64")
	"2: cmp x2, #64\n"
	" b.hs 1b\n"
	" b 2f\n"
	"1:" MOVE("", "16", "q0")
	"2: cmp x2, #16\n"
	" b.hs 1b\n"
	".Lguarded_words:\n"
	TAIL("", "", "3", "8", "x4")
	TAIL("", "", "2", "4", "w4")
	TAIL("", "h", "1", "2", "w4")
	TAIL("", "b", "0", "1", "w4")
	" mov w0, #0\n"
	" ret\n"
	" .cfi_endproc\n"
	" .size guarded_narrow, . - guarded_narrow\n"

	" .p2align 5\n"
	"guarded_last:\n"
	" .cfi_startproc\n"
	HEAD(BARRIER, "2f", "b", "0", "1", "w4")
	HEAD(BARRIER, "2f", "h", "1", "2", "w4")
	HEAD(BARRIER, "2f", "", "2", "4", "w4")
	"2:\n"
	TAIL(BARRIER, "", "3", "8", "x4")
	TAIL(BARRIER, "", "2", "4", "w4")
	TAIL(BARRIER, "h", "1", "2", "w4")
	TAIL(BARRIER, "b", "0", "1", "w4")
	" mov w0, #0\n"
	" ret\n"
	" .cfi_endproc\n"
	" .size guarded_last, . - guarded_last\n"

	/* x0: target, x1: expected, which is the caller's own, x2: desired */
	" .p2align 4\n"
	"guarded_exchange:\n"
	" .cfi_startproc\n"
	" ldr x3, [x1]\n"
	"1: ldaxr x4, [x0]\n"
	" cmp x4, x3\n"
	" b.ne 2f\n"
	" stlxr w5, x2, [x0]\n"
	" cbnz w5, 1b\n"
	" dmb ish\n"
	" mov w0, #1\n"
	" ret\n"
	"2: clrex\n"
	" str x4, [x1]\n"
	" mov w0, #0\n"
	" ret\n"
	"guarded_end:\n"
	"guarded_failed:\n"
	" mov w0, #-1\n"
	" ret\n"
	" .cfi_endproc\n"
	" .size guarded_exchange, . - guarded_exchange\n"
	" .popsection\n");
/* clang-format on */

#endif
