/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t config_text_number(const struct config *c, const struct config_key *k)
{
	const void *field = (const char *)c + k->offset;
	uint16_t u16;
	uint32_t u32;

	if (k->size == sizeof(uint8_t))
		return *(const uint8_t *)field;
	if (k->size == sizeof u16) {
		memcpy(&u16, field, sizeof u16);
		return u16;
	}
	memcpy(&u32, field, sizeof u32);
	return u32;
}

static const char *config_text_word(const struct config_key *k, uint64_t value)
{
	for (const struct config_word *w = k->words; w->name; w++)
		if (w->value == value && !w->old)
			return w->name;
	return NULL;
}

static const char *config_text_addresses(const struct config *c, char *text, size_t size)
{
	char address[IP_ADDR_STRLEN];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < c->num_addresses && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s/%u", i ? "," : "",
			ip_addr_format(&c->address[i].addr, address), c->address[i].prefix_len);
	return text;
}

static const char *config_text_gateways(const struct config *c, char *text, size_t size)
{
	char address[IP_ADDR_STRLEN];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < c->num_gateways && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "," : "",
			ip_addr_format(&c->gateway[i], address));
	return text;
}

static const char *config_text_progress(const struct config *c, char *text, size_t size)
{
	if (!c->progress_dedicated)
		return c->progress_relaxed ? "relaxed" : "auto";
	if (c->progress_core < 0)
		return "dedicated";
	snprintf(text, size, "dedicated:%d", c->progress_core);
	return text;
}

/** Keys with parsers of their own. */
static const char *config_text_other(
	const struct config *c, const struct config_key *k, char *text, size_t size)
{
	if (strcmp(k->name, "address") == 0)
		return config_text_addresses(c, text, size);
	if (strcmp(k->name, "gateway") == 0)
		return config_text_gateways(c, text, size);
	if (strcmp(k->name, "port") == 0)
		return c->port;
	if (strcmp(k->name, "name") == 0)
		return c->name;
	if (strcmp(k->name, "progress") == 0)
		return config_text_progress(c, text, size);
	if (strcmp(k->name, "mac") != 0)
		return NULL;
	snprintf(text, size, "%02x:%02x:%02x:%02x:%02x:%02x", c->mac[0], c->mac[1], c->mac[2],
		c->mac[3], c->mac[4], c->mac[5]);
	return text;
}

/** Words of the documents without their markup. */
static const char *config_text_plain(const char *words, char *text, size_t size)
{
	size_t n = 0;

	for (; *words && n + 1 < size; words++)
		if (*words != '`')
			text[n++] = *words;
	text[n] = '\0';
	return text;
}

const char *config_value_show(
	const struct config *c, const struct config_key *k, char text[CONFIG_VALUE_TEXT])
{
	bool given = (c->given >> (k - config_keys) & 1) != 0;
	uint64_t n;

	if (!given && !k->initial && k->absent)
		return config_text_plain(k->absent, text, CONFIG_VALUE_TEXT);
	switch (k->type) {
	case CONFIG_TEXT:
	case CONFIG_NAME:
		return (const char *)c + k->offset;
	case CONFIG_WORD:
		return config_text_word(k, config_text_number(c, k));
	case CONFIG_NUMBER:
	case CONFIG_SIZE:
		n = config_text_number(c, k);
		if (n == 0 && k->zero)
			return k->zero;
		snprintf(text, CONFIG_VALUE_TEXT, "%" PRIu64, n);
		return text;
	default:
		return config_text_other(c, k, text, CONFIG_VALUE_TEXT);
	}
}
