/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of packetdrill (github.com/google/packetdrill) to a TCP in a shared object
 * (--so_filename): our sockets with errno, and a clock that advances when packetdrill sleeps, waits
 * for a packet or reads it. Built only where packetdrill.h is (docs/tcp-testing.md).
 *
 * The scripts are written for Linux, which hands data to a device in large pieces. So segments that
 * are sent together are joined here.
 */
#include "drive/uiwarp_tcp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <packetdrill.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define US       UINT64_C(1000)
#define SEC      UINT64_C(1000000000)
#define FDS      1024
#define PATIENCE (1000 * SEC) /* how long a packet is waited for */
#define MTU      1500

struct drill {
	struct uiwarp_tcp *h;
	/** One thread of packetdrill's runs the script, another one the call that blocks. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;
	/** packetdrill calls close() itself after ours, so each socket has a real descriptor. */
	struct {
		int s; /**< our socket and 1; 0: none */
		bool nonblock;
	} fd[FDS];
	uint8_t held[65536]; /**< sent, not handed out yet */
	size_t n_held;
	uint64_t held_at;
};

/* ---- calls ---------------------------------------------------------------------------------- */

/** Begin a call. packetdrill_end() must follow. */
static struct drill *packetdrill_begin(void *u)
{
	struct drill *d = u;

	pthread_mutex_lock(&d->lock);
	return d;
}

/** Something happened: a blocked call has to look, before time moves on. */
static void packetdrill_notify(struct drill *d)
{
	unsigned turns = d->waiting * 4;

	while (d->waiting && turns--) {
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
		usleep(200);
		pthread_mutex_lock(&d->lock);
	}
}

static int packetdrill_end(struct drill *d, ssize_t r)
{
	pthread_mutex_unlock(&d->lock);
	if (r >= 0)
		return (int)r;
	errno = (int)-r;
	return -1;
}

/** @return true if the call shall be tried again. */
static bool packetdrill_block(struct drill *d, int fd, ssize_t r, int flags)
{
	if (r != -EAGAIN || d->fd[fd].nonblock || (flags & MSG_DONTWAIT))
		return false;
	d->waiting++;
	pthread_cond_wait(&d->changed, &d->lock);
	d->waiting--;
	return true;
}

/** @return the socket of @p fd, or -1, for which each call fails with -EBADF. */
static int packetdrill_sock(const struct drill *d, int fd)
{
	return fd >= 0 && fd < FDS ? d->fd[fd].s - 1 : -1;
}

/** A descriptor for @p s, or its error. */
static int packetdrill_give_fd(struct drill *d, int s, bool nonblock)
{
	int fd;

	if (s < 0)
		return s;
	fd = open("/dev/null", O_RDWR);
	if (fd < 0 || fd >= FDS)
		return -EMFILE;
	d->fd[fd].s = s + 1;
	d->fd[fd].nonblock = nonblock;
	return fd;
}

static int packetdrill_socket(void *u, int domain, int type, int protocol)
{
	struct drill *d = packetdrill_begin(u);

	return packetdrill_end(
		d, packetdrill_give_fd(d, uiwarp_tcp_socket(d->h, domain), type & SOCK_NONBLOCK));
}

static int packetdrill_bind(void *u, int fd, const struct sockaddr *a, socklen_t len)
{
	struct drill *d = packetdrill_begin(u);

	return packetdrill_end(d, uiwarp_tcp_bind(d->h, packetdrill_sock(d, fd), a, len));
}

static int packetdrill_listen(void *u, int fd, int backlog)
{
	struct drill *d = packetdrill_begin(u);

	return packetdrill_end(d, uiwarp_tcp_listen(d->h, packetdrill_sock(d, fd), backlog));
}

static int packetdrill_accept(void *u, int fd, struct sockaddr *a, socklen_t *len)
{
	struct drill *d = packetdrill_begin(u);
	int r;
	int s = packetdrill_sock(d, fd);

	do
		r = uiwarp_tcp_accept(d->h, s, a, len);
	while (packetdrill_block(d, fd, r, 0));
	return packetdrill_end(d, packetdrill_give_fd(d, r, false));
}

static int packetdrill_connect(void *u, int fd, const struct sockaddr *a, socklen_t len)
{
	struct drill *d = packetdrill_begin(u);
	int r, error = 0;
	int s = packetdrill_sock(d, fd);

	r = uiwarp_tcp_connect(d->h, s, a, len);
	while (r == -EINPROGRESS && !d->fd[fd].nonblock) {
		int ready = uiwarp_tcp_poll(d->h, s);

		if (!(ready & POLLOUT)) {
			packetdrill_block(d, fd, -EAGAIN, 0);
			continue;
		}
		uiwarp_tcp_get(d->h, s, UIWARP_TCP_ERROR, &error);
		r = -error;
	}
	return packetdrill_end(d, r);
}

static ssize_t packetdrill_recv(void *u, int fd, void *buf, size_t len, int flags)
{
	struct drill *d = packetdrill_begin(u);
	ssize_t r;
	int s = packetdrill_sock(d, fd);

	do
		r = uiwarp_tcp_recv(d->h, s, buf, len, flags);
	while (packetdrill_block(d, fd, r, flags));
	return packetdrill_end(d, r);
}

static ssize_t packetdrill_send(void *u, int fd, const void *buf, size_t len, int flags)
{
	struct drill *d = packetdrill_begin(u);
	const char *from = buf;
	size_t done = 0;
	ssize_t r;
	int s = packetdrill_sock(d, fd);

	do {
		r = uiwarp_tcp_send(d->h, s, from + done, len - done, flags);
		if (r > 0)
			done += (size_t)r;
		if (done < len && r > 0)
			r = -EAGAIN;
	} while (done < len && packetdrill_block(d, fd, r, flags));
	return packetdrill_end(d, done ? (ssize_t)done : r);
}

static ssize_t packetdrill_read(void *u, int fd, void *buf, size_t len)
{
	return packetdrill_recv(u, fd, buf, len, 0);
}

static ssize_t packetdrill_write(void *u, int fd, const void *buf, size_t len)
{
	return packetdrill_send(u, fd, buf, len, 0);
}

static ssize_t packetdrill_sendto(void *u, int fd, const void *buf, size_t len, int flags,
	const struct sockaddr *a, socklen_t a_len)
{
	return packetdrill_send(u, fd, buf, len, flags);
}

static ssize_t packetdrill_recvfrom(
	void *u, int fd, void *buf, size_t len, int flags, struct sockaddr *a, socklen_t *a_len)
{
	return packetdrill_recv(u, fd, buf, len, flags);
}

static ssize_t packetdrill_sendmsg(void *u, int fd, const struct msghdr *m, int flags)
{
	return m->msg_iovlen == 1 ? packetdrill_send(u, fd, m->msg_iov[0].iov_base,
					    m->msg_iov[0].iov_len, flags)
				  : (errno = ENOSYS, -1);
}

static int packetdrill_close(void *u, int fd)
{
	struct drill *d = packetdrill_begin(u);
	int r = uiwarp_tcp_close(d->h, packetdrill_sock(d, fd));

	if (r == 0) {
		close(fd);
		d->fd[fd].s = 0;
	}
	return packetdrill_end(d, r);
}

static int packetdrill_shutdown(void *u, int fd, int how)
{
	struct drill *d = packetdrill_begin(u);

	return packetdrill_end(d, uiwarp_tcp_shutdown(d->h, packetdrill_sock(d, fd), how));
}

static int packetdrill_fcntl(void *u, int fd, int cmd, ...)
{
	struct drill *d = u;
	va_list v;
	int s = packetdrill_sock(d, fd);

	if (s < 0)
		return errno = EBADF, -1;
	if (cmd == F_GETFL)
		return O_RDWR | (d->fd[fd].nonblock ? O_NONBLOCK : 0);
	if (cmd != F_SETFL)
		return 0;
	va_start(v, cmd);
	d->fd[fd].nonblock = (va_arg(v, int) & O_NONBLOCK) != 0;
	va_end(v);
	return 0;
}

static int packetdrill_ioctl(void *u, int fd, unsigned long request, ...)
{
	struct drill *d = u;
	va_list v;
	int *out;
	int s = packetdrill_sock(d, fd);

	if (s < 0)
		return errno = EBADF, -1;
	va_start(v, request);
	out = va_arg(v, int *);
	va_end(v);
	if (request != SIOCINQ && request != SIOCOUTQ)
		return errno = ENOTTY, -1;
	packetdrill_begin(d);
	return packetdrill_end(
		d, uiwarp_tcp_get(d->h, s,
			   request == SIOCINQ ? UIWARP_TCP_UNREAD : UIWARP_TCP_UNACKED, out));
}

static int packetdrill_get_tcp_info(struct drill *d, int s, void *out, socklen_t *len)
{
	static const char *const state[] = {"", "ESTABLISHED", "SYN-SENT", "SYN-RECEIVED",
		"FIN-WAIT-1", "FIN-WAIT-2", "TIME-WAIT", "CLOSED", "CLOSE-WAIT", "LAST-ACK",
		"LISTEN", "CLOSING"};
	struct uiwarp_tcp_info i;
	struct tcp_info t = {0};
	int r = uiwarp_tcp_info(d->h, s, &i);

	if (r)
		return r;
	for (uint8_t k = 1; k < sizeof state / sizeof *state; k++)
		if (strcmp(state[k], i.state) == 0)
			t.tcpi_state = k;
	t.tcpi_options =
		(uint8_t)((i.timestamps ? 1 : 0) | (i.sack ? 2 : 0) | (i.window_scale ? 4 : 0));
	t.tcpi_rto = (uint32_t)(i.rto / US);
	t.tcpi_rtt = (uint32_t)(i.srtt / US);
	t.tcpi_rttvar = (uint32_t)(i.rttvar / US);
	t.tcpi_snd_mss = i.emss;
	t.tcpi_snd_cwnd = i.emss ? i.cwnd / i.emss : 0;
	t.tcpi_snd_ssthresh = i.emss ? i.ssthresh / i.emss : 0;
	t.tcpi_unacked = i.emss ? (i.flight + i.emss - 1) / i.emss : 0;
	t.tcpi_total_retrans = (uint32_t)i.retransmits;
	memset(out, 0, *len);
	memcpy(out, &t, *len < sizeof t ? *len : sizeof t);
	return 0;
}

static int packetdrill_getsockopt(void *u, int fd, int level, int name, void *value, socklen_t *len)
{
	struct drill *d = packetdrill_begin(u);
	int r = 0;
	int s = packetdrill_sock(d, fd);

	if (level == IPPROTO_TCP && name == TCP_INFO)
		r = packetdrill_get_tcp_info(d, s, value, len);
	else if (level == SOL_SOCKET && name == SO_ERROR && *len >= sizeof(int))
		r = uiwarp_tcp_get(d->h, s, UIWARP_TCP_ERROR, value);
	else
		r = -ENOPROTOOPT;
	return packetdrill_end(d, r);
}

/** What a script sets up is Linux's own: taken without a word. */
static int packetdrill_setsockopt(
	void *u, int fd, int level, int name, const void *value, socklen_t len)
{
	return packetdrill_sock(u, fd) < 0 ? (errno = EBADF, -1) : 0;
}

static int packetdrill_poll(void *u, struct pollfd *fds, nfds_t n, int timeout)
{
	struct drill *d = packetdrill_begin(u);
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		int r = uiwarp_tcp_poll(d->h, packetdrill_sock(d, fds[i].fd));

		fds[i].revents =
			r < 0 ? POLLNVAL : (short)(r & (fds[i].events | POLLERR | POLLHUP));
		ready += fds[i].revents != 0;
	}
	return packetdrill_end(d, ready);
}

/* ---- packets and time ----------------------------------------------------------------------- */

static int packetdrill_netdev_send(void *u, const void *buf, size_t len)
{
	struct drill *d = packetdrill_begin(u);
	int r;

	r = uiwarp_tcp_input(d->h, buf, len);
	packetdrill_notify(d);
	return packetdrill_end(d, r);
}

static size_t packetdrill_header_len(const uint8_t *p, bool tcp)
{
	size_t ip = p[0] >> 4 == 4 ? (p[0] & 15u) * 4 : 40;

	return tcp ? ip + (p[ip + 12] >> 4) * 4u : ip;
}

static uint32_t packetdrill_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/** A checksum may be wrong from here on: the sum over a packet that is now larger. */
static void packetdrill_set_lengths(uint8_t *p, size_t len)
{
	size_t ip = packetdrill_header_len(p, false);
	uint16_t n = (uint16_t)(p[0] >> 4 == 4 ? len : len - ip);
	uint8_t *field = p + (p[0] >> 4 == 4 ? 2 : 4), *sum_at = p + ip + 16;
	uint32_t sum = 6 + (uint32_t)(len - ip);

	field[0] = (uint8_t)(n >> 8);
	field[1] = (uint8_t)n;
	sum_at[0] = sum_at[1] = 0;
	for (size_t i = p[0] >> 4 == 4 ? 12 : 8; i < ip; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	for (size_t i = ip; i < len; i++)
		sum += (i - ip) & 1 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum_at[0] = (uint8_t)(~sum >> 8);
	sum_at[1] = (uint8_t)~sum;
	if (p[0] >> 4 != 4)
		return;
	p[10] = p[11] = 0;
	sum = 0;
	for (size_t i = 0; i < ip; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	p[10] = (uint8_t)(~sum >> 8);
	p[11] = (uint8_t)~sum;
}

/** May @p q follow @p p in one piece? Full segments of one stream, the last one perhaps not. */
static bool packetdrill_joins(const uint8_t *p, size_t p_len, const uint8_t *q, size_t q_len)
{
	size_t h = packetdrill_header_len(p, true), ip = packetdrill_header_len(p, false),
	       text = p_len - h;
	enum { FIN = 1, PSH = 8, ACK = 16 };

	if (p[0] >> 4 != q[0] >> 4 || p[p[0] >> 4 == 4 ? 9 : 6] != 6 ||
		h != packetdrill_header_len(q, true) || !text || q_len == h ||
		p_len + q_len - h > 65000)
		return false;
	/* Behind a short segment nothing is joined, nor behind a FIN. */
	return p[ip + 13] == ACK && !(q[ip + 13] & ~(ACK | PSH | FIN)) &&
	       packetdrill_be32(p + ip + 4) + text == packetdrill_be32(q + ip + 4) &&
	       packetdrill_be32(p + ip) == packetdrill_be32(q + ip) &&
	       packetdrill_be32(p + ip + 8) == packetdrill_be32(q + ip + 8) &&
	       !memcmp(p + ip + 14, q + ip + 14, 2) &&
	       !memcmp(p + ip + 20, q + ip + 20, h - ip - 20);
}

/** Hand out one piece; what does not belong to it waits. @return its length, 0: there is none. */
static size_t packetdrill_next_piece(struct drill *d, uint8_t *out, size_t size, uint64_t *at)
{
	size_t n = d->n_held;

	*at = d->held_at;
	if (n)
		memcpy(out, d->held, n);
	else
		n = uiwarp_tcp_output(d->h, out, size, at);
	d->n_held = 0;
	while (n && uiwarp_tcp_output_time(d->h) == *at) {
		size_t h;

		d->n_held = uiwarp_tcp_output(d->h, d->held, sizeof d->held, &d->held_at);
		if (!packetdrill_joins(out, n, d->held, d->n_held))
			break;
		h = packetdrill_header_len(out, true);
		memcpy(out + n, d->held + h, d->n_held - h);
		n += d->n_held - h;
		out[packetdrill_header_len(out, false) + 13] |=
			d->held[packetdrill_header_len(out, false) + 13];
		d->n_held = 0;
		packetdrill_set_lengths(out, n);
	}
	return n;
}

static int packetdrill_netdev_receive(void *u, void *buf, size_t *len, long long *time_usecs)
{
	struct drill *d = packetdrill_begin(u);
	uint64_t give_up, at;
	size_t n;

	give_up = uiwarp_tcp_now(d->h) + PATIENCE;
	while (!d->n_held && uiwarp_tcp_output_time(d->h) == UIWARP_TCP_NEVER &&
		uiwarp_tcp_now(d->h) < give_up) {
		uint64_t next = uiwarp_tcp_next(d->h);

		uiwarp_tcp_advance(d->h, next < give_up ? next : give_up);
		packetdrill_notify(d);
	}
	n = packetdrill_next_piece(d, buf, *len, &at);
	*len = n;
	*time_usecs = (long long)(at / US);
	return packetdrill_end(d, 0);
}

static int packetdrill_usleep(void *u, useconds_t us)
{
	struct drill *d = packetdrill_begin(u);

	uiwarp_tcp_advance(d->h, uiwarp_tcp_now(d->h) + us * US);
	packetdrill_notify(d);
	return packetdrill_end(d, 0);
}

/** packetdrill waits the last microseconds by looking at the clock: each look takes one. */
static int packetdrill_gettimeofday(void *u, struct timeval *tv, struct timezone *tz)
{
	struct drill *d = packetdrill_begin(u);

	uiwarp_tcp_advance(d->h, uiwarp_tcp_now(d->h) + US);
	tv->tv_sec = (time_t)(uiwarp_tcp_now(d->h) / SEC);
	tv->tv_usec = (suseconds_t)(uiwarp_tcp_now(d->h) % SEC / US);
	return packetdrill_end(d, 0);
}

static void packetdrill_free(void *u)
{
	struct drill *d = u;

	uiwarp_tcp_destroy(d->h);
	free(d);
}

/** @p flags: the host's addresses, "192.168.0.1/16", separated by commas. */
UIWARP_TCP_API void packetdrill_interface_init(const char *flags, struct packetdrill_interface *i);

void packetdrill_interface_init(const char *flags, struct packetdrill_interface *i)
{
	struct drill *d = calloc(1, sizeof *d);
	struct uiwarp_tcp_config cfg = {.mtu = MTU, .seed = 1};
	char *list = strdup(flags ? flags : "192.168.0.1/16"), *save = NULL;

	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	if (!d || !list || uiwarp_tcp_create(&cfg, 1000 * SEC, &d->h))
		abort();
	for (char *a = strtok_r(list, ",", &save); a; a = strtok_r(NULL, ",", &save)) {
		if (uiwarp_tcp_add_address(d->h, a))
			abort();
	}
	uiwarp_tcp_add_route(d->h, "0.0.0.0/0");
	uiwarp_tcp_add_route(d->h, "::/0");
	free(list);
	*i = (struct packetdrill_interface){
		.userdata = d,
		.free = packetdrill_free,
		.socket = packetdrill_socket,
		.bind = packetdrill_bind,
		.listen = packetdrill_listen,
		.accept = packetdrill_accept,
		.connect = packetdrill_connect,
		.read = packetdrill_read,
		.recv = packetdrill_recv,
		.recvfrom = packetdrill_recvfrom,
		.write = packetdrill_write,
		.send = packetdrill_send,
		.sendto = packetdrill_sendto,
		.sendmsg = packetdrill_sendmsg,
		.fcntl = packetdrill_fcntl,
		.ioctl = packetdrill_ioctl,
		.close = packetdrill_close,
		.shutdown = packetdrill_shutdown,
		.getsockopt = packetdrill_getsockopt,
		.setsockopt = packetdrill_setsockopt,
		.poll = packetdrill_poll,
		.netdev_send = packetdrill_netdev_send,
		.netdev_receive = packetdrill_netdev_receive,
		.usleep = packetdrill_usleep,
		.gettimeofday = packetdrill_gettimeofday,
	};
}
