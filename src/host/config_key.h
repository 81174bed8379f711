/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_key.h
 * The keys of the configuration, in one table. The parser and the defaults come from it, and
 * scripts/configuration writes uiwarp.conf(5) and docs/configuration.md from it.
 *
 * The texts have markup: `x` is literal, [x.md](x.md) is another page of docs/.
 */
#ifndef HOST_CONFIG_KEY_H
#define HOST_CONFIG_KEY_H

#include "host/config.h"

enum config_type {
	CONFIG_NUMBER, /**< a whole number */
	CONFIG_SIZE,   /**< a whole number with K, M, ... */
	CONFIG_WORD,   /**< one of words, stored as its value */
	CONFIG_NAME,   /**< one of words, stored as text */
	CONFIG_TEXT,   /**< text without control characters that fits */
	CONFIG_OTHER,  /**< what parse() takes */
	CONFIG_LIST,   /**< a list of values for parse(); the field is their number */
};

struct config_word {
	const char *name; /**< NULL: the end */
	unsigned value;
	bool old; /**< accepted, but not documented any more */
};

/** Returned by parse(): the value does not fit config_value_expected(). */
#define CONFIG_UNEXPECTED ""

struct config_key {
	const char *name;
	enum config_type type;
	uint16_t offset, size; /**< of the field in struct config */
	uint64_t min, max;     /**< numbers and sizes */
	bool or_zero;          /**< numbers: 0 is allowed, too */
	const char *zero;      /**< numbers: the word for 0; the digit is refused */
	const char *noun; /**< numbers and text: the noun for error sentences; NULL: a number */
	const char *unit; /**< numbers: the unit for error sentences */
	const struct config_word *words;
	/**
	 * Store @p value, which is trimmed and not empty.
	 * @return NULL, CONFIG_UNEXPECTED, or a noun phrase for "expected ...".
	 */
	const char *(*parse)(struct config *c, const char *value);
	const char *expected; /**< noun phrase for "expected ..."; NULL: made from type and range */
	bool of_peer;         /**< if it is given, `peer` does not change it */
	bool quotes;          /**< values may be quoted */
	bool literal;         /**< "%{slot}" is not expanded */
	const char *initial;  /**< the default, as text */
	const char *absent;   /**< the default in words; both NULL: the key is required */
	const char *text;     /**< the documentation */
};

extern const struct config_key config_keys[];
extern const unsigned config_num_keys;

/** @return the key of this name, or NULL. */
const struct config_key *config_key_find(const char *name);

/** @return the key with the most similar name, or NULL. */
const struct config_key *config_key_nearest(const char *name);

#endif
