/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/keylog.h"

#include "base/hex.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the table ------------------------------------------------------------------------------ */

static uint32_t *keylog_bucket(const struct keylog *k, const uint8_t random[KEYLOG_RANDOM_LEN])
{
	return &k->newest[siphash(&k->key, random, KEYLOG_RANDOM_LEN) & (k->cap - 1)];
}

static void keylog_link(struct keylog *k, size_t i)
{
	uint32_t *bucket = keylog_bucket(k, k->list[i].random);

	k->list[i].older = *bucket;
	*bucket = (uint32_t)i + 1;
}

/** @return false: no memory. */
static bool keylog_grow(struct keylog *k)
{
	size_t cap = k->cap == 0 ? 16 : 2 * k->cap;
	uint32_t *newest = cap <= UINT32_MAX / 2 ? calloc(cap, sizeof *newest) : NULL;
	struct keylog_secrets *list = newest ? realloc(k->list, cap * sizeof *list) : NULL;

	if (!list) {
		free(newest);
		return false;
	}
	free(k->newest);
	k->newest = newest;
	k->list = list;
	k->cap = cap;
	for (size_t i = 0; i < k->n; i++)
		keylog_link(k, i);
	k->steps += k->n;
	return true;
}

static const struct keylog_secrets *keylog_at(const struct keylog *k, uint32_t place)
{
	return place != 0 ? &k->list[place - 1] : NULL;
}

/** @return the first of the random, from that at @p place of its bucket on. */
static const struct keylog_secrets *keylog_from(
	const struct keylog *k, uint32_t place, const uint8_t random[KEYLOG_RANDOM_LEN])
{
	const struct keylog_secrets *s = keylog_at(k, place);

	while (s && memcmp(s->random, random, KEYLOG_RANDOM_LEN) != 0)
		s = keylog_at(k, s->older);
	return s;
}

const struct keylog_secrets *keylog_find(
	const struct keylog *k, const uint8_t random[KEYLOG_RANDOM_LEN])
{
	return k->n != 0 ? keylog_from(k, *keylog_bucket(k, random), random) : NULL;
}

const struct keylog_secrets *keylog_next(const struct keylog *k, const struct keylog_secrets *s)
{
	return keylog_from(k, s->older, s->random);
}

static bool keylog_is_same(const struct keylog_secrets *a, const struct keylog_secrets *b)
{
	return memcmp(a->secret, b->secret, sizeof a->secret) == 0 &&
	       memcmp(a->len, b->len, sizeof a->len) == 0;
}

bool keylog_add(struct keylog *k, const struct keylog_secrets *s)
{
	unsigned alike = 0;

	for (const struct keylog_secrets *o = keylog_find(k, s->random); o; o = keylog_next(k, o)) {
		k->steps++;
		if (keylog_is_same(o, s) || ++alike == KEYLOG_ALIKE_MAX)
			return true;
	}
	if (k->n == k->cap && !keylog_grow(k))
		return false;
	k->list[k->n] = *s;
	keylog_link(k, k->n++);
	return true;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/** Hexadecimal digits to octets. @return how many; 0: something else, or more than @p max. */
static size_t keylog_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t len = strlen(hex);

	if (len % 2 != 0 || len / 2 > max || !hex_octets(hex, len / 2, out))
		return 0;
	return len / 2;
}

/** @return false: no memory. */
static bool keylog_take_line(struct keylog *k, char *line)
{
	static const char *const labels[] = {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"};
	char *save = NULL, *label = strtok_r(line, " \t\r", &save);
	char *random = strtok_r(NULL, " \t\r", &save), *hex = strtok_r(NULL, " \t\r", &save);
	struct keylog_secrets s = {.len = {0}};

	for (unsigned i = 0; hex && i < 2; i++) {
		if (strcmp(label, labels[i]) != 0)
			continue;
		s.len[i] = (uint8_t)keylog_hex(hex, s.secret[i], sizeof s.secret[i]);
		if (s.len[i] != 0 &&
			keylog_hex(random, s.random, sizeof s.random) == sizeof s.random)
			return keylog_add(k, &s);
	}
	return true;
}

/** The line in hand is whole. @return false: no memory. */
static bool keylog_end_line(struct keylog *k)
{
	bool good = true;

	k->line[k->len] = '\0';
	if (!k->bad)
		good = keylog_take_line(k, k->line);
	k->len = 0;
	k->bad = false;
	return good;
}

static void keylog_add_to_line(struct keylog *k, const char *text, size_t len)
{
	if (len >= sizeof k->line - k->len || memchr(text, '\0', len))
		k->bad = true;
	if (k->bad)
		return;
	memcpy(k->line + k->len, text, len);
	k->len += len;
}

/** The next of a file, wherever its lines end. @return false: no memory for some of it. */
static bool keylog_take(struct keylog *k, const char *text, size_t len)
{
	bool good = true;

	while (len != 0) {
		const char *end = memchr(text, '\n', len);
		size_t here = end ? (size_t)(end - text) : len;

		keylog_add_to_line(k, text, here);
		if (!end)
			break;
		good &= keylog_end_line(k);
		text = end + 1;
		len -= here + 1;
	}
	return good;
}

bool keylog_read(struct keylog *k, FILE *in, struct cap_error *e)
{
	char text[4096];
	bool good = true;
	size_t n;

	while (good && (n = fread(text, 1, sizeof text, in)) != 0)
		good = keylog_take(k, text, n);
	good = keylog_end_line(k) && good;
	if (!good)
		snprintf(e->text, sizeof e->text, "out of memory");
	else if (k->n == 0)
		snprintf(e->text, sizeof e->text,
			"it has no traffic secret of TLS 1.3: no key log, or of no connection");
	return good && k->n != 0;
}

void keylog_refresh(struct keylog *k)
{
	char text[4096];
	struct stat st;
	FILE *in;
	size_t n;

	if (!k->path || stat(k->path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == k->at)
		return;
	in = fopen(k->path, "re");
	if (!in)
		return;
	if (st.st_size < k->at) {
		/* Another file, or it was emptied: what there was of a line is none of it. */
		k->at = 0;
		k->len = 0;
		k->bad = false;
	}
	if (fseeko(in, k->at, SEEK_SET) == 0)
		while ((n = fread(text, 1, sizeof text, in)) != 0) {
			k->at += (off_t)n;
			keylog_take(k, text, n); /* without memory less is opened */
		}
	fclose(in);
}

void keylog_free(struct keylog *k)
{
	free(k->list);
	free(k->newest);
	*k = (struct keylog){0};
}
