/* SPDX-License-Identifier: BSD-2-Clause */
/* The table that libuiwarp.so exports, called as the preloaded library calls it, but without it. */
#include "provider/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* After the four that it needs. */
#include <cmocka.h>

#define SETTINGS "port=net_null0,no-rx=1\nmac=02:00:00:00:00:01\naddress=10.99.0.1/24\nname=other7"

/* As with a libibverbs that does not have the private function. */
static void *no_function(const char *name)
{
	return NULL;
}

static bool is_not_leaving(void)
{
	return false;
}

static const struct provider_host host = {.real_verbs = no_function, .is_leaving = is_not_leaving};

static const struct provider *table(void)
{
	const struct provider *p = uiwarp_provider(PROVIDER_VERSION);

	assert_non_null(p);
	return p;
}

static void test_version(void **state)
{
	assert_null(uiwarp_provider(0));
	assert_null(uiwarp_provider(PROVIDER_VERSION + 1));
	assert_int_equal(table()->version, PROVIDER_VERSION);
}

/* Every verb is there: the shim does not look. */
static void test_complete(void **state)
{
	const uint8_t *p = (const uint8_t *)table();
	void (*f)(void);

	for (size_t at = offsetof(struct provider, start); at < sizeof(struct provider);
		at += sizeof f) {
		memcpy(&f, p + at, sizeof f);
		assert_true(f != NULL);
	}
}

/* Start with some settings, in a process of its own. @return what start() answered. */
static int start_with(const char *settings, const char *config, char *said, size_t size)
{
	int fds[2], status;
	ssize_t n = 0, got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct ibv_device *device = NULL;

		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		settings == NULL ? unsetenv("UIWARP_SET") : setenv("UIWARP_SET", settings, 1);
		config == NULL ? unsetenv("UIWARP_CONFIG") : setenv("UIWARP_CONFIG", config, 1);
		_exit(-table()->start(&host, &device));
	}
	close(fds[1]);
	while ((got = read(fds[0], said + n, size - 1 - (size_t)n)) > 0)
		n += got;
	said[n] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void one_sentence(const char *said, const char *about)
{
	const char *end = strchr(said, '\n');

	assert_int_equal(strncmp(said, "uiwarp: ", 8), 0);
	assert_non_null(strstr(said, about));
	assert_non_null(end);
	assert_string_equal(end, "\n");
}

static void test_no_configuration(void **state)
{
	char said[1000];

	assert_int_equal(start_with(NULL, NULL, said, sizeof said), -ENOENT);
	assert_string_equal(said, "");
	assert_int_equal(start_with("", "", said, sizeof said), -ENOENT);
	assert_string_equal(said, "");
}

static void test_bad_configuration(void **state)
{
	char said[1000];

	assert_int_equal(start_with("color=blue", NULL, said, sizeof said), -EINVAL);
	one_sentence(said, "color");
	assert_int_equal(start_with(NULL, "/nonexistent/uiwarp.conf", said, sizeof said), -ENOENT);
	one_sentence(said, "/nonexistent/uiwarp.conf");
	assert_true(start_with("port=net_nonesuch0\naddress=10.99.0.1/24", NULL, said,
			    sizeof said) < 0);
	one_sentence(said, "net_nonesuch0");
}

/* ---- started -----------------------------------------------------------------------------------
 */

static struct ibv_device *device;

static int start(void **state)
{
	unsetenv("UIWARP_CONFIG");
	setenv("UIWARP_SET", SETTINGS, 1);
	return table()->start(&host, &device);
}

/* Even a libibverbs that we do not know gives a context whose own verbs work. */
static void test_plain_context(void **state)
{
	const struct provider *p = table();
	struct ibv_device_attr attr;
	struct ibv_context *c;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_wc wc;

	assert_non_null(device);
	assert_string_equal(device->name, "other7");
	c = p->open_device(device);
	assert_non_null(c);
	assert_ptr_equal(c->device, device);
	assert_int_equal(c->cmd_fd, -1);
	assert_int_equal(p->query_device(c, &attr), 0);
	assert_true(attr.node_guid == p->get_device_guid(device));
	pd = p->alloc_pd(c);
	cq = p->create_cq(c, 4, NULL, NULL, 0);
	assert_non_null(pd);
	assert_non_null(cq);
	assert_int_equal(c->ops.poll_cq(cq, 1, &wc), 0);
	assert_int_equal(p->destroy_cq(cq), 0);
	/* Closed with the one that is left, which is still there. */
	assert_int_equal(p->close_device(c), 0);
	assert_int_equal(p->dealloc_pd(pd), 0);
}

static void test_cm(void **state)
{
	const struct provider *p = table();
	int fd = p->cm_open(O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	/* No such command. */
	errno = 0;
	assert_int_equal(p->cm_write(fd, "\xff\xff\xff\xff\0\0\0\0", 8), -1);
	assert_true(errno != 0);
	assert_int_equal(p->cm_write(fd, "x", 1), -1);
	p->cm_close(fd);
}

static void test_fork(void **state)
{
	struct ibv_context *c = table()->open_device(device);
	struct ibv_cq *cq = table()->create_cq(c, 4, NULL, NULL, 0);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct ibv_wc wc;

		_exit(c->ops.poll_cq(cq, 1, &wc) == -ENODEV && c->ops.req_notify_cq(cq, 0) == ENODEV
				? 0
				: 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	/* The parent's is as before. */
	assert_int_equal(c->ops.req_notify_cq(cq, 0), 0);
	assert_int_equal(table()->destroy_cq(cq), 0);
	assert_int_equal(table()->close_device(c), 0);
}

int main(void)
{
	const struct CMUnitTest inert[] = {
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_no_configuration),
		cmocka_unit_test(test_bad_configuration),
	};
	const struct CMUnitTest started[] = {
		cmocka_unit_test(test_plain_context),
		cmocka_unit_test(test_cm),
		cmocka_unit_test(test_fork),
	};

	alarm(60);
	/* In this order: a process starts one stack, and children must not inherit it. */
	return cmocka_run_group_tests(inert, NULL, NULL) +
	       cmocka_run_group_tests(started, start, NULL);
}
