/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How near each other two cores are just now: the time of a cache line there and back. A host moves
 * the cores of a virtual machine; what passes between two processes then costs four times as much,
 * or a quarter, from one second to the next. One line of JSON, in ns, of the tenth that was
 * quickest: where others want the cores, one of ours often waits until the other is let in.
 *
 *     cores CORE CORE
 */
#include "base/number.h"
#include "sample.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define SAMPLES    10000
#define CACHE_LINE 64
/** A busy machine gives fewer samples, in no more time. */
#define LONGEST_NS UINT64_C(300000000)
/** The last that is asked. */
#define THE_END UINT32_MAX

/** Each side writes one line, and reads the other's. */
static struct {
	_Alignas(2 * CACHE_LINE) _Atomic uint32_t there;
	_Alignas(2 * CACHE_LINE) _Atomic uint32_t back;
} lines;

static void cores_run_on(uint64_t core)
{
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(core, &set);
	err = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
	if (err)
		errx(1, "core %u: %s", (unsigned)core, strerror(err));
}

static void *cores_answer(void *core)
{
	cores_run_on(*(const uint64_t *)core);
	for (uint32_t next, last = 0; last != THE_END; last = next) {
		while ((next = atomic_load_explicit(&lines.there, memory_order_acquire)) == last)
			;
		atomic_store_explicit(&lines.back, next, memory_order_release);
	}
	return NULL;
}

static void cores_ask(uint32_t i)
{
	atomic_store_explicit(&lines.there, i, memory_order_release);
	while (atomic_load_explicit(&lines.back, memory_order_acquire) != i)
		;
}

int main(int argc, char **argv)
{
	static uint64_t ns[SAMPLES];
	uint64_t core[2];
	uint64_t start, now;
	pthread_t other;
	uint32_t i = 0;
	size_t n = 0;

	if (argc != 3 || !number_parse(argv[1], 0, CPU_SETSIZE - 1, &core[0]) ||
		!number_parse(argv[2], 0, CPU_SETSIZE - 1, &core[1]) || core[0] == core[1])
		errx(2, "usage: cores CORE CORE");
	cores_run_on(core[0]);
	if (pthread_create(&other, NULL, cores_answer, &core[1]))
		errx(1, "no thread");
	start = now = sample_now_ns();
	while (n < SAMPLES && (!n || now - start < LONGEST_NS)) {
		uint64_t begun = now;

		cores_ask(++i);
		now = sample_now_ns();
		ns[n++] = now - begun;
	}
	cores_ask(THE_END);
	pthread_join(other, NULL);
	sample_sort(ns, n);
	printf("{\"line_ns\": %llu}\n", (unsigned long long)ns[n / 10]);
	return 0;
}
