/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/severities.h"

#include "pcap/capture_priv.h"

#include <stdlib.h>

static const char *const severity_names[SEVERITIES] = {
	[SEVERITY_VIOLATION] = "violation",
	[SEVERITY_ADVICE] = "advice",
	[SEVERITY_NOTE] = "note",
	[SEVERITY_IGNORE] = "ignore",
};

const char *severity_name(enum severity s)
{
	return severity_names[s];
}

bool severity_parse(const char *name, enum severity *out)
{
	for (unsigned i = 0; i < SEVERITIES; i++)
		if (strcmp(name, severity_names[i]) == 0) {
			*out = (enum severity)i;
			return true;
		}
	return false;
}

enum severity severity_of_level(const struct requirement *q)
{
	return strncmp(q->level, "MUST", 4) == 0 || strncmp(q->level, "SHALL", 5) == 0 ||
			       strcmp(q->level, "REQUIRED") == 0
		       ? SEVERITY_VIOLATION
		       : SEVERITY_ADVICE;
}

static bool severities_fits(const struct severities_rule *r, const struct requirement *q)
{
	return r->prefix ? strncmp(q->id, r->id, strlen(r->id)) == 0 : strcmp(q->id, r->id) == 0;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool severities_fail(struct cap_error *e, unsigned line, const char *what, const char *word)
{
	cap_bad(e, "line %u: \"%.40s\"; expected %s", line, word, what);
	return false;
}

static bool severities_parse_id(struct severities_rule *r, const char *word)
{
	size_t len = strlen(word);

	r->prefix = len != 0 && word[len - 1] == '*';
	len -= r->prefix;
	if (len >= sizeof r->id)
		return false;
	memcpy(r->id, word, len);
	r->id[len] = '\0';
	for (unsigned i = 0; i < REQUIREMENTS; i++)
		if (severities_fits(r, requirement((enum requirement_id)i)))
			return true;
	return false;
}

static bool severities_parse_line(
	struct severities_rule *r, char *text, unsigned line, struct cap_error *e)
{
	static const char blank[] = " \t\r\n";
	char *save, *word = strtok_r(text, blank, &save);

	*r = (struct severities_rule){0};
	if (!severity_parse(word, &r->severity))
		return severities_fail(e, line, "violation, advice, note or ignore", word);
	word = strtok_r(NULL, blank, &save);
	if (!word || !severities_parse_id(r, word))
		return severities_fail(e, line,
			"an id of docs/conformance.md, or its beginning and a *", word ? word : "");
	word = strtok_r(NULL, blank, &save);
	if (!word)
		return true;
	if (strcmp(word, "from") != 0)
		return severities_fail(e, line, "from ADDRESS, # or the end of the line", word);
	word = strtok_r(NULL, blank, &save);
	if (!word || ip_addr_parse_cidr(word, &r->from.addr, &r->from.prefix) != 0)
		return severities_fail(e, line, "an address, or with /PREFIX", word ? word : "");
	r->from_given = true;
	word = strtok_r(NULL, blank, &save);
	return !word || severities_fail(e, line, "the end of the line", word);
}

static bool severities_add(struct severities *s, const struct severities_rule *r)
{
	struct severities_rule *more = realloc(s->rules, (s->n + 1) * sizeof *more);

	if (!more)
		return false;
	s->rules = more;
	more[s->n++] = *r;
	return true;
}

bool severities_read(struct severities *s, FILE *in, struct cap_error *e)
{
	char text[512];

	for (unsigned line = 1; fgets(text, sizeof text, in); line++) {
		struct severities_rule r;

		if (!strchr(text, '\n') && !feof(in)) {
			cap_bad(e, "line %u: longer than %zu octets", line, sizeof text - 2);
			return false;
		}
		text[strcspn(text, "#")] = '\0';
		if (text[strspn(text, " \t\r\n")] == '\0')
			continue;
		if (!severities_parse_line(&r, text, line, e))
			return false;
		if (s->n == SEVERITIES_RULES_MAX || !severities_add(s, &r)) {
			cap_bad(e, "line %u: more than %d rules", line, SEVERITIES_RULES_MAX);
			return false;
		}
	}
	if (ferror(in))
		cap_bad(e, "cannot be read");
	return !ferror(in);
}

enum severity severities_find(
	const struct severities *s, const struct requirement *q, const struct ip_addr *from)
{
	for (unsigned i = s ? s->n : 0; i-- != 0;) {
		const struct severities_rule *r = &s->rules[i];

		if (severities_fits(r, q) &&
			(!r->from_given || ip_addr_in_prefix(from, &r->from.addr, r->from.prefix)))
			return r->severity;
	}
	return severity_of_level(q);
}

void severities_free(struct severities *s)
{
	free(s->rules);
	*s = (struct severities){0};
}
