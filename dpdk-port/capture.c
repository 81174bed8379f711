/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/capture.h"

#include "dpdk-port/capture_block.h"
#include "dpdk-port/clock.h"
#include "dpdk-port/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define RING_SIZE (UINT64_C(16) << 20)

struct capture {
	uint8_t *ring;         /**< RING_SIZE bytes, mapped twice in a row: no block ever wraps */
	_Atomic uint64_t head; /**< bytes written into the ring, by the engine */
	_Atomic uint64_t tail; /**< bytes written to the file, by the thread */
	_Atomic bool asleep;   /**< the thread waits for wake_fd */
	_Atomic bool stop;
	_Atomic uint64_t dropped;
	uint64_t epoch; /**< to add for ns since 1970 */
	int fd, wake_fd;
	bool failed; /**< the file took no more; said once */
	pthread_t thread;
	const struct log_sink *log;
};

/** Map @p size bytes of memory twice, one after the other. @return NULL on failure. */
static uint8_t *capture_ring_map(size_t size)
{
	int fd = memfd_create("uiwarp-capture", MFD_CLOEXEC);
	uint8_t *at = MAP_FAILED;

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

static void capture_write_all(struct capture *c, const uint8_t *p, size_t len)
{
	while (len && !c->failed) {
		ssize_t n = write(c->fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			c->failed = true;
			log_printf(c->log, LOG_LEVEL_ERROR, "capture: %s: it ends here",
				n < 0 ? strerror(errno) : "the file takes no more");
			return;
		}
		p += n;
		len -= (size_t)n;
	}
}

/** Write out what is in the ring. @return false if there was nothing. */
static bool capture_drain(struct capture *c)
{
	uint64_t tail = atomic_load_explicit(&c->tail, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&c->head, memory_order_acquire);

	if (head == tail)
		return false;
	capture_write_all(c, c->ring + tail % RING_SIZE, head - tail);
	atomic_store_explicit(&c->tail, head, memory_order_release);
	return true;
}

static void *capture_thread(void *arg)
{
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
	return NULL;
}

static void capture_wake(struct capture *c)
{
	uint64_t one = 1;

	if (write(c->wake_fd, &one, sizeof one) < 0)
		return; /* the counter is full: it is awake */
}

static uint64_t capture_wall_clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void capture_release(struct capture *c)
{
	if (c->ring)
		munmap(c->ring, 2 * RING_SIZE);
	if (c->fd >= 0)
		close(c->fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	free(c);
}

int capture_open(const char *path, const char *ifname, uint64_t now, const struct log_sink *log,
	struct capture **out)
{
	struct capture *c = calloc(1, sizeof *c);
	uint8_t head[CAPTURE_HEAD_MAX];
	int r;

	if (!c)
		return -ENOMEM;
	c->log = log;
	c->epoch = capture_wall_clock_ns() - now;
	c->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	r = c->fd < 0 ? -errno : 0;
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->ring = capture_ring_map(RING_SIZE);
	if (!r && (!c->ring || c->wake_fd < 0))
		r = -ENOMEM;
	if (!r) {
		capture_write_all(c, head, capture_head(head, "uiwarp " UIWARP_VERSION, ifname));
		r = spawn_thread(&c->thread, NULL, capture_thread, c);
	}
	if (r) {
		capture_release(c);
		return r;
	}
	*out = c;
	return 0;
}

void capture_close(struct capture *c)
{
	uint8_t block[CAPTURE_STATISTICS_LEN];

	if (!c)
		return;
	atomic_store(&c->stop, true);
	capture_wake(c);
	pthread_join(c->thread, NULL);
	if (capture_dropped(c)) {
		capture_write_all(c, block,
			capture_statistics(block, capture_wall_clock_ns(), capture_dropped(c)));
		log_printf(c->log, LOG_LEVEL_WARNING,
			"capture: %llu frames are missing: the file was written too slowly",
			(unsigned long long)capture_dropped(c));
	}
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
