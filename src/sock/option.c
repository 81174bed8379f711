/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/option.h"

#include "base/fd_room.h"
#include "sock/stack.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPALIVE_PROBES    9
#define KEEPALIVE_QUESTIONS 3     /* in a user timeout of as many s or more: one may be lost */
#define KEEPALIVE_INTERVAL  75    /* s, at most */
#define KEEPALIVE_IDLE      32767 /* likewise: Linux refuses more, and would ask after two hours */

int sock_option(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof value) ? -errno : 0;
}

void sock_option_reset_on_close(int fd, bool reset)
{
	struct linger l = {.l_onoff = reset};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
}

void sock_option_disconnect(int fd)
{
	const struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (fd >= 0)
		(void)connect(fd, &none, sizeof none);
}

void sock_option_tos(int fd, int family, uint8_t tos)
{
	if (!tos)
		return;
	if (family == AF_INET)
		(void)sock_option(fd, IPPROTO_IP, IP_TOS, tos & 0xfc);
	else
		(void)sock_option(fd, IPPROTO_IPV6, IPV6_TCLASS, tos & 0xfc);
}

void sock_option_congestion_control(struct sock_stack *s, int fd, const char *name)
{
	if (!name)
		return;
	/* Linux's name for what RFC 6582 describes. */
	if (!strcmp(name, "newreno"))
		name = "reno";
	if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) ||
		s->told_congestion_control)
		return;
	s->told_congestion_control = true;
	log_printf(s->cfg.log, LOG_LEVEL_WARNING,
		"the kernel's TCP does not take the congestion control \"%s\": %s; its default is "
		"used",
		name, strerror(errno));
}

/** RFC 9293 section 3.8.4, within the user timeout: as our own TCP, but in whole seconds. */
static void sock_option_keepalive(int fd, const struct sock_stack_config *cfg)
{
	uint32_t idle = (cfg->keepalive_ms + 999) / 1000, patience = cfg->user_timeout_ms / 1000;
	uint32_t interval = patience / KEEPALIVE_QUESTIONS, probes;

	if (!idle)
		return;
	if (idle > KEEPALIVE_IDLE)
		idle = KEEPALIVE_IDLE;
	if (interval > KEEPALIVE_INTERVAL)
		interval = KEEPALIVE_INTERVAL;
	if (interval > idle)
		interval = idle;
	if (!interval)
		interval = 1;
	probes = patience / interval;
	if (probes > KEEPALIVE_PROBES)
		probes = KEEPALIVE_PROBES;
	(void)sock_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	(void)sock_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, (int)idle);
	(void)sock_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, (int)interval);
	(void)sock_option(fd, IPPROTO_TCP, TCP_KEEPCNT, (int)(probes ? probes : 1));
}

int sock_no_descriptor(struct sock_stack *s, int rc)
{
	log_printf(s->cfg.log, log_level_of_count(++s->stats.no_descriptor),
		"no descriptor is left for one more connection (%s): each has one; raise \"ulimit "
		"-n\"",
		strerror(-rc));
	return rc;
}

/** The kernel keeps twice of what it takes, and takes no more than a sysctl says. */
static void sock_option_check_buffer(
	const struct sock_stack *s, int fd, int name, uint32_t bytes, const char *sysctl)
{
	int got = 0;
	socklen_t len = sizeof got;

	if (getsockopt(fd, SOL_SOCKET, name, &got, &len) || got < 0 ||
		(uint64_t)got >= UINT64_C(2) * bytes)
		return;
	log_printf(s->cfg.log, LOG_LEVEL_WARNING,
		"the kernel makes %s %d bytes, not %u: raise the sysctl %s",
		name == SO_SNDBUF ? "send_buffer" : "receive_buffer", got / 2, (unsigned)bytes,
		sysctl);
}

static void sock_option_buffers(struct sock_stack *s, int fd)
{
	uint32_t out = s->cfg.send_buffer, in = s->cfg.receive_buffer;

	if (out)
		(void)sock_option(fd, SOL_SOCKET, SO_SNDBUF, (int)out);
	if (in)
		(void)sock_option(fd, SOL_SOCKET, SO_RCVBUF, (int)in);
	if (s->checked_buffers)
		return;
	s->checked_buffers = true;
	sock_option_check_buffer(s, fd, SO_SNDBUF, out, "net.core.wmem_max");
	sock_option_check_buffer(s, fd, SO_RCVBUF, in, "net.core.rmem_max");
}

int sock_open(struct sock_stack *s, int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? sock_no_descriptor(s, -errno) : -errno;
	fd = fd_move_up(fd);
	/* Small messages go at once; bulk comes in large pieces anyway. */
	(void)sock_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	/* An urgent byte is one of the stream's; those that are accepted have it from the listener.
	 */
	(void)sock_option(fd, SOL_SOCKET, SO_OOBINLINE, 1);
	sock_option_reset_on_close(fd, true);
	sock_option_keepalive(fd, &s->cfg);
	sock_option_buffers(s, fd);
	return fd;
}

uint32_t sock_option_mss(int fd)
{
	int mss = 0;
	socklen_t len = sizeof mss;

	if (getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) || mss <= 0)
		return 536; /* RFC 9293 section 3.7.1 */
	return (uint32_t)mss;
}

uint32_t sock_option_unacked(int fd)
{
	uint32_t n;

	return sock_option_outq(fd, &n) ? n : 0;
}

bool sock_option_outq(int fd, uint32_t *n)
{
	int told = -1;

	if (ioctl(fd, SIOCOUTQ, &told) || told < 0)
		return false;
	*n = (uint32_t)told;
	return true;
}

int sock_option_error(int fd)
{
	int error = 0;
	socklen_t len = sizeof error;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) ? -errno : -error;
}
