/* SPDX-License-Identifier: BSD-2-Clause */
/** @file host.h What the parts of the library share. */
#ifndef DRIVE_HOST_H
#define DRIVE_HOST_H

#include "base/prng.h"
#include "drive/uiwarp_tcp.h"
#include "tcp/tcp.h"

struct sock;

/** A packet on its way out, copied: the stack's own buffer is free again. */
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

/** The end of a round: what is due goes out, what we sent to ourselves comes in. */
void host_round(struct uiwarp_tcp *h);

/** Close all sockets, without a word to anybody. */
void sockets_fini(struct uiwarp_tcp *h);

void host_fill_info(struct uiwarp_tcp_info *to, const struct tcp_info *from);

#endif
