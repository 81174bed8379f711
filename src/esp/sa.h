/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sa.h
 * A security association of ESP (RFC 4301 section 4.4.2, RFC 4303): one direction, one key. It
 * makes ESP of a payload and the other way round, in place. IP headers, modes and UDP are
 * packet.h's.
 *
 * Pure: no clock, no I/O, nothing allocated per packet. Not thread-safe.
 */
#ifndef ESP_SA_H
#define ESP_SA_H

#include "base/ip_addr.h"
#include "esp/cipher.h"
#include "esp/window.h"

/** What became of a packet. */
enum esp_verdict {
	ESP_OK,
	ESP_DUMMY,       /**< good, and to be forgotten (RFC 4303 section 2.6) */
	ESP_REPLAY,      /**< its sequence number has come before */
	ESP_LATE,        /**< its sequence number is left of the window */
	ESP_BAD_ICV,     /**< forged, changed, or with another key */
	ESP_SHORT,       /**< no room for what each ESP packet has, or not aligned */
	ESP_BAD_PADDING, /**< authentic, and not as RFC 4303 section 2.4 wants it */
	ESP_BAD_HEADER,  /**< an IP header that does not fit its packet or the SA's mode */
	ESP_FRAGMENT,    /**< transport mode is for whole packets (RFC 4303 section 3.3.4) */
	ESP_ENDED,       /**< the SA has no sequence number left, or reached a limit or its time */
	ESP_NO_ROOM,     /**< the buffer or an IP packet has no room for it */
	ESP_FAILED,      /**< the cipher failed */
	ESP_VERDICTS,
};

/** @return a word for logs and counters, such as "replay". */
const char *esp_verdict_name(enum esp_verdict v);

struct esp_sa_config {
	uint32_t spi; /**< 256 or more: lower ones are reserved (RFC 4303 section 2.1) */
	bool outbound;
	struct esp_cipher_config cipher; /**< its keys are read by esp_sa_create() only */
	bool esn;
	uint32_t window; /**< inbound: as of esp_window_init() */
	/**
	 * Outbound: the number of the packet before the first. Inbound: it and all below it are
	 * taken to have come.
	 */
	uint64_t sequence;
	/**
	 * Outbound: the IV is the sequence number plus this, or made of it. It must be random: a
	 * key from a file may be in use again after a restart, with the same sequence numbers, and
	 * AES-GCM breaks if an IV returns.
	 */
	uint64_t iv_base;
	uint64_t max_packets, max_octets; /**< of payload; 0: no limit */
	uint64_t began, max_ns;           /**< since when it is an SA, and for how long; 0: ever */
	bool tunnel;
	struct ip_addr src, dst; /**< tunnel: of the outer header */
	bool udp;                /**< RFC 3948 */
	uint16_t udp_src, udp_dst;
};

/** Packets are of late for so long at least, and twice as long at most: more than a round trip. */
#define ESP_RECENT_NS UINT64_C(2000000000)

/** Outbound: what was sent of late. */
struct esp_recent {
	uint64_t since;    /**< the period that goes on, or was the last */
	uint64_t first;    /**< the last sequence number before it */
	uint64_t previous; /**< and before the one that was before it */
};

struct esp_sa {
	struct esp_sa_config config; /**< keys and salt are NULL */
	struct esp_cipher *cipher;
	struct esp_shape shape;
	struct esp_window window; /**< inbound */
	uint64_t sequence;        /**< outbound: the last that was used */
	struct esp_recent recent;
	bool expired;             /**< when the last packet passed, or before */
	uint64_t packets, octets; /**< good ones, and their payload */
	uint64_t verdict[ESP_VERDICTS];
};

/** @return 0, -EINVAL, -ENOMEM, -ENOTSUP (built without OpenSSL). */
int esp_sa_create(const struct esp_sa_config *c, struct esp_sa **out);

/** NULL is allowed. */
void esp_sa_destroy(struct esp_sa *sa);

/** @return the highest sequence number that it has sent or taken; 0: none. */
static inline uint64_t esp_sa_counted(const struct esp_sa *sa)
{
	return sa->config.outbound ? sa->sequence : sa->window.top;
}

/** What has been done with a key. */
struct esp_sa_use {
	uint64_t sequence; /**< as of esp_sa_counted() */
	uint64_t packets, octets;
	uint64_t began; /**< as of struct esp_sa_config */
};

static inline struct esp_sa_use esp_sa_use_of(const struct esp_sa *sa)
{
	return (struct esp_sa_use){esp_sa_counted(sa), sa->packets, sa->octets, sa->config.began};
}

/** Another SA has done @p more with the key: the most that one has done counts. */
static inline void esp_sa_use_add(struct esp_sa_use *u, const struct esp_sa_use *more)
{
	u->sequence = more->sequence > u->sequence ? more->sequence : u->sequence;
	u->packets = more->packets > u->packets ? more->packets : u->packets;
	u->octets = more->octets > u->octets ? more->octets : u->octets;
	u->began = more->began < u->began ? more->began : u->began;
}

/**
 * Octets in memory of the caller, which is free before and behind them. Fields that change together
 * are not neighbours: compilers would change both by one load of what two stores have written.
 */
struct esp_buffer {
	uint8_t *data;
	size_t tailroom, headroom;
	/**
	 * What is to be sealed lies here, and is left as it is; esp_sa_trailer_room() octets behind
	 * it are written to. NULL: it is at data.
	 */
	uint8_t *from;
	size_t len;
};

/** @return how long ago @p then was; 0: not yet, as packets have the time of their round. */
static inline uint64_t esp_sa_age(uint64_t then, uint64_t now)
{
	return now > then ? now - then : 0;
}

/** A packet is about to pass. */
static inline void esp_sa_pass_time(struct esp_sa *sa, uint64_t now)
{
	const struct esp_sa_config *c = &sa->config;
	struct esp_recent *r = &sa->recent;
	uint64_t age = esp_sa_age(r->since, now);

	sa->expired = c->max_ns && esp_sa_age(c->began, now) >= c->max_ns;
	if (age < ESP_RECENT_NS)
		return;
	r->previous = age < 2 * ESP_RECENT_NS ? r->first : sa->sequence;
	r->first = sa->sequence;
	r->since = now;
}

/**
 * May the packet that begins with the octets of @p esp, of which there are @p len, have been sent
 * of late? Who has seen one of long ago has no word on what is sent today, and who has seen none
 * must not guess it: of the last 4,096 packets the sequence number is enough, and of those before
 * them, which can be some millions, the IV must be there and be right, which begins at a random
 * place.
 */
bool esp_sa_sent(const struct esp_sa *sa, const uint8_t *esp, size_t len, uint64_t now);

/** Octets before the payload, with the IV. */
static inline size_t esp_sa_front(const struct esp_sa *sa)
{
	return (size_t)ESP_IV + sa->shape.iv_len;
}

/** Octets between the payload and the ICV, at most. */
static inline size_t esp_sa_trailer_room(const struct esp_sa *sa)
{
	return (size_t)sa->shape.align - 1 + ESP_TRAILER_LEN;
}

/** Octets that ESP adds to a payload of @p len octets. */
size_t esp_sa_overhead(const struct esp_sa *sa, size_t len);

/**
 * Make the payload @p b an ESP packet, with @p next as its next header. What is counted by verdict
 * is counted by packet.h.
 * @return ESP_OK, ESP_ENDED, ESP_NO_ROOM or ESP_FAILED. Else than ESP_OK the payload is no more to
 * be sent.
 */
enum esp_verdict esp_sa_seal(struct esp_sa *sa, struct esp_buffer *b, uint8_t next);

/**
 * Make the ESP packet @p b its payload. The ICV is verified before anything behind the sequence
 * number is looked at, and before the window moves.
 * @param[out] next its next header, of ESP_OK.
 * @return else than ESP_OK: @p b has garbage in it.
 */
enum esp_verdict esp_sa_open(struct esp_sa *sa, struct esp_buffer *b, uint8_t *next);

static inline uint8_t *esp_buffer_from(const struct esp_buffer *b)
{
	return b->from ? b->from : b->data;
}

/** Put @p len octets before the data, or take them off. Room was looked at before. */
static inline void esp_buffer_push(struct esp_buffer *b, size_t len)
{
	b->data -= len;
	b->len += len;
	b->headroom -= len;
}

static inline void esp_buffer_pull(struct esp_buffer *b, size_t len)
{
	b->data += len;
	b->len -= len;
	b->headroom += len;
}

/** Put @p len octets behind the data, or take them off. */
static inline void esp_buffer_put(struct esp_buffer *b, size_t len)
{
	b->len += len;
	b->tailroom -= len;
}

static inline void esp_buffer_trim(struct esp_buffer *b, size_t len)
{
	b->len -= len;
	b->tailroom += len;
}

#endif
