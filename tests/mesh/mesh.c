/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes of one host, each connected to each, and every byte between them looked at. Verbs and
 * rdma_cm are all that it knows.
 *
 *     mesh PROCESSES ADDRESS PORT ROUNDS
 *
 * Rank r listens at PORT + r, accepts those before it and connects to those behind it. In a round
 * it writes a block to each of the others and tells it by a Send; then it looks at what came. In
 * the end it reads a block from each. A process waits in poll(), as 64 of them share a few cores.
 */
#include "mesh.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 120000

static struct mesh m;

void mesh_die(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "rank %u: ", m.rank);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

void mesh_need(bool good, const char *what)
{
	if (!good)
		mesh_die("%s: %s", what, strerror(errno));
}

/* ---- progress ---------------------------------------------------------------------------- */

/** Handle what there is; wait for something if there is nothing. */
static void mesh_progress(void)
{
	struct pollfd fds[2] = {{.fd = m.events->fd, .events = POLLIN},
		{.fd = m.channel ? m.channel->fd : -1, .events = POLLIN}};
	int n;

	do {
		n = poll(fds, 2, PATIENCE_MS);
	} while (n < 0 && errno == EINTR);
	if (n == 0)
		mesh_die("nothing happens any more: %u of %u connected, round %u, %u of it in",
			m.up, m.size - 1, m.round, m.in);
	if (fds[0].revents)
		mesh_cm_event(&m);
	if (fds[1].revents)
		mesh_completions(&m);
}

/** Until all processes have come here. */
static void mesh_barrier(void)
{
	char byte = 0;

	mesh_need(write(m.to_parent, &byte, 1) == 1, "write to the parent");
	while (1) {
		struct pollfd fds[3] = {{.fd = m.from_parent, .events = POLLIN},
			{.fd = m.events->fd, .events = POLLIN},
			{.fd = m.channel ? m.channel->fd : -1, .events = POLLIN}};

		if (poll(fds, 3, PATIENCE_MS) == 0)
			mesh_die("the others do not come to the barrier");
		if (fds[1].revents)
			mesh_cm_event(&m);
		if (fds[2].revents)
			mesh_completions(&m);
		if (fds[0].revents) {
			mesh_need(read(m.from_parent, &byte, 1) == 1, "read from the parent");
			return;
		}
	}
}

/* ---- a rank ------------------------------------------------------------------------------- */

static void mesh_rank(void)
{
	mesh_listen(&m);
	mesh_barrier();
	for (unsigned q = m.rank + 1; q < m.size; q++)
		mesh_connect(&m, q);
	while (m.up < m.size - 1)
		mesh_progress();
	mesh_barrier();
	for (m.round = 0; m.round < m.rounds; m.round++) {
		mesh_begin_round(&m);
		while (!mesh_round_is_over(&m))
			mesh_progress();
	}
	mesh_begin_reads(&m);
	while (!mesh_reads_are_over(&m))
		mesh_progress();
	mesh_barrier();
	mesh_disconnect(&m);
	while (m.up)
		mesh_progress();
	mesh_close(&m);
}

/* ---- all of them -------------------------------------------------------------------------- */

#define BARRIERS 3

struct child {
	pid_t pid;
	int from, to;
};

static struct child mesh_spawn(unsigned rank)
{
	struct child c;
	int up[2], down[2];

	mesh_need(pipe(up) == 0 && pipe(down) == 0, "pipe");
	c.pid = fork();
	mesh_need(c.pid >= 0, "fork");
	if (c.pid == 0) {
		close(up[0]);
		close(down[1]);
		m.rank = rank;
		m.to_parent = up[1];
		m.from_parent = down[0];
		mesh_rank();
		exit(0);
	}
	close(up[1]);
	close(down[0]);
	c.from = up[0];
	c.to = down[1];
	return c;
}

/** @return false: a process has ended instead. */
static bool mesh_let_pass(struct child *all)
{
	char byte;

	for (unsigned i = 0; i < m.size; i++)
		if (read(all[i].from, &byte, 1) != 1)
			return false;
	for (unsigned i = 0; i < m.size; i++)
		if (write(all[i].to, &byte, 1) != 1)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct child *all;
	bool good = true;
	int status;

	if (argc != 5)
		mesh_die("usage: mesh PROCESSES ADDRESS PORT ROUNDS");
	m.size = (unsigned)atoi(argv[1]);
	m.address = argv[2];
	m.port = atoi(argv[3]);
	m.rounds = (unsigned)atoi(argv[4]);
	if (m.size < 2 || m.size > MESH_MOST)
		mesh_die("from 2 to %d processes", MESH_MOST);
	all = calloc(m.size, sizeof *all);
	mesh_need(all != NULL, "calloc");
	for (unsigned i = 0; i < m.size; i++)
		all[i] = mesh_spawn(i);
	for (unsigned i = 0; good && i < BARRIERS; i++)
		good = mesh_let_pass(all);
	for (unsigned i = 0; i < m.size; i++) {
		if (!good)
			kill(all[i].pid, SIGKILL);
		waitpid(all[i].pid, &status, 0);
		good = good && status == 0;
	}
	free(all);
	if (!good)
		return 1;
	printf("%u processes, %u QPs, %u rounds: all of it verified\n", m.size,
		m.size * (m.size - 1), m.rounds);
	return 0;
}
