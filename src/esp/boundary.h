/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file boundary.h
 * The IPsec boundary of a stack (RFC 4301 section 3.1): policies and SAs of a file, and the packets
 * that cross it. Used under the engine's lock; nothing is allocated per packet but a buffer where a
 * packet must not be written to.
 */
#ifndef ESP_BOUNDARY_H
#define ESP_BOUNDARY_H

#include "base/log.h"
#include "esp/database.h"
#include "ip/ipsec.h"

struct esp_boundary;
struct ip_stack;

struct esp_boundary_config {
	const char *path; /**< of the file; it is copied */
	struct rte_mempool *pool;
	struct random_source random;
	const struct log_sink *log;
};

/** Counters since creation. */
struct esp_stats {
	uint64_t rx_packets, rx_bytes, tx_packets,
		tx_bytes; /**< protected ones, and what is inside */
	uint64_t tx_no_sa, tx_discarded, tx_ended, tx_too_long, tx_failed, tx_no_memory;
	uint64_t rx_no_sa, rx_replay, rx_late, rx_bad_icv, rx_short, rx_bad_padding, rx_bad_header;
	uint64_t rx_ended, rx_no_memory, rx_clear, rx_mismatch, rx_discarded, rx_failed;
	uint64_t rx_dummy;
	uint64_t sas_in, sas_out, policies; /**< now */
	uint64_t reloads, reloads_failed;
};

/** Nothing passes it before esp_boundary_open(). @return 0 or -ENOMEM. */
int esp_boundary_create(const struct esp_boundary_config *cfg, struct esp_boundary **out);

/** NULL is allowed. */
void esp_boundary_destroy(struct esp_boundary *b);

/** For ip_stack_config.ipsec. */
const struct ip_ipsec *esp_boundary_ops(struct esp_boundary *b);

/**
 * Read the file. @p ip has its addresses already, by which the direction of SAs is known.
 * @param[out] why if that fails: a sentence, in @p size octets.
 * @return 0 or a negative errno.
 */
int esp_boundary_open(
	struct esp_boundary *b, struct ip_stack *ip, uint64_t now, char *why, size_t size);

/**
 * If the file has changed, read it again. One that is wrong is logged and changes nothing; if that
 * may pass, as with too few descriptors, it is read again after a second. A packet of an SA that is
 * not there has it looked at, too.
 */
void esp_boundary_look(struct esp_boundary *b, uint64_t now);

const struct esp_stats *esp_boundary_stats(const struct esp_boundary *b);

#endif
