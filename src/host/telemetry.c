/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/telemetry.h"

#include "base/clock_id.h"
#include "base/fd_room.h"
#include "base/number.h"
#include "dpdk-port/spawn.h"
#include "host/slot.h"
#include "host/telemetry_hold.h"
#include "host/telemetry_snapshot.h"
#include "host/telemetry_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/** Clients at a time. For one more, the one that has not asked for longest goes. */
#define TELEMETRY_CLIENTS 8

/** Sets of commands: of the host, and of what is above. */
#define TELEMETRY_SETS 4

/** Stale sockets that a process removes at its start. */
#define TELEMETRY_SWEEPS 64

struct telemetry_client {
	int fd;         /**< -1: nobody */
	uint64_t asked; /**< the number of its last request */
	struct telemetry_snapshot snapshot;
};

struct telemetry {
	struct engine *engine;
	const struct log_sink *log;
	char directory[1024];
	char name[TELEMETRY_NAME];
	char path[1024 + TELEMETRY_NAME]; /**< empty: there is nothing to remove */
	pid_t pid;
	uid_t owner;
	int listen_fd, wake_fd;
	_Atomic bool stop;
	bool running;
	pthread_t thread;
	struct {
		const struct telemetry_command *commands;
		unsigned n;
		void *ctx;
	} set[TELEMETRY_SETS];
	unsigned sets, sweeps;
	struct telemetry_client client[TELEMETRY_CLIENTS];
	struct json_text text;
	struct telemetry_costs costs;
	_Alignas(16) uint8_t reading[TELEMETRY_READING];
};

/* ---- commands ---------------------------------------------------------------------------- */

static const struct telemetry_command *telemetry_find(
	struct telemetry *t, const char *name, void **ctx)
{
	for (unsigned s = 0; s < t->sets; s++)
		for (unsigned i = 0; i < t->set[s].n; i++)
			if (strcmp(t->set[s].commands[i].name, name) == 0) {
				*ctx = t->set[s].ctx;
				return &t->set[s].commands[i];
			}
	return NULL;
}

static void telemetry_answer_error(struct json_text *j, const char *text)
{
	json_text_object(j, NULL);
	json_text_string(j, "error", text);
	json_text_object_end(j);
}

static void telemetry_answer_index(struct telemetry *t, struct json_text *j)
{
	json_text_array(j, NULL);
	json_text_string(j, NULL, "/");
	json_text_string(j, NULL, "/help");
	for (unsigned s = 0; s < t->sets; s++)
		for (unsigned i = 0; i < t->set[s].n; i++)
			json_text_string(j, NULL, t->set[s].commands[i].name);
	json_text_array_end(j);
}

static void telemetry_answer_help(struct telemetry *t, const char *of, struct json_text *j)
{
	void *ctx;
	const struct telemetry_command *c = telemetry_find(t, of, &ctx);

	json_text_object(j, NULL);
	json_text_string(j, *of == '/' ? "help" : "usage",
		c ? c->help : "/help,/COMMAND tells what a command is for; / lists them");
	json_text_object_end(j);
}

static void telemetry_answer_rc(struct json_text *j, int rc)
{
	telemetry_answer_error(j, rc == -EBUSY ? "the engine is not released"
				  : rc == -EINVAL
					  ? "expected no parameter, or \"next\" of the last answer"
					  : strerror(-rc));
}

static void telemetry_answer_reading(
	struct telemetry *t, const struct telemetry_reading *r, void *ctx, struct json_text *j)
{
	struct telemetry_hold hold;
	int rc;

	/* Before the lock is held: its pages are perhaps not there yet. */
	memset(t->reading, 0, r->size);
	rc = telemetry_hold_begin(&hold, t->engine);
	if (rc) {
		telemetry_answer_rc(j, rc);
		return;
	}
	r->read(ctx, t->reading);
	telemetry_hold_end(&hold, &t->costs);
	r->write(ctx, t->reading, j);
}

static void telemetry_answer_list(struct telemetry *t, struct telemetry_client *client,
	const struct telemetry_command *c, void *ctx, const char *parameters, struct json_text *j)
{
	struct telemetry_snapshot *s = &client->snapshot;
	uint64_t from = 0;
	int rc = 0;

	if (*parameters == '\0')
		rc = telemetry_snapshot_take(s, c, ctx, t->engine, &t->costs);
	else if (!number_parse(parameters, 0, UINT32_MAX, &from) || s->command != c)
		rc = -EINVAL;
	if (rc)
		telemetry_answer_rc(j, rc);
	else
		telemetry_snapshot_page(s, from, TELEMETRY_OUTPUT - j->len, j);
}

static void telemetry_answer(struct telemetry *t, struct telemetry_client *client, char *request)
{
	struct json_text *j = &t->text;
	char *parameters = strchr(request, ',');
	const struct telemetry_command *c;
	void *ctx;

	if (parameters)
		*parameters++ = '\0';
	else
		parameters = request + strlen(request);
	c = telemetry_find(t, request, &ctx);
	json_text_clear(j);
	json_text_object(j, NULL);
	json_text_key(j, request);
	if (strcmp(request, "/") == 0)
		telemetry_answer_index(t, j);
	else if (strcmp(request, "/help") == 0)
		telemetry_answer_help(t, parameters, j);
	else if (!c)
		telemetry_answer_error(j, TELEMETRY_UNKNOWN);
	else if (c->list)
		telemetry_answer_list(t, client, c, ctx, parameters, j);
	else if (c->reading)
		telemetry_answer_reading(t, c->reading, ctx, j);
	else
		c->answer(ctx, parameters, j);
	json_text_object_end(j);
}

/* ---- clients ----------------------------------------------------------------------------- */

static void telemetry_leave(struct telemetry_client *c)
{
	telemetry_snapshot_free(&c->snapshot);
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

/** @return false: it does not take it. */
static bool telemetry_send(const struct telemetry *t, const struct telemetry_client *c)
{
	return !t->text.failed && t->text.len <= TELEMETRY_OUTPUT &&
	       send(c->fd, t->text.text, t->text.len, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static bool telemetry_greet(struct telemetry *t, const struct telemetry_client *c)
{
	struct json_text *j = &t->text;

	json_text_clear(j);
	json_text_object(j, NULL);
	json_text_string(j, "version", "uiwarp " UIWARP_VERSION);
	json_text_number(j, "pid", (uint64_t)t->pid);
	json_text_number(j, "max_output_len", TELEMETRY_OUTPUT);
	json_text_object_end(j);
	return telemetry_send(t, c);
}

static struct telemetry_client *telemetry_seat(struct telemetry *t)
{
	struct telemetry_client *c = &t->client[0];

	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++) {
		if (t->client[i].fd < 0)
			return &t->client[i];
		if (t->client[i].asked < c->asked)
			c = &t->client[i];
	}
	telemetry_leave(c);
	return c;
}

static bool telemetry_may_ask(const struct telemetry *t, int fd)
{
	struct ucred peer;
	socklen_t len = sizeof peer;

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == t->owner || peer.uid == 0);
}

static void telemetry_accept(struct telemetry *t)
{
	int fd = accept4(t->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct telemetry_client *c;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* Who waits stays there: look again, but not at once. */
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		return;
	}
	if (fd < 0)
		return;
	if (!telemetry_may_ask(t, fd)) {
		close(fd);
		return;
	}
	c = telemetry_seat(t);
	c->fd = fd_move_up(fd);
	c->asked = ++t->costs.requests;
	if (!telemetry_greet(t, c))
		telemetry_leave(c);
}

static void telemetry_serve(struct telemetry *t, struct telemetry_client *c)
{
	char request[TELEMETRY_REQUEST + 1];
	ssize_t n = recv(c->fd, request, TELEMETRY_REQUEST, MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || n > TELEMETRY_REQUEST) {
		telemetry_leave(c);
		return;
	}
	while (n > 0 && (request[n - 1] == '\n' || request[n - 1] == '\0'))
		n--;
	request[n] = '\0';
	c->asked = ++t->costs.requests;
	telemetry_answer(t, c, request);
	if (!telemetry_send(t, c))
		telemetry_leave(c);
}

/* ---- the thread -------------------------------------------------------------------------- */

static void telemetry_sweep(void *ctx, const char *name)
{
	struct telemetry *t = ctx;

	if (t->sweeps < TELEMETRY_SWEEPS && strcmp(name, t->name) != 0) {
		t->sweeps++;
		telemetry_socket_sweep(t->directory, name);
	}
}

static void telemetry_round(struct telemetry *t)
{
	struct pollfd p[2 + TELEMETRY_CLIENTS] = {
		{.fd = t->wake_fd, .events = POLLIN}, {.fd = t->listen_fd, .events = POLLIN}};

	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++)
		p[2 + i] = (struct pollfd){.fd = t->client[i].fd, .events = POLLIN};
	if (poll(p, 2 + TELEMETRY_CLIENTS, -1) < 0 && errno != EINTR) {
		/* No memory in the kernel, perhaps. */
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		return;
	}
	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++)
		if (p[2 + i].revents)
			telemetry_serve(t, &t->client[i]);
	if (p[1].revents & POLLIN)
		telemetry_accept(t);
	/* The program has closed what it did not open: nobody can be served, or end this. */
	if ((p[0].revents | p[1].revents) & POLLNVAL)
		atomic_store(&t->stop, true);
}

static void *telemetry_main(void *arg)
{
	struct telemetry *t = arg;

	pthread_setname_np(pthread_self(), "uiw-telemetry");
	while (!atomic_load(&t->stop))
		telemetry_round(t);
	return NULL;
}

/* ---- the interface ----------------------------------------------------------------------- */

struct telemetry *telemetry_create(const struct telemetry_config *cfg)
{
	struct telemetry *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->engine = cfg->engine;
	t->log = cfg->log;
	t->listen_fd = t->wake_fd = -1;
	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++)
		t->client[i].fd = -1;
	if (cfg->directory)
		snprintf(t->directory, sizeof t->directory, "%s", cfg->directory);
	return t;
}

void telemetry_add(
	struct telemetry *t, const struct telemetry_command *commands, unsigned n, void *ctx)
{
	t->set[t->sets].commands = commands;
	t->set[t->sets].n = n;
	t->set[t->sets].ctx = ctx;
	t->sets++;
}

static int telemetry_begin(struct telemetry *t)
{
	int rc = *t->directory ? 0 : slot_directory(t->directory, sizeof t->directory);

	if (rc)
		return rc;
	atomic_store(&t->stop, false);
	t->pid = getpid();
	t->owner = geteuid();
	t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->wake_fd < 0)
		return -errno;
	t->wake_fd = fd_move_up(t->wake_fd);
	t->listen_fd = telemetry_socket_listen(t->directory, t->name);
	if (t->listen_fd < 0)
		return t->listen_fd;
	snprintf(t->path, sizeof t->path, "%s/%s", t->directory, t->name);
	/* Not by the thread: what it has allocated when the program forks is lost in the child. */
	telemetry_socket_each(t->directory, telemetry_sweep, t);
	return spawn_thread(&t->thread, NULL, telemetry_main, t);
}

int telemetry_start(struct telemetry *t)
{
	int rc = telemetry_begin(t);

	t->running = rc == 0;
	if (rc)
		telemetry_stop(t);
	return rc;
}

void telemetry_unlink(struct telemetry *t)
{
	if (t->path[0] != '\0' && t->pid == getpid())
		unlink(t->path);
	t->path[0] = '\0';
}

static void telemetry_close(struct telemetry *t)
{
	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++)
		telemetry_leave(&t->client[i]);
	if (t->listen_fd >= 0)
		close(t->listen_fd);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	t->listen_fd = t->wake_fd = -1;
}

void telemetry_stop(struct telemetry *t)
{
	uint64_t one = 1;

	telemetry_unlink(t);
	if (t->running) {
		atomic_store(&t->stop, true);
		if (write(t->wake_fd, &one, sizeof one) < 0)
			log_printf(t->log, LOG_LEVEL_DEBUG, "telemetry: its thread is awake");
		pthread_join(t->thread, NULL);
	}
	t->running = false;
	telemetry_close(t);
}

void telemetry_let_go(struct telemetry *t)
{
	/* Its memory was perhaps being written: leave it. */
	for (unsigned i = 0; i < TELEMETRY_CLIENTS; i++)
		if (t->client[i].fd >= 0)
			close(t->client[i].fd);
	if (t->listen_fd >= 0)
		close(t->listen_fd);
	if (t->wake_fd >= 0)
		close(t->wake_fd);
	t->listen_fd = t->wake_fd = -1;
	t->running = false;
}

void telemetry_destroy(struct telemetry *t)
{
	if (!t)
		return;
	json_text_fini(&t->text);
	free(t);
}

struct telemetry_costs telemetry_costs(const struct telemetry *t)
{
	struct telemetry_costs costs = t->costs;

	costs.cpu = clock_id_ns(CLOCK_THREAD_CPUTIME_ID);
	return costs;
}

const char *telemetry_name(const struct telemetry *t)
{
	return t->name;
}
