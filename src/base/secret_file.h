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

/** True if two states differ. */
bool secret_file_stamp_differs(
	const struct secret_file_stamp *a, const struct secret_file_stamp *b);

/**
 * After a file was refused with @p rc: was that for a passing reason, such as too few descriptors?
 * Then it is worth another try as it is. The stamp tells when another reason may have gone.
 */
static inline bool secret_file_try_again(int rc)
{
	return rc != -EINVAL && rc != -EACCES && rc != -ENOENT && rc != -ENOTSUP &&
	       rc != -EKEYEXPIRED;
}

/**
 * What a file was refused for, or is warned of, at one reading: was it the same the last time? It
 * is told once.
 * @param last keeps it, in @p size octets; empty at first.
 * @param is empty: there is nothing to tell.
 * @return true: it is to be told.
 */
bool secret_file_is_news(char *last, size_t size, const char *is);

/**
 * No line follows, or none that can be read: half a file would be another file.
 * @return NULL, or what is wrong, for secret_file_error().
 */
const char *secret_file_end(FILE *f);

/** @return -EIO: @p wrong is of secret_file_end(); else -EINVAL. */
int secret_file_error(const char *wrong);

/** @return NULL; or why such a file has no secrets: others may read or change it. */
const char *secret_file_exposed(const struct stat *st);

/**
 * Open a file for reading, if it belongs to its owner, and perhaps a group, alone.
 * @param what the key that names it, for the sentence.
 * @param[out] rc a negative errno, of NULL.
 * @param[out] why a sentence, of NULL, in @p size octets.
 */
FILE *secret_file_open(const char *path, const char *what, int *rc, char *why, size_t size);

#endif
