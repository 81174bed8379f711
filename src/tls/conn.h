/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file conn.h
 * One connection: towards its user an LLP, a user of the LLP below. It is made before the
 * handshake, and freed once both sides are through with it, never inside an upcall.
 */
#ifndef TLS_CONN_H
#define TLS_CONN_H

#include "tls/handshake.h"
#include "tls/kept.h"
#include "tls/record.h"
#include "tls/secret_pool.h"
#include "tls/stack.h"

#include <sys/queue.h>

enum tls_conn_state {
	TLS_CONN_WAITS,     /**< client: until the LLP is connected; server: for the first byte */
	TLS_CONN_HANDSHAKE, /**< between the first byte and the last of the handshake */
	TLS_CONN_OPEN,      /**< records */
	TLS_CONN_CLEAR,     /**< a peer without TLS, which is allowed; or ourselves */
	TLS_CONN_OVER,      /**< the user was told, or has given it up */
};

/** Messages after the handshake (post.h): what of one has come, and how many there were. */
struct tls_post {
	uint8_t header[TLS_MESSAGE_HEADER_LEN];
	uint8_t header_len;
	uint32_t body_left;
	int64_t updates_at; /**< the second of the last KeyUpdate */
	unsigned updates;   /**< that have come in it */
};

/** Records that wait below, and were opened already. */
struct tls_wait {
	size_t octets;  /**< of them */
	uint64_t seq;   /**< of the record behind them */
	size_t content; /**< theirs that the user is not done with, and what is kept */
	size_t until;   /**< look again when so many octets are there */
};

struct tls_conn {
	struct llp llp;    /**< towards the user */
	struct llp *below; /**< NULL: it is over */
	struct tls_stack *stack;
	LIST_ENTRY(tls_conn) link;
	enum tls_conn_state state;
	bool server;
	bool demands_addr; /**< a server: its client must have its address (llp_demand_addr()) */
	/** In TLS_CONN_HANDSHAKE; and a client's until the first record that is no ticket. */
	struct tls_handshake *handshake;
	struct tls_direction tx, rx;
	struct tls_secrets *secrets;
	uint32_t content_max; /**< of a record of either direction */

	/* Sending. */
	uint8_t *room;      /**< the record that is being built */
	bool write_refused; /**< the user waits for writable() */
	bool update_owed;   /**< a KeyUpdate is to be sent before any other record */
	bool update_asks;   /**< and asks for the peer's */
	bool close_owed;    /**< a close_notify is to be sent */
	bool tx_closed;     /**< the user has closed its direction */
	bool tx_broken;     /**< a record was lost: nothing more is sent, or acknowledged */

	/* Receiving. */
	struct tls_post post;
	struct tls_kept kept; /**< content that the user has left, in memory of its own */
	size_t need;          /**< the user's, for what is kept */
	bool resume;          /**< the user wants to see it again */
	bool rx_stalled;      /**< records wait below until the user takes what is kept */
	size_t rx_shown;      /**< of the content of those, so much the user is done with */
	size_t room_refused;  /**< to keep content in */
	bool starved;         /**< they wait for room, too */
	struct tls_starved *starved_in; /**< or NULL: what the peer or the user does helps */
	struct tls_wait rx_wait;        /**< then */
	TAILQ_ENTRY(tls_conn) starved_link;
	bool rx_closed; /**< a close_notify came */
	bool rx_asked;  /**< for a KeyUpdate, which has not come */
	bool below_eof;

	bool showing;  /**< the user is inside readable() */
	bool released; /**< by the user, and records wait to be sent */
	bool dead;
	unsigned busy; /**< upcalls of the LLP below, and calls, that use it */
};

static inline struct tls_conn *tls_conn_of(const struct llp *l)
{
	return (struct tls_conn *)(void *)(uintptr_t)l;
}

/** A new connection on @p below, whose user it will be. @return NULL: no memory. */
struct tls_conn *tls_conn_new(struct tls_stack *s, bool server);

/** Free it at once. The LLP below is left alone. */
void tls_conn_free(struct tls_conn *c);

/** The address of the other end. */
struct ip_addr tls_conn_peer(const struct tls_conn *c);

/** Everything that may end the connection is between these two. */
static inline void tls_conn_enter(struct tls_conn *c)
{
	c->busy++;
}

static inline void tls_conn_leave(struct tls_conn *c)
{
	if (--c->busy == 0 && c->dead)
		tls_conn_free(c);
}

/**
 * Over, from our side: send an alert, release the LLP and tell the user.
 * @param alert enum tls_alert, or -1: none is sent.
 * @param error for closed().
 */
void tls_conn_fail(struct tls_conn *c, int alert, int error, const char *reason);

/** Over before the handshake, as its peer begins too many: reset the LLP and tell the user. */
void tls_conn_refuse(struct tls_conn *c);

/** The user ends it at once, as by a deadline of its own: only the log is told why. */
void tls_conn_give_up(struct tls_conn *c);

/** The LLP is over: tell the user, once. */
void tls_conn_closed(struct tls_conn *c, int error);

/** Give @p d, which has no keys, memory for those of @p suite. @return false: there is none. */
bool tls_conn_place_keys(
	struct tls_conn *c, struct tls_direction *d, const struct tls_suite *suite);

/** Begin the handshake. */
void tls_conn_begin(struct tls_conn *c);

/** Go on with it after bytes came, or there is room to send. */
void tls_conn_continue(struct tls_conn *c);

/** From now on nothing is protected. */
void tls_conn_go_clear(struct tls_conn *c);

/** Queue a small record of our own. @return false: there is no room; writable() follows. */
bool tls_conn_send(struct tls_conn *c, enum tls_content type, const uint8_t *bytes, uint32_t len);

/** Send what is owed: KeyUpdate, close_notify. @return false: some of it waits for room. */
bool tls_conn_send_owed(struct tls_conn *c);

extern const struct llp_ops tls_conn_ops;
extern const struct llp_user_ops tls_conn_below_ops;

#endif
