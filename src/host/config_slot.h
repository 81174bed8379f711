/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_slot.h
 * Patterns in values: "%{slot}" stands for a number that no other process of this host has.
 * Private to config*.c.
 */
#ifndef HOST_CONFIG_SLOT_H
#define HOST_CONFIG_SLOT_H

#include "host/config.h"

/** Longest value with a pattern in it, expanded, with its end. */
#define CONFIG_MAX_EXPANDED 1536

/** Parser of the key "slots": see struct config_key. */
const char *config_slot_range(struct config *c, const char *value);

/**
 * Put @p slot in the place of each "%{slot}"; "%{slot:3}", "%{slot:03}", "%{slot:x}" and
 * "%{slot:02x}" give it a width, leading zeros, hexadecimal digits.
 * @param out CONFIG_MAX_EXPANDED bytes; untouched when there is no pattern.
 * @return how many there were, or -EINVAL with what would have been right in @p right.
 */
int config_slot_expand(const char *value, unsigned slot, char *out, const char **right);

#endif
