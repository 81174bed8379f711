/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file stub.h
 * What stands behind and below the preloaded library in its tests: a libibverbs.so.1 and a
 * libuiwarp.so that do nothing but note which was called with what.
 */
#ifndef TESTS_UNIT_PROVIDER_STUB_H
#define TESTS_UNIT_PROVIDER_STUB_H

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STUB_EXPORT   __attribute__((visibility("default")))
#define STUB_MAX_ARGS 6

struct stub {
	unsigned calls;   /**< since the test set it to 0 */
	const char *name; /**< the last call */
	uintptr_t args[STUB_MAX_ARGS];
};

/** What the one returns and what the other; ints and pointers alike. */
#define STUB_VERBS_ANSWER    17
#define STUB_PROVIDER_ANSWER 23

/** In libibverbs.so.1. */
STUB_EXPORT struct stub *stub_verbs(void);

/** In libuiwarp.so, which has more to say. Environment: STUB_START, see its start(). */
struct stub_provider {
	struct stub stub;
	_Atomic unsigned starts; /**< of all threads */
	_Atomic bool begun;      /**< the stack */
	int reentered_fd, reentered_errno, reentered_devices;
	int open_as;     /**< the next cm_open() returns this, if it is not 0 */
	int write_error; /**< errno of cm_write(); 0: none */
	int write_waits; /**< cm_write() posts here, then waits for go */
	sem_t in_write, go;
	unsigned char written[64];
};

typedef struct stub_provider *stub_provider_fn(void);

#define A(x) ((uintptr_t)(x))

/** A function that notes its arguments. */
#define STUB(stub_, linkage, type, result, function, params, ...)     \
	linkage type function params                                  \
	{                                                             \
		const uintptr_t args_[STUB_MAX_ARGS] = {__VA_ARGS__}; \
                                                                      \
		(stub_)->calls++;                                     \
		(stub_)->name = #function;                            \
		for (unsigned i_ = 0; i_ < STUB_MAX_ARGS; i_++)       \
			(stub_)->args[i_] = args_[i_];                \
		return (type)(result);                                \
	}

#endif
