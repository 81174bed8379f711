/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file line.h
 * A line of the file that `ipsec` names, as words that are taken one after the other. What takes
 * something returns false if it is wrong, and has said what is. Lines have keys in them: what is
 * said has no octet of one.
 */
#ifndef ESP_LINE_H
#define ESP_LINE_H

#include "base/ip_addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESP_WORDS_MAX 64

struct esp_statement;

/** The words of a line, and where we are among them. */
struct esp_line {
	char *word[ESP_WORDS_MAX];
	unsigned n, at;
	struct esp_statement *s; /**< what is made of it */
	char *why;
	size_t size; /**< of @p why */
};

/** One parameter: its name, and what takes the words behind it. */
struct esp_parameter {
	const char *name;
	bool (*take)(struct esp_line *l);
};

/** Say what is wrong. @return false. */
__attribute__((format(printf, 2, 3))) bool esp_refuse(struct esp_line *l, const char *fmt, ...);

/** Cut @p text into words, as a shell would: quotes hold together, '#' begins a comment. */
bool esp_line_split(struct esp_line *l, char *text);

/** @return the next word; NULL: that was all. */
const char *esp_next(struct esp_line *l);

/** @return true if the next word is @p word: then it is taken. */
bool esp_next_is(struct esp_line *l, const char *word);

/* What stands behind the word @p of. */

/** A number, also in hexadecimal digits behind 0x. */
bool esp_number(struct esp_line *l, const char *of, uint64_t min, uint64_t max, uint64_t *out);
bool esp_number_u32(struct esp_line *l, const char *of, uint32_t min, uint32_t *out);
bool esp_port(struct esp_line *l, const char *of, uint16_t *out);
bool esp_address(struct esp_line *l, const char *of, struct ip_addr *out);

/** One of two words. @param[out] out that it is @p yes. */
bool esp_choice(struct esp_line *l, const char *of, const char *no, const char *yes, bool *out);

/** Take parameters of @p list, which ends with one without a name, until another word comes. */
bool esp_take_all(struct esp_line *l, const struct esp_parameter *list);

/** What is left over belongs nowhere. */
bool esp_all_taken(struct esp_line *l);

#endif
