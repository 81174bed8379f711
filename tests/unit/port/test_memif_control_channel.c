/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a memif's channels begin and end. */
#include "memif_control_case.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

/** The driver closes what it has mapped, and no more; it was told of an end or of a reset. */
static void who_goes_before_it_has_connected(void **state)
{
	has_sent_memory();
	close(peer);
	assert_int_equal(hear(true), 0);
	assert_int_equal(channels(), 0);
	close(driver);
	open_channel();
	has_sent_memory();
	/* What it does not read is a reset. */
	assert_int_equal(send(driver, "", 1, 0), 1);
	close(peer);
	assert_int_equal(hear(true), -1);
	assert_int_equal(errno, ECONNRESET);
	assert_int_equal(channels(), 0);
	close(driver);
	open_channel();
	has_sent_memory();
	passes(of_type(MEMIF_PEER_DISCONNECT), NULL);
	assert_int_equal(channels(), 0);
}

/** The driver has ended it, or the port was closed. */
static void a_channel_that_is_closed_is_forgotten(void **state)
{
	has_sent_memory();
	close_channel();
	assert_int_equal(channels(), 1);
	memif_control_sweep(&control);
	assert_int_equal(channels(), 0);
	/* Its number may be another's by then. */
	open_channel();
	has_sent_memory();
	close_channel();
	open_channel();
	passes(init(), NULL);
	assert_int_equal(channels(), 1);
}

static void channels_do_not_run_out(void **state)
{
	int ends[MEMIF_CONTROL_CHANNELS][2];

	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++) {
		passes(init(), NULL);
		ends[i][0] = driver;
		ends[i][1] = peer;
		open_channel();
	}
	(void)memif_peer_say(
		peer, &(struct memif_peer_message){.type = MEMIF_PEER_INIT}, 128, NULL, 0);
	assert_int_equal(hear(true), 0);
	assert_non_null(strstr(told, "there are too many connections"));
	sentences = 0;
	close(ends[7][0]);
	close(ends[7][1]);
	passes(init(), NULL);
	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++) {
		if (i == 7)
			continue;
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

/** The log says which memif it is. */
static void the_socket_is_named(void **state)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX, .sun_path = "\0uiwarp-test-control"};
	socklen_t len = sizeof sun.sun_family + 1 + sizeof "uiwarp-test-control" - 1;
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ends[2] = {-1, -1};
	struct memif_peer_message m = of_type(MEMIF_PEER_CONNECT);

	close_channel();
	assert_int_equal(bind(listener, (struct sockaddr *)&sun, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	ends[0] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(ends[0], (struct sockaddr *)&sun, len), 0);
	ends[1] = accept(listener, NULL, NULL);
	/* A server's, and a client's. */
	for (unsigned i = 0; i < 2; i++) {
		driver = ends[1 - i];
		peer = ends[i];
		told[0] = '\0';
		(void)memif_peer_say(peer, &m, sizeof m, NULL, 0);
		assert_int_equal(hear(true), 0);
		assert_non_null(strstr(told, "memif at @uiwarp-test-control: its peer, process "));
		assert_int_equal(memif_peer_hear(peer, &m), MEMIF_PEER_DISCONNECT);
		m.type = MEMIF_PEER_CONNECT;
	}
	close(listener);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(who_goes_before_it_has_connected),
		T(a_channel_that_is_closed_is_forgotten),
		T(channels_do_not_run_out),
		T(the_socket_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
