/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file child.h
 * Run a program and look at it from outside.
 */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

struct child {
	int status; /**< as waitpid() has it */
	char out[16384], err[16384];
};

/**
 * Run @p argv to its end, which comes by SIGALRM if not before.
 * @param env "NAME=value" to set, "NAME" to remove, NULL at the end; NULL: as it is.
 */
void child_run(struct child *c, const char *const argv[], const char *const env[]);

/** Its exit status; fails the test, with what it said, when a signal ended it. */
int child_exit(const struct child *c);

/** How often @p text has @p part. */
unsigned child_count(const char *text, const char *part);

#endif
