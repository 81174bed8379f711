/* SPDX-License-Identifier: BSD-2-Clause */
/** @file secret_file.h Files with secrets, which nobody else may read. */
#ifndef TLS_SECRET_FILE_H
#define TLS_SECRET_FILE_H

#include "tls/tls.h"

#include <stdio.h>
#include <sys/stat.h>

/** To see that a file has changed. */
struct tls_file_stamp {
	struct timespec changed;
	dev_t device;
	ino_t inode;
	off_t size;
};

/** The present state of a file; zeros if it is not there. */
void tls_file_stamp_take(struct tls_file_stamp *t, const char *path);

/** True if two states differ. */
bool tls_file_stamp_differs(const struct tls_file_stamp *a, const struct tls_file_stamp *b);

/**
 * Open a file for reading, if it belongs to its owner, and perhaps a group, alone.
 * @param what the key that names it, for the sentence.
 * @return NULL with a sentence in @p e, and a negative errno in @p rc.
 */
FILE *tls_secret_file_open(const char *path, const char *what, int *rc, struct tls_error *e);

#endif
