/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/child.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static void become(const char *const argv[], const char *const env[], int out, int err)
{
	for (; env != NULL && *env != NULL; env++) {
		if (strchr(*env, '=') != NULL)
			putenv(strdup(*env));
		else
			unsetenv(*env);
	}
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	alarm(LIMIT_S);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(126);
}

static void take(int fd, char *text, size_t size)
{
	ssize_t n = pread(fd, text, size - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
}

void child_run(struct child *c, const char *const argv[], const char *const env[])
{
	int out = memfd_create("out", MFD_CLOEXEC);
	int err = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	assert_true(out >= 0 && err >= 0);
	pid = child_fork();
	if (pid == 0)
		become(argv, env, out, err);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &c->status, 0), pid);
	take(out, c->out, sizeof c->out);
	take(err, c->err, sizeof c->err);
}

int child_exit(const struct child *c)
{
	if (!WIFEXITED(c->status))
		fail_msg("ended by signal %d: %s%s", WTERMSIG(c->status), c->out, c->err);
	return WEXITSTATUS(c->status);
}

unsigned child_count(const char *text, const char *part)
{
	unsigned n = 0;

	for (const char *p = text; (p = strstr(p, part)) != NULL; p += strlen(part))
		n++;
	return n;
}
