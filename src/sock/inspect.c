/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/inspect.h"

#include "sock/conn.h"
#include "sock/option.h"

/* Not glibc's netinet/tcp.h: its structure ends before most of this. */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define US UINT64_C(1000)

/** The kernel's numbers of states, from 1. */
static const char *sock_inspect_state(unsigned state)
{
	static const char *const name[] = {"?", "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED",
		"FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK",
		"LISTEN", "CLOSING"};

	return name[state < sizeof name / sizeof name[0] ? state : 0];
}

static const char *sock_inspect_ca_state(unsigned state)
{
	static const char *const name[] = {"open", "disorder", "cwr", "recovery", "loss"};

	return state < sizeof name / sizeof name[0] ? name[state] : "?";
}

static void sock_inspect_kernel(int fd, struct sock_walk_item *item)
{
	struct tcp_info k = {0};
	socklen_t len = sizeof k;

	/* Older kernels fill in less of it. */
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &k, &len))
		return;
	item->state = sock_inspect_state(k.tcpi_state);
	item->ca_state = sock_inspect_ca_state(k.tcpi_ca_state);
	item->srtt = k.tcpi_rtt * US;
	item->rttvar = k.tcpi_rttvar * US;
	item->rto = k.tcpi_rto * US;
	/* All ones until there was a sample. */
	item->min_rtt = k.tcpi_min_rtt == UINT32_MAX ? 0 : k.tcpi_min_rtt * US;
	item->cwnd = (uint64_t)k.tcpi_snd_cwnd * k.tcpi_snd_mss;
	/* The kernel's "none yet", in segments; ours is all ones. */
	item->ssthresh = k.tcpi_snd_ssthresh >= INT32_MAX
				 ? UINT32_MAX
				 : (uint64_t)k.tcpi_snd_ssthresh * k.tcpi_snd_mss;
	item->snd_wnd = k.tcpi_snd_wnd;
	item->flight = k.tcpi_unacked * k.tcpi_snd_mss;
	/* All ones: not paced. */
	item->pacing_rate = k.tcpi_pacing_rate == UINT64_MAX ? 0 : k.tcpi_pacing_rate;
	item->delivery_rate = k.tcpi_delivery_rate;
	item->bytes_sent = k.tcpi_bytes_sent;
	item->bytes_acked = k.tcpi_bytes_acked;
	item->bytes_received = k.tcpi_bytes_received;
	item->segments_out = k.tcpi_segs_out;
	item->segments_in = k.tcpi_segs_in;
	item->retransmits = k.tcpi_total_retrans;
	item->out_of_order = k.tcpi_rcv_ooopack;
	item->dsacks = k.tcpi_dsack_dups;
	len = sizeof item->congestion_control - 1;
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, item->congestion_control, &len))
		item->congestion_control[0] = '\0';
}

void sock_walk_begin(struct sock_stack *s)
{
	s->walk = LIST_FIRST(&s->conns);
}

enum walk sock_walk(struct sock_stack *s, struct sock_walk_item *item)
{
	struct sock_conn *c = s->walk;

	if (!c)
		return WALK_END;
	s->walk = LIST_NEXT(c, link);
	*item = (struct sock_walk_item){
		.local = c->local,
		.remote = c->remote,
		.state = "?",
		.ca_state = "?",
		.emss = c->emss,
		.queued = sock_queued(c) + sock_option_unacked(c->source.fd),
		.unread = c->rx ? c->rx->len : 0,
	};
	sock_inspect_kernel(c->source.fd, item);
	return WALK_ITEM;
}
