/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/uiw-memif-XXXXXX";
static struct sockaddr_un sun = {.sun_family = AF_UNIX};
static char device[200];

static int make_directory(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/m", directory);
	snprintf(device, sizeof device, "net_memif0,role=server,socket=%s,socket-abstract=no",
		sun.sun_path);
	return 0;
}

static int remove_directory(void **state)
{
	unlink(sun.sun_path);
	return rmdir(directory);
}

/** What a server holds; closed without more it is what a killed one leaves. */
static int a_server(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	assert_int_not_equal(fd, -1);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void a_server_at_its_socket_is_seen(void **state)
{
	int fd = a_server();

	assert_true(memif_is_served(device));
	/* It has seen no connection. */
	assert_int_equal(accept(fd, NULL, NULL), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd);
	/* A file that is left. */
	assert_false(memif_is_served(device));
	unlink(sun.sun_path);
}

static void relative_paths_are_made_absolute(void **state)
{
	char before[PATH_MAX], out[PATH_MAX + 100], want[PATH_MAX + 100];

	assert_non_null(getcwd(before, sizeof before));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(memif_absolute("net_memif0,role=client,socket=m,socket-abstract=no", out,
				 sizeof out),
		0);
	snprintf(want, sizeof want, "net_memif0,role=client,socket=%s/m,socket-abstract=no",
		directory);
	assert_string_equal(out, want);
	assert_int_equal(
		memif_absolute("net_memif1,socket-abstract=no,socket=../a/m", out, sizeof out), 0);
	snprintf(want, sizeof want, "net_memif1,socket-abstract=no,socket=%s/../a/m", directory);
	assert_string_equal(out, want);
	assert_int_equal(chdir(before), 0);
}

static void all_else_is_left_alone(void **state)
{
	const char *const others[] = {"net_memif0", "net_memif0,socket=abstract-one",
		"net_memif0,socket=m,socket-abstract=yes", "net_tap0,socket=m,socket-abstract=no",
		"net_memif0,socket=/tmp/m,socket-abstract=no", "0000:01:00.0"};
	char out[100];

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		assert_int_equal(memif_absolute(others[i], out, sizeof out), 0);
		assert_string_equal(out, others[i]);
		assert_int_equal(memif_absolute(others[i], out, strlen(others[i])), -ENAMETOOLONG);
	}
}

/** What is said of a memif without a link; its arguments end with @p args. */
static enum memif_absence absence(const char *args)
{
	char port[256], name[128];

	snprintf(port, sizeof port, "net_memif0,%s", args);
	return memif_why_absent(port, name, sizeof name);
}

static void who_is_not_there(void **state)
{
	char args[200], name[100];
	int fd;

	assert_int_equal(absence("role=server,socket=/tmp/x,socket-abstract=no"), MEMIF_NO_CLIENT);
	assert_int_equal(absence("socket=/nonexistent/x,socket-abstract=no"), MEMIF_NO_SERVER);
	snprintf(args, sizeof args, "role=client,socket=%s,socket-abstract=no", sun.sun_path);
	assert_int_equal(absence(args), MEMIF_NO_SERVER);
	fd = a_server();
	assert_int_equal(absence(args), MEMIF_TAKEN);
	close(fd);
	assert_int_equal(absence(args), MEMIF_NO_SERVER); /* a file that is left */
	assert_int_equal(unlink(sun.sun_path), 0);
	assert_int_equal(memif_why_absent("net_memif0", name, sizeof name), absence("role=client"));
	assert_string_equal(name, "/run/memif.sock");
}

/* The driver binds the whole of sun_path, so the name has zeros behind it. */
static void who_is_not_there_by_an_abstract_name(void **state)
{
	struct sockaddr_un abstract = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
	char args[200], device_too[200];

	assert_true(strlen(sun.sun_path) < sizeof abstract.sun_path - 1);
	memcpy(abstract.sun_path + 1, sun.sun_path, strlen(sun.sun_path));
	snprintf(args, sizeof args, "role=client,socket=%s", sun.sun_path);
	assert_int_equal(absence(args), MEMIF_NO_SERVER);
	assert_int_equal(bind(fd, (struct sockaddr *)&abstract, sizeof abstract), 0);
	assert_int_equal(absence(args), MEMIF_NO_SERVER); /* bound, but nobody listens */
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(absence(args), MEMIF_TAKEN);
	snprintf(device_too, sizeof device_too, "net_memif0,role=server,socket=%s", sun.sun_path);
	assert_true(memif_is_served(device_too));
	snprintf(device_too, sizeof device_too, "net_memif0,role=client,socket=%s", sun.sun_path);
	assert_false(memif_is_served(device_too));
	args[strlen(args) - 1] = '\0'; /* a shorter name is another one */
	assert_int_equal(absence(args), MEMIF_NO_SERVER);
	close(fd);
}

/* As its driver makes it: seen with strace, for these arguments. */
static void a_clients_file_has_a_size(void **state)
{
	assert_int_equal(memif_file_size("net_memif0"), 4227328);
	assert_int_equal(memif_file_size("net_memif0,role=client,bsize=4096,rsize=5"), 263424);
	assert_int_equal(memif_file_size("net_memif0,rsize=14,bsize=65535"), 2147975424);
	/* The driver refuses it, by name. */
	assert_int_equal(memif_file_size("net_memif0,rsize=15,bsize=65535"), 2147975424);
	assert_int_equal(memif_file_size("net_memif0,role=server"), 0);
	assert_int_equal(memif_file_size("net_tap0,iface=x"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clients_file_has_a_size),
		cmocka_unit_test(a_server_at_its_socket_is_seen),
		cmocka_unit_test(relative_paths_are_made_absolute),
		cmocka_unit_test(all_else_is_left_alone),
		cmocka_unit_test(who_is_not_there),
		cmocka_unit_test(who_is_not_there_by_an_abstract_name),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
