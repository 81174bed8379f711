/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of sockets, as Linux's. */
#include "drive/packetdrill_priv.h"

#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t packetdrill_segments(const struct uiwarp_tcp_info *i, uint32_t bytes)
{
	return i->emss && bytes < UINT32_MAX - i->emss ? (bytes + i->emss - 1) / i->emss : bytes;
}

static int packetdrill_get_tcp_info(struct packetdrill *d, int fd, void *out, socklen_t *len)
{
	const struct packetdrill_fd *f = &d->fd[fd];
	static const char *const state[] = {"", "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED",
		"FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK",
		"LISTEN", "CLOSING"};
	/* In the order of Linux's enum tcp_ca_state. */
	static const char *const ca_state[] = {"open", "disorder", "cwr", "recovery", "loss"};
	struct uiwarp_tcp_info i;
	struct tcp_info t = {0};
	int r = uiwarp_tcp_info(d->h, f->s - 1, &i);

	if (r)
		return r;
	for (uint8_t k = 1; k < sizeof state / sizeof *state; k++)
		if (strcmp(state[k], i.state) == 0)
			t.tcpi_state = k;
	t.tcpi_options =
		(uint8_t)((i.timestamps ? 1 : 0) | (i.sack ? 2 : 0) | (i.window_scale ? 4 : 0));
	t.tcpi_rto = (uint32_t)(i.rto / PACKETDRILL_US);
	t.tcpi_rtt = (uint32_t)(i.srtt / PACKETDRILL_US);
	t.tcpi_rttvar = (uint32_t)(i.rttvar / PACKETDRILL_US);
	t.tcpi_min_rtt = (uint32_t)(i.min_rtt / PACKETDRILL_US);
	t.tcpi_snd_mss = i.emss;
	t.tcpi_snd_cwnd = i.emss ? i.cwnd / i.emss : i.cwnd; /* what it lets out */
	t.tcpi_snd_ssthresh =
		i.ssthresh < INT32_MAX ? packetdrill_segments(&i, i.ssthresh) : INT32_MAX;
	for (uint8_t k = 0; k < sizeof ca_state / sizeof *ca_state; k++)
		if (strcmp(ca_state[k], i.ca_state) == 0)
			t.tcpi_ca_state = k;
	t.tcpi_unacked = packetdrill_segments(&i, i.flight);
	t.tcpi_lost = packetdrill_segments(&i, i.lost);
	t.tcpi_sacked = packetdrill_segments(&i, i.sacked);
	t.tcpi_last_data_recv =
		(uint32_t)((uiwarp_tcp_now(d->h) - f->received_at) / (1000 * PACKETDRILL_US));
	t.tcpi_busy_time = f->busy_ns / PACKETDRILL_US;
	t.tcpi_rwnd_limited = f->window_limited_ns / PACKETDRILL_US;
	t.tcpi_total_retrans = (uint32_t)i.retransmits;
	memset(out, 0, *len);
	memcpy(out, &t, *len < sizeof t ? *len : sizeof t);
	return 0;
}

static int packetdrill_get_int(void *value, socklen_t *len, int n)
{
	if (*len < sizeof n)
		return -EINVAL;
	memcpy(value, &n, sizeof n);
	*len = sizeof n;
	return 0;
}

static int packetdrill_get_tcp(struct packetdrill *d, int fd, int name, void *value, socklen_t *len)
{
	struct uiwarp_tcp_info i;
	int r;

	if (name == TCP_INFO)
		return packetdrill_get_tcp_info(d, fd, value, len);
	r = uiwarp_tcp_info(d->h, packetdrill_sock(d, fd), &i);
	if (r)
		return r;
	switch (name) {
	case TCP_CC_INFO: /* Linux's NewReno and CUBIC have none either */
		*len = 0;
		return 0;
	case TCP_MAXSEG:
		return packetdrill_get_int(value, len, (int)(i.emss ? i.emss : 536));
	case TCP_CONGESTION:
		strncpy(value, i.congestion_control, *len);
		return 0;
	}
	return -ENOPROTOOPT;
}

static int packetdrill_get_socket(
	struct packetdrill *d, int fd, int name, void *value, socklen_t *len)
{
	struct uiwarp_tcp_info i;
	int error, r;

	switch (name) {
	case SO_ERROR:
		r = uiwarp_tcp_get(d->h, packetdrill_sock(d, fd), UIWARP_TCP_ERROR, &error);
		return r ? r : packetdrill_get_int(value, len, error);
	case SO_SNDBUF:
	case SO_RCVBUF:
		r = uiwarp_tcp_info(d->h, packetdrill_sock(d, fd), &i);
		if (r)
			return r;
		if (name == SO_SNDBUF && d->fd[fd].send_buffer)
			i.send_buffer = (uint32_t)d->fd[fd].send_buffer;
		return packetdrill_get_int(
			value, len, (int)(name == SO_SNDBUF ? i.send_buffer : i.receive_buffer));
	case SO_MEMINFO: /* Linux's own; scripts are told of no memory in use */
		memset(value, 0, *len);
		return 0;
	}
	return -ENOPROTOOPT;
}

int packetdrill_getsockopt(void *u, int fd, int level, int name, void *value, socklen_t *len)
{
	struct packetdrill *d = packetdrill_begin(u);
	int s = packetdrill_sock(d, fd), r = -ENOPROTOOPT;

	if (s < 0)
		r = -EBADF;
	else if (level == IPPROTO_TCP)
		r = packetdrill_get_tcp(d, fd, name, value, len);
	else if (level == SOL_SOCKET)
		r = packetdrill_get_socket(d, fd, name, value, len);
	return packetdrill_end(d, r);
}

static int packetdrill_set_tcp(
	struct packetdrill *d, int fd, int name, const void *value, socklen_t len, int n)
{
	char text[16];

	switch (name) {
	case TCP_CONGESTION:
		if (!len || len > sizeof text)
			return -EINVAL;
		strncpy(text, value, len);
		text[len < sizeof text ? len : sizeof text - 1] = 0;
		return uiwarp_tcp_set_congestion_control(d->h, packetdrill_sock(d, fd), text);
	case TCP_NODELAY:
	case TCP_CORK:
		if (name == TCP_CORK)
			d->fd[fd].cork = n != 0;
		if ((n != 0) == (name == TCP_NODELAY)) /* what was kept goes now */
			uiwarp_tcp_send(d->h, packetdrill_sock(d, fd), "", 0, 0);
		return 0;
	}
	return 0;
}

static int packetdrill_set_send_buffer(struct packetdrill *d, int fd, int n)
{
	if (n <= 0 || n > INT_MAX / 4)
		return -EINVAL;
	d->fd[fd].send_buffer = 2 * n;
	return uiwarp_tcp_set(
		d->h, packetdrill_sock(d, fd), UIWARP_TCP_SEND_BUFFER, packetdrill_send_limit(n));
}

/** What no socket of ours has is Linux's own, and taken without a word. */
int packetdrill_setsockopt(void *u, int fd, int level, int name, const void *value, socklen_t len)
{
	struct packetdrill *d = packetdrill_begin(u);
	int n = 0, s = packetdrill_sock(d, fd), r = 0;

	if (len >= sizeof n)
		memcpy(&n, value, sizeof n);
	else if (len) /* as IP_TOS and others allow */
		n = *(const uint8_t *)value;
	if (s < 0)
		r = -EBADF;
	else if (level == IPPROTO_TCP)
		r = packetdrill_set_tcp(d, fd, name, value, len, n);
	else if (level == SOL_SOCKET && name == SO_SNDBUF)
		r = packetdrill_set_send_buffer(d, fd, n);
	else if (level == IPPROTO_IP && name == IP_TOS)
		r = uiwarp_tcp_set(d->h, s, UIWARP_TCP_TOS, n);
	return packetdrill_end(d, r);
}

/**
 * packetdrill asks libc for TCP_INFO when a script's `%{ }%` wants it, also of a descriptor that is
 * ours. So this library is preloaded, and answers for it.
 */
UIWARP_TCP_API int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	struct packetdrill *d = packetdrill_of_process;

	if (d && packetdrill_sock(d, fd) >= 0)
		return packetdrill_getsockopt(d, fd, level, name, value, len);
	return (int)syscall(SYS_getsockopt, fd, level, name, value, len);
}
