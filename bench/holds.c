/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine adds to short stretches of work: a loop of 15 us, as telemetry holds the engine
 * for a slice of a list, with pauses between; interrupts, and a hypervisor that takes the core
 * away, are counted as its own processor time. One line of JSON.
 *
 *     holds [-n SLICES]
 */
#include "base/number.h"
#include "sample.h"

#include <unistd.h>

/** As src/host/telemetry_snapshot.c has them. */
#define SLICE_NS 15000
#define PAUSE_NS 50000

/** What a hold must not take longer than. */
#define LIMIT_NS 50000

static uint64_t hold(void)
{
	uint64_t begun = sample_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t end = sample_now_ns() + SLICE_NS;

	while (sample_now_ns() < end)
		;
	return sample_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	uint64_t n = 10000, longest = 0, beyond = 0;
	int opt;

	while ((opt = getopt(argc, argv, "n:")) != -1)
		if (opt != 'n' || !number_parse(optarg, 1, UINT32_MAX, &n))
			errx(2, "usage: holds [-n SLICES]");
	for (uint64_t i = 0; i < n; i++) {
		uint64_t took = hold();

		longest = took > longest ? took : longest;
		beyond += took > LIMIT_NS;
		nanosleep(&pause, NULL);
	}
	printf("{\"longest_ns\": %llu, \"long\": %llu}\n", (unsigned long long)longest,
		(unsigned long long)beyond);
	return 0;
}
