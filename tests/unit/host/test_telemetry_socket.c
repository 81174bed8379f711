/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* After the four that it needs. */
#include <cmocka.h>

static char directory[64];

static int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-sockets.XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

/** Nothing may be left, hidden files neither. */
static int teardown(void **state)
{
	return rmdir(directory);
}

static void remove_socket(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%.*s", directory, TELEMETRY_NAME, name);
	assert_int_equal(unlink(path), 0);
}

static void names_of_sockets(void **state)
{
	pid_t pid;

	assert_true(telemetry_socket_is_name("telemetry.123", &pid));
	assert_int_equal(pid, 123);
	assert_true(telemetry_socket_is_name("telemetry.4.15", &pid));
	assert_int_equal(pid, 4);
	assert_false(telemetry_socket_is_name("telemetry.", &pid));
	assert_false(telemetry_socket_is_name("telemetry.0", &pid));
	assert_false(telemetry_socket_is_name("telemetry.-3", &pid));
	assert_false(telemetry_socket_is_name("telemetry.1x", &pid));
	assert_false(telemetry_socket_is_name("telemetry.1/../2", &pid));
	assert_false(telemetry_socket_is_name("telemetry.99999999999999999999", &pid));
	assert_false(telemetry_socket_is_name("telemetry.4294967297", &pid));
	assert_false(telemetry_socket_is_name("slot.1", &pid));
	assert_false(telemetry_socket_is_name(".new.telemetry.1", &pid));
}

/** A second stack of the process has a name of its own; a dead one's of our number is taken over;
 * a hostile file at our name is not touched. */
static void names_are_unique(void **state)
{
	char first[TELEMETRY_NAME], second[TELEMETRY_NAME], path[128];
	char own[TELEMETRY_NAME];
	struct stat st;
	int ours, a, b;

	ours = telemetry_socket_listen(directory, own);
	assert_true(ours >= 0);
	snprintf(path, sizeof path, "%s/%s", directory, own);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	a = telemetry_socket_listen(directory, first);
	assert_true(a >= 0);
	assert_string_not_equal(first, own);
	assert_true((fcntl(a, F_GETFD) & FD_CLOEXEC) != 0);
	close(a); /* as if it were killed: the name stays */
	b = telemetry_socket_listen(directory, second);
	assert_true(b >= 0);
	assert_string_equal(first, second);
	snprintf(path, sizeof path, "%s/%s", directory, first);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	a = telemetry_socket_listen(directory, first);
	assert_true(a >= 0);
	assert_string_not_equal(first, second);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(path);
	snprintf(path, sizeof path, "%s/%s", directory, first);
	unlink(path);
	close(a);
	close(b);
	close(ours);
	snprintf(path, sizeof path, "%s/%s", directory, own);
	unlink(path);
}

static void a_directory_with_a_long_name(void **state)
{
	char name[TELEMETRY_NAME], path[300], file[400];
	int a, b;

	snprintf(path, sizeof path, "%s/%0200d", directory, 7);
	assert_int_equal(mkdir(path, 0700), 0);
	a = telemetry_socket_listen(path, name);
	assert_true(a >= 0);
	b = telemetry_socket_connect(path, name);
	assert_true(b >= 0);
	close(a);
	close(b);
	snprintf(file, sizeof file, "%s/%s", path, name);
	unlink(file);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(telemetry_socket_listen(path, name), -ENOENT);
}

/** As many as a process may have; then it is told, and nothing half made stays. */
static void names_come_to_an_end(void **state)
{
	char name[32][TELEMETRY_NAME], another[TELEMETRY_NAME];
	int fd[32];
	unsigned n = 0;

	while (n < 32 && (fd[n] = telemetry_socket_listen(directory, name[n])) >= 0)
		n++;
	assert_in_range(n, 2, 31);
	assert_int_equal(fd[n], -EEXIST);
	/* Of those that have ended the first free one is taken. */
	close(fd[1]);
	fd[1] = telemetry_socket_listen(directory, another);
	assert_true(fd[1] >= 0);
	assert_string_equal(another, name[1]);
	for (unsigned i = 0; i < n; i++) {
		close(fd[i]);
		remove_socket(name[i]);
	}
}

struct one_of_many {
	pthread_barrier_t *begin;
	char name[TELEMETRY_NAME];
	int fd;
};

static void *listen_at_once(void *arg)
{
	struct one_of_many *m = arg;

	pthread_barrier_wait(m->begin);
	m->fd = telemetry_socket_listen(directory, m->name);
	return NULL;
}

static void sweep(void *ctx, const char *name)
{
	telemetry_socket_sweep(directory, name);
}

/** Of one number, as in PID namespaces that share the directory, and at one time: each has its own
 * name, and is found by it, also where others of that number were killed. */
static void many_begin_at_once(void **state)
{
	struct one_of_many m[8];
	pthread_barrier_t begin;
	pthread_t thread[8];

	assert_int_equal(pthread_barrier_init(&begin, NULL, 8), 0);
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 8; i++) {
			m[i] = (struct one_of_many){.begin = &begin};
			assert_int_equal(
				pthread_create(&thread[i], NULL, listen_at_once, &m[i]), 0);
		}
		for (unsigned i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
		for (unsigned i = 0; i < 8; i++) {
			int client, server;

			assert_true(m[i].fd >= 0);
			client = telemetry_socket_connect(directory, m[i].name);
			assert_true(client >= 0);
			server = accept(m[i].fd, NULL, NULL);
			assert_true(server >= 0);
			close(server);
			close(client);
		}
		for (unsigned i = 0; i < 8; i++)
			close(m[i].fd);
		/* Else those that begin next find dead ones. */
		if (round & 1)
			assert_int_equal(telemetry_socket_each(directory, sweep, NULL), 0);
	}
	pthread_barrier_destroy(&begin);
}

/** Messages keep their bounds, both ways, and who listens does not block. */
static void messages_go_through(void **state)
{
	char name[TELEMETRY_NAME], text[16];
	int listener = telemetry_socket_listen(directory, name), client, server;

	assert_true(listener >= 0);
	assert_true((fcntl(listener, F_GETFL) & O_NONBLOCK) != 0);
	assert_true(accept(listener, NULL, NULL) < 0);
	assert_int_equal(errno, EAGAIN);
	client = telemetry_socket_connect(directory, name);
	assert_true(client >= 0);
	server = accept(listener, NULL, NULL);
	assert_true(server >= 0);
	assert_int_equal(send(client, "ab", 2, 0), 2);
	assert_int_equal(send(client, "c", 1, 0), 1);
	assert_int_equal(recv(server, text, sizeof text, 0), 2);
	assert_int_equal(recv(server, text, sizeof text, 0), 1);
	close(client);
	close(server);
	close(listener);
	assert_int_equal(telemetry_socket_connect(directory, name), -ECONNREFUSED);
	telemetry_socket_sweep(directory, name);
	assert_int_equal(telemetry_socket_connect(directory, name), -ENOENT);
}

/** One that began, and was killed, @p age seconds ago. @return its descriptor, if it is to live. */
static int leave_temporary(const char *name, unsigned age, bool lives)
{
	const struct timespec then[2] = {{.tv_nsec = UTIME_OMIT}, {time(NULL) - age, 0}};
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_true(fd >= 0);
	snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", directory, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(utimensat(AT_FDCWD, a.sun_path, then, 0), 0);
	if (lives) {
		assert_int_equal(listen(fd, 1), 0);
		return fd;
	}
	close(fd);
	return -1;
}

static void those_that_were_killed_at_their_first_name(void **state)
{
	char name[TELEMETRY_NAME];
	int alive, fd;

	(void)leave_temporary(".new.telemetry.1", 3600, false);
	(void)leave_temporary(".new.telemetry.2", 0, false); /* it may be about to listen */
	alive = leave_temporary(".new.telemetry.3", 3600, true);
	fd = telemetry_socket_listen(directory, name);
	assert_true(fd >= 0);
	remove_socket(name);
	remove_socket(".new.telemetry.2");
	remove_socket(".new.telemetry.3");
	close(fd);
	close(alive);
}

static void each_name(void *ctx, const char *name)
{
	unsigned *n = ctx;

	assert_int_equal(strncmp(name, "telemetry.", 10), 0);
	++*n;
}

/** Files that are called so are told of; whoever sweeps leaves what is no socket. */
static void others_in_the_directory(void **state)
{
	static const char *const files[] = {
		"telemetry.7", "slot.1", "telemetry.x", ".new.telemetry.7"};
	char path[128], link[128];
	unsigned n = 0;

	for (unsigned i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", directory, files[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	assert_int_equal(telemetry_socket_each(directory, each_name, &n), 0);
	assert_int_equal(n, 1);
	telemetry_socket_sweep(directory, "telemetry.7");
	for (unsigned i = 0; i < 4; i++)
		remove_socket(files[i]);
	/* Somebody else's directory is not ours by a link. */
	snprintf(link, sizeof link, "%s/link", directory);
	assert_int_equal(symlink("/tmp", link), 0);
	assert_int_equal(telemetry_socket_connect(link, "telemetry.7"), -ENOTDIR);
	assert_int_equal(telemetry_socket_listen(link, path), -ENOTDIR);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(telemetry_socket_each(link, each_name, &n), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_sockets),
		cmocka_unit_test_setup_teardown(names_are_unique, setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_with_a_long_name, setup, teardown),
		cmocka_unit_test_setup_teardown(names_come_to_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(many_begin_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_go_through, setup, teardown),
		cmocka_unit_test_setup_teardown(
			those_that_were_killed_at_their_first_name, setup, teardown),
		cmocka_unit_test_setup_teardown(others_in_the_directory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
