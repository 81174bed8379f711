/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/config_value.h"

#include "base/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is expected --------------------------------------------------------------------- */

/* "`a`, `b` or `c`". */
static void config_value_list(const struct config_word *words, struct config_phrase *p)
{
	size_t n = 0;
	unsigned count = 0;

	while (words[count].name && !words[count].old)
		count++;
	for (unsigned i = 0; i < count && n < sizeof p->text; i++) {
		const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";

		n += (size_t)snprintf(
			p->text + n, sizeof p->text - n, "%s`%s`", before, words[i].name);
	}
}

static void config_value_range(const struct config_key *k, struct config_phrase *p)
{
	snprintf(p->text, sizeof p->text, "%s%s%s%sa %s%s%s from %llu to %llu", k->zero ? "`" : "",
		k->zero ? k->zero : "", k->zero ? "`, or " : "", k->or_zero ? "0 or " : "",
		k->noun ? k->noun : "number", k->unit ? " of " : "", k->unit ? k->unit : "",
		(unsigned long long)k->min, (unsigned long long)k->max);
}

const char *config_value_expected(const struct config_key *k, struct config_phrase *p)
{
	char range[NUMBER_SIZE_RANGE];

	if (k->expected)
		return k->expected;
	switch (k->type) {
	case CONFIG_NUMBER:
		config_value_range(k, p);
		break;
	case CONFIG_SIZE:
		snprintf(p->text, sizeof p->text, "a number of bytes %s",
			number_size_range(range, k->min, k->max));
		break;
	case CONFIG_TEXT:
		snprintf(p->text, sizeof p->text, "%s, at most %u characters", k->noun,
			k->size - 1u);
		break;
	default:
		config_value_list(k->words, p);
	}
	return p->text;
}

const char *config_value_plain(const struct config_key *k, struct config_phrase *p)
{
	const char *from = config_value_expected(k, p);
	size_t n = 0;

	for (; *from != '\0' && n + 1 < sizeof p->text; from++)
		if (*from != '`')
			p->text[n++] = *from;
	p->text[n] = '\0';
	return p->text;
}

/* ---- types -------------------------------------------------------------------------------- */

bool config_value_text(const char *s, char *out, size_t size)
{
	size_t n = strlen(s);

	if (n >= size)
		return false;
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)s[i]))
			return false;
	memcpy(out, s, n + 1);
	return true;
}

const struct config_word *config_value_word(const struct config_word *words, const char *s)
{
	for (; words->name; words++)
		if (strcmp(s, words->name) == 0)
			return words;
	return NULL;
}

/* Into a bool, an enum or an unsigned number: the range says that it fits. */
static void config_value_store(void *field, size_t size, uint64_t n)
{
	if (size == sizeof(uint8_t))
		memcpy(field, &(uint8_t){(uint8_t)n}, size);
	else if (size == sizeof(uint16_t))
		memcpy(field, &(uint16_t){(uint16_t)n}, size);
	else
		memcpy(field, &(uint32_t){(uint32_t)n}, sizeof(uint32_t));
}

static bool config_value_number(const struct config_key *k, const char *value, uint64_t *n)
{
	*n = 0;
	if (k->zero && strcmp(value, k->zero) == 0)
		return true;
	if (!number_parse(value, k->or_zero ? 0 : k->min, k->max, n))
		return false;
	return *n == 0 || *n >= k->min;
}

static bool config_value_typed(const struct config_key *k, const char *value, void *field)
{
	const struct config_word *word = NULL;
	uint64_t n = 0;

	if (k->type == CONFIG_TEXT)
		return config_value_text(value, field, k->size);
	if (k->words) {
		word = config_value_word(k->words, value);
		if (!word)
			return false;
		n = word->value;
	} else if (k->type == CONFIG_SIZE ? !number_parse_size(value, k->min, k->max, &n)
					  : !config_value_number(k, value, &n)) {
		return false;
	}
	if (k->type == CONFIG_NAME)
		return config_value_text(word->name, field, k->size);
	config_value_store(field, k->size, n);
	return true;
}

const char *config_value_parse(
	struct config *c, const struct config_key *k, const char *value, struct config_phrase *p)
{
	const char *wrong;

	if (k->parse) {
		wrong = k->parse(c, value);
		if (!wrong || *wrong != '\0')
			return wrong;
	} else if (config_value_typed(k, value, (char *)c + k->offset)) {
		return NULL;
	}
	return config_value_plain(k, p);
}

/* ---- values that have no type ------------------------------------------------------------- */

const char *config_value_port(struct config *c, const char *v)
{
	/* The EAL takes the driver's name up to the first comma; blanks are never part of it. */
	return config_value_text(v, c->port, sizeof c->port) && !strpbrk(v, " \t") && v[0] != ',' &&
			       v[0] != '-'
		       ? NULL
		       : CONFIG_UNEXPECTED;
}

const char *config_value_mac(struct config *c, const char *v)
{
	static const uint8_t zero[6];
	uint8_t mac[6];

	if (strlen(v) != 17)
		return CONFIG_UNEXPECTED;
	for (int i = 0; i < 6; i++) {
		const char *p = v + (size_t)i * 3;
		char pair[3] = {p[0], p[1], '\0'};

		if (!isxdigit((unsigned char)p[0]) || !isxdigit((unsigned char)p[1]) ||
			(i < 5 && p[2] != ':'))
			return CONFIG_UNEXPECTED;
		mac[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	if ((mac[0] & 1) != 0 || memcmp(mac, zero, sizeof mac) == 0)
		return CONFIG_UNEXPECTED;
	memcpy(c->mac, mac, sizeof mac);
	return NULL;
}

const char *config_value_name(struct config *c, const char *v)
{
	if (!isalpha((unsigned char)v[0]))
		return CONFIG_UNEXPECTED;
	for (const char *p = v; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			return CONFIG_UNEXPECTED;
	return config_value_text(v, c->name, sizeof c->name) ? NULL : CONFIG_UNEXPECTED;
}

static bool config_value_unicast(const struct ip_addr *a)
{
	return !ip_addr_is_any(a) && !ip_addr_is_multicast(a);
}

const char *config_value_address(struct config *c, const char *v)
{
	struct config_address a;
	unsigned bits;

	if (ip_addr_parse_cidr(v, &a.addr, &a.prefix_len) != 0 || !strchr(v, '/'))
		return CONFIG_UNEXPECTED;
	if (!config_value_unicast(&a.addr))
		return "a unicast address";
	bits = ip_addr_is_v4(&a.addr) ? 32 : 128;
	if (a.prefix_len == 0 || a.prefix_len > bits)
		return "a prefix length from 1 to 32 (IPv4) or 1 to 128 (IPv6)";
	for (unsigned i = 0; i < c->num_addresses; i++)
		if (ip_addr_equal(&c->address[i].addr, &a.addr))
			return "every address only once";
	if (c->num_addresses == CONFIG_MAX_ADDRESSES)
		return "at most 16 addresses";
	c->address[c->num_addresses++] = a;
	return NULL;
}

const char *config_value_gateway(struct config *c, const char *v)
{
	struct ip_addr a;

	if (ip_addr_parse(v, &a) != 0 || !config_value_unicast(&a) || ip_addr_is_loopback(&a))
		return CONFIG_UNEXPECTED;
	for (unsigned i = 0; i < c->num_gateways; i++)
		if (ip_addr_equal(&c->gateway[i], &a))
			return "every gateway only once";
	if (c->num_gateways == CONFIG_MAX_GATEWAYS)
		return "at most 4 gateways";
	c->gateway[c->num_gateways++] = a;
	return NULL;
}

const char *config_value_progress(struct config *c, const char *v)
{
	static const char dedicated[] = "dedicated";
	const char *core = v + sizeof dedicated - 1;
	const bool relaxed = strcmp(v, "relaxed") == 0;
	uint64_t n;

	if (relaxed || strcmp(v, "auto") == 0) {
		c->progress_dedicated = false;
		c->progress_relaxed = relaxed;
		c->progress_core = -1;
		return NULL;
	}
	if (strncmp(v, dedicated, sizeof dedicated - 1) != 0)
		return CONFIG_UNEXPECTED;
	if (*core == '\0') {
		c->progress_core = -1;
	} else {
		if (*core != ':' || !number_parse(core + 1, 0, 1023, &n))
			return CONFIG_UNEXPECTED;
		c->progress_core = (int)n;
	}
	c->progress_dedicated = true;
	c->progress_relaxed = false;
	return NULL;
}
