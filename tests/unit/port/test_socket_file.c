/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/socket_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
/* After the four that it needs. */
#include <cmocka.h>

static char directory[] = "/tmp/uiw-socket-XXXXXX";
static struct sockaddr_un sun = {.sun_family = AF_UNIX};

/** Arguments of servers, and the type of their sockets. */
static const struct {
	const char *device;
	int type;
} servers[] = {
	{"net_memif0,role=server,socket=%s,socket-abstract=no", SOCK_SEQPACKET},
	{"net_memif0,socket-abstract=no,role=master,socket=%s,id=1", SOCK_SEQPACKET},
	{"net_virtio_user0,path=%s,server=1", SOCK_STREAM},
	{"virtio_user0,server=1,queue_size=256,path=%s", SOCK_STREAM},
	{"net_vhost0,iface=%s", SOCK_STREAM},
	{"eth_vhost12,iface=%s,client=0", SOCK_STREAM},
};

#define SERVERS (sizeof servers / sizeof servers[0])

/** Those that make no file, or none of this name. */
static const char *const others[] = {
	"net_memif0,role=client,socket=%s,socket-abstract=no",
	"net_memif0,socket=%s,socket-abstract=no",
	"net_memif0,role=server,socket=%s",
	"net_memif0,role=server,socket=%s,socket-abstract=yes",
	"net_tap0,role=server,socket=%s,socket-abstract=no",
	"net_virtio_user0,path=%s",
	"net_virtio_user0,path=%s,server=0",
	"net_vhost0,iface=%s,client=1",
	"net_af_packet0,iface=%s",
	"net_vhost0,path=%s",
	"net_vhost0",
	"net_memif0,role=server,socket-abstract=no",
	"0000:01:00.0",
};

static int make_directory(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/s", directory);
	return 0;
}

static int remove_directory(void **state)
{
	unlink(sun.sun_path);
	return rmdir(directory);
}

/** What a server holds; closed without more it is what a killed one leaves. */
static int a_server(int type)
{
	int fd = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);

	assert_int_not_equal(fd, -1);
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	return fd;
}

static bool forget(const char *device)
{
	char text[200];

	/* Each has one "%s", or none. */
	snprintf(text, sizeof text, device, sun.sun_path);
	return socket_file_forget_stale(text);
}

static bool is_there(void)
{
	return access(sun.sun_path, F_OK) == 0;
}

static void the_socket_of_a_killed_server_is_removed(void **state)
{
	for (size_t i = 0; i < SERVERS; i++) {
		close(a_server(servers[i].type));
		assert_int_equal(socket_file_ask(sun.sun_path), ECONNREFUSED);
		if (!forget(servers[i].device))
			fail_msg("%s: it stays", servers[i].device);
		assert_false(is_there());
		assert_false(forget(servers[i].device));
	}
}

static void the_socket_of_a_living_server_stays(void **state)
{
	for (size_t i = 0; i < SERVERS; i++) {
		int fd = a_server(servers[i].type);

		/* Between bind() and listen(), too. */
		assert_false(forget(servers[i].device));
		assert_int_equal(listen(fd, 1), 0);
		assert_false(forget(servers[i].device));
		assert_int_equal(socket_file_ask(sun.sun_path), EPROTOTYPE);
		assert_true(is_there());
		/* It has seen no connection. */
		assert_int_equal(accept(fd, NULL, NULL), -1);
		assert_int_equal(errno, EAGAIN);
		close(fd);
		unlink(sun.sun_path);
	}
}

static void only_the_socket_of_a_server_is_looked_at(void **state)
{
	close(a_server(SOCK_STREAM));
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (forget(others[i]))
			fail_msg("%s: it is removed", others[i]);
	assert_true(is_there());
	unlink(sun.sun_path);
}

static void what_is_no_socket_stays(void **state)
{
	int fd = open(sun.sun_path, O_CREAT | O_WRONLY, 0600);

	assert_int_not_equal(fd, -1);
	close(fd);
	for (size_t i = 0; i < SERVERS; i++)
		assert_false(forget(servers[i].device));
	assert_int_equal(socket_file_ask(sun.sun_path), 0);
	assert_true(is_there());
	unlink(sun.sun_path);
	/* A file that is longer than an address. */
	assert_int_equal(socket_file_ask("/tmp/0123456789012345678901234567890123456789012345678901"
					 "23456789012345678901234567890123456789012345678901234567"
					 "89"),
		0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_socket_of_a_killed_server_is_removed),
		cmocka_unit_test(the_socket_of_a_living_server_stays),
		cmocka_unit_test(only_the_socket_of_a_server_is_looked_at),
		cmocka_unit_test(what_is_no_socket_stays),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
