/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file packetdrill_priv.h
 * What the parts of the adapter to packetdrill share. packetdrill.h, of its source, has the
 * contracts of the calls: they return as the system calls of their names do, with errno.
 */
#ifndef DRIVE_PACKETDRILL_PRIV_H
#define DRIVE_PACKETDRILL_PRIV_H

#include "drive/uiwarp_tcp.h"

#include <packetdrill.h>
#include <pthread.h>

#define PACKETDRILL_US  UINT64_C(1000)
#define PACKETDRILL_SEC UINT64_C(1000000000)
#define PACKETDRILL_FDS 1024

struct packetdrill {
	struct uiwarp_tcp *h;
	char *flags; /**< the host's configuration points into it */
	/** One thread of packetdrill's runs the script, another one the call that blocks. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;
	uint64_t counted_at; /**< packetdrill_count_times() was called then */
	bool no_push;        /**< take PSH off: which segment has it is nobody's to say */
	/** packetdrill calls close() itself after ours, so each socket has a real descriptor. */
	struct packetdrill_fd {
		int s; /**< our socket and 1; 0: none */
		bool nonblock, cork;
		int send_buffer; /**< as SO_SNDBUF was set; 0: not */
		/** Text that Linux would have in that buffer: TCP queues little more than what
		 * the peer's window takes. */
		char *kept;
		size_t kept_at, kept_len;
		/* Of packetdrill_count_times(). */
		bool busy, window_limited;
		uint64_t busy_ns, window_limited_ns, received, received_at;
	} fd[PACKETDRILL_FDS];
};

/** packetdrill makes one host. */
extern struct packetdrill *packetdrill_of_process;

/** Begin a call of packetdrill's, with its user data. packetdrill_end() must follow. */
struct packetdrill *packetdrill_begin(void *u);

/** End it. @return @p r if it is not negative, else -1 with errno. */
int packetdrill_end(struct packetdrill *d, ssize_t r);

/** Something happened: a blocked call has to look, before time moves on. */
void packetdrill_notify(struct packetdrill *d);

/** Before and after each event: how long each socket was busy, and what limited it. */
void packetdrill_count_times(struct packetdrill *d);

/** What @p n of SO_SNDBUF lets wait in a socket: TCP's queue, and what is kept here. */
static inline int packetdrill_send_limit(int n)
{
	/* Linux doubles what is asked for, as that much memory holds less text, and lets a writer
	 * go on when a third of it is free. */
	return 4 * n / 3;
}

/** @return the socket of @p fd, or -1, for which each call fails with -EBADF. */
int packetdrill_sock(const struct packetdrill *d, int fd);

int packetdrill_getsockopt(void *u, int fd, int level, int name, void *value, socklen_t *len);
int packetdrill_setsockopt(void *u, int fd, int level, int name, const void *value, socklen_t len);

int packetdrill_netdev_send(void *u, const void *buf, size_t len);
int packetdrill_netdev_receive(void *u, void *buf, size_t *len, long long *time_usecs);
int packetdrill_usleep(void *u, useconds_t us);
int packetdrill_gettimeofday(void *u, struct timeval *tv, struct timezone *tz);

#endif
