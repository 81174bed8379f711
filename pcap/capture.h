/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture.h
 * Frames out of a capture file: pcap of either byte order and both resolutions, and pcapng.
 *
 * Both formats are mapped and read in place, because libpcap's own reading copies every frame and
 * takes half of the time that a whole check may take (2 GB/s against 7 GB/s, measured on files of
 * 1 GB in the page cache). What cannot be mapped or is of a variant (a pipe, Kuznetzov's headers)
 * goes through libpcap into an unlinked file of the plain format, and is read from there.
 *
 * The bytes of a frame stay where they are until cap_close(): to keep a pointer needs no copy.
 * Pages that were passed are given back to the system, so that memory does not grow with the file;
 * an old pointer brings its page back.
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
	uint32_t link;        /**< LINKTYPE_ value of its interface */
	uint32_t len;         /**< on the wire */
	uint32_t captured;    /**< bytes that are here, at most len */
	const uint8_t *bytes; /**< valid until cap_close() */
};

enum cap_result { CAP_FRAME, CAP_END, CAP_BAD };

struct cap_file;

/** What is wrong, as half a sentence: "cut off in frame 12". */
struct cap_error {
	char text[160];
};

/**
 * Open @p path ("-": standard input).
 * @return NULL: not readable, or not a capture; @p e says why.
 */
struct cap_file *cap_open(const char *path, struct cap_error *e);

/**
 * The next frame.
 * @return CAP_BAD: the file is cut off or damaged here; @p e says how. Nothing comes after.
 */
enum cap_result cap_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e);

void cap_close(struct cap_file *c);

#endif
