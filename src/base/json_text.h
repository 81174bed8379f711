/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file json_text.h
 * Writes JSON (RFC 8259) into memory that grows. Strings may be any bytes: what is no UTF-8 becomes
 * U+FFFD.
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zero-initialised is empty. Private, but for reading text and len. */
struct json_text {
	char *text; /**< not terminated */
	size_t len, size;
	bool comma;  /**< a value was written at this level */
	bool failed; /**< there was no memory: text is not whole */
};

/** Free the memory; then it is empty. */
void json_text_fini(struct json_text *j);

/** Empty it and keep the memory. */
void json_text_clear(struct json_text *j);

/** Take back what was written since it had @p len bytes, between two values of a list. */
void json_text_cut(struct json_text *j, size_t len);

/*
 * In an object each value has a key. In an array, and outside of all, @p key is NULL. Keys are
 * written as they are.
 */

/** Write a key that may be any bytes. The next value belongs to it, and has NULL for its key. */
void json_text_key(struct json_text *j, const char *key);

void json_text_object(struct json_text *j, const char *key);
void json_text_object_end(struct json_text *j);
void json_text_array(struct json_text *j, const char *key);
void json_text_array_end(struct json_text *j);
/**
 * From 2^63 on a string of its digits: readers keep integers in 64 bits with a sign, and some,
 * jansson among them, take nothing of a text that has a larger one.
 */
void json_text_number(struct json_text *j, const char *key, uint64_t value);
void json_text_integer(struct json_text *j, const char *key, int64_t value);
void json_text_bool(struct json_text *j, const char *key, bool value);
/** @p value NULL: null. */
void json_text_string(struct json_text *j, const char *key, const char *value);

#endif
