/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file database.h
 * The SPD and the SAD of a host (RFC 4301 sections 4.4.1 and 4.4.2), made of a file and made anew
 * when it changes. Not thread-safe; lookups allocate nothing.
 */
#ifndef ESP_DATABASE_H
#define ESP_DATABASE_H

#include "base/random.h"
#include "esp/ended.h"
#include "esp/file.h"
#include "esp/sa.h"

/** Flows whose entries are remembered; a power of two. */
#define ESP_FLOWS 1024

/** What a flow had the last time. */
struct esp_flow_entry {
	struct ip_flow flow;
	bool valid, outbound;
	enum esp_action action;
	const struct esp_template *tmpl; /**< ESP_PROTECT */
	struct esp_sa *sa;               /**< outbound; NULL: there is none */
	const struct esp_sa *arrived;    /**< inbound: the last that was for it */
};

struct esp_database {
	struct random_source random;
	bool has_gcm;
	struct gcm gcm;
	struct esp_file *file; /**< NULL: none was read, and all packets are discarded */
	struct esp_sa *sa[ESP_STATES_MAX]; /**< of the file's states */
	struct esp_ended *ended;           /**< NULL: none has */
	unsigned inbound, outbound;        /**< how many there are */
	bool udp;                          /**< an inbound one is in UDP */
	/** To which of our ports, as `encap` says: one bit each. */
	uint64_t udp_ports[(UINT16_MAX + 1) / 64];
	struct esp_flow_entry flow[ESP_FLOWS];
};

void esp_database_init(struct esp_database *db, const struct random_source *random);
void esp_database_fini(struct esp_database *db);

/** @return how many SAs there are. */
static inline unsigned esp_database_count(const struct esp_database *db)
{
	return db->file ? db->file->n_states : 0;
}

/**
 * Let @p file be the one in force. SAs that were there stay, with their sequence numbers, and take
 * new addresses of either end, UDP and its ports, selectors, reqids and limits; those that are not
 * in it end, and so do those whose SPI has another key in it (esp_state_uses_key()). One that has
 * another mode, window, ESN or encryption, or has ended and is back, with its key, goes on behind
 * what it has sent and taken, and an inbound one of a key that is in use at another address behind
 * what has come there. On failure all stays as it was, and @p file is the caller's. The time of one
 * that stays, or is back, goes on.
 * @param now when new ones begin.
 * @param[out] why if that fails: a sentence, in @p size octets.
 * @return 0; -EINVAL: an SA has counted further than it can without ESN; -EKEYEXPIRED: it ended,
 *         and is not known any more (ended.h); -ENOMEM; -ENOTSUP.
 */
int esp_database_update(
	struct esp_database *db, struct esp_file *file, uint64_t now, char *why, size_t size);

/**
 * What is to become of a packet that leaves.
 * @param[out] sa for ESP_PROTECT: the last one in the file that fits; NULL: there is none.
 */
enum esp_action esp_database_output(
	struct esp_database *db, const struct ip_flow *f, struct esp_sa **sa);

/** What becomes of a packet that has come. */
enum esp_arrival {
	ESP_ARRIVED,
	ESP_CLEAR,    /**< it had to be protected, and is not */
	ESP_MISMATCH, /**< it is protected by an SA that is not for it (RFC 4301 section 5.2) */
	ESP_REFUSED,  /**< a policy, or that there is none, discards it */
};

/** @param secured the SA that it came by; NULL: it came in the clear. */
enum esp_arrival esp_database_input(
	struct esp_database *db, const struct ip_flow *f, const struct esp_sa *secured);

/** May what comes to @p port be ESP in UDP (RFC 3948)? */
static inline bool esp_database_has_port(const struct esp_database *db, uint16_t port)
{
	return db->udp && db->udp_ports[port / 64] >> port % 64 & 1;
}

/** The inbound SA of an ESP packet to @p dst (RFC 4301 section 4.1); NULL: there is none. */
struct esp_sa *esp_database_find(
	const struct esp_database *db, const struct ip_addr *dst, uint32_t spi);

/** The outbound SA of an ESP packet to @p dst; NULL: there is none. */
struct esp_sa *esp_database_find_outbound(
	const struct esp_database *db, const struct ip_addr *dst, uint32_t spi);

/**
 * The longest packet from @p src to @p dst that fits @p mtu, whatever protocol and ports it has.
 * @param[out] to where it is sent then: @p dst, or the other end of a tunnel.
 */
size_t esp_database_room(const struct esp_database *db, const struct ip_addr *src,
	const struct ip_addr *dst, size_t mtu, struct ip_addr *to);

#endif
