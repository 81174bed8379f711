/* SPDX-License-Identifier: BSD-2-Clause */
/** @file config_text.h The values in effect, as text for people. */
#ifndef HOST_CONFIG_TEXT_H
#define HOST_CONFIG_TEXT_H

#include "host/config_key.h"

/** Room for the value of any key: a list of addresses, or a path. */
#define CONFIG_VALUE_TEXT 1200

/**
 * The value of @p k in @p c, as it could be given; or, if it is not given and has no default of our
 * own, what stands for it, in words.
 * @return @p text; NULL: only its effect is known, as with a preset.
 */
const char *config_value_show(
	const struct config *c, const struct config_key *k, char text[CONFIG_VALUE_TEXT]);

#endif
