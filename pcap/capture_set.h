/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture_set.h
 * Several capture files as one capture, by the times of their frames: what a capture program's
 * rotation has left, or what several of them have captured at the same time, whatever the order in
 * which they are named. Frames are numbered through all of them.
 *
 * Frames of one file stay in their order, also where its times go back. Of equal times the file
 * that begins earlier, or is named earlier, is first. A file without times is read behind the one
 * that was named before it.
 */
#ifndef PCAP_CAPTURE_SET_H
#define PCAP_CAPTURE_SET_H

#include "pcap/capture.h"
#include "pcap/capture_runs.h"

struct cap_set_file {
	const char *path; /**< the caller's */
	struct cap_file *file;
	bool follows;           /**< it is read when the one before has ended */
	bool begun;             /**< some of it was given to the caller */
	bool ahead;             /**< what comes next was read, and is here: */
	enum cap_result result; /**< of reading that */
	struct cap_frame frame;
	struct cap_error error;
	uint64_t time; /**< by which its next frame has its turn */
};

struct cap_set {
	struct cap_set_file *files; /**< by the time of their first frames */
	unsigned num_files;
	unsigned *turns; /**< files that have not ended, and follow none: whose turn it is first */
	unsigned num_turns;
	uint64_t number;      /**< of the last frame that was read */
	size_t read;          /**< octets since pages were given back */
	struct cap_runs runs; /**< files of frames */
};

/**
 * Open @p n files.
 * @param refused called for each that is not readable or no capture; the others are used.
 * @return 0, or -ENOMEM.
 */
int cap_set_open(struct cap_set *s, char *const *paths, unsigned n,
	void (*refused)(const char *path, const char *why));

/**
 * Take a capture that is open already as the only one.
 * @param path of its file; NULL: none that anybody could look at.
 * @return 0, or -ENOMEM; it is closed then, too.
 */
int cap_set_take(struct cap_set *s, const char *path, struct cap_file *file);

/**
 * Read the next frame, of whichever file.
 * @param[out] path with CAP_BAD, the file that is cut off or damaged here; call again to go on with
 *             the others.
 */
enum cap_result cap_set_next(
	struct cap_set *s, struct cap_frame *f, const char **path, struct cap_error *e);

/** The file that has frame @p number, and its number there, where one was read; NULL: none. */
const char *cap_set_locate(const struct cap_set *s, uint64_t number, uint64_t *there);

void cap_set_close(struct cap_set *s);

#endif
