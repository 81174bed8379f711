/* SPDX-License-Identifier: BSD-2-Clause */
/** @file cap_bytes.h A capture in memory, of its exact size, so that ASan sees every overrun. */
#ifndef SUPPORT_CAP_BYTES_H
#define SUPPORT_CAP_BYTES_H

#include "pcap/capture_priv.h"

#include <stdlib.h>

/**
 * Read @p bytes, which must be valid until cap_close().
 * @return NULL: not a capture; @p e says why.
 */
static inline struct cap_file *cap_open_bytes(const uint8_t *bytes, size_t len, struct cap_error *e)
{
	struct cap_file *c = calloc(1, sizeof *c);

	if (!c)
		abort();
	c->bytes = bytes;
	c->len = len;
	return cap_start(c, e);
}

#endif
