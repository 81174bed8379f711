/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guarded.h
 * Access to memory of the program that may be gone: unmapped, protected, or behind the end of a
 * truncated file. A fault then ends the access and not the process.
 *
 * An access needs no preparation and no check afterwards, as in Linux's copies from and to user
 * space. The handler of SIGSEGV and SIGBUS calls guarded_resume(), which tells whether the faulting
 * instruction belongs to such an access, and where to continue. Without a handler these are
 * ordinary accesses. In builds with a sanitizer they are always ordinary accesses, because the
 * sanitizer must see them.
 *
 * **The rule of every copy into the program's memory**, by this file or by any other kernel (one
 * that computes a CRC while it copies, for example):
 *
 *  - Each byte is stored once.
 *  - Bytes are stored in ascending order.
 *  - A naturally aligned word of 2, 4 or 8 bytes is stored whole.
 *
 * On ARM other processors may see those stores in another order, but the last word of a copy after
 * all that was stored ahead of it, by copies before it too: a message is placed by several.
 *
 * Programs poll that memory. They use at once what they have seen, and may write something else
 * there. A second store of a byte would overwrite that. A store behind a gap would tell them that
 * the gap is filled. So the bytes at an end are not stored by overlapping stores, and payload is
 * placed once in the life of a stream (docs/placement.md).
 *
 * Reading the program's memory follows the same rule: each byte is read once, and words are read
 * whole. The bytes sent are those that the CRC covers, even if the program writes meanwhile.
 *
 * Any thread may call these functions. There is no state.
 */
#ifndef BASE_GUARDED_H
#define BASE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define GUARDED_PLAIN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	!(defined(__x86_64__) || defined(__aarch64__))
#define GUARDED_PLAIN 1
#endif

/**
 * Copy @p len bytes into the program's memory, by the rule above. The two areas must not overlap.
 * @return false: one of them is gone or protected. Any part may have been copied.
 */
bool guarded_copy(void *to, const void *from, size_t len);

/** As guarded_copy(), out of the program's memory. Words of @p from are read whole. */
bool guarded_copy_from(void *to, const void *from, size_t len);

/**
 * Compare and exchange, atomically (sequentially consistent).
 * @param target aligned to 8 bytes.
 * @param expected the value to compare with. If the comparison fails, it is set to the value found.
 * @return 1: exchanged; 0: the comparison failed; -1: @p target cannot be written.
 */
int guarded_exchange(uint64_t *target, uint64_t *expected, uint64_t desired);

/**
 * For a handler of SIGSEGV and SIGBUS. Async-signal-safe.
 * @param pc the instruction that faulted.
 * @return where to continue, or 0: the instruction is not part of a guarded access.
 */
uintptr_t guarded_resume(uintptr_t pc);

#endif
