/* SPDX-License-Identifier: BSD-2-Clause */
#include "variant.h"

#include "base/cksum_plain.h"
#include "support/cap_bytes.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

/* As for any capture with this many connections; small, as each variant has tables of its own. */
#define FLOWS 64

static uint8_t *variant_file_read(const char *path, size_t *len)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes;
	long n;

	if (!in || fseek(in, 0, SEEK_END) != 0 || (n = ftell(in)) < 0)
		err(2, "%s", path);
	rewind(in);
	*len = (size_t)n;
	bytes = malloc(*len);
	if (!bytes || fread(bytes, 1, *len, in) != *len)
		err(2, "%s", path);
	fclose(in);
	return bytes;
}

void variant_file_open(struct variant_file *f, const char *path)
{
	struct cap_frame frame;
	struct cap_error e;
	size_t len;

	*f = (struct variant_file){.bytes = variant_file_read(path, &len)};
	f->c = cap_open_bytes(f->bytes, len, &e);
	if (!f->c)
		errx(2, "%s: %s", path, e.text);
	f->all.config = (struct follow_config){.max_flows = FLOWS, .max_connections = FLOWS};
	while (cap_next(f->c, &frame, &e) == CAP_FRAME)
		variant_add(&f->all, &frame);
}

/** The field of a frame's TCP checksum; NULL: it has none, or not all that it is of. */
static uint8_t *variant_sum_of(const struct cap_frame *f, struct packet *p)
{
	if (packet_parse(f, p) != PACKET_TCP || p->header == 0 || p->captured != p->len)
		return NULL;
	return (uint8_t *)(uintptr_t)p->text - p->header + CKSUM_TCP_AT;
}

void variant_file_sum(struct variant_file *f)
{
	for (unsigned i = 0; i < f->all.n; i++) {
		struct packet p;
		uint8_t *field = variant_sum_of(&f->all.frames[i], &p);
		uint64_t pseudo;
		struct digest d = {0};

		if (!field)
			continue;
		memset(field, 0, 2);
		digest_add(&d, DIGEST_SUM, p.text - p.header, (size_t)p.header + p.len);
		pseudo = cksum_pseudo(
			cksum_addrs(&p.src.addr, &p.dst.addr), 6, (uint16_t)(p.header + p.len));
		cksum_store(field, (uint16_t)~cksum_fold(pseudo + d.sum));
	}
}

void variant_file_empty_sums(struct variant_file *f)
{
	for (unsigned i = 0; i < f->all.n; i++) {
		struct packet p;
		uint8_t *field = variant_sum_of(&f->all.frames[i], &p);

		if (field)
			memset(field, 0, 2);
	}
}

void variant_file_close(struct variant_file *f)
{
	variant_free(&f->all);
	cap_close(f->c);
	free(f->bytes);
}

static void variant_swap(uint8_t *a, uint8_t *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		uint8_t was = a[i];

		a[i] = b[i];
		b[i] = was;
	}
}

bool variant_make_foreign(const struct cap_frame *f, uint8_t flags, bool from_peer, uint8_t *bytes,
	struct cap_frame *out)
{
	struct packet p;
	uint8_t *tcp, *ip;
	size_t at;
	bool v4;

	if (packet_parse(f, &p) != PACKET_TCP || p.header == 0 || p.captured != p.len)
		return false;
	at = (size_t)(p.text - f->bytes); /* its text begins there, and it ends */
	if (at > VARIANT_FOREIGN_MAX)
		return false;
	memcpy(bytes, f->bytes, at);
	tcp = bytes + at - p.header;
	v4 = ip_addr_is_v4(&p.src.addr);
	ip = tcp - (v4 ? 20 : 40);
	store_be16(ip + (v4 ? 2 : 4), (uint16_t)(p.header + (v4 ? 20 : 0)));
	if (from_peer) {
		variant_swap(tcp, tcp + 2, 2);
		variant_swap(ip + (v4 ? 12 : 8), ip + (v4 ? 16 : 24), v4 ? 4 : 16);
	}
	store_be32(tcp + 4, p.seq + 0x70000000);
	store_be32(tcp + 8, 0);
	tcp[13] = flags;
	*out = *f;
	out->bytes = bytes;
	out->captured = out->len = (uint32_t)at;
	return true;
}

void variant_add(struct variant *v, const struct cap_frame *f)
{
	if (v->n == v->cap) {
		v->cap = v->cap == 0 ? 64 : 2 * v->cap;
		v->frames = realloc(v->frames, v->cap * sizeof *v->frames);
		if (!v->frames)
			abort();
	}
	v->frames[v->n++] = *f;
}

void variant_free(struct variant *v)
{
	free(v->frames);
	*v = (struct variant){0};
}

static void variant_on_finding(
	void *user, const struct report_place *at, const struct requirement *q)
{
	struct variant_findings *found = user;

	if (found->n == VARIANT_FINDINGS_MAX)
		return;
	found->list[found->n++] = (struct variant_finding){q, at->frame, *stream_from(at->s)};
}

void variant_check(const struct variant *v, struct variant_findings *found)
{
	struct check k = {.report = {.found = variant_on_finding, .user = found}};
	struct follow w;

	found->n = 0;
	if (follow_init(&w, &v->config, &check_ops, &k) != 0)
		abort();
	for (unsigned i = 0; i < v->n; i++)
		follow_frame(&w, &v->frames[i]);
	follow_finish(&w);
	found->notes = k.report.notes;
}

static bool variant_has(const struct variant_findings *all, const struct variant_finding *one)
{
	for (unsigned i = 0; i < all->n; i++)
		if (all->list[i].requirement == one->requirement &&
			all->list[i].frame == one->frame)
			return true;
	return false;
}

const struct variant_finding *variant_new_finding(
	const struct variant_findings *found, const struct variant_findings *before, bool must)
{
	for (unsigned i = 0; i < found->n; i++)
		if ((!must ||
			    severity_of_level(found->list[i].requirement) == SEVERITY_VIOLATION) &&
			!variant_has(before, &found->list[i]))
			return &found->list[i];
	return NULL;
}
