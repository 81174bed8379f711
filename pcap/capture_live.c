/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/capture_live.h"

#include "base/own_file.h"
#include "pcap/capture_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

/** Longer than any offload makes a packet. */
#define LIVE_SNAP 262144
/** Bytes that the kernel keeps of a burst. */
#define LIVE_BUFFER (64 << 20)
/** ms after which it hands over what it has. */
#define LIVE_TIMEOUT 100
/** Frames that are read after a stop at most, where they come without end. */
#define LIVE_LAST_FRAMES (1u << 20)
/** Addresses for a file that may grow so far. */
#define LIVE_ROOM_MAX ((uint64_t)1 << 40)

struct cap_live {
	pcap_t *handle;
	int fd;
	volatile sig_atomic_t stopped;
	unsigned last_frames; /**< since then */
	bool named;           /**< the file is the user's */
};

/* ---- the file ------------------------------------------------------------------------------- */

static int cap_live_open_file(
	const struct cap_live_config *config, uint64_t *room, struct cap_error *e)
{
	struct statvfs fs;
	int fd;

	if (!config->path)
		return cap_spool_open(room, e);
	/* It may have what anybody on this system sends and receives. */
	fd = own_file_open(config->path, O_RDWR | O_TRUNC, 0600);
	if (fd < 0) {
		cap_bad(e, "%.80s: %s", config->path, own_file_strerror(fd));
		return -1;
	}
	if (fstatvfs(fd, &fs) == 0 && fs.f_bavail / 2 < *room / fs.f_frsize)
		*room = fs.f_bavail / 2 * fs.f_frsize;
	return fd;
}

/** Write at the end of the file. @return where it is, mapped; NULL: @p e says why not. */
static const uint8_t *cap_live_keep(
	struct cap_file *c, const void *bytes, size_t len, struct cap_error *e)
{
	const uint8_t *there = c->bytes + c->at;

	if (c->len - c->at < len) {
		cap_bad(e, "the capture has more than the %zu KiB that there is room for",
			c->len >> 10);
		return NULL;
	}
	/* Not through the mapping: a full disk would be a signal. */
	if (pwrite(c->live->fd, bytes, len, (off_t)c->at) != (ssize_t)len) {
		cap_bad(e, "the capture cannot be kept: %s", strerror(errno ? errno : ENOSPC));
		return NULL;
	}
	c->at += len;
	return there;
}

static bool cap_live_begin_file(struct cap_file *c, uint64_t room, struct cap_error *e)
{
	uint8_t header[CAP_PCAP_HEADER];
	void *map;

	c->len = (size_t)(room < LIVE_ROOM_MAX ? room : LIVE_ROOM_MAX) & ~(size_t)0xfff;
	/* Behind its end are no pages, and none is read before it is written. */
	map = c->len == 0 ? MAP_FAILED : mmap(NULL, c->len, PROT_READ, MAP_SHARED, c->live->fd, 0);
	if (map == MAP_FAILED) {
		cap_bad(e, "no room to keep the capture: %s", strerror(errno));
		return false;
	}
	c->bytes = map;
	c->mapped = true;
	cap_pcap_file_header(header, LIVE_SNAP, c->one.link);
	return cap_live_keep(c, header, sizeof header, e) != NULL;
}

/* ---- frames --------------------------------------------------------------------------------- */

static enum cap_result cap_live_take(struct cap_file *c, const struct pcap_pkthdr *h,
	const uint8_t *bytes, struct cap_frame *f, struct cap_error *e)
{
	uint8_t record[CAP_PCAP_RECORD];
	size_t before = c->at;
	const uint8_t *there;

	*f = (struct cap_frame){
		.number = ++c->number,
		.time = (uint64_t)h->ts.tv_sec * 1000000000u +
			(uint64_t)h->ts.tv_usec * cap_unit(&c->one),
		.unit = cap_unit(&c->one),
		.link = c->one.link,
		.len = h->len < h->caplen ? h->caplen : h->len,
		.captured = h->caplen,
	};
	cap_pcap_record(record, f);
	if (!cap_live_keep(c, record, sizeof record, e))
		return CAP_BAD;
	there = cap_live_keep(c, bytes, h->caplen, e);
	if (!there)
		c->at = before; /* the file ends with a whole record */
	f->bytes = there;
	return there ? CAP_FRAME : CAP_BAD;
}

/* After a stop: true if more may have come before it, which the kernel holds back for a time. */
static bool cap_live_has_more(const struct cap_live *l)
{
	struct pollfd p = {.fd = pcap_get_selectable_fd(l->handle), .events = POLLIN};

	return poll(&p, 1, 2 * LIVE_TIMEOUT) != 0;
}

static enum cap_result cap_live_next(struct cap_file *c, struct cap_frame *f, struct cap_error *e)
{
	struct cap_live *l = c->live;
	char text[PCAP_ERRBUF_SIZE];
	const uint8_t *bytes;
	struct pcap_pkthdr *h;
	int rc;

	for (;;) {
		bool stopped = l->stopped;

		if (stopped && l->last_frames++ == 0)
			pcap_setnonblock(l->handle, 1, text);
		rc = pcap_next_ex(l->handle, &h, &bytes);
		if (rc > 0)
			return l->last_frames > LIVE_LAST_FRAMES ? CAP_END
								 : cap_live_take(c, h, bytes, f, e);
		if (rc < 0 && rc != PCAP_ERROR_BREAK) {
			cap_bad(e, "%s", pcap_geterr(l->handle));
			return CAP_BAD;
		}
		if (rc == 0 && stopped && !cap_live_has_more(l))
			return CAP_END;
	}
}

void cap_live_stop(struct cap_file *c)
{
	c->live->stopped = 1;
	pcap_breakloop(c->live->handle);
}

/* ---- beginning and end ---------------------------------------------------------------------- */

static bool cap_live_activate(pcap_t *p, const struct cap_live_config *config, struct cap_error *e)
{
	struct bpf_program program;
	int rc;

	pcap_set_snaplen(p, LIVE_SNAP);
	pcap_set_promisc(p, 1);
	pcap_set_timeout(p, LIVE_TIMEOUT);
	pcap_set_buffer_size(p, LIVE_BUFFER);
	pcap_set_tstamp_precision(p, PCAP_TSTAMP_PRECISION_NANO);
	rc = pcap_activate(p);
	if (rc < 0) {
		const char *more = pcap_geterr(p);

		cap_bad(e, "%s", *more ? more : pcap_statustostr(rc));
		return false;
	}
	if (!config->filter)
		return true;
	if (pcap_compile(p, &program, config->filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
		cap_bad(e, "the filter \"%.60s\": %.80s", config->filter, pcap_geterr(p));
		return false;
	}
	rc = pcap_setfilter(p, &program);
	pcap_freecode(&program);
	if (rc != 0)
		cap_bad(e, "%s", pcap_geterr(p));
	return rc == 0;
}

static void cap_live_close(struct cap_file *c)
{
	if (c->live->named && ftruncate(c->live->fd, (off_t)c->at) != 0)
		c->live->named = false; /* it is as long as it is */
	if (c->live->fd >= 0)
		close(c->live->fd);
	pcap_close(c->live->handle);
	free(c->live);
}

struct cap_file *cap_live_open(const struct cap_live_config *config, struct cap_error *e)
{
	uint64_t room = config->room != 0 ? config->room : UINT64_MAX;
	struct cap_file *c = calloc(1, sizeof *c);
	struct cap_live *l = calloc(1, sizeof *l);
	char text[PCAP_ERRBUF_SIZE];

	if (c && l)
		l->handle = pcap_create(config->interface, text);
	if (!c || !l || !l->handle) {
		cap_bad(e, "%s", c && l ? text : "out of memory");
		free(c);
		free(l);
		return NULL;
	}
	l->fd = -1;
	l->named = config->path;
	c->live = l;
	c->close = cap_live_close;
	c->next = cap_live_next;
	if (cap_live_activate(l->handle, config, e)) {
		bool ns = pcap_get_tstamp_precision(l->handle) == PCAP_TSTAMP_PRECISION_NANO;
		int link = pcap_datalink(l->handle);

		c->one.link = link == DLT_RAW ? CAP_LINKTYPE_RAW : (uint32_t)link;
		c->one.units = ns ? 1000000000u : 1000000u;
		l->fd = cap_live_open_file(config, &room, e);
		if (l->fd >= 0 && cap_live_begin_file(c, room, e))
			return c;
	}
	cap_close(c);
	return NULL;
}

uint64_t cap_live_dropped(const struct cap_file *c)
{
	struct pcap_stat stat;

	if (!c->live || pcap_stats(c->live->handle, &stat) != 0)
		return 0;
	return (uint64_t)stat.ps_drop + stat.ps_ifdrop;
}
