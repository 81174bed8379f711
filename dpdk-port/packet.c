/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/packet.h"

#include "dpdk-port/driver_name.h"
#include "dpdk-port/pool.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <rte_common.h>
#include <rte_kvargs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PACKET_FRAME_SIZE  2048u /* the driver's own */
#define PACKET_FRAME_COUNT 512u
#define PACKET_FRAME_STEP  1024u
#define PACKET_FRAMES_MIN  16u

/** Larger frames are fewer: each of the two rings takes no more, in bytes. */
#define PACKET_RING_MAX (8u << 20)

/** Of a frame in the ring: the kernel's header, the address, the alignment. */
#define PACKET_OVERHEAD 128u

/** Of a frame, what the driver does not count as data: TPACKET2_HDRLEN without the address. */
#define PACKET_HEADER (TPACKET2_HDRLEN - sizeof(struct sockaddr_ll))

bool packet_is_named(const char *device)
{
	return driver_name_fits("net_af_packet", device);
}

/** SIOCGIF... or SIOCSIF... @return 0 or -errno. */
static int packet_ioctl(unsigned long request, const char *ifname, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof ifr->ifr_name, "%s", ifname);
	r = ioctl(fd, request, ifr) ? -errno : 0;
	close(fd);
	return r;
}

uint16_t packet_interface_mtu(const char *ifname)
{
	struct ifreq ifr = {0};

	if (!*ifname || packet_ioctl(SIOCGIFMTU, ifname, &ifr))
		return 0;
	return (uint16_t)RTE_MIN(ifr.ifr_mtu, UINT16_MAX);
}

/** The number that @p key has among the arguments, or @p otherwise. */
static unsigned packet_number(const struct rte_kvargs *args, const char *key, unsigned otherwise)
{
	const char *given = rte_kvargs_get(args, key);

	return given ? (unsigned)strtoul(given, NULL, 10) : otherwise;
}

unsigned packet_frame_size(const char *args)
{
	struct rte_kvargs *parsed = rte_kvargs_parse(args, NULL);
	unsigned size;

	if (!parsed)
		return PACKET_FRAME_SIZE;
	size = packet_number(parsed, "framesz", PACKET_FRAME_SIZE);
	rte_kvargs_free(parsed);
	return size;
}

unsigned packet_mtu_max(unsigned frame_size)
{
	unsigned around = PACKET_OVERHEAD + pool_frame_size(0);

	return frame_size > around ? frame_size - around : 0;
}

unsigned packet_buffer_room(unsigned frame_size)
{
	return frame_size > PACKET_HEADER ? frame_size - (unsigned)PACKET_HEADER : 0;
}

/** Frames in a block, which is pages and holds no part of a frame, for the driver takes the frames
 *  of all blocks for one row. */
static unsigned packet_block_frames(unsigned frame_size)
{
	unsigned page = (unsigned)sysconf(_SC_PAGESIZE), a = page, b = frame_size;

	while (b) {
		unsigned rest = a % b;

		a = b;
		b = rest;
	}
	return page / a;
}

/** True when both rings may be locked, as the driver does. */
static bool packet_may_lock(uint64_t ring)
{
	/* No page of this is touched: only the limit is asked. */
	void *p = mmap(NULL, 2 * ring, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_LOCKED, -1, 0);

	if (p == MAP_FAILED)
		return errno != EAGAIN && errno != EPERM;
	munmap(p, 2 * ring);
	return true;
}

/** As many frames as are of use, by whole blocks of @p block frames. */
static unsigned packet_frames_wanted(unsigned size, unsigned block)
{
	unsigned n = RTE_MIN(PACKET_RING_MAX / size, PACKET_FRAME_COUNT);

	return RTE_MAX(n / block * block, block);
}

/** Of @p n frames, as many as may be locked. */
static unsigned packet_frames_lockable(unsigned n, unsigned size, unsigned block)
{
	while (n >= 2 * PACKET_FRAMES_MIN && !packet_may_lock((uint64_t)n * size))
		n /= 2;
	return RTE_MAX(n / block * block, block);
}

struct packet_text {
	char *out;
	size_t len, used;
};

__attribute__((format(printf, 2, 3))) static void packet_add(
	struct packet_text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->used < t->len ? t->out + t->used : NULL,
		t->used < t->len ? t->len - t->used : 0, fmt, ap);
	va_end(ap);
	t->used += (size_t)RTE_MAX(n, 0);
}

/** "framecnt", unless it is the driver's own. */
static void packet_add_count(struct packet_text *t, unsigned size, const struct port_config *cfg)
{
	unsigned block = packet_block_frames(size), wanted = packet_frames_wanted(size, block);
	unsigned count = packet_frames_lockable(wanted, size, block);
	struct rlimit limit = {0};

	if (count != PACKET_FRAME_COUNT)
		packet_add(t, ",framecnt=%u", count);
	if (count == wanted)
		return;
	getrlimit(RLIMIT_MEMLOCK, &limit);
	log_printf(cfg->log, LOG_LEVEL_WARNING,
		"port %s: locked memory is limited to %lu KiB (ulimit -l): its rings have %u "
		"frames "
		"instead of %u, and lose what comes faster than it is taken",
		cfg->device, (unsigned long)(limit.rlim_cur >> 10), count, wanted);
}

static void packet_add_rings(
	struct packet_text *t, const struct rte_kvargs *args, const struct port_config *cfg)
{
	uint16_t mtu = cfg->mtu;
	const char *ifname = rte_kvargs_get(args, "iface"),
		   *given = rte_kvargs_get(args, "framesz");
	unsigned size = packet_number(args, "framesz", PACKET_FRAME_SIZE);

	if (!mtu && ifname)
		mtu = RTE_MIN(packet_interface_mtu(ifname), PACKET_MTU_DEFAULT_MAX);
	if (!given && packet_mtu_max(size) < mtu) {
		size = RTE_ALIGN_CEIL(pool_frame_size(mtu) + PACKET_OVERHEAD, PACKET_FRAME_STEP);
		packet_add(t, ",framesz=%u", size);
	}
	/* What makes no sense is the driver's to refuse. */
	if (size < PACKET_OVERHEAD || size > PACKET_RING_MAX)
		return;
	if (size != PACKET_FRAME_SIZE)
		packet_add(t, ",blocksz=%u", size * packet_block_frames(size));
	if (!rte_kvargs_get(args, "framecnt"))
		packet_add_count(t, size, cfg);
}

int packet_complete(const struct port_config *cfg, char *out, size_t len)
{
	struct packet_text t = {.out = out, .len = len};
	const char *comma = strchr(cfg->device, ',');
	struct rte_kvargs *args = comma ? rte_kvargs_parse(comma + 1, NULL) : NULL;

	packet_add(&t, "%s", cfg->device);
	/* An argument for blocks comes from somebody who has thought of frames. */
	if (args && !rte_kvargs_get(args, "blocksz"))
		packet_add_rings(&t, args, cfg);
	rte_kvargs_free(args);
	return t.used < t.len ? 0 : -ENAMETOOLONG;
}

bool packet_may_change(const char *ifname)
{
	struct ifreq ifr = {0};

	/* Nothing has a metric: what is allowed to set it is told so, and nothing changes. */
	return packet_ioctl(SIOCSIFMETRIC, ifname, &ifr) != -EPERM;
}

static int packet_join(int fd, const struct packet_mreq *m)
{
	return setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, m, sizeof *m) ? -errno : 0;
}

int packet_receive(int fd, unsigned if_index, bool all)
{
	const struct packet_mreq m = {.mr_ifindex = (int)if_index,
		.mr_type = all ? PACKET_MR_PROMISC : PACKET_MR_ALLMULTI};

	return packet_join(fd, &m);
}

int packet_receive_address(int fd, unsigned if_index, const uint8_t *mac)
{
	struct packet_mreq m = {
		.mr_ifindex = (int)if_index, .mr_type = PACKET_MR_UNICAST, .mr_alen = 6};

	memcpy(m.mr_address, mac, 6);
	return packet_join(fd, &m);
}
