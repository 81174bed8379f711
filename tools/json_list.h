/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file json_list.h
 * Items of JSON, kept as text and made again one by one: a tree may take 80 times the memory.
 */
#ifndef TOOLS_JSON_LIST_H
#define TOOLS_JSON_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/** Zero-initialised is empty. */
struct json_list {
	char *text; /**< private: a line each */
	size_t len;
	size_t size; /**< bytes of memory */
	size_t n;    /**< items */
};

/** Append an item, which stays the caller's. @return false: no memory; the list is as it was. */
bool json_list_add(struct json_list *l, const json_t *item);

/**
 * The next item, which is the caller's.
 * @param at 0 for the first; private. @return NULL: there are no more, or no memory.
 */
json_t *json_list_next(const struct json_list *l, size_t *at);

void json_list_free(struct json_list *l);

#endif
