/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/rxfd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

typedef bool fd_match_fn(int fd, const void *arg);

/** Call @p match for each open descriptor; the last that it said yes to, and how many did. */
static int rxfd_find(fd_match_fn *match, const void *arg, unsigned *count)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *de;
	int found = -1;

	*count = 0;
	if (!d)
		return -1;
	while ((de = readdir(d))) {
		int fd = atoi(de->d_name);

		if (de->d_name[0] == '.' || fd == dirfd(d) || !match(fd, arg))
			continue;
		found = fd;
		++*count;
	}
	closedir(d);
	return found;
}

static bool rxfd_is_packet_socket(int fd, const void *arg)
{
	const unsigned *ifindex = arg;
	struct sockaddr_ll sll;
	socklen_t len = sizeof sll;

	return getsockname(fd, (struct sockaddr *)&sll, &len) == 0 && len >= sizeof sll - 8 &&
	       sll.sll_family == AF_PACKET && sll.sll_ifindex == (int)*ifindex;
}

int rxfd_packet_socket(unsigned ifindex)
{
	unsigned n;
	int fd = rxfd_find(rxfd_is_packet_socket, &ifindex, &n);

	return n == 1 ? fd : -1;
}

/** A queue of TAP interface @p arg; its signals are turned off on the way. */
static bool rxfd_is_tap_queue(int fd, const void *arg)
{
	struct ifreq ifr;
	int flags;

	memset(&ifr, 0, sizeof ifr);
	if (ioctl(fd, TUNGETIFF, &ifr) || strncmp(ifr.ifr_name, arg, IFNAMSIZ))
		return false;
	/* The queue that receives is the one that the driver made asynchronous; what shares its
	 * description is seen after that. Another, detached one only keeps the interface alive. */
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || !(flags & O_ASYNC))
		return false;
	fcntl(fd, F_SETFL, flags & ~O_ASYNC);
	return !(ifr.ifr_flags & IFF_DETACH_QUEUE);
}

/** The signal that @p fd would send, if there is a plain handler for it. */
static struct rxfd_signal rxfd_signal_of(int fd)
{
	struct rxfd_signal s = {.number = fcntl(fd, F_GETSIG)};
	struct sigaction sa;

	if (s.number > 0 && sigaction(s.number, NULL, &sa) == 0 && !(sa.sa_flags & SA_SIGINFO) &&
		sa.sa_handler != SIG_DFL && sa.sa_handler != SIG_IGN)
		s.handler = sa.sa_handler;
	return s;
}

int rxfd_tap_quiet(const char *ifname, struct rxfd_signal *signal)
{
	unsigned n;
	int fd = rxfd_find(rxfd_is_tap_queue, ifname, &n);

	*signal = (struct rxfd_signal){0};
	if (n != 1)
		return -1;
	*signal = rxfd_signal_of(fd);
	return fd;
}

bool rxfd_tap_is_gone(int fd)
{
	struct ifreq ifr;

	return ioctl(fd, TUNGETIFF, &ifr) < 0 && errno == EBADFD;
}
