/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/socket_file.h"

#include "dpdk-port/driver_name.h"
#include "dpdk-port/memif.h"

#include <errno.h>
#include <rte_common.h>
#include <rte_kvargs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/**
 * Connect for datagrams, which none of these sockets take: the kernel reports that for one that a
 * process has bound, and its owner sees nothing. To a connection that comes and goes at once
 * drivers are sensitive (memif_send.h).
 */
int socket_file_ask(const char *path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct stat st;
	int fd, err = 0;

	if (strlen(path) >= sizeof sun.sun_path || lstat(path, &st) || !S_ISSOCK(st.st_mode))
		return 0;
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&sun, sizeof sun))
		err = errno;
	close(fd);
	return err;
}

/** As these drivers read a switch: a number. */
static bool socket_file_is_on(const struct rte_kvargs *args, const char *key)
{
	const char *given = rte_kvargs_get(args, key);

	return given && strtoul(given, NULL, 0) != 0;
}

static bool socket_file_memif_serves(const struct rte_kvargs *args)
{
	return memif_is_server(args) && memif_has_socket_file(args);
}

static bool socket_file_virtio_user_serves(const struct rte_kvargs *args)
{
	return socket_file_is_on(args, "server");
}

static bool socket_file_vhost_serves(const struct rte_kvargs *args)
{
	return !socket_file_is_on(args, "client");
}

static const struct socket_file_kind {
	const char *driver, *key; /**< key: of the file among its arguments */
	bool (*serves)(const struct rte_kvargs *args);
	bool waits; /**< for its peer, as a server */
} socket_file_kinds[] = {
	{"net_memif", "socket", socket_file_memif_serves, false},
	{"net_virtio_user", "path", socket_file_virtio_user_serves, true},
	{"virtio_user", "path", socket_file_virtio_user_serves, true},
	{"net_vhost", "iface", socket_file_vhost_serves, false},
};

/** @return NULL: its driver has none. */
static const struct socket_file_kind *socket_file_kind_of(const char *device)
{
	for (size_t i = 0; i < RTE_DIM(socket_file_kinds); i++)
		if (driver_name_fits(socket_file_kinds[i].driver, device))
			return &socket_file_kinds[i];
	return NULL;
}

/** @return NULL: there are none, or they are not as they have to be. */
static struct rte_kvargs *socket_file_args(const char *device)
{
	const char *comma = strchr(device, ',');

	return comma ? rte_kvargs_parse(comma + 1, NULL) : NULL;
}

/** The file of a server's socket among its @p args; NULL: it is no server, or has none. */
static const char *socket_file_of(const char *device, const struct rte_kvargs *args)
{
	const struct socket_file_kind *k = socket_file_kind_of(device);

	return k && k->serves(args) ? rte_kvargs_get(args, k->key) : NULL;
}

bool socket_file_forget_stale(const char *device)
{
	struct rte_kvargs *args = socket_file_args(device);
	const char *path;
	bool removed;

	if (!args)
		return false;
	path = socket_file_of(device, args);
	removed = path && socket_file_ask(path) == ECONNREFUSED && unlink(path) == 0;
	rte_kvargs_free(args);
	return removed;
}

bool socket_file_is_awaited(const char *device)
{
	const struct socket_file_kind *k = socket_file_kind_of(device);
	struct rte_kvargs *args = k && k->waits ? socket_file_args(device) : NULL;
	bool awaited = args && k->serves(args);

	rte_kvargs_free(args);
	return awaited;
}
