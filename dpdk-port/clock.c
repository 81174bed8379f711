/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/clock.h"

#include "base/clock_id.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define CALIBRATION_MIN_NS UINT64_C(20000000)

uint64_t clock_kernel_ns(void)
{
	return clock_id_ns(CLOCK_MONOTONIC);
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
		s.raw = clock_id_ns(CLOCK_MONOTONIC_RAW);
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

/** Of what should have passed, what a rounded rate is far below. */
#define CLOCK_STEADY 64
/** In such a time a rate that is wrong by more is told from what may be for once, ns. */
#define CLOCK_STEADY_NS UINT64_C(256000000000)

/** Has the counter run at @p hz, which is rounded, or has it jumped? 0: its rate is unknown. */
static bool clock_is_steady(uint64_t cycles, uint64_t ns, uint64_t hz)
{
	uint64_t due = (uint64_t)((unsigned __int128)hz * ns / UINT64_C(1000000000));
	uint64_t apart = cycles > due ? cycles - due : due - cycles;

	return !hz || apart <= due / CLOCK_STEADY;
}

void clock_init(struct port_clock *c, const struct clock_sample *since)
{
	uint64_t cycles, ns;

	c->base = clock_sample_now();
	atomic_init(&c->mult, 0);
	atomic_init(&c->ahead, 0);
	c->looked = c->steady = (struct clock_look){c->base.ns, c->base.raw};
	c->left = false;
	if (!clock_tsc_is_invariant())
		return;
	c->left = since && c->base.tsc < since->tsc;
	if (c->left)
		return;
	cycles = rte_get_tsc_hz();
	ns = UINT64_C(1000000000);
	if (since && c->base.raw - since->raw >= CALIBRATION_MIN_NS) {
		cycles = c->base.tsc - since->tsc;
		ns = c->base.raw - since->raw;
		c->left = !clock_is_steady(cycles, ns, rte_get_tsc_hz());
		if (c->left)
			return;
	}
	if (cycles)
		atomic_init(&c->mult, (uint64_t)(((unsigned __int128)ns << 32) / cycles));
}

/** Has as much passed on both clocks since, but for a second and a @p part-th of it? */
static bool clock_has_kept(
	const struct clock_look *since, const struct clock_look *now, unsigned part)
{
	uint64_t raw = now->raw - since->raw;
	/* On another core's counter a little less than nothing may have passed. */
	int64_t apart = (int64_t)(now->ns - since->ns - raw);

	return (uint64_t)(apart < 0 ? -apart : apart) < CLOCK_LOOK_NS + raw / part;
}

/**
 * The rate may be DPDK's, which is out by up to 0.25 %: what has been so for long has not jumped.
 * But a wrong rate shows only in the sum.
 */
static bool clock_agrees(const struct port_clock *c, const struct clock_look *now)
{
	return clock_has_kept(&c->looked, now, 256) &&
	       clock_has_kept(&c->steady, now, CLOCK_STEADY);
}

/** The TSC is left for good: the time goes on from @p last. */
static void clock_leave(struct port_clock *c, uint64_t last, uint64_t kernel)
{
	atomic_store_explicit(&c->ahead, last - kernel, memory_order_relaxed);
	atomic_store_explicit(&c->mult, 0, memory_order_release);
	c->looked.ns = last;
	c->left = true;
}

uint64_t clock_doubt(struct port_clock *c, uint64_t last, uint64_t now)
{
	uint64_t mult = atomic_load_explicit(&c->mult, memory_order_relaxed);
	struct clock_sample both;
	struct clock_look look;

	if (now < last && (!mult || last - now <= CLOCK_BACK_NS))
		return last;
	if (!mult) {
		c->looked.ns = now;
		return now;
	}
	/* @p now may be of before the process was stopped. */
	both = clock_sample_now();
	look = (struct clock_look){clock_at(&c->base, mult, both.tsc), both.raw};
	if (now < last || !clock_agrees(c, &look)) {
		clock_leave(c, last, both.ns);
		return last;
	}
	c->looked = look;
	if (look.raw - c->steady.raw >= CLOCK_STEADY_NS)
		c->steady = look;
	return now;
}
