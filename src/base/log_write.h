/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file log_write.h
 * Lines of a log into a file, a FIFO or stderr, from whichever thread of a program that is not
 * ours.
 */
#ifndef BASE_LOG_WRITE_H
#define BASE_LOG_WRITE_H

#include <stddef.h>

/**
 * One write() of @p text, if @p fd takes it at once: otherwise it is lost, and so is the rest of
 * what is taken in part. Only a terminal or a pipe of another user may be waited for, when it has
 * room for a part and cannot be opened anew. No signal comes of it: neither where nobody reads a
 * FIFO any more, nor at the limit of a file's size. errno stays.
 */
void log_write(int fd, const char *text, size_t len);

/**
 * log_write() to stderr, as long as that is what the program was started with, or what it may have
 * been turned to since: a terminal, a pipe, or a file that is appended to, such as a daemon's log.
 * Anything else may be data of a program that has closed its stderr. One that was started without
 * has a terminal there at most.
 */
void log_write_stderr(const char *text, size_t len);

#endif
