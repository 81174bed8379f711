/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/window.h"

#include <string.h>

#define WORD_BITS 64

void esp_window_init(struct esp_window *w, uint32_t size, bool esn)
{
	memset(w, 0, sizeof *w);
	w->size = size;
	w->esn = esn;
}

uint64_t esp_window_sequence(const struct esp_window *w, uint32_t low)
{
	uint32_t top = (uint32_t)w->top, bottom = top - w->size + 1;
	uint64_t high = w->top >> 32;

	if (!w->esn)
		return low;
	if (top >= w->size - 1) {
		/* The window lies within one subspace. What is left of it is of the next. */
		if (low < bottom)
			high++;
	} else if (low >= bottom) {
		/* It spans two subspaces, and this is in the lower one. */
		if (high == 0)
			return 0;
		high--;
	}
	/* Behind the last subspace there is none. */
	return high >> 32 ? 0 : high << 32 | low;
}

static unsigned esp_window_word(uint64_t sequence)
{
	return (unsigned)(sequence / WORD_BITS % ESP_WINDOW_WORDS);
}

static uint64_t esp_window_bit(uint64_t sequence)
{
	return UINT64_C(1) << sequence % WORD_BITS;
}

enum esp_window_verdict esp_window_check(const struct esp_window *w, uint64_t sequence)
{
	if (w->size == 0)
		return ESP_WINDOW_NEW;
	if (sequence == 0)
		return ESP_WINDOW_LATE;
	if (sequence > w->top)
		return ESP_WINDOW_NEW;
	if (w->top - sequence >= w->size)
		return ESP_WINDOW_LATE;
	return w->bits[esp_window_word(sequence)] & esp_window_bit(sequence) ? ESP_WINDOW_REPLAY
									     : ESP_WINDOW_NEW;
}

void esp_window_seen(struct esp_window *w, uint64_t top)
{
	w->top = top;
	memset(w->bits, 0xff, sizeof w->bits);
	/* Those of its word that are yet to come; words ahead are cleared when they are reached. */
	w->bits[esp_window_word(top)] = esp_window_bit(top) | (esp_window_bit(top) - 1);
}

void esp_window_accept(struct esp_window *w, uint64_t sequence)
{
	if (sequence > w->top) {
		uint64_t words = sequence / WORD_BITS - w->top / WORD_BITS;

		if (words > ESP_WINDOW_WORDS)
			words = ESP_WINDOW_WORDS;
		for (uint64_t i = 0; i < words; i++)
			w->bits[esp_window_word(sequence - i * WORD_BITS)] = 0;
		w->top = sequence;
	}
	w->bits[esp_window_word(sequence)] |= esp_window_bit(sequence);
}
