/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry_socket.h
 * The names of telemetry sockets: "telemetry.PID", or "telemetry.PID.N" for another stack of that
 * process, in the directory of the slots (slot.h). Like the slots they are for their owner alone. A
 * process that was killed leaves its socket behind; whoever comes by next removes it.
 */
#ifndef HOST_TELEMETRY_SOCKET_H
#define HOST_TELEMETRY_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** Room for a name, without its directory. */
#define TELEMETRY_NAME 48

/**
 * Listen at a free name of this process.
 * @param[out] name TELEMETRY_NAME bytes
 * @return the descriptor (non-blocking, close-on-exec), or -errno.
 */
int telemetry_socket_listen(const char *directory, char *name);

/**
 * @return a descriptor connected to @p name, or -errno; -ECONNREFUSED: nobody listens there;
 * -EAGAIN: too many wait to be accepted, as by a process that is stopped.
 */
int telemetry_socket_connect(const char *directory, const char *name);

/** True if @p name is one of ours; @p pid gets its process. */
bool telemetry_socket_is_name(const char *name, pid_t *pid);

/** Which of the stacks of @p pid has @p name: N; 0 for the first, or if it is no name of ours. */
unsigned telemetry_socket_stack(const char *name, pid_t pid);

/** For people: @p pid, or "PID.N" where @p name is of another stack of it. @return @p text. */
const char *telemetry_socket_process(const char *name, pid_t pid, char text[TELEMETRY_NAME]);

/** Remove @p name if it is a socket and nobody listens there. */
void telemetry_socket_sweep(const char *directory, const char *name);

/**
 * Call @p fn for the names of all sockets in @p directory, those that nobody listens at among them.
 * @return 0 or -errno.
 */
int telemetry_socket_each(
	const char *directory, void (*fn)(void *ctx, const char *name), void *ctx);

#endif
