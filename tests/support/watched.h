/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file watched.h
 * A program that reads its memory after every instruction of a copy, in a signal handler under the
 * processor's trap flag, which is x86's. Include it before cmocka.h.
 */
#ifndef TESTS_SUPPORT_WATCHED_H
#define TESTS_SUPPORT_WATCHED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The thread sanitizer does not deliver the signal. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED_NO_STEPS 1
#endif
#endif
#if !defined(__SANITIZE_THREAD__) && !defined(WATCHED_NO_STEPS) && defined(__x86_64__)
#define WATCHED_STEPS 1
#endif

#define WATCHED_FLAG_T 0x100 /**< of RFLAGS: trap after each instruction */

struct watched {
	uint8_t *memory; /**< the program's */
	size_t len;
	const uint8_t *sent; /**< the expected bytes, none of which is 0 */
	size_t used;         /**< bytes that were consumed */
	const char *wrong;   /**< a violation of the rule, or NULL */
	uint8_t generation;
	struct sigaction before;
};

static struct watched watched;

/** True if a naturally aligned word lies across @p edge. */
static inline bool watched_splits_a_word(const uint8_t *edge)
{
	for (uintptr_t size = 2; size <= 8; size *= 2) {
		uintptr_t word = (uintptr_t)edge & ~(size - 1);

		if (word != (uintptr_t)edge && word >= (uintptr_t)watched.memory &&
			word + size <= (uintptr_t)(watched.memory + watched.len))
			return true;
	}
	return false;
}

/** A reader that consumes and clears new bytes at once. */
static inline void watched_consume(int sig)
{
	struct watched *w = &watched;
	size_t from = w->used;

	(void)sig;
	while (w->used < w->len && w->memory[w->used] != 0) {
		if (w->memory[w->used] != w->sent[w->used])
			w->wrong = "what is seen is not what was sent";
		w->memory[w->used++] = 0;
	}
	if (w->used != from && w->used != w->len && watched_splits_a_word(w->memory + w->used))
		w->wrong = "a word was stored in parts";
	for (size_t i = 0; i < w->len; i++) {
		if (w->memory[i] != 0)
			w->wrong = i < w->used ? "a byte came back"
					       : "a byte came before those before it";
	}
}

/** A writer that changes all bytes: a word of different bytes was not read at once. */
static inline void watched_scribble(int sig)
{
	(void)sig;
	watched.generation++;
	memset(watched.memory, watched.generation, watched.len);
}

#ifdef WATCHED_STEPS

/** From now on @p each runs after each instruction. */
static inline void watched_begin(
	uint8_t *memory, const uint8_t *sent, size_t len, void (*each)(int))
{
	struct sigaction a = {.sa_handler = each};

	watched = (struct watched){.memory = memory, .len = len, .sent = sent};
	sigaction(SIGTRAP, &a, &watched.before);
	__asm__ volatile("pushfq\n orq %0, (%%rsp)\n popfq" ::"i"(WATCHED_FLAG_T) : "memory", "cc");
}

static inline void watched_end(void)
{
	__asm__ volatile("pushfq\n andq %0, (%%rsp)\n popfq" ::"i"(~WATCHED_FLAG_T)
			 : "memory", "cc");
	sigaction(SIGTRAP, &watched.before, NULL);
}

#endif
#endif
