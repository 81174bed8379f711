/* SPDX-License-Identifier: BSD-2-Clause */
#include "esp/file.h"

#include "base/secret_file.h"
#include "base/secret_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN 1024
#define ROOM_FIRST   16

/** All that a key passes through on its way. */
struct esp_reader {
	char buffer[BUFSIZ], line[LINE_MAX_LEN + 2];
	struct esp_statement statement;
	char why[200];
};

static const char esp_file_no_memory[] = "no memory";

/* ---- lookups ------------------------------------------------------------------------------- */

unsigned esp_file_find(const struct esp_file *f, uint32_t spi, const struct ip_addr *dst)
{
	uint32_t at = esp_hash_sa(spi, dst), i;

	while (esp_index_next(&f->by_sa, &at, &i))
		if (f->state[i].spi == spi && ip_addr_equal(&f->state[i].dst, dst))
			return i;
	return ESP_STATES_MAX;
}

bool esp_file_find_shared(const struct esp_file *f, unsigned *one, unsigned *other)
{
	struct esp_index by_spi = {0};
	bool found = false;
	uint32_t at, j;

	if (!esp_index_make(&by_spi, f->n_states))
		return false;
	for (unsigned i = 0; i < f->n_states && !found; i++) {
		const struct esp_state *s = &f->state[i];

		if (s->outbound || s->window == 0)
			continue;
		at = esp_hash_mix(s->spi);
		while (!found && esp_index_next(&by_spi, &at, &j))
			found = esp_state_uses_key(&f->state[j], s);
		if (found) {
			*one = j;
			*other = i;
		}
		esp_index_add(&by_spi, esp_hash_mix(s->spi), i);
	}
	esp_index_free(&by_spi);
	return found;
}

const struct esp_policy *esp_file_policy(
	const struct esp_file *f, const struct ip_flow *flow, bool outbound)
{
	uint32_t at = esp_hash_hosts(&flow->src, &flow->dst), first = f->n_policies, i;

	while (esp_index_next(&f->of_hosts, &at, &i))
		if (i < first && f->policy[i].outbound == outbound &&
			esp_selector_has(&f->policy[i].selector, flow))
			first = i;
	for (unsigned w = 0; w < f->n_wide && f->wide[w] < first; w++) {
		const struct esp_policy *p = &f->policy[f->wide[w]];

		if (p->outbound == outbound && esp_selector_has(&p->selector, flow))
			return p;
	}
	return first < f->n_policies ? &f->policy[first] : NULL;
}

/* ---- what is kept -------------------------------------------------------------------------- */

/** @return an array with twice as many places as the full one @p a. NULL: no memory. */
static void *esp_file_grow(void *a, unsigned *room, size_t size)
{
	unsigned more = *room ? 2 * *room : ROOM_FIRST;
	void *b = secret_memory_map(more * size);

	if (!b)
		return NULL;
	if (a)
		memcpy(b, a, *room * size);
	secret_memory_unmap(a, *room * size);
	*room = more;
	return b;
}

static bool esp_file_grow_states(struct esp_file *f)
{
	void *a = esp_file_grow(f->state, &f->room_states, sizeof *f->state);

	if (!a)
		return false;
	f->state = a;
	if (!esp_index_make(&f->by_sa, f->room_states))
		return false;
	for (unsigned i = 0; i < f->n_states; i++)
		esp_index_add(&f->by_sa, esp_hash_sa(f->state[i].spi, &f->state[i].dst), i);
	return true;
}

/** @return what is wrong, or NULL. */
static const char *esp_file_add_state(
	struct esp_file *f, const struct esp_state *s, const struct esp_host *host)
{
	bool outbound = host->has(host->ctx, &s->src);

	if (outbound == host->has(host->ctx, &s->dst))
		return NULL;
	if (esp_file_find(f, s->spi, &s->dst) != ESP_STATES_MAX)
		return "another SA has this \"spi\" and \"dst\" already";
	if (f->n_states == ESP_STATES_MAX)
		return "expected at most 4096 SAs that have one end at this host";
	if (f->n_states == f->room_states && !esp_file_grow_states(f))
		return esp_file_no_memory;
	f->state[f->n_states] = *s;
	f->state[f->n_states].outbound = outbound;
	esp_index_add(&f->by_sa, esp_hash_sa(s->spi, &s->dst), f->n_states++);
	return NULL;
}

/** Can a packet that crosses the boundary of this host be one of those? */
static bool esp_policy_is_for(const struct esp_policy *p, const struct esp_host *host)
{
	const struct esp_selector *s = &p->selector;
	const struct ip_addr *end = p->outbound ? &s->src : &s->dst;

	return !esp_prefix_is_host(end, p->outbound ? s->src_len : s->dst_len) ||
	       ip_addr_is_any(end) || ip_addr_is_multicast(end) || host->has(host->ctx, end);
}

static const char *esp_file_add_policy(
	struct esp_file *f, const struct esp_policy *p, unsigned line, const struct esp_host *host)
{
	void *a;

	if (!esp_policy_is_for(p, host))
		return NULL;
	if (f->n_policies == ESP_POLICIES_MAX)
		return "expected at most 4096 policies for packets of this host";
	if (f->n_policies == f->room_policies) {
		a = esp_file_grow(f->policy, &f->room_policies, sizeof *f->policy);
		if (!a)
			return esp_file_no_memory;
		f->policy = a;
	}
	f->policy[f->n_policies] = *p;
	f->policy[f->n_policies++].line = line;
	return NULL;
}

static const char *esp_file_add(struct esp_file *f, const struct esp_statement *s, unsigned line,
	const struct esp_host *host)
{
	switch (s->kind) {
	case ESP_STATEMENT_STATE:
		return esp_file_add_state(f, &s->state, host);
	case ESP_STATEMENT_POLICY:
		return esp_file_add_policy(f, &s->policy, line, host);
	case ESP_STATEMENT_DEFAULT:
		f->accept_in = s->none.has_in ? s->none.accept_in : f->accept_in;
		f->accept_out = s->none.has_out ? s->none.accept_out : f->accept_out;
		break;
	default:
		break;
	}
	return NULL;
}

/* ---- reading ------------------------------------------------------------------------------- */

/** @return what is wrong in line @p number, or NULL. */
static const char *esp_file_read_lines(FILE *in, struct esp_reader *r, struct esp_file *f,
	const struct esp_host *host, unsigned *number)
{
	const char *why = NULL;

	for (*number = 0; !why && fgets(r->line, sizeof r->line, in);) {
		if (++*number > ESP_LINES_MAX)
			return "expected at most 1048576 lines";
		if (!strchr(r->line, '\n') && !feof(in))
			return "the line is longer than 1024 characters";
		if (esp_statement_parse(r->line, &r->statement, r->why, sizeof r->why) != 0)
			return r->why;
		why = esp_file_add(f, &r->statement, *number, host);
	}
	return why ? why : secret_file_end(in);
}

static int esp_policy_compare(const void *x, const void *y)
{
	const struct esp_policy *a = x, *b = y;

	if (a->priority != b->priority)
		return a->priority < b->priority ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/** All has been read. @return what is wrong, or NULL. */
static const char *esp_file_finish(struct esp_file *f)
{
	f->wide = calloc(f->n_policies + 1, sizeof *f->wide);
	if (!f->wide || !esp_index_make(&f->by_hosts, f->n_states) ||
		!esp_index_make(&f->of_hosts, f->n_policies))
		return esp_file_no_memory;
	for (unsigned i = 0; i < f->n_states; i++)
		esp_index_add(&f->by_hosts, esp_hash_hosts(&f->state[i].src, &f->state[i].dst), i);
	if (f->n_policies)
		qsort(f->policy, f->n_policies, sizeof *f->policy, esp_policy_compare);
	for (unsigned i = 0; i < f->n_policies; i++) {
		const struct esp_selector *s = &f->policy[i].selector;

		if (esp_prefix_is_host(&s->src, s->src_len) &&
			esp_prefix_is_host(&s->dst, s->dst_len))
			esp_index_add(&f->of_hosts, esp_hash_hosts(&s->src, &s->dst), i);
		else
			f->wide[f->n_wide++] = i;
	}
	return NULL;
}

static int esp_file_error(const char *wrong)
{
	return wrong == esp_file_no_memory ? -ENOMEM : secret_file_error(wrong);
}

int esp_file_parse(FILE *in, const char *path, const struct esp_host *host, struct esp_file **out,
	char *why, size_t size)
{
	struct esp_reader *r = secret_memory_map(sizeof *r);
	struct esp_file *f = calloc(1, sizeof *f);
	const char *wrong = esp_file_no_memory;
	unsigned number = 0;
	int rc;

	if (r && f) {
		setvbuf(in, r->buffer, _IOFBF, sizeof r->buffer);
		wrong = esp_file_read_lines(in, r, f, host, &number);
		/* The buffer ends before the file does. */
		setvbuf(in, NULL, _IONBF, 0);
		wrong = wrong ? wrong : esp_file_finish(f);
	}
	rc = wrong ? esp_file_error(wrong) : 0;
	if (wrong) {
		snprintf(why, size, "ipsec \"%.300s\" line %u: %s", path, number, wrong);
		esp_file_free(f);
		f = NULL;
	}
	secret_memory_unmap(r, sizeof *r);
	*out = f;
	return rc;
}

int esp_file_read(const char *path, const struct esp_host *host, struct esp_file **out, char *why,
	size_t size)
{
	int rc;
	FILE *in = secret_file_open(path, "ipsec", &rc, why, size);

	*out = NULL;
	if (!in)
		return rc;
	rc = esp_file_parse(in, path, host, out, why, size);
	fclose(in);
	return rc;
}

void esp_file_free(struct esp_file *f)
{
	if (!f)
		return;
	secret_memory_unmap(f->state, f->room_states * sizeof *f->state);
	secret_memory_unmap(f->policy, f->room_policies * sizeof *f->policy);
	esp_index_free(&f->by_sa);
	esp_index_free(&f->by_hosts);
	esp_index_free(&f->of_hosts);
	free(f->wide);
	free(f);
}
