/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * RFC 9293 sections 3.10.1 to 3.10.6: each user call in each state. A row: the call; what it
 * answers; what the host sends; the state then. The calls are those of our sockets, of which a new
 * one stands for CLOSED.
 */
#include "states.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** An OPEN where there is no connection yet, which is whole with its addresses. */
static int open_fresh(struct script *s, bool active)
{
	s->base_known = false;
	if (active)
		connects(s);
	else
		listens(s);
	return 0;
}

/** STATUS names the state, or what the row says that it names. */
static int status(struct script *s, bool listens)
{
	const char *const *f = s->row->field;
	struct uiwarp_tcp_info info;
	int r = uiwarp_tcp_info(s->h, s->fd, &info);

	if (!r && strcmp(info.state, f[3] ? f[3] : f[2]) != 0)
		script_fail(s, "STATUS says %s", info.state);
	if (listens) { /* as it was */
		s->listener = s->fd;
		s->fd = -1;
	}
	return r;
}

static int call(struct script *s, const char *name)
{
	bool listener = s->fd < 0 && s->listener >= 0, fresh = s->fd < 0 && !listener;
	struct sockaddr_storage to = {.ss_family = AF_UNSPEC};
	uint8_t text[10] = {0};
	int r;

	if (fresh && strncmp(name, "OPEN", 4) == 0)
		return open_fresh(s, strcmp(name, "OPEN") == 0);
	if (s->fd < 0) { /* CLOSED and LISTEN */
		s->fd = s->listener >= 0 ? s->listener : uiwarp_tcp_socket(s->h, s->to_peer.family);
		s->listener = -1;
	}
	if (strcmp(name, "OPEN passive") == 0)
		return uiwarp_tcp_listen(s->h, s->fd, 8);
	if (strcmp(name, "STATUS") == 0)
		return status(s, listener);
	if (strcmp(name, "OPEN") == 0)
		return uiwarp_tcp_connect(s->h, s->fd, (struct sockaddr *)&to, sizeof to);
	if (strcmp(name, "SEND") == 0) {
		/* What goes out has the bytes that the script's checks want. */
		for (uint8_t i = 0; i < sizeof text; i++)
			text[i] = (uint8_t)((i + 1u) * 17 + 1);
		return (int)uiwarp_tcp_send(s->h, s->fd, text, sizeof text, 0);
	}
	if (strcmp(name, "RECEIVE") == 0)
		return (int)uiwarp_tcp_recv(s->h, s->fd, text, sizeof text, 0);
	if (strcmp(name, "CLOSE") == 0)
		return uiwarp_tcp_shutdown(s->h, s->fd, SHUT_WR);
	r = uiwarp_tcp_abort(s->h, s->fd);
	s->fd = s->listener = -1; /* the state of the connection counts, not the listener's */
	return r;
}

static void in_state(struct script *s)
{
	static const struct {
		const char *name;
		int value;
	} results[] = {{"ok", 0}, {"EAGAIN", -EAGAIN}, {"end", 0}, {"10", 10},
		{"ENOTCONN", -ENOTCONN}, {"EPIPE", -EPIPE}, {"EISCONN", -EISCONN},
		{"EALREADY", -EALREADY}, {"EINVAL", -EINVAL}};
	const char *const *f = s->row->field;
	const char *name = strchr(s->test->name, ':') + 2;
	char answer[100];
	int r;

	to_state(s, name);
	with_numbers(s, f[1], answer, sizeof answer);
	r = call(s, s->row->name);
	for (size_t i = 0; i < sizeof results / sizeof *results; i++)
		if (strcmp(results[i].name, f[0]) == 0 && r != results[i].value)
			script_fail(s, "%s answered %d (%s)", s->row->name, r, strerror(-r));
	answers(s, answer);
	if (strcmp(f[2], "CLOSED") == 0)
		pass(s, MS); /* a close before the connection is told from a timer */
	state_is(s, f[2]);
}

/* clang-format off */

static const struct script_row closed[] = {
	{"OPEN",    {"ok",       "S 0", "SYN-SENT"}},
	{"OPEN passive", {"ok",  "", "LISTEN"}},
	{"STATUS",  {"ok",       "", "CLOSED"}},
	{"SEND",    {"ENOTCONN", "", "CLOSED"}},
	{"RECEIVE", {"ENOTCONN", "", "CLOSED"}},
	{"CLOSE",   {"ENOTCONN", "", "CLOSED"}},
	{"ABORT",   {"ok",       "", "CLOSED"}},
	{NULL, {NULL}},
};

/* We have no way from LISTEN to an active open: section 3.10.2 lets a SEND do that. */
static const struct script_row listening[] = {
	{"OPEN",    {"EINVAL",   "", "CLOSED"}},
	{"OPEN passive", {"ok",  "", "CLOSED"}},
	{"STATUS",  {"ok",       "", "LISTEN"}},
	{"SEND",    {"ENOTCONN", "", "CLOSED"}},
	{"RECEIVE", {"ENOTCONN", "", "CLOSED"}},
	{"CLOSE",   {"ENOTCONN", "", "CLOSED"}},
	{"ABORT",   {"ok",       "", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row syn_sent[] = {
	{"OPEN",    {"EALREADY", "", "SYN-SENT"}},
	{"OPEN passive", {"EINVAL", "", "SYN-SENT"}},
	{"STATUS",  {"ok",       "", "SYN-SENT"}},
	{"SEND",    {"10",       "", "SYN-SENT"}},
	{"RECEIVE", {"EAGAIN",   "", "SYN-SENT"}},
	{"CLOSE",   {"ok",       "", "CLOSED"}},
	{"ABORT",   {"ok",       "", "CLOSED"}},
	{NULL, {NULL}},
};

/* A FIN may be sent at once or queued until the connection is established: we queue it. */
static const struct script_row syn_received[] = {
	{"OPEN",    {"EALREADY", "", "SYN-RECEIVED"}},
	{"OPEN passive", {"EINVAL", "", "SYN-RECEIVED"}},
	{"STATUS",  {"ok",       "", "SYN-RECEIVED"}},
	{"SEND",    {"10",       "", "SYN-RECEIVED"}},
	{"RECEIVE", {"EAGAIN",   "", "SYN-RECEIVED"}},
	{"CLOSE",   {"ok",       "", "SYN-RECEIVED"}},
	{"ABORT",   {"ok",       "R. 1 ack 1", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row established[] = {
	{"OPEN",    {"EISCONN",  "", "ESTABLISHED"}},
	{"OPEN passive", {"EINVAL", "", "ESTABLISHED"}},
	{"STATUS",  {"ok",       "", "ESTABLISHED"}},
	{"SEND",    {"10",       "P. 1:11 ack 1", "ESTABLISHED"}},
	{"RECEIVE", {"EAGAIN",   "", "ESTABLISHED"}},
	{"CLOSE",   {"ok",       "F. 1 ack 1", "FIN-WAIT-1"}},
	{"ABORT",   {"ok",       "R. 1 ack 1", "CLOSED"}},
	{NULL, {NULL}},
};

/* A second CLOSE is an error in RFC 9293's terms; for a socket it is nothing new. */
static const struct script_row fin_wait_1[] = {
	{"OPEN",    {"EISCONN",  "", "FIN-WAIT-1"}},
	{"OPEN passive", {"EINVAL", "", "FIN-WAIT-1"}},
	{"STATUS",  {"ok",       "", "FIN-WAIT-1"}},
	{"SEND",    {"EPIPE",    "", "FIN-WAIT-1"}},
	{"RECEIVE", {"EAGAIN",   "", "FIN-WAIT-1"}},
	{"CLOSE",   {"ok",       "", "FIN-WAIT-1"}},
	{"ABORT",   {"ok",       "R. 2 ack 1", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row fin_wait_2[] = {
	{"OPEN",    {"EISCONN",  "", "FIN-WAIT-2"}},
	{"OPEN passive", {"EINVAL", "", "FIN-WAIT-2"}},
	{"STATUS",  {"ok",       "", "FIN-WAIT-2"}},
	{"SEND",    {"EPIPE",    "", "FIN-WAIT-2"}},
	{"RECEIVE", {"EAGAIN",   "", "FIN-WAIT-2"}},
	{"CLOSE",   {"ok",       "", "FIN-WAIT-2"}},
	{"ABORT",   {"ok",       "R. 2 ack 1", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row close_wait[] = {
	{"OPEN",    {"EISCONN",  "", "CLOSE-WAIT"}},
	{"OPEN passive", {"EINVAL", "", "CLOSE-WAIT"}},
	{"STATUS",  {"ok",       "", "CLOSE-WAIT"}},
	{"SEND",    {"10",       "P. 1:11 ack 2", "CLOSE-WAIT"}},
	{"RECEIVE", {"end",      "", "CLOSE-WAIT"}},
	{"CLOSE",   {"ok",       "F. 1 ack 2", "LAST-ACK"}},
	{"ABORT",   {"ok",       "R. 1 ack 2", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row closing[] = {
	{"OPEN",    {"EISCONN",  "", "CLOSING"}},
	{"OPEN passive", {"EINVAL", "", "CLOSING"}},
	{"STATUS",  {"ok",       "", "CLOSING"}},
	{"SEND",    {"EPIPE",    "", "CLOSING"}},
	{"RECEIVE", {"end",      "", "CLOSING"}},
	{"CLOSE",   {"ok",       "", "CLOSING"}},
	{"ABORT",   {"ok",       "", "CLOSED"}},
	{NULL, {NULL}},
};

static const struct script_row last_ack[] = {
	{"OPEN",    {"EISCONN",  "", "LAST-ACK"}},
	{"OPEN passive", {"EINVAL", "", "LAST-ACK"}},
	{"STATUS",  {"ok",       "", "LAST-ACK"}},
	{"SEND",    {"EPIPE",    "", "LAST-ACK"}},
	{"RECEIVE", {"end",      "", "LAST-ACK"}},
	{"CLOSE",   {"ok",       "", "LAST-ACK"}},
	{"ABORT",   {"ok",       "", "CLOSED"}},
	{NULL, {NULL}},
};

/* The user is told of the end when TIME-WAIT begins, and has no more to do with it. */
static const struct script_row time_wait[] = {
	{"OPEN",    {"EISCONN",  "", "TIME-WAIT"}},
	{"OPEN passive", {"EINVAL", "", "TIME-WAIT"}},
	{"STATUS",  {"ok",       "", "TIME-WAIT", "CLOSED"}},
	{"SEND",    {"EPIPE",    "", "TIME-WAIT"}},
	{"RECEIVE", {"end",      "", "TIME-WAIT"}},
	{"CLOSE",   {"ENOTCONN", "", "TIME-WAIT"}},
	{"ABORT",   {"ok",       "", "TIME-WAIT"}},
	{NULL, {NULL}},
};

#define CALLS "RFC 9293 sections 3.10.1 to 3.10.6"
#define OPEN_WAYS (V6 | TS | WRAP)

const struct script_test script_tests[] = {
	SCRIPT_ROWS("calls in: CLOSED", CALLS, in_state, OPEN_WAYS, 0, closed),
	SCRIPT_ROWS("calls in: LISTEN", CALLS, in_state, OPEN_WAYS, 0, listening),
	SCRIPT_ROWS("calls in: SYN-SENT", CALLS, in_state, OPEN_WAYS, 0, syn_sent),
	SCRIPT_ROWS("calls in: SYN-RECEIVED after active open", CALLS, in_state, OPEN_WAYS, 0, syn_received),
	SCRIPT_ROWS("calls in: ESTABLISHED", CALLS, in_state, OPEN_WAYS, 0, established),
	SCRIPT_ROWS("calls in: FIN-WAIT-1", CALLS, in_state, OPEN_WAYS, 0, fin_wait_1),
	SCRIPT_ROWS("calls in: FIN-WAIT-2", CALLS, in_state, OPEN_WAYS, 0, fin_wait_2),
	SCRIPT_ROWS("calls in: CLOSE-WAIT", CALLS, in_state, OPEN_WAYS, 0, close_wait),
	SCRIPT_ROWS("calls in: CLOSING", CALLS, in_state, OPEN_WAYS, 0, closing),
	SCRIPT_ROWS("calls in: LAST-ACK", CALLS, in_state, OPEN_WAYS, 0, last_ack),
	SCRIPT_ROWS("calls in: TIME-WAIT", CALLS, in_state, OPEN_WAYS, 0, time_wait),
	SCRIPTS_END,
};
