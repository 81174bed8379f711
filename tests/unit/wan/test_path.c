/* SPDX-License-Identifier: BSD-2-Clause */
#include "wan/path.h"

#include "wan/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* A frame is its number; a copy of it is the same number. */
static void *frame(uintptr_t n)
{
	return (void *)(n + 1); // NOLINT
}

static unsigned clones, corruptions;

static void *clone(void *ctx, void *f)
{
	clones++;
	return f;
}

static void *corrupt(void *ctx, void *f, uint64_t random)
{
	corruptions++;
	return f;
}

static const struct wan_path_ops ops = {clone, corrupt, NULL};

static struct wan_path *open_path(const struct wan_path_config *cfg)
{
	struct wan_path *p = wan_path_create(cfg, &ops, 100000, 42);

	assert_non_null(p);
	clones = corruptions = 0;
	return p;
}

/* Frames on the way: what went in, with its duplicates, and did not come out yet. */
static uint64_t on_the_way(const struct wan_path *p)
{
	const struct wan_path_stats *s = wan_path_get_stats(p);

	return s->fate[WAN_TAKEN] + s->duplicated - s->frames_out;
}

static void close_path(struct wan_path *p)
{
	uint64_t due;

	while (wan_path_take(p, WAN_NEVER, &due) != NULL)
		;
	assert_int_equal(on_the_way(p), 0);
	assert_true(wan_path_next(p) == WAN_NEVER);
	wan_path_destroy(p);
}

static const struct wan_path_stats *stats(const struct wan_path *p)
{
	return wan_path_get_stats(p);
}

/* Number @n comes out at @due, and nothing before. */
static void expect(struct wan_path *p, uintptr_t n, uint64_t due)
{
	uint64_t was;

	assert_int_equal(wan_path_next(p), due);
	assert_null(wan_path_take(p, due - 1, &was));
	assert_ptr_equal(wan_path_take(p, due, &was), frame(n));
	assert_int_equal(was, due);
}

static void put(struct wan_path *p, uint64_t now, uintptr_t n, uint32_t len, enum wan_fate fate)
{
	assert_int_equal(wan_path_put(p, now, frame(n), len, 14), fate);
}

static void a_wire_passes_all_at_once(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){0});

	for (uintptr_t i = 0; i < 100; i++)
		put(p, 5, i, 1514, WAN_TAKEN);
	for (uintptr_t i = 0; i < 100; i++)
		expect(p, i, 5);
	assert_int_equal(stats(p)->frames_in, 100);
	assert_int_equal(stats(p)->bytes_in, 151400);
	assert_int_equal(stats(p)->frames_out, 100);
	close_path(p);
}

static void a_delay_is_exact(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.delay = 50 * MS});

	for (uintptr_t i = 0; i < 100; i++)
		put(p, i * 1000, i, 60, WAN_TAKEN);
	for (uintptr_t i = 0; i < 100; i++)
		expect(p, i, 50 * MS + i * 1000);
	close_path(p);
}

/* 1514 bytes at 1 Gb/s take 12,112 ns. */
static void a_frame_takes_its_time_on_the_link(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.rate = 1000000000, .delay = 10 * MS});

	put(p, 0, 0, 1514, WAN_TAKEN);
	put(p, 0, 1, 1514, WAN_TAKEN);
	put(p, 30000, 2, 60, WAN_TAKEN);
	expect(p, 0, 10 * MS + 12112);
	expect(p, 1, 10 * MS + 24224);
	expect(p, 2, 10 * MS + 30480);
	assert_int_equal(stats(p)->queue_ns_max, 12112);
	assert_int_equal(stats(p)->queue_bytes_max, 3028);
	close_path(p);
}

static void overhead_counts_on_the_link(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.rate = 1000000000, .overhead = 24});

	put(p, 0, 0, 1514, WAN_TAKEN);
	expect(p, 0, 12304);
	close_path(p);
}

/* Whatever the rate, parts of a nanosecond do not add up to an error. */
static void the_rate_is_exact_over_a_million_frames(void **state)
{
	static const uint64_t rates[] = {
		999999937, 1000000000, 2500000000, UINT64_C(9999999967), UINT64_C(40000000000)};

	for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
		struct wan_path *p = open_path(&(struct wan_path_config){.rate = rates[i]});
		const uint64_t n = 1000000, len = 1000;
		uint64_t due = 0;
		void *f;

		for (uintptr_t k = 0; k < n; k++) {
			/* The link is kept busy, 1000 frames at a time. */
			put(p, due, k, (uint32_t)len, WAN_TAKEN);
			if (k % 1000 != 999)
				continue;
			for (int j = 0; j < 1000; j++) {
				f = wan_path_take(p, WAN_NEVER, &due);
				assert_non_null(f);
			}
			/* The last of them is still on the link when the next ones come. */
			due -= 100;
		}
		assert_int_equal(
			due + 100, (uint64_t)((unsigned __int128)n * len * 8 * S / rates[i]));
		close_path(p);
	}
}

static void a_queue_of_bytes_drops_what_does_not_fit(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){
		.rate = 8000000, .queue_unit = WAN_QUEUE_BYTES, .queue = 3000});

	/* A byte takes a microsecond. What is on the link counts as long as it is there. */
	put(p, 0, 0, 1000, WAN_TAKEN);
	put(p, 0, 1, 1000, WAN_TAKEN);
	put(p, 0, 2, 1001, WAN_DROP_QUEUE);
	put(p, 0, 2, 1000, WAN_TAKEN);
	put(p, 0, 3, 1, WAN_DROP_QUEUE);
	put(p, MS - 1, 3, 1, WAN_DROP_QUEUE);
	put(p, MS, 3, 1000, WAN_TAKEN);
	assert_int_equal(stats(p)->fate[WAN_DROP_QUEUE], 3);
	assert_int_equal(stats(p)->fate[WAN_TAKEN], 4);
	assert_int_equal(stats(p)->queue_bytes_max, 3000);
	assert_int_equal(stats(p)->queue_bytes, 3000);
	expect(p, 0, MS);
	expect(p, 1, 2 * MS);
	expect(p, 2, 3 * MS);
	expect(p, 3, 4 * MS);
	close_path(p);
}

static void one_frame_always_fits(void **state)
{
	static const enum wan_queue_unit units[] = {
		WAN_QUEUE_BYTES, WAN_QUEUE_FRAMES, WAN_QUEUE_TIME};

	for (int i = 0; i < 3; i++) {
		struct wan_path *p = open_path(&(struct wan_path_config){
			.rate = 8000000, .queue_unit = units[i], .queue = 0});

		put(p, 0, 0, 1000, WAN_TAKEN);
		put(p, MS - 1, 1, 1000, WAN_DROP_QUEUE);
		put(p, MS, 1, 1000, WAN_TAKEN);
		close_path(p);
	}
}

static void a_queue_of_frames_counts_frames(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){
		.rate = 8000000, .queue_unit = WAN_QUEUE_FRAMES, .queue = 3});

	for (uintptr_t i = 0; i < 3; i++)
		put(p, 0, i, 100 * ((uint32_t)i + 1), WAN_TAKEN);
	put(p, 0, 3, 60, WAN_DROP_QUEUE);
	put(p, 100000, 3, 60, WAN_TAKEN);
	put(p, 100000, 4, 60, WAN_DROP_QUEUE);
	close_path(p);
}

static void a_queue_of_time_drops_what_would_wait_longer(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){
		.rate = 8000000, .queue_unit = WAN_QUEUE_TIME, .queue = 2 * MS});

	for (uintptr_t i = 0; i < 3; i++)
		put(p, 0, i, 1000, WAN_TAKEN);
	put(p, 0, 3, 60, WAN_DROP_QUEUE);
	put(p, MS - 1, 3, 60, WAN_DROP_QUEUE);
	put(p, MS, 3, 60, WAN_TAKEN);
	assert_int_equal(stats(p)->queue_ns_max, 2 * MS);
	close_path(p);
}

static void an_endless_queue_drops_nothing(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.rate = 1000});

	for (uintptr_t i = 0; i < 100000; i++)
		put(p, 0, i, 1500, WAN_TAKEN);
	put(p, 0, 0, 60, WAN_DROP_MEMORY);
	assert_int_equal(stats(p)->fate[WAN_DROP_MEMORY], 1);
	close_path(p);
}

static void lost_frames_have_taken_their_time_on_the_link(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.rate = 8000000, .loss = {.good = 1}});

	put(p, 0, 0, 1000, WAN_DROP_LOSS);
	wan_path_configure(p, &(struct wan_path_config){.rate = 8000000});
	put(p, 0, 1, 1000, WAN_TAKEN);
	expect(p, 1, 2 * MS);
	assert_int_equal(stats(p)->fate[WAN_DROP_LOSS], 1);
	close_path(p);
}

static void losses_are_as_many_as_asked(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.loss = {.good = 0.01}});
	uint64_t due;

	for (uintptr_t i = 0; i < 1000000; i++) {
		wan_path_put(p, i, frame(i), 1514, 14);
		wan_path_take(p, i, &due);
	}
	/* Five standard deviations. */
	assert_in_range(stats(p)->fate[WAN_DROP_LOSS], 9500, 10500);
	assert_int_equal(stats(p)->frames_out, 1000000 - stats(p)->fate[WAN_DROP_LOSS]);
	close_path(p);
}

/* A burst of before has no end in a configuration without bursts: all would be lost, or nothing,
 * for ever. */
static void loss_without_bursts_is_not_in_one(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.loss = {.bad = 1, .enter = 1, .leave = 0}});

	put(p, 0, 0, 60, WAN_DROP_LOSS);
	wan_path_configure(p, &(struct wan_path_config){.loss = {.good = 1}});
	for (uintptr_t i = 0; i < 100; i++)
		put(p, 0, i, 60, WAN_DROP_LOSS);
	/* But one with bursts goes on. */
	wan_path_configure(p,
		&(struct wan_path_config){.loss = {.good = 0, .bad = 1, .enter = 1, .leave = 0}});
	put(p, 0, 0, 60, WAN_DROP_LOSS);
	wan_path_configure(p, &(struct wan_path_config){.loss = {.bad = 1, .enter = 1e-12}});
	put(p, 0, 0, 60, WAN_DROP_LOSS);
	close_path(p);
}

static void jitter_spreads_evenly_and_keeps_the_order(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.delay = 50 * MS, .jitter = 10 * MS});
	uint64_t due, last = 0, low = 0, n = 10000;

	/* Far enough apart that none waits for the one before it. */
	for (uintptr_t i = 0; i < n; i++) {
		uint64_t now = i * 100 * MS;

		put(p, now, i, 60, WAN_TAKEN);
		assert_ptr_equal(wan_path_take(p, WAN_NEVER, &due), frame(i));
		assert_in_range(due - now, 40 * MS, 60 * MS);
		low += due - now < 45 * MS;
	}
	assert_in_range(low, 2283, 2717);
	/* And close together. */
	for (uintptr_t i = 0; i < n; i++)
		put(p, 10000 * S + i, i, 60, WAN_TAKEN);
	for (uintptr_t i = 0; i < n; i++) {
		assert_ptr_equal(wan_path_take(p, WAN_NEVER, &due), frame(i));
		assert_true(due >= last);
		last = due;
	}
	close_path(p);
}

static void jitter_larger_than_the_delay_never_goes_back_in_time(void **state)
{
	struct wan_path *p = open_path(
		&(struct wan_path_config){.delay = MS, .jitter = 10 * MS, .jitter_reorders = true});
	uint64_t due, at_once = 0;

	for (uintptr_t i = 0; i < 10000; i++) {
		put(p, 100 * S, i, 60, WAN_TAKEN);
		wan_path_take(p, WAN_NEVER, &due);
		assert_in_range(due, 100 * S, 100 * S + 11 * MS);
		at_once += due == 100 * S;
	}
	/* From -9 to 11 ms: nine of twenty. */
	assert_in_range(at_once, 4250, 4750);
	close_path(p);
}

/* How many come out before one that went in earlier. */
static unsigned overtaken(struct wan_path *p, uintptr_t n)
{
	uintptr_t highest = 0;
	unsigned late = 0;
	uint64_t due;

	for (uintptr_t i = 0; i < n; i++)
		put(p, i * 10000, i, 60, WAN_TAKEN);
	for (uintptr_t i = 0; i < n; i++) {
		uintptr_t f = (uintptr_t)wan_path_take(p, WAN_NEVER, &due);

		if (f < highest)
			late++;
		else
			highest = f;
	}
	return late;
}

static void jitter_reorders_when_asked(void **state)
{
	struct wan_path_config c = {.delay = 50 * MS, .jitter = 10 * MS};
	struct wan_path *p = open_path(&c);

	assert_int_equal(overtaken(p, 10000), 0);
	c.jitter_reorders = true;
	wan_path_configure(p, &c);
	assert_true(overtaken(p, 10000) > 9000);
	close_path(p);
}

static void reordered_frames_are_late_and_no_others(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){
		.delay = 50 * MS, .reorder = 0.01, .reorder_by = 25 * MS});
	unsigned late = overtaken(p, 100000);

	/* Some are late by less than the next frame's distance. */
	assert_in_range(stats(p)->reordered, 840, 1160);
	assert_true(late <= stats(p)->reordered);
	assert_true(late > stats(p)->reordered - 10);
	close_path(p);
}

static void a_reordered_frame_is_late_within_its_bound(void **state)
{
	struct wan_path *p = open_path(
		&(struct wan_path_config){.delay = 50 * MS, .reorder = 1, .reorder_by = 25 * MS});
	uint64_t due, least = WAN_NEVER, most = 0;

	for (uintptr_t i = 0; i < 10000; i++) {
		put(p, i * S, i, 60, WAN_TAKEN);
		wan_path_take(p, WAN_NEVER, &due);
		due -= i * S;
		least = due < least ? due : least;
		most = due > most ? due : most;
	}
	assert_in_range(least, 50 * MS + 1, 50 * MS + 50000);
	assert_in_range(most, 75 * MS - 50000, 75 * MS);
	close_path(p);
}

static void duplicates_come_with_their_originals(void **state)
{
	struct wan_path *p =
		open_path(&(struct wan_path_config){.rate = 8000000, .delay = MS, .duplicate = 1});

	put(p, 0, 0, 1000, WAN_TAKEN);
	put(p, 0, 1, 1000, WAN_TAKEN);
	expect(p, 0, 2 * MS);
	expect(p, 0, 2 * MS);
	expect(p, 1, 3 * MS);
	expect(p, 1, 3 * MS);
	assert_int_equal(clones, 2);
	assert_int_equal(stats(p)->duplicated, 2);
	assert_int_equal(stats(p)->frames_out, 4);
	close_path(p);
}

static void there_is_no_duplicate_without_room(void **state)
{
	const struct wan_path_config c = {.delay = MS, .duplicate = 1};
	struct wan_path *p = wan_path_create(&c, &ops, 3, 1);

	assert_non_null(p);
	clones = 0;
	put(p, 0, 0, 60, WAN_TAKEN);
	put(p, 0, 1, 60, WAN_TAKEN);
	put(p, 0, 2, 60, WAN_DROP_MEMORY);
	assert_int_equal(clones, 1);
	assert_int_equal(on_the_way(p), 3);
	close_path(p);
}

static void some_are_corrupted(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.corrupt = 0.1});

	for (uintptr_t i = 0; i < 10000; i++)
		put(p, 0, i, 60, WAN_TAKEN);
	assert_in_range(corruptions, 850, 1150);
	assert_int_equal(stats(p)->corrupted, corruptions);
	close_path(p);
}

static void frames_beyond_the_mtu_vanish(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.rate = 8000000, .mtu = 1400});

	put(p, 0, 0, 1415, WAN_DROP_MTU);
	put(p, 0, 1, 1414, WAN_TAKEN);
	/* And took no time on the link. */
	expect(p, 1, UINT64_C(1414000));
	assert_int_equal(stats(p)->fate[WAN_DROP_MTU], 1);
	close_path(p);
}

/* An IP packet is not larger for the VLAN tag before it. */
static void the_mtu_is_behind_the_header(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.mtu = 1400});

	assert_int_equal(wan_path_put(p, 0, frame(0), 1418, 18), WAN_TAKEN);
	assert_int_equal(wan_path_put(p, 0, frame(1), 1419, 18), WAN_DROP_MTU);
	assert_int_equal(wan_path_put(p, 0, frame(1), 1418, 14), WAN_DROP_MTU);
	wan_path_configure(p, &(struct wan_path_config){.mtu = UINT32_MAX});
	assert_int_equal(wan_path_put(p, 0, frame(1), 1514, 14), WAN_TAKEN);
	close_path(p);
}

static void a_change_is_for_frames_to_come(void **state)
{
	struct wan_path *p = open_path(&(struct wan_path_config){.delay = 50 * MS});

	put(p, 0, 0, 60, WAN_TAKEN);
	wan_path_configure(p, &(struct wan_path_config){.delay = 10 * MS});
	put(p, 0, 1, 60, WAN_TAKEN);
	put(p, 45 * MS, 2, 60, WAN_TAKEN);
	expect(p, 0, 50 * MS);
	expect(p, 1, 50 * MS);
	expect(p, 2, 55 * MS);
	assert_int_equal(wan_path_config(p)->delay, 10 * MS);
	close_path(p);
}

/* Nor where jitter lets frames overtake each other: 80 ms are not by jitter. */
static void nothing_overtakes_by_a_change(void **state)
{
	static const bool reorders[][2] = {{true, false}, {true, true}, {false, true}};

	for (size_t i = 0; i < sizeof reorders / sizeof *reorders; i++) {
		struct wan_path_config c = {
			.delay = 100 * MS, .jitter = MS, .jitter_reorders = reorders[i][0]};
		struct wan_path *p = open_path(&c);
		uint64_t due;

		for (uintptr_t k = 0; k < 20; k++)
			put(p, 0, k, 60, WAN_TAKEN);
		c.delay = 10 * MS;
		c.jitter_reorders = reorders[i][1];
		wan_path_configure(p, &c);
		for (uintptr_t k = 20; k < 40; k++)
			put(p, 0, k, 60, WAN_TAKEN);
		for (uintptr_t k = 0; k < 20; k++)
			assert_in_range((uintptr_t)wan_path_take(p, WAN_NEVER, &due),
				(uintptr_t)frame(0), (uintptr_t)frame(19));
		/* And what comes later has its own time. */
		put(p, 200 * MS, 40, 60, WAN_TAKEN);
		for (uintptr_t k = 20; k < 40; k++)
			assert_non_null(wan_path_take(p, 101 * MS, &due));
		assert_in_range(wan_path_next(p), 209 * MS, 211 * MS);
		close_path(p);
	}
}

/* What waits from before keeps its time, but drops nothing any more. */
static void without_a_rate_there_is_no_queue(void **state)
{
	struct wan_path_config c = {.rate = 8000000, .queue_unit = WAN_QUEUE_BYTES, .queue = 1000};
	struct wan_path *p = open_path(&c);

	put(p, 0, 0, 1000, WAN_TAKEN);
	put(p, 0, 1, 1000, WAN_DROP_QUEUE);
	c.rate = 0;
	wan_path_configure(p, &c);
	put(p, 0, 1, 1000, WAN_TAKEN);
	expect(p, 0, MS);
	expect(p, 1, MS);
	close_path(p);
}

/** Nor does anything overtake what waits for a link whose rate is taken away. */
static void nothing_overtakes_by_a_rate_that_is_taken_away(void **state)
{
	struct wan_path_config c = {.rate = 8000000,
		.queue_unit = WAN_QUEUE_ENDLESS,
		.delay = 10 * MS,
		.jitter = 1000,
		.jitter_reorders = true};
	struct wan_path *p = open_path(&c);
	uint64_t due;

	for (uintptr_t k = 0; k < 20; k++)
		put(p, 0, k, 1000, WAN_TAKEN);
	c.rate = 0;
	wan_path_configure(p, &c);
	put(p, 0, 20, 1000, WAN_TAKEN);
	for (uintptr_t k = 0; k < 19; k++)
		assert_ptr_equal(wan_path_take(p, WAN_NEVER, &due), frame(k));
	for (uintptr_t k = 19; k < 21; k++) {
		assert_non_null(wan_path_take(p, WAN_NEVER, &due));
		assert_in_range(due, 30 * MS - 1000, 30 * MS + 1000);
	}
	/* And what comes later does not wait. */
	put(p, 25 * MS, 21, 1000, WAN_TAKEN);
	assert_in_range(wan_path_next(p), 35 * MS - 1000, 35 * MS + 1000);
	close_path(p);
}

static void a_queue_is_empty_when_all_are_out(void **state)
{
	struct wan_path *p = open_path(
		&(struct wan_path_config){.rate = 8000000, .queue_unit = WAN_QUEUE_ENDLESS});

	put(p, 0, 0, 1000, WAN_TAKEN);
	put(p, 0, 1, 500, WAN_TAKEN);
	assert_int_equal(stats(p)->queue_bytes, 1500);
	expect(p, 0, MS);
	assert_int_equal(stats(p)->queue_bytes, 500);
	expect(p, 1, MS + MS / 2);
	assert_int_equal(stats(p)->queue_bytes, 0);
	assert_int_equal(stats(p)->queue_bytes_max, 1500);
	close_path(p);
}

static void the_same_seed_gives_the_same(void **state)
{
	const struct wan_path_config c = {.rate = 100000000,
		.delay = 50 * MS,
		.jitter = MS,
		.loss = {.good = 0.01},
		.reorder = 0.01,
		.reorder_by = 20 * MS,
		.duplicate = 0.01,
		.queue_unit = WAN_QUEUE_FRAMES,
		.queue = 100};
	uint64_t hash[3];

	for (int run = 0; run < 3; run++) {
		struct wan_path *p = wan_path_create(&c, &ops, 100000, run == 2 ? 6 : 5);
		uint64_t due;

		assert_non_null(p);
		hash[run] = 0;
		for (uintptr_t i = 0; i < 50000; i++) {
			hash[run] = hash[run] * 31 +
				    wan_path_put(p, i * 100000, frame(i), 1000 + i % 500, 14);
			while (wan_path_take(p, i * 100000, &due) != NULL)
				hash[run] = hash[run] * 31 + due;
		}
		close_path(p);
	}
	assert_int_equal(hash[0], hash[1]);
	assert_int_not_equal(hash[0], hash[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wire_passes_all_at_once),
		cmocka_unit_test(a_delay_is_exact),
		cmocka_unit_test(a_frame_takes_its_time_on_the_link),
		cmocka_unit_test(overhead_counts_on_the_link),
		cmocka_unit_test(the_rate_is_exact_over_a_million_frames),
		cmocka_unit_test(a_queue_of_bytes_drops_what_does_not_fit),
		cmocka_unit_test(one_frame_always_fits),
		cmocka_unit_test(a_queue_of_frames_counts_frames),
		cmocka_unit_test(a_queue_of_time_drops_what_would_wait_longer),
		cmocka_unit_test(an_endless_queue_drops_nothing),
		cmocka_unit_test(lost_frames_have_taken_their_time_on_the_link),
		cmocka_unit_test(losses_are_as_many_as_asked),
		cmocka_unit_test(loss_without_bursts_is_not_in_one),
		cmocka_unit_test(jitter_spreads_evenly_and_keeps_the_order),
		cmocka_unit_test(jitter_larger_than_the_delay_never_goes_back_in_time),
		cmocka_unit_test(jitter_reorders_when_asked),
		cmocka_unit_test(reordered_frames_are_late_and_no_others),
		cmocka_unit_test(a_reordered_frame_is_late_within_its_bound),
		cmocka_unit_test(duplicates_come_with_their_originals),
		cmocka_unit_test(there_is_no_duplicate_without_room),
		cmocka_unit_test(some_are_corrupted),
		cmocka_unit_test(frames_beyond_the_mtu_vanish),
		cmocka_unit_test(the_mtu_is_behind_the_header),
		cmocka_unit_test(a_change_is_for_frames_to_come),
		cmocka_unit_test(nothing_overtakes_by_a_change),
		cmocka_unit_test(without_a_rate_there_is_no_queue),
		cmocka_unit_test(nothing_overtakes_by_a_rate_that_is_taken_away),
		cmocka_unit_test(a_queue_is_empty_when_all_are_out),
		cmocka_unit_test(the_same_seed_gives_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
