/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file capture_runs.h
 * Which of several files each frame is from: kept as runs of frames of one file, mostly an octet a
 * run, however the files alternate. Beyond a limit it is not kept.
 */
#ifndef PCAP_CAPTURE_RUNS_H
#define PCAP_CAPTURE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Octets of runs, at most: more than 100 million frames of two files. */
#define CAP_RUNS_MAX ((size_t)64 << 20)

struct cap_runs {
	unsigned files;
	size_t max; /**< limit of octets */
	bool full;  /**< no more are kept */
	/* The run that goes on */
	unsigned file;
	uint64_t len;
	uint64_t kept; /**< frames, with those of that run */
	/* Those before it, and how many frames are before some of them, of each file and of all */
	uint8_t *bytes;
	size_t used, size;
	uint64_t runs, *counts;
	uint64_t *marks;
	size_t num_marks, max_marks;
};

/** @return 0, or -ENOMEM. */
int cap_runs_init(struct cap_runs *r, unsigned files);

/** The next frame is of @p file. */
void cap_runs_add(struct cap_runs *r, unsigned file);

/**
 * Find frame @p number, from 1.
 * @param[out] there its number in its file.
 * @return false: there is none, or it was not kept.
 */
bool cap_runs_find(const struct cap_runs *r, uint64_t number, unsigned *file, uint64_t *there);

void cap_runs_free(struct cap_runs *r);

#endif
