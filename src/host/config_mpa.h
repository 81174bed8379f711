/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_mpa.h
 * Presets of MPA's start-up for known peers. Private to config*.c.
 *
 * `peer` sets other keys, except those that are given, before or after it.
 */
#ifndef HOST_CONFIG_MPA_H
#define HOST_CONFIG_MPA_H

#include "host/config_key.h"

extern const struct config_word config_mpa_peers[];

/** Parsers, as struct config_key's parse(). */
const char *config_mpa_peer(struct config *c, const char *value);
const char *config_mpa_rtr(struct config *c, const char *value);

#endif
