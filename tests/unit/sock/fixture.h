/* SPDX-License-Identifier: BSD-2-Clause */
/** @file fixture.h A stack on the host's loopback interface, and a plain socket as its peer. */
#ifndef TESTS_UNIT_SOCK_FIXTURE_H
#define TESTS_UNIT_SOCK_FIXTURE_H

#include "base/log.h"
#include "sock/sock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>

/** What a connection's upcalls have told. */
struct seen {
	struct llp *llp;
	unsigned connected, eofs, eof_waits, closes, writables, shows, ackeds;
	int error;
	uint64_t acked; /**< of llp_acked(), when it closed */
	uint8_t *bytes; /**< all that was taken */
	size_t len;
	size_t take;  /**< at most so much of each list; SIZE_MAX: all */
	size_t need;  /**< what is asked for when less was taken */
	size_t frame; /**< only whole multiples are taken; 0: any */
	size_t last_total;
	void (*on_readable)(struct seen *s); /**< called before anything is taken */
	bool gone;                           /**< on_readable() has ended the connection */
};

struct fixture {
	struct timer_wheel wheel;
	struct sock_stack *s;
	struct llp_stack *llp;
	struct seen seen;
	struct llp_listener *listener;
	int accept_result; /**< of the accept function */
	unsigned accepts;
	int listen_fd, peer_fd; /**< the peer's */
	char log[1024];         /**< the last line */
	unsigned lines;
};

extern const struct llp_user_ops seen_ops;

/** @p cfg may be NULL; wheel and log are filled in. */
void fixture_open(struct fixture *f, const struct sock_stack_config *cfg);
void fixture_close(struct fixture *f);

/** One round. */
void fixture_round(struct fixture *f);

/** Rounds until @p done(f) is true; fails when it is not within half a minute. */
void fixture_until(struct fixture *f, bool (*done)(struct fixture *f));

/** A loopback endpoint. */
struct ip_endpoint fixture_at(const char *address, uint16_t port);

/** A plain socket that listens at @p address. @return its port. */
uint16_t fixture_peer_listens(struct fixture *f, const char *address);

/** Connect to the plain socket and accept there. */
void fixture_connect(struct fixture *f, const char *address);

/** The plain socket resets its connection, and is closed. */
void fixture_peer_resets(struct fixture *f);

/** Does the kernel tell all of tcp_info that is read? qemu-user tells four bytes. */
bool fixture_has_tcp_info(void);

/** Listen with the stack, and connect the plain socket to it. */
void fixture_accept(struct fixture *f, const char *address);

/** Begin to connect to @p remote. @return as llp_connect(). */
int fixture_begin(struct fixture *f, struct ip_endpoint remote);

/** A plain socket connected to @p to, or -errno. */
int fixture_plain_connect(const struct ip_endpoint *to);

/** Queue @p len bytes of a pattern in records of at most @p record; pushes. @return bytes queued.
 */
size_t fixture_queue(struct fixture *f, size_t len, uint32_t record, uint8_t *next);

/**
 * A child with a copy of each descriptor, as between vfork() and exec(), which no handler of fork()
 * is told of. @return to be ended by fixture_end_child().
 */
pid_t fixture_child(void);
void fixture_end_child(pid_t child);

/** Epoll has nothing to tell. */
void fixture_assert_untold(struct fixture *f);

/** True after closed(). */
bool fixture_is_closed(struct fixture *f);

#endif
