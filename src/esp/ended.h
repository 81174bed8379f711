/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ended.h
 * How far SAs had counted when they ended. One that comes back, with its SPI and key, goes on from
 * there: else it would send an IV again under one key, which AES-GCM does not survive (RFC 4106
 * section 2), and take what was recorded. It may be back at another address (RFC 4555): the ICV
 * covers none, so packets for the old one can be sent to the new one.
 *
 * Of the last ESP_ENDED_MAX that is known. Of those before it is known that they were: a filter
 * that never forgets one, and takes one in some thousands for one of them after a million. Those
 * must not come back. Keys are not kept, but a hash of each. Not thread-safe.
 */
#ifndef ESP_ENDED_H
#define ESP_ENDED_H

#include "base/random.h"
#include "esp/sa.h"
#include "esp/statement.h"

#define ESP_ENDED_MAX 4096

struct esp_ended;

/** Where the SA that comes back goes on. */
struct esp_ended_sa {
	uint64_t name;      /**< as of esp_ended_name() */
	uint64_t order;     /**< of its end, from 1; 0: there is none */
	struct ip_addr dst; /**< where it was */
	bool taken;         /**< outbound: one goes on from here, and no other may */
	uint64_t iv_base;   /**< as of struct esp_sa_config */
	struct esp_sa_use use;
};

/** @return NULL: no memory. */
struct esp_ended *esp_ended_create(const struct random_source *random);

/** NULL is allowed. */
void esp_ended_destroy(struct esp_ended *e);

/** What packets of the SA are authentic by, and the direction. */
uint64_t esp_ended_name(const struct esp_ended *e, const struct esp_state *s);

/**
 * @return of those with the name that are not taken the one to @p dst, or else the one that counted
 *         most; NULL: none has ended, or is known any more. Valid until one is added.
 */
struct esp_ended_sa *esp_ended_find(struct esp_ended *e, uint64_t name, const struct ip_addr *dst);

/** Has it ended, perhaps, so long ago that esp_ended_find() has nothing? */
bool esp_ended_is_lost(const struct esp_ended *e, uint64_t name);

/**
 * @p sa ends. One that has counted nothing need not be known. Inbound ones of one name are one,
 * that has counted as much as any of them, since the first; outbound ones have each their IVs.
 */
void esp_ended_add(struct esp_ended *e, uint64_t name, const struct esp_sa *sa);

/** It is back. */
void esp_ended_forget(struct esp_ended_sa *was);

#endif
