/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs may load libibverbs themselves and find its functions by dlsym() or dlvsym(). They get
 * our functions instead. RTLD_NEXT and RTLD_DEFAULT depend on the caller's address. So these, and
 * all that is no verb, reach the real function by a jump, with the caller's return address where a
 * call leaves it.
 */
#include "provider/shim/shim.h"

#include <dlfcn.h>
#include <string.h>

void *shim_own_dlsym(void *handle, const char *name);
void *shim_own_dlvsym(void *handle, const char *name, const char *version);

static bool shim_is_verb(void *handle, const char *name)
{
	return handle != RTLD_NEXT && handle != RTLD_DEFAULT && name &&
	       (strncmp(name, "ibv_", 4) == 0 || strncmp(name, "_ibv_", 5) == 0) &&
	       !shim_inside() && shim_configured();
}

/** Ours for @p theirs, if that is libibverbs' and we have one. */
static void *shim_dl_ours(void *theirs, const char *name)
{
	Dl_info here, found;
	void *mine;

	if (!theirs || !shim_in_libibverbs(theirs))
		return NULL;
	/* The preloaded library comes first in the global scope. */
	mine = shim_dlsym(RTLD_DEFAULT, name);
	if (!mine || dladdr(mine, &found) == 0 || dladdr((void *)shim_is_verb, &here) == 0 ||
		found.dli_fbase != here.dli_fbase)
		return NULL;
	return mine;
}

void *shim_own_dlsym(void *handle, const char *name)
{
	return shim_is_verb(handle, name) ? shim_dl_ours(shim_dlsym(handle, name), name) : NULL;
}

void *shim_own_dlvsym(void *handle, const char *name, const char *version)
{
	return shim_is_verb(handle, name) ? shim_dl_ours(shim_dlvsym(handle, name, version), name)
					  : NULL;
}

/* Each: ask ours with the same arguments; if it has no answer, jump to the real one with them. */
#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	sub $8, %rsp\n"
	"	call shim_own_dlsym\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"	call shim_real_dlsym\n"
	"	add $8, %rsp\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	jmp *%rax\n"
	"1:	add $24, %rsp\n"
	"	ret\n"
	".size dlsym, .-dlsym\n"
	".globl dlvsym\n"
	".type dlvsym, @function\n"
	"dlvsym:\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	call shim_own_dlvsym\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"	call shim_real_dlvsym\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	jmp *%rax\n"
	"1:	add $24, %rsp\n"
	"	ret\n"
	".size dlvsym, .-dlvsym\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, %function\n"
	"dlsym:\n"
	"	stp x29, x30, [sp, #-48]!\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	bl shim_own_dlsym\n"
	"	cbnz x0, 1f\n"
	"	bl shim_real_dlsym\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldp x29, x30, [sp], #48\n"
	"	br x16\n"
	"1:	ldp x29, x30, [sp], #48\n"
	"	ret\n"
	".size dlsym, .-dlsym\n"
	".globl dlvsym\n"
	".type dlvsym, %function\n"
	"dlvsym:\n"
	"	stp x29, x30, [sp, #-48]!\n"
	"	mov x29, sp\n"
	"	stp x0, x1, [sp, #16]\n"
	"	str x2, [sp, #32]\n"
	"	bl shim_own_dlvsym\n"
	"	cbnz x0, 1f\n"
	"	bl shim_real_dlvsym\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp, #16]\n"
	"	ldr x2, [sp, #32]\n"
	"	ldp x29, x30, [sp], #48\n"
	"	br x16\n"
	"1:	ldp x29, x30, [sp], #48\n"
	"	ret\n"
	".size dlvsym, .-dlvsym\n");
#else
#error "dlsym() and dlvsym() need their tail jump for this architecture"
#endif
