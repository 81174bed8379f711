/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture.h
 * Reads frames from a capture file: pcap of either byte order and both resolutions, and pcapng.
 *
 * Files of both formats are mapped and read in place. libpcap copies every frame, which is slower
 * (2 GB/s against 7 GB/s, for files of 1 GB in the page cache). Pipes and compressed files
 * (decompress.h) are copied to an unlinked file in $TMPDIR first, of at most half of what is free
 * there; files of a variant (Kuznetzov's headers) by libpcap.
 *
 * Pointers to the bytes of frames are valid until cap_close(). Pages are given back to the system
 * after they are read, so memory does not grow with the file. An access through an old pointer
 * reads its page again.
 */
#ifndef PCAP_CAPTURE_H
#define PCAP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One frame. */
struct cap_frame {
	uint64_t number;      /**< from 1 */
	uint64_t time;        /**< ns since 1970; 0 when the format has none */
	uint32_t unit;        /**< in which it was written, in ns; 0: it has none */
	uint32_t link;        /**< LINKTYPE_ value of its interface */
	uint32_t len;         /**< on the wire */
	uint32_t captured;    /**< bytes in the capture, at most len */
	uint32_t file;        /**< of several (capture_set.h), which */
	const uint8_t *bytes; /**< valid until cap_close() */
};

enum cap_result { CAP_FRAME, CAP_END, CAP_BAD };

struct cap_file;

/** An error as half a sentence: "cut off in frame 12". */
struct cap_error {
	char text[160];
};

/**
 * Open @p path ("-": standard input).
 * @return NULL: not readable, or not a capture; @p e says why.
 */
struct cap_file *cap_open(const char *path, struct cap_error *e);

/**
 * Read the next frame.
 * @return CAP_BAD: the file is cut off or damaged here; @p e says how. No frame follows.
 */
enum cap_result cap_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e);

/** Its pages are not needed for now. Pointers to the bytes of frames stay valid. */
void cap_give_back(struct cap_file *c);

void cap_close(struct cap_file *c);

#endif
