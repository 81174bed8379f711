/* SPDX-License-Identifier: BSD-2-Clause */
/* uiwarp top, in a terminal, asking this test for what a busy process would tell. */
#include "asked.h"
#include "support/child_fork.h"
#include "support/limit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static struct {
	int fd;
	pid_t pid;
	char text[1 << 20];
	size_t len;
} terminal;

static void terminal_open(void)
{
	struct winsize w = {.ws_row = 24, .ws_col = 140};
	int other;

	terminal.len = 0;
	terminal.fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal.fd >= 0);
	assert_int_equal(grantpt(terminal.fd), 0);
	assert_int_equal(unlockpt(terminal.fd), 0);
	assert_int_equal(ioctl(terminal.fd, TIOCSWINSZ, &w), 0);
	terminal.pid = child_fork();
	if (terminal.pid != 0)
		return;
	setsid();
	other = open(ptsname(terminal.fd), O_RDWR);
	dup2(other, 0);
	dup2(other, 1);
	dup2(other, 2);
	execl(UIWARP, "uiwarp", "top", "-i", "0.1", "-d", directory, (char *)NULL);
	_exit(127);
}

static void terminal_key(const char *key)
{
	terminal.len = 0;
	assert_int_equal(write(terminal.fd, key, strlen(key)), strlen(key));
}

/** Read until @p text has been on the screen, at most a minute between two things written. */
static void terminal_await(const char *text)
{
	struct pollfd p = {.fd = terminal.fd, .events = POLLIN};

	for (;;) {
		ssize_t n;

		terminal.text[terminal.len] = '\0';
		if (strstr(terminal.text, text))
			return;
		/* A screen is some 5 KB: what is older was looked at. */
		if (terminal.len > sizeof terminal.text / 2) {
			memmove(terminal.text, terminal.text + terminal.len - 16384, 16384);
			terminal.len = 16384;
		}
		if (poll(&p, 1, LIMIT_MS) != 1)
			fail_msg("\"%s\" is not shown", text);
		n = read(terminal.fd, terminal.text + terminal.len, 8192);
		if (n <= 0)
			fail_msg("it ended before \"%s\" was shown", text);
		terminal.len += (size_t)n;
	}
}

static void terminal_close(void)
{
	struct pollfd p = {.fd = terminal.fd, .events = POLLIN};
	int status;

	/* What it still writes must go somewhere. */
	while (poll(&p, 1, LIMIT_MS) == 1 && read(terminal.fd, terminal.text, 8192) > 0)
		;
	assert_int_equal(waitpid(terminal.pid, &status, 0), terminal.pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(terminal.fd);
}

static void top_shows_sorts_opens_and_quits(void **state)
{
	terminal_open();
	terminal_await("\033[?1049h");
	terminal_await("300 QPs and connections, by bytes");
	/* The one that carries something comes to the first row, which is shown in reverse. */
	terminal_await("      299 RTS         10.0.0.2:1298");
	terminal_key("l");
	terminal_await("by RTT");
	terminal_await("300 RTS         10.0.0.2:1299");
	terminal_key("l");
	terminal_await("by RTT, least first");
	terminal_key("r");
	terminal_await("by retransmits");
	terminal_key("\r");
	terminal_await("one connection");
	terminal_await("10.0.0.1:7 - 10.0.0.2:1298");
	terminal_await("retransmits              77");
	terminal_key("\033[1~");
	terminal_key("x");
	terminal_await("by retransmits");
	terminal_key("?");
	terminal_await("uiwarp: keys");
	terminal_key(" ");
	terminal_await("by retransmits");
	terminal_key("\033[6~\033[B");
	terminal_await("\033[7m");
	terminal_key("x");
	terminal_await("\033[?1049l");
	terminal_close();
}

/** Whatever ends it, the terminal is as it was. */
static void top_gives_the_terminal_back(void **state)
{
	terminal_open();
	terminal_await("by bytes");
	kill(terminal.pid, SIGTERM);
	terminal_await("\033[?25h\033[?1049l");
	terminal_close();
}

/** By Ctrl-Z; the shell has us go on at once here, as this group of processes has none. */
static void top_lends_the_terminal_while_it_is_stopped(void **state)
{
	struct termios before, now;

	terminal_open();
	terminal_await("by bytes");
	assert_int_equal(tcgetattr(terminal.fd, &before), 0);
	terminal.len = 0;
	kill(terminal.pid, SIGTSTP);
	terminal_await("\033[?25h\033[?1049l");
	terminal_await("\033[?1049h");
	terminal_await("by bytes");
	assert_int_equal(tcgetattr(terminal.fd, &now), 0);
	assert_int_equal(now.c_lflag, before.c_lflag);
	terminal_key("x");
	terminal_close();
}

static void it_needs_a_terminal(void **state)
{
	RUN("top");
	assert_int_equal(child_exit(&c), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(top_shows_sorts_opens_and_quits),
		cmocka_unit_test(top_gives_the_terminal_back),
		cmocka_unit_test(top_lends_the_terminal_while_it_is_stopped),
		cmocka_unit_test(it_needs_a_terminal),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
