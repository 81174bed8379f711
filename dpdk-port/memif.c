/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif.h"

#include "dpdk-port/socket_file.h"

#include <errno.h>
#include <limits.h>
#include <rte_common.h>
#include <rte_kvargs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool memif_is_named(const char *device)
{
	return strncmp(device, "net_memif", 9) == 0;
}

static bool memif_has_name(const struct rte_kvargs *args, const char *key, const char *value)
{
	const char *given = rte_kvargs_get(args, key);

	return given && !strcmp(given, value);
}

bool memif_is_server(const struct rte_kvargs *args)
{
	return memif_has_name(args, "role", "server") || memif_has_name(args, "role", "master");
}

bool memif_has_socket_file(const struct rte_kvargs *args)
{
	return memif_has_name(args, "socket-abstract", "no");
}

/** Does the kernel's list, which has '@' for zeros, name a listening socket @p name? */
static bool memif_is_listed(const char *name)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];
	bool found = false;
	size_t len = strlen(name);

	while (f && !found && fgets(line, sizeof line, f)) {
		const char *at = strchr(line, '@');
		unsigned flags;

		/* Num RefCount Protocol Flags Type St Inode Path; bit 16: it accepts. */
		found = at && sscanf(line, "%*s %*s %*s %x", &flags) == 1 && flags & 0x10000 &&
			!strncmp(at + 1, name, len) && strchr("@\n", at[1 + len]);
	}
	if (f)
		fclose(f);
	return found;
}

/** Where a relative path begins, of a socket that is a file; NULL: there is none. */
static const char *memif_relative_path(const char *device)
{
	const char *at = strstr(device, ",socket=");

	if (!memif_is_named(device) || !strstr(device, ",socket-abstract=no") || !at)
		return NULL;
	at += strlen(",socket=");
	return *at == '/' ? NULL : at;
}

int memif_absolute(const char *device, char *out, size_t len)
{
	const char *path = memif_relative_path(device);
	char directory[PATH_MAX] = "";
	int n;

	if (!path)
		path = device;
	else if (!getcwd(directory, sizeof directory - 1))
		return -errno;
	else
		strcat(directory, "/");
	n = snprintf(out, len, "%.*s%s%s", (int)(path - device), device, directory, path);
	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

/** The driver's default, an abstract one. */
#define DEFAULT_SOCKET "/run/memif.sock"

/** Does a process listen at the socket that a memif's arguments mean, which is @p path? */
static bool memif_listens(const struct rte_kvargs *args, const char *path)
{
	return memif_has_socket_file(args) ? socket_file_ask(path) == EPROTOTYPE
					   : memif_is_listed(path);
}

bool memif_is_served(const char *device)
{
	const char *comma = strchr(device, ','), *path = NULL;
	struct rte_kvargs *args = NULL;
	bool served;

	if (memif_is_named(device) && comma)
		args = rte_kvargs_parse(comma + 1, NULL);
	if (args)
		path = rte_kvargs_get(args, "socket");
	served = args && memif_is_server(args) && memif_listens(args, path ? path : DEFAULT_SOCKET);
	rte_kvargs_free(args);
	return served;
}

/** More the driver does not take. */
#define MEMIF_RSIZE_MAX 14ul

static unsigned long memif_number(
	const struct rte_kvargs *args, const char *key, unsigned long by_default)
{
	const char *given = args ? rte_kvargs_get(args, key) : NULL;

	return given ? strtoul(given, NULL, 10) : by_default;
}

uint64_t memif_file_size(const char *device)
{
	const char *comma = strchr(device, ',');
	struct rte_kvargs *args = NULL;
	uint64_t slots, buffer;
	bool server;

	if (!memif_is_named(device))
		return 0;
	if (comma)
		args = rte_kvargs_parse(comma + 1, NULL);
	server = args && memif_is_server(args);
	/* A ring has a head of 128 bytes, a descriptor 16. */
	slots = 1ull << RTE_MIN(memif_number(args, "rsize", 10), MEMIF_RSIZE_MAX);
	buffer = memif_number(args, "bsize", 2048) & 0xffff;
	rte_kvargs_free(args);
	return server ? 0 : 2 * (128 + slots * (16 + buffer));
}

enum memif_absence memif_why_absent(const char *device, char *socket, size_t len)
{
	const char *comma = strchr(device, ','), *path = NULL;
	struct rte_kvargs *args = comma ? rte_kvargs_parse(comma + 1, NULL) : NULL;
	enum memif_absence why = MEMIF_NO_SERVER;

	if (args)
		path = rte_kvargs_get(args, "socket");
	if (!path)
		path = DEFAULT_SOCKET;
	snprintf(socket, len, "%s", path);
	if (args && memif_is_server(args))
		why = MEMIF_NO_CLIENT;
	else if (args ? memif_listens(args, path) : memif_is_listed(path))
		why = MEMIF_TAKEN;
	rte_kvargs_free(args);
	return why;
}
