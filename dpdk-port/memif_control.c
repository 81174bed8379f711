/* SPDX-License-Identifier: BSD-2-Clause */
#include "dpdk-port/memif_control.h"

#include "dpdk-port/memif_ring.h"
#include "dpdk-port/memif_seal.h"
#include "dpdk-port/memif_send.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

/** Kinds of messages. */
enum {
	CONTROL_ACK = 1,
	CONTROL_HELLO,
	CONTROL_INIT,
	CONTROL_ADD_REGION,
	CONTROL_ADD_RING,
	CONTROL_CONNECT,
	CONTROL_CONNECTED,
	CONTROL_DISCONNECT,
	CONTROL_KINDS
};

/** Of a ring: it is the client's to send by. */
#define CONTROL_TO_SERVER 1u

/** As many as the kernel sends with one message (SCM_MAX_FD). */
#define CONTROL_DESCRIPTORS 253

struct memif_control_descriptors {
	unsigned n;
	int fd[CONTROL_DESCRIPTORS];
};

/** A message on its channel. */
struct memif_control_message {
	const uint8_t *octet;
	const struct memif_control_descriptors *descriptors;
};

bool memif_control_cookie(int fd, uint64_t *cookie)
{
	socklen_t len = sizeof *cookie;

	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, cookie, &len) == 0;
}

/* ---- messages, which are in the host's byte order -------------------------------------------- */

static uint16_t memif_control_load16(const uint8_t *octet)
{
	uint16_t v;

	memcpy(&v, octet, sizeof v);
	return v;
}

static uint32_t memif_control_load32(const uint8_t *octet)
{
	uint32_t v;

	memcpy(&v, octet, sizeof v);
	return v;
}

static uint64_t memif_control_load64(const uint8_t *octet)
{
	uint64_t v;

	memcpy(&v, octet, sizeof v);
	return v;
}

/** All that came with @p m. The driver asks for no others than rights and credentials. */
static void memif_control_list(const struct msghdr *m, struct memif_control_descriptors *d)
{
	struct msghdr *all = (struct msghdr *)(uintptr_t)m; /* CMSG_NXTHDR() takes no const one */

	d->n = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(all); c; c = CMSG_NXTHDR(all, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; CMSG_LEN(at + sizeof(int)) <= c->cmsg_len; at += sizeof(int))
			if (d->n < CONTROL_DESCRIPTORS)
				memcpy(&d->fd[d->n++], CMSG_DATA(c) + at, sizeof(int));
	}
}

/* ---- channels -------------------------------------------------------------------------------- */

/** The driver closes the files that it has mapped, which it does when a client connects. */
static void memif_control_forget(struct memif_control_channel *ch)
{
	for (unsigned i = 0; ch->stage == MEMIF_CONTROL_SERVER && i < ch->regions; i++)
		close(ch->file[i]);
	memset(ch, 0, sizeof *ch);
}

void memif_control_sweep(struct memif_control *c)
{
	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++) {
		struct memif_control_channel *ch = &c->channel[i];
		uint64_t cookie;

		if (ch->cookie && (!memif_control_cookie(ch->fd, &cookie) || cookie != ch->cookie))
			memif_control_forget(ch);
	}
}

static struct memif_control_channel *memif_control_with(struct memif_control *c, uint64_t cookie)
{
	for (unsigned i = 0; i < MEMIF_CONTROL_CHANNELS; i++)
		if (c->channel[i].cookie == cookie)
			return &c->channel[i];
	return NULL;
}

/** @return NULL: it has said nothing. */
static struct memif_control_channel *memif_control_find(struct memif_control *c, int fd)
{
	uint64_t cookie;

	return memif_control_cookie(fd, &cookie) ? memif_control_with(c, cookie) : NULL;
}

/** The same, but a new one for who has said nothing. @return NULL: all are in use. */
static struct memif_control_channel *memif_control_channel_of(struct memif_control *c, int fd)
{
	struct memif_control_channel *ch = memif_control_find(c, fd);

	if (ch)
		return ch;
	memif_control_sweep(c);
	ch = memif_control_with(c, 0);
	if (!ch || !memif_control_cookie(fd, &ch->cookie))
		return NULL;
	ch->fd = fd;
	return ch;
}

/* ---- what each may say: NULL, or why it may not ---------------------------------------------- */

typedef const char *memif_control_hear_fn(
	struct memif_control_channel *ch, const struct memif_control_message *m);

static uint64_t memif_control_octets(const struct memif_control_channel *ch)
{
	uint64_t octets = 0;

	for (unsigned i = 0; i < ch->regions; i++)
		octets += ch->size[i];
	return octets;
}

/** As the driver will map it; where it fails, that keeps the files behind it. */
static bool memif_control_maps(int fd, uint64_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory != MAP_FAILED)
		munmap(memory, size);
	return memory != MAP_FAILED;
}

static const char *memif_control_add_region(
	struct memif_control_channel *ch, const struct memif_control_message *m)
{
	int fd = m->descriptors->fd[0];
	uint64_t size = memif_control_load64(m->octet + 4), octets;

	if (ch->regions == MEMIF_REGIONS_MAX || memif_control_load16(m->octet + 2) != ch->regions)
		return "the files of its memory have not the numbers from 0 to 15 in turn";
	if (memif_seal(fd, &octets))
		return MEMIF_SEAL_REFUSED;
	if (!size || size > octets)
		return "a file of its memory is empty, or shorter than it says";
	if (size > MEMIF_REGIONS_BYTES_MAX - memif_control_octets(ch))
		return MEMIF_REGIONS_TOO_LARGE;
	if (!memif_control_maps(fd, size))
		return "a file of its memory cannot be mapped";
	ch->file[ch->regions] = fd;
	ch->size[ch->regions++] = size;
	return NULL;
}

/** Is a ring of 2 to the @p log2 descriptors at @p offset of region @p region? */
static bool memif_control_has_ring(
	const struct memif_control_channel *ch, uint16_t region, uint32_t offset, uint8_t log2)
{
	uint64_t len = sizeof(struct memif_ring) + (sizeof(struct memif_desc) << log2);

	return region < ch->regions && offset % sizeof(struct memif_desc) == 0 &&
	       offset <= ch->size[region] && ch->size[region] - offset >= len;
}

static const char *memif_control_add_ring(
	struct memif_control_channel *ch, const struct memif_control_message *m)
{
	unsigned *rings = &ch->rings[memif_control_load16(m->octet + 2) & CONTROL_TO_SERVER];
	uint8_t log2 = m->octet[12];

	if (*rings == MEMIF_CONTROL_RINGS || memif_control_load16(m->octet + 4) != *rings)
		return "it sends other rings than one each way, with the number 0";
	if (log2 > MEMIF_RING_LOG2_MAX)
		return "a ring of its has more descriptors than any of DPDK's, 16384";
	if (!memif_control_has_ring(ch, memif_control_load16(m->octet + 6),
		    memif_control_load32(m->octet + 8), log2))
		return "a ring of its is not in the memory that it has sent";
	++*rings;
	return NULL;
}

static const char *memif_control_connect(
	struct memif_control_channel *ch, const struct memif_control_message *m)
{
	if (!ch->rings[0] || !ch->rings[1])
		return "it connects without a ring each way";
	return NULL;
}

/** The driver ends the channel by itself. */
static const char *memif_control_disconnect(
	struct memif_control_channel *ch, const struct memif_control_message *m)
{
	memif_control_forget(ch);
	return NULL;
}

#define CONTROL_IN(stage) (1u << MEMIF_CONTROL_##stage)
#define CONTROL_IN_CLIENT (CONTROL_IN(CLIENT) | CONTROL_IN(ASKING) | CONTROL_IN(CLIENT_UP))
#define CONTROL_IN_SERVER (CONTROL_IN(SERVER) | CONTROL_IN(SERVER_UP))

/** Kinds of messages. A name (or a reason) of @p octets at @p at has an end; 0: there is none. */
static const struct {
	unsigned in; /**< stages that it may come in */
	unsigned descriptors;
	uint8_t at, octets;
	enum memif_control_stage next; /**< what it leads to; NEW: to none */
	memif_control_hear_fn *hear;   /**< NULL: nothing more is to be known of it */
} memif_control_kind[CONTROL_KINDS] = {
	[CONTROL_ACK] = {.in = CONTROL_IN_CLIENT},
	[CONTROL_HELLO] = {.in = CONTROL_IN(NEW),
		.at = 2,
		.octets = 32,
		.next = MEMIF_CONTROL_CLIENT},
	[CONTROL_INIT] = {.in = CONTROL_IN(NEW),
		.at = 33,
		.octets = 32,
		.next = MEMIF_CONTROL_SERVER},
	[CONTROL_ADD_REGION] = {.in = CONTROL_IN(SERVER),
		.descriptors = 1,
		.hear = memif_control_add_region},
	[CONTROL_ADD_RING] = {.in = CONTROL_IN(SERVER),
		.descriptors = 1,
		.hear = memif_control_add_ring},
	[CONTROL_CONNECT] = {.in = CONTROL_IN(SERVER),
		.at = 2,
		.octets = 32,
		.next = MEMIF_CONTROL_SERVER_UP,
		.hear = memif_control_connect},
	[CONTROL_CONNECTED] = {.in = CONTROL_IN(ASKING),
		.at = 2,
		.octets = 32,
		.next = MEMIF_CONTROL_CLIENT_UP},
	[CONTROL_DISCONNECT] = {.in = CONTROL_IN(NEW) | CONTROL_IN_CLIENT | CONTROL_IN_SERVER,
		.at = 6,
		.octets = 96,
		.hear = memif_control_disconnect},
};

/** A message of the right length, on its channel. */
static const char *memif_control_hear(
	struct memif_control_channel *ch, const struct memif_control_message *m)
{
	uint16_t kind = memif_control_load16(m->octet);
	const char *why = NULL;

	if (kind >= CONTROL_KINDS || !(memif_control_kind[kind].in & (1u << ch->stage)))
		return "it sends a message that it may not, or not yet, or not any more";
	if (m->descriptors->n != memif_control_kind[kind].descriptors)
		return "it sends another number of descriptors than the protocol has";
	if (memif_control_kind[kind].octets &&
		!memchr(m->octet + memif_control_kind[kind].at, 0, memif_control_kind[kind].octets))
		return "it sends a name without an end";
	if (memif_control_kind[kind].hear)
		why = memif_control_kind[kind].hear(ch, m);
	if (!why && memif_control_kind[kind].next)
		ch->stage = memif_control_kind[kind].next;
	return why;
}

static const char *memif_control_reason(struct memif_control *c, int fd, const struct msghdr *m,
	ssize_t n, const struct memif_control_descriptors *d)
{
	const struct memif_control_message message = {m->msg_iov->iov_base, d};
	struct memif_control_channel *ch;

	if (n != MEMIF_SEND_OCTETS || m->msg_flags & MSG_TRUNC)
		return "it sends a message of another length than the protocol has";
	/* The kernel has closed those that it had no room for. */
	if (m->msg_flags & MSG_CTRUNC)
		return d->n ? "it sends more descriptors than the protocol has"
			    : "there is no descriptor left for what it sends (\"ulimit -n\")";
	ch = memif_control_channel_of(c, fd);
	return ch ? memif_control_hear(ch, &message) : "there are too many connections";
}

/* ---- who is refused -------------------------------------------------------------------------- */

/** The socket that @p fd is of; a client's own has no name. */
static void memif_control_name(int fd, char *name, size_t len)
{
	struct sockaddr_un sun = {0};
	socklen_t n = sizeof sun;

	if (getsockname(fd, (struct sockaddr *)&sun, &n) || n <= sizeof sun.sun_family) {
		n = sizeof sun;
		if (getpeername(fd, (struct sockaddr *)&sun, &n))
			n = 0;
	}
	if (n > sizeof sun.sun_family && !sun.sun_path[0])
		sun.sun_path[0] = '@';
	snprintf(name, len, "%.*s", (int)sizeof sun.sun_path, sun.sun_path);
}

/** Send it a reason: it would be told of the end alone. */
static void memif_control_send_reason(int fd, const char *why)
{
	uint8_t octet[MEMIF_SEND_OCTETS] = {0};
	uint16_t kind = CONTROL_DISCONNECT;

	memcpy(octet, &kind, sizeof kind);
	snprintf((char *)octet + 6, 96, "%s", why);
	(void)send(fd, octet, sizeof octet, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void memif_control_refuse(int fd, const char *why, memif_control_tell_fn *tell)
{
	char sentence[MEMIF_CONTROL_SENTENCE], name[sizeof(struct sockaddr_un)];
	struct ucred peer = {0};
	socklen_t len = sizeof peer;

	memif_control_send_reason(fd, why);
	memif_control_name(fd, name, sizeof name);
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	snprintf(sentence, sizeof sentence, "memif at %s: its peer, process %d, is refused: %s",
		name, (int)peer.pid, why);
	tell(sentence);
}

/** The driver will hear no more of @p fd, and nothing of what came with its last message. */
static void memif_control_end(
	struct memif_control *c, int fd, const struct memif_control_descriptors *d)
{
	struct memif_control_channel *ch = memif_control_find(c, fd);

	for (unsigned i = 0; i < d->n; i++)
		close(d->fd[i]);
	if (ch)
		memif_control_forget(ch);
}

ssize_t memif_control_received(struct memif_control *c, int fd, const struct msghdr *m, ssize_t n,
	memif_control_tell_fn *tell)
{
	struct memif_control_descriptors d = {.n = 0};
	int error = errno;
	const char *why;

	if (memif_send_is_channel(fd)) {
		if (n >= 0)
			memif_control_list(m, &d);
		why = n > 0 ? memif_control_reason(c, fd, m, n, &d) : NULL;
		if (why)
			memif_control_refuse(fd, why, tell);
		if (why || n <= 0)
			memif_control_end(c, fd, &d);
		n = why ? 0 : n;
	}
	errno = error;
	return n;
}

void memif_control_sent(struct memif_control *c, int fd, const struct msghdr *m)
{
	struct memif_control_channel *ch;

	if (!memif_send_is_message(m) ||
		memif_control_load16(m->msg_iov->iov_base) != CONTROL_CONNECT)
		return;
	ch = memif_control_find(c, fd);
	if (ch && ch->stage == MEMIF_CONTROL_CLIENT)
		ch->stage = MEMIF_CONTROL_ASKING;
}
