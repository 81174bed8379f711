/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sysfs.h Files in which the kernel has one number, of sysfs or /proc/sys. */
#ifndef BASE_SYSFS_H
#define BASE_SYSFS_H

#include <stdint.h>

/** The number in file @p path, decimal or after "0x" hexadecimal. @return 0: there is none, or a
 * negative one, or no such file. */
uint64_t sysfs_number(const char *path);

/** The same of descriptor @p fd, from its beginning, which may be read again and again. */
uint64_t sysfs_number_of(int fd);

#endif
