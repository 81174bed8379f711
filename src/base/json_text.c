/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_text.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 4096

void json_text_fini(struct json_text *j)
{
	free(j->text);
	*j = (struct json_text){.text = NULL};
}

void json_text_clear(struct json_text *j)
{
	j->len = 0;
	j->comma = j->failed = false;
}

void json_text_cut(struct json_text *j, size_t len)
{
	j->len = len;
	j->comma = true;
}

/** Room for @p n more bytes, or NULL. */
static char *json_text_room(struct json_text *j, size_t n)
{
	size_t size = j->size ? j->size : FIRST_SIZE;
	char *text;

	if (j->failed)
		return NULL;
	if (n <= j->size - j->len)
		return j->text + j->len;
	while (size - j->len < n)
		size *= 2;
	text = realloc(j->text, size);
	if (!text) {
		j->failed = true;
		return NULL;
	}
	j->text = text;
	j->size = size;
	return text + j->len;
}

static void json_text_add(struct json_text *j, const char *s, size_t n)
{
	char *at = json_text_room(j, n);

	if (!at)
		return;
	memcpy(at, s, n);
	j->len += n;
}

/**
 * What stands before a value, of which there are millions: room is looked for once for both.
 * @return where the value goes, which takes @p n bytes at most; or NULL. json_text_done() is next.
 */
static char *json_text_lead(struct json_text *j, const char *key, size_t n)
{
	char *at = json_text_room(j, (key ? strlen(key) : 0) + 4 + n);

	if (!at)
		return NULL;
	if (j->comma)
		*at++ = ',';
	j->comma = true;
	if (!key)
		return at;
	*at++ = '"';
	while (*key)
		*at++ = *key++;
	*at++ = '"';
	*at++ = ':';
	return at;
}

/** All before @p at is written. */
static void json_text_done(struct json_text *j, const char *at)
{
	j->len = (size_t)(at - j->text);
}

static void json_text_open(struct json_text *j, const char *key, char bracket)
{
	char *at = json_text_lead(j, key, 1);

	if (!at)
		return;
	*at++ = bracket;
	json_text_done(j, at);
	j->comma = false;
}

static void json_text_close(struct json_text *j, const char *bracket)
{
	json_text_add(j, bracket, 1);
	j->comma = true;
}

void json_text_object(struct json_text *j, const char *key)
{
	json_text_open(j, key, '{');
}

void json_text_object_end(struct json_text *j)
{
	json_text_close(j, "}");
}

void json_text_array(struct json_text *j, const char *key)
{
	json_text_open(j, key, '[');
}

void json_text_array_end(struct json_text *j)
{
	json_text_close(j, "]");
}

void json_text_number(struct json_text *j, const char *key, uint64_t value)
{
	const bool quoted = value > INT64_MAX;
	char *at = json_text_lead(j, key, NUMBER_DIGITS + 2);

	if (!at)
		return;
	if (quoted)
		*at++ = '"';
	at = number_put(at, value);
	if (quoted)
		*at++ = '"';
	json_text_done(j, at);
}

void json_text_integer(struct json_text *j, const char *key, int64_t value)
{
	char *at = json_text_lead(j, key, 1 + NUMBER_DIGITS);

	if (!at)
		return;
	if (value < 0)
		*at++ = '-';
	json_text_done(j, number_put(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value));
}

void json_text_bool(struct json_text *j, const char *key, bool value)
{
	size_t n = value ? 4 : 5;
	char *at = json_text_lead(j, key, n);

	if (!at)
		return;
	memcpy(at, value ? "true" : "false", n);
	json_text_done(j, at + n);
}

/** Octets of the character at @p s (RFC 3629 section 4), or 0: it is none. */
static size_t json_text_utf8(const unsigned char *s)
{
	unsigned low = 0x80, high = 0xbf;
	size_t n = *s < 0x80   ? 1
		   : *s < 0xc2 ? 0
		   : *s < 0xe0 ? 2
		   : *s < 0xf0 ? 3
		   : *s < 0xf5 ? 4
			       : 0;

	/* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
	if (*s == 0xe0)
		low = 0xa0;
	else if (*s == 0xed)
		high = 0x9f;
	else if (*s == 0xf0)
		low = 0x90;
	else if (*s == 0xf4)
		high = 0x8f;
	if (n > 1 && (s[1] < low || s[1] > high))
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void json_text_escape(struct json_text *j, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	if (c == '"' || c == '\\') {
		text[1] = (char)c;
		json_text_add(j, text, 2);
	} else {
		json_text_add(j, text, 6);
	}
}

/** Octets from @p s on that stand for themselves. */
static size_t json_text_plain(const unsigned char *s)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

static void json_text_quote(struct json_text *j, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	json_text_add(j, "\"", 1);
	for (;;) {
		size_t n = json_text_plain(s);

		json_text_add(j, (const char *)s, n);
		s += n;
		if (!*s)
			break;
		n = json_text_utf8(s);
		if (*s < 0x80)
			json_text_escape(j, *s);
		else if (n == 0)
			json_text_add(j, "\\ufffd", 6);
		else
			json_text_add(j, (const char *)s, n);
		s += n ? n : 1;
	}
	json_text_add(j, "\"", 1);
}

void json_text_key(struct json_text *j, const char *key)
{
	char *at = json_text_lead(j, NULL, 0);

	if (!at)
		return;
	json_text_done(j, at);
	json_text_quote(j, key);
	json_text_add(j, ":", 1);
	j->comma = false;
}

void json_text_string(struct json_text *j, const char *key, const char *value)
{
	char *at = json_text_lead(j, key, 0);

	if (!at)
		return;
	json_text_done(j, at);
	if (value)
		json_text_quote(j, value);
	else
		json_text_add(j, "null", 4);
}
