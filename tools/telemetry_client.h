/* SPDX-License-Identifier: BSD-2-Clause */
/** @file telemetry_client.h Asks running processes what they do (host/telemetry.h). */
#ifndef TOOLS_TELEMETRY_CLIENT_H
#define TOOLS_TELEMETRY_CLIENT_H

#include "base/json_reader.h"
#include "host/slot.h"
#include "host/telemetry_socket.h"
#include "tools/json_list.h"
#include "tools/telemetry_asked.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct telemetry_client {
	pid_t pid;
	char name[TELEMETRY_NAME];
	unsigned place; /**< of its name: which directory */
	int fd;         /**< -1: the connection is over; -EAGAIN: too many others wait for one */
	bool greeted;   /**< else it says nothing: it is stopped, or stuck */
	bool waited;    /**< in vain; its greeting may come later */
	size_t room;    /**< the longest answer */
	/** the error that telemetry_client_read() has got last, or a list or stat_process; or "" */
	char refused[80];
	bool excessive; /**< it has told more than is kept, or nonsense: the rest is not known */
	size_t kept;    /**< private: bytes of memory of its answers */
	size_t told;    /**< private: bytes of all that it has said */
	unsigned slices, asleep;       /**< private: how long it is waited for */
	struct telemetry_clients *all; /**< private */
};

/** All processes that are there, by their numbers. */
struct telemetry_clients {
	struct telemetry_client *client;
	unsigned n;
	const struct telemetry_asked *asked; /**< ends with 0: no others; or NULL */
	struct slot_places places;           /**< the directories of the sockets */
	unsigned unasked; /**< sockets that cannot be connected to, and are not those of the dead */
	int error; /**< why the first of them cannot, or the directory cannot be read, or 0 */
	char failed[TELEMETRY_NAME]; /**< its name; "": it is the directory */
	const char *failed_place;    /**< the directory */
	unsigned place;              /**< private: of those, the one that is looked at */
	char *text;                  /**< private: the last answer of any of them */
	size_t room;                 /**< private: of that */
	size_t most;                 /**< private: TELEMETRY_CLIENT_BYTES, or less in tests */
	size_t rows;                 /**< private: TELEMETRY_CLIENTS_ROWS, or fewer in tests */
	/** What the caller does, 20 times a second at least, while one is waited for. May be NULL.
	 * @return false: it is waited for no more, as if in vain. */
	bool (*meanwhile)(void *ctx);
	void *ctx;
};

/**
 * Connect to the processes of this user, or to @p asked.
 * @param directory of the sockets; NULL: all of slot_find_places(), as processes of this user with
 * other environments may be in another one.
 * @param asked ends with 0, and is the caller's until the end; NULL or none: all.
 * @param c stays where it is until telemetry_clients_close(). Its `meanwhile` is to be set after
 * this.
 * @return 0, or a negative errno; -ESRCH: one of @p asked is not there or says nothing, and that
 * was told.
 */
int telemetry_clients_open(
	struct telemetry_clients *c, const char *directory, const struct telemetry_asked *asked);

/**
 * Connect to processes that have come since, and again to those that had ended the connection to
 * serve others; forget those that have gone. One that says nothing is waited for once.
 */
void telemetry_clients_renew(struct telemetry_clients *c);

void telemetry_clients_close(struct telemetry_clients *c);

/** The directory of its socket. Its name tells it apart only there. */
const char *telemetry_client_directory(const struct telemetry_client *c);

/**
 * The value that answers @p command. The caller owns it. A process that runs, or wants to, is
 * waited for half a minute; one that is stopped, or of which all threads sleep, for two seconds.
 * @return NULL: the process has gone, does not answer, or tells more than TELEMETRY_CLIENT_BYTES or
 * what is no answer, as `refused` tells; it is not asked any more until telemetry_clients_renew().
 */
json_t *telemetry_client_ask(struct telemetry_client *c, const char *command);

/**
 * What a list may have: the directory may be another user's, and who answers there be no process
 * of ours. Ours has some hundred items in a page.
 */
#define TELEMETRY_CLIENT_ITEMS (1u << 20)
#define TELEMETRY_CLIENT_PAGES (1u << 16)
/**
 * Memory of what telemetry_client_ask() and _list() make for one process until
 * telemetry_clients_renew(): trees, as telemetry_client_tree() counts, and the text of lists. The
 * 65,536 QPs that a device has, with connections and CQs, are a third of it. Bound by process: none
 * keeps us from what another one tells.
 */
#define TELEMETRY_CLIENT_BYTES ((size_t)256 << 20)
/** What it says: to be done soon. */
#define TELEMETRY_CLIENT_TEXT ((size_t)128 << 20)
/** Of a sample of all processes (telemetry_sample.h): some gigabyte. */
#define TELEMETRY_CLIENTS_ROWS ((size_t)1 << 21)
/** Sockets in a directory. */
#define TELEMETRY_CLIENTS 1024

/**
 * All items of a list, from all of its pages. @param to empty; the caller's to free.
 * @return false, and it is empty: as telemetry_client_ask(), or no memory, or it has more than a
 * list may have. `refused` tells, and the process is not asked any more. Or it gave an error, which
 * `refused` has; but one that has no such list has none of its items.
 */
bool telemetry_client_list(struct telemetry_client *c, const char *command, struct json_list *to);

/** Bytes of memory that a tree of the @p len bytes of JSON at @p text takes, at most. */
size_t telemetry_client_tree(const char *text, size_t len);

/**
 * Have @p r read the value that answers @p command. It lasts until the next request to any process.
 * @return false: as telemetry_client_ask().
 */
bool telemetry_client_read(struct telemetry_client *c, const char *command, struct json_reader *r);

/**
 * Read the items of a list, from all of its pages, without keeping them: @p item reads one, and
 * returns false to stop. @return false: it did, or as telemetry_client_list().
 */
bool telemetry_client_each(struct telemetry_client *c, const char *command,
	bool (*item)(void *ctx, struct json_reader *r), void *ctx);

/**
 * Get the text of an answer's error, for a terminal: as much of it as fits.
 * @param key of the error in the answer. @return false: it has none.
 */
bool telemetry_client_error(const json_t *answer, const char *key, char *text, size_t size);

#endif
