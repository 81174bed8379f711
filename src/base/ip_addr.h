/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file ip_addr.h
 * One address type for both families: 16 bytes in network order. IPv4 is ::ffff:a.b.c.d (RFC 4291
 * section 2.5.5.2). So tables, hashes and comparisons need no family.
 */
#ifndef BASE_IP_ADDR_H
#define BASE_IP_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ip_addr {
	uint8_t b[16];
};

/** An address and a TCP port (host byte order). */
struct ip_endpoint {
	struct ip_addr addr;
	uint16_t port;
};

/** Longest text of an address with its terminating zero. */
#define IP_ADDR_STRLEN 46

static inline bool ip_addr_equal(const struct ip_addr *a, const struct ip_addr *b)
{
	return memcmp(a, b, sizeof *a) == 0;
}

/** True for ::ffff:0:0/96, our form of IPv4. */
static inline bool ip_addr_is_v4(const struct ip_addr *a)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(a->b, prefix, sizeof prefix) == 0;
}

/** @param v4 four bytes in network order. */
static inline struct ip_addr ip_addr_from_v4(const void *v4)
{
	struct ip_addr a = {.b = {[10] = 0xff, [11] = 0xff}};

	memcpy(a.b + 12, v4, 4);
	return a;
}

/** @param v6 sixteen bytes in network order. */
static inline struct ip_addr ip_addr_from_v6(const void *v6)
{
	struct ip_addr a;

	memcpy(a.b, v6, 16);
	return a;
}

/** True for 0.0.0.0 and ::. */
bool ip_addr_is_any(const struct ip_addr *a);

/** True for fe80::/10. */
bool ip_addr_is_link_local(const struct ip_addr *a);

/**
 * The interface that a link-local address is of (RFC 4007), kept inside of it: in the third and
 * fourth group, which are zero in each such address (RFC 4291 section 2.5.6). Only where the host
 * has interfaces (llp_has_scopes()); it never goes onto a wire.
 * @return 0: none is kept in @p a, or it is not link-local.
 */
uint32_t ip_addr_scope(const struct ip_addr *a);

/** @p a with interface @p scope, 0: without one. Anything but a link-local address is as it was. */
struct ip_addr ip_addr_with_scope(const struct ip_addr *a, uint32_t scope);

/** True for 224.0.0.0/4 and ff00::/8. */
bool ip_addr_is_multicast(const struct ip_addr *a);

/** True for 127.0.0.0/8 and ::1. */
bool ip_addr_is_loopback(const struct ip_addr *a);

/**
 * True if the first @p prefix_len bits agree.
 * @param prefix_len counted in the address's own family: 0-32 when @p net is IPv4, 0-128 else.
 */
bool ip_addr_in_prefix(const struct ip_addr *a, const struct ip_addr *net, unsigned prefix_len);

/** Parse "a.b.c.d" or an IPv6 text without scope. @return 0, or -EINVAL. */
int ip_addr_parse(const char *text, struct ip_addr *out);

/**
 * Parse "address/prefix". Without a slash the prefix is the whole address (32 or 128).
 * @param[out] prefix_len in the family's own bits.
 * @return 0, or -EINVAL.
 */
int ip_addr_parse_cidr(const char *text, struct ip_addr *out, unsigned *prefix_len);

/**
 * Write the text of @p a into @p buf (at least IP_ADDR_STRLEN bytes), with "%" and the number of
 * its interface if it keeps one. @return @p buf.
 */
char *ip_addr_format(const struct ip_addr *a, char *buf);

/** Longest text of an endpoint with its terminating zero. */
#define IP_ENDPOINT_STRLEN (IP_ADDR_STRLEN + 8)

/**
 * "10.0.0.1:7174", "[fd00::1]:7174" (RFC 5952 section 6).
 * @param buf IP_ENDPOINT_STRLEN bytes
 * @return @p buf.
 */
char *ip_endpoint_format(const struct ip_endpoint *e, char *buf);

#endif
