/* SPDX-License-Identifier: BSD-2-Clause */
/** @file secret_file.h Files with secrets, which nobody else may read. */
#ifndef BASE_SECRET_FILE_H
#define BASE_SECRET_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/** To see that a file has changed. */
struct secret_file_stamp {
	struct timespec changed;
	mode_t mode; /**< who may read it, with its owner: one is refused for that */
	uid_t owner;
	gid_t group;
	dev_t device;
	ino_t inode;
	off_t size;
};

/** The present state of a file; zeros if it is not there. */
void secret_file_stamp_take(struct secret_file_stamp *t, const char *path);

/**
 * After a file was refused with @p rc: was that for a passing reason, such as too few descriptors?
 * Then it is worth another try as it is.
 */
static inline bool secret_file_try_again(int rc)
{
	return rc != -EINVAL && rc != -EACCES;
}

/** True if two states differ. */
bool secret_file_stamp_differs(
	const struct secret_file_stamp *a, const struct secret_file_stamp *b);

/**
 * Open a file for reading, if it belongs to its owner, and perhaps a group, alone.
 * @param what the key that names it, for the sentence.
 * @param[out] rc a negative errno, of NULL.
 * @param[out] why a sentence, of NULL, in @p size octets.
 */
FILE *secret_file_open(const char *path, const char *what, int *rc, char *why, size_t size);

#endif
