/* SPDX-License-Identifier: BSD-2-Clause */
#include "pcap/keylog.h"

#include "base/hex.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Characters of a line at most: the longest label, a random and a secret are less. */
#define KEYLOG_LINE_MAX 512

/** Hexadecimal digits to octets. @return how many; 0: something else, or more than @p max. */
static size_t keylog_hex(const char *hex, uint8_t *out, size_t max)
{
	size_t len = strlen(hex);

	if (len % 2 != 0 || len / 2 > max || !hex_octets(hex, len / 2, out))
		return 0;
	return len / 2;
}

static struct keylog_secrets *keylog_add(struct keylog *k)
{
	if (k->n == k->cap) {
		size_t cap = k->cap == 0 ? 16 : 2 * k->cap;
		struct keylog_secrets *list = realloc(k->list, cap * sizeof *list);

		if (!list)
			return NULL;
		k->list = list;
		k->cap = cap;
	}
	k->list[k->n] = (struct keylog_secrets){0};
	return &k->list[k->n++];
}

/** @return false: no memory. */
static bool keylog_read_line(struct keylog *k, char *line)
{
	static const char *const labels[] = {"CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"};
	uint8_t random[KEYLOG_RANDOM_LEN], secret[KEYLOG_SECRET_MAX];
	char *save = NULL, *label = strtok_r(line, " \t\r\n", &save);
	char *of = strtok_r(NULL, " \t\r\n", &save), *hex = strtok_r(NULL, " \t\r\n", &save);
	struct keylog_secrets *s;
	size_t len;

	for (unsigned i = 0; hex && i < 2; i++) {
		if (strcmp(label, labels[i]) != 0)
			continue;
		len = keylog_hex(hex, secret, sizeof secret);
		if (len == 0 || keylog_hex(of, random, sizeof random) != sizeof random)
			return true;
		s = keylog_add(k);
		if (!s)
			return false;
		memcpy(s->random, random, sizeof random);
		memcpy(s->secret[i], secret, len);
		s->len[i] = (uint8_t)len;
	}
	return true;
}

static int keylog_compare(const void *a, const void *b)
{
	const struct keylog_secrets *x = a, *y = b;

	return memcmp(x->random, y->random, KEYLOG_RANDOM_LEN);
}

/** One order of all that differ. */
static int keylog_compare_all(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct keylog_secrets));
}

/** A line that is there twice is one. */
static void keylog_sort(struct keylog *k)
{
	size_t n = 0;

	if (k->n == 0)
		return;
	qsort(k->list, k->n, sizeof *k->list, keylog_compare_all);
	for (size_t i = 0; i < k->n; i++)
		if (n == 0 || keylog_compare_all(&k->list[n - 1], &k->list[i]) != 0)
			k->list[n++] = k->list[i];
	k->n = n;
}

bool keylog_read(struct keylog *k, FILE *in, struct cap_error *e)
{
	char line[KEYLOG_LINE_MAX];

	while (fgets(line, sizeof line, in))
		if (!keylog_read_line(k, line)) {
			snprintf(e->text, sizeof e->text, "out of memory");
			return false;
		}
	if (k->n == 0) {
		snprintf(e->text, sizeof e->text,
			"it has no traffic secret of TLS 1.3: no key log, or of no connection");
		return false;
	}
	keylog_sort(k);
	return true;
}

void keylog_refresh(struct keylog *k)
{
	char line[KEYLOG_LINE_MAX];
	struct stat st;
	FILE *in;

	if (!k->path || stat(k->path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == k->size)
		return;
	in = fopen(k->path, "r");
	if (!in)
		return;
	if (st.st_size < k->size)
		k->at = 0; /* another file, or it was emptied */
	k->size = st.st_size;
	/* A line that is not all written is read again. */
	if (fseeko(in, k->at, SEEK_SET) == 0)
		while (fgets(line, sizeof line, in) &&
			(strchr(line, '\n') || strlen(line) == sizeof line - 1)) {
			k->at = ftello(in);
			if (!keylog_read_line(k, line))
				break; /* less is opened */
		}
	fclose(in);
	keylog_sort(k);
}

const struct keylog_secrets *keylog_next(const struct keylog *k, const struct keylog_secrets *s)
{
	return s + 1 < k->list + k->n && keylog_compare(s, s + 1) == 0 ? s + 1 : NULL;
}

const struct keylog_secrets *keylog_find(
	const struct keylog *k, const uint8_t random[KEYLOG_RANDOM_LEN])
{
	const struct keylog_secrets *found;
	struct keylog_secrets wanted;

	if (k->n == 0)
		return NULL;
	memcpy(wanted.random, random, sizeof wanted.random);
	found = bsearch(&wanted, k->list, k->n, sizeof *k->list, keylog_compare);
	while (found && found != k->list && keylog_compare(found - 1, found) == 0)
		found--;
	return found;
}

void keylog_free(struct keylog *k)
{
	free(k->list);
	*k = (struct keylog){0};
}
