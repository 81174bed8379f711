/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file json_reader.h
 * Reads JSON (RFC 8259) in one pass, without memory of its own: for tables of ten thousand rows, of
 * which a tree would be made only to be forgotten. The caller goes along:
 *
 *     if (json_reader_object(&r))
 *             while (json_reader_member(&r, &key))
 *                     if (json_reader_key_is(&key, "mss"))
 *                             json_reader_number(&r, &mss);
 *                     else
 *                             json_reader_skip(&r);
 *     if (!json_reader_end(&r))
 *             the text is no JSON, or not whole
 *
 * The value of each member and element has to be read or skipped. After what is no JSON all
 * functions do nothing and return false. Text that is no UTF-8 is taken as it is.
 */
#ifndef BASE_JSON_READER_H
#define BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Private, but for reading failed. Zero-initialised is an empty text. */
struct json_reader {
	const char *at, *end;
	bool first;  /**< an object or an array has just been entered */
	bool failed; /**< it is no JSON, or nested deeper than 64 */
};

/** A key as it stands between its quotes. One with escapes is equal to none without. */
struct json_reader_key {
	const char *text;
	size_t len;
};

/** Begin at the first of @p len bytes at @p text, which stay the caller's. None: it may be NULL. */
void json_reader_init(struct json_reader *r, const char *text, size_t len);

/** Enter an object. @return false: the value is something else, and is skipped. */
bool json_reader_object(struct json_reader *r);

/** The next member of the object, its value being next. @return false: it has ended. */
bool json_reader_member(struct json_reader *r, struct json_reader_key *key);

bool json_reader_key_is(const struct json_reader_key *key, const char *name);

/** Enter an array. @return false: the value is something else, and is skipped. */
bool json_reader_array(struct json_reader *r);

/** The next element of the array. @return false: it has ended. */
bool json_reader_element(struct json_reader *r);

/**
 * Read a number that is an integer from 0 to UINT64_MAX.
 * @return false: the value is something else, is skipped, and @p value stays.
 */
bool json_reader_number(struct json_reader *r, uint64_t *value);

/**
 * Read a string as UTF-8 into @p size bytes at @p to, ending with 0: as much of it as fits.
 * @return false: the value is something else, is skipped, and @p to stays.
 */
bool json_reader_string(struct json_reader *r, char *to, size_t size);

/** Pass over a value of any kind. */
void json_reader_skip(struct json_reader *r);

/** @return nothing but white space follows, and all was JSON. */
bool json_reader_end(struct json_reader *r);

#endif
