/* SPDX-License-Identifier: BSD-2-Clause */
/** @file tls_user.h A user of a TLS stack that records what it is told. */
#ifndef TESTS_UNIT_TLS_TLS_USER_H
#define TESTS_UNIT_TLS_TLS_USER_H

#include "base/timer.h"
#include "support/llp_mem.h"
#include "support/tls_files.h"
#include "tls/tls.h"

#define TLS_USER_ROOM 400000

struct tls_user {
	struct llp *llp; /**< NULL: not there yet, or gone */
	struct tls_stack *stack;
	struct timer_wheel wheel; /**< the stack's */
	struct llp_listener *listener;
	bool connected, eof, closed, protected_;
	int error;
	unsigned writable, acked, shown, eof_waits;
	size_t chunk; /**< take only multiples of it, and ask for so many; 0: all */
	bool pause;   /**< take nothing */
	bool abort_in_readable;
	bool demand_addr; /**< of who connects to it */
	uint8_t rx[TLS_USER_ROOM];
	size_t rx_len;
};

/** The clock of all stacks, in ns. */
extern uint64_t tls_user_now;

/** @p ns pass, and the timers of its stack run. */
void tls_user_pass(struct tls_user *u, uint64_t ns);

/** A stack over host @p host of @p m. */
void tls_user_open(struct tls_user *u, struct llp_mem *m, unsigned host, const struct tls_config *c,
	uint64_t records_max);

/** Destroy its stack and all that is left. */
void tls_user_close(struct tls_user *u);

void tls_user_connect(struct tls_user *u, struct llp_mem *m, unsigned to, uint16_t port);
void tls_user_listen(struct tls_user *u, struct llp_mem *m, unsigned host, uint16_t port);

/** Send a record. @return false: there was no room. */
bool tls_user_send(struct tls_user *u, const void *bytes, uint32_t len);

/** Byte @p i of the test's stream. */
uint8_t tls_user_byte(size_t i);

/** Send @p len bytes of the stream from @p at on, in records of at most @p record. */
void tls_user_stream(struct tls_user *u, size_t at, size_t len, uint32_t record);

/** Fails the test unless exactly the first @p len bytes of the stream have come. */
void tls_user_expect(const struct tls_user *u, size_t len);

#endif
