/* SPDX-License-Identifier: BSD-2-Clause */
/** @file host.h Shared by the files of the library. */
#ifndef DRIVE_HOST_H
#define DRIVE_HOST_H

#include "base/prng.h"
#include "drive/uiwarp_tcp.h"
#include "tcp/tcp.h"

struct sock;

/** A copy of a sent packet. The stack's own buffer is free again. */
struct sent_packet {
	struct sent_packet *next;
	uint64_t at;
	size_t len;
	uint8_t bytes[];
};

struct uiwarp_tcp {
	struct uiwarp_tcp_config cfg;
	struct log_sink log;
	struct rte_mempool *pool;
	struct timer_wheel wheel;
	struct ip_stack *ip;
	struct tcp_stack *tcp;
	struct llp_stack *llp;
	uint64_t now;
	struct prng random;
	struct sent_packet *sent, **sent_tail;
	struct sock **sock; /**< by number; NULL: free */
	unsigned n_socks;
};

/** End a round: run due timers, and deliver packets that the host sent to itself. */
void host_round(struct uiwarp_tcp *h);

/** Free all sockets without sending anything. */
void sockets_fini(struct uiwarp_tcp *h);

void host_fill_info(struct uiwarp_tcp_info *to, const struct tcp_info *from);

#endif
