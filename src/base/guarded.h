/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guarded.h
 * Access to memory of the program that it may have taken away: unmapped, protected, or a file cut
 * short. The processor's fault then ends the access and not the process.
 *
 * Nothing is set up before an access, and nothing is looked at after it, as in Linux's copies from
 * and to user space. The handler of SIGSEGV and SIGBUS asks guarded_resume() whether the
 * instruction that faulted is one of these, and where to go on. Without such a handler they are
 * ordinary accesses. In builds with a sanitizer they always are, as it must see them.
 *
 * **The rule of every copy into the program's memory**, by this file or by any other kernel (one
 * that sums while it copies, say): each byte is stored once; in ascending order; and what is
 * naturally aligned, a word of 2, 4 or 8 bytes, is stored whole. Programs poll that memory. They
 * use at once what they have seen, and may put something else in its place. A byte that is stored a
 * second time would overwrite that. A byte that is stored after a gap would make them believe that
 * the gap is filled. So the rest at an end is not stored by overlapping stores, and payload is
 * placed once in the life of a stream (docs/placement.md).
 *
 * Reading the program's memory follows the same rule: each byte is read once, words whole. The
 * bytes that were read are sent, and the CRC covers them, even if the program writes meanwhile.
 *
 * Any thread may call these; there is no state.
 */
#ifndef BASE_GUARDED_H
#define BASE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GUARDED_PLAIN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define GUARDED_PLAIN 1
#endif

/**
 * Copy @p len bytes into the program's memory, by the rule above. The places do not overlap.
 * @return false: one of them is not there, or not to be written; any part may have been copied.
 */
bool guarded_copy(void *to, const void *from, size_t len);

/** The same out of the program's memory: words of @p from are read whole. */
bool guarded_copy_from(void *to, const void *from, size_t len);

/**
 * Put @p desired where @p expected is, atomically (sequentially consistent).
 * @param target aligned to 8 bytes.
 * @param expected is set to what was there instead.
 * @return 1: exchanged; 0: something else was there; -1: @p target cannot be written.
 */
int guarded_exchange(uint64_t *target, uint64_t *expected, uint64_t desired);

/**
 * For a handler of SIGSEGV and SIGBUS; may be called by a signal handler.
 * @param pc the instruction that faulted.
 * @return where to go on, or 0: it is none of these.
 */
uintptr_t guarded_resume(uintptr_t pc);

#endif
