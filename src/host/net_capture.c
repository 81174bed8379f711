/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures of a host's port, begun with it or while it runs. */
#include "dpdk-port/capture.h"
#include "host/net_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/**
 * The path with %p replaced by the process's number: programs in a pair share a configuration.
 * @return 0 or -ENAMETOOLONG.
 */
static int net_capture_path(const char *pattern, char *path, size_t len)
{
	const char *at = strstr(pattern, "%p");
	int n;

	if (at)
		n = snprintf(
			path, len, "%.*s%d%s", (int)(at - pattern), pattern, (int)getpid(), at + 2);
	else
		n = snprintf(path, len, "%s", pattern);
	return (size_t)n < len ? 0 : -ENAMETOOLONG;
}

/** Have the port use @p next from now on. @return what it used. */
static struct capture *net_capture_exchange(struct net *n, struct capture *next)
{
	struct capture *before = n->capture;

	engine_lock(&n->engine);
	n->capture = next;
	port_set_capture(n->port, next);
	engine_unlock(&n->engine);
	return before;
}

int net_set_capture(
	struct net *n, const char *path, uint64_t size, unsigned files, struct config_error *e)
{
	struct capture *next = NULL;
	int r;

	if (!n->port) {
		snprintf(e->text, sizeof e->text,
			"with \"port = kernel\" there are no frames to capture: they are the "
			"kernel's");
		return -EOPNOTSUPP;
	}
	/* First: both may be the same file. */
	capture_close(net_capture_exchange(n, NULL));
	r = net_capture_path(path, n->capture_path, sizeof n->capture_path);
	if (!r && *path)
		r = capture_open(n->capture_path, n->config.port, clock_ns(&n->poller.clock),
			&n->log.sink, &next);
	if (r) {
		snprintf(e->text, sizeof e->text, "capture file \"%.300s\": %s", n->capture_path,
			capture_strerror(r));
		n->capture_path[0] = '\0';
		return r;
	}
	if (next && size)
		capture_rotate(next, size, files);
	net_capture_exchange(n, next);
	return 0;
}
