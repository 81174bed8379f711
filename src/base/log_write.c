/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/** What stderr was when this was loaded. */
static struct {
	bool open;
	dev_t device;
	ino_t inode;
} log_write_first;

__attribute__((constructor)) static void log_write_look_at_stderr(void)
{
	struct stat st;

	log_write_first.open = fstat(STDERR_FILENO, &st) == 0;
	if (!log_write_first.open)
		return;
	log_write_first.device = st.st_dev;
	log_write_first.inode = st.st_ino;
}

/** Take the signal @p sig that waits for this thread, if it does. */
static void log_write_take_signal(int sig)
{
	const struct timespec no_time = {0};
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, sig);
	while (sigtimedwait(&one, NULL, &no_time) < 0 && errno == EINTR)
		;
}

/**
 * A terminal or a pipe has room, and may have less than is written: write() waits for the rest.
 * O_NONBLOCK is also the other processes' whose stderr it is, so it is set on an opening of ours.
 * @return a descriptor, or -1: @p fd will do, or there is no other, as at a terminal of another
 * user.
 */
static int log_write_open_anew(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;
	char path[48];

	if (flags < 0 || (flags & O_NONBLOCK) || fstat(fd, &st) != 0 ||
		!(S_ISFIFO(st.st_mode) || isatty(fd)))
		return -1;
	snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/** @return less than 0, with errno, if nothing was taken. */
static ssize_t log_write_at_once(int fd, const char *text, size_t len)
{
	ssize_t n = send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	int anew, error;

	if (n >= 0 || errno != ENOTSOCK)
		return n;
	anew = log_write_open_anew(fd);
	n = write(anew < 0 ? fd : anew, text, len);
	error = errno;
	if (anew >= 0)
		close(anew);
	errno = error;
	return n;
}

static void log_write_without_signal(int fd, const char *text, size_t len)
{
	sigset_t ours, before, pending;
	int sig = 0;

	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	sigpending(&pending);
	if (log_write_at_once(fd, text, len) < 0)
		sig = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
	/* One that waited before is the program's. */
	if (sig != 0 && sigismember(&pending, sig) == 0)
		log_write_take_signal(sig);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void log_write(int fd, const char *text, size_t len)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int error = errno;

	if (poll(&p, 1, 0) == 1 && (p.revents & POLLOUT))
		log_write_without_signal(fd, text, len);
	errno = error;
}

/** Is 2 what people read? A data file, a socket or a device is not, unless it was so at the start.
 */
static bool log_write_has_stderr(void)
{
	struct stat now;

	if (fstat(STDERR_FILENO, &now) != 0)
		return false;
	/* A program that was started without has its data at 2, whatever its kind. */
	if (!log_write_first.open)
		return isatty(STDERR_FILENO);
	if (now.st_dev == log_write_first.device && now.st_ino == log_write_first.inode)
		return true;
	if (S_ISREG(now.st_mode))
		return (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0;
	return S_ISFIFO(now.st_mode) || isatty(STDERR_FILENO);
}

void log_write_stderr(const char *text, size_t len)
{
	int error = errno;

	if (log_write_has_stderr())
		log_write(STDERR_FILENO, text, len);
	errno = error;
}
