/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_key.h
 * The keys of the configuration: one table, from which values are parsed and defaults set, and from
 * which scripts/configuration writes the keys of uiwarp.conf(5) and docs/configuration.md.
 *
 * The texts are marked up: `x` is to be typed as it stands, [x.md](x.md) is another page of docs/.
 */
#ifndef HOST_CONFIG_KEY_H
#define HOST_CONFIG_KEY_H

#include "host/config.h"

enum config_type {
	CONFIG_NUMBER, /**< a whole number */
	CONFIG_SIZE,   /**< the same with K, M, ... */
	CONFIG_WORD,   /**< one of words, stored as its value */
	CONFIG_NAME,   /**< one of words, stored as text */
	CONFIG_TEXT,   /**< text without control characters that fits */
	CONFIG_OTHER,  /**< what parse() takes */
	CONFIG_LIST,   /**< of what parse() takes; the field counts them */
};

struct config_word {
	const char *name; /**< NULL: the end */
	unsigned value;
	bool old; /**< still taken, but no longer told of */
};

/** What parse() returns for a value that is not what config_value_expected() says. */
#define CONFIG_UNEXPECTED ""

struct config_key {
	const char *name;
	enum config_type type;
	uint16_t offset, size; /**< of the field in struct config */
	uint64_t min, max;     /**< numbers and sizes */
	bool or_zero;          /**< numbers: 0 is taken, too */
	const char *zero;      /**< numbers: the word for 0, which is not taken as such */
	const char *noun;      /**< numbers and text: what it is; NULL: a number */
	const char *unit;      /**< numbers: of what */
	const struct config_word *words;
	/**
	 * Store @p value, which is trimmed and not empty.
	 * @return NULL; or CONFIG_UNEXPECTED, or what is to be said instead: a noun phrase.
	 */
	const char *(*parse)(struct config *c, const char *value);
	const char *expected; /**< what is right; NULL: what type and range say */
	bool of_peer;         /**< given, it stays when `peer` changes what it stands for */
	bool quotes;          /**< values may stand in quotes of their own */
	bool literal;         /**< "%{slot}" means nothing here */
	const char *initial;  /**< the default, as it would be given */
	const char *absent;   /**< the default where it is no value; both NULL: must be given */
	const char *text;     /**< what it does, in sentences */
};

extern const struct config_key config_keys[];
extern const unsigned config_num_keys;

/** @return the key of this name, or NULL. */
const struct config_key *config_key_find(const char *name);

/** @return the key that is probably meant, or NULL. */
const struct config_key *config_key_nearest(const char *name);

#endif
