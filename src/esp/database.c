/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/database.h"

#include "esp/packet.h"

#include <string.h>

void esp_database_init(struct esp_database *db, const struct random_source *random)
{
	memset(db, 0, sizeof *db);
	db->random = *random;
	db->has_gcm = gcm_init(&db->gcm);
}

void esp_database_fini(struct esp_database *db)
{
	for (unsigned i = 0; i < esp_database_count(db); i++)
		esp_sa_destroy(db->sa[i]);
	esp_ended_destroy(db->ended);
	esp_file_free(db->file);
	memset(db, 0, sizeof *db);
}

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
