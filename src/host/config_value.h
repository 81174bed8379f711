/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_value.h Values: what a key takes, parsed and told. Private to config*.c. */
#ifndef HOST_CONFIG_VALUE_H
#define HOST_CONFIG_VALUE_H

#include "host/config_key.h"

/** What would be right: a noun phrase for "expected ...". */
struct config_phrase {
	char text[256];
};

/** What @p k takes, marked up as in the table. @return the text of @p p. */
const char *config_value_expected(const struct config_key *k, struct config_phrase *p);

/**
 * Store one value (of a list: one element), which is trimmed and not empty.
 * @return NULL, or what would have been right, without markup; it may be in @p p.
 */
const char *config_value_parse(
	struct config *c, const struct config_key *k, const char *value, struct config_phrase *p);

/** Text without control characters that fits @p size bytes. @return false: it is not. */
bool config_value_text(const char *s, char *out, size_t size);

/** @return the word @p s, or NULL. */
const struct config_word *config_value_word(const struct config_word *words, const char *s);

/** Values that have no type, as struct config_key's parse(). */
const char *config_value_port(struct config *c, const char *value);
const char *config_value_mac(struct config *c, const char *value);
const char *config_value_name(struct config *c, const char *value);
const char *config_value_address(struct config *c, const char *value);
const char *config_value_gateway(struct config *c, const char *value);
const char *config_value_progress(struct config *c, const char *value);

#endif
