/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_MIN_NS UINT64_C(20000000)

uint64_t clock_kernel_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

struct timespec clock_after(uint64_t ns)
{
	uint64_t end = clock_kernel_ns() + ns;

	return (struct timespec){.tv_sec = (time_t)(end / UINT64_C(1000000000)),
		.tv_nsec = (long)(end % UINT64_C(1000000000))};
}

struct clock_sample clock_sample_now(void)
{
	struct clock_sample best = {0}, s;
	uint64_t before, after, shortest = UINT64_MAX;

	/* Of a few tries the one with the least between its two readings of the counter. */
	for (int i = 0; i < 5; i++) {
		before = rte_rdtsc();
		s.ns = clock_kernel_ns();
		after = rte_rdtsc();
		s.tsc = before + (after - before) / 2;
		if (after - before < shortest) {
			shortest = after - before;
			best = s;
		}
	}
	return best;
}

/**
 * Does the counter run at one rate in all power states? CPUID leaf 8000_0007h, EDX bit 8. ARM's,
 * CNTVCT_EL0, always does.
 */
static bool clock_tsc_is_invariant(void)
{
#if defined(__aarch64__)
	return true;
#else
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#endif
}

void clock_init(struct port_clock *c, const struct clock_sample *since)
{
	uint64_t cycles, ns;

	c->base = clock_sample_now();
	c->mult = 0;
	if (!clock_tsc_is_invariant())
		return;
	cycles = rte_get_tsc_hz();
	ns = UINT64_C(1000000000);
	if (since && c->base.ns - since->ns >= CALIBRATION_MIN_NS) {
		cycles = c->base.tsc - since->tsc;
		ns = c->base.ns - since->ns;
	}
	if (cycles)
		c->mult = (uint64_t)(((unsigned __int128)ns << 32) / cycles);
}
