/* SPDX-License-Identifier: BSD-2-Clause */
/** @file inspect.h What is known of each connection, for people. Under the engine's lock. */
#ifndef SOCK_INSPECT_H
#define SOCK_INSPECT_H

#include "base/walk.h"
#include "sock/sock.h"

/** Times in ns, sizes in bytes, as the kernel tells them; 0: it does not. */
struct sock_walk_item {
	struct ip_endpoint local, remote;
	const char *state; /**< "ESTABLISHED", ... */
	const char *ca_state;
	char congestion_control[16];
	uint64_t srtt, rttvar, rto, min_rtt;
	uint64_t cwnd, ssthresh, snd_wnd;
	uint32_t emss, flight;
	uint64_t pacing_rate, delivery_rate; /**< bytes per second */
	uint64_t bytes_sent, bytes_acked, bytes_received;
	uint64_t segments_out, segments_in, retransmits, out_of_order, dsacks;
	uint32_t queued; /**< written, and not acknowledged by the peer */
	uint32_t unread; /**< read from the kernel, and not taken by the user */
};

/** Begin a walk over the connections. There is one at a time. */
void sock_walk_begin(struct sock_stack *s);

/** Its next step. Connections that are made after its beginning are not found. */
enum walk sock_walk(struct sock_stack *s, struct sock_walk_item *item);

#endif
