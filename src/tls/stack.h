/* SPDX-License-Identifier: BSD-2-Clause */
/** @file stack.h Private: the stack, which all of its connections share. */
#ifndef TLS_STACK_H
#define TLS_STACK_H

#include "base/gcm.h"
#include "base/timer.h"
#include "tls/credentials.h"
#include "tls/kept.h"
#include "tls/rate.h"
#include "tls/secret_pool.h"
#include "tls/tls.h"

#include <sys/queue.h>

struct tls_conn;
struct tls_listener;

/**
 * Content of many records is opened before it is shown; and of more, up to a whole FPDU of any
 * length, where there is no memory to keep what the user does not take. One record more must fit.
 */
#define TLS_SCRATCH_FULL 16384
#define TLS_SCRATCH_ALL  (112 * 1024)
#define TLS_SCRATCH_LEN  (TLS_SCRATCH_ALL + TLS_CIPHERTEXT_MAX)

/** Words of a reason, at most. */
#define TLS_REASON_MAX 320

struct tls_starved {
	TAILQ_HEAD(, tls_conn) list;
	unsigned count;
};

struct tls_stack {
	struct llp_stack llp; /**< towards users */
	struct llp_stack *below;
	struct tls_config config;
	const struct log_sink *log;
	uint64_t records_max;
	int64_t (*time)(void);
	uint64_t (*now)(const void *ctx);
	const void *now_ctx;
	struct tls_credentials_source credentials;
	bool has_gcm;
	struct gcm gcm;
	struct tls_kept_share kept;
	struct tls_rate rate;            /**< of handshakes that peers begin */
	struct tls_secret_pool gcm_keys; /**< struct gcm_key */
	struct tls_stats stats;
	char reason[TLS_REASON_MAX]; /**< why the last connection that failed did so */
	LIST_HEAD(, tls_conn) conns;
	LIST_HEAD(, tls_listener) listeners;
	/** Connections that had no scratch, which are tried again with whatever comes next. */
	struct tls_starved nested;
	/** Those that wait for room to keep content in, and nothing else helps: one each time. */
	struct tls_starved starved;
	bool starved_tried; /**< inside of that */
	struct timer_wheel *wheel;
	struct timer starved_timer; /**< runs while there are some of either */
	bool scratch_used;
	uint8_t scratch[TLS_SCRATCH_LEN];
};

extern const struct llp_stack_ops tls_stack_ops;

/** tls_stack_create() and tls_stack_destroy(). */
int tls_stack_new(const struct tls_stack_config *cfg, struct tls_stack **out, struct tls_error *e);
void tls_stack_free(struct tls_stack *s);

#endif
