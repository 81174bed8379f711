/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file script.h
 * Scripts of packets: what the peer sends, what the host under test must send and when, what its
 * user sees. docs/tcp-testing.md tells how to write one; segment.h has the notation of segments.
 *
 * A script is a function that is run once for each combination of what it leaves open: IP family,
 * options that the peer offers, initial sequence numbers about to wrap. Time is virtual and moves
 * only where a script says so. Every packet that the host sends must be expected.
 */
#ifndef TESTS_TCP_SCRIPT_H
#define TESTS_TCP_SCRIPT_H

#include "drive/uiwarp_tcp.h"
#include "segment.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define US  UINT64_C(1000)
#define MS  UINT64_C(1000000)
#define SEC UINT64_C(1000000000)

#define PORT  5000
#define RPORT 40000

/** What the peer is, and what the script may leave open. */
enum {
	V6 = 1,    /**< IPv6, else IPv4 */
	TS = 2,    /**< both use timestamps */
	SACK = 4,  /**< both use SACK */
	WS = 8,    /**< both scale windows; the peer by 7 */
	WRAP = 16, /**< both initial sequence numbers are about to wrap */
};

#define ALL_WAYS (V6 | TS | SACK | WS | WRAP)

struct script;

/** One line of a table that a script works through: each is a case of its own. */
struct script_row {
	const char *name;
	const char *field[4];
};

struct script_test {
	const char *name;
	const char *rfc; /**< what it checks: "RFC 9293 section 3.8.4" */
	void (*run)(struct script *s);
	unsigned open; /**< run with each of these on and off */
	unsigned on;   /**< on in every run */
	/** Of the host, where the default does not do; NULL. */
	const struct uiwarp_tcp_config *config;
	const struct script_row *rows; /**< the last has no name; NULL: no table */
};

/** Entries of the table: a script; one with a configured host; one that works through rows. */
#define SCRIPT(fn, rfc, open, on)                  \
	{                                          \
#fn, rfc, fn, open, on, NULL, NULL \
	}
#define SCRIPT_WITH(fn, rfc, open, on, config)       \
	{                                            \
#fn, rfc, fn, open, on, config, NULL \
	}
#define SCRIPT_ROWS(name, rfc, fn, open, on, rows)  \
	{                                           \
		name, rfc, fn, open, on, NULL, rows \
	}
#define SCRIPTS_END                                \
	{                                          \
		NULL, NULL, NULL, 0, 0, NULL, NULL \
	}

/** The file's tests; the last one has no name. */
extern const struct script_test script_tests[];

struct script {
	const struct script_test *test;
	unsigned way; /**< which of V6, TS, ... are on */
	const struct script_row *row;
	struct uiwarp_tcp *h;
	int fd, listener; /**< sockets; -1 */
	struct seg_path to_peer;
	struct seg_base base;        /**< of what the host sends: its ISN, then the peer's */
	bool base_known;             /**< the host's ISN has been seen */
	bool peer_syn_known;         /**< the peer has sent a SYN: its options count */
	uint16_t win;                /**< the peer's, in segments that do not say */
	uint32_t peer_syn, host_syn; /**< HAS_*: the options of both SYNs */
	uint32_t ts_clock;           /**< what the peer's timestamps count from, in ms */
	uint32_t ts_echo;            /**< the host's last one */
	/** Time that brings the host's ISN near its end, passive and active. */
	uint64_t to_wrap[2];
	uint32_t read, written; /**< relative sequence numbers */
	uint8_t rcv_ws;         /**< the host's, as its SYN said */
	bool edge_known;
	uint32_t edge;   /**< the right edge of the host's window, as told */
	struct seg last; /**< what host() took, its text not included */
	char trace[16][200];
	unsigned n_trace;
	const char *file;
	int line;
};

#define HERE(s) ((s)->file = __FILE__, (s)->line = __LINE__, (s))

/* ---- packets -------------------------------------------------------------------------------- */

/** The peer sends a segment: a format and its arguments. */
#define peer(s, ...) script_peer(HERE(s), __VA_ARGS__)
/** The host has sent this, just now. @return what it was. */
#define host(s, ...) script_host(HERE(s), 0, __VA_ARGS__)
/** The host is silent for @p ns, and then sends this. */
#define host_after(s, ns, ...) script_host(HERE(s), ns, __VA_ARGS__)
/** The host sends this within @p ns, and nothing before. */
#define host_within(s, ns, ...) script_host_within(HERE(s), ns, __VA_ARGS__)
/** The host has sent nothing that was not expected. */
#define nothing(s) script_nothing(HERE(s))
/** Time passes, and the host sends nothing. */
#define silence(s, ns) script_silence(HERE(s), ns)
/** The next segment that the host has sent, whatever it is; NULL: none. */
#define next(s) script_next(HERE(s))
/** Time passes; what the host sends is of no interest. */
#define pass(s, ns) script_pass(HERE(s), ns)

void script_peer(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
const struct seg *script_host(struct script *s, uint64_t after, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const struct seg *script_host_within(struct script *s, uint64_t ns, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void script_nothing(struct script *s);
const struct seg *script_next(struct script *s);
void script_silence(struct script *s, uint64_t ns);
void script_pass(struct script *s, uint64_t ns);

/**
 * An ICMP error, or ICMPv6's like, from the peer or a router about a segment of the host's that
 * began at the relative number @p seq.
 */
enum icmp_kind { ICMP_PORT, ICMP_HOST, ICMP_NET, ICMP_PROTOCOL, ICMP_TOO_BIG, ICMP_TIME };
#define peer_icmp(s, kind, seq, mtu) script_icmp(HERE(s), kind, seq, mtu)
void script_icmp(struct script *s, enum icmp_kind kind, uint32_t seq, uint16_t mtu);

/* ---- the host's user ------------------------------------------------------------------------ */

/** LISTEN at PORT. */
void listens(struct script *s);
/** Take the connection that the handshake made. */
#define accepts(s) script_accepts(HERE(s))
void script_accepts(struct script *s);
/** OPEN towards the peer's RPORT; the SYN is to be expected. */
void connects(struct script *s);

/** A whole passive open: s->fd is ESTABLISHED, all numbers at 1, MSS 1460. */
#define accepted(s) script_accepted(HERE(s))
void script_accepted(struct script *s);
/** The same by an active open. */
#define connected(s) script_connected(HERE(s))
void script_connected(struct script *s);
/** The options of this run, for a SYN or SYN,ACK of the peer: "mss 1460,sackOK,ws 7". */
const char *offer(const struct script *s);

/**
 * A passive open of a connection with this round trip time, segments of 1000 bytes of text, and a
 * peer that keeps to the run's options.
 */
#define accepted_far(s, rtt) script_accepted_far(HERE(s), rtt)
void script_accepted_far(struct script *s, uint64_t rtt);
/** The host sends segments of 1000 bytes from @p from up to @p to, within @p ns, as it paces. */
#define host_sends(s, from, to, ns) script_host_sends(HERE(s), from, to, ns)
void script_host_sends(struct script *s, uint32_t from, uint32_t to, uint64_t ns);

/** SEND @p n bytes, all of which there must be room for. */
#define writes(s, n) script_writes(HERE(s), n)
void script_writes(struct script *s, uint32_t n);
/** RECEIVE gives @p n bytes, the right ones. */
#define reads(s, n) script_reads(HERE(s), n)
void script_reads(struct script *s, uint32_t n);
/** The same, and they are those of a segment marked "other". */
#define reads_other(s, n) script_reads_other(HERE(s), n)
void script_reads_other(struct script *s, uint32_t n);
/** RECEIVE answers @p r: -EAGAIN, 0 at the end, -ECONNRESET, ... */
#define receive_is(s, r) script_receive_is(HERE(s), r)
void script_receive_is(struct script *s, int r);

/** CLOSE, of our side only: receiving goes on. */
#define shuts(s) script_shuts(HERE(s))
void script_shuts(struct script *s);
/** Let go of the socket. */
#define closes(s) script_closes(HERE(s))
void script_closes(struct script *s);
#define aborts(s) script_aborts(HERE(s))
void script_aborts(struct script *s);

/** STATUS: the state of the connection between PORT and RPORT, or whatever ports it has. */
#define state_is(s, name) script_state_is(HERE(s), name)
void script_state_is(struct script *s, const char *name);
const char *script_state(struct script *s);
struct uiwarp_tcp_info script_info(struct script *s);

/** Something is not as it must be. */
void script_fail(struct script *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)))
__attribute__((noreturn));
#define check(s, what)                                             \
	do {                                                       \
		if (!(what))                                       \
			script_fail(HERE(s), "not so: %s", #what); \
	} while (0)

#endif
