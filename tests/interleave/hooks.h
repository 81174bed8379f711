/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file hooks.h
 * Compiled before the product's sources (`-include`): their atomics and locks are
 * interleave.h's. Types stay as they are, so that other sources may share them.
 */
#ifndef TESTS_INTERLEAVE_HOOKS_H
#define TESTS_INTERLEAVE_HOOKS_H

#include "interleave/interleave.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/** The type of what @p p points to, which is not atomic. */
#define HOOK_TYPE(p) __typeof__((void)0, *(p))
/** Pointers and numbers of any size as bits, and back. */
#define HOOK_BITS(p, v)                                   \
	({                                                \
		HOOK_TYPE(p) v_ = (v);                    \
		uint64_t bits_ = 0;                       \
                                                          \
		__builtin_memcpy(&bits_, &v_, sizeof v_); \
		bits_;                                    \
	})
#define HOOK_VALUE(p, b)                                         \
	({                                                       \
		uint64_t raw_ = (b);                             \
		HOOK_TYPE(p) value_;                             \
                                                                 \
		__builtin_memcpy(&value_, &raw_, sizeof value_); \
		value_;                                          \
	})
#define HOOK_CHANGE(p, op, v) \
	HOOK_VALUE(p, interleave_change((p), sizeof *(p), (op), HOOK_BITS(p, v)))
#define HOOK_SWAP(p, e, v)                                                              \
	({                                                                              \
		__auto_type e_ = (e);                                                   \
		uint64_t was_ = HOOK_BITS(p, *e_);                                      \
		bool done_ = interleave_swap((p), sizeof *(p), &was_, HOOK_BITS(p, v)); \
                                                                                        \
		*e_ = HOOK_VALUE(p, was_);                                              \
		done_;                                                                  \
	})

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit

#define atomic_load_explicit(p, mo)                                 HOOK_VALUE(p, interleave_load((p), sizeof *(p)))
#define atomic_load(p)                                              atomic_load_explicit(p, 0)
#define atomic_store_explicit(p, v, mo)                             interleave_store((p), sizeof *(p), HOOK_BITS(p, v), (mo))
#define atomic_store(p, v)                                          atomic_store_explicit(p, v, memory_order_seq_cst)
#define atomic_exchange(p, v)                                       HOOK_CHANGE(p, INTERLEAVE_SET, v)
#define atomic_exchange_explicit(p, v, mo)                          atomic_exchange(p, v)
#define atomic_fetch_add(p, v)                                      HOOK_CHANGE(p, INTERLEAVE_ADD, v)
#define atomic_fetch_add_explicit(p, v, mo)                         atomic_fetch_add(p, v)
#define atomic_fetch_sub(p, v)                                      HOOK_CHANGE(p, INTERLEAVE_SUB, v)
#define atomic_fetch_sub_explicit(p, v, mo)                         atomic_fetch_sub(p, v)
#define atomic_fetch_or(p, v)                                       HOOK_CHANGE(p, INTERLEAVE_OR, v)
#define atomic_fetch_or_explicit(p, v, mo)                          atomic_fetch_or(p, v)
#define atomic_fetch_and(p, v)                                      HOOK_CHANGE(p, INTERLEAVE_AND, v)
#define atomic_fetch_and_explicit(p, v, mo)                         atomic_fetch_and(p, v)
#define atomic_compare_exchange_weak(p, e, v)                       HOOK_SWAP(p, e, v)
#define atomic_compare_exchange_strong(p, e, v)                     HOOK_SWAP(p, e, v)
#define atomic_compare_exchange_weak_explicit(p, e, v, good, bad)   HOOK_SWAP(p, e, v)
#define atomic_compare_exchange_strong_explicit(p, e, v, good, bad) HOOK_SWAP(p, e, v)

#define pthread_mutex_init(m, attr)   ((void)(*(volatile uint32_t *)(m) = 0))
#define pthread_mutex_destroy(m)      ((void)(m))
#define pthread_mutex_lock(m)         interleave_lock(m)
#define pthread_mutex_trylock(m)      (!interleave_trylock(m))
#define pthread_mutex_timedlock(m, t) (!interleave_lock_awhile(m))
#define pthread_mutex_unlock(m)       interleave_unlock(m, false)
#define pthread_spin_init(l, shared)  ((void)(*(volatile uint32_t *)(l) = 0))
#define pthread_spin_destroy(l)       ((void)(l))
#define pthread_spin_lock(l)          interleave_lock(l)
#define pthread_spin_unlock(l)        interleave_unlock(l, true)
#define free(p)                       interleave_free(p)
#define pthread_setname_np(t, name)   ((void)(t))
#define pthread_join(t, result)       interleave_join((unsigned)(t))
#define sched_yield()                 interleave_yield()
#define ppoll(fds, n, most, mask)     interleave_ppoll(fds, n, most, mask)

#endif
