/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface of packetdrill (github.com/google/packetdrill) to a TCP in a shared object
 * (--so_filename): our sockets with errno, and a clock that advances when packetdrill sleeps, waits
 * for a packet or reads it. Built only where packetdrill.h is (docs/tcp-testing.md).
 */
#include "drive/packetdrill_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define MTU                   1500
#define PACKETDRILL_ADDRESSES 8

struct packetdrill *packetdrill_of_process;

/* ---- calls ---------------------------------------------------------------------------------- */

struct packetdrill *packetdrill_begin(void *u)
{
	struct packetdrill *d = u;

	pthread_mutex_lock(&d->lock);
	packetdrill_count_times(d);
	return d;
}

/** TCP has room: what is kept for it goes on. */
static void packetdrill_pass_on(struct packetdrill *d, struct packetdrill_fd *f)
{
	while (f->kept_len) {
		ssize_t r = uiwarp_tcp_send(
			d->h, f->s - 1, f->kept + f->kept_at, f->kept_len, f->cork ? MSG_MORE : 0);

		if (r == -EAGAIN)
			return;
		if (r < 0) /* nobody will take it */
			r = (ssize_t)f->kept_len;
		f->kept_at += (size_t)r;
		f->kept_len -= (size_t)r;
	}
	free(f->kept);
	f->kept = NULL;
	f->kept_at = 0;
}

void packetdrill_notify(struct packetdrill *d)
{
	unsigned turns = d->waiting * 4;

	for (int fd = 0; fd < PACKETDRILL_FDS; fd++)
		if (d->fd[fd].kept)
			packetdrill_pass_on(d, &d->fd[fd]);
	while (d->waiting && turns--) {
		pthread_cond_broadcast(&d->changed);
		pthread_mutex_unlock(&d->lock);
		usleep(200);
		pthread_mutex_lock(&d->lock);
	}
}

int packetdrill_end(struct packetdrill *d, ssize_t r)
{
	packetdrill_count_times(d);
	pthread_mutex_unlock(&d->lock);
	if (r >= 0)
		return (int)r;
	errno = (int)-r;
	return -1;
}

/** @return true if the call shall be tried again. */
static bool packetdrill_block(struct packetdrill *d, int fd, ssize_t r, int flags)
{
	if (r != -EAGAIN || d->fd[fd].nonblock || (flags & MSG_DONTWAIT))
		return false;
	d->waiting++;
	pthread_cond_wait(&d->changed, &d->lock);
	d->waiting--;
	return true;
}

int packetdrill_sock(const struct packetdrill *d, int fd)
{
	return fd >= 0 && fd < PACKETDRILL_FDS ? d->fd[fd].s - 1 : -1;
}

/** A descriptor for @p s, or its error. */
static int packetdrill_give_fd(struct packetdrill *d, int s, bool nonblock)
{
	int fd;

	if (s < 0)
		return s;
	fd = open("/dev/null", O_RDWR);
	if (fd < 0 || fd >= PACKETDRILL_FDS)
		return -EMFILE;
	d->fd[fd].s = s + 1;
	d->fd[fd].nonblock = nonblock;
	return fd;
}

static int packetdrill_socket(void *u, int domain, int type, int protocol)
{
	struct packetdrill *d = packetdrill_begin(u);

	return packetdrill_end(
		d, packetdrill_give_fd(d, uiwarp_tcp_socket(d->h, domain), type & SOCK_NONBLOCK));
}

static int packetdrill_bind(void *u, int fd, const struct sockaddr *a, socklen_t len)
{
	struct packetdrill *d = packetdrill_begin(u);

	return packetdrill_end(d, uiwarp_tcp_bind(d->h, packetdrill_sock(d, fd), a, len));
}

static int packetdrill_listen(void *u, int fd, int backlog)
{
	struct packetdrill *d = packetdrill_begin(u);

	return packetdrill_end(d, uiwarp_tcp_listen(d->h, packetdrill_sock(d, fd), backlog));
}

static int packetdrill_accept(void *u, int fd, struct sockaddr *a, socklen_t *len)
{
	struct packetdrill *d = packetdrill_begin(u);
	int r;
	int s = packetdrill_sock(d, fd);

	do
		r = uiwarp_tcp_accept(d->h, s, a, len);
	while (packetdrill_block(d, fd, r, 0));
	return packetdrill_end(d, packetdrill_give_fd(d, r, false));
}

static int packetdrill_connect(void *u, int fd, const struct sockaddr *a, socklen_t len)
{
	struct packetdrill *d = packetdrill_begin(u);
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
	struct packetdrill *d = packetdrill_begin(u);
	ssize_t r;
	int s = packetdrill_sock(d, fd);

	do
		r = uiwarp_tcp_recv(d->h, s, buf, len, flags);
	while (packetdrill_block(d, fd, r, flags));
	return packetdrill_end(d, r);
}

/** @return how much of the @p len bytes at @p from is kept for @p fd, as SO_SNDBUF allows. */
static size_t packetdrill_keep(struct packetdrill *d, int fd, const char *from, size_t len)
{
	struct packetdrill_fd *f = &d->fd[fd];
	int unacked = 0;
	size_t limit = (size_t)packetdrill_send_limit(f->send_buffer / 2), held;
	char *all;

	if (!f->send_buffer || uiwarp_tcp_get(d->h, f->s - 1, UIWARP_TCP_UNACKED, &unacked))
		return 0;
	held = (size_t)unacked + f->kept_len;
	if (held >= limit)
		return 0;
	len = len < limit - held ? len : limit - held;
	all = realloc(f->kept, f->kept_at + f->kept_len + len);
	if (!all)
		return 0;
	memcpy(all + f->kept_at + f->kept_len, from, len);
	f->kept = all;
	f->kept_len += len;
	return len;
}

static ssize_t packetdrill_send(void *u, int fd, const void *buf, size_t len, int flags)
{
	struct packetdrill *d = packetdrill_begin(u);
	const char *from = buf;
	size_t done = 0;
	ssize_t r;
	int s = packetdrill_sock(d, fd);

	if (s >= 0 && d->fd[fd].cork)
		flags |= MSG_MORE;
	do {
		r = s >= 0 && d->fd[fd].kept
			    ? -EAGAIN
			    : uiwarp_tcp_send(d->h, s, from + done, len - done, flags);
		if (r > 0)
			done += (size_t)r;
		if (done < len && (r > 0 || r == -EAGAIN)) {
			done += packetdrill_keep(d, fd, from + done, len - done);
			r = -EAGAIN;
		}
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

/** The pieces of @p v in one, as one call of Linux's takes them. @return NULL: no memory. */
static char *packetdrill_gather(const struct iovec *v, int n, size_t *len)
{
	char *all;

	*len = 0;
	for (int i = 0; i < n; i++)
		*len += v[i].iov_len;
	all = malloc(*len + 1);
	*len = 0;
	for (int i = 0; all && i < n; i++) {
		memcpy(all + *len, v[i].iov_base, v[i].iov_len);
		*len += v[i].iov_len;
	}
	return all;
}

static ssize_t packetdrill_send_pieces(void *u, int fd, const struct iovec *v, int n, int flags)
{
	size_t len;
	char *all = packetdrill_gather(v, n, &len);
	ssize_t r = all ? packetdrill_send(u, fd, all, len, flags) : (errno = ENOMEM, -1);

	free(all);
	return r;
}

static ssize_t packetdrill_sendmsg(void *u, int fd, const struct msghdr *m, int flags)
{
	return packetdrill_send_pieces(u, fd, m->msg_iov, (int)m->msg_iovlen, flags);
}

static ssize_t packetdrill_writev(void *u, int fd, const struct iovec *v, int n)
{
	return packetdrill_send_pieces(u, fd, v, n, 0);
}

static ssize_t packetdrill_receive_pieces(void *u, int fd, const struct iovec *v, int n, int flags)
{
	ssize_t r, got = 0;

	for (int i = 0; i < n; i++) {
		if (!v[i].iov_len)
			continue;
		r = packetdrill_recv(
			u, fd, v[i].iov_base, v[i].iov_len, flags | (got ? MSG_DONTWAIT : 0));
		if (r < 0)
			return got ? got : r;
		got += r;
		if ((size_t)r < v[i].iov_len)
			break;
	}
	return got;
}

static ssize_t packetdrill_recvmsg(void *u, int fd, struct msghdr *m, int flags)
{
	m->msg_controllen = 0;
	m->msg_flags = 0;
	return packetdrill_receive_pieces(u, fd, m->msg_iov, (int)m->msg_iovlen, flags);
}

static ssize_t packetdrill_readv(void *u, int fd, const struct iovec *v, int n)
{
	return packetdrill_receive_pieces(u, fd, v, n, 0);
}

/** packetdrill asks libc for it: as getsockopt() in packetdrill_option.c. */
UIWARP_TCP_API ssize_t packetdrill_sendfile(int out, int in, off_t *at, size_t len) __asm__(
	"sendfile");

ssize_t packetdrill_sendfile(int out, int in, off_t *at, size_t len)
{
	struct packetdrill *d = packetdrill_of_process;
	char *text;
	ssize_t r;

	if (!d || packetdrill_sock(d, out) < 0)
		return syscall(SYS_sendfile, out, in, at, len);
	text = malloc(len + 1);
	if (!text)
		return errno = ENOMEM, -1;
	r = at ? pread(in, text, len, *at) : read(in, text, len);
	if (r > 0)
		r = packetdrill_send(d, out, text, (size_t)r, 0);
	if (r > 0 && at)
		*at += r;
	free(text);
	return r;
}

/* What is not there is refused, not NULL: packetdrill calls what it is given. */
static int packetdrill_pipe(void *u, int fds[2])
{
	return errno = ENOSYS, -1;
}

static int packetdrill_epoll_create(void *u, int size)
{
	return errno = ENOSYS, -1;
}

static int packetdrill_epoll_ctl(void *u, int epfd, int op, int fd, struct epoll_event *event)
{
	return errno = ENOSYS, -1;
}

static int packetdrill_epoll_wait(
	void *u, int epfd, struct epoll_event *events, int max, int timeout)
{
	return errno = ENOSYS, -1;
}

static int packetdrill_splice(
	void *u, int in, loff_t *in_at, int out, loff_t *out_at, size_t len, unsigned flags)
{
	return errno = ENOSYS, -1;
}

/** What is kept goes before the FIN: unlike Linux's, the call waits for that. */
static void packetdrill_drain(struct packetdrill *d, int fd)
{
	while (packetdrill_sock(d, fd) >= 0 && d->fd[fd].kept)
		packetdrill_block(d, fd, -EAGAIN, 0);
}

static int packetdrill_close(void *u, int fd)
{
	struct packetdrill *d = packetdrill_begin(u);
	int r;

	packetdrill_drain(d, fd);
	r = uiwarp_tcp_close(d->h, packetdrill_sock(d, fd));
	if (r == 0) {
		close(fd);
		d->fd[fd].s = 0;
	}
	return packetdrill_end(d, r);
}

static int packetdrill_shutdown(void *u, int fd, int how)
{
	struct packetdrill *d = packetdrill_begin(u);

	if (how != SHUT_RD)
		packetdrill_drain(d, fd);
	return packetdrill_end(d, uiwarp_tcp_shutdown(d->h, packetdrill_sock(d, fd), how));
}

static int packetdrill_fcntl(void *u, int fd, int cmd, ...)
{
	struct packetdrill *d = u;
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
	struct packetdrill *d = u;
	va_list v;
	int *out, r;
	int s = packetdrill_sock(d, fd);

	if (s < 0)
		return errno = EBADF, -1;
	va_start(v, request);
	out = va_arg(v, int *);
	va_end(v);
	if (request != SIOCINQ && request != SIOCOUTQ)
		return errno = ENOTTY, -1;
	packetdrill_begin(d);
	r = uiwarp_tcp_get(
		d->h, s, request == SIOCINQ ? UIWARP_TCP_UNREAD : UIWARP_TCP_UNACKED, out);
	if (r == 0 && request == SIOCOUTQ)
		*out += (int)d->fd[fd].kept_len;
	return packetdrill_end(d, r);
}

static int packetdrill_poll(void *u, struct pollfd *fds, nfds_t n, int timeout)
{
	struct packetdrill *d = packetdrill_begin(u);
	int ready = 0;

	for (nfds_t i = 0; i < n; i++) {
		int r = uiwarp_tcp_poll(d->h, packetdrill_sock(d, fds[i].fd));

		fds[i].revents =
			r < 0 ? POLLNVAL : (short)(r & (fds[i].events | POLLERR | POLLHUP));
		ready += fds[i].revents != 0;
	}
	return packetdrill_end(d, ready);
}

static void packetdrill_free(void *u)
{
	struct packetdrill *d = u;

	packetdrill_of_process = NULL;
	uiwarp_tcp_destroy(d->h);
	free(d->flags);
	free(d);
}

/** Set one `key=value`. @return false if there is none of that name. */
static bool packetdrill_set_up(
	struct packetdrill *d, struct uiwarp_tcp_config *cfg, const char *key, const char *value)
{
	bool on = strcmp(value, "0") != 0;

	if (!strcmp(key, "push"))
		d->no_push = !on;
	else if (!strcmp(key, "receive_buffer"))
		cfg->receive_buffer = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(key, "send_buffer"))
		cfg->send_buffer = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(key, "max_ack_delay"))
		cfg->max_ack_delay_ms = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(key, "congestion_control"))
		cfg->congestion_control = strcmp(value, "reno") ? value : "newreno";
	else if (!strcmp(key, "ecn")) /* as Linux's tcp_ecn has it: 0 off, 1 ask, 2 accept */
		cfg->ecn = !on                       ? UIWARP_TCP_ECN_OFF
			   : strcmp(value, "1") == 0 ? UIWARP_TCP_ECN_ON
						     : UIWARP_TCP_ECN_ACCEPT;
	else if (!strcmp(key, "syn_cookies")) /* as tcp_syncookies: 0 off, 1 when full, 2 always */
		cfg->syn_cookies = !on                       ? UIWARP_TCP_COOKIES_OFF
				   : strcmp(value, "2") == 0 ? UIWARP_TCP_COOKIES_ALWAYS
							     : UIWARP_TCP_COOKIES_AUTO;
	else if (!strcmp(key, "timestamps"))
		cfg->no_timestamps = !on;
	else if (!strcmp(key, "sack"))
		cfg->no_sack = !on;
	else if (!strcmp(key, "pacing"))
		cfg->no_pacing = !on;
	else if (!strcmp(key, "window_scale"))
		cfg->no_window_scale = !on;
	else
		return false;
	return true;
}

static void packetdrill_die(const char *what)
{
	fprintf(stderr, "uiwarp-packetdrill: %s\n", what);
	abort();
}

/** The words of @p flags that are settings; the others, its addresses, stay in @p addresses. */
static unsigned packetdrill_parse_flags(struct packetdrill *d, char *flags,
	struct uiwarp_tcp_config *cfg, char *addresses[PACKETDRILL_ADDRESSES])
{
	unsigned n = 0;
	char *save = NULL;

	for (char *a = strtok_r(flags, ",", &save); a; a = strtok_r(NULL, ",", &save)) {
		char *value = strchr(a, '=');

		if (value) {
			*value++ = 0;
			if (!packetdrill_set_up(d, cfg, a, value))
				packetdrill_die("--so_flags has an unknown key");
		} else if (n < PACKETDRILL_ADDRESSES) {
			addresses[n++] = a;
		}
	}
	return n;
}

static struct packetdrill *packetdrill_create(const char *flags)
{
	struct uiwarp_tcp_config cfg = {.mtu = MTU, .seed = 1};
	char *list = strdup(flags ? flags : "192.168.0.1/16"), *address[PACKETDRILL_ADDRESSES];
	struct packetdrill *d = calloc(1, sizeof *d);
	unsigned n;

	if (!d || !list)
		packetdrill_die("no memory");
	n = packetdrill_parse_flags(d, list, &cfg, address);
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	if (uiwarp_tcp_create(&cfg, 1000 * PACKETDRILL_SEC, &d->h))
		packetdrill_die("the host does not start");
	while (n)
		if (uiwarp_tcp_add_address(d->h, address[--n]))
			packetdrill_die("--so_flags has a bad address");
	uiwarp_tcp_add_route(d->h, "0.0.0.0/0");
	uiwarp_tcp_add_route(d->h, "::/0");
	d->flags = list;
	return d;
}

/**
 * @p flags: the host's addresses and settings, separated by commas: "192.168.0.1/16,ecn=1".
 * What is not named has packetdrill's defaults for Linux's or ours.
 */
UIWARP_TCP_API void packetdrill_interface_init(const char *flags, struct packetdrill_interface *i);

void packetdrill_interface_init(const char *flags, struct packetdrill_interface *i)
{
	struct packetdrill *d = packetdrill_create(flags);

	packetdrill_of_process = d;
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
		.recvmsg = packetdrill_recvmsg,
		.readv = packetdrill_readv,
		.writev = packetdrill_writev,
		.pipe = packetdrill_pipe,
		.epoll_create = packetdrill_epoll_create,
		.epoll_ctl = packetdrill_epoll_ctl,
		.epoll_wait = packetdrill_epoll_wait,
		.splice = packetdrill_splice,
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
