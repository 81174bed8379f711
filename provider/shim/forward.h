/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file forward.h
 * Entry points in front of libibverbs: objects of our device go to the provider, all others to the
 * real library.
 */
#ifndef PROVIDER_SHIM_FORWARD_H
#define PROVIDER_SHIM_FORWARD_H

#include "base/cancel.h"
#include "provider/shim/shim.h"

#include <errno.h>

/** True if @p context is of our device. */
static inline bool forward_owns(const struct ibv_context *context)
{
	const struct ibv_device *device = shim_device();

	return device && context->device == device;
}

/** After fork() our objects have no stack. @return ENODEV, in errno too. */
static inline int forward_gone(void)
{
	errno = ENODEV;
	return ENODEV;
}

/** The real library's @p symbol, which has the type of @p function, or NULL. */
#define REAL_AS(function, symbol)                                       \
	({                                                              \
		static shim_slot slot_;                                 \
		(__typeof__(&function))shim_real_verbs(&slot_, symbol); \
	})
#define REAL(name) REAL_AS(name, #name)

/**
 * A call into the provider. The thread cannot be cancelled meanwhile, because it may hold locks.
 */
#define FORWARD_CALL(type, verb, args)                    \
	({                                                \
		struct cancel_hold hold_ = cancel_hold(); \
		type answer_ = shim_running()->verb args; \
                                                          \
		cancel_release(hold_);                    \
		answer_;                                  \
	})

/** A verb of the provider. @p fail is returned if it cannot be called. */
#define FORWARD_BY(call, type, fail, function, symbol, verb, context, params, args) \
	SHIM_EXPORT type function params                                            \
	{                                                                           \
		__typeof__(&function) real_;                                        \
                                                                                    \
		if (forward_owns(context)) {                                        \
			if (shim_is_orphan()) {                                     \
				forward_gone();                                     \
				return fail;                                        \
			}                                                           \
			return call(type, verb, args);                              \
		}                                                                   \
		real_ = REAL_AS(function, symbol);                                  \
		if (real_ == NULL) {                                                \
			errno = ENOSYS;                                             \
			return fail;                                                \
		}                                                                   \
		return real_ args;                                                  \
	}
#define FORWARD_AS(type, fail, function, symbol, verb, context, params, args) \
	FORWARD_BY(FORWARD_CALL, type, fail, function, symbol, verb, context, params, args)
#define FORWARD(type, fail, verb, context, params, args) \
	FORWARD_AS(type, fail, ibv_##verb, "ibv_" #verb, verb, context, params, args)

/** Verbs that fail with a positive errno, -1 or NULL. */
#define FORWARD_INT(verb, context, params, args)   FORWARD(int, errno, verb, context, params, args)
#define FORWARD_MINUS(verb, context, params, args) FORWARD(int, -1, verb, context, params, args)
#define FORWARD_POINTER(type, verb, context, params, args) \
	FORWARD(struct type *, NULL, verb, context, params, args)

/** A verb that waits for an event and is a cancellation point. */
#define FORWARD_PLAINLY(type, verb, args) shim_running()->verb args
#define FORWARD_WAIT(verb, context, params, args) \
	FORWARD_BY(FORWARD_PLAINLY, int, -1, ibv_##verb, "ibv_" #verb, verb, context, params, args)

/**
 * A verb that destroys an object and fails with a positive errno. When exit() runs on this thread
 * it succeeds without doing anything, for the program's destructors.
 */
#define FORWARD_END(verb, context, params, args)                                                  \
	SHIM_EXPORT int ibv_##verb params                                                         \
	{                                                                                         \
		__typeof__(&ibv_##verb) real_;                                                    \
                                                                                                  \
		if (forward_owns(context)) {                                                      \
			if (shim_is_leaving())                                                    \
				return 0;                                                         \
			return shim_is_orphan() ? forward_gone() : FORWARD_CALL(int, verb, args); \
		}                                                                                 \
		real_ = REAL(ibv_##verb);                                                         \
		if (real_ == NULL)                                                                \
			return errno = ENOSYS;                                                    \
		return real_ args;                                                                \
	}

/** A verb that our device does not have. */
#define REFUSE_AS(type, fail, function, symbol, context, params, args) \
	SHIM_EXPORT type function params                               \
	{                                                              \
		__typeof__(&function) real_ = NULL;                    \
                                                                       \
		if (forward_owns(context))                             \
			errno = EOPNOTSUPP;                            \
		else if ((real_ = REAL_AS(function, symbol)) == NULL)  \
			errno = ENOSYS;                                \
		return real_ == NULL ? (fail) : real_ args;            \
	}
#define REFUSE(type, fail, verb, context, params, args) \
	REFUSE_AS(type, fail, ibv_##verb, "ibv_" #verb, context, params, args)

#endif
