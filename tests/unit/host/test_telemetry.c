/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry.h"

#include "host/telemetry_socket.h"
#include "support/child_fork.h"
#include "support/engine_still.h"
#include "support/limit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OBJECTS 5000

static char directory[64];
static struct engine engine;
static struct telemetry *telemetry;

/* ---- commands: objects with numbers, of which some are not there -------------------------- */

static atomic_uint begun; /* by telemetry's thread */

static void objects_begin(void *ctx)
{
	begun++;
}

static enum walk objects_step(void *ctx, void *cursor, void *item)
{
	uint32_t *at = cursor;

	if (*at == OBJECTS)
		return WALK_END;
	*(uint32_t *)item = ++*at;
	if (*at % 5 == 0)
		return WALK_NONE;
	return *at % 3 == 0 ? WALK_HELD : WALK_ITEM;
}

static void objects_format(void *ctx, const void *item, struct json_text *j)
{
	json_text_number(j, "number", *(const uint32_t *)item);
	json_text_string(j, "text", "as long as such a thing is, with some words in it");
}

static atomic_bool thread_is_named; /* by telemetry's thread */

static void echo(void *ctx, const char *parameters, struct json_text *j)
{
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof name);
	thread_is_named = strcmp(name, "uiw-telemetry") == 0;
	json_text_string(j, NULL, parameters);
}

static void reading_read(void *ctx, void *copy)
{
	*(uint32_t *)copy += 4711; /* it comes zeroed */
}

static void reading_write(void *ctx, const void *copy, struct json_text *j)
{
	json_text_object(j, NULL);
	json_text_number(j, "read", *(const uint32_t *)copy);
	json_text_number(j, "slices", telemetry_costs(telemetry).slices);
	json_text_object_end(j);
}

static const struct telemetry_reading reading = {
	.size = sizeof(uint32_t), .read = reading_read, .write = reading_write};
static const struct telemetry_list objects = {.item_size = sizeof(uint32_t),
	.begin = objects_begin,
	.step = objects_step,
	.format = objects_format};
static const struct telemetry_command commands[] = {
	{"/test/echo", "says it again", .answer = echo},
	{"/test/objects", "all of them", .list = &objects},
	{"/test/reading", "a number of the engine's", .reading = &reading},
};

/* ---- a client ------------------------------------------------------------------------------ */

static int dial(void)
{
	int fd = telemetry_socket_connect(directory, telemetry_name(telemetry));
	const struct timeval patience = {.tv_sec = LIMIT_S};

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	return fd;
}

/** The next message, or NULL: the connection is over. */
static json_t *hear(int fd)
{
	static char text[TELEMETRY_OUTPUT];
	ssize_t n = recv(fd, text, sizeof text, 0);
	json_t *j;

	if (n <= 0)
		return NULL;
	j = json_loadb(text, (size_t)n, 0, NULL);
	assert_non_null(j);
	return j;
}

static int greeted(void)
{
	int fd = dial();
	json_t *j = hear(fd);

	assert_int_equal(json_integer_value(json_object_get(j, "pid")), getpid());
	assert_int_equal(
		json_integer_value(json_object_get(j, "max_output_len")), TELEMETRY_OUTPUT);
	assert_non_null(json_string_value(json_object_get(j, "version")));
	json_decref(j);
	return fd;
}

static json_t *ask(int fd, const char *request)
{
	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return hear(fd);
}

static int begin(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-telemetry.XXXXXX");
	assert_non_null(mkdtemp(directory));
	engine_init(&engine, &engine_still_ops, NULL);
	telemetry = telemetry_create(
		&(struct telemetry_config){.engine = &engine, .directory = directory});
	telemetry_add(telemetry, commands, sizeof commands / sizeof commands[0], NULL);
	return telemetry_start(telemetry);
}

static unsigned files(void)
{
	DIR *d = opendir(directory);
	struct dirent *e;
	unsigned n = 0;

	while ((e = readdir(d)) != NULL)
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(d);
	return n;
}

static int end(void **state)
{
	telemetry_stop(telemetry);
	telemetry_destroy(telemetry);
	engine_fini(&engine);
	assert_int_equal(files(), 0);
	return rmdir(directory);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void commands_are_answered(void **state)
{
	int fd = greeted();
	json_t *j = ask(fd, "/");

	assert_int_equal(json_array_size(json_object_get(j, "/")), 5);
	json_decref(j);
	j = ask(fd, "/test/echo,a,b \"c\"\n");
	assert_true(thread_is_named);
	assert_string_equal(json_string_value(json_object_get(j, "/test/echo")), "a,b \"c\"");
	json_decref(j);
	j = ask(fd, "/test/echo");
	assert_string_equal(json_string_value(json_object_get(j, "/test/echo")), "");
	json_decref(j);
	j = ask(fd, "/help,/test/echo");
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "/help"), "help")),
		"says it again");
	json_decref(j);
	j = ask(fd, "/no\"such");
	assert_non_null(json_object_get(json_object_get(j, "/no\"such"), "error"));
	json_decref(j);
	close(fd);
}

/** All pages together have each object once, however many pages and slices there were. */
static void lists_come_in_pages(void **state)
{
	int fd = greeted();
	char request[64] = "/test/objects";
	unsigned pages = 0, expected = 1;
	json_t *j, *page, *item;
	size_t i;

	for (;;) {
		j = ask(fd, request);
		page = json_object_get(j, "/test/objects");
		assert_int_equal(
			json_integer_value(json_object_get(page, "total")), OBJECTS / 5 * 4);
		json_array_foreach(json_object_get(page, "items"), i, item)
		{
			expected += expected % 5 == 0;
			assert_int_equal(
				json_integer_value(json_object_get(item, "number")), expected);
			expected++;
		}
		pages++;
		if (!json_object_get(page, "next"))
			break;
		snprintf(request, sizeof request, "/test/objects,%d",
			(int)json_integer_value(json_object_get(page, "next")));
		json_decref(j);
	}
	json_decref(j);
	assert_int_equal(expected, OBJECTS);
	assert_true(pages > 2);
	assert_int_equal(begun, 1);
	/* A page of nothing, and nonsense. */
	j = ask(fd, "/test/objects,4294967295");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(j, "/test/objects"), "items")), 0);
	json_decref(j);
	j = ask(fd, "/test/objects,x");
	assert_non_null(json_object_get(json_object_get(j, "/test/objects"), "error"));
	json_decref(j);
	close(fd);
}

static void who_holds_the_engine_is_told(void **state)
{
	static const char *const command[] = {"/test/objects", "/test/reading"};
	int fd = greeted();
	json_t *j;

	for (unsigned i = 0; i < 2; i++) {
		engine_lock(&engine);
		j = ask(fd, command[i]);
		engine_unlock(&engine);
		assert_non_null(json_object_get(json_object_get(j, command[i]), "error"));
		json_decref(j);
		j = ask(fd, command[i]);
		assert_null(json_object_get(json_object_get(j, command[i]), "error"));
		json_decref(j);
	}
	close(fd);
}

/** What is no list is read under the lock, too, and that is counted. */
static void readings_are_holds(void **state)
{
	int fd = greeted();

	for (unsigned i = 1; i <= 3; i++) {
		json_t *j = ask(fd, "/test/reading"), *value = json_object_get(j, "/test/reading");

		assert_int_equal(json_integer_value(json_object_get(value, "read")), 4711);
		assert_int_equal(json_integer_value(json_object_get(value, "slices")), i);
		json_decref(j);
	}
	close(fd);
}

/** One that sends too much is left, one that says nothing stays, one that never reads stalls
 * nobody. */
static void bad_clients_harm_nobody(void **state)
{
	static char much[TELEMETRY_REQUEST + 1];
	int silent = dial(), good = greeted(), bad = greeted(), deaf = dial();
	json_t *j;

	memset(much, 'a', sizeof much);
	assert_int_equal(send(bad, much, sizeof much, 0), sizeof much);
	assert_null(hear(bad));
	close(bad);
	for (;;) /* until it is left */
		if (send(deaf, "/test/objects", 13, MSG_NOSIGNAL) < 0)
			break;
	close(deaf);
	j = ask(good, "/test/echo,1");
	assert_string_equal(json_string_value(json_object_get(j, "/test/echo")), "1");
	json_decref(j);
	json_decref(hear(silent));
	j = ask(silent, "/test/echo,2");
	assert_string_equal(json_string_value(json_object_get(j, "/test/echo")), "2");
	json_decref(j);
	close(silent);
	close(good);
}

/** Those that have asked least lately give way, and there is always room for one more. */
static void any_number_of_clients(void **state)
{
	int fd[40];

	for (unsigned i = 0; i < 40; i++)
		fd[i] = greeted();
	json_decref(ask(fd[39], "/"));
	assert_null(hear(fd[0]));
	for (unsigned i = 0; i < 40; i++)
		close(fd[i]);
}

/** After a fork() the parent is served, the child serves nobody, and its end removes nothing. */
static void a_child_leaves_it_alone(void **state)
{
	int status, fd;
	pid_t pid = child_fork();

	if (pid == 0) {
		telemetry_let_go(telemetry);
		telemetry_unlink(telemetry);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fd = greeted();
	close(fd);
}

/** As nobody in particular. @return 0: a greeting came; an errno; or -1: the connection was ended.
 */
static int asked_by_another(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int status;
	pid_t pid = child_fork();

	if (pid == 0) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		char c;

		snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
		if (setgid(65534) || setuid(65534))
			_exit(254);
		if (connect(fd, (struct sockaddr *)&a, sizeof a))
			_exit(errno);
		_exit(recv(fd, &c, 1, 0) == 1 ? 0 : 255);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return (int8_t)WEXITSTATUS(status);
}

/** By the file's mode, and by who they are if that was changed. */
static void other_users_are_refused(void **state)
{
	char path[128];
	int refused;

	if (geteuid() != 0)
		skip(); /* only root can be another */
	snprintf(path, sizeof path, "%s/%s", directory, telemetry_name(telemetry));
	assert_int_equal(chmod(directory, 0755), 0);
	refused = asked_by_another(path);
	if (refused == -2)
		skip(); /* a user namespace with nobody in it */
	assert_int_equal(refused, EACCES);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(asked_by_another(path), -1);
	close(greeted());
}

/** Sockets of the dead go when somebody starts; what is no socket of ours stays. */
static void the_dead_are_swept(void **state)
{
	char name[TELEMETRY_NAME], path[128];
	int status, pipes[2];
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = child_fork();
	if (pid == 0) {
		status = telemetry_socket_listen(directory, name);
		if (write(pipes[1], name, sizeof name) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], name, sizeof name), sizeof name);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(files(), 2);
	/* It lives: it is left alone. */
	telemetry_socket_sweep(directory, name);
	assert_int_equal(files(), 2);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(telemetry_socket_connect(directory, name), -ECONNREFUSED);
	snprintf(path, sizeof path, "%s/telemetry.1.7", directory);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	telemetry_stop(telemetry);
	assert_int_equal(telemetry_start(telemetry), 0);
	assert_int_equal(files(), 2); /* ours, and the file */
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(commands_are_answered, begin, end),
		cmocka_unit_test_setup_teardown(lists_come_in_pages, begin, end),
		cmocka_unit_test_setup_teardown(who_holds_the_engine_is_told, begin, end),
		cmocka_unit_test_setup_teardown(readings_are_holds, begin, end),
		cmocka_unit_test_setup_teardown(bad_clients_harm_nobody, begin, end),
		cmocka_unit_test_setup_teardown(any_number_of_clients, begin, end),
		cmocka_unit_test_setup_teardown(a_child_leaves_it_alone, begin, end),
		cmocka_unit_test_setup_teardown(other_users_are_refused, begin, end),
		cmocka_unit_test_setup_teardown(the_dead_are_swept, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
