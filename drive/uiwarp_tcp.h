/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file uiwarp_tcp.h
 * uiwarp's TCP (RFC 9293 and its family) as a library, libuiwarp-tcp.so, for tools that test TCPs:
 * raw IP packets in and out, a clock that the caller moves, sockets that never block.
 *
 * A *host* is one IP stack with one TCP above it. Nothing here reads a clock, sleeps, starts a
 * thread or touches the network: the same calls give the same packets, to the byte.
 *
 * - Packets begin with their IPv4 or IPv6 header and carry correct checksums; there is no link
 *   layer, so no ARP and no ND. Packets for other addresses are dropped.
 * - Time is in nanoseconds from any origin, and never goes back. Timers fire up to
 *   UIWARP_TCP_TICK_NS late, never early.
 * - Functions return 0 or a count, or a negative errno. Sockets are small numbers, for each host.
 * - Buffers belong to the caller and are copied before a call returns.
 * - A host is used by one thread at a time. The first uiwarp_tcp_create() of a process starts
 * DPDK's EAL with 512 MiB of ordinary memory (address space, used only as far as hosts need it),
 * unless the process runs one already; no root, no hugepages, no files.
 *
 * docs/tcp-testing.md shows its use.
 */
#ifndef UIWARP_TCP_H
#define UIWARP_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UIWARP_TCP_API __attribute__((visibility("default")))

/** The grain of the timers. */
#define UIWARP_TCP_TICK_NS 16384

/** Returned by uiwarp_tcp_next() when no timer runs. */
#define UIWARP_TCP_NEVER UINT64_MAX

struct uiwarp_tcp;

/** When SYNs are answered without state (RFC 4987). */
enum uiwarp_tcp_cookies {
	UIWARP_TCP_COOKIES_AUTO, /**< when a listener's backlog is full of handshakes */
	UIWARP_TCP_COOKIES_ALWAYS,
	UIWARP_TCP_COOKIES_OFF,
};

enum uiwarp_tcp_ecn {
	UIWARP_TCP_ECN_ACCEPT, /**< when the peer asks for it */
	UIWARP_TCP_ECN_OFF,
	UIWARP_TCP_ECN_ON, /**< ask for it, too */
};

/** The configuration. Zero-initialised has all defaults. */
struct uiwarp_tcp_config {
	uint64_t seed;    /**< of initial sequence numbers, ports, timestamps and hashes */
	uint16_t mtu;     /**< IP header included: 1280 - 9216; 0: 1500 */
	unsigned packets; /**< buffers that the host has in all; 0: 4096. 3/8 may wait to be
			       acknowledged, as many to be read. */
	/** "cubic", "newreno" or "bbr", for sockets that do not choose their own; NULL: "cubic". */
	const char *congestion_control;
	uint32_t send_buffer, receive_buffer; /**< bytes for each connection; 0: the default */
	/** What a peer may delay its ACK by (RFC 8985 section 7.2: TLP.max_ack_delay); 0: 50 */
	uint32_t max_ack_delay_ms;
	uint32_t time_wait_ms;    /**< 0: 60,000 */
	uint32_t syn_retries;     /**< 0: 6 */
	uint32_t user_timeout_ms; /**< 0: 100,000 */
	uint32_t keepalive_ms;    /**< idle time before probes; 0: none */
	/** For peers that keep their window closed; 0: for ever */
	uint32_t zero_window_timeout_ms;
	uint32_t max_half_open; /**< handshakes from outside; 0: 4096 */
	enum uiwarp_tcp_cookies syn_cookies;
	enum uiwarp_tcp_ecn ecn;
	bool no_timestamps, no_sack, no_window_scale; /**< neither offered nor accepted */
	/** Send what the window allows at once, as Linux does without its `fq`. bbr is always
	 * paced. */
	bool no_pacing;
	/** One line of log, without its newline. May be NULL. It comes from within a call for the
	 * host, and makes none itself. */
	void (*log)(void *ctx, const char *line);
	void *log_ctx;
};

/**
 * @return 0, -EINVAL (mtu, congestion_control, 2^30 packets or more), -ENOMEM, -ENODEV
 *         (DPDK does not start, or has no driver of mempools; the log says which).
 */
UIWARP_TCP_API int uiwarp_tcp_create(
	const struct uiwarp_tcp_config *cfg, uint64_t now, struct uiwarp_tcp **out);

/** Reset open connections and free the host. The packets of these resets cannot be taken. */
UIWARP_TCP_API void uiwarp_tcp_destroy(struct uiwarp_tcp *h);

/**
 * Give the host an address, "192.0.2.1/24" or "2001:db8::1/64". Only what is inside a prefix
 * can be reached, or by uiwarp_tcp_add_route(). At most 16.
 * @return 0, -EINVAL, -EEXIST, -ENOSPC.
 */
UIWARP_TCP_API int uiwarp_tcp_add_address(struct uiwarp_tcp *h, const char *cidr);

/** Let the host reach @p cidr; "0.0.0.0/0" and "::/0" are all addresses. Errors as above. */
UIWARP_TCP_API int uiwarp_tcp_add_route(struct uiwarp_tcp *h, const char *cidr);

/* ---- packets and time ----------------------------------------------------------------------- */

/**
 * The host receives one IP packet, now. What it answers at once can be taken when this returns.
 * @return 0; -EMSGSIZE: longer than a buffer; -ENOBUFS: no buffer is free, the packet is lost.
 */
UIWARP_TCP_API int uiwarp_tcp_input(struct uiwarp_tcp *h, const void *packet, size_t len);

/** One packet of a burst. */
struct uiwarp_tcp_packet {
	const void *bytes;
	size_t len;
};

/**
 * The host receives @p n packets in one poll of its port. It sends one ACK for each connection, not
 * for each segment.
 * @return as uiwarp_tcp_input(). Packets before the bad one are received.
 */
UIWARP_TCP_API int uiwarp_tcp_input_burst(
	struct uiwarp_tcp *h, const struct uiwarp_tcp_packet *p, unsigned n);

/**
 * Take the oldest packet that the host has sent.
 * @param sent_at if not NULL: when it was sent.
 * @return its length, of which at most @p size bytes are copied; 0: there is none.
 */
UIWARP_TCP_API size_t uiwarp_tcp_output(
	struct uiwarp_tcp *h, void *buf, size_t size, uint64_t *sent_at);

/** When the oldest packet that waits was sent; UIWARP_TCP_NEVER: none waits. */
UIWARP_TCP_API uint64_t uiwarp_tcp_output_time(const struct uiwarp_tcp *h);

UIWARP_TCP_API uint64_t uiwarp_tcp_now(const struct uiwarp_tcp *h);

/** When uiwarp_tcp_advance() should be called next, at the latest; or UIWARP_TCP_NEVER. */
UIWARP_TCP_API uint64_t uiwarp_tcp_next(const struct uiwarp_tcp *h);

/**
 * Let time pass until @p now. Timers fire at their own times and in order. UIWARP_TCP_NEVER: until
 * the last of them has fired; with keepalive there may be no last one.
 */
UIWARP_TCP_API void uiwarp_tcp_advance(struct uiwarp_tcp *h, uint64_t now);

/* ---- sockets -------------------------------------------------------------------------------- */

/** @param family AF_INET or AF_INET6. @return a socket, -EAFNOSUPPORT, -ENOMEM. */
UIWARP_TCP_API int uiwarp_tcp_socket(struct uiwarp_tcp *h, int family);

/** @return 0, -EBADF, -EINVAL, -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM. */
UIWARP_TCP_API int uiwarp_tcp_bind(
	struct uiwarp_tcp *h, int s, const struct sockaddr *a, socklen_t len);

/**
 * Called again, it changes the backlog alone.
 * @param backlog limit of connections in handshake, and of those that wait for accept().
 * @return 0, -EBADF, -EINVAL (not bound, or connected), -EADDRINUSE, -ENOMEM.
 */
UIWARP_TCP_API int uiwarp_tcp_listen(struct uiwarp_tcp *h, int s, int backlog);

/** @return a socket, -EAGAIN, -EBADF, -EINVAL (does not listen), -ENOMEM (it still waits). @p a and
 * @p len may be NULL.
 * The peer may have reset the connection already: they tell its address all the same. */
UIWARP_TCP_API int uiwarp_tcp_accept(
	struct uiwarp_tcp *h, int s, struct sockaddr *a, socklen_t *len);

/**
 * Begin to connect: the socket becomes writable, or UIWARP_TCP_ERROR tells why not.
 * @return -EINPROGRESS, never 0; -EALREADY, -EISCONN, -EBADF, -EINVAL, -EADDRINUSE,
 *         -EADDRNOTAVAIL, -ENETUNREACH (IPv4 with UIWARP_TCP_V6ONLY, too), -ENOMEM.
 */
UIWARP_TCP_API int uiwarp_tcp_connect(
	struct uiwarp_tcp *h, int s, const struct sockaddr *a, socklen_t len);

/**
 * Queue bytes, also while connecting (RFC 9293 section 3.10.2). There is no Nagle algorithm: the
 * bytes of a call are sent at once, if possible in segments of their own.
 * @param flags MSG_MORE: keep the bytes, to share segments with those of the next call. They go all
 * the same when the room is used up.
 * @return how many were taken; -EAGAIN (no room: wait for POLLOUT); -ENOTCONN, -EPIPE (after
 *         shutdown or the end), -EBADF, or once the reason why the connection ended.
 */
UIWARP_TCP_API ssize_t uiwarp_tcp_send(
	struct uiwarp_tcp *h, int s, const void *buf, size_t len, int flags);

/**
 * @param flags MSG_PEEK: leave them there.
 * @return bytes; 0: the peer closed its side; -EAGAIN, -ENOTCONN, -EBADF, or once the reason why
 *         the connection ended.
 */
UIWARP_TCP_API ssize_t uiwarp_tcp_recv(
	struct uiwarp_tcp *h, int s, void *buf, size_t len, int flags);

/**
 * @param how SHUT_RD, SHUT_WR, SHUT_RDWR. After SHUT_RD recv() does not wait: it finds what came,
 * also later, or the end. As Linux: the peer learns nothing of it.
 * @return 0, -EBADF, -EINVAL, -ENOTCONN.
 */
UIWARP_TCP_API int uiwarp_tcp_shutdown(struct uiwarp_tcp *h, int s, int how);

/**
 * Close the socket. Sent bytes are delivered, and both sides close in order. If bytes are unread
 * the peer gets a reset instead (RFC 9293 section 3.6.1). @return 0 or -EBADF.
 */
UIWARP_TCP_API int uiwarp_tcp_close(struct uiwarp_tcp *h, int s);

/** RFC 9293's ABORT: the peer gets a reset, and the socket is freed. @return 0 or -EBADF. */
UIWARP_TCP_API int uiwarp_tcp_abort(struct uiwarp_tcp *h, int s);

/** @return POLLIN, POLLOUT, POLLRDHUP, POLLHUP, POLLERR as poll() has them, or -EBADF. */
UIWARP_TCP_API int uiwarp_tcp_poll(struct uiwarp_tcp *h, int s);

/** @return 0, -EBADF, -ENOTCONN. */
UIWARP_TCP_API int uiwarp_tcp_getsockname(
	struct uiwarp_tcp *h, int s, struct sockaddr *a, socklen_t *len);
UIWARP_TCP_API int uiwarp_tcp_getpeername(
	struct uiwarp_tcp *h, int s, struct sockaddr *a, socklen_t *len);

/** A socket that accept() returns has those that the one that listens had at the end
 * of its handshake. */
enum uiwarp_tcp_option {
	UIWARP_TCP_ERROR,   /**< get: why the connection ended, a positive errno, once; or 0 */
	UIWARP_TCP_UNREAD,  /**< get: bytes that recv() would find */
	UIWARP_TCP_UNACKED, /**< get: bytes sent or queued and not acknowledged */
	/** DSCP << 2, of what is sent from now on, by one that listens its part of handshakes */
	UIWARP_TCP_TOS,
	/** Before bind() and connect(): an IPv6 socket has to do with IPv6 alone. Another binds the
	 * same port for IPv4. */
	UIWARP_TCP_V6ONLY,
	/** Most bytes of the socket that are unacknowledged, where the host's own limit is not
	 * less; 0: only that. */
	UIWARP_TCP_SEND_BUFFER,
};

/** @return 0, -EBADF, -ENOPROTOOPT (@p option cannot be set, or not now). */
UIWARP_TCP_API int uiwarp_tcp_set(
	struct uiwarp_tcp *h, int s, enum uiwarp_tcp_option option, int value);
UIWARP_TCP_API int uiwarp_tcp_get(
	struct uiwarp_tcp *h, int s, enum uiwarp_tcp_option option, int *value);

/**
 * Choose a socket's congestion control, as Linux's TCP_CONGESTION does. Before connect() it is for
 * the new connection. For a listener it is for later connections. A connection changes to it and
 * keeps its window. struct uiwarp_tcp_info has the one in use.
 * @param name as in struct uiwarp_tcp_config; NULL: "cubic".
 * @return 0, -EBADF, -EINVAL (no such name; nothing changes), -ENOTCONN (it has ended).
 */
UIWARP_TCP_API int uiwarp_tcp_set_congestion_control(struct uiwarp_tcp *h, int s, const char *name);

/** RFC 9293's STATUS, and more. Times in ns, sizes in bytes, rates in bytes per second. */
struct uiwarp_tcp_info {
	char state[16]; /**< "ESTABLISHED", ...; "CLOSED": no connection */
	uint64_t srtt, rttvar, rto;
	uint32_t cwnd, ssthresh, flight; /**< ssthresh 0x7fffffff: none yet */
	uint32_t snd_wnd, rcv_wnd;       /**< last advertised by the peer and by us */
	uint32_t emss;                   /**< text that one segment can carry now */
	uint32_t mtu;                    /**< of the path, if known */
	uint32_t lost, sacked;           /**< of the flight */
	uint64_t min_rtt;                /**< of the last minutes; 0: no sample yet */
	uint64_t reo_wnd;                /**< reordering window (RFC 8985) */
	uint64_t bytes_sent, bytes_acked, bytes_received;
	uint64_t segments_out, segments_in, retransmits, timeouts, fast_recoveries, out_of_order;
	uint64_t tlp_probes, dsacks;
	uint64_t spurious_recoveries, spurious_timeouts; /**< found spurious, and undone */
	uint32_t ce_received, ece_received;              /**< CE marks received; ECE received */
	bool reordering_seen, ecn;
	bool timestamps, sack, window_scale;
	/** The one in use; without a connection, the socket's choice. */
	char congestion_control[16];
	/** The latest; 0: not paced; no sample yet. */
	uint64_t pacing_rate, delivery_rate;
	uint32_t send_buffer, receive_buffer; /**< their limits now */
	char ca_state[12]; /**< "open", "disorder", "cwr", "recovery", "loss", as Linux has them */
};

/** @return 0 or -EBADF. */
UIWARP_TCP_API int uiwarp_tcp_info(struct uiwarp_tcp *h, int s, struct uiwarp_tcp_info *info);

/**
 * Connection number @p i of the host, those without a socket included (handshakes, TIME-WAIT).
 * The addresses and @p info may be NULL. @return 0, or -ENOENT past the last.
 */
UIWARP_TCP_API int uiwarp_tcp_connection(struct uiwarp_tcp *h, unsigned i,
	struct sockaddr_storage *local, struct sockaddr_storage *remote,
	struct uiwarp_tcp_info *info);

/** Packet buffers in use: 0 when nothing is connected or queued, unless buffers have leaked. */
UIWARP_TCP_API unsigned uiwarp_tcp_packets_in_use(const struct uiwarp_tcp *h);

#ifdef __cplusplus
}
#endif

#endif
