/* SPDX-License-Identifier: BSD-2-Clause */
/** @file hash_key.h A key for a table of what peers choose, such as the ends of connections. */
#ifndef TOOLS_HASH_KEY_H
#define TOOLS_HASH_KEY_H

#include "base/siphash.h"

#include <sys/random.h>

/** Of the kernel's random numbers; before it has any, of where @p table happens to be. */
static inline struct siphash_key hash_key_draw(const void *table, size_t n)
{
	struct siphash_key key;

	if (getrandom(&key, sizeof key, GRND_NONBLOCK) != sizeof key)
		key = (struct siphash_key){.k = {(uintptr_t)table, n}};
	return key;
}

#endif
