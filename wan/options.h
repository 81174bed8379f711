/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file options.h
 * What people write about a path, as text: "rate=1g,delay=50ms,loss=0.1%".
 */
#ifndef WAN_OPTIONS_H
#define WAN_OPTIONS_H

#include "wan/path.h"

/** A sentence for a person. */
struct wan_options_error {
	char text[256];
};

/** One key of a path. */
struct wan_option {
	const char *name;
	const char *value; /**< what stands for it in a help text */
	const char *help;
	/** @return NULL, or what would be right: a noun phrase for "expected ...". */
	const char *(*parse)(struct wan_path_config *c, const char *value);
};

/** All there are; one without a name ends it. */
extern const struct wan_option wan_options[];

/** A wire: no delay, no limit, no loss. */
void wan_options_init(struct wan_path_config *c);

/**
 * Set one key of @p c.
 * @return 0; -EINVAL: no such key, or not such a value; @p e has the sentence.
 */
int wan_options_set(
	struct wan_path_config *c, const char *key, const char *value, struct wan_options_error *e);

/** Set all of a list, key=value with commas between; @p c is untouched when one is wrong. */
int wan_options_parse(struct wan_path_config *c, const char *list, struct wan_options_error *e);

/**
 * What one key cannot tell by itself. The queue becomes one bandwidth-delay product, and 10 ms at
 * least, where none was given.
 * @param other the other direction: its delay is part of the round trip.
 * @return 0; -EINVAL: a key lacks another, @p e has the sentence.
 */
int wan_options_finish(struct wan_path_config *c, const struct wan_path_config *other,
	struct wan_options_error *e);

/** The most bytes that can be on the way and in the queue. */
uint64_t wan_options_bytes(const struct wan_path_config *c);

#endif
