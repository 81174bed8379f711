/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file startup.h
 * Parses and builds MPA request and reply frames (RFC 5044 section 7.1.1, RFC 6581 sections 6 and
 * 9). No state.
 */
#ifndef MPA_STARTUP_H
#define MPA_STARTUP_H

#include "mpa/mpa.h"

enum mpa_frame { MPA_FRAME_REQUEST, MPA_FRAME_REPLY };

/**
 * Read a frame.
 * @param bytes the first @p len bytes; other bytes may follow the frame.
 * @param[out] st private_data points into @p bytes.
 * @param[out] need if the frame is not complete: its minimum length.
 * @param[out] reason on error: what is wrong with it, a constant string.
 * @return the frame's length; 0: not complete; -EPROTO: improperly formatted, or an unknown
 *         revision (RFC 5044 section 7.1.1).
 */
int mpa_startup_parse(enum mpa_frame frame, const uint8_t *bytes, size_t len, struct mpa_start *st,
	size_t *need, const char **reason);

/**
 * Write a frame.
 * @param out room for MPA_FRAME_MAX bytes.
 * @return its length, or -EINVAL: private data too long.
 */
int mpa_startup_build(enum mpa_frame frame, const struct mpa_start *st, uint8_t *out);

#endif
