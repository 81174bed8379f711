/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_slot.h
 * Patterns in values: "%{slot}" is the number of the process's slot (slot.h). Private to config*.c.
 */
#ifndef HOST_CONFIG_SLOT_H
#define HOST_CONFIG_SLOT_H

#include "host/config.h"

/** Size of an expanded value, with its terminating zero. */
#define CONFIG_MAX_EXPANDED 1536

/** Parser of the key "slots": see struct config_key. */
const char *config_slot_range(struct config *c, const char *value);

/**
 * Replace each "%{slot}" by @p slot. "%{slot:3}", "%{slot:03}", "%{slot:x}" and "%{slot:02x}" have
 * a width, leading zeros or hexadecimal digits.
 * @param out CONFIG_MAX_EXPANDED bytes; unchanged when there is no pattern.
 * @return the number of patterns, or -EINVAL with what would be right in @p right.
 */
int config_slot_expand(const char *value, unsigned slot, char *out, const char **right);

#endif
