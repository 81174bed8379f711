/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/holding.h"
#include "support/child_fork.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/uiw-holding-XXXXXX";

enum { LISTENS, CONNECTED, ACCEPTED, OTHER_LISTENS, UNNAMED, UNNAMED_TOO, PLAIN, ALL };

static int fds[ALL];

static struct sockaddr_un socket_address(const char *name, bool abstract)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};

	snprintf(sun.sun_path + abstract, sizeof sun.sun_path - abstract, "%s/%s", directory, name);
	return sun;
}

static int listening(const char *name, bool abstract)
{
	struct sockaddr_un sun = socket_address(name, abstract);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

/* All that a process may have, in both roles of a memif. */
static void make_descriptors(const char *name, bool abstract)
{
	struct sockaddr_un sun = socket_address(name, abstract);

	fds[LISTENS] = listening(name, abstract);
	fds[CONNECTED] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(fds[CONNECTED], (struct sockaddr *)&sun, sizeof sun), 0);
	fds[ACCEPTED] = accept(fds[LISTENS], NULL, NULL);
	assert_return_code(fds[ACCEPTED], 0);
	fds[OTHER_LISTENS] = listening(abstract ? "other" : "m2", abstract);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, &fds[UNNAMED]), 0);
	fds[PLAIN] = open("/dev/null", O_RDWR);
}

static void end_descriptors(void)
{
	for (unsigned i = 0; i < ALL; i++)
		close(fds[i]);
}

static struct holding of_name(const char *name)
{
	char device[200];

	snprintf(
		device, sizeof device, "net_memif0,role=server,socket=%s/%s,id=1", directory, name);
	return holding_of(device, "");
}

static unsigned mask_of(int command, int wanted)
{
	unsigned mask = 0;

	for (unsigned i = 0; i < ALL; i++)
		if (fcntl(fds[i], command) == wanted)
			mask |= 1u << i;
	return mask;
}

#define HELD (1u << LISTENS | 1u << CONNECTED | 1u << ACCEPTED)

static void closed_and_private(const char *name, bool abstract)
{
	struct holding h = of_name(name);
	pid_t child;
	int status;

	make_descriptors(name, abstract);
	child = child_fork();
	if (child == 0) {
		holding_close(&h);
		_exit(mask_of(F_GETFD, -1) != HELD);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(mask_of(F_GETFD, -1), 0);
	assert_int_equal(mask_of(F_GETFD, FD_CLOEXEC), 0);
	holding_keep_private(&h);
	assert_int_equal(mask_of(F_GETFD, FD_CLOEXEC), HELD);
	end_descriptors();
}

static void sockets_of_the_port_and_no_others(void **state)
{
	closed_and_private("m", false);
}

static void abstract_ones(void **state)
{
	closed_and_private("a", true);
}

static void what_arguments_say(void **state)
{
	char longer[300];

	assert_string_equal(holding_of("net_memif0", "").socket, "/run/memif.sock");
	assert_string_equal(holding_of("net_memif0,socket=/m,id=2", "").socket, "/m");
	assert_string_equal(holding_of("net_virtio_user0,path=/v,server=1", "").socket, "/v");
	assert_string_equal(holding_of("net_vhost0,iface=/w", "").socket, "/w");
	assert_string_equal(holding_of("net_tap0,iface=tap0", "tap0").socket, "");
	assert_string_equal(holding_of("net_tap0,iface=tap0", "tap0").interface, "tap0");
	assert_string_equal(holding_of("0000:03:00.0", "").socket, "");
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	memcpy(longer, "net_memif0,socket=", 18);
	assert_string_equal(holding_of(longer, "").socket, "");
}

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char command[sizeof directory + 16];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sockets_of_the_port_and_no_others),
		cmocka_unit_test(abstract_ones),
		cmocka_unit_test(what_arguments_say),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
