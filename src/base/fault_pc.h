/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fault_pc.h The instruction that faulted, in the context that a handler of SIGSEGV gets. */
#ifndef BASE_FAULT_PC_H
#define BASE_FAULT_PC_H

#include <stdint.h>
#include <ucontext.h>

/** @param context the third argument of the handler. */
static inline uintptr_t fault_pc(const void *context)
{
#if defined(__x86_64__)
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
#error "where is the program counter on this architecture?"
#endif
}

/** Go on at @p pc when the handler returns. */
static inline void fault_set_pc(void *context, uintptr_t pc)
{
#if defined(__x86_64__)
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
#elif defined(__aarch64__)
	((ucontext_t *)context)->uc_mcontext.pc = pc;
#endif
}

#endif
