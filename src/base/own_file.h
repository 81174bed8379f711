/* SPDX-License-Identifier: BSD-2-Clause */
/** @file own_file.h Files that we write, where others may have prepared something at their names.
 */
#ifndef BASE_OWN_FILE_H
#define BASE_OWN_FILE_H

#include <sys/types.h>

/**
 * open() a file for writing, and make it if it is not there. In a directory where everybody makes
 * files, such as /tmp, nothing is taken that another user may have put there: no symbolic link, no
 * file or FIFO of another user, and none with a second name. Linux sees to most of that by itself
 * where its protected_symlinks, protected_hardlinks and protected_regular are on. A FIFO is opened
 * only if somebody reads it, and write() does not wait for its reader (EAGAIN).
 * @param flags as of open(): how to write, O_APPEND, O_TRUNC
 * @param mode of a new file
 * @return a descriptor, close-on-exec, or -errno; -EPERM: what is there is not taken.
 */
int own_file_open(const char *path, int flags, mode_t mode);

/** strerror(-rc), or what -EPERM and -ENXIO mean here. */
const char *own_file_strerror(int rc);

#endif
