/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/database.h"

#include "esp/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)

void esp_database_init(struct esp_database *db, const struct random_source *random)
{
	memset(db, 0, sizeof *db);
	db->random = *random;
	db->has_gcm = gcm_init(&db->gcm);
}

/** @return how many SAs there are. */
static unsigned esp_database_count(const struct esp_database *db)
{
	return db->file ? db->file->n_states : 0;
}

void esp_database_fini(struct esp_database *db)
{
	for (unsigned i = 0; i < esp_database_count(db); i++)
		esp_sa_destroy(db->sa[i]);
	esp_ended_destroy(db->ended);
	esp_file_free(db->file);
	memset(db, 0, sizeof *db);
}

/* ---- updates ------------------------------------------------------------------------------- */

/** Are packets of one authentic to the other? The ICV knows nothing of addresses. */
static bool esp_state_has_key(const struct esp_state *a, const struct esp_state *b)
{
	return a->spi == b->spi && a->encryption == b->encryption && a->integrity == b->integrity &&
	       a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0 &&
	       memcmp(a->salt, b->salt, sizeof a->salt) == 0 &&
	       memcmp(a->auth_key, b->auth_key, sizeof a->auth_key) == 0;
}

/**
 * Is it the SA that it was? All else may change: ends, UDP and the selector do where a host moves,
 * and which policies it is for and how long is the file's to say.
 */
static bool esp_state_goes_on(const struct esp_state *was, const struct esp_state *s)
{
	return was->outbound == s->outbound && was->tunnel == s->tunnel && was->esn == s->esn &&
	       was->window == s->window && esp_state_has_key(was, s);
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

		if (old->outbound != s->outbound || !esp_state_has_key(old, s))
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
	bool kept[ESP_STATES_MAX]; /**< of those in force: it stays */
	bool fresh[ESP_STATES_MAX];
	struct esp_ended_sa *was[ESP_STATES_MAX]; /**< of fresh ones; NULL: it is new */
	uint64_t now;
};

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

		if (!u->kept[i] && esp_state_goes_on(old, s) &&
			esp_file_find(f, s->spi, &old->dst) == ESP_STATES_MAX &&
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

static int esp_update_add(
	struct esp_update *u, struct esp_database *db, const struct esp_file *f, unsigned i)
{
	unsigned old = esp_database_same(db, &f->state[i]);

	if (old == ESP_STATES_MAX)
		old = esp_update_moved(u, db, f, &f->state[i]);
	if (old == ESP_STATES_MAX || u->kept[old])
		return esp_update_add_fresh(u, db, &f->state[i], i);
	/* Its key and the window would begin anew, and what was recorded would be believed. */
	if (!esp_state_goes_on(&db->file->state[old], &f->state[i]))
		return -EINVAL;
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
		if (!u->kept[i]) {
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
		esp_ended_add(db->ended, esp_ended_name(db->ended, &db->file->state[i]), db->sa[i]);
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
				"the SA with spi 0x%x is not what it was: a change needs a new spi",
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

/* ---- lookups ------------------------------------------------------------------------------- */

static bool esp_template_fits(const struct esp_template *t, const struct esp_state *s)
{
	return t->tunnel == s->tunnel && (t->spi == 0 || t->spi == s->spi) &&
	       (t->reqid == 0 || t->reqid == s->reqid) &&
	       (!t->tunnel || (ip_addr_equal(&t->src, &s->src) && ip_addr_equal(&t->dst, &s->dst)));
}

/** May packets of the flow go by the SA, as far as it says itself? */
static bool esp_state_has(const struct esp_state *s, const struct ip_flow *f)
{
	if (s->has_selector && !esp_selector_has(&s->selector, f))
		return false;
	return s->tunnel || (ip_addr_equal(&s->src, &f->src) && ip_addr_equal(&s->dst, &f->dst));
}

static enum esp_action esp_database_default(const struct esp_database *db, bool outbound)
{
	bool accept = db->file && (outbound ? db->file->accept_out : db->file->accept_in);

	/* RFC 4301 section 7.4: a packet that no entry of the SPD is for is discarded. */
	return accept ? ESP_BYPASS : ESP_DISCARD;
}

static bool esp_flow_equal(const struct ip_flow *a, const struct ip_flow *b)
{
	return a->src_port == b->src_port && a->dst_port == b->dst_port && a->proto == b->proto &&
	       ip_addr_equal(&a->src, &b->src) && ip_addr_equal(&a->dst, &b->dst);
}

/** Where a flow is remembered. Who chooses flows so that they meet gets slower ones, no more. */
static struct esp_flow_entry *esp_flow_place(
	struct esp_database *db, const struct ip_flow *f, bool outbound)
{
	const struct ip_addr *peer = outbound ? &f->dst : &f->src;
	unsigned h = (unsigned)f->src_port * 31 + f->dst_port + f->proto + outbound + peer->b[15] +
		     peer->b[14] * 7U + peer->b[13] * 49U;

	return &db->flow[(h ^ h >> 6 ^ h >> 12) % ESP_FLOWS];
}

/** The newest SA that fits; NULL: there is none. */
static struct esp_sa *esp_database_choose(
	const struct esp_database *db, const struct esp_template *t, const struct ip_flow *f)
{
	uint32_t at = esp_hash_hosts(t->tunnel ? &t->src : &f->src, t->tunnel ? &t->dst : &f->dst);
	uint32_t newest = 0, i;
	struct esp_sa *sa = NULL;

	while (esp_index_next(&db->file->by_hosts, &at, &i)) {
		const struct esp_state *s = &db->file->state[i];

		if (i >= newest && s->outbound && esp_template_fits(t, s) && esp_state_has(s, f)) {
			newest = i;
			sa = db->sa[i];
		}
	}
	return sa;
}

static struct esp_flow_entry *esp_database_look_up(
	struct esp_database *db, const struct ip_flow *f, bool outbound)
{
	struct esp_flow_entry *e = esp_flow_place(db, f, outbound);
	const struct esp_policy *p;

	if (e->valid && e->outbound == outbound && esp_flow_equal(&e->flow, f))
		return e;
	p = db->file ? esp_file_policy(db->file, f, outbound) : NULL;
	*e = (struct esp_flow_entry){.flow = *f,
		.valid = true,
		.outbound = outbound,
		.action = p ? p->action : esp_database_default(db, outbound)};
	if (e->action == ESP_PROTECT) {
		e->tmpl = &p->tmpl;
		e->sa = outbound ? esp_database_choose(db, &p->tmpl, f) : NULL;
	}
	return e;
}

enum esp_action esp_database_output(
	struct esp_database *db, const struct ip_flow *f, struct esp_sa **sa)
{
	const struct esp_flow_entry *e = esp_database_look_up(db, f, true);

	*sa = e->sa;
	return e->action;
}

static const struct esp_state *esp_database_state(
	const struct esp_database *db, const struct esp_sa *sa)
{
	unsigned i = esp_file_find(db->file, sa->config.spi, &sa->config.dst);

	return i != ESP_STATES_MAX ? &db->file->state[i] : NULL;
}

enum esp_arrival esp_database_input(
	struct esp_database *db, const struct ip_flow *f, const struct esp_sa *secured)
{
	struct esp_flow_entry *e = esp_database_look_up(db, f, false);
	const struct esp_state *s;

	if (e->action == ESP_DISCARD)
		return ESP_REFUSED;
	if (!secured)
		return e->action == ESP_PROTECT ? ESP_CLEAR : ESP_ARRIVED;
	if (secured == e->arrived)
		return ESP_ARRIVED;
	s = e->action == ESP_PROTECT ? esp_database_state(db, secured) : NULL;
	if (!s || !esp_template_fits(e->tmpl, s) || !esp_state_has(s, f))
		return ESP_MISMATCH;
	e->arrived = secured;
	return ESP_ARRIVED;
}

static struct esp_sa *esp_database_find_in(
	const struct esp_database *db, const struct ip_addr *dst, uint32_t spi, bool outbound)
{
	unsigned i = db->file ? esp_file_find(db->file, spi, dst) : ESP_STATES_MAX;

	return i != ESP_STATES_MAX && db->file->state[i].outbound == outbound ? db->sa[i] : NULL;
}

struct esp_sa *esp_database_find(
	const struct esp_database *db, const struct ip_addr *dst, uint32_t spi)
{
	return esp_database_find_in(db, dst, spi, false);
}

struct esp_sa *esp_database_find_outbound(
	const struct esp_database *db, const struct ip_addr *dst, uint32_t spi)
{
	return esp_database_find_in(db, dst, spi, true);
}

/** Of the packets of one policy. */
static size_t esp_policy_room(const struct esp_database *db, const struct esp_policy *p,
	const struct ip_addr *src, const struct ip_addr *dst, size_t mtu)
{
	const struct esp_template *t = &p->tmpl;
	struct esp_sa_config c = {.tunnel = t->tunnel, .src = t->src};
	uint32_t at, i;
	bool v4 = ip_addr_is_v4(src);
	size_t least = SIZE_MAX;

	if (t->tunnel) {
		src = &t->src;
		dst = &t->dst;
	}
	at = esp_hash_hosts(src, dst);
	while (esp_index_next(&db->file->by_hosts, &at, &i)) {
		const struct esp_state *s = &db->file->state[i];

		if (ip_addr_equal(&s->src, src) && ip_addr_equal(&s->dst, dst) &&
			esp_template_fits(t, s)) {
			size_t room = esp_room(&db->sa[i]->config, v4, mtu);

			least = room < least ? room : least;
		}
	}
	/* An SA may come yet. */
	return least == SIZE_MAX ? esp_room(&c, v4, mtu) : least;
}

/** What esp_database_room() is asked for, and what has been found. */
struct esp_path {
	const struct ip_addr *src, *dst;
	size_t mtu, least;
	struct ip_addr to;
};

static void esp_path_pass(
	struct esp_path *path, const struct esp_database *db, const struct esp_policy *p)
{
	size_t room;

	if (!p->outbound || p->action != ESP_PROTECT ||
		!esp_selector_has_addresses(&p->selector, path->src, path->dst))
		return;
	room = esp_policy_room(db, p, path->src, path->dst, path->mtu);
	if (room < path->least) {
		path->least = room;
		path->to = p->tmpl.tunnel ? p->tmpl.dst : *path->dst;
	}
}

size_t esp_database_room(const struct esp_database *db, const struct ip_addr *src,
	const struct ip_addr *dst, size_t mtu, struct ip_addr *to)
{
	struct esp_path path = {.src = src, .dst = dst, .mtu = mtu, .least = mtu, .to = *dst};
	uint32_t at = esp_hash_hosts(src, dst), i;

	if (db->file) {
		while (esp_index_next(&db->file->of_hosts, &at, &i))
			esp_path_pass(&path, db, &db->file->policy[i]);
		for (unsigned w = 0; w < db->file->n_wide; w++)
			esp_path_pass(&path, db, &db->file->policy[db->file->wide[w]]);
	}
	*to = path.to;
	return path.least;
}
