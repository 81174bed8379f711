/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider/config.h"

#include "provider/config_mpa.h"
#include "provider/config_patience.h"
#include "provider/config_slot.h"
#include "provider/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* inih cuts longer lines in two; the reader below refuses them before it can. */
#define CONFIG_MAX_LINE  196
#define CONFIG_MAX_LINES 10000

/* Where an assignment stands: a line of a file, or "--set" when path is NULL. */
struct config_place {
	const char *path;
	unsigned line;
};

/* Text from outside, fit for a terminal: control bytes replaced, long ones cut. */
struct shown {
	char text[100];
};

static const char *show(struct shown *s, const char *text)
{
	size_t n = strlen(text);
	size_t max = sizeof s->text - 1;

	for (size_t i = 0; i < n && i < max; i++)
		s->text[i] = (char)(iscntrl((unsigned char)text[i]) ? '?' : text[i]);
	s->text[n < max ? n : max] = '\0';
	if (n > max)
		memcpy(s->text + max - 3, "...", 3);
	return s->text;
}

static int complain(struct config_error *e, int rc, const struct config_place *where,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int complain(
	struct config_error *e, int rc, const struct config_place *where, const char *fmt, ...)
{
	struct shown s;
	va_list ap;
	size_t n = 0;

	if (where != NULL && where->path != NULL && where->line != 0)
		n = (size_t)snprintf(e->text, sizeof e->text,
			"%s, line %u: ", show(&s, where->path), where->line);
	else if (where != NULL && where->path != NULL)
		n = (size_t)snprintf(e->text, sizeof e->text, "%s: ", show(&s, where->path));
	else if (where != NULL)
		n = (size_t)snprintf(e->text, sizeof e->text, "--set: ");
	va_start(ap, fmt);
	vsnprintf(e->text + n, sizeof e->text - n, fmt, ap);
	va_end(ap);
	return rc;
}

/* Levenshtein's distance, for "did you mean": keys are short, so a row on the stack will do. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[33];
	size_t nb = strlen(b);

	if (nb > 32 || strlen(a) > 32)
		return 64;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (unsigned i = 1; a[i - 1] != '\0'; i++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (unsigned j = 1; j <= nb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

static int unknown_key(const char *name, const struct config_place *where, struct config_error *e)
{
	const char *nearest = NULL;
	unsigned best = 4;
	struct shown s;
	size_t n = 0;
	char all[1024];

	for (unsigned i = 0; i < config_num_keys; i++) {
		unsigned d = distance(name, config_keys[i].name);

		if (d < best && d < strlen(config_keys[i].name)) {
			best = d;
			nearest = config_keys[i].name;
		}
	}
	if (nearest != NULL)
		return complain(e, -EINVAL, where, "there is no key \"%s\"; did you mean \"%s\"?",
			show(&s, name), nearest);
	for (unsigned i = 0; i < config_num_keys && n < sizeof all; i++)
		n += (size_t)snprintf(
			all + n, sizeof all - n, "%s%s", i == 0 ? "" : ", ", config_keys[i].name);
	return complain(
		e, -EINVAL, where, "there is no key \"%s\"; the keys are %s", show(&s, name), all);
}

/* Trim in place; @return the first character that is no blank. */
static char *trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

static int apply_value(struct config *c, const struct config_key *k, const char *value,
	const struct config_place *where, struct config_error *e)
{
	const char *right = k->parse(c, value);
	struct shown s;

	if (right == NULL)
		return 0;
	return complain(e, -EINVAL, where, "\"%s\" is \"%s\"; expected %s", k->name,
		show(&s, value), right);
}

static int apply_list(struct config *c, const struct config_key *k, char *value,
	const struct config_place *where, struct config_error *e)
{
	char *next = value;

	while (next != NULL) {
		char *item = strsep(&next, ",");
		int rc;

		item = trim(item);
		if (*item == '\0')
			return complain(e, -EINVAL, where,
				"\"%s\" has an empty element; expected values with one comma "
				"between each two",
				k->name);
		rc = apply_value(c, k, item, where, e);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* A shell takes quotes off, nothing does so here. The arguments of "eal" may begin and end so. */
static bool is_quoted(const struct config_key *k, const char *value)
{
	size_t n = strlen(value);

	return strcmp(k->name, "eal") != 0 && n >= 2 && (*value == '"' || *value == '\'') &&
	       value[n - 1] == *value;
}

/*
 * One assignment. Within a file a scalar key stands once; a --set wins over the file and over
 * the ones before it; the first --set of a list replaces the file's list.
 */
static int apply(struct config *c, const char *name, char *value, const struct config_place *where,
	struct config_error *e)
{
	const struct config before = *c;
	char expanded[CONFIG_MAX_EXPANDED];
	const struct config_key *k;
	const char *right;
	struct shown s;
	unsigned i = 0;
	int rc;

	while (i < config_num_keys && strcmp(name, config_keys[i].name) != 0)
		i++;
	if (i == config_num_keys)
		return unknown_key(name, where, e);
	k = &config_keys[i];
	if (*value == '\0')
		return complain(
			e, -EINVAL, where, "\"%s\" has no value; expected %s=VALUE", name, name);
	if (is_quoted(k, value))
		return complain(e, -EINVAL, where,
			"\"%s\" has quotes around its value, %s; expected it without them", name,
			show(&s, value));
	if (where->path != NULL) {
		if (c->file_line[i] != 0 && !k->repeatable)
			return complain(e, -EINVAL, where,
				"\"%s\" stands here again after line %u; expected it once", name,
				c->file_line[i]);
		c->file_line[i] = where->line;
	} else if (k->repeatable && c->file_line[i] != 0) {
		k->reset(c);
		c->file_line[i] = 0;
	}
	rc = k->parse == config_slot_range ? 0
					   : config_slot_expand(value, c->slot, expanded, &right);
	if (rc < 0)
		return complain(e, rc, where, "\"%s\" is \"%s\"; expected %s", k->name,
			show(&s, value), right);
	if (rc > 0) {
		c->slot_wanted = true;
		if (c->slot == 0)
			return 0;
		value = expanded;
	}
	rc = k->repeatable ? apply_list(c, k, value, where, e) : apply_value(c, k, value, where, e);
	/* All of a list, or nothing. */
	if (rc != 0)
		*c = before;
	return rc;
}

void config_init(struct config *c)
{
	*c = (struct config){
		.name = "uiw0",
		.progress_core = -1,
		.connect_port = 61525,
		.rnr_timeout = 1000,
		.congestion_control = "cubic",
		.timestamps = true,
		.sack = true,
		.window_scale = true,
		.log = LOG_LEVEL_WARNING,
		.list_addresses = true,
		.slot_group = "default",
		.slot_first = 1,
		.slot_last = 254,
		.slot_fd = -1,
	};
	config_mpa_init(c);
	config_patience_init(c);
}

/* ---- files ------------------------------------------------------------------------------- */

struct reading {
	FILE *f;
	struct config *c;
	struct config_error *e;
	struct config_place where;
	int rc; /* the first error; what follows is not looked at */
};

/* inih's reader: one line, checked for what inih would pass over or cut in silence. */
static char *read_line(char *buf, int num, void *arg)
{
	struct reading *r = arg;
	int n = 0;
	int ch;

	if (r->rc != 0)
		return NULL;
	if (++r->where.line > CONFIG_MAX_LINES) {
		r->rc = complain(r->e, -EINVAL, &r->where, "expected at most %u lines",
			(unsigned)CONFIG_MAX_LINES);
		return NULL;
	}
	while ((ch = getc(r->f)) != EOF && ch != '\n') {
		if (ch == '\0') {
			r->rc = complain(
				r->e, -EINVAL, &r->where, "a zero byte; expected lines of text");
			return NULL;
		}
		/* An indented line would continue the value before it. */
		if (n == 0 && isspace(ch))
			continue;
		if (n >= CONFIG_MAX_LINE || n + 2 > num) {
			r->rc = complain(r->e, -EINVAL, &r->where,
				"the line is too long; expected at most %d characters (--set takes "
				"longer values)",
				CONFIG_MAX_LINE);
			return NULL;
		}
		buf[n++] = (char)ch;
	}
	if (ch == EOF && ferror(r->f)) {
		int err = errno;

		r->where.line = 0;
		r->rc = complain(
			r->e, -err, &r->where, "cannot read the configuration: %s", strerror(err));
		return NULL;
	}
	if (ch == EOF && n == 0)
		return NULL;
	buf[n] = '\0';
	if (buf[0] == '[') {
		r->rc = complain(r->e, -EINVAL, &r->where,
			"a section; expected only lines of the form key = value");
		return NULL;
	}
	return buf;
}

static int take_pair(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;
	char copy[CONFIG_MAX_LINE + 1];

	(void)section;
	if (r->rc != 0)
		return 1;
	snprintf(copy, sizeof copy, "%s", value);
	r->rc = apply(r->c, name, trim(copy), &r->where, r->e);
	return 1;
}

int config_read_file(struct config *c, const char *path, struct config_error *e)
{
	struct reading r = {.c = c, .e = e, .where = {.path = path}};
	int line;

	r.f = fopen(path, "re");
	if (r.f == NULL) {
		int err = errno;

		return complain(
			e, -err, &r.where, "cannot read the configuration: %s", strerror(err));
	}
	memset(c->file_line, 0, sizeof c->file_line);
	line = ini_parse_stream(read_line, &r, take_pair, &r);
	fclose(r.f);
	if (r.rc == 0 && line > 0) {
		r.where.line = (unsigned)line;
		r.rc = complain(e, -EINVAL, &r.where, "expected key = value");
	} else if (r.rc == 0 && line < 0) {
		r.rc = complain(e, -ENOMEM, &r.where, "cannot read the configuration: %s",
			strerror(ENOMEM));
	}
	return r.rc;
}

/* ---- assignments and the whole ------------------------------------------------------------ */

int config_set(struct config *c, const char *assignment, struct config_error *e)
{
	const struct config_place where = {0};
	const char *equals = strchr(assignment, '=');
	struct shown s;
	char *copy;
	int rc;

	if (equals == NULL || equals == assignment)
		return complain(
			e, -EINVAL, &where, "\"%s\"; expected key=value", show(&s, assignment));
	copy = strdup(assignment);
	if (copy == NULL)
		return complain(e, -ENOMEM, &where, "%s", strerror(ENOMEM));
	copy[equals - assignment] = '\0';
	rc = apply(c, trim(copy), trim(copy + (equals - assignment) + 1), &where, e);
	free(copy);
	return rc;
}

/* True when all bits of an IPv4 address behind the prefix are @p bit. */
static bool host_part_is(const struct config_address *a, bool bit)
{
	for (unsigned i = a->prefix_len; i < 32; i++)
		if (((a->addr.b[12 + i / 8] >> (7 - i % 8) & 1) != 0) != bit)
			return false;
	return true;
}

static int check_address(
	const struct config *c, const struct config_address *a, struct config_error *e)
{
	char text[IP_ADDR_STRLEN];

	ip_addr_format(&a->addr, text);
	if (!ip_addr_is_v4(&a->addr)) {
		/* RFC 8200 section 5: IPv6 needs links of 1280 bytes. */
		if (c->mtu != 0 && c->mtu < 1280)
			return complain(e, -EINVAL, NULL,
				"\"mtu\" is %u, but the IPv6 address %s needs at least 1280",
				c->mtu, text);
		return 0;
	}
	/* RFC 1122 section 3.2.1.3 (c), (d); RFC 3021 lets /31 use both. */
	if (a->prefix_len < 31 && (host_part_is(a, false) || host_part_is(a, true)))
		return complain(e, -EINVAL, NULL,
			"\"address\" is %s/%u, which names the network or its broadcast; expected "
			"the address of a host in it",
			text, a->prefix_len);
	return 0;
}

int config_check(const struct config *c, struct config_error *e)
{
	char text[IP_ADDR_STRLEN];

	if (c->port[0] == '\0')
		return complain(e, -EINVAL, NULL,
			"\"port\" is missing; expected DPDK device arguments, such as "
			"port=net_memif0,role=server,socket=/tmp/uiwarp.sock");
	if (c->num_addresses == 0)
		return complain(e, -EINVAL, NULL,
			"\"address\" is missing; expected at least one, such as "
			"address=10.0.0.1/24");
	for (unsigned i = 0; i < c->num_addresses; i++) {
		int rc = check_address(c, &c->address[i], e);

		if (rc != 0)
			return rc;
	}
	for (unsigned i = 0; i < c->num_gateways; i++) {
		const struct ip_addr *g = &c->gateway[i];
		bool on_link = ip_addr_is_link_local(g);

		ip_addr_format(g, text);
		for (unsigned j = 0; j < c->num_addresses; j++) {
			const struct config_address *a = &c->address[j];

			if (ip_addr_equal(g, &a->addr))
				return complain(e, -EINVAL, NULL,
					"\"gateway\" is %s, which is our own address; expected a "
					"router's",
					text);
			if (ip_addr_is_v4(g) == ip_addr_is_v4(&a->addr) &&
				ip_addr_in_prefix(g, &a->addr, a->prefix_len))
				on_link = true;
		}
		if (!on_link)
			return complain(e, -EINVAL, NULL,
				"\"gateway\" is %s, which no \"address\" has in its network; "
				"expected a neighbour",
				text);
	}
	return 0;
}
