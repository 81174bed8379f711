/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/ended.h"

#include "base/secret_memory.h"
#include "base/siphash.h"

/** Of the filter; a power of two. */
#define ESP_ENDED_BITS (UINT32_C(1) << 24)
/** That are set for each. */
#define ESP_ENDED_HASHES 8
#define WORD_BITS        64

struct esp_ended {
	struct siphash_key key;
	uint64_t last; /**< order */
	struct esp_ended_sa sa[ESP_ENDED_MAX];
	bool any_lost;
	/** Pages of it come to be as bits are set. */
	uint64_t lost[ESP_ENDED_BITS / WORD_BITS];
};

struct esp_ended *esp_ended_create(const struct random_source *random)
{
	struct esp_ended *e = secret_memory_map(sizeof *e);

	if (e)
		random->fill(random->ctx, &e->key, sizeof e->key);
	return e;
}

void esp_ended_destroy(struct esp_ended *e)
{
	secret_memory_unmap(e, sizeof *e);
}

/** Keys are read where they are: a copy would have to be wiped. */
uint64_t esp_ended_name(const struct esp_ended *e, const struct esp_state *s)
{
	bool gcm = s->encryption == ESP_AES_GCM; /* else the HMAC alone tells */
	const uint64_t word[] = {gcm ? siphash(&e->key, s->key, sizeof s->key) : 0,
		siphash(&e->key, s->auth_key, sizeof s->auth_key),
		gcm ? siphash(&e->key, s->salt, sizeof s->salt) : 0,
		(uint64_t)s->spi << 32 | (uint64_t)gcm << 24 | (uint64_t)s->integrity << 16 |
			(uint64_t)(gcm ? s->key_len : 0) << 8 | s->outbound};

	return siphash(&e->key, word, sizeof word);
}

/* ---- those that are known ------------------------------------------------------------------ */

struct esp_ended_sa *esp_ended_find(struct esp_ended *e, uint64_t name, const struct ip_addr *dst)
{
	struct esp_ended_sa *most = NULL;

	for (unsigned i = 0; i < ESP_ENDED_MAX; i++) {
		struct esp_ended_sa *at = &e->sa[i];

		if (!at->order || at->name != name || at->taken)
			continue;
		if (ip_addr_equal(&at->dst, dst))
			return at;
		if (!most || at->use.sequence > most->use.sequence)
			most = at;
	}
	return most;
}

void esp_ended_forget(struct esp_ended_sa *was)
{
	*was = (struct esp_ended_sa){0};
}

/* ---- those before them --------------------------------------------------------------------- */

/** @return the bit of the filter that is the hash @p i of the name (Kirsch and Mitzenmacher). */
static uint32_t esp_ended_bit(uint64_t name, uint32_t i)
{
	return ((uint32_t)name + i * ((uint32_t)(name >> 32) | 1)) % ESP_ENDED_BITS;
}

bool esp_ended_is_lost(const struct esp_ended *e, uint64_t name)
{
	/* What is not touched has no memory. */
	if (!e->any_lost)
		return false;
	for (uint32_t i = 0; i < ESP_ENDED_HASHES; i++) {
		uint32_t bit = esp_ended_bit(name, i);

		if (!(e->lost[bit / WORD_BITS] >> bit % WORD_BITS & 1))
			return false;
	}
	return true;
}

static void esp_ended_lose(struct esp_ended *e, uint64_t name)
{
	e->any_lost = true;
	for (uint32_t i = 0; i < ESP_ENDED_HASHES; i++) {
		uint32_t bit = esp_ended_bit(name, i);

		e->lost[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
	}
}

/** @return a place that is free, or else that of the first that ended. */
static struct esp_ended_sa *esp_ended_place(struct esp_ended *e)
{
	struct esp_ended_sa *first = &e->sa[0];

	for (unsigned i = 1; i < ESP_ENDED_MAX && first->order; i++)
		if (e->sa[i].order < first->order)
			first = &e->sa[i];
	return first;
}

void esp_ended_add(struct esp_ended *e, uint64_t name, const struct esp_sa *sa)
{
	struct esp_sa_use use = esp_sa_use_of(sa);
	struct esp_ended_sa *at = NULL;

	if (use.sequence == 0)
		return;
	if (!sa->config.outbound)
		at = esp_ended_find(e, name, &sa->config.dst);
	if (at) {
		esp_sa_use_add(&use, &at->use);
	} else {
		at = esp_ended_place(e);
		if (at->order)
			esp_ended_lose(e, at->name);
	}
	*at = (struct esp_ended_sa){.name = name,
		.order = ++e->last,
		.dst = sa->config.dst,
		.iv_base = sa->config.iv_base,
		.use = use};
}
