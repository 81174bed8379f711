/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif.h
 * The socket of a memif: absolute names, and reasons for a missing link.
 */
#ifndef DPDK_PORT_MEMIF_H
#define DPDK_PORT_MEMIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rte_kvargs;

/** True if @p device is a memif, by its name or arguments. */
bool memif_is_named(const char *device);

/** True if @p args are of a memif that serves: role=server, or the driver's old word. */
bool memif_is_server(const struct rte_kvargs *args);

/** True if the socket of @p args is a file; the driver's default is an abstract one. */
bool memif_has_socket_file(const struct rte_kvargs *args);

/**
 * Copy the arguments and make the path in "socket=" absolute, as DPDK requires. An abstract
 * socket's name and the arguments of other devices are not changed.
 * @return 0, -ENAMETOOLONG, or the error of getcwd().
 */
int memif_absolute(const char *device, char *out, size_t len);

/**
 * True if @p device is a memif with role=server, and a process listens at its socket. Before the
 * device is opened, that is another server. An abstract socket in another network namespace is not
 * seen.
 */
bool memif_is_served(const char *device);

/**
 * The size of the file in memory that a client shares with its server: `ulimit -f` must allow it.
 * The driver makes it when it connects, and reports nothing when it cannot.
 * @return 0 if @p device is no memif, or the server.
 */
uint64_t memif_file_size(const char *device);

/** Why a memif has no link. */
enum memif_absence {
	MEMIF_NO_CLIENT, /**< this is the server, and no client has come */
	MEMIF_NO_SERVER, /**< this is a client, and no process listens at the socket */
	MEMIF_TAKEN,     /**< the server does not accept us: it has another client */
};

/**
 * Find out why a memif has no link. An abstract socket in another network namespace is not seen.
 *
 * @param device  arguments of a memif
 * @param socket  room for the socket's name, at most @p len bytes with its end
 */
enum memif_absence memif_why_absent(const char *device, char *socket, size_t len);

#endif
