/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uiwarp top: a live table. Plain ANSI sequences: every terminal of today has the six that it
 * needs, and nothing more has to be installed.
 */
#include "base/clock_id.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/telemetry_options.h"
#include "tools/top_view.h"

#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/** The other screen, without a cursor; and back. */
#define TOP_BEGIN "\033[?1049h\033[?25l\033[2J"
#define TOP_END   "\033[?25h\033[?1049l"

struct cmd_top_options {
	struct telemetry_options asked;
	double interval;
};

static const struct argp_option cmd_top_argp_options[] = {
	{"interval", 'i', "SECONDS", 0, "Time between two screens (1)", 0}, {0}};

static error_t cmd_top_parse_option(int key, char *arg, struct argp_state *state)
{
	struct cmd_top_options *o = state->input;
	char *end;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->asked;
		return 0;
	case 'i':
		o->interval = strtod(arg, &end);
		if (end == arg || *end != '\0' || !(o->interval >= 0.1 && o->interval <= 3600))
			argp_error(state, "--interval: expected seconds from 0.1 to 3600");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child cmd_top_argp_children[] = {
	{&telemetry_options_argp, 0, NULL, 0}, {&help_argp, 0, NULL, 0}, {0}};

static const struct argp cmd_top_argp = {cmd_top_argp_options, cmd_top_parse_option, "[PID...]",
	"Watch the QPs and connections of all processes of this user, or of PID, in a terminal. "
	"\"?\" shows the keys, \"x\" quits.",
	cmd_top_argp_children, NULL, NULL};

/* ---- the terminal ------------------------------------------------------------------------ */

static volatile sig_atomic_t cmd_top_ended;

static void cmd_top_on_signal(int sig)
{
	cmd_top_ended = 1;
}

static volatile sig_atomic_t cmd_top_stopped;   /**< by Ctrl-Z */
static volatile sig_atomic_t cmd_top_continued; /**< perhaps after a SIGSTOP */

static void cmd_top_on_job_control(int sig)
{
	if (sig == SIGTSTP)
		cmd_top_stopped = 1;
	else
		cmd_top_continued = 1;
}

static void cmd_top_on_resize(int sig)
{
	/* It only ends the wait. */
}

/**
 * Signals that would leave the terminal as it is, and that of another size. They come in a wait
 * alone: one right before it would be slept over.
 * @param[out] waiting the mask of a wait.
 */
static void cmd_top_watch_signals(sigset_t *waiting)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	struct sigaction a = {.sa_flags = 0};
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		a.sa_handler = signals[i] == SIGWINCH ? cmd_top_on_resize : cmd_top_on_signal;
		sigaction(signals[i], &a, NULL);
		sigaddset(&held, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &held, waiting);
}

/** SIGTSTP stays ignored where a shell without job control started us. */
static void cmd_top_watch_job_control(void)
{
	const struct sigaction a = {.sa_handler = cmd_top_on_job_control};
	struct sigaction before;
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGCONT);
	sigaction(SIGCONT, &a, NULL);
	if (sigaction(SIGTSTP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
		sigaddset(&held, SIGTSTP);
		sigaction(SIGTSTP, &a, NULL);
	}
	sigprocmask(SIG_BLOCK, &held, NULL);
}

static int cmd_top_begin(const struct termios *saved)
{
	struct termios raw = *saved;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0)
		return -errno;
	fputs(TOP_BEGIN, stdout);
	return 0;
}

static void cmd_top_end(const struct termios *saved)
{
	fputs(TOP_END, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, saved);
}

/** As by Ctrl-Z without a handler: returns when the shell has us go on. */
static void cmd_top_stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	cmd_top_watch_job_control();
}

static void cmd_top_measure(struct top_view *v)
{
	struct winsize w = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_row == 0 || w.ws_col == 0)
		w = (struct winsize){.ws_row = 24, .ws_col = 80};
	v->rows = w.ws_row;
	v->columns = w.ws_col;
}

/* ---- the loop ---------------------------------------------------------------------------- */

struct cmd_top {
	struct telemetry_clients clients;
	struct telemetry_sample shown;  /**< in the order of the view */
	struct telemetry_sample before; /**< the same, in its own order */
	struct top_view view;
	const struct cmd_top_options *options;
	sigset_t waiting;
	struct termios saved; /**< the terminal as the shell had it */
};

/** The shell gets its terminal while we are stopped, and we have ours afterwards. */
static void cmd_top_look_at_job(struct cmd_top *t)
{
	if (cmd_top_stopped) {
		cmd_top_end(&t->saved);
		cmd_top_stopped = 0;
		cmd_top_stop();
		cmd_top_continued = 1;
	}
	if (cmd_top_continued) {
		cmd_top_continued = 0;
		if (cmd_top_begin(&t->saved) != 0)
			t->view.quit = true;
	}
}

static int cmd_top_copy(const struct telemetry_sample *from, struct telemetry_sample *to)
{
	telemetry_sample_free(to);
	*to = *from;
	to->row = malloc(from->n ? from->n * sizeof *from->row : 1);
	if (!to->row) {
		to->n = 0;
		return -ENOMEM;
	}
	if (from->n)
		memcpy(to->row, from->row, from->n * sizeof *from->row);
	return 0;
}

static int cmd_top_sample(struct cmd_top *t)
{
	struct telemetry_sample now;
	int rc;

	telemetry_clients_renew(&t->clients);
	rc = telemetry_sample_take(&now, &t->clients, t->before.time > 0 ? &t->before : NULL);
	if (!rc)
		rc = cmd_top_copy(&now, &t->shown);
	telemetry_sample_free(&t->before);
	t->before = now;
	return rc;
}

static void cmd_top_draw(struct cmd_top *t)
{
	cmd_top_measure(&t->view);
	top_view_arrange(&t->view, &t->shown);
	top_view_draw(&t->view, &t->shown, stdout);
	fflush(stdout);
}

/** Answer the keys that have come. Without a terminal that is the end. */
static void cmd_top_answer(struct cmd_top *t)
{
	char text[64];
	ssize_t n = read(STDIN_FILENO, text, sizeof text);
	int key;

	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		t->view.quit = true;
	for (size_t at = 0; n > 0 && at < (size_t)n;) {
		at += top_view_parse_key(text + at, (size_t)n - at, &key);
		top_view_key(&t->view, &t->shown, key);
	}
}

/** Wait for @p seconds at most, for keys or another size of the terminal. */
static void cmd_top_wait(struct cmd_top *t, double seconds)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	struct timespec most = {.tv_sec = (time_t)seconds};
	int n;

	most.tv_nsec = (long)((seconds - (double)most.tv_sec) * 1e9);
	n = ppoll(&p, 1, &most, &t->waiting);
	cmd_top_look_at_job(t);
	if (n > 0)
		cmd_top_answer(t);
	if (n != 0)
		cmd_top_draw(t);
}

static bool cmd_top_goes_on(const struct cmd_top *t)
{
	return !t->view.quit && !cmd_top_ended && !ferror(stdout);
}

/** A process does not answer: keys are answered none the less. */
static bool cmd_top_meanwhile(void *ctx)
{
	struct cmd_top *t = ctx;

	cmd_top_wait(t, 0);
	return cmd_top_goes_on(t);
}

static int cmd_top_loop(struct cmd_top *t)
{
	double next = 0, left;
	int rc = 0;

	t->clients.meanwhile = cmd_top_meanwhile;
	t->clients.ctx = t;
	while (!rc && cmd_top_goes_on(t)) {
		left = next - clock_id_s(CLOCK_MONOTONIC);
		if (left > 0) {
			cmd_top_wait(t, left);
			continue;
		}
		next = clock_id_s(CLOCK_MONOTONIC) + t->options->interval;
		rc = t->view.paused ? 0 : cmd_top_sample(t);
		cmd_top_draw(t);
	}
	return rc;
}

int cmd_top(int argc, char **argv)
{
	static char name[] = "uiwarp top";
	struct cmd_top_options o = {.interval = 1};
	struct cmd_top t = {.options = &o};
	int rc;

	argv[0] = name;
	argp_parse(&cmd_top_argp, argc, argv, 0, NULL, &o);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "uiwarp top: expected a terminal; \"uiwarp stat\" needs none\n");
		return EXIT_USAGE;
	}
	rc = telemetry_options_open(&o.asked, name, &t.clients);
	if (rc)
		return rc;
	cmd_top_watch_signals(&t.waiting);
	cmd_top_watch_job_control();
	rc = tcgetattr(STDIN_FILENO, &t.saved) == 0 ? cmd_top_begin(&t.saved) : -errno;
	if (!rc) {
		rc = cmd_top_loop(&t);
		cmd_top_end(&t.saved);
	}
	if (rc)
		fprintf(stderr, "uiwarp top: %s\n", telemetry_sample_error(rc));
	telemetry_sample_free(&t.shown);
	telemetry_sample_free(&t.before);
	telemetry_clients_close(&t.clients);
	return rc ? EXIT_FAILURE : EXIT_SUCCESS;
}
