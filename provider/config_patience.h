/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config_patience.h
 * The keys that say how long peers are waited for, and for how many of their connections. Private
 * to config*.c.
 */
#ifndef PROVIDER_CONFIG_PATIENCE_H
#define PROVIDER_CONFIG_PATIENCE_H

#include "provider/config.h"

/** The defaults. */
void config_patience_init(struct config *c);

/* Values, as struct config_key's parse(). */
const char *config_patience_user_timeout(struct config *c, const char *value);
const char *config_patience_zero_window(struct config *c, const char *value);
const char *config_patience_keepalive(struct config *c, const char *value);
const char *config_patience_startup(struct config *c, const char *value);
const char *config_patience_startups(struct config *c, const char *value);
const char *config_patience_startups_per_peer(struct config *c, const char *value);
const char *config_patience_half_open(struct config *c, const char *value);
const char *config_patience_half_open_per_peer(struct config *c, const char *value);
const char *config_patience_stalled_per_peer(struct config *c, const char *value);

#endif
