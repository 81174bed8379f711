/* SPDX-License-Identifier: BSD-2-Clause */
/* The table that libuiwarp.so exports, called as the preloaded library calls it, but without it. */
#include "provider/provider.h"

#include "support/child_fork.h"
#include "support/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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

static _Atomic unsigned entered, begun, left;

static void enter(void)
{
	entered++;
}

static void note_start(void)
{
	begun += entered == left + 1;
}

static void leave(void)
{
	left++;
}

static const struct provider_host host = {.real_verbs = no_function,
	.is_leaving = is_not_leaving,
	.enter = enter,
	.started = note_start,
	.leave = leave};

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

/* @return 0, or a negative errno: of the start, or else of the first use. */
static int use(void)
{
	struct ibv_device *device = NULL;
	int rc = table()->start(&host, &device);
	struct ibv_context *c;

	if (rc != 0)
		return rc;
	c = table()->open_device(device);
	if (c == NULL || table()->is_begun() || entered != 0)
		return -EBADE;
	errno = 0;
	if (table()->alloc_pd(c) != NULL)
		return begun == 1 && left == 1 && table()->is_begun() ? 0 : -EBADE;
	rc = errno;
	errno = 0;
	/* Not tried again. */
	if (table()->alloc_pd(c) != NULL || errno != rc || table()->is_begun() || entered != 1 ||
		left != 1 || begun != 0)
		return -EBADE;
	return -rc;
}

/* Start with some settings, in a process of its own. @return what use() answered. */
static int start_with(const char *settings, const char *config, char *said, size_t size)
{
	int fds[2], status;
	ssize_t n = 0, got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = child_fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		settings == NULL ? unsetenv("UIWARP_SET") : setenv("UIWARP_SET", settings, 1);
		config == NULL ? unsetenv("UIWARP_CONFIG") : setenv("UIWARP_CONFIG", config, 1);
		_exit(-use());
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
	assert_int_equal(
		start_with("port=net_nonesuch0\naddress=10.99.0.1/24", NULL, said, sizeof said),
		-ENODEV);
	one_sentence(said, "net_nonesuch0");
	assert_int_equal(start_with(SETTINGS, NULL, said, sizeof said), 0);
	assert_string_equal(said, "");
}

/* ---- slots -------------------------------------------------------------------------------------
 */

#define MUST(condition)                                                         \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			_exit(1);                                               \
		}                                                               \
	} while (0)

static struct ibv_device *start_in_slots(const char *name, const char *slots)
{
	struct ibv_device *device = NULL;
	char set[256];

	snprintf(set, sizeof set,
		"port=net_null0,no-rx=1\naddress=10.99.0.%%{slot}/24\nname=%s\nslots=%s", name,
		slots);
	setenv("UIWARP_SET", set, 1);
	unsetenv("UIWARP_CONFIG");
	MUST(table()->start(&host, &device) == 0);
	return device;
}

static bool can_use(struct ibv_context *c)
{
	return table()->alloc_pd(c) != NULL;
}

/* Run in a child, which ends well. */
static void in_child(void (*f)(void *), void *arg)
{
	int status;
	pid_t pid = child_fork();

	if (pid == 0) {
		alarm(LIMIT_S);
		f(arg);
		_exit(0);
	}
	MUST(waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct parent {
	struct ibv_device *device;
	struct ibv_context *context;
	__be64 guid;
	char slots[64];
};

/* What its parent opened is there for it, with a slot and an identity of its own. */
static void child_of_identified(void *arg)
{
	struct parent *p = arg;
	struct ibv_device_attr attr;
	__be64 guid = table()->get_device_guid(p->device);

	MUST(guid != 0 && guid != p->guid);
	MUST(table()->query_device(p->context, &attr) == 0 && attr.node_guid == guid);
	MUST(can_use(p->context));
	MUST(table()->get_device_guid(p->device) == guid);
	MUST(table()->close_device(p->context) == 0);
}

static void identified(void *arg)
{
	struct parent *p = arg;

	p->device = start_in_slots("other7", p->slots);
	p->context = table()->open_device(p->device);
	p->guid = table()->get_device_guid(p->device);
	MUST(p->context != NULL && p->guid != 0);
	in_child(child_of_identified, p);
	MUST(!table()->is_begun());
	MUST(can_use(p->context) && table()->get_device_guid(p->device) == p->guid);
}

static void child_of_listed(void *arg)
{
	struct parent *p = arg;

	MUST(can_use(p->context));
}

/* The only slot there is is not its parent's, nor its brother's that is gone. */
static void listed(void *arg)
{
	struct parent *p = arg;

	p->device = start_in_slots("other7", p->slots);
	p->context = table()->open_device(p->device);
	in_child(child_of_listed, p);
	in_child(child_of_listed, p);
	MUST(can_use(p->context));
}

/* All are taken: it is told so, and has no identity. */
static void child_without_slot(void *arg)
{
	struct parent *p = arg;
	char said[1000] = "";
	int fds[2];

	MUST(pipe(fds) == 0 && dup2(fds[1], STDERR_FILENO) >= 0);
	MUST(table()->get_device_guid(p->device) == 0);
	errno = 0;
	MUST(!can_use(p->context) && errno == ENODEV);
	MUST(table()->get_device_guid(p->device) == 0);
	errno = 0;
	MUST(table()->cm_open(O_RDWR) == -1 && errno == ENODEV);
	MUST(read(fds[0], said, sizeof said - 1) > 0);
	MUST(strstr(said, "all slots from 1 to 1") != NULL);
	MUST(strchr(said, '\n') == said + strlen(said) - 1);
}

static void only_one(void *arg)
{
	struct parent *p = arg;

	p->device = start_in_slots("other7", p->slots);
	p->context = table()->open_device(p->device);
	MUST(table()->get_device_guid(p->device) != 0);
	in_child(child_without_slot, p);
}

static void child_of_named(void *arg)
{
	struct parent *p = arg;

	table()->list();
	MUST(strcmp(p->device->name, "uiw2") == 0);
}

static void named(void *arg)
{
	struct parent *p = arg;

	p->device = start_in_slots("uiw%{slot}", p->slots);
	MUST(strcmp(p->device->name, "uiw1") == 0);
	in_child(child_of_named, p);
}

static void test_slots(void **state)
{
	struct parent p = {0};

	snprintf(p.slots, sizeof p.slots, "identified-%d:1-2", (int)getpid());
	in_child(identified, &p);
	snprintf(p.slots, sizeof p.slots, "listed-%d:1-1", (int)getpid());
	in_child(listed, &p);
	snprintf(p.slots, sizeof p.slots, "only-%d:1-1", (int)getpid());
	in_child(only_one, &p);
	snprintf(p.slots, sizeof p.slots, "named-%d:1-2", (int)getpid());
	in_child(named, &p);
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

#define THREADS 8

static pthread_barrier_t together;

static void *create_cq(void *arg)
{
	struct ibv_cq *cq;

	pthread_barrier_wait(&together);
	cq = table()->create_cq(arg, 4, NULL, NULL, 0);
	return cq == NULL || table()->destroy_cq(cq) != 0 ? arg : NULL;
}

/* The second thread waits until there is what it needs. */
static void test_threads_start_it_once(void **state)
{
	struct ibv_context *c = table()->open_device(device);
	pthread_t t[THREADS];

	assert_non_null(c);
	assert_false(table()->is_begun());
	assert_int_equal(pthread_barrier_init(&together, NULL, THREADS), 0);
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, create_cq, c), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		void *failed;

		assert_int_equal(pthread_join(t[i], &failed), 0);
		assert_null(failed);
	}
	assert_int_equal(entered, 1);
	assert_int_equal(begun, 1);
	assert_int_equal(left, 1);
	assert_int_equal(table()->close_device(c), 0);
}

/* Even a libibverbs that we do not know gives a context with verbs that work. */
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
	pid_t pid = child_fork();

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
		cmocka_unit_test(test_slots),
	};
	const struct CMUnitTest started[] = {
		cmocka_unit_test(test_threads_start_it_once),
		cmocka_unit_test(test_plain_context),
		cmocka_unit_test(test_cm),
		cmocka_unit_test(test_fork),
	};

	alarm(LIMIT_S);
	/* In this order: a process starts one stack, and children must not inherit it. */
	return cmocka_run_group_tests(inert, NULL, NULL) +
	       cmocka_run_group_tests(started, start, NULL);
}
