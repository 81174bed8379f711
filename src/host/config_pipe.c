/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration from a pipe, such as of <(...): who writes it may be slow, or never come. */
#include "base/clock_id.h"
#include "host/config_error.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CONFIG_PIPE_MS UINT64_C(1000000) /* in ns */

struct config_pipe {
	int fd;
	bool begun;     /**< its writer is there or has been: without one it is at its end */
	uint64_t until; /**< ns of CLOCK_MONOTONIC */
	char *text;
	size_t len;
};

/** Wait for text, or for the end. @return false: that took too long. */
static bool config_pipe_wait(struct config_pipe *p)
{
	struct pollfd fd = {.fd = p->fd, .events = POLLIN};
	uint64_t now = clock_id_ns(CLOCK_MONOTONIC);

	if (now >= p->until)
		return false;
	if (poll(&fd, 1, (int)((p->until - now) / CONFIG_PIPE_MS) + 1) > 0)
		p->begun = true;
	return true;
}

/** Read to its end. @return 0, or a negative errno; -EFBIG: it has too much; -ETIMEDOUT. */
static int config_pipe_read(struct config_pipe *p)
{
	for (;;) {
		ssize_t n = read(p->fd, p->text + p->len, CONFIG_PIPE_MAX + 1 - p->len);

		if (n > 0) {
			p->begun = true;
			p->len += (size_t)n;
			if (p->len > CONFIG_PIPE_MAX)
				return -EFBIG;
		} else if (n == 0 && p->begun) {
			return 0;
		} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
			return -errno;
		} else if (!config_pipe_wait(p)) {
			return -ETIMEDOUT;
		}
	}
}

static int config_pipe_open(struct config_pipe *p, const char *path)
{
	struct statfs fs;

	/* That does not wait for a writer, of whom poll() tells. */
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (p->fd < 0)
		return -errno;
	/* The other end of one without a name was made with it, and nobody can open it later. */
	p->begun = fstatfs(p->fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
	p->text = malloc(CONFIG_PIPE_MAX + 1);
	if (p->text)
		return 0;
	close(p->fd);
	return -ENOMEM;
}

static int config_pipe_fail(const char *path, int rc, struct config_error *e)
{
	const struct config_place where = {.path = path};

	switch (rc) {
	case -EFBIG:
		return config_complain(
			e, rc, &where, "expected at most %d bytes from it", CONFIG_PIPE_MAX);
	case -ETIMEDOUT:
		return config_complain(
			e, rc, &where, "nobody has written to this pipe and closed it in time");
	default:
		return config_unreadable(path, -rc, e);
	}
}

/** The lines of @p p, which are checked like a file's. */
static int config_pipe_parse(
	const struct config_pipe *p, const char *path, char **set, struct config_error *e)
{
	struct config *c = calloc(1, sizeof *c);
	size_t size;
	FILE *pairs = open_memstream(set, &size);
	FILE *text = p->len ? fmemopen(p->text, p->len, "r") : NULL;
	int rc = !c || !pairs || (p->len && !text) ? config_unreadable(path, ENOMEM, e) : 0;

	if (rc == 0)
		config_init(c);
	if (rc == 0 && text)
		rc = config_read_stream(c, text, path, pairs, e);
	if (pairs && fclose(pairs) != 0 && rc == 0)
		rc = config_unreadable(path, ENOMEM, e);
	if (text)
		fclose(text);
	free(c);
	if (rc == 0)
		return 0;
	free(*set);
	*set = NULL;
	return rc;
}

int config_read_pipe(const char *path, unsigned ms, char **set, struct config_error *e)
{
	struct config_pipe p = {.until = clock_id_ns(CLOCK_MONOTONIC) + ms * CONFIG_PIPE_MS};
	int rc = config_pipe_open(&p, path);

	*set = NULL;
	if (rc != 0)
		return config_pipe_fail(path, rc, e);
	rc = config_pipe_read(&p);
	close(p.fd);
	rc = rc == 0 ? config_pipe_parse(&p, path, set, e) : config_pipe_fail(path, rc, e);
	free(p.text);
	return rc;
}
