/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_mpa.h
 * The keys that say how MPA starts up, and what known peers need of it. Private to config*.c.
 *
 * `peer` is a preset for the others: it sets those that are not given, whichever comes first.
 */
#ifndef PROVIDER_CONFIG_MPA_H
#define PROVIDER_CONFIG_MPA_H

#include "provider/config.h"

/** The defaults: peer = auto. */
void config_mpa_init(struct config *c);

/* Values, as struct config_key's parse(). */
const char *config_mpa_peer(struct config *c, const char *value);
const char *config_mpa_crc(struct config *c, const char *value);
const char *config_mpa_markers(struct config *c, const char *value);
const char *config_mpa_placement(struct config *c, const char *value);
const char *config_mpa_revision(struct config *c, const char *value);
const char *config_mpa_rtr(struct config *c, const char *value);
const char *config_mpa_fpdu(struct config *c, const char *value);

#endif
