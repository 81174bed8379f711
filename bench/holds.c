/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the machine adds to short stretches of work: slices of a walk over a table that no cache
 * holds, as telemetry holds the engine for them, and as it does in bursts, with pauses between the
 * slices and text written after the last one. There is no engine here and nobody waits for it.
 * Interrupts, another process on the core, and a hypervisor that takes the core away are counted as
 * our own processor time. One line of JSON, with the counts of each screen.
 *
 *     holds [-s SCREENS]
 */
#include "base/clock_id.h"
#include "base/number.h"
#include "host/telemetry_snapshot.h"
#include "sample.h"

#include <string.h>
#include <unistd.h>

/** A screen of `uiwarp top`, as telemetry.py has it shown: two lists of so many objects. */
#define OBJECTS   20000
#define SCREEN_NS 500000000

/** It counts for no more of them. */
#define SCREENS_MAX 1000

/** About what a queue pair or a connection has, and what is copied of it. */
struct object {
	char state[1024];
};

struct item {
	char state[400];
};

static struct object object[OBJECTS];
static struct item item[OBJECTS];
static char text[12 << 20];

static uint64_t slices[SCREENS_MAX], beyond[SCREENS_MAX], longest;

/** Where objects lie does not follow their order. The factor has no divisor with OBJECTS. */
static const struct object *nth(size_t i)
{
	return &object[i * 7919 % OBJECTS];
}

/** @return the object after the last one. */
static size_t hold(size_t screen, size_t from)
{
	uint64_t begun = clock_id_ns(CLOCK_THREAD_CPUTIME_ID), took;
	uint64_t end = sample_now_ns() + TELEMETRY_SLICE_NS;
	size_t i = from;

	do
		memcpy(&item[i], nth(i), sizeof item[i]);
	while (++i < OBJECTS && sample_now_ns() < end);
	took = clock_id_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
	slices[screen]++;
	longest = took > longest ? took : longest;
	beyond[screen] += took > TELEMETRY_LONG_HOLD;
	return i;
}

/** Text takes longer than the walk, and makes a process one that has had its share. */
static void write_text(void)
{
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (char)(item[i % OBJECTS].state[i % sizeof item->state] + (char)i);
}

static void wait_until(uint64_t when)
{
	uint64_t now = sample_now_ns(), rest = when > now ? when - now : 0;
	const struct timespec pause = {(time_t)(rest / 1000000000), (long)(rest % 1000000000)};

	nanosleep(&pause, NULL);
}

static void print(const char *name, const uint64_t *of, size_t screens)
{
	printf("\"%s\": [", name);
	for (size_t i = 0; i < screens; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)of[i]);
	printf("], ");
}

int main(int argc, char **argv)
{
	uint64_t screens = 20, begun;
	int opt;

	while ((opt = getopt(argc, argv, "s:")) != -1)
		if (opt != 's' || !number_parse(optarg, 1, SCREENS_MAX, &screens))
			errx(2, "usage: holds [-s SCREENS]");
	memset(object, 1, sizeof object);
	memset(item, 1, sizeof item);
	for (uint64_t i = 0; i < screens; i++) {
		begun = sample_now_ns();
		for (size_t at = 0; at < OBJECTS;) {
			at = hold(i, at);
			wait_until(sample_now_ns() + TELEMETRY_PAUSE_NS);
		}
		write_text();
		wait_until(begun + SCREEN_NS);
	}
	putchar('{');
	print("slices", slices, screens);
	print("long", beyond, screens);
	printf("\"longest_ns\": %llu}\n", (unsigned long long)longest);
	return 0;
}
