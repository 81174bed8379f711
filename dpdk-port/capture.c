/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture.h"

#include "base/clock_id.h"
#include "base/fd_room.h"
#include "base/own_file.h"
#include "dpdk-port/capture_block.h"
#include "dpdk-port/clock.h"
#include "dpdk-port/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <rte_mbuf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RING_SIZE (UINT64_C(16) << 20)

/** Between two looks whether it shall end, while a FIFO is full; how many of them at the end. */
#define CAPTURE_FULL_MS    100
#define CAPTURE_FULL_LOOKS 10

struct capture {
	uint8_t *ring;         /**< RING_SIZE bytes, mapped twice in a row: no block ever wraps */
	_Atomic uint64_t head; /**< bytes written into the ring, by the engine */
	_Atomic uint64_t tail; /**< bytes written to the file, by the thread */
	_Atomic bool asleep;   /**< the thread waits for wake_fd */
	_Atomic bool stop;
	_Atomic uint64_t dropped;
	uint64_t epoch; /**< to add for ns since 1970 */
	int fd, wake_fd;
	_Atomic int error; /**< errno, when the file took no more; said once */
	char *path, *ifname;
	uint64_t size; /**< of a file before another is begun; 0: no limit */
	unsigned files;
	uint64_t written; /**< to the present file */
	pthread_t thread;
	const struct log_sink *log;
};

/** Beyond the limit of a file's size, which memory is to the kernel, too, it ends the process. */
static bool capture_may_have_file(size_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size;
}

/** Map @p size bytes of memory twice, one after the other. @return NULL on failure, with errno. */
static uint8_t *capture_ring_map(size_t size)
{
	uint8_t *at = MAP_FAILED;
	int fd;

	errno = EFBIG;
	fd = capture_may_have_file(size) ? memfd_create("uiwarp-capture", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		at = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at != MAP_FAILED)
		for (int i = 0; i < 2; i++)
			if (mmap(at + i * size, size, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
				munmap(at, 2 * size);
				at = MAP_FAILED;
				break;
			}
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/** A FIFO is full. Its reader is waited for, but not at the end of the program. */
static bool capture_has_room(const struct capture *c)
{
	struct pollfd p = {.fd = c->fd, .events = POLLOUT};

	for (unsigned looks = 0; looks < CAPTURE_FULL_LOOKS;
		looks = atomic_load(&c->stop) ? looks + 1 : 0)
		if (poll(&p, 1, CAPTURE_FULL_MS) > 0)
			return true;
	errno = EAGAIN;
	return false;
}

static void capture_write_all(struct capture *c, const uint8_t *p, size_t len)
{
	while (len && !c->error) {
		ssize_t n = write(c->fd, p, len);

		if (n < 0 && (errno == EINTR || (errno == EAGAIN && capture_has_room(c))))
			continue;
		if (n <= 0) {
			c->error = n < 0 ? errno : ENOSPC;
			log_printf(c->log, LOG_LEVEL_ERROR, "capture: %s: it ends here",
				n < 0 ? strerror(c->error) : "the file takes no more");
			return;
		}
		p += n;
		len -= (size_t)n;
		c->written += (uint64_t)n;
	}
}

/**
 * Empty it, unless another process captures into it: neither would leave a capture. A lock of the
 * process, as a child after fork() has all copies of ours. @return 0, -EBUSY or another -errno.
 */
static int capture_take(int fd, const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	struct stat st, now;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	if (fcntl(fd, F_SETLK, &lock) != 0 && (errno == EAGAIN || errno == EACCES))
		return -EBUSY;
	/* It has moved up, perhaps, since it was opened: it is kept. */
	if (stat(path, &now) != 0 || now.st_ino != st.st_ino || now.st_dev != st.st_dev)
		return -EBUSY;
	return ftruncate(fd, 0) == 0 ? 0 : -errno;
}

static int capture_create(struct capture *c)
{
	uint8_t head[CAPTURE_HEAD_MAX];
	/* What is in it is for nobody else. */
	int fd = own_file_open(c->path, O_WRONLY, 0600), rc;

	if (fd < 0)
		return fd;
	/* Before it has the lock, which any copy that is closed gives back. */
	fd = fd_move_up(fd);
	rc = capture_take(fd, c->path);
	if (rc) {
		close(fd);
		return rc;
	}
	c->fd = fd;
	c->written = 0;
	capture_write_all(c, head, capture_head(head, "uiwarp " UIWARP_VERSION, c->ifname));
	return 0;
}

/** PATH.N, or PATH itself for 0. */
static void capture_numbered(const struct capture *c, unsigned n, char *path, size_t len)
{
	if (n == 0)
		snprintf(path, len, "%s", c->path);
	else
		snprintf(path, len, "%s.%u", c->path, n);
}

/** @return -errno: what one that cannot move up has would be lost. */
static int capture_move_up(const struct capture *c)
{
	char from[PATH_MAX], to[PATH_MAX];

	for (unsigned i = c->files - 1; i > 0; i--) {
		capture_numbered(c, i - 1, from, sizeof from);
		capture_numbered(c, i, to, sizeof to);
		/* There are fewer at first. */
		if (rename(from, to) != 0 && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/** Another file: those before move up by one, and the last one goes. */
static void capture_next_file(struct capture *c)
{
	int r;

	r = capture_move_up(c);
	/* Its lock with it: until then nobody empties it. */
	close(c->fd);
	c->fd = -1;
	if (r)
		log_printf(c->log, LOG_LEVEL_ERROR,
			"capture: %s and those before cannot move up: %s: it ends here", c->path,
			strerror(-r));
	else if ((r = capture_create(c)) != 0)
		log_printf(c->log, LOG_LEVEL_ERROR, "capture: %s: %s: it ends here", c->path,
			capture_strerror(r));
	if (r)
		c->error = -r;
}

/** How much of the whole blocks at @p p the present file may have: one at least. */
static size_t capture_fitting(const struct capture *c, const uint8_t *p, size_t len)
{
	uint64_t room = c->size > c->written ? c->size - c->written : 0;
	size_t n = 0;
	uint32_t block;

	do {
		memcpy(&block, p + n + 4, sizeof block); /* its total length, in our order */
		n += block;
	} while (n < len && n < room);
	return n;
}

static void capture_write_blocks(struct capture *c, const uint8_t *p, size_t len)
{
	while (len && !c->error) {
		size_t n = c->size ? capture_fitting(c, p, len) : len;

		capture_write_all(c, p, n);
		p += n;
		len -= n;
		if (c->size && c->written >= c->size && !c->error)
			capture_next_file(c);
	}
}

/** Write out what is in the ring. @return false if there was nothing. */
static bool capture_drain(struct capture *c)
{
	uint64_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&c->head, memory_order_acquire);

	if (head == tail)
		return false;
	capture_write_blocks(c, c->ring + tail % RING_SIZE, head - tail);
	atomic_store_explicit(&c->tail, head, memory_order_release);
	return true;
}

static void *capture_thread(void *arg)
{
	uint8_t block[CAPTURE_STATISTICS_LEN];
	struct capture *c = arg;
	struct pollfd p = {.fd = c->wake_fd, .events = POLLIN};
	uint64_t n;

	pthread_setname_np(pthread_self(), "uiwarp-capture");
	while (!atomic_load(&c->stop)) {
		if (capture_drain(c))
			continue;
		/* The engine looks at asleep after it moved head, we at head after asleep. */
		atomic_store(&c->asleep, true);
		if (atomic_load(&c->head) == atomic_load(&c->tail) && !atomic_load(&c->stop))
			poll(&p, 1, -1);
		atomic_store(&c->asleep, false);
		if (read(c->wake_fd, &n, sizeof n) < 0)
			continue;
	}
	while (capture_drain(c))
		;
	/* Here SIGPIPE is blocked. */
	if (capture_dropped(c))
		capture_write_all(c, block,
			capture_statistics(block, clock_id_ns(CLOCK_REALTIME), capture_dropped(c)));
	return NULL;
}

static void capture_wake(struct capture *c)
{
	uint64_t one = 1;

	if (write(c->wake_fd, &one, sizeof one) < 0)
		return; /* the counter is full: it is awake */
}

static void capture_release(struct capture *c)
{
	if (c->ring)
		munmap(c->ring, 2 * RING_SIZE);
	if (c->fd >= 0)
		close(c->fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	free(c->path);
	free(c->ifname);
	free(c);
}

int capture_open(const char *path, const char *ifname, uint64_t now, const struct log_sink *log,
	struct capture **out)
{
	struct capture *c = calloc(1, sizeof *c);
	int r;

	if (!c)
		return -ENOMEM;
	c->log = log;
	c->epoch = clock_id_ns(CLOCK_REALTIME) - now;
	c->fd = -1;
	c->path = strdup(path);
	c->ifname = strdup(ifname);
	c->ring = capture_ring_map(RING_SIZE);
	r = c->ring ? 0 : -errno;
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (!r && c->wake_fd < 0)
		r = -errno;
	/* Last: what the file had before is gone then. */
	if (!r)
		r = c->path && c->ifname ? capture_create(c) : -ENOMEM;
	if (!r)
		r = spawn_thread(&c->thread, NULL, capture_thread, c);
	if (r) {
		capture_release(c);
		return r;
	}
	*out = c;
	return 0;
}

const char *capture_strerror(int rc)
{
	switch (rc) {
	case -EFBIG:
		return "\"ulimit -f\" is below the 16 MiB of memory that it takes";
	case -EBUSY:
		return "another process captures into it; \"%p\" in the name becomes the number "
		       "of the process";
	default:
		return own_file_strerror(rc);
	}
}

void capture_rotate(struct capture *c, uint64_t size, unsigned files)
{
	/* Its thread looks at them only once there are frames. */
	c->files = files;
	c->size = size;
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	atomic_store(&c->stop, true);
	capture_wake(c);
	pthread_join(c->thread, NULL);
	if (capture_dropped(c))
		log_printf(c->log, LOG_LEVEL_WARNING,
			"capture: %llu frames are missing: the file was written too slowly",
			(unsigned long long)capture_dropped(c));
	capture_release(c);
}

void capture_packet(
	struct capture *c, const struct rte_mbuf *m, enum capture_direction dir, uint64_t now)
{
	uint64_t head = atomic_load_explicit(&c->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&c->tail, memory_order_acquire);
	uint32_t len = capture_packet_len(m->pkt_len);

	if (RING_SIZE - (head - tail) < len) {
		atomic_fetch_add_explicit(&c->dropped, 1, memory_order_relaxed);
		return;
	}
	capture_packet_block(c->ring + head % RING_SIZE, m, dir, now + c->epoch);
	atomic_store(&c->head, head + len);
	if (atomic_load(&c->asleep) && atomic_exchange(&c->asleep, false))
		capture_wake(c);
}

uint64_t capture_dropped(const struct capture *c)
{
	return atomic_load_explicit(&c->dropped, memory_order_relaxed);
}

int capture_error(const struct capture *c)
{
	return c->error;
}
