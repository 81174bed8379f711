/* SPDX-License-Identifier: BSD-2-Clause */
#include "tools/json_list.h"

#include <stdlib.h>
#include <string.h>

/** Memory for @p more bytes. It grows by a quarter: there may be a million items. */
static bool json_list_reserve(struct json_list *l, size_t more)
{
	size_t size = l->len + more + l->size / 4 + 256;
	char *text;

	if (l->size - l->len >= more)
		return true;
	text = realloc(l->text, size);
	if (!text)
		return false;
	l->text = text;
	l->size = size;
	return true;
}

/** @return 0, or -1: no memory. */
static int json_list_append(const char *text, size_t len, void *list)
{
	struct json_list *l = list;

	if (!json_list_reserve(l, len))
		return -1;
	memcpy(l->text + l->len, text, len);
	l->len += len;
	return 0;
}

bool json_list_add(struct json_list *l, const json_t *item)
{
	const size_t flags = JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY;
	size_t len = l->len;

	if (json_dump_callback(item, json_list_append, l, flags) == 0 &&
		json_list_append("\n", 1, l) == 0) {
		l->n++;
		return true;
	}
	l->len = len;
	return false;
}

json_t *json_list_next(const struct json_list *l, size_t *at)
{
	const char *text, *end;

	if (*at == l->len)
		return NULL;
	text = l->text + *at;
	/* In JSON that is compact there is none but ours. */
	end = memchr(text, '\n', l->len - *at);
	*at += (size_t)(end + 1 - text);
	return json_loadb(text, (size_t)(end - text), JSON_DECODE_ANY, NULL);
}

void json_list_free(struct json_list *l)
{
	free(l->text);
	*l = (struct json_list){.len = 0};
}
