/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_value.h Parses the values of keys, and describes them. */
#ifndef HOST_CONFIG_VALUE_H
#define HOST_CONFIG_VALUE_H

#include "host/config_key.h"

/** A noun phrase for "expected ...". */
struct config_phrase {
	char text[256];
};

/** Describe the values of @p k, with the table's markup. @return the text in @p p. */
const char *config_value_expected(const struct config_key *k, struct config_phrase *p);

/** The same without markup. */
const char *config_value_plain(const struct config_key *k, struct config_phrase *p);

/**
 * Store one value, or one element of a list. It is trimmed and not empty.
 * @return NULL, or what would be right, without markup; it may be in @p p.
 */
const char *config_value_parse(
	struct config *c, const struct config_key *k, const char *value, struct config_phrase *p);

/** Copy text. @return false: it has control characters, or does not fit @p size bytes. */
bool config_value_text(const char *s, char *out, size_t size);

/** @return the word @p s, or NULL. */
const struct config_word *config_value_word(const struct config_word *words, const char *s);

/** Parsers, as struct config_key's parse(). */
const char *config_value_port(struct config *c, const char *value);
const char *config_value_mac(struct config *c, const char *value);
const char *config_value_name(struct config *c, const char *value);
const char *config_value_address(struct config *c, const char *value);
const char *config_value_gateway(struct config *c, const char *value);
const char *config_value_progress(struct config *c, const char *value);

#endif
