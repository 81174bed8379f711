/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file telemetry.h
 * Shows what runs: a socket of this process (telemetry_socket.h) that answers commands in JSON, as
 * DPDK's telemetry library does. A client connects (SOCK_SEQPACKET), is greeted with
 * {"version", "pid", "max_output_len"}, and sends "/command" or "/command,parameters". The answer
 * is one message, {"/command": ...}. "/" lists the commands, "/help,/command" tells what one is
 * for.
 *
 * Long lists come in pages: {"/command": {"total": N, "items": [...], "next": K}}. "/command,K" is
 * the next page, of the list as it was for the first one. There is no "next" in the last page.
 *
 * It has a thread of its own, which sleeps until somebody asks. Lists are read from the engine in
 * short slices, so the engine is never held for long. Clients with another user's rights than ours
 * or root's are not served, and one that does not read is left.
 */
#ifndef HOST_TELEMETRY_H
#define HOST_TELEMETRY_H

#include "base/json_text.h"
#include "base/log.h"
#include "base/walk.h"
#include "engine/engine.h"

/** The longest answer, in bytes. */
#define TELEMETRY_OUTPUT 65536

/** The error of a command that a process has not, as one without an RNIC has no "/uiwarp/qps". */
#define TELEMETRY_UNKNOWN "there is no such command; / lists them"

/** The longest request, in bytes. */
#define TELEMETRY_REQUEST 2048

/** Bytes for the state of a walk, zeroed at its beginning. */
#define TELEMETRY_CURSOR 16

/** A list of objects of the engine. */
struct telemetry_list {
	size_t item_size;
	/** Called under the engine's lock, before the first step. May be NULL. */
	void (*begin)(void *ctx);
	/** One step (walk.h), under the engine's lock, which is released between steps. */
	enum walk (*step)(void *ctx, void *cursor, void *item);
	/** Write the members of @p item's object. Without the lock. At most TELEMETRY_OUTPUT / 2.
	 */
	void (*format)(void *ctx, const void *item, struct json_text *j);
};

/** A value of which a part is the engine's. */
struct telemetry_reading {
	size_t size; /**< at most TELEMETRY_READING */
	/** Read into @p copy, which is zeroed. Under the engine's lock. */
	void (*read)(void *ctx, void *copy);
	/** Write one value, without a key. Without the lock. */
	void (*write)(void *ctx, const void *copy, struct json_text *j);
};

/** Bytes that a reading may have. */
#define TELEMETRY_READING 8192

/** What answers is one of the three. */
struct telemetry_command {
	const char *name; /**< "/uiwarp/info" */
	const char *help; /**< a line for people */
	/** Write one value, without a key; without the lock. */
	void (*answer)(void *ctx, const char *parameters, struct json_text *j);
	const struct telemetry_list *list;
	const struct telemetry_reading *reading;
};

struct telemetry;

struct telemetry_config {
	struct engine *engine;
	const struct log_sink *log;
	const char *directory; /**< copied; NULL: slot_directory() */
};

/** A hold that somebody may notice, ns. Interrupts alone take that long now and then. */
#define TELEMETRY_LONG_HOLD 50000

/** What it has cost so far. */
struct telemetry_costs {
	uint64_t requests;
	uint64_t slices;       /**< times that the engine was held */
	uint64_t longest_hold; /**< processor time of the longest of them, ns */
	/** Time of the longest of them, ns: while others have the core nobody has the engine. */
	uint64_t longest_elapsed;
	uint64_t long_holds; /**< those whose processor time was beyond TELEMETRY_LONG_HOLD */
	uint64_t cpu;        /**< processor time of all, ns */
};

/** @return NULL: no memory. */
struct telemetry *telemetry_create(const struct telemetry_config *cfg);

/** Add @p n commands, which live as long as @p t, before telemetry_start(). @p ctx is for them. */
void telemetry_add(
	struct telemetry *t, const struct telemetry_command *commands, unsigned n, void *ctx);

/** Open the socket, and start the thread. @return 0 or -errno. */
int telemetry_start(struct telemetry *t);

/** The socket's name goes. For the end of the process, also in a signal handler. */
void telemetry_unlink(struct telemetry *t);

/** Close the socket and wait for the end of the thread: no command runs any more. */
void telemetry_stop(struct telemetry *t);

/** In a child after fork(): close its copies of the descriptors. */
void telemetry_let_go(struct telemetry *t);

/** It must be stopped. NULL does nothing. */
void telemetry_destroy(struct telemetry *t);

/** For commands: inside of them only. */
struct telemetry_costs telemetry_costs(const struct telemetry *t);

/** The socket's name in its directory; "" before telemetry_start(). */
const char *telemetry_name(const struct telemetry *t);

#endif
