/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How right the checker is: captures of the corpus made imperfect, in which nothing new may be
 * found, and violations put into good ones, which must be. The table is the one of docs/pcap.md.
 *
 * usage: uiwarp-pcap-mutations [-v] [-1] [-d DOCUMENT] FILE...
 *   -v  name each false alarm and each miss
 *   -1  exit status 1 if there is a false alarm
 *   -d  exit status 1 if DOCUMENT has another table
 */
#include "imperfect.h"
#include "violations.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Frames of one file that are changed; of longer ones, these are spread evenly. */
#define TARGETS_MAX 48

struct mutations_row {
	uint64_t variants;
	uint64_t must, should;  /**< imperfect: variants with a false alarm; should: of no MUST */
	uint64_t found, blamed; /**< violations: found; and something found of the other end */
};

/** A segment that neither end has sent, right before a violation of each kind, or long before. */
struct mutations_foreign {
	const char *name;
	uint8_t flags;
	bool from_peer, in_handshake; /**< in_handshake: right behind the last SYN before it */
};

static const struct mutations_foreign mutations_foreign[] = {
	{"any of these, behind a foreign RST", PACKET_RST, false, false},
	{"any of these, behind a foreign RST of the other end", PACKET_RST, true, false},
	{"any of these, behind a foreign SYN", PACKET_SYN, false, false},
	{"any of these, behind a foreign SYN of the other end", PACKET_SYN, true, false},
	{"any of these, a foreign SYN and ACK in the handshake", PACKET_SYN | PACKET_ACK, false,
		true},
	{"any of these, a foreign SYN and ACK of the other end in it", PACKET_SYN | PACKET_ACK,
		true, true},
};

#define MUTATIONS_FOREIGN (sizeof mutations_foreign / sizeof *mutations_foreign)

struct mutations {
	struct mutations_row *imperfect, *violations, foreign[MUTATIONS_FOREIGN];
	bool verbose;
	FILE *out; /**< of the table */
	const char *file;
};

static void mutations_tell(const struct mutations *m, const char *class, unsigned i,
	const char *what, const struct variant_finding *f)
{
	if (!m->verbose)
		return;
	printf("%s: %s %u: %s", m->file, class, i, what);
	if (f)
		printf(" %s in frame %" PRIu64, f->requirement->id, f->frame);
	putchar('\n');
}

static void mutations_imperfect(
	struct mutations *m, const struct variant *all, const struct variant_findings *before)
{
	static struct variant_findings found;

	for (unsigned c = 0; c < imperfect_num_classes; c++) {
		const struct imperfect_class *class = &imperfect_classes[c];
		struct mutations_row *row = &m->imperfect[c];
		struct variant v = {0};

		for (unsigned i = 0;; i++) {
			const struct variant_finding *f;

			variant_clear(&v);
			v.config = all->config;
			if (!class->make(all, i, &v))
				break;
			variant_check(&v, &found);
			row->variants++;
			f = variant_new_finding(&found, before, true);
			row->must += f != NULL;
			if (!f) {
				f = variant_new_finding(&found, before, false);
				row->should += f != NULL;
			}
			if (f)
				mutations_tell(m, class->name, i, "false", f);
		}
		variant_free(&v);
	}
}

/* ---- violations ----------------------------------------------------------------------------- */

static bool mutations_is_good_frame(const struct variant_findings *before, uint64_t frame)
{
	for (unsigned i = 0; i < before->n; i++)
		if (before->list[i].frame == frame)
			return false;
	return true;
}

/* Is anything new said of an end that did nothing? */
static const struct variant_finding *mutations_blamed(const struct variant_findings *found,
	const struct variant_findings *before, const struct violations_target *t)
{
	struct variant_findings others = {0};

	for (unsigned i = 0; i < found->n; i++)
		if (memcmp(&found->list[i].from, &t->from, sizeof t->from) != 0)
			others.list[others.n++] = found->list[i];
	return variant_new_finding(&others, before, true);
}

static void mutations_violation(struct mutations *m, const struct variant *all,
	const struct variant_findings *before, struct violations_target *t, unsigned c)
{
	static struct variant_findings found;
	const struct violations_class *class = &violations_classes[c];
	struct mutations_row *row = &m->violations[c];

	for (unsigned i = 0;; i++) {
		const struct variant_finding *f;
		bool more = class->apply(t, i);

		if (t->num_undo == 0 && !more && i > 16)
			return;
		if (t->num_undo == 0 || !more) {
			violations_undo(t);
			continue;
		}
		variant_check(all, &found);
		violations_undo(t);
		row->variants++;
		f = variant_new_finding(&found, before, false);
		row->found += f != NULL;
		if (!f)
			mutations_tell(m, class->name, i, "missed in frame",
				&(struct variant_finding){requirement(0), t->frame, t->from});
		f = mutations_blamed(&found, before, t);
		row->blamed += f != NULL;
		if (f)
			mutations_tell(m, class->name, i, "blames the other end", f);
	}
}

/* Where the foreign frame goes, at the frame of @p t in front of it or at the one behind its SYN.
 */
static uint64_t mutations_foreign_at(const struct variant *all, const struct violations_target *t,
	const struct mutations_foreign *how)
{
	uint64_t at = t->frame;

	for (unsigned k = 0; how->in_handshake && k + 1 < all->n; k++) {
		struct packet p;

		if (all->frames[k].number >= t->frame)
			break;
		if (packet_parse(&all->frames[k], &p) == PACKET_TCP && p.flags & PACKET_SYN &&
			(memcmp(&p.src, &t->from, sizeof p.src) == 0 ||
				memcmp(&p.dst, &t->from, sizeof p.dst) == 0))
			at = all->frames[k + 1].number;
	}
	return at;
}

/* All frames, and a foreign one before that of @p t. @return false: that has no TCP header. */
static bool mutations_add_foreign(struct variant *v, const struct variant *all,
	const struct violations_target *t, const struct mutations_foreign *how, uint8_t *bytes)
{
	uint64_t at = mutations_foreign_at(all, t, how);
	const struct cap_frame *like = NULL;
	bool found = false;

	for (unsigned k = 0; k < all->n; k++)
		if (all->frames[k].number == t->frame)
			like = &all->frames[k];
	variant_clear(v);
	v->config = all->config;
	for (unsigned k = 0; k < all->n; k++) {
		const struct cap_frame *f = &all->frames[k];
		struct cap_frame foreign;

		if (!found && f->number == at) {
			if (!variant_make_foreign(
				    like, how->flags, how->from_peer, bytes, &foreign))
				return false;
			foreign.number = f->number;
			variant_add(v, &foreign);
			found = true;
		}
		variant_add(v, f);
	}
	return found;
}

static void mutations_behind_foreign(struct mutations *m, const struct variant *all,
	const struct variant_findings *before, struct violations_target *t, unsigned which)
{
	static struct variant_findings found;
	static uint8_t bytes[VARIANT_FOREIGN_MAX];
	const struct mutations_foreign *how = &mutations_foreign[which];
	struct mutations_row *row = &m->foreign[which];
	struct variant v = {0};

	for (unsigned c = 0; c < violations_num_classes; c++) {
		const struct variant_finding *f;

		violations_classes[c].apply(t, 0);
		if (t->num_undo == 0)
			continue;
		if (!mutations_add_foreign(&v, all, t, how, bytes)) {
			violations_undo(t);
			break;
		}
		variant_check(&v, &found);
		violations_undo(t);
		row->variants++;
		f = variant_new_finding(&found, before, false);
		row->found += f != NULL;
		if (!f)
			mutations_tell(m, how->name, c, "missed in frame",
				&(struct variant_finding){requirement(0), t->frame, t->from});
		row->blamed += mutations_blamed(&found, before, t) != NULL;
	}
	variant_free(&v);
}

static void mutations_violations(
	struct mutations *m, const struct variant *all, const struct variant_findings *before)
{
	struct violations_targets targets;
	unsigned step;

	violations_find(all, &targets);
	step = 1 + targets.n / TARGETS_MAX;
	for (unsigned k = 0; k < targets.n; k += step)
		if (mutations_is_good_frame(before, targets.list[k].frame)) {
			for (unsigned c = 0; c < violations_num_classes; c++)
				mutations_violation(m, all, before, &targets.list[k], c);
			for (unsigned c = 0; c < MUTATIONS_FOREIGN; c++)
				mutations_behind_foreign(m, all, before, &targets.list[k], c);
		}
	violations_free(&targets);
}

static void mutations_file(struct mutations *m, const char *path)
{
	static struct variant_findings before;
	struct variant_file f;

	m->file = path;
	variant_file_open(&f, path);
	variant_file_sum(&f);
	variant_check(&f.all, &before);
	mutations_imperfect(m, &f.all, &before);
	variant_file_empty_sums(&f);
	mutations_violations(m, &f.all, &before);
	variant_file_close(&f);
}

/* ---- the table ------------------------------------------------------------------------------ */

static void mutations_add(struct mutations_row *sum, const struct mutations_row *row)
{
	sum->variants += row->variants;
	sum->must += row->must;
	sum->should += row->should;
	sum->found += row->found;
	sum->blamed += row->blamed;
}

static struct mutations_row mutations_print_imperfect(const struct mutations *m)
{
	struct mutations_row sum = {0};

	fprintf(m->out, "| captures made imperfect | variants | false MUST | false SHOULD |\n"
			"|---|---:|---:|---:|\n");
	for (unsigned c = 0; c < imperfect_num_classes; c++) {
		const struct mutations_row *row = &m->imperfect[c];

		mutations_add(&sum, row);
		fprintf(m->out, "| %s: %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n",
			imperfect_classes[c].name, imperfect_classes[c].what, row->variants,
			row->must, row->should);
	}
	fprintf(m->out, "| all | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n\n", sum.variants,
		sum.must, sum.should);
	return sum;
}

static void mutations_print_row(
	const struct mutations *m, const char *name, const struct mutations_row *row)
{
	fprintf(m->out, "| %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " |\n", name,
		row->variants, row->found, row->variants - row->found, row->blamed);
}

static void mutations_print_violations(const struct mutations *m)
{
	struct mutations_row sum = {0};

	fprintf(m->out,
		"| violations, by field | variants | found | missed | the other end blamed |\n"
		"|---|---:|---:|---:|---:|\n");
	for (unsigned c = 0; c < violations_num_classes; c++) {
		const struct mutations_row *row = &m->violations[c];

		mutations_add(&sum, row);
		mutations_print_row(m, violations_classes[c].name, row);
	}
	mutations_print_row(m, "all", &sum);
	for (unsigned c = 0; c < MUTATIONS_FOREIGN; c++)
		mutations_print_row(m, mutations_foreign[c].name, &m->foreign[c]);
}

/* True if all of @p table stands in @p path. */
static bool mutations_is_in(const char *table, const char *path)
{
	static char text[1 << 20];
	FILE *in = fopen(path, "r");
	bool found;

	if (!in)
		err(2, "%s", path);
	text[fread(text, 1, sizeof text - 1, in)] = '\0';
	fclose(in);
	found = strstr(text, table) != NULL;
	if (!found)
		warnx("%s has another table; this is right if nothing got worse:\n%s", path, table);
	return found;
}

int main(int argc, char **argv)
{
	struct mutations_row alarms;
	struct mutations m = {0};
	const char *document = NULL;
	char *table;
	size_t len;
	int c, status = 0;
	bool strict = false;

	while ((c = getopt(argc, argv, "v1d:")) != -1) {
		if (c == '?')
			return 2;
		if (c == 'd')
			document = optarg;
		m.verbose |= c == 'v';
		strict |= c == '1';
	}
	m.imperfect = calloc(imperfect_num_classes, sizeof *m.imperfect);
	m.violations = calloc(violations_num_classes, sizeof *m.violations);
	m.out = open_memstream(&table, &len);
	if (!m.imperfect || !m.violations || !m.out)
		err(2, NULL);
	for (int i = optind; i < argc; i++)
		mutations_file(&m, argv[i]);
	alarms = mutations_print_imperfect(&m);
	mutations_print_violations(&m);
	fclose(m.out);
	if (!document)
		fputs(table, stdout);
	else if (!mutations_is_in(table, document))
		status = 1;
	if (strict && alarms.must + alarms.should != 0)
		status = 1;
	free(table);
	free(m.imperfect);
	free(m.violations);
	return status;
}
