/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json_reader.h"

#include "base/bytes.h"
#include "base/hex.h"

#include <string.h>

/** Objects and arrays in one another. */
#define JSON_READER_DEPTH 64

void json_reader_init(struct json_reader *r, const char *text, size_t len)
{
	*r = (struct json_reader){.at = text, .end = len ? text + len : text};
}

/** @return false, for the caller to return. */
static bool json_reader_fail(struct json_reader *r)
{
	r->failed = true;
	r->at = r->end;
	return false;
}

/** The next byte that is no white space, or 0: there is none. */
static char json_reader_peek(struct json_reader *r)
{
	while (r->at < r->end &&
		(*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
		r->at++;
	return (char)(r->at < r->end ? *r->at : 0);
}

static bool json_reader_take(struct json_reader *r, char c)
{
	if (json_reader_peek(r) != c || r->at == r->end)
		return false;
	r->at++;
	return true;
}

/** Enter what begins with @p bracket. */
static bool json_reader_enter(struct json_reader *r, char bracket)
{
	if (!json_reader_take(r, bracket)) {
		json_reader_skip(r);
		return false;
	}
	r->first = true;
	return true;
}

/** What stands before a member or an element. @return false: @p bracket, the end of all, instead.
 */
static bool json_reader_lead(struct json_reader *r, char bracket)
{
	bool first = r->first;

	r->first = false;
	if (r->failed || json_reader_take(r, bracket))
		return false;
	return first || json_reader_take(r, ',') || json_reader_fail(r);
}

bool json_reader_object(struct json_reader *r)
{
	return json_reader_enter(r, '{');
}

bool json_reader_array(struct json_reader *r)
{
	return json_reader_enter(r, '[');
}

bool json_reader_element(struct json_reader *r)
{
	return json_reader_lead(r, ']');
}

/* ---- strings ----------------------------------------------------------------------------- */

/** Four hexadecimal digits at @p at. @return false: it is something else. */
static bool json_reader_code(const char *at, const char *end, uint32_t *code)
{
	uint8_t octets[2];

	*code = 0;
	if (end - at < 4 || !hex_octets(at, 2, octets))
		return false;
	*code = load_be16(octets);
	return true;
}

/** Take a string with its quotes; @p raw is what stands between them, its escapes being valid. */
static bool json_reader_quoted(struct json_reader *r, struct json_reader_key *raw)
{
	const char *begun, *at;
	uint32_t code;

	if (!json_reader_take(r, '"'))
		return json_reader_fail(r);
	begun = at = r->at;
	while (at < r->end && *at != '"') {
		if ((unsigned char)*at < 0x20)
			return json_reader_fail(r);
		if (*at++ != '\\')
			continue;
		if (at == r->end || !memchr("\"\\/bfnrtu", *at, 9) ||
			(*at == 'u' && !json_reader_code(at + 1, r->end, &code)))
			return json_reader_fail(r);
		at++;
	}
	if (at == r->end)
		return json_reader_fail(r);
	*raw = (struct json_reader_key){begun, (size_t)(at - begun)};
	r->at = at + 1;
	return true;
}

bool json_reader_member(struct json_reader *r, struct json_reader_key *key)
{
	if (!json_reader_lead(r, '}') || !json_reader_quoted(r, key))
		return false;
	return json_reader_take(r, ':') || json_reader_fail(r);
}

bool json_reader_key_is(const struct json_reader_key *key, const char *name)
{
	return strlen(name) == key->len && memcmp(name, key->text, key->len) == 0;
}

/** The code point of the escape behind the backslash at @p at. @return the bytes that it takes. */
static size_t json_reader_escape(const char *at, const char *end, uint32_t *code)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	uint32_t low;

	if (*at != 'u') {
		*code = (unsigned char)to[strchr(from, *at) - from];
		return 1;
	}
	json_reader_code(at + 1, end, code);
	if ((*code & 0xf800) != 0xd800)
		return 5;
	/* Two of them make one character; one alone is none (RFC 8259 section 8.2). */
	if (*code < 0xdc00 && end - at >= 7 && at[5] == '\\' && at[6] == 'u' &&
		json_reader_code(at + 7, end, &low) && (low & 0xfc00) == 0xdc00) {
		*code = 0x10000 + ((*code & 0x3ff) << 10 | (low & 0x3ff));
		return 11;
	}
	*code = 0xfffd;
	return 5;
}

/** Write UTF-8 (RFC 3629 section 3). @return its bytes. */
static size_t json_reader_utf8(uint32_t code, char to[4])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(n == 1 ? code : (0xf00u >> n & 0xf0) | code);
	return n;
}

bool json_reader_string(struct json_reader *r, char *to, size_t size)
{
	struct json_reader_key raw;
	const char *at, *end;
	size_t len = 0;

	if (json_reader_peek(r) != '"') {
		json_reader_skip(r);
		return false;
	}
	if (!json_reader_quoted(r, &raw))
		return false;
	end = raw.text + raw.len;
	for (at = raw.text; at < end && len + 1 < size;) {
		char text[4] = {*at};
		size_t n = 1;
		uint32_t code;

		if (*at++ == '\\') {
			at += json_reader_escape(at, end, &code);
			n = json_reader_utf8(code, text);
		}
		if (n > size - 1 - len)
			break;
		memcpy(to + len, text, n);
		len += n;
	}
	if (size)
		to[len] = '\0';
	return true;
}

/* ---- numbers and words ------------------------------------------------------------------- */

static bool json_reader_digits(struct json_reader *r)
{
	const char *begun = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > begun || json_reader_fail(r);
}

/** Take what may follow the digits before the point. @return false: it is no integer. */
static bool json_reader_fraction(struct json_reader *r)
{
	bool integer = true;

	if (r->at < r->end && *r->at == '.') {
		r->at++;
		integer = false;
		if (!json_reader_digits(r))
			return false;
	}
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		r->at++;
		integer = false;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		json_reader_digits(r);
	}
	return integer;
}

/** Take a number, which is next. */
static bool json_reader_any_number(struct json_reader *r, uint64_t *value)
{
	bool fits = !json_reader_take(r, '-');
	const char *digit = r->at;
	uint64_t n = 0;

	if (!json_reader_digits(r))
		return false;
	if (*digit == '0' && r->at - digit > 1)
		return json_reader_fail(r);
	for (; digit < r->at; digit++) {
		unsigned d = (unsigned)(*digit - '0');

		fits = fits && n <= (UINT64_MAX - d) / 10;
		n = n * 10 + d;
	}
	if (!json_reader_fraction(r) || !fits)
		return false;
	*value = n;
	return true;
}

bool json_reader_number(struct json_reader *r, uint64_t *value)
{
	char c = json_reader_peek(r);

	if (c == '-' || (c >= '0' && c <= '9'))
		return json_reader_any_number(r, value);
	json_reader_skip(r);
	return false;
}

static bool json_reader_word(struct json_reader *r, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return json_reader_fail(r);
	r->at += n;
	return true;
}

/** Take a value that is neither an object nor an array. */
static void json_reader_scalar(struct json_reader *r)
{
	struct json_reader_key raw;
	uint64_t number;

	switch (json_reader_peek(r)) {
	case '"':
		json_reader_quoted(r, &raw);
		break;
	case 't':
		json_reader_word(r, "true");
		break;
	case 'f':
		json_reader_word(r, "false");
		break;
	case 'n':
		json_reader_word(r, "null");
		break;
	default:
		json_reader_any_number(r, &number);
	}
}

void json_reader_skip(struct json_reader *r)
{
	struct json_reader_key key;
	uint64_t objects = 0; /* a bit for each level, the innermost being the lowest */
	unsigned depth = 0;

	do {
		char c;

		if (depth &&
			!(objects & 1 ? json_reader_member(r, &key) : json_reader_element(r))) {
			depth--;
			objects >>= 1;
			continue;
		}
		c = json_reader_peek(r);
		if (c != '{' && c != '[') {
			json_reader_scalar(r);
			continue;
		}
		json_reader_enter(r, c);
		objects = objects << 1 | (c == '{');
		if (depth++ == JSON_READER_DEPTH)
			json_reader_fail(r);
	} while (depth && !r->failed);
}

bool json_reader_end(struct json_reader *r)
{
	json_reader_peek(r);
	return !r->failed && r->at == r->end;
}
