/* SPDX-License-Identifier: BSD-2-Clause */
/** @file host.h One TCP stack over the IP double, in virtual time, with an application on top. */
#ifndef TESTS_UNIT_TCP_HOST_H
#define TESTS_UNIT_TCP_HOST_H

#include "support/eal.h"
#include "support/ip_double.h"
#include "tcp/conn.h"
#include "tcp/stack.h"
#include "tcp/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define LOCAL  "10.0.0.1"
#define REMOTE "10.0.0.2"
#define PORT   5000
#define RPORT  40000
#define MS     UINT64_C(1000000)

/** A user of connections that records what it is told. */
struct app {
	struct llp *llp;
	unsigned connected, accepted, eof, eof_waits, closed, writable, acked, acked_before, shows;
	int error;
	uint8_t *got; /**< every byte taken */
	size_t n_got, cap_got;
	size_t shown; /**< total of the last readable() */
	unsigned pieces;
	size_t take; /**< most to take in one call */
	size_t need; /**< to ask for */
	bool reply;  /**< send what comes back, from inside the upcall */
	bool shutdown_on_eof, release_on_eof, abort_in_readable, release_in_readable;
	bool abort_on_eof_waits;
	int refuse; /**< what accept answers */
};

/** What its pool has. */
#define HOST_PACKETS 4095

struct host {
	struct ip_stack ip;
	struct timer_wheel wheel;
	struct rte_mempool *pool;
	struct tcp_stack *tcp;
	struct llp_stack *llp;
	struct llp_listener *listener;
	uint64_t now;
	struct app app;
	struct rte_mbuf *taken[HOST_PACKETS]; /**< by host_take_packets() */
	unsigned n_taken;
};

/** The last segment that host_expect() took: header and text. */
struct heard {
	struct tcp_segment h;
	uint8_t text[9000];
	uint32_t len;
};

extern const struct llp_user_ops app_ops;

/** Start a host; @p tweak may be NULL. Fields of it that are not zero count. */
void host_init(struct host *h, const char *addr, const struct tcp_stack_config *tweak);

/** Stop it, and see that every packet is back in the pool. */
void host_end(struct host *h);

/** Let time pass, timers run and rounds end. */
void host_advance(struct host *h, uint64_t ns);

/** The same. @return how many segments were sent; they are forgotten, with those before. */
unsigned host_sent_within(struct host *h, uint64_t ns);

/** The end of a round. */
void host_round(struct host *h);

/** Of the pool's packets @p left are left, until they are given back. */
void host_take_packets(struct host *h, unsigned left);
void host_give_packets(struct host *h);

/** As llp_accept_fn: @p user is a struct app, which takes the connection. */
int host_accept(void *user, struct llp *l);
void host_listen(struct host *h, unsigned backlog);
struct llp *host_connect(struct host *h);

struct ip_addr addr(const char *text);

/** Hand in one segment from REMOTE:RPORT to LOCAL:@p lport; no round ends. */
void host_hear(struct host *h, uint16_t lport, const struct tcp_segment *seg, const void *text);

/** A SYN without options from REMOTE:@p rport to LOCAL:PORT, with sequence number 1000. */
void host_hear_syn(struct host *h, uint16_t rport);

/** Take the next segment that was sent; fails if there is none. */
void host_expect(struct host *h, struct heard *out);

/** The same, of @p len bytes of text at @p seq. @return its flags. */
uint8_t host_expect_text(struct host *h, uint32_t seq, uint32_t len);

/** Fails if there is a segment. */
void host_expect_none(struct host *h);

/**
 * A scripted peer of one connection: sequence numbers as the peer sees them.
 */
struct peer {
	struct host *h;
	uint16_t lport;
	uint32_t seq, ack; /**< its SND.NXT and RCV.NXT */
	uint16_t wnd;
	bool ts;
	uint32_t tsval, tsecr;
};

/** Accept from a scripted peer; @p options as TCP_HAS_*; wscale 7 where scaled, MSS 1460. */
void peer_accepted(struct peer *p, struct host *h, unsigned options);

/** A host, and a connection that it has accepted: host_init() and peer_accepted(). */
struct tcp_conn *host_accepted(
	struct host *h, struct peer *p, unsigned options, const struct tcp_stack_config *tweak);

/** Connect to a scripted peer, the same way. */
void peer_connected(struct peer *p, struct host *h, unsigned options);

/** The peer sends; the round ends. @p flags besides ACK. seq moves on. */
void peer_send(struct peer *p, uint8_t flags, const void *text, uint32_t len);

/** A segment with everything given; seq stays. The round ends. */
void peer_send_at(
	struct peer *p, uint8_t flags, uint32_t seq, uint32_t ack, const void *text, uint32_t len);

/** The same with SACK blocks. */
void peer_sack(struct peer *p, uint32_t ack, const struct tcp_range *r, unsigned n);

/** See that one more record can be pushed. */
void sendq_room(struct tcp_sendq *q);

/** Put a record of @p len bytes into the connection, or more into the last one; no push. */
void app_queue(struct app *a, uint32_t len, bool join);

/** Queue records of @p len bytes until there is no room. @return how many. */
unsigned app_fill(struct app *a, uint32_t len);

/** Put @p len bytes into the connection as one record and push. */
void app_send(struct app *a, const void *text, uint32_t len);

/** A record of @p len bytes that count up from @p first. */
void app_send_pattern(struct app *a, uint32_t first, uint32_t len);

#endif
