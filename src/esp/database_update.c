/* SPDX-License-Identifier: BSD-2-Clause */
/* What a new file leaves in force of the SAs that were there. */
#include "esp/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

/**
 * Of one that uses the key of the other: is it the SA that it was? All else may change: ends, UDP
 * and the selector do where a host moves, and which policies it is for and how long is the file's
 * to say.
 */
static bool esp_state_goes_on(const struct esp_state *was, const struct esp_state *s)
{
	return was->tunnel == s->tunnel && was->esn == s->esn && was->window == s->window &&
	       esp_state_encrypts_as(was, s);
}

/** @return the SA of the same SPI and destination that is in force; ESP_STATES_MAX: none is. */
static unsigned esp_database_same(const struct esp_database *db, const struct esp_state *s)
{
	return db->file ? esp_file_find(db->file, s->spi, &s->dst) : ESP_STATES_MAX;
}

/** @return 0: no limit. What is too long to be said is for ever. */
static uint64_t esp_state_max_ns(const struct esp_state *s)
{
	return s->max_seconds <= UINT64_MAX / SECOND_NS ? s->max_seconds * SECOND_NS : 0;
}

/**
 * What SAs in force to other addresses have done with the key of @p s: what it may do is less by
 * that. An inbound one takes what has come to any of them for come; one that sends has IVs of its
 * own, and its own numbers.
 */
static void esp_database_add_use(
	const struct esp_database *db, const struct esp_state *s, struct esp_sa_use *u)
{
	for (unsigned i = 0; i < esp_database_count(db); i++) {
		const struct esp_state *old = &db->file->state[i];
		struct esp_sa_use use;

		if (!esp_state_uses_key(old, s))
			continue;
		use = esp_sa_use_of(db->sa[i]);
		if (s->outbound)
			use.sequence = 0;
		esp_sa_use_add(u, &use);
	}
}

/** @param was where it goes on; NULL: it begins at @p now. */
static int esp_database_create(const struct esp_database *db, const struct esp_state *s,
	uint64_t now, const struct esp_ended_sa *was, struct esp_sa **out)
{
	struct esp_sa_use use = {.began = now};
	struct esp_sa_config c = {.spi = s->spi,
		.outbound = s->outbound,
		.cipher = {.encryption = s->encryption,
			.key = s->key,
			.key_len = s->key_len,
			.gcm = db->has_gcm ? &db->gcm : NULL,
			.salt = s->salt,
			.integrity = s->integrity,
			.auth_key = s->auth_key},
		.esn = s->esn,
		.window = s->window,
		.max_packets = s->max_packets,
		.max_octets = s->max_octets,
		.max_ns = esp_state_max_ns(s),
		.tunnel = s->tunnel,
		.src = s->src,
		.dst = s->dst,
		.udp = s->udp,
		.udp_src = s->udp_src,
		.udp_dst = s->udp_dst};

	int rc;

	if (was) {
		use = was->use;
		c.iv_base = was->iv_base;
	} else {
		db->random.fill(db->random.ctx, &c.iv_base, sizeof c.iv_base);
	}
	esp_database_add_use(db, s, &use);
	c.sequence = use.sequence;
	c.began = use.began;
	rc = esp_sa_create(&c, out);
	if (rc == 0) {
		(*out)->packets = use.packets;
		(*out)->octets = use.octets;
	}
	return rc;
}

/** The SAs of a new file, before it is known whether all of them can be had. */
struct esp_update {
	struct esp_sa *sa[ESP_STATES_MAX];
	bool kept[ESP_STATES_MAX];     /**< of those in force: it stays */
	bool replaced[ESP_STATES_MAX]; /**< of those in force: another goes on in its place */
	bool fresh[ESP_STATES_MAX];
	struct esp_ended_sa *was[ESP_STATES_MAX]; /**< of fresh ones; NULL: it is new */
	uint64_t now;
};

/** @return that the file has an SA by the key of @p old where that is. */
static bool esp_file_has_same(const struct esp_file *f, const struct esp_state *old)
{
	unsigned i = esp_file_find(f, old->spi, &old->dst);

	return i != ESP_STATES_MAX && esp_state_uses_key(&f->state[i], old);
}

/**
 * One of its ends has moved. @return as esp_database_same(): the SA that is in @p f elsewhere now,
 * and of several the one that has counted most.
 */
static unsigned esp_update_moved(const struct esp_update *u, const struct esp_database *db,
	const struct esp_file *f, const struct esp_state *s)
{
	unsigned moved = ESP_STATES_MAX;

	for (unsigned i = 0; i < esp_database_count(db); i++) {
		const struct esp_state *old = &db->file->state[i];

		if (!u->kept[i] && !u->replaced[i] && esp_state_uses_key(old, s) &&
			!esp_file_has_same(f, old) &&
			(moved == ESP_STATES_MAX ||
				esp_sa_counted(db->sa[i]) > esp_sa_counted(db->sa[moved])))
			moved = i;
	}
	return moved;
}

static int esp_update_add_fresh(
	struct esp_update *u, struct esp_database *db, const struct esp_state *s, unsigned i)
{
	if (db->ended) {
		uint64_t name = esp_ended_name(db->ended, s);
		struct esp_ended_sa *was = esp_ended_find(db->ended, name, &s->dst);

		if (!was && esp_ended_is_lost(db->ended, name))
			return -EKEYEXPIRED;
		/* Two that send must not go on from one place: they would send each IV twice. */
		if (was && s->outbound)
			was->taken = true;
		u->was[i] = was;
	}
	u->fresh[i] = true;
	return esp_database_create(db, s, u->now, u->was[i], &u->sa[i]);
}

/**
 * Its mode, window, length of numbers or encryption below an HMAC is another one, and its key is
 * not: as if it had ended and were back.
 */
static int esp_update_replace(struct esp_update *u, const struct esp_database *db,
	const struct esp_state *s, unsigned i, unsigned old)
{
	const struct esp_ended_sa was = {
		.iv_base = db->sa[old]->config.iv_base, .use = esp_sa_use_of(db->sa[old])};

	u->replaced[old] = true;
	u->fresh[i] = true;
	return esp_database_create(db, s, u->now, &was, &u->sa[i]);
}

static int esp_update_add(
	struct esp_update *u, struct esp_database *db, const struct esp_file *f, unsigned i)
{
	const struct esp_state *s = &f->state[i];
	unsigned old = esp_database_same(db, s);

	/* One with another key is another one: what was recorded by the old key is not authentic.
	 */
	if (old == ESP_STATES_MAX || !esp_state_uses_key(&db->file->state[old], s))
		old = esp_update_moved(u, db, f, s);
	if (old == ESP_STATES_MAX)
		return esp_update_add_fresh(u, db, s, i);
	if (!esp_state_goes_on(&db->file->state[old], s))
		return esp_update_replace(u, db, s, i, old);
	u->sa[i] = db->sa[old];
	u->kept[old] = true;
	return 0;
}

static void esp_update_undo(struct esp_update *u, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (u->fresh[i])
			esp_sa_destroy(u->sa[i]);
		if (u->was[i])
			u->was[i]->taken = false;
	}
}

/** What an SA that stays takes of a new file; its key, window and sequence number are as they were.
 */
static void esp_update_change(struct esp_sa *sa, const struct esp_state *s)
{
	sa->config.src = s->src;
	sa->config.dst = s->dst;
	sa->config.udp = s->udp;
	sa->config.udp_src = s->udp_src;
	sa->config.udp_dst = s->udp_dst;
	sa->config.max_packets = s->max_packets;
	sa->config.max_octets = s->max_octets;
	sa->config.max_ns = esp_state_max_ns(s);
}

/** @return 0 or -ENOMEM: what must be known of those that end would not be. */
static int esp_update_prepare(const struct esp_update *u, struct esp_database *db)
{
	for (unsigned i = 0; !db->ended && i < esp_database_count(db); i++)
		if (!u->kept[i] && !u->replaced[i]) {
			db->ended = esp_ended_create(&db->random);
			return db->ended ? 0 : -ENOMEM;
		}
	return 0;
}

/** Those that are back first, as they leave room. */
static void esp_update_end(struct esp_update *u, struct esp_database *db, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (u->was[i])
			esp_ended_forget(u->was[i]);
	for (unsigned i = 0; i < esp_database_count(db); i++) {
		if (u->kept[i])
			continue;
		if (!u->replaced[i])
			esp_ended_add(db->ended, esp_ended_name(db->ended, &db->file->state[i]),
				db->sa[i]);
		esp_sa_destroy(db->sa[i]);
	}
}

/** How many there are, and where they come to. */
static void esp_update_count(struct esp_database *db, const struct esp_file *f)
{
	db->inbound = db->outbound = 0;
	if (db->udp)
		memset(db->udp_ports, 0, sizeof db->udp_ports);
	db->udp = false;
	for (unsigned i = 0; i < f->n_states; i++) {
		const struct esp_state *s = &f->state[i];

		db->outbound += s->outbound;
		db->inbound += !s->outbound;
		if (s->outbound || !s->udp)
			continue;
		db->udp = true;
		db->udp_ports[s->udp_dst / 64] |= UINT64_C(1) << s->udp_dst % 64;
	}
}

static void esp_update_finish(struct esp_update *u, struct esp_database *db, struct esp_file *f)
{
	esp_update_end(u, db, f->n_states);
	esp_file_free(db->file);
	db->file = f;
	memcpy(db->sa, u->sa, f->n_states * sizeof db->sa[0]);
	memset(db->flow, 0, sizeof db->flow);
	for (unsigned i = 0; i < f->n_states; i++)
		esp_update_change(db->sa[i], &f->state[i]);
	esp_update_count(db, f);
}

int esp_database_update(
	struct esp_database *db, struct esp_file *file, uint64_t now, char *why, size_t size)
{
	struct esp_update *u = calloc(1, sizeof *u);
	int rc = u ? 0 : -ENOMEM;
	unsigned i;

	snprintf(why, size, "no memory");
	if (u)
		u->now = now;
	for (i = 0; rc == 0 && i < file->n_states; i++) {
		uint32_t spi = file->state[i].spi;

		rc = esp_update_add(u, db, file, i);
		if (rc == -EINVAL)
			snprintf(why, size,
				"the SA with spi 0x%x has counted further than it can without "
				"\"flag esn\": that needs another spi or key",
				spi);
		else if (rc == -EKEYEXPIRED)
			snprintf(why, size,
				"the SA with spi 0x%x may have had this key before, too many SAs "
				"ago: it needs another spi or key",
				spi);
		else if (rc)
			snprintf(why, size, "the SA with spi 0x%x: %s", spi, strerror(-rc));
	}
	if (rc == 0)
		rc = esp_update_prepare(u, db);
	if (rc == 0)
		esp_update_finish(u, db, file);
	else if (u)
		esp_update_undo(u, i);
	free(u);
	return rc;
}
