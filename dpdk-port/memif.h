/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file memif.h
 * The socket of a memif: what a killed process leaves of it, and how DPDK wants it named.
 */
#ifndef DPDK_PORT_MEMIF_H
#define DPDK_PORT_MEMIF_H

#include <stdbool.h>
#include <stddef.h>

/** By its name or arguments, a memif? */
bool memif_is_named(const char *device);

/**
 * Remove the socket file of an earlier memif server that is gone: DPDK would take it for a living
 * one's and not open the port. One with a listener stays, and so does what is no socket.
 *
 * @param device  arguments of a DPDK device of any kind
 * @return true if a file was removed
 */
bool memif_forget_stale(const char *device);

/**
 * The arguments with an absolute path in "socket=", which is all that DPDK takes. Where that is
 * absolute already, or no path (an abstract socket's name), or the device no memif, they are
 * copied.
 * @return 0, -ENAMETOOLONG, or why there is no current directory.
 */
int memif_absolute(const char *device, char *out, size_t len);

/**
 * True if @p device is a memif with role=server, and a process listens at its socket: before it is
 * opened, or when that has failed, that is another server. Of one in another network namespace an
 * abstract socket is not seen.
 */
bool memif_is_served(const char *device);

/** What is at the other end of a memif without a link. */
enum memif_absence {
	MEMIF_NO_CLIENT, /**< this is the server, and nobody came */
	MEMIF_NO_SERVER, /**< this is a client, and nobody listens at the socket */
	MEMIF_TAKEN,     /**< somebody listens there, and does not take us: it has another client */
};

/**
 * Why a memif has no link, as far as this host can tell: of a server in another network namespace
 * an abstract socket is not seen.
 *
 * @param device  arguments of a memif
 * @param socket  room for the socket's name, at most @p len bytes with its end
 */
enum memif_absence memif_why_absent(const char *device, char *socket, size_t len);

#endif
