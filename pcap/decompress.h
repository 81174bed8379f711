/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file decompress.h
 * Decompresses files of gzip (RFC 1952, by zlib) and zstd (RFC 8878, by libzstd), as capture
 * programs and log rotation leave them. Either library is optional (meson_options.txt).
 *
 * A few bytes can stand for terabytes, so the output is limited by the caller. Memory is limited
 * by the formats: 32 KiB, and 128 MiB for the largest window of zstd that is accepted.
 */
#ifndef PCAP_DECOMPRESS_H
#define PCAP_DECOMPRESS_H

#include "pcap/capture.h"

enum decompress_format { DECOMPRESS_NONE, DECOMPRESS_GZIP, DECOMPRESS_ZSTD };

/** Where the output goes. */
struct decompress_sink {
	/** Take @p len bytes. @return 0, or a negative errno, which ends it. */
	int (*put)(void *user, const uint8_t *bytes, size_t len);
	void *user;
	uint64_t room; /**< bytes that it may still take; counted down */
};

/** What a file that begins with these bytes is compressed with. */
enum decompress_format decompress_detect(const uint8_t *bytes, size_t len);

/**
 * Decompress all of a file: every member (gzip) or frame (zstd) in it.
 * @param e why it ended early: "cut off in the compressed text", "out of room", ...
 * @return true; false: damaged, or too long. What comes before that has been put.
 */
bool decompress(enum decompress_format format, const uint8_t *bytes, size_t len,
	struct decompress_sink *sink, struct cap_error *e);

#endif
