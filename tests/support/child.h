/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file child.h
 * Runs a program and captures its output.
 */
#ifndef TESTS_SUPPORT_CHILD_H
#define TESTS_SUPPORT_CHILD_H

struct child {
	int status; /**< as waitpid() has it */
	char out[16384], err[16384];
};

/**
 * Run @p argv to its end. SIGALRM ends it if it takes too long.
 * @param env "NAME=value" to set, "NAME" to remove, NULL at the end; NULL: no changes.
 */
void child_run(struct child *c, const char *const argv[], const char *const env[]);

/** Its exit status. If a signal ended it the test fails with its output. */
int child_exit(const struct child *c);

/** The number of @p part in @p text. */
unsigned child_count(const char *text, const char *part);

#endif
