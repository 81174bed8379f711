/* SPDX-License-Identifier: BSD-2-Clause */
/** @file options.h Parses the options of a path: "rate=1g,delay=50ms,loss=0.1%". */
#ifndef WAN_OPTIONS_H
#define WAN_OPTIONS_H

#include "wan/path.h"

/** An error as one sentence. */
struct wan_options_error {
	char text[256];
};

/** One key of a path. */
struct wan_option {
	const char *name;
	const char *value; /**< placeholder in the help text */
	const char *help;
	/** @return NULL, or what would be right: a noun phrase for "expected ...". */
	const char *(*parse)(struct wan_path_config *c, const char *value);
};

/** All options. The last one has no name. */
extern const struct wan_option wan_options[];

/** A wire: no delay, no limit, no loss. */
void wan_options_init(struct wan_path_config *c);

/** Set one key of @p c. @return 0; -EINVAL: bad key or value, with a sentence in @p e. */
int wan_options_set(
	struct wan_path_config *c, const char *key, const char *value, struct wan_options_error *e);

/** Set a list of key=value with commas between. If one is wrong @p c is not changed. */
int wan_options_parse(struct wan_path_config *c, const char *list, struct wan_options_error *e);

/**
 * Check the keys together. If no queue was given it becomes one bandwidth-delay product, but at
 * least 10 ms.
 * @param other the other direction, for the round trip time.
 * @return 0; -EINVAL: a key needs another one, with a sentence in @p e.
 */
int wan_options_finish(struct wan_path_config *c, const struct wan_path_config *other,
	struct wan_options_error *e);

/** Maximum of bytes on the way and in the queue. */
uint64_t wan_options_bytes(const struct wan_path_config *c);

#endif
