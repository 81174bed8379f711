/* SPDX-License-Identifier: BSD-2-Clause */
/* The anti-replay window beside a model that remembers each number that came. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "esp/window.h"

#include <stdlib.h>
#include <string.h>

#define NUMBERS 40000u

/** Which numbers came, counted from base. */
struct model {
	uint64_t base, top;
	uint32_t size;
	bool came[NUMBERS];
};

static enum esp_window_verdict model_check(const struct model *m, uint64_t n)
{
	if (n == 0 || (n <= m->top && m->top - n >= m->size))
		return ESP_WINDOW_LATE;
	return n <= m->top && m->came[n - m->base] ? ESP_WINDOW_REPLAY : ESP_WINDOW_NEW;
}

static void model_accept(struct model *m, uint64_t n)
{
	m->came[n - m->base] = true;
	if (n > m->top)
		m->top = n;
}

/** A small generator, the same on each machine. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/** Numbers around the top, in every order; each is sent as 32 bits if there are 64. */
static void run_beside_model(uint32_t size, bool esn, uint64_t base, uint32_t stride, uint32_t seed)
{
	static struct model m;
	static struct esp_window w;

	memset(&m, 0, sizeof m);
	m.base = base;
	m.top = base;
	m.size = size;
	esp_window_init(&w, size, esn);
	w.top = base;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t ahead = next_random(&seed) % stride,
			 back = next_random(&seed) % (2 * size);
		uint64_t n = i % 3 ? m.top + ahead : m.top - back;
		enum esp_window_verdict want;

		/* Numbers from before the base have no place in the model. */
		if (n < base || (i % 3 == 0 && back > m.top) || n - base >= NUMBERS)
			continue;
		want = model_check(&m, n);
		/* A number of 64 bits is known again if it is in the window or not 2^32 - size
		 * ahead of it. */
		if (esn && want != ESP_WINDOW_LATE)
			assert_int_equal(esp_window_sequence(&w, (uint32_t)n), n);
		assert_int_equal(esp_window_check(&w, n), want);
		if (want == ESP_WINDOW_NEW) {
			esp_window_accept(&w, n);
			model_accept(&m, n);
			assert_int_equal(esp_window_check(&w, n), ESP_WINDOW_REPLAY);
		}
	}
}

static void each_size_is_as_the_model(void **state)
{
	static const uint32_t sizes[] = {32, 33, 63, 64, 65, 127, 128, 1000, 4032, 4095, 4096};

	for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
		for (uint32_t stride = 1; stride < 10000; stride = stride * 5 + 1) {
			run_beside_model(sizes[i], false, 0, stride, i + stride);
			run_beside_model(sizes[i], true, 0, stride, i + stride);
			run_beside_model(sizes[i], true, UINT64_C(0x2fffff000), stride, i + stride);
		}
}

/** Every place of a window's edge, for every place of its top within the ring's words. */
static void edges_are_exact(void **state)
{
	static struct esp_window w;

	for (uint32_t size = ESP_WINDOW_MIN; size <= ESP_WINDOW_MAX; size += 127)
		for (uint64_t top = 10000; top < 10000 + 8192 + 64; top += 1 + top % 31) {
			esp_window_init(&w, size, false);
			esp_window_accept(&w, top);
			for (uint64_t n = top - size - 2; n <= top + 2; n++) {
				enum esp_window_verdict want = n == top          ? ESP_WINDOW_REPLAY
							       : n + size <= top ? ESP_WINDOW_LATE
										 : ESP_WINDOW_NEW;

				assert_int_equal(esp_window_check(&w, n), want);
			}
			/* The first in the window, and what was there before it moves on. */
			esp_window_accept(&w, top - size + 1);
			assert_int_equal(esp_window_check(&w, top - size + 1), ESP_WINDOW_REPLAY);
			esp_window_accept(&w, top + 1);
			assert_int_equal(esp_window_check(&w, top - size + 1), ESP_WINDOW_LATE);
			assert_int_equal(esp_window_check(&w, top), ESP_WINDOW_REPLAY);
		}
}

/** Whatever a jump leaves behind in the ring is of no number any more. */
static void jumps_forget(void **state)
{
	static struct esp_window w;

	for (uint64_t jump = 1; jump < 3 * 8192; jump += 61) {
		uint64_t top;

		esp_window_init(&w, ESP_WINDOW_MAX, false);
		for (uint64_t n = 1; n <= ESP_WINDOW_MAX; n++)
			esp_window_accept(&w, n);
		top = ESP_WINDOW_MAX + jump;
		esp_window_accept(&w, top);
		for (uint64_t n = top - ESP_WINDOW_MAX + 1; n < top; n++)
			assert_int_equal(esp_window_check(&w, n),
				n <= ESP_WINDOW_MAX ? ESP_WINDOW_REPLAY : ESP_WINDOW_NEW);
	}
}

/** RFC 4303 appendix A2.2, on both sides of where the low half begins anew. */
static void sequence_numbers_are_whole(void **state)
{
	static struct esp_window w;
	const uint64_t wrap = UINT64_C(5) << 32;

	for (int64_t top = -200; top <= 200; top++) {
		esp_window_init(&w, 64, true);
		w.top = wrap + (uint64_t)top;
		for (int64_t n = top - 63; n <= top + 1000; n++)
			assert_int_equal(esp_window_sequence(&w, (uint32_t)(wrap + (uint64_t)n)),
				wrap + (uint64_t)n);
		/* The furthest that can be told apart. */
		assert_int_equal(esp_window_sequence(&w, (uint32_t)(w.top - 64)),
			w.top - 64 + (UINT64_C(1) << 32));
	}
}

static void there_is_nothing_before_the_first_and_behind_the_last(void **state)
{
	static struct esp_window w;

	esp_window_init(&w, 64, true);
	assert_int_equal(esp_window_sequence(&w, UINT32_MAX), 0);
	assert_int_equal(esp_window_check(&w, 0), ESP_WINDOW_LATE);
	w.top = UINT64_MAX;
	assert_int_equal(esp_window_sequence(&w, 5), 0);
	assert_int_equal(esp_window_sequence(&w, UINT32_MAX), UINT64_MAX);
}

/** For keys that outlive those who count by them: all that is authentic is new. */
static void a_window_of_no_size_remembers_nothing(void **state)
{
	struct esp_window w;

	esp_window_init(&w, 0, false);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(esp_window_sequence(&w, 7), 7);
		assert_int_equal(esp_window_check(&w, 7), ESP_WINDOW_NEW);
		esp_window_accept(&w, 7);
		assert_int_equal(esp_window_check(&w, 0), ESP_WINDOW_NEW);
		esp_window_accept(&w, 9000000);
	}
}

/** As of an SA that goes on: whatever its size was, what has come before does not come again. */
static void what_was_seen_does_not_come_again(void **state)
{
	static struct esp_window w;

	for (unsigned esn = 0; esn < 2; esn++)
		for (uint64_t top = 0; top < 200; top++) {
			uint64_t all = esn ? top + (UINT64_C(7) << 32) : top;

			esp_window_init(&w, 4096, esn);
			esp_window_seen(&w, all);
			for (uint64_t n = 0; n <= top; n++)
				assert_int_not_equal(esp_window_check(&w, all - n), ESP_WINDOW_NEW);
			/* Two rings long, each number once, and of two the second first. */
			for (uint64_t i = 0; i < 2 * 64 * ESP_WINDOW_WORDS; i++) {
				uint64_t n = all + 1 + (i ^ 1);

				assert_int_equal(esp_window_check(&w, n), ESP_WINDOW_NEW);
				esp_window_accept(&w, n);
				assert_int_equal(esp_window_check(&w, n), ESP_WINDOW_REPLAY);
			}
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_size_is_as_the_model),
		cmocka_unit_test(edges_are_exact),
		cmocka_unit_test(jumps_forget),
		cmocka_unit_test(sequence_numbers_are_whole),
		cmocka_unit_test(there_is_nothing_before_the_first_and_behind_the_last),
		cmocka_unit_test(a_window_of_no_size_remembers_nothing),
		cmocka_unit_test(what_was_seen_does_not_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
