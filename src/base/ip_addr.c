/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/ip_addr.h"

#include "base/bytes.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

bool ip_addr_is_any(const struct ip_addr *a)
{
	static const uint8_t zero[16];

	return memcmp(a->b + (ip_addr_is_v4(a) ? 12 : 0), zero, ip_addr_is_v4(a) ? 4 : 16) == 0;
}

bool ip_addr_is_link_local(const struct ip_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/** RFC 4291 section 2.5.6; bytes 4 to 7 may have the scope. */
static bool ip_addr_keeps_scope(const struct ip_addr *a)
{
	static const uint8_t prefix[4] = {0xfe, 0x80};

	return memcmp(a->b, prefix, sizeof prefix) == 0;
}

uint32_t ip_addr_scope(const struct ip_addr *a)
{
	return ip_addr_keeps_scope(a) ? load_be32(a->b + 4) : 0;
}

struct ip_addr ip_addr_with_scope(const struct ip_addr *a, uint32_t scope)
{
	struct ip_addr scoped = *a;

	if (ip_addr_keeps_scope(a))
		store_be32(scoped.b + 4, scope);
	return scoped;
}

bool ip_addr_is_multicast(const struct ip_addr *a)
{
	return ip_addr_is_v4(a) ? (a->b[12] & 0xf0) == 0xe0 : a->b[0] == 0xff;
}

bool ip_addr_is_loopback(const struct ip_addr *a)
{
	static const uint8_t one[16] = {[15] = 1};

	return ip_addr_is_v4(a) ? a->b[12] == 127 : memcmp(a->b, one, sizeof one) == 0;
}

bool ip_addr_in_prefix(const struct ip_addr *a, const struct ip_addr *net, unsigned prefix_len)
{
	unsigned bits = prefix_len;
	unsigned rest;

	if (ip_addr_is_v4(a) != ip_addr_is_v4(net))
		return false;
	if (ip_addr_is_v4(net))
		bits += 96;
	if (bits > 128)
		return false;
	if (memcmp(a->b, net->b, bits / 8) != 0)
		return false;
	rest = bits % 8;
	return rest == 0 || ((a->b[bits / 8] ^ net->b[bits / 8]) & (0xff00 >> rest & 0xff)) == 0;
}

int ip_addr_parse(const char *text, struct ip_addr *out)
{
	uint8_t raw[16];

	if (inet_pton(AF_INET, text, raw) == 1) {
		*out = ip_addr_from_v4(raw);
		return 0;
	}
	if (inet_pton(AF_INET6, text, raw) == 1) {
		*out = ip_addr_from_v6(raw);
		return 0;
	}
	return -EINVAL;
}

/* Decimal digits only, no sign, no space, at most three: what a prefix length can be. */
static int ip_addr_parse_prefix_len(const char *text, unsigned max, unsigned *out)
{
	unsigned v = 0;
	size_t n;

	for (n = 0; text[n]; n++) {
		if (n == 3 || text[n] < '0' || text[n] > '9')
			return -EINVAL;
		v = v * 10 + (unsigned)(text[n] - '0');
	}
	if (n == 0 || v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

int ip_addr_parse_cidr(const char *text, struct ip_addr *out, unsigned *prefix_len)
{
	const char *slash = strchr(text, '/');
	char addr[IP_ADDR_STRLEN];
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	struct ip_addr a;
	unsigned max;
	int rc;

	if (len >= sizeof addr)
		return -EINVAL;
	memcpy(addr, text, len);
	addr[len] = '\0';
	rc = ip_addr_parse(addr, &a);
	if (rc < 0)
		return rc;
	max = ip_addr_is_v4(&a) ? 32 : 128;
	if (!slash) {
		*prefix_len = max;
	} else {
		rc = ip_addr_parse_prefix_len(slash + 1, max, prefix_len);
		if (rc < 0)
			return rc;
	}
	*out = a;
	return 0;
}

static void ip_addr_format_scoped(const struct ip_addr *a, char *buf)
{
	struct ip_addr bare = ip_addr_with_scope(a, 0);
	size_t len;

	inet_ntop(AF_INET6, bare.b, buf, IP_ADDR_STRLEN);
	len = strlen(buf);
	snprintf(buf + len, IP_ADDR_STRLEN - len, "%%%u", ip_addr_scope(a));
}

static void ip_addr_format_v4(const struct ip_addr *a, char *buf)
{
	for (unsigned i = 12; i < 16; i++) {
		buf = number_put(buf, a->b[i]);
		*buf++ = '.';
	}
	buf[-1] = '\0';
}

char *ip_addr_format(const struct ip_addr *a, char *buf)
{
	if (ip_addr_is_v4(a))
		ip_addr_format_v4(a, buf);
	else if (ip_addr_scope(a) == 0)
		inet_ntop(AF_INET6, a->b, buf, IP_ADDR_STRLEN);
	else
		ip_addr_format_scoped(a, buf);
	return buf;
}

char *ip_endpoint_format(const struct ip_endpoint *e, char *buf)
{
	bool v4 = ip_addr_is_v4(&e->addr);
	char *at = buf;

	if (!v4)
		*at++ = '[';
	ip_addr_format(&e->addr, at);
	at += strlen(at);
	if (!v4)
		*at++ = ']';
	*at++ = ':';
	*number_put(at, e->port) = '\0';
	return buf;
}
