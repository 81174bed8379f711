/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file socket_file.h
 * The file of the UNIX socket at which the driver of a device serves its peer: a memif's server, a
 * vhost, and the end of a virtio-user that its vhost connects to.
 */
#ifndef DPDK_PORT_SOCKET_FILE_H
#define DPDK_PORT_SOCKET_FILE_H

#include <stdbool.h>

/**
 * Is it the file of a socket that a process has, and not of one that has ended? The process does
 * not notice.
 * @return EPROTOTYPE: yes; ECONNREFUSED: it is left over; another error; 0: it is no such file.
 */
int socket_file_ask(const char *path);

/**
 * Remove the socket file that a killed server has left. DPDK would not open the port because of it.
 * A socket that a process has stays, and so does a file that is no socket.
 *
 * @param device  arguments of a DPDK device of any kind
 * @return true if a file was removed
 */
bool socket_file_forget_stale(const char *device);

/**
 * Does its driver wait, while the device is probed, until somebody has connected to its socket?
 *
 * @param device  as for socket_file_forget_stale()
 */
bool socket_file_is_awaited(const char *device);

#endif
