/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file window.h
 * The anti-replay window of an SA (RFC 4303 section 3.4.3 and appendix A): which sequence numbers
 * have come. Pure; not thread-safe.
 */
#ifndef ESP_WINDOW_H
#define ESP_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define ESP_WINDOW_MIN 32 /* RFC 4303 section 3.4.3 */
#define ESP_WINDOW_MAX 4096
/* More than the largest window spans, so that a word has one meaning; a power of two. */
#define ESP_WINDOW_WORDS 128

struct esp_window {
	uint64_t top; /**< the highest number that was accepted; 0: none */
	uint32_t size;
	bool esn;                        /**< numbers have 64 bits, of which 32 are sent */
	uint64_t bits[ESP_WINDOW_WORDS]; /**< a ring, by number */
};

enum esp_window_verdict {
	ESP_WINDOW_NEW,
	ESP_WINDOW_REPLAY, /**< it has come before */
	ESP_WINDOW_LATE,   /**< left of the window, or zero, which nobody sends */
};

/**
 * @param size ESP_WINDOW_MIN to ESP_WINDOW_MAX numbers; 0, not with @p esn: nothing is remembered,
 *        for keys that outlive those who count by them (RFC 4303 section 3.3.3).
 */
void esp_window_init(struct esp_window *w, uint32_t size, bool esn);

/** All numbers up to @p top have come. */
void esp_window_seen(struct esp_window *w, uint64_t top);

/**
 * The whole sequence number of which @p low was sent (RFC 4303 appendix A2.2).
 * @return 0: it would be from before the first packet.
 */
uint64_t esp_window_sequence(const struct esp_window *w, uint32_t low);

/** May the packet with @p sequence be new? Nothing changes. */
enum esp_window_verdict esp_window_check(const struct esp_window *w, uint64_t sequence);

/** The packet with @p sequence, ESP_WINDOW_NEW, proved to be authentic. */
void esp_window_accept(struct esp_window *w, uint64_t sequence);

#endif
