/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_mpa.h
 * How MPA starts up with known peers. Private to config*.c.
 *
 * `peer` is a preset for other keys: it sets those that are not given, whichever comes first.
 */
#ifndef HOST_CONFIG_MPA_H
#define HOST_CONFIG_MPA_H

#include "host/config_key.h"

extern const struct config_word config_mpa_peers[];

/** Values, as struct config_key's parse(). */
const char *config_mpa_peer(struct config *c, const char *value);
const char *config_mpa_rtr(struct config *c, const char *value);

#endif
