/* SPDX-License-Identifier: BSD-2-Clause */
/* What only the whole configuration can tell. */
#include "host/config_error.h"
#include "host/config_kernel.h"
#include "host/config_key.h"

#include <errno.h>

/** True when all bits of an IPv4 address behind the prefix are @p bit. */
static bool config_host_part_is(const struct ip_addr *a, unsigned prefix_len, bool bit)
{
	for (unsigned i = prefix_len; i < 32; i++)
		if (((a->b[12 + i / 8] >> (7 - i % 8) & 1) != 0) != bit)
			return false;
	return true;
}

/* RFC 1122 section 3.2.1.3 (c), (d): the network or its broadcast; RFC 3021 lets /31 use both. */
static bool config_names_no_host(const struct ip_addr *a, unsigned prefix_len)
{
	return ip_addr_is_v4(a) && prefix_len < 31 &&
	       (config_host_part_is(a, prefix_len, false) ||
		       config_host_part_is(a, prefix_len, true));
}

static int config_check_address(
	const struct config *c, const struct config_address *a, struct config_error *e)
{
	char text[IP_ADDR_STRLEN];

	ip_addr_format(&a->addr, text);
	if (ip_addr_is_loopback(&a->addr))
		return config_complain(e, -EINVAL, NULL,
			"\"address\" is %s, which is of the loopback network; expected an address "
			"of the port's network, or \"port\" kernel",
			text);
	if (!ip_addr_is_v4(&a->addr)) {
		/* RFC 8200 section 5: IPv6 needs links of 1280 bytes. */
		if (c->mtu != 0 && c->mtu < 1280)
			return config_complain(e, -EINVAL, NULL,
				"\"mtu\" is %u, but the IPv6 address %s needs at least 1280",
				c->mtu, text);
		return 0;
	}
	if (config_names_no_host(&a->addr, a->prefix_len))
		return config_complain(e, -EINVAL, NULL,
			"\"address\" is %s/%u, which names the network or its broadcast; expected "
			"the address of a host in it",
			text, a->prefix_len);
	return 0;
}

static int config_check_gateway(
	const struct config *c, const struct ip_addr *g, struct config_error *e)
{
	bool on_link = ip_addr_is_link_local(g);
	char text[IP_ADDR_STRLEN];

	ip_addr_format(g, text);
	for (unsigned i = 0; i < c->num_addresses; i++) {
		const struct config_address *a = &c->address[i];

		if (ip_addr_equal(g, &a->addr))
			return config_complain(e, -EINVAL, NULL,
				"\"gateway\" is %s, which is our own address; expected a router's",
				text);
		if (ip_addr_is_v4(g) != ip_addr_is_v4(&a->addr) ||
			!ip_addr_in_prefix(g, &a->addr, a->prefix_len))
			continue;
		if (config_names_no_host(g, a->prefix_len))
			return config_complain(e, -EINVAL, NULL,
				"\"gateway\" is %s, which names the network of an \"address\" or "
				"its broadcast; expected a router's",
				text);
		on_link = true;
	}
	if (!on_link)
		return config_complain(e, -EINVAL, NULL,
			"\"gateway\" is %s, which no \"address\" has in its network; expected a "
			"neighbour",
			text);
	return 0;
}

/** Whose keys lie there believes that they are used. Who says `tls = off` knows better. */
static int config_check_no_tls(const struct config *c, struct config_error *e)
{
	const struct tls_config *t = &c->tls;
	const struct {
		const char *key, *value;
	} keys[] = {
		{"tls_certificate", t->certificate},
		{"tls_key", t->key},
		{"tls_ca", t->ca},
		{"tls_psk", t->psk},
	};

	if ((c->given >> (config_key_find("tls") - config_keys) & 1) != 0)
		return 0;
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
		if (*keys[i].value != '\0')
			return config_complain(e, -EINVAL, NULL,
				"\"%s\" is given, but \"tls\" is not, so nothing would be "
				"encrypted; expected on or required, or else off",
				keys[i].key);
	return 0;
}

/** TLS needs to know who we are and who is believed. */
static int config_check_tls(const struct config *c, struct config_error *e)
{
	const struct tls_config *t = &c->tls;

	if (t->mode == TLS_OFF)
		return config_check_no_tls(c, e);
	if (!tls_is_available())
		return config_complain(e, -EINVAL, NULL,
			"\"tls\" is not off, but this uiwarp was built without OpenSSL; expected "
			"off");
	if (*t->psk != '\0') {
		if (*t->certificate != '\0' || *t->key != '\0' || *t->ca != '\0')
			return config_complain(e, -EINVAL, NULL,
				"\"tls_psk\" and certificates are given; expected one of them");
		return 0;
	}
	if (*t->certificate == '\0' || *t->key == '\0')
		return config_complain(e, -EINVAL, NULL,
			"\"tls\" is not off, but \"%s\" is missing; expected it, or \"tls_psk\"",
			*t->certificate == '\0' ? "tls_certificate" : "tls_key");
	if (t->verify == TLS_VERIFY_PEER && *t->ca == '\0')
		return config_complain(e, -EINVAL, NULL,
			"\"tls\" is not off, but \"tls_ca\" is missing, so nobody could be "
			"believed; expected the path of a file in PEM");
	return 0;
}

static int config_check_ipsec(const struct config *c, struct config_error *e)
{
	if (c->ipsec[0] == '\0' || tls_is_available())
		return 0;
	return config_complain(e, -EINVAL, NULL,
		"\"ipsec\" is given, but this uiwarp was built without OpenSSL; expected none");
}

static int config_check_security(const struct config *c, struct config_error *e)
{
	int rc = config_check_tls(c, e);

	return rc == 0 ? config_check_ipsec(c, e) : rc;
}

int config_check(const struct config *c, struct config_error *e)
{
	int rc = 0;

	if (config_is_kernel(c)) {
		rc = config_kernel_check(c, e);
		return rc == 0 ? config_check_security(c, e) : rc;
	}
	if (c->num_addresses == 0)
		return config_complain(e, -EINVAL, NULL,
			"\"address\" is missing; expected at least one, such as "
			"address=10.0.0.1/24, as \"port\" is not kernel");
	for (unsigned i = 0; rc == 0 && i < c->num_addresses; i++)
		rc = config_check_address(c, &c->address[i], e);
	for (unsigned i = 0; rc == 0 && i < c->num_gateways; i++)
		rc = config_check_gateway(c, &c->gateway[i], e);
	return rc == 0 ? config_check_security(c, e) : rc;
}
