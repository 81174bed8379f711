/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file tls.h
 * TLS 1.3 (RFC 8446) as an LLP on an LLP: towards its user it is a stack of llp.h, and it is a user
 * of the stack below. What the user sends goes out as protected records of a standard TLS
 * connection, a record of the user in a record of TLS, and so in a segment of its own. What comes
 * in is shown to the user only after it was verified.
 *
 * OpenSSL does the handshake; records are done here (record.h). No timer runs for it: the user's
 * deadline for the start-up covers it. See docs/security.md.
 *
 * Differences from the LLP below: ooo() is never called. closed() also comes with
 *   -EKEYREJECTED: one side does not believe the other, or there are no common terms;
 *   -ECONNABORTED: the peer has begun too many handshakes;
 *   -EPROTO: the peer speaks no TLS where it is required, or breaks its rules;
 *   -EBADMSG: a record was forged or damaged;
 *   -ECONNRESET: also if the stream was cut off without the peer's close_notify.
 *
 * Threads: as the stack below, under its engine's lock.
 */
#ifndef TLS_TLS_H
#define TLS_TLS_H

#include "base/log.h"
#include "base/random.h"
#include "llp/llp.h"

#include <stdbool.h>
#include <stdint.h>

enum tls_mode {
	TLS_OFF,
	/**
	 * Connections that we begin are protected. Those that come to us may be, which their first
	 * byte tells.
	 */
	TLS_ON,
	TLS_REQUIRED, /**< both are */
};

enum tls_verify {
	TLS_VERIFY_PEER, /**< the peer needs a certificate of our CA and one of the peer_name */
	TLS_VERIFY_NONE, /**< anybody is believed: proof against listeners only */
};

#define TLS_MAX_PATH 1024
#define TLS_MAX_NAME 256

/** The terms. Empty strings: not given. */
struct tls_config {
	enum tls_mode mode;
	enum tls_verify verify;
	char certificate[TLS_MAX_PATH]; /**< PEM: ours, then its chain */
	char key[TLS_MAX_PATH];         /**< PEM: its private key */
	char ca[TLS_MAX_PATH];          /**< PEM: who is believed */
	/**
	 * Names, separated by commas, one of which the peer's certificate must have: DNS names,
	 * which may begin with "*." for any one label, or addresses. Empty: if we connect, or after
	 * llp_demand_addr(), the address; else any name.
	 */
	char peer_name[TLS_MAX_NAME];
	char psk[TLS_MAX_PATH];    /**< instead of certificates: lines of identity:key */
	char keylog[TLS_MAX_PATH]; /**< where secrets are written for Wireshark */
	/** That one address may begin with us in a second, and some seconds' at once; 0: any. */
	uint32_t handshakes_per_peer;
};

/** Why a stack cannot be, in one sentence. */
struct tls_error {
	char text[512];
};

struct tls_stack;
struct timer_wheel;

struct tls_stack_config {
	struct llp_stack *below;
	struct timer_wheel *wheel;    /**< outlives the stack; driven as the stack below is */
	const struct tls_config *tls; /**< copied */
	const struct log_sink *log;   /**< may be NULL */
	/** New keys after so many records of a direction; 0: as the cipher needs it. */
	uint64_t records_max;
	/** Octets of content, of all connections, kept for users that do not take it; 0: any. */
	size_t kept_max;
	/** In ns, of a clock that does not go back; only with tls_config.handshakes_per_peer. */
	uint64_t (*now)(const void *ctx);
	const void *now_ctx;
	struct random_source random; /**< only with one of these limits */
	/** The time of the calendar as time(2) has it, which certificates are judged by. */
	int64_t (*time)(void);
};

/** Was this program built with OpenSSL? */
bool tls_is_available(void);

/** @return the version of OpenSSL, as it calls itself; NULL: this was built without it. */
const char *tls_openssl_version(void);

/**
 * The files are read here, and again when they have changed, for connections that begin then.
 * @return 0; -EINVAL, -EACCES, -ENOMEM or of open(), with a sentence in @p e; -ENOTSUP: built
 *         without OpenSSL.
 */
int tls_stack_create(
	const struct tls_stack_config *cfg, struct tls_stack **out, struct tls_error *e);

/** Connections and listeners that are left end without upcalls. The stack below may be gone. */
void tls_stack_destroy(struct tls_stack *s);

/** What the user connects and listens with. */
struct llp_stack *tls_llp_stack(struct tls_stack *s);

/** Why the last connection that failed did so, in words. Empty: none has. */
const char *tls_stack_reason(const struct tls_stack *s);

/** What a certificate says of itself. */
struct tls_certificate {
	int64_t seconds_until; /**< it is valid; not positive: it is by now */
	int64_t seconds_left;  /**< negative: it has expired */
	bool has_addr;         /**< it names the address that was asked for */
};

/**
 * Read the first certificate of a file in PEM.
 * @param addr NULL: none is asked for.
 * @return 0, or a negative errno with a sentence in @p e; -ENOTSUP: built without OpenSSL.
 */
int tls_certificate_read(const char *path, const struct ip_addr *addr, struct tls_certificate *out,
	struct tls_error *e);

/** Counters since the start. */
struct tls_stats {
	uint64_t handshakes;         /**< that succeeded */
	uint64_t resumed;            /**< of them: those that resumed a session */
	uint64_t handshakes_failed;  /**< and for another reason than that the LLP was lost */
	uint64_t handshakes_refused; /**< as their peer began too many (handshakes_per_peer) */
	uint64_t rationed;           /**< times that content stayed in the window (kept_max) */
	uint64_t clear;              /**< connections that came without TLS, and may */
	uint64_t records_bad;        /**< forged, damaged or against the rules */
	uint64_t truncated;          /**< connections that ended without close_notify */
	uint64_t updates_sent, updates_received; /**< of keys */
	uint64_t reloads;                        /**< of the files */
};

const struct tls_stats *tls_stack_stats(const struct tls_stack *s);

#endif
