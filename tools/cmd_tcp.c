/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uiwarp tcp: plain TCP streams over our stack, to distinguish trouble of the path from trouble of
 * RDMA. The engine's thread does the work. This one reports, and ends streams after their time.
 */
#include "host/config.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/help.h"
#include "tools/interval.h"
#include "tools/tcp_report.h"
#include "tools/tcp_session.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct run {
	struct tcp_session session;
	struct tcp_totals totals;
	uint64_t next_interval; /**< UINT64_MAX: none */
	int signal_fd;
	bool unread; /**< whoever read our output has gone */
};

static int cmd_tcp_usage(FILE *out)
{
	fputs("Usage: uiwarp tcp source|sink|echo|pingpong [OPTION...] HOST [PORT]\n"
	      "       uiwarp tcp source|sink|echo|pingpong [OPTION...] --listen [ADDRESS:]PORT\n"
	      "Plain TCP streams over a stack of our own. The peer may be any TCP.\n\n"
	      "  source    send a pattern, and tell how fast it was acknowledged\n"
	      "  sink      take in, and tell how fast it came; --verify compares it with the "
	      "pattern\n"
	      "  echo      send back what comes\n"
	      "  pingpong  send messages, await each one's echo, and tell how long that took\n\n"
	      "\"uiwarp tcp source --help\" lists the options.\n",
		out);
	return out == stderr ? EXIT_USAGE : EXIT_SUCCESS;
}

static int cmd_tcp_make_configuration(struct tcp_options *o, struct config *c)
{
	struct config_error e;
	char *assignment;
	int r = configuration_apply(&o->configuration, "uiwarp tcp", c);

	if (r == 0)
		r = configuration_check_port(c, "uiwarp tcp");
	if (r != 0)
		return r;
	/* Nobody waits for a single packet of bulk. */
	if (o->role == TRAFFIC_SOURCE || o->role == TRAFFIC_SINK)
		c->progress_relaxed = !c->progress_dedicated;
	if (!o->congestion_control)
		return 0;
	assignment = configuration_join("congestion_control", "=", o->congestion_control);
	r = config_set(c, "--cc", assignment, &e);
	free(assignment);
	if (r == 0)
		return 0;
	fprintf(stderr, "uiwarp tcp: %s\n", e.text);
	return EXIT_USAGE;
}

/* ---- reporting ------------------------------------------------------------------------------ */

/** What is new: connections, ends. Those that have ended leave the list. */
static void cmd_tcp_report_news(struct run *r)
{
	struct tcp_stream *t, *next;

	for (t = r->session.streams; t; t = next) {
		next = t->next;
		if (t->view.connected && !t->told) {
			t->told = true;
			tcp_report_connected(&r->session, t);
		}
		if (t->view.ended) {
			tcp_report_end(&r->session, t, &r->totals);
			tcp_session_remove(&r->session, t);
		}
	}
}

static void cmd_tcp_report_interval(struct run *r, uint64_t now)
{
	uint64_t interval = r->session.options->interval;

	tcp_session_collect(&r->session);
	for (struct tcp_stream *t = r->session.streams; t; t = t->next) {
		if (t->told)
			tcp_report_interval(&r->session, t);
		t->start = t->view;
	}
	r->next_interval = interval_next(r->next_interval, interval, now);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static void cmd_tcp_take_signals(struct run *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof info) == sizeof info)
		tcp_session_stop(&r->session);
}

static void cmd_tcp_wait_until(struct run *r, uint64_t when)
{
	struct pollfd fds[] = {{.fd = r->session.event_fd, .events = POLLIN},
		{.fd = r->signal_fd, .events = POLLIN}, {.fd = STDOUT_FILENO}};
	uint64_t now = net_now(r->session.net);
	uint64_t rest = when > now ? when - now : 0;
	struct timespec ts = {(time_t)(rest / 1000000000), (long)(rest % 1000000000)};

	ppoll(fds, 3, when == UINT64_MAX ? NULL : &ts, NULL);
	if (fds[1].revents)
		cmd_tcp_take_signals(r);
	/* A pipe whose reader has gone tells the first, a socket the second. */
	r->unread = (fds[2].revents & (POLLERR | POLLHUP)) != 0;
}

static void cmd_tcp_loop(struct run *r)
{
	struct tcp_session *s = &r->session;
	uint64_t next, now;

	if (s->options->listen)
		tcp_report_listening(s);
	r->next_interval =
		s->options->interval ? net_now(s->net) + s->options->interval : UINT64_MAX;
	for (;;) {
		tcp_session_look(s, &next);
		now = net_now(s->net);
		if (now >= r->next_interval)
			cmd_tcp_report_interval(r, now);
		cmd_tcp_report_news(r);
		if (tcp_session_done(s) || r->unread)
			break;
		cmd_tcp_wait_until(r, next < r->next_interval ? next : r->next_interval);
	}
}

/** Until the streams begin, and when they have ended, a signal ends the process. */
static int cmd_tcp_run(struct run *r)
{
	struct tcp_session *s = &r->session;

	if (tcp_session_start(s) != 0)
		return EXIT_FAILURE;
	r->signal_fd = ending_take();
	if (r->signal_fd < 0) {
		fprintf(stderr, "uiwarp tcp: %s\n", strerror(-r->signal_fd));
		return EXIT_FAILURE;
	}
	cmd_tcp_loop(r);
	ending_give_back(r->signal_fd);
	tcp_report_total(s, &r->totals);
	return r->totals.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int cmd_tcp(int argc, char **argv)
{
	struct tcp_options o;
	struct run r = {0};
	struct config c;
	int status;

	if (argc < 2)
		return cmd_tcp_usage(stderr);
	if (help_is_asked(argv[1]))
		return cmd_tcp_usage(stdout);
	if (!tcp_options_parse(&o, argc - 1, argv + 1)) {
		fprintf(stderr, "uiwarp tcp: \"%s\"; expected source, sink, echo or pingpong\n",
			argv[1]);
		return EXIT_USAGE;
	}
	status = cmd_tcp_make_configuration(&o, &c);
	if (status != 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	status = tcp_session_open(&r.session, &o, &c);
	if (status == 0) {
		status = cmd_tcp_run(&r);
		tcp_session_close(&r.session);
	}
	return status;
}
