/* SPDX-License-Identifier: BSD-2-Clause */
/** @file capture_priv.h Shared by the readers of the two formats. */
#ifndef PCAP_CAPTURE_PRIV_H
#define PCAP_CAPTURE_PRIV_H

#include "pcap/capture.h"

#include "base/bytes.h"

#include <stdio.h>

/** Longest frame: more than any link or offload makes. */
#define CAP_FRAME_MAX (1u << 22)
/** LINKTYPE_RAW: libpcap's calls have another number for it (DLT_RAW); and OpenBSD's for that. */
#define CAP_LINKTYPE_RAW         101
#define CAP_LINKTYPE_RAW_OPENBSD 14
/** Octets of the headers of the pcap format: of a file, and of a frame in it. */
#define CAP_PCAP_HEADER 24
#define CAP_PCAP_RECORD 16
/** Interfaces of one section of a pcapng file. */
#define CAP_INTERFACES_MAX 4096

struct cap_interface {
	uint32_t link;
	uint32_t snap;  /**< 0: none */
	uint64_t units; /**< of time in a second */
	int64_t offset; /**< seconds to add */
};

struct cap_file {
	const uint8_t *bytes;
	size_t len, at;
	size_t given_back; /**< pages before this were given back to the system */
	bool mapped, swapped;
	struct cap_error damage; /**< why the text of the file ends early; empty: it does not */
	enum cap_result (*next)(struct cap_file *c, struct cap_frame *f, struct cap_error *e);
	uint64_t number;
	/* pcap */
	struct cap_interface one;
	/* live */
	struct cap_live *live;
	void (*close)(struct cap_file *c); /**< what else is to do; NULL: nothing */
	/* pcapng: of the section */
	struct cap_interface *interfaces;
	unsigned num_interfaces;
};

static inline uint32_t cap_load32(const struct cap_file *c, const uint8_t *p)
{
	return c->swapped ? load_be32(p) : load_le32(p);
}

static inline uint16_t cap_load16(const struct cap_file *c, const uint8_t *p)
{
	uint16_t v = load_be16(p);

	return c->swapped ? v : __builtin_bswap16(v);
}

/** The unit of its times in ns, at least 1. */
static inline uint32_t cap_unit(const struct cap_interface *i)
{
	return i->units < 1000000000u ? (uint32_t)(1000000000u / i->units) : 1;
}

/** Set the time of @p f from one in units of @p i; it has none if 64 bits cannot hold it. */
static inline void cap_take_time(struct cap_frame *f, const struct cap_interface *i, uint64_t units)
{
	uint64_t seconds = units / i->units;
	unsigned __int128 part = (unsigned __int128)(units % i->units) * 1000000000u / i->units;

	seconds += (uint64_t)i->offset;
	if (seconds >= UINT64_C(18000000000))
		return;
	f->time = seconds * 1000000000u + (uint64_t)part;
	f->unit = cap_unit(i);
}

/** Fill in @p e, with the number of the next frame. @return CAP_BAD. */
__attribute__((format(printf, 2, 3))) enum cap_result cap_bad(
	struct cap_error *e, const char *format, ...);

/**
 * Detect the format of the bytes of @p c, and begin to read them.
 * @return @p c; or NULL, with @p c closed and @p e saying why.
 */
struct cap_file *cap_start(struct cap_file *c, struct cap_error *e);

/**
 * Begin to read one of the formats at its first byte.
 * @return 1; 0: it is not this format; -1: it is, but damaged.
 */
int cap_pcap_start(struct cap_file *c, struct cap_error *e);
int cap_pcapng_start(struct cap_file *c, struct cap_error *e);

/** Write the header of a pcap file with times in ns. */
void cap_pcap_file_header(uint8_t header[CAP_PCAP_HEADER], uint32_t snap, uint32_t link);

/** Write the header of a frame in it. */
void cap_pcap_record(uint8_t record[CAP_PCAP_RECORD], const struct cap_frame *f);

/** cap_open() with a limit, in bytes, of the temporary file that a pipe or a compressed file needs.
 */
struct cap_file *cap_open_within(const char *path, uint64_t room, struct cap_error *e);

/* ---- capture_spool.c: what must be written to a temporary file before it can be mapped ------- */

/**
 * An unlinked file in $TMPDIR, or /tmp.
 * @param[in,out] room bytes that it may take; lowered to half of what is free there.
 * @return a file descriptor; -1: @p e says why not.
 */
int cap_spool_open(uint64_t *room, struct cap_error *e);

/**
 * Copy what is in @p fd, if it is of the kind of the name, to such a file in a form that is read.
 * @param damage why not all of it could be.
 * @return that file; @p fd, if it is not of that kind; -1: @p e says why not.
 */
int cap_spool_pipe(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e);
int cap_spool_compressed(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e);
int cap_spool_variant(int fd, uint64_t room, struct cap_error *damage, struct cap_error *e);

#endif
