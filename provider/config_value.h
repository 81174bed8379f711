/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_value.h
 * The keys of the configuration and the parsers of their values. Private to config*.c.
 */
#ifndef PROVIDER_CONFIG_VALUE_H
#define PROVIDER_CONFIG_VALUE_H

#include "provider/config.h"

struct config_key {
	const char *name;
	/** May be given more than once; comma lists too. */
	bool repeatable;
	/**
	 * Store @p value, which is trimmed and not empty.
	 * @return NULL, or what would have been right: a noun phrase for "expected ...".
	 */
	const char *(*parse)(struct config *c, const char *value);
	/** Forget what a weaker source gave (repeatable keys only). */
	void (*reset)(struct config *c);
};

extern const struct config_key config_keys[];
extern const unsigned config_num_keys;

#endif
