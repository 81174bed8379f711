/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets and time. */
#include "drive/packetdrill_priv.h"

#include <netinet/in.h>

#define PATIENCE (1000 * PACKETDRILL_SEC) /* how long a packet is waited for */

int packetdrill_netdev_send(void *u, const void *buf, size_t len)
{
	struct packetdrill *d = packetdrill_begin(u);
	int r;

	r = uiwarp_tcp_input(d->h, buf, len);
	packetdrill_notify(d);
	return packetdrill_end(d, r);
}

/**
 * Which segment has PSH is for no script to say. The checksum follows the change (RFC 1624): the
 * word with the flags becomes less by PSH, its complement more.
 */
static void packetdrill_clear_push(uint8_t *p)
{
	enum { PSH = 8 };
	size_t ip = p[0] >> 4 == 4 ? (p[0] & 15u) * 4 : 40;
	uint8_t *sum_at = p + ip + 16;
	uint32_t sum;

	if (p[p[0] >> 4 == 4 ? 9 : 6] != IPPROTO_TCP || !(p[ip + 13] & PSH))
		return;
	p[ip + 13] &= (uint8_t)~PSH;
	sum = ((uint32_t)sum_at[0] << 8 | sum_at[1]) + PSH;
	sum = (sum & 0xffff) + (sum >> 16);
	sum_at[0] = (uint8_t)(sum >> 8);
	sum_at[1] = (uint8_t)sum;
}

int packetdrill_netdev_receive(void *u, void *buf, size_t *len, long long *time_usecs)
{
	struct packetdrill *d = packetdrill_begin(u);
	uint64_t give_up, at;
	size_t n;

	give_up = uiwarp_tcp_now(d->h) + PATIENCE;
	while (uiwarp_tcp_output_time(d->h) == UIWARP_TCP_NEVER && uiwarp_tcp_now(d->h) < give_up) {
		uint64_t next = uiwarp_tcp_next(d->h);

		uiwarp_tcp_advance(d->h, next < give_up ? next : give_up);
		packetdrill_notify(d);
	}
	n = uiwarp_tcp_output(d->h, buf, *len, &at);
	if (n && d->no_push)
		packetdrill_clear_push(buf);
	*len = n;
	*time_usecs = (long long)(at / PACKETDRILL_US);
	return packetdrill_end(d, 0);
}

int packetdrill_usleep(void *u, useconds_t us)
{
	struct packetdrill *d = packetdrill_begin(u);

	uiwarp_tcp_advance(d->h, uiwarp_tcp_now(d->h) + us * PACKETDRILL_US);
	packetdrill_notify(d);
	return packetdrill_end(d, 0);
}

/** packetdrill waits the last microseconds by looking at the clock: each look takes one. */
int packetdrill_gettimeofday(void *u, struct timeval *tv, struct timezone *tz)
{
	struct packetdrill *d = packetdrill_begin(u);

	uiwarp_tcp_advance(d->h, uiwarp_tcp_now(d->h) + PACKETDRILL_US);
	tv->tv_sec = (time_t)(uiwarp_tcp_now(d->h) / PACKETDRILL_SEC);
	tv->tv_usec = (suseconds_t)(uiwarp_tcp_now(d->h) % PACKETDRILL_SEC / PACKETDRILL_US);
	return packetdrill_end(d, 0);
}
