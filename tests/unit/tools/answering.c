/* SPDX-License-Identifier: BSD-2-Clause */
#include "answering.h"

#include "support/child_fork.h"
#include "support/limit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct server server[SERVERS];
unsigned servers;
char directory[64];
struct telemetry_clients clients;

/* ---- the other side ---------------------------------------------------------------------- */

/** For longer than one that sleeps is waited for. */
static void spin(void)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec - begun.tv_sec < 4);
}

static void serve(const struct script *s, int fd)
{
	char request[64];

	for (int i = 0; s->say[i]; i++) {
		size_t len = i == 1 && s->len ? s->len : strlen(s->say[i]);

		if (i > 0 && recv(fd, request, sizeof request, 0) <= 0)
			break;
		if (i > 0 && i == s->stops_before)
			raise(SIGSTOP);
		if (i > 0 && i == s->spins_before)
			spin();
		if (send(fd, s->say[i], len, MSG_NOSIGNAL) < 0)
			break;
	}
	for (unsigned i = 1; s->grows && recv(fd, request, sizeof request, 0) > 0; i++) {
		static char page[65537];
		int len = snprintf(
			page, sizeof page, "{\"/l\":{\"items\":[%s],\"next\":%u}}", s->grows, i);

		if (send(fd, page, (size_t)len, MSG_NOSIGNAL) < 0)
			break;
	}
	close(fd);
}

static void server_main(const struct script *s, int ready)
{
	char name[TELEMETRY_NAME] = "";
	int listener = telemetry_socket_listen(directory, name);

	alarm(LIMIT_S);
	fcntl(listener, F_SETFL, 0); /* one that waits sleeps */
	if (write(ready, name, sizeof name) != sizeof name)
		_exit(1);
	while (!s->greets)
		pause();
	for (;;)
		serve(s, accept(listener, NULL, NULL));
}

unsigned begin(struct script s)
{
	unsigned n = servers;
	int ready[2];

	assert_true(n < SERVERS);
	assert_int_equal(pipe(ready), 0);
	server[n].pid = child_fork();
	if (server[n].pid == 0)
		server_main(&s, ready[1]);
	assert_true(server[n].pid > 0);
	servers++;
	close(ready[1]);
	assert_int_equal(
		read(ready[0], server[n].name, sizeof server[n].name), sizeof server[n].name);
	close(ready[0]);
	return n;
}

void end(unsigned n)
{
	int status;

	if (server[n].pid == 0)
		return;
	assert_int_equal(kill(server[n].pid, SIGKILL), 0);
	assert_int_equal(waitpid(server[n].pid, &status, 0), server[n].pid);
	server[n].pid = 0;
}

int setup(void **state)
{
	snprintf(directory, sizeof directory, "/tmp/uiw-client.XXXXXX");
	assert_non_null(mkdtemp(directory));
	servers = 0;
	return 0;
}

/** The sockets of the dead are removed by whoever comes by. */
int teardown(void **state)
{
	telemetry_clients_close(&clients);
	for (unsigned i = 0; i < servers; i++)
		end(i);
	assert_int_equal(telemetry_clients_open(&clients, directory, NULL), 0);
	assert_int_equal(clients.n, 0);
	telemetry_clients_close(&clients);
	return rmdir(directory);
}

/* ---- this side --------------------------------------------------------------------------- */

void open_all(unsigned n)
{
	assert_int_equal(telemetry_clients_open(&clients, directory, NULL), 0);
	assert_int_equal(clients.n, n);
}

struct telemetry_client *of(unsigned n)
{
	for (unsigned i = 0; i < clients.n; i++)
		if (clients.client[i].pid == server[n].pid)
			return &clients.client[i];
	fail_msg("process %d is not there", (int)server[n].pid);
	return NULL;
}

struct telemetry_client *renewed(unsigned n)
{
	do
		telemetry_clients_renew(&clients);
	while (!of(n)->greeted);
	return of(n);
}
