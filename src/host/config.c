/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config.h"

#include "host/config_error.h"
#include "host/config_slot.h"
#include "host/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* inih cuts longer lines in two; the reader below refuses them before it can. */
#define CONFIG_MAX_LINE  196
#define CONFIG_MAX_LINES 10000

static int config_unknown_key(
	const char *name, const struct config_place *where, struct config_error *e)
{
	const struct config_key *nearest = config_key_nearest(name);
	struct config_shown s;
	size_t n = 0;
	char all[1024];

	if (nearest)
		return config_complain(e, -EINVAL, where,
			"there is no key \"%s\"; did you mean \"%s\"?", config_show(&s, name),
			nearest->name);
	for (unsigned i = 0; i < config_num_keys && n < sizeof all; i++)
		n += (size_t)snprintf(
			all + n, sizeof all - n, "%s%s", i == 0 ? "" : ", ", config_keys[i].name);
	return config_complain(e, -EINVAL, where, "there is no key \"%s\"; the keys are %s",
		config_show(&s, name), all);
}

/** Trim in place; @return the first character that is no blank. */
static char *config_trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

static int config_apply_value(struct config *c, const struct config_key *k, const char *value,
	const struct config_place *where, struct config_error *e)
{
	struct config_phrase phrase;
	const char *right = config_value_parse(c, k, value, &phrase);
	struct config_shown s;

	if (!right)
		return 0;
	return config_complain(e, -EINVAL, where, "\"%s\" is \"%s\"; expected %s", k->name,
		config_show(&s, value), right);
}

static int config_apply_list(struct config *c, const struct config_key *k, char *value,
	const struct config_place *where, struct config_error *e)
{
	char *next = value;

	while (next) {
		char *item = strsep(&next, ",");
		int rc;

		item = config_trim(item);
		if (*item == '\0')
			return config_complain(e, -EINVAL, where,
				"\"%s\" has an empty element; expected values with one comma "
				"between each two",
				k->name);
		rc = config_apply_value(c, k, item, where, e);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* A shell takes quotes off, nothing does so here. */
static bool config_is_quoted(const struct config_key *k, const char *value)
{
	size_t n = strlen(value);

	return !k->quotes && n >= 2 && (*value == '"' || *value == '\'') && value[n - 1] == *value;
}

/*
 * Within a file a scalar key stands once. A --set wins over the file and over the ones before it;
 * the first --set of a list replaces the file's list.
 */
static int config_apply_order(struct config *c, const struct config_key *k,
	const struct config_place *where, struct config_error *e)
{
	unsigned *line = &c->file_line[k - config_keys];

	if (!where->path) {
		if (k->type == CONFIG_LIST && *line != 0)
			memset((char *)c + k->offset, 0, k->size);
		*line = 0;
		return 0;
	}
	if (*line != 0 && k->type != CONFIG_LIST)
		return config_complain(e, -EINVAL, where,
			"\"%s\" stands here again after line %u; expected it once", k->name, *line);
	*line = where->line;
	return 0;
}

/** @p value with the slot's number in it. @return 1: it waits until there is one; 0; -EINVAL. */
static int config_apply_slot(struct config *c, const struct config_key *k, char **value,
	char *expanded, const struct config_place *where, struct config_error *e)
{
	const char *right;
	struct config_shown s;
	int rc = k->literal ? 0 : config_slot_expand(*value, c->slot, expanded, &right);

	if (rc < 0)
		return config_complain(e, rc, where, "\"%s\" is \"%s\"; expected %s", k->name,
			config_show(&s, *value), right);
	if (rc == 0)
		return 0;
	c->slot_wanted = true;
	*value = expanded;
	return c->slot == 0;
}

/* One assignment: all of it, or nothing. */
static int config_apply(struct config *c, const char *name, char *value,
	const struct config_place *where, struct config_error *e)
{
	const struct config_key *k = config_key_find(name);
	const struct config before = *c;
	char expanded[CONFIG_MAX_EXPANDED];
	struct config_shown s;
	int rc;

	if (!k)
		return config_unknown_key(name, where, e);
	if (*value == '\0')
		return config_complain(
			e, -EINVAL, where, "\"%s\" has no value; expected %s=VALUE", name, name);
	if (config_is_quoted(k, value))
		return config_complain(e, -EINVAL, where,
			"\"%s\" has quotes around its value, %s; expected it without them", name,
			config_show(&s, value));
	rc = config_apply_order(c, k, where, e);
	if (rc == 0)
		rc = config_apply_slot(c, k, &value, expanded, where, e);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = k->type == CONFIG_LIST ? config_apply_list(c, k, value, where, e)
					    : config_apply_value(c, k, value, where, e);
	if (rc == 0)
		c->given |= UINT64_C(1) << (k - config_keys);
	else
		*c = before;
	return rc;
}

void config_init(struct config *c)
{
	struct config_phrase phrase;

	*c = (struct config){.slot = 0};
	for (unsigned i = 0; i < config_num_keys; i++)
		if (config_keys[i].initial)
			config_value_parse(c, &config_keys[i], config_keys[i].initial, &phrase);
}

/* ---- files ------------------------------------------------------------------------------- */

struct config_reading {
	FILE *f, *pairs;
	struct config *c;
	struct config_error *e;
	struct config_place where;
	int rc; /* the first error; what follows is not looked at */
};

/** inih ends a value at a blank and ";", not at a blank and "#". A name may hold either. */
static void config_cut_comment(char *line)
{
	for (char *at = line; (at = strchr(at, '#')) != NULL; at++)
		if (at > line && isspace((unsigned char)at[-1])) {
			*at = '\0';
			return;
		}
}

/* inih's reader: one line, checked for what inih would pass over or cut in silence. */
static char *config_read_line(char *buf, int num, void *arg)
{
	struct config_reading *r = arg;
	int n = 0;
	int ch;

	if (r->rc != 0)
		return NULL;
	if (++r->where.line > CONFIG_MAX_LINES) {
		r->rc = config_complain(r->e, -EINVAL, &r->where, "expected at most %u lines",
			(unsigned)CONFIG_MAX_LINES);
		return NULL;
	}
	while ((ch = getc(r->f)) != EOF && ch != '\n') {
		if (ch == '\0') {
			r->rc = config_complain(
				r->e, -EINVAL, &r->where, "a zero byte; expected lines of text");
			return NULL;
		}
		/* An indented line would continue the value before it. */
		if (n == 0 && isspace(ch))
			continue;
		if (n >= CONFIG_MAX_LINE || n + 2 > num) {
			r->rc = config_complain(r->e, -EINVAL, &r->where,
				"the line is too long; expected at most %d characters (--set takes "
				"longer values)",
				CONFIG_MAX_LINE);
			return NULL;
		}
		buf[n++] = (char)ch;
	}
	if (ch == EOF && ferror(r->f)) {
		r->rc = config_unreadable(r->where.path, errno, r->e);
		return NULL;
	}
	if (ch == EOF && n == 0)
		return NULL;
	buf[n] = '\0';
	config_cut_comment(buf);
	if (buf[0] == '[') {
		r->rc = config_complain(r->e, -EINVAL, &r->where,
			"a section; expected only lines of the form key = value");
		return NULL;
	}
	return buf;
}

static int config_take_pair(void *arg, const char *section, const char *name, const char *value)
{
	struct config_reading *r = arg;
	char copy[CONFIG_MAX_LINE + 1];

	(void)section;
	if (r->rc != 0)
		return 1;
	snprintf(copy, sizeof copy, "%s", value);
	if (r->pairs)
		fprintf(r->pairs, "%s=%s\n", name, config_trim(copy));
	r->rc = config_apply(r->c, name, config_trim(copy), &r->where, r->e);
	return 1;
}

int config_unreadable(const char *path, int error, struct config_error *e)
{
	const struct config_place where = {.path = path};

	return config_complain(
		e, -error, &where, "cannot read the configuration: %s", strerror(error));
}

/**
 * Programs read a configuration when they come to it, and again: not what is empty then, or what
 * has to be waited for. /dev/null is as empty each time, and says that there is none.
 */
static int config_check_kind(const char *path, const struct stat *st, struct config_error *e)
{
	const struct config_place where = {.path = path};

	if (S_ISREG(st->st_mode) || (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)))
		return 0;
	if (S_ISDIR(st->st_mode))
		return config_unreadable(path, EISDIR, e);
	return config_complain(
		e, -EINVAL, &where, "it is no regular file; expected one that can be read again");
}

int config_look_at(const char *path, struct config_error *e)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return config_unreadable(path, errno, e);
	return S_ISFIFO(st.st_mode) ? 1 : config_check_kind(path, &st, e);
}

/** @return 0, or -errno with @p e filled in. */
static int config_open(const char *path, FILE **out, struct config_error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc;
	struct stat st = {0};

	if (fd < 0)
		return config_unreadable(path, errno, e);
	fstat(fd, &st);
	rc = config_check_kind(path, &st, e);
	*out = rc == 0 ? fdopen(fd, "r") : NULL;
	if (*out)
		return 0;
	close(fd);
	return rc != 0 ? rc : config_unreadable(path, ENOMEM, e);
}

int config_read_stream(
	struct config *c, FILE *f, const char *path, FILE *pairs, struct config_error *e)
{
	struct config_reading r = {.f = f, .pairs = pairs, .c = c, .e = e, .where = {.path = path}};
	int line;

	memset(c->file_line, 0, sizeof c->file_line);
	line = ini_parse_stream(config_read_line, &r, config_take_pair, &r);
	if (r.rc == 0 && line > 0) {
		r.where.line = (unsigned)line;
		r.rc = config_complain(e, -EINVAL, &r.where, "expected key = value");
	} else if (r.rc == 0 && line < 0) {
		r.rc = config_unreadable(path, ENOMEM, e);
	}
	return r.rc;
}

int config_read_file(struct config *c, const char *path, struct config_error *e)
{
	FILE *f;
	int rc = config_open(path, &f, e);

	if (rc != 0)
		return rc;
	rc = config_read_stream(c, f, path, NULL, e);
	fclose(f);
	return rc;
}

/* ---- assignments and the whole ------------------------------------------------------------ */

int config_set(struct config *c, const char *source, const char *assignment, struct config_error *e)
{
	const struct config_place where = {.source = source};
	const char *equals = strchr(assignment, '=');
	struct config_shown s;
	char *copy;
	int rc;

	if (!equals || equals == assignment)
		return config_complain(e, -EINVAL, &where, "\"%s\"; expected key=value",
			config_show(&s, assignment));
	copy = strdup(assignment);
	if (!copy)
		return config_complain(e, -ENOMEM, &where, "%s", strerror(ENOMEM));
	copy[equals - assignment] = '\0';
	rc = config_apply(
		c, config_trim(copy), config_trim(copy + (equals - assignment) + 1), &where, e);
	free(copy);
	return rc;
}
