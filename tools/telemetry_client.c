/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/telemetry_client.h"

#include "base/tasks.h"
#include "host/telemetry.h"
#include "tools/terminal_text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * How long a process that says nothing is waited for: it may have no core, or the engine's lock is
 * with a thread that has none. In slices: of time in which we stood still, and it perhaps too, one
 * at most passes.
 */
#define CLIENT_SLICE_MS 50
#define CLIENT_SLICES   600

/**
 * It is stopped, or stuck, when nothing in it has run, or wanted to, for so many. More than it
 * waits itself for an engine that is stuck (telemetry_hold.c).
 */
#define CLIENT_SLICES_ASLEEP 40

/** For the greeting, and for answers if it does not tell. */
#define CLIENT_ROOM     65536
#define CLIENT_ROOM_MAX (16 << 20)

static void telemetry_client_drop(struct telemetry_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->greeted = false;
}

/** There is something to read, or its end; or room to write. */
static bool telemetry_client_is_ready(const struct telemetry_client *c, short events, int ms)
{
	struct pollfd p = {.fd = c->fd, .events = events};

	return poll(&p, 1, ms) == 1;
}

/** Without a connection it has not accepted any of many others, either. */
static bool telemetry_client_is_asleep(const struct telemetry_client *c)
{
	struct ucred peer = {.pid = 0};
	socklen_t len = sizeof peer;

	/* Its number here: that in the socket's name is of its own PID namespace. */
	return c->fd < 0 || (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
				    peer.pid > 0 && tasks_sleep(peer.pid, 0));
}

/** Nothing has come in another slice. @return false: it is not waited for any more. */
static bool telemetry_client_may_come(struct telemetry_client *c)
{
	c->slices++;
	c->asleep = telemetry_client_is_asleep(c) ? c->asleep + 1 : 0;
	c->waited = c->slices >= CLIENT_SLICES || c->asleep >= CLIENT_SLICES_ASLEEP ||
		    (c->all->meanwhile && !c->all->meanwhile(c->all->ctx));
	return !c->waited;
}

static bool telemetry_client_await(struct telemetry_client *c, short events)
{
	c->slices = c->asleep = 0;
	while (!telemetry_client_is_ready(c, events, CLIENT_SLICE_MS))
		if (!telemetry_client_may_come(c))
			return false;
	return true;
}

static bool telemetry_client_send(struct telemetry_client *c, const char *command)
{
	return telemetry_client_await(c, POLLOUT) &&
	       send(c->fd, command, strlen(command), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

/** One answer is looked at at a time, whosever it is: many that may be long need one room. */
static bool telemetry_client_make_room(struct telemetry_clients *all, size_t room)
{
	char *more = room > all->room ? realloc(all->text, room) : all->text;

	if (!more)
		return false;
	all->text = more;
	all->room = room > all->room ? room : all->room;
	return true;
}

/** @return bytes, or 0: it has gone, is waited for in vain, or says too much. */
static size_t telemetry_client_receive(struct telemetry_client *c)
{
	ssize_t n = -1;

	if (telemetry_client_await(c, POLLIN))
		n = recv(c->fd, c->all->text, c->room, MSG_TRUNC | MSG_DONTWAIT);
	return n <= 0 || (size_t)n > c->room ? 0 : (size_t)n;
}

size_t telemetry_client_tree(const char *text, size_t len)
{
	/* Of jansson and malloc() on 64 bits; each has the least that comes with it. */
	static const unsigned char cost[256] = {
		['{'] = 240, ['['] = 160, [','] = 48, [':'] = 48, ['"'] = 64};
	size_t bytes = len + 64;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (!quoted)
			bytes += cost[c];
		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && quoted)
			i++;
	}
	return bytes;
}

/** One that was waited for needs not be waited for again when it is connected to. */
static void telemetry_client_lose(struct telemetry_client *c)
{
	telemetry_client_drop(c);
	c->fd = c->waited ? -EAGAIN : -1;
}

/** Who has told more than is kept, or nonsense, is not listened to any more. */
static void telemetry_client_refuse(struct telemetry_client *c, const char *why)
{
	snprintf(c->refused, sizeof c->refused, "%s", why);
	c->excessive = true;
	telemetry_client_drop(c);
}

/** What is asked for is kept, and what is not is not made: a tree may be 80 times its text. */
static json_t *telemetry_client_hear(struct telemetry_client *c)
{
	size_t n = telemetry_client_receive(c), bytes = telemetry_client_tree(c->all->text, n);

	if (n == 0)
		return NULL;
	if (c->kept > c->all->most || bytes > c->all->most - c->kept ||
		n > TELEMETRY_CLIENT_TEXT - c->told) {
		telemetry_client_refuse(c, "it tells more than is kept");
		return NULL;
	}
	c->kept += bytes;
	c->told += n;
	return json_loadb(c->all->text, n, 0, NULL);
}

/** Read the greeting, which has come. @return false: it is none. */
static bool telemetry_client_begin(struct telemetry_client *c)
{
	json_t *greeting;
	json_int_t room;

	c->waited = c->excessive = false;
	c->room = CLIENT_ROOM;
	c->kept = c->told = 0;
	greeting = telemetry_client_make_room(c->all, c->room) ? telemetry_client_hear(c) : NULL;
	room = json_integer_value(json_object_get(greeting, "max_output_len"));
	c->greeted = greeting != NULL;
	json_decref(greeting);
	if (room > CLIENT_ROOM && room <= CLIENT_ROOM_MAX &&
		telemetry_client_make_room(c->all, (size_t)room))
		c->room = (size_t)room;
	return c->greeted;
}

json_t *telemetry_client_ask(struct telemetry_client *c, const char *command)
{
	json_t *answer = NULL, *value;
	const size_t told = c->told;

	if (!c->greeted)
		return NULL;
	if (telemetry_client_send(c, command))
		answer = telemetry_client_hear(c);
	value = json_is_object(answer) ? json_object_iter_value(json_object_iter(answer)) : NULL;
	json_incref(value);
	if (!value && c->told != told && c->greeted)
		telemetry_client_refuse(c, "what it tells is no answer");
	else if (!value && c->greeted)
		telemetry_client_lose(c);
	json_decref(answer);
	return value;
}

/** How far a list has come. */
struct telemetry_client_pages {
	struct telemetry_client *client;
	const char *command;
	char request[128];
	uint64_t at; /**< the first item of the page */
	unsigned pages, items;
	bool (*item)(void *ctx, struct json_reader *r);
	void *ctx;
};

static void telemetry_client_first_page(struct telemetry_client_pages *p)
{
	snprintf(p->request, sizeof p->request, "%s", p->command);
}

/** @return false: that was the last page. */
static bool telemetry_client_next_page(struct telemetry_client_pages *p, uint64_t next)
{
	if (next <= p->at)
		return false;
	p->at = next;
	snprintf(p->request, sizeof p->request, "%s,%llu", p->command, (unsigned long long)next);
	return true;
}

static bool telemetry_client_is_endless(const struct telemetry_client_pages *p)
{
	if (p->items <= TELEMETRY_CLIENT_ITEMS && p->pages <= TELEMETRY_CLIENT_PAGES)
		return false;
	telemetry_client_refuse(p->client, "its list has no end");
	return true;
}

/** It does not tell: why is kept. That it has no such list, as one without an RNIC, is no fault. */
static bool telemetry_client_is_refused(struct telemetry_client *c, const json_t *page)
{
	char why[sizeof c->refused];

	if (!telemetry_client_error(page, "error", why, sizeof why) ||
		strcmp(why, TELEMETRY_UNKNOWN) == 0)
		return false;
	memcpy(c->refused, why, sizeof why);
	return true;
}

/** Keep the items of a page. @return false: there is no memory for them. */
static bool telemetry_client_keep(struct json_list *to, const json_t *items)
{
	const json_t *item;
	bool good = true;
	size_t i;

	json_array_foreach(items, i, item) good = good && json_list_add(to, item);
	return good;
}

/** Get the next page. @param[out] next that of the one behind it, or 0. @return false: none. */
static bool telemetry_client_take_page(
	struct telemetry_client_pages *p, struct json_list *to, uint64_t *next)
{
	struct telemetry_client *c = p->client;
	size_t kept = c->kept, size = to->size;
	json_t *page = telemetry_client_ask(c, p->request);
	const json_t *items = json_object_get(page, "items");
	json_int_t number = json_integer_value(json_object_get(page, "next"));
	bool good = page && !telemetry_client_is_refused(c, page);

	p->pages++;
	p->items += (unsigned)json_array_size(items);
	good = good && !telemetry_client_is_endless(p) && telemetry_client_keep(to, items);
	json_decref(page);
	c->kept = kept + to->size - size;
	*next = number > 0 ? (uint64_t)number : 0;
	return good;
}

bool telemetry_client_list(struct telemetry_client *c, const char *command, struct json_list *to)
{
	struct telemetry_client_pages p = {.client = c, .command = command};
	uint64_t next;

	telemetry_client_first_page(&p);
	do {
		if (!telemetry_client_take_page(&p, to, &next)) {
			json_list_free(to);
			return false;
		}
	} while (telemetry_client_next_page(&p, next));
	return true;
}

/** Keep the text of an error, for people, if that is what @p r will read. */
static void telemetry_client_note(struct telemetry_client *c, struct json_reader r)
{
	struct json_reader_key key;

	c->refused[0] = '\0';
	if (json_reader_object(&r) && json_reader_member(&r, &key) &&
		json_reader_key_is(&key, "error"))
		json_reader_string(&r, c->refused, sizeof c->refused);
	terminal_text(c->refused);
}

bool telemetry_client_read(struct telemetry_client *c, const char *command, struct json_reader *r)
{
	struct json_reader_key key;
	size_t n = 0;

	if (c->greeted && telemetry_client_send(c, command))
		n = telemetry_client_receive(c);
	json_reader_init(r, c->all->text, n);
	if (n && json_reader_object(r) && json_reader_member(r, &key)) {
		telemetry_client_note(c, *r);
		return true;
	}
	if (c->greeted)
		telemetry_client_lose(c);
	return false;
}

/** Read a page. @param[out] next that of the next one, or 0. @return false: no more is wanted. */
static bool telemetry_client_page(
	struct telemetry_client_pages *p, struct json_reader *r, uint64_t *next)
{
	struct json_reader_key key;

	*next = 0;
	p->pages++;
	if (!json_reader_object(r))
		return true;
	while (json_reader_member(r, &key)) {
		if (json_reader_key_is(&key, "next")) {
			json_reader_number(r, next);
		} else if (!json_reader_key_is(&key, "items")) {
			json_reader_skip(r);
		} else if (json_reader_array(r)) {
			while (json_reader_element(r))
				if (++p->items > TELEMETRY_CLIENT_ITEMS || !p->item(p->ctx, r))
					return false;
		}
	}
	return true;
}

bool telemetry_client_each(struct telemetry_client *c, const char *command,
	bool (*item)(void *ctx, struct json_reader *r), void *ctx)
{
	struct telemetry_client_pages p = {
		.client = c, .command = command, .item = item, .ctx = ctx};
	struct json_reader r;
	uint64_t next;
	bool wanted;

	telemetry_client_first_page(&p);
	do {
		if (!telemetry_client_read(c, p.request, &r))
			return false;
		wanted = telemetry_client_page(&p, &r, &next);
		if (telemetry_client_is_endless(&p) || !wanted)
			return false;
		if (r.failed) {
			telemetry_client_drop(c);
			return false;
		}
	} while (telemetry_client_next_page(&p, next));
	return true;
}

bool telemetry_client_error(const json_t *answer, const char *key, char *text, size_t size)
{
	const char *error = json_string_value(json_object_get(answer, key));

	if (!error)
		return false;
	snprintf(text, size, "%s", error);
	terminal_text(text);
	return true;
}

/* ---- all of them ------------------------------------------------------------------------- */

const char *telemetry_client_directory(const struct telemetry_client *c)
{
	return c->all->places.path[c->place];
}

/** Connected, or too many others wait to be. */
static bool telemetry_client_is_there(const struct telemetry_client *c)
{
	return c->fd >= 0 || c->fd == -EAGAIN;
}

static bool telemetry_clients_has(const struct telemetry_clients *c, const char *name)
{
	for (unsigned i = 0; i < c->n; i++)
		if (telemetry_client_is_there(&c->client[i]) && c->client[i].place == c->place &&
			strcmp(c->client[i].name, name) == 0)
			return true;
	return false;
}

static bool telemetry_clients_wants(
	const struct telemetry_clients *c, const struct telemetry_client *one)
{
	const struct telemetry_asked *a = c->asked;

	while (a && a->pid && !telemetry_asked_is(a, one->pid, one->name))
		a++;
	return !a || a->pid;
}

/** One cannot be asked. The first is told of. */
static void telemetry_clients_note(struct telemetry_clients *c, const char *name, int error)
{
	if (!c->error) {
		c->error = error;
		c->failed_place = c->places.path[c->place];
		snprintf(c->failed, sizeof c->failed, "%s", name);
	}
	c->unasked += *name != '\0';
}

static void telemetry_clients_add(void *ctx, const char *name)
{
	struct telemetry_clients *c = ctx;
	struct telemetry_client new = {.fd = -1, .place = c->place, .all = c}, *more;
	const char *directory = c->places.path[c->place];

	if (telemetry_clients_has(c, name) || !telemetry_socket_is_name(name, &new.pid))
		return;
	snprintf(new.name, sizeof new.name, "%s", name);
	if (!telemetry_clients_wants(c, &new))
		return;
	if (c->n == TELEMETRY_CLIENTS) {
		telemetry_clients_note(c, name, -EUSERS);
		return;
	}
	new.fd = telemetry_socket_connect(directory, name);
	if (new.fd == -ECONNREFUSED)
		telemetry_socket_sweep(directory, name);
	if (!telemetry_client_is_there(&new)) {
		/* It has gone since it was seen, or long before. */
		if (new.fd != -ECONNREFUSED &&new.fd != -ENOENT)
			telemetry_clients_note(c, name, new.fd);
		return;
	}
	more = realloc(c->client, (c->n + 1) * sizeof *c->client);
	if (!more) {
		telemetry_client_drop(&new);
		return;
	}
	c->client = more;
	c->client[c->n++] = new;
}

/**
 * Look for the greeting of one, which perhaps is not connected yet.
 * @param passed a slice has, since the last look.
 * @return it is to be waited for.
 */
static bool telemetry_clients_look(
	const struct telemetry_clients *c, struct telemetry_client *one, bool passed)
{
	if (one->greeted)
		return false;
	if (one->fd == -EAGAIN)
		one->fd = telemetry_socket_connect(telemetry_client_directory(one), one->name);
	if (one->fd >= 0 && telemetry_client_is_ready(one, POLLIN, 0)) {
		if (!telemetry_client_begin(one))
			telemetry_client_drop(one);
		return false;
	}
	return telemetry_client_is_there(one) && !one->waited &&
	       (!passed || telemetry_client_may_come(one));
}

/** Wait for all together, and for each of them once. Without memory nobody is waited for. */
static void telemetry_clients_greet(struct telemetry_clients *c)
{
	struct pollfd *p = calloc(c->n ? c->n : 1, sizeof *p);
	bool passed = false, wanted;

	do {
		wanted = false;
		for (unsigned i = 0; i < c->n; i++) {
			bool waits = telemetry_clients_look(c, &c->client[i], passed);

			wanted = wanted || waits;
			if (p)
				p[i] = (struct pollfd){
					.fd = waits ? c->client[i].fd : -1, .events = POLLIN};
		}
		passed = p && wanted && poll(p, c->n, CLIENT_SLICE_MS) <= 0;
	} while (p && wanted);
	free(p);
}

static int telemetry_clients_compare(const void *a, const void *b)
{
	const struct telemetry_client *x = a, *y = b;

	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid) : strcmp(x->name, y->name);
}

void telemetry_clients_renew(struct telemetry_clients *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->n; i++) {
		/* Nothing was asked. */
		if (c->client[i].greeted && telemetry_client_is_ready(&c->client[i], POLLIN, 0))
			telemetry_client_drop(&c->client[i]);
		c->client[i].kept = c->client[i].told = 0;
		if (telemetry_client_is_there(&c->client[i]))
			c->client[kept++] = c->client[i];
	}
	c->n = kept;
	c->unasked = 0;
	c->error = 0;
	for (c->place = 0; c->place < c->places.n; c->place++) {
		int rc = telemetry_socket_each(c->places.path[c->place], telemetry_clients_add, c);

		if (rc)
			telemetry_clients_note(c, "", rc);
	}
	telemetry_clients_greet(c);
	if (c->n)
		qsort(c->client, c->n, sizeof *c->client, telemetry_clients_compare);
}

/** @return 0, or -ESRCH: one of those that are wanted does not answer. */
static int telemetry_clients_check(const struct telemetry_clients *c)
{
	int rc = 0;

	for (const struct telemetry_asked *a = c->asked; a && a->pid; a++) {
		bool found = false;
		char stack[12] = "";

		for (unsigned i = 0; i < c->n; i++)
			found = found ||
				(c->client[i].greeted &&
					telemetry_asked_is(a, c->client[i].pid, c->client[i].name));
		if (found)
			continue;
		if (a->stack)
			snprintf(stack, sizeof stack, ".%u", a->stack - 1);
		fprintf(stderr,
			"uiwarp: process %d%s cannot be asked: it has no device of ours, or "
			"another owner, or \"telemetry = off\", or it does not answer; looked in",
			(int)a->pid, stack);
		for (unsigned i = 0; i < c->places.n; i++)
			fprintf(stderr, "%s %s", i ? "," : "", c->places.path[i]);
		fputc('\n', stderr);
		rc = -ESRCH;
	}
	return rc;
}

int telemetry_clients_open(
	struct telemetry_clients *c, const char *directory, const struct telemetry_asked *asked)
{
	int rc = 0;

	*c = (struct telemetry_clients){.asked = asked && asked->pid ? asked : NULL,
		.most = TELEMETRY_CLIENT_BYTES,
		.rows = TELEMETRY_CLIENTS_ROWS};
	if (directory) {
		snprintf(c->places.path[0], SLOT_PATH, "%s", directory);
		c->places.n = 1;
	} else {
		rc = slot_find_places(&c->places);
	}
	if (rc)
		return rc;
	telemetry_clients_renew(c);
	return telemetry_clients_check(c);
}

void telemetry_clients_close(struct telemetry_clients *c)
{
	for (unsigned i = 0; i < c->n; i++)
		telemetry_client_drop(&c->client[i]);
	free(c->client);
	free(c->text);
	*c = (struct telemetry_clients){.n = 0};
}
